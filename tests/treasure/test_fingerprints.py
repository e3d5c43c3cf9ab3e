"""Exact counts and values of whole trees, on which independent engines agree."""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import pytest

from cardcommons import State
from cardcommons.perft import divide, perft
from tests.treasure.walks import TINY, Pair, Variant, drawing_chances, whole_tree
from tests.twins import trees
from tests.twins.trees import Statistics


class Row(NamedTuple):
    """What a whole tree comes to."""

    variant: Variant
    expected: Statistics

    def __str__(self) -> str:
        return str(self.variant)


def _row(variant: Variant, histories: int, terminals: int, value: Fraction) -> Row:
    return Row(variant, Statistics(histories, terminals, value))


THREE_ROWS = {"rows": 3, "columns": 3, "ranks": 2, "copies": 1, "utility": "margin"}
SMALL = (
    _row(TINY[0], 149, 61, Fraction(-23, 576)),
    _row(TINY[1], 2967, 1036, Fraction(31, 15552)),
    _row(TINY[2], 47, 25, Fraction(11, 288)),
    _row(TINY[3], 17103, 9843, Fraction(3862601, 272160000)),
)
VALUE = Fraction(18207739, 2032128000)
ROWS = (
    *SMALL,
    _row(Variant.of(**THREE_ROWS, hand=2), 168440, 123724, -VALUE),
    _row(Variant.of(**THREE_ROWS, hand=1), 42197, 30931, VALUE),
)


def _count(state: State, key: Callable[[State], int], known: dict[int, Statistics]) -> Statistics:
    """Count all histories from here on, and value random play; equal keys are counted once."""
    name = key(state)
    if name not in known:
        known[name] = _count_children(state, key, known)
    return known[name]


def _count_children(
    state: State, key: Callable[[State], int], known: dict[int, Statistics]
) -> Statistics:
    if state.is_terminal:
        return Statistics(1, 1, Fraction(state.returns()[0]))
    histories, terminals, value = 1, 0, Fraction(0)
    legal = state.legal_actions()
    chances = drawing_chances(state)
    for action in legal:
        child = state.copy()
        child.apply(action)
        found = _count(child, key, known)
        chance = chances[state.action_to_string(action)] if chances else Fraction(1, len(legal))
        histories += found.histories
        terminals += found.terminals
        value += chance * found.value
    return Statistics(histories, terminals, value)


class Unfolded:
    """A key of its own for every state asked for, so that nothing is counted once for two."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, state: State) -> int:
        """The next number."""
        self.asked += 1
        return self.asked


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_engine_counts_as_the_table_says(row: Row) -> None:
    assert _count(State(row.variant.game()), State.state_key, {}) == row.expected


@pytest.mark.parametrize("row", SMALL, ids=str)
def test_counting_every_history_for_itself_gives_the_same(row: Row) -> None:
    unfolded = Unfolded()
    assert _count(State(row.variant.game()), unfolded, {}) == row.expected
    assert unfolded.asked == row.expected.histories


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_compiled_walks_without_folding_reach_as_many_histories(row: Row) -> None:
    game = row.variant.game()
    length = game.max_decisions + game.max_chance_nodes
    levels = [perft(game, depth) for depth in range(length + 2)]
    assert sum(levels) == row.expected.histories
    assert (levels[-2], levels[-1]) == (row.expected.terminals, 0)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_twin_counts_as_the_table_says(row: Row) -> None:
    assert trees.count(row.variant.twin()) == row.expected


@pytest.mark.parametrize("variant", TINY[:5], ids=str)
def test_the_engines_agree_at_every_history(variant: Variant) -> None:
    nodes = 0
    for pair in whole_tree(Pair.start(variant)):
        pair.check()
        nodes += 1
    assert nodes == trees.count(variant.twin()).histories


def test_divide_splits_the_count_by_the_first_draw() -> None:
    game = TINY[1].game()
    counts = divide(game, 4)
    assert counts.keys() == {"draw:$", "draw:2"}
    assert sum(counts.values()) == perft(game, 4) == 9
