"""The estimate is a guess, but a consistent one, and it counts what it says it counts."""

import math
from dataclasses import dataclass, replace

import pytest
from hypothesis import given

from cardcommons import State
from cardcommons.games.particles.estimate import WEIGHTS
from tests.particles.symmetries import MIRRORING, image_of
from tests.particles.walks import STANDARD, TUTORIAL, VARIANTS, Pair, pairs, turns
from tests.twins.particles import SIDES, Twin

CARDS = 24


@dataclass(frozen=True)
class Counts:
    """A player's side of the lead, from sets."""

    open: int
    on_side: int
    reach: int
    ways: int
    placements: int
    cards: int
    levels: int

    @classmethod
    def of(cls, twin: Twin, player: int) -> "Counts":
        """What there is to count; before the opening nothing can be reached."""
        mine = [pile for cell, pile in twin.piles.items() if cell in SIDES[player]]
        on_the_move = replace(twin, turn=player, choices=(), passes=0)
        placements = [text for text in on_the_move.legal() if text != "pass" and twin.piles]
        reached = [text[-2:] for text in placements if "@" in text]
        if not twin.tutorial:
            reached = [cell for cell in reached if cell in SIDES[1 - player]]
        return cls(
            open=len(SIDES[player]) - len(mine),
            on_side=sum(len(pile.cards) for pile in mine),
            reach=len(set(reached)),
            ways=len(reached),
            placements=len(placements),
            cards=len(twin.hands[player]),
            levels=len({card.level for card in twin.hands[player]}),
        )


def guess(twin: Twin, player: int) -> float:
    """The estimate, from sets."""
    w, mine, theirs = WEIGHTS, Counts.of(twin, player), Counts.of(twin, 1 - player)
    gone = CARDS - mine.cards - theirs.cards
    on_the_move = 1 if twin.turn == player else -1
    if twin.tutorial:
        lead = mine.placements - theirs.placements + w.tutorial_tempo * on_the_move
        lead += w.tutorial_hand * (mine.cards - theirs.cards)
        lead += w.tutorial_reach * (mine.reach - theirs.reach)
        lead *= w.tutorial_certainty * gone
    else:
        lead = mine.open - theirs.open + w.card * (theirs.on_side - mine.on_side)
        lead += w.reach * (mine.reach - theirs.reach)
        lead += w.breadth * (math.sqrt(mine.ways) - math.sqrt(theirs.ways))
        lead += w.placement * (mine.placements - theirs.placements)
        lead += w.hand * (mine.cards - theirs.cards) + w.level * (mine.levels - theirs.levels)
        lead += w.tempo * on_the_move
        ahead = 0 if replace(twin, passes=2, choices=()).returns()[0] > 0 else 1
        if ahead != twin.turn:
            lead += w.wait if ahead == player else -w.wait
        lead *= w.certainty * gone
    return lead / (1 + abs(lead))


@given(pairs())
def test_the_estimate_counts_what_it_says(pair: Pair) -> None:
    for player in (0, 1):
        assert pair.state.estimate(player) == pytest.approx(guess(pair.twin, player), abs=1e-12)


@given(pairs())
def test_estimates_are_inside_the_bounds_and_antisymmetric(pair: Pair) -> None:
    first, second = (pair.state.estimate(player) for player in (0, 1))
    assert -1 < first < 1
    assert first == -second


@given(turns())
def test_the_mirror_leaves_the_estimate_alone(pair: Pair) -> None:
    image = image_of(pair, MIRRORING)
    assert image.state.estimate(0) == pair.state.estimate(0)


def test_more_open_cells_are_better() -> None:
    # The same two cards, on player 1's side and on player 0's.
    good, bad = (
        State.from_string(STANDARD.game(), f"{field} Ah6h Ad6d 0 0").estimate(0)
        for field in ("..../..../.3h../.5c..", ".5c../.3h../..../....")
    )
    assert good > 0 > bad


def test_mobility_counts_in_the_tutorial() -> None:
    state = State.from_string(TUTORIAL.game(), "..../.3h../..../.... 4h5h6h Ad 0 0")
    assert state.estimate(0) > 0.3


def test_the_start_is_nearly_even() -> None:
    for variant in VARIANTS:
        assert abs(State(variant.game()).estimate(0)) < 0.5
