"""The estimate is a guess, but a consistent one, and it counts what it says it counts."""

import math

import pytest
from hypothesis import given

from cardcommons.games.treasure.estimate import WEIGHTS
from tests.treasure.walks import Pair, pairs
from tests.twins.treasure import RANKS, Twin

CERTAIN = 0.999


def prospects(twin: Twin, player: int) -> float:
    """A player's side of the lead, from sets."""
    tops = [RANKS.index(twin.piles[cell][-1].rank) for cell in twin.owned(player)]
    to_come = [RANKS.index(rank) for rank in twin.hands[player] + twin.decks[player]]
    return (
        twin.points(player)
        + WEIGHTS.connected * len(twin.connected(player))
        + WEIGHTS.rank_of_top * sum(tops)
        - WEIGHTS.treasure_at_risk * tops.count(0)
        + WEIGHTS.card * len(to_come)
        + WEIGHTS.card_rank * sum(to_come)
        + WEIGHTS.treasure_to_come * to_come.count(0)
        + WEIGHTS.reach * len(twin.reachable(player))
    )


def guess(twin: Twin, player: int) -> float:
    """The estimate of a game that is played for the win."""
    lead = prospects(twin, player) - prospects(twin, 1 - player)
    cards = sum(len(twin.hands[each] + twin.decks[each]) for each in (0, 1))
    return CERTAIN * math.tanh(lead / (WEIGHTS.scale + WEIGHTS.scale_card * cards))


@given(pairs())
def test_estimates_are_inside_the_bounds_and_antisymmetric(pair: Pair) -> None:
    first, second = (pair.state.estimate(player) for player in (0, 1))
    assert pair.state.game.rules.min_utility < first < pair.state.game.rules.max_utility
    assert first == -second


@given(pairs())
def test_the_estimate_counts_what_it_says(pair: Pair) -> None:
    if pair.twin.parameters.utility == "win":
        for player in (0, 1):
            assert pair.state.estimate(player) == pytest.approx(guess(pair.twin, player), abs=1e-12)
    else:
        points = [pair.twin.points(player) for player in (0, 1)]
        assert pair.state.estimate(0) == pytest.approx(0.9 * (points[0] - points[1]), abs=1e-12)
