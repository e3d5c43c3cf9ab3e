"""The estimate counts what it says it counts."""

import math
from collections import Counter

import pytest
from hypothesis import assume, given

from cardcommons.games.gluons.estimate import WEIGHTS
from tests.gluons.walks import Pair, pairs
from tests.twins.gluons import ACTIVATION, Area, Gluon, Twin

CERTAIN = 0.999


class Field:
    """The gluons of a state as a viewer sees them, while they are activated by the simple rule."""

    def __init__(self, twin: Twin, viewer: int) -> None:
        self.viewer = viewer
        self.gluons = dict(sorted(twin.areas.items()))
        self.quarks = dict(twin.quarks)

    def areas(self, owner: int) -> list[Area]:
        return [area for area, gluon in self.gluons.items() if gluon.owner == owner]

    def is_readable(self, gluon: Gluon) -> bool:
        return gluon.face_up or gluon.owner == self.viewer

    def is_valid(self, area: Area, quarks: dict[str, str]) -> bool:
        gluon = self.gluons[area]
        lies = quarks[area[0] + area[1]] + quarks[area[0] + area[2]]
        return self.is_readable(gluon) and gluon.pair == lies

    def swapped(self, area: Area) -> dict[str, str]:
        emitting, receiving = area[0] + area[1], area[0] + area[2]
        return self.quarks | {
            emitting: self.quarks[receiving],
            receiving: self.quarks[emitting],
        }

    def worth(self, area: Area) -> int:
        """What is left valid if this one is activated: own ones twice, less those of others."""
        mine, after = self.gluons[area].owner, self.swapped(area)
        return sum(
            2 if gluon.owner == mine else -1
            for other, gluon in self.gluons.items()
            if other != area and self.is_valid(other, after)
        )

    def activate(self, owner: int) -> str | None:
        """What becomes of one of a player's gluons: valid, failed, unknown, or there is none."""
        areas = self.areas(owner)
        valid = [area for area in areas if self.is_valid(area, self.quarks)]
        unknown = [area for area in areas if not self.is_readable(self.gluons[area])]
        if not areas:
            return None
        if valid:
            chosen = max(valid, key=self.worth)
            self.quarks = self.swapped(chosen)
            outcome = "valid"
        else:
            chosen = (unknown or areas)[0]
            outcome = "unknown" if unknown else "failed"
        del self.gluons[chosen]
        return outcome


def order(twin: Twin) -> list[int]:
    """Who activates in turn: by the tokens, and then those who have not passed yet."""
    turns = [*range(twin.turn, len(twin.hands)), *range(twin.turn)]
    if twin.phase == ACTIVATION:
        place = twin.order.index(twin.turn)
        return [*twin.order[place:], *twin.order[:place]]
    return [*twin.order, *(player for player in turns if player not in twin.order)]


def outcomes(twin: Twin, viewer: int) -> list[Counter[str]]:
    """What becomes of each player's gluons."""
    field = Field(twin, viewer)
    found: list[Counter[str]] = [Counter() for _ in twin.hands]
    while field.gluons:
        for player in order(twin):
            outcome = field.activate(player)
            if outcome is not None:
                found[player][outcome] += 1
    return found


def guess(twin: Twin, viewer: int) -> float:
    """The estimate."""
    active = twin.phase == ACTIVATION
    worth = {
        "valid": WEIGHTS.valid if active else WEIGHTS.hoped,
        "failed": WEIGHTS.failed if active else WEIGHTS.doubted,
        "unknown": WEIGHTS.unknown,
    }
    hoped = [
        twin.points(player)
        + sum(worth[outcome] * number for outcome, number in found.items())
        + WEIGHTS.card * len(twin.hands[player] + twin.decks[player])
        for player, found in enumerate(outcomes(twin, viewer))
    ]
    if twin.parameters.utility == "points":
        return hoped[viewer] - sum(hoped) / len(hoped)
    cards = sum(map(len, twin.hands + twin.decks)) + len(twin.areas)
    scale = WEIGHTS.scale + WEIGHTS.scale_card * cards / len(hoped)
    strengths = [math.exp(points / scale) for points in hoped]
    share = strengths[viewer] / sum(strengths)
    return CERTAIN * (len(hoped) * share - 1) / (len(hoped) - 1)


@given(pairs())
def test_the_estimate_counts_what_it_says(pair: Pair) -> None:
    assume(not pair.is_over)
    for player in pair.players:
        assert pair.state.estimate(player) == pytest.approx(guess(pair.twin, player), abs=1e-9)
