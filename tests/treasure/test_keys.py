"""Equal state keys go with equal futures, boards shifted sideways or mirrored included.

Equal view keys go with equal views, as they are: columns have their names.
"""

from collections.abc import Hashable, Iterable
from fractions import Fraction
from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cardcommons import State
from cardcommons.games.treasure.rules import BLACK, RANK, TAKEN, WIDTH
from cardcommons.perft import perft
from tests.one_to_one import assert_one_to_one
from tests.treasure.test_resample import resampled
from tests.treasure.walks import (
    DEFAULT,
    NARROW,
    POLICIES,
    TINY,
    VARIANTS,
    Pair,
    Variant,
    choose,
    drawing_chances,
    info_key,
    pairs,
    view_key,
    walk,
    whole_tree,
)
from tests.twins.treasure import COLUMNS, Card, Twin, in_order
from tests.twins.trees import at_random

THREE_COLUMNS = Variant.of(rows=2, columns=3, ranks=1, copies=2, hand=2)
"""15 581 histories."""

Board = frozenset[tuple[str, Card]]


def mirror(action: str) -> str:
    """The same action on the board seen from behind: column a for i, b for h, and so on."""
    if "@" not in action:
        return action
    return action[:2] + COLUMNS[-1 - COLUMNS.index(action[2])] + action[3:]


def _placed(board: Board, mirrored: bool, shifted: bool) -> tuple[tuple[int, str, Card], ...]:
    columns = {cell: COLUMNS.index(cell[0]) for cell, _ in board}
    if mirrored:
        columns = {cell: len(COLUMNS) - 1 - column for cell, column in columns.items()}
    west = min(columns.values(), default=0) if shifted else 0
    return tuple(sorted((columns[cell] - west, cell[1], top) for cell, top in board))


def canonical(twin: Twin) -> Hashable:
    """All that the future depends on, but for names of columns that make no difference."""
    tops: Board = frozenset((cell, pile[-1]) for cell, pile in twin.piles.items())
    shifted = not any(twin.owes_first)
    board = min(_placed(tops, mirrored, shifted) for mirrored in (False, True))
    draws = (twin.turn, twin.pending, twin.one_hand_used)
    return (board, twin.hands, twin.decks, draws, twin.owes_first)


def assert_keys_are_canonical(found: Iterable[Pair]) -> int:
    """States have equal keys exactly when they are the same; how many kinds there are."""
    return assert_one_to_one((canonical(pair.twin), pair.state.state_key()) for pair in found)


@pytest.mark.parametrize("variant", [THREE_COLUMNS, TINY[1], TINY[3]], ids=str)
def test_keys_group_all_histories_as_the_rules_do(variant: Variant) -> None:
    found = list(whole_tree(Pair.start(variant)))
    exact = {pair.twin.key() for pair in found}
    kinds = assert_keys_are_canonical(found)
    assert kinds < len(exact) if dict(variant.params)["columns"] > 1 else kinds == len(exact)


def _around(pair: Pair, most: int) -> list[Pair]:
    """All that a few actions can lead to, breadth first: full of transpositions."""
    found = [pair]
    for each in found:
        if len(found) >= most:
            break
        found += [each.played([action]) for action in at_random(each.twin)]
    return found[:most]


def test_keys_group_what_follows_from_positions_of_random_games(variant: Variant) -> None:
    found = []
    for seed, policy in enumerate(("playing", "expanding", "discarding first")):
        rng = Random(f"{variant} {seed}")
        line = [now.copy() for now, _ in walk(Pair.start(variant), POLICIES[policy], rng)]
        for pair in rng.sample(line, 2):
            found += _around(pair, 150)
    assert assert_keys_are_canonical(found) > 100 or variant == NARROW


def viewed(twin: Twin, player: int, hand: bool) -> Hashable:
    """What a player sees of a state."""
    tops = frozenset((cell, pile[-1]) for cell, pile in twin.piles.items())
    to_come = tuple(in_order(twin.hands[who] + twin.decks[who]) for who in (0, 1))
    sizes = tuple(map(len, twin.hands))
    draws = (twin.turn, twin.pending, twin.one_hand_used)
    return (tops, to_come, sizes, draws, twin.owes_first, hand and twin.hands[player])


def assert_views_are_told_apart(found: Iterable[Pair], player: int, hand: bool) -> int:
    """States have equal keys exactly when they look the same; how many kinds there are."""
    return assert_one_to_one(
        (viewed(pair.twin, player, hand), view_key(pair.state, player, hand)) for pair in found
    )


@pytest.mark.parametrize("variant", [THREE_COLUMNS, TINY[1], TINY[3]], ids=str)
def test_view_keys_group_all_histories_by_what_is_seen(variant: Variant) -> None:
    found = list(whole_tree(Pair.start(variant)))
    for player in (0, 1):
        without = assert_views_are_told_apart(found, player, hand=False)
        assert without < assert_views_are_told_apart(found, player, hand=True)
        assert without < len({info_key(pair.state, player) for pair in found})


def test_view_keys_group_what_follows_from_positions_of_random_games(variant: Variant) -> None:
    found = []
    for policy in ("playing", "expanding"):
        rng = Random(f"{variant} views {policy}")
        line = [now.copy() for now, _ in walk(Pair.start(variant), POLICIES[policy], rng)]
        found += [near for pair in rng.sample(line, 2) for near in _around(pair, 100)]
    for player in (0, 1):
        for hand in (False, True):
            assert assert_views_are_told_apart(found, player, hand) > 20


@given(pairs(), st.integers(0, 2**64 - 1))
def test_the_view_is_of_nothing_that_is_hidden(pair: Pair, seed: int) -> None:
    state = pair.state
    for player in (0, 1):
        other = resampled(state, player, seed)
        for hand in (False, True):
            assert view_key(other, player, hand) == view_key(state, player, hand)
        assert view_key(other, 1 - player, False) == view_key(state, 1 - player, False)


class Worth(NamedTuple):
    """What the future of a state comes to."""

    histories: int
    at_random: Fraction
    """Player 0's expectation if both play uniformly at random."""
    best: Fraction
    """The same if both play to win, with all cards open."""


def worth(state: State, known: dict[bytes, Worth]) -> Worth:
    """Search to the end; states with equal words are searched once."""
    name = state.words.tobytes()
    if name not in known:
        known[name] = _worth(state, known)
    return known[name]


def _worth(state: State, known: dict[bytes, Worth]) -> Worth:
    if state.is_terminal:
        value = Fraction(state.returns()[0])
        return Worth(1, value, value)
    children, chances = [], [*drawing_chances(state).values()]
    for action in state.legal_actions():
        child = state.copy()
        child.apply(action)
        children.append(worth(child, known))
    shares = chances or [Fraction(1, len(children))] * len(children)
    mean = sum((p * c.at_random for p, c in zip(shares, children, strict=True)), Fraction(0))
    expected = sum((p * c.best for p, c in zip(shares, children, strict=True)), Fraction(0))
    best = expected if chances else (max, min)[state.player](child.best for child in children)
    return Worth(1 + sum(child.histories for child in children), mean, best)


def test_equal_keys_have_equal_values_in_a_whole_tree() -> None:
    known: dict[bytes, Worth] = {}
    by_key: dict[int, set[Worth]] = {}
    for pair in whole_tree(Pair.start(THREE_COLUMNS)):
        by_key.setdefault(pair.state.state_key(), set()).add(worth(pair.state, known))
    assert all(len(values) == 1 for values in by_key.values())
    assert len(by_key) < len(known)


def _is_late(pair: Pair) -> bool:
    return 0 < sum(map(len, pair.twin.hands)) <= 3 and not any(pair.twin.decks)


def moved(state: State, columns: int) -> State:
    """The state with its board moved east by so many columns, or west if they are negative."""
    words = state.words.copy()
    for word in (*range(RANK, RANK + 4), TAKEN, BLACK):
        plane = int(words[word])
        words[word] = np.uint64(plane << columns if columns > 0 else plane >> -columns)
    return State(state.game, words)


def _room(twin: Twin) -> tuple[int, int]:
    """How far the board can be moved, with a column left on either side for new ones."""
    used = [COLUMNS.index(column) for column in twin.columns_in_play]
    return 1 - min(used), WIDTH - 2 - max(used)


def _mirrored(variant: Variant, twin: Twin) -> Pair:
    return Pair.start(variant).played(map(mirror, twin.history))


@given(st.sampled_from(VARIANTS), st.sampled_from(sorted(POLICIES)), st.integers(0, 2**32))
def test_a_mirrored_game_has_the_same_keys_all_along(
    variant: Variant, policy: str, seed: int
) -> None:
    image, rng = Pair.start(variant), Random(seed)
    game = variant.game()
    for pair, action in walk(Pair.start(variant), POLICIES[policy], rng):
        assert sorted(map(mirror, at_random(pair.twin))) == sorted(at_random(image.twin))
        assert image.state.state_key() == pair.state.state_key()
        if rng.random() < 0.1:
            assert perft(game, 2, image.state) == perft(game, 2, pair.state)
        image.play(mirror(action))
    assert image.state.returns() == pair.state.returns()


@given(pairs())
def test_a_board_moved_sideways_has_the_same_key_once_both_have_played(pair: Pair) -> None:
    assume(pair.twin.piles)
    least, most = _room(pair.twin)
    game = pair.state.game
    for columns in {least, -1, 1, most} - {0}:
        if least <= columns <= most:
            other = moved(pair.state, columns)
            if any(pair.twin.owes_first):
                # Boards that are their own mirror images could meet again on the other side.
                symmetric = canonical(pair.twin) == canonical_of_moved(pair.twin, columns)
                assert (other.state_key() == pair.state.state_key()) == symmetric
                continue
            assert other.state_key() == pair.state.state_key()
            for depth in (1, 2):
                assert perft(game, depth, other) == perft(game, depth, pair.state)


def canonical_of_moved(twin: Twin, columns: int) -> Hashable:
    """The same for a board moved sideways."""
    piles = {
        COLUMNS[COLUMNS.index(cell[0]) + columns] + cell[1]: pile
        for cell, pile in twin.piles.items()
    }
    state = (piles, twin.hands, twin.decks, twin.turn, twin.pending, twin.one_hand_used)
    return canonical(Twin(twin.parameters, *state, twin.owes_first))


def test_late_values_do_not_change_when_the_board_is_moved_or_mirrored() -> None:
    compared = 0
    values = set()
    for seed in range(12):
        rng = Random(f"late {seed}")
        line = walk(Pair.start(DEFAULT), POLICIES["expanding" if seed % 2 else "playing"], rng)
        late = next(pair.copy() for pair, _ in line if _is_late(pair))
        value = worth(late.state, {})
        values.add(value)
        images = [_mirrored(DEFAULT, late.twin).state]
        least, most = _room(late.twin)
        images += [moved(late.state, columns) for columns in range(least, most + 1) if columns]
        for image in images:
            assert image.state_key() == late.state.state_key()
            assert worth(image, {}) == value
            compared += 1
    assert compared >= 24
    assert len(values) > 6


DEAL = ["draw:2", "draw:3", "draw:4"] * 2


def test_games_that_come_to_the_same_board_in_other_columns_are_the_same() -> None:
    """With 2s and 3s in two neighbouring columns, wherever the game began."""
    start = Pair.start(DEFAULT).played(DEAL)
    east = start.played(["2@e1", "2@e5", "3@f1", "3@f5"])
    west = start.played(["3@e1", "3@e5", "2@d1", "2@d5"])
    image = start.played(["2@e1", "2@e5", "3@d1", "3@d5"])
    for other in (west, image):
        assert other.twin.key() != east.twin.key()
        assert other.state.state_key() == east.state.state_key()
        for depth in (1, 2, 3):
            counts = [perft(east.state.game, depth, each.state) for each in (east, other)]
            assert counts[0] == counts[1]
    swapped = start.played(["2@e1", "3@e5", "3@f1", "2@f5"])
    assert swapped.state.state_key() != east.state.state_key()


def test_columns_matter_while_a_first_card_is_owed() -> None:
    start = Pair.start(DEFAULT).played(DEAL)
    east = start.played(["2@e1", "-2", "3@f1", "-3"])
    west = start.played(["3@e1", "-2", "2@d1", "-3"])
    assert moved(east.state, -1).fields()["board"] == west.state.fields()["board"]
    assert west.state.state_key() != east.state.state_key()
    image = start.played(["2@e1", "-2", "3@d1", "-3"])
    assert image.state.state_key() == east.state.state_key()


def test_mirroring_is_its_own_inverse() -> None:
    pair, rng = Pair.start(DEFAULT), Random(1)
    while not pair.is_over:
        action = choose(pair.twin, POLICIES["expanding"], rng)
        assert mirror(mirror(action)) == action
        pair.play(action)
    assert {mirror(f"7@{column}1")[2] for column in COLUMNS} == set(COLUMNS)
