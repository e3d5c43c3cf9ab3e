"""Exact counts and values of whole trees, on which independent engines agree."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from cardcommons import State
from cardcommons.perft import divide, perft
from cardcommons.state import make_verb
from cardcommons.treaty import CHANCE, Game
from tests.gluons.walks import (
    HIDING,
    TINY,
    Pair,
    Variant,
    drawing_chances,
    whole_tree,
)
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


ROUND = {"copies": 1, "hand": 2, "max_rounds": 1, "sides": "12-21-23-32"}
CYCLE = ROUND | {"pairs": "RG-GB-BR"}
REEMITTING = Variant.of(**ROUND, pairs="RG-GR", reemission=True, utility="points")
SMALL = (
    _row(TINY, 5659, 1080, Fraction(13, 18)),
    _row(HIDING, 78989, 18624, Fraction(433, 1200)),
    _row(REEMITTING, 78989, 18624, Fraction(1, 200)),
)
LARGE = (
    _row(Variant.of(**CYCLE), 710848, 167616, Fraction(1109, 2700)),
    _row(Variant.of(**CYCLE, reemission=True), 719920, 171360, Fraction(17741, 43200)),
    _row(
        Variant.of(**CYCLE, reemission=True, utility="points"),
        *(719920, 171360, Fraction(151, 11520)),
    ),
)
ROWS = (*SMALL, *LARGE)


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


def test_counting_every_history_for_itself_gives_the_same() -> None:
    unfolded = Unfolded()
    assert _count(State(TINY.game()), unfolded, {}) == SMALL[0].expected
    assert unfolded.asked == SMALL[0].expected.histories


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_compiled_walks_without_folding_reach_as_many_histories(row: Row) -> None:
    game = row.variant.game()
    levels = [perft(game, depth) for depth in range(game.rules.max_length + 2)]
    assert sum(levels) == row.expected.histories
    assert levels[-1] == 0


@pytest.mark.parametrize("row", SMALL, ids=str)
def test_the_twin_counts_as_the_table_says(row: Row) -> None:
    assert trees.count(row.variant.twin()) == row.expected


@pytest.mark.parametrize(
    "variant",
    [
        Variant.of(players=3, copies=1, hand=1, max_rounds=1, pairs="RG", sides="12-21-23"),
        Variant.of(players=4, copies=1, hand=1, max_rounds=1, pairs="RG-BR", sides="12-23"),
        Variant.of(copies=1, hand=1, pairs="RG-GR", sides="12-21-13"),
    ],
    ids=str,
)
def test_the_engines_agree_at_every_history(variant: Variant) -> None:
    nodes = 0
    for number, pair in enumerate(whole_tree(Pair.start(variant))):
        nodes += 1
        if number % 4 == 0:
            pair.check()
    assert nodes == trees.count(variant.twin()).histories


def test_divide_splits_the_count_by_the_first_draw() -> None:
    assert divide(HIDING.game(), 5) == {"draw:RG": 32, "draw:GR": 32}
    assert perft(HIDING.game(), 5) == 64


def _information_sets(game: Game) -> list[int]:
    """How many information sets each of two players has, by keys."""
    rules = game.rules
    to_move, apply = make_verb(rules, "to_move"), make_verb(rules, "apply")
    info_key, out = make_verb(rules, "info_key"), np.empty((2, rules.max_legal), dtype=np.int64)
    legal, chance = make_verb(rules, "legal"), make_verb(rules, "chance")
    found: tuple[set[int], set[int]] = (set(), set())
    left = [game.start.copy()]
    while left:
        words = left.pop()
        player = to_move(words)
        count = chance(words, *out) if player == CHANCE else legal(words, out[0])
        if player >= 0:
            found[player].add(int(info_key(words, player)))
        for action in out[0, :count].tolist():
            after = words.copy()
            apply(after, action)
            left.append(after)
    return [*map(len, found)]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (ROUND | {"pairs": "RG-GR"}, [15362, 14712]),
        (CYCLE, [113910, 94704]),
        (CYCLE | {"reemission": True}, [115278, 96000]),
    ],
)
def test_the_engine_has_as_many_information_sets(
    params: dict[str, Any], expected: list[int]
) -> None:
    assert _information_sets(Variant.of(**params).game()) == expected


def test_the_twin_has_as_many_information_sets() -> None:
    sets = [trees.information_sets(TINY.twin(), player) for player in (0, 1)]
    assert [*map(len, sets)] == [2166, 2376]
