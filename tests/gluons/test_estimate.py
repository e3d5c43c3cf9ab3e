"""The estimate counts what it says it counts."""

import math

import pytest
from hypothesis import assume, given

from cardcommons.games.gluons.estimate import WEIGHTS
from tests.gluons.walks import Pair, pairs
from tests.twins.gluons import ACTIVATION, Gluon, Twin

CERTAIN = 0.999


def chance_of(twin: Twin, area: str, gluon: Gluon, viewer: int) -> float:
    """How likely a gluon becomes valid, as far as the viewer can see."""
    if gluon.owner != viewer and not gluon.face_up:
        return WEIGHTS.unknown
    if gluon.pair != twin.emitting(area) + twin.receiving(area):
        return WEIGHTS.turned
    if twin.phase == ACTIVATION and twin.player == gluon.owner:
        return WEIGHTS.next_to_act
    return WEIGHTS.valid_now


def prospects(twin: Twin, viewer: int, owner: int) -> float:
    """A player's points, from sets: only one of their gluons can be the next to act."""
    chances = [chance_of(twin, area, gluon, viewer) for area, gluon in twin.gluons(owner).items()]
    once = max(0, chances.count(WEIGHTS.next_to_act) - 1)
    return (
        twin.points(owner)
        + sum(chances)
        - once * (WEIGHTS.next_to_act - WEIGHTS.valid_now)
        + WEIGHTS.card * len(twin.hands[owner] + twin.decks[owner])
    )


def guess(twin: Twin, viewer: int) -> float:
    """The estimate."""
    players = range(twin.parameters.players)
    hoped = [prospects(twin, viewer, owner) for owner in players]
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
