"""The states that a search tree has met, so that all paths to a state share what is below it.

A state is found by its ``state_key``, which is the same for all states with the same future:
mirror images and other symmetric states among them, whose actions may have other numbers.  So a
state is kept in the words in which it was met first, and a search that comes to an image of it
goes on from those words: what follows is the same game.  Only who asks for actions in the words of
the image needs them :func:`translated`.

What is shared are the children with their statistics, while each path counts its own visits.
That is UCT1 of Childs, Brodeur and Kocsis, "Transpositions and move groups in Monte Carlo tree
search", CIG 2008; Saffidine, Cazenave and Méhat, "UCD: upper confidence bound for rooted directed
acyclic graphs", Knowledge-Based Systems 34, 2012, weigh it against other ways.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from cardcommons import Game, State
from cardcommons.keytable import NOT_THERE, KeyTable, find_slot, make_enter_keys, make_keytable
from cardcommons.state import make_verb
from cardcommons.treaty import Words


class Transpositions(NamedTuple):
    """A table of states whose children are in a tree; arrays of a row each where not said."""

    table: KeyTable
    """From keys to rows."""
    key: npt.NDArray[np.uint64]
    """That of the state, and of who moved into it."""
    words: npt.NDArray[np.uint64]
    """Shape ``(rows, num_words)``: the state in which the children's actions are legal."""
    first_child: npt.NDArray[np.int32]
    num_children: npt.NDArray[np.int32]
    used: npt.NDArray[np.int64]
    """Shape ``(1,)``: how many rows are in use."""


def make_transpositions(rows: int, num_words: int) -> Transpositions:
    """An empty table for up to ``rows`` states; with 0 of them, nothing is ever shared."""
    return Transpositions(
        table=make_keytable((2 * rows).bit_length()),
        key=np.empty(rows, dtype=np.uint64),
        words=np.empty((rows, num_words), dtype=np.uint64),
        first_child=np.empty(rows, dtype=np.int32),
        num_children=np.empty(rows, dtype=np.int32),
        used=np.zeros(1, dtype=np.int64),
    )


TRANSPOSITIONS = numba.typeof(make_transpositions(1, 1))
"""The numba type of :class:`Transpositions`, for signatures."""


@register_jitable
def enter_state(states, key, first, count):
    """Give a state that isn't there a row, if one is free; returns it, or ``NOT_THERE``.

    ``first`` and ``count`` tell the block of its children.  The words are left to the caller.
    """
    row = states.used[0]
    if row == states.key.size:
        return NOT_THERE
    states.used[0] = row + 1
    states.first_child[row] = first
    states.num_children[row] = count
    _seat(states, row, key)
    return row


@register_jitable
def _seat(states, row, key):
    """Enter a row in the table."""
    slot = find_slot(states.table, key)
    states.table.key[slot] = key
    states.table.row[slot] = row
    states.key[row] = key


@register_jitable
def keep_states(states, place, renumbered):
    """Keep the states whose children stay, and write the new number of each row to ``renumbered``.

    ``place`` holds the new number of each node: -1 if it goes, 0 if it leaves its siblings and
    becomes the root.  Rows move to lower numbers.
    """
    for slot in range(states.table.key.size):
        states.table.key[slot] = 0
    count = 0
    for row in range(states.used[0]):
        first = place[states.first_child[row]]
        renumbered[row] = count if first > 0 else NOT_THERE
        if first <= 0:
            continue
        for i in range(states.words.shape[1]):
            states.words[count, i] = states.words[row, i]
        states.first_child[count] = first
        states.num_children[count] = states.num_children[row]
        _seat(states, count, states.key[row])
        count += 1
    states.used[0] = count


def forget(states: Transpositions) -> None:
    """Empty the table."""
    states.table.key.fill(0)
    states.used[0] = 0


def with_room(states: Transpositions, more: int, most: int) -> Transpositions:
    """The same table, or a larger copy, with room for ``more`` states, but never above ``most``.

    A table no larger than it has to be stays close together in memory.
    """
    rows, used = states.key.size, int(states.used[0])
    if used + more <= rows or rows >= most:
        return states
    larger = make_transpositions(min(2 * (used + more), most), states.words.shape[1])
    larger.key[:used] = states.key[:used]
    larger.words[:used] = states.words[:used]
    larger.first_child[:used] = states.first_child[:used]
    larger.num_children[:used] = states.num_children[:used]
    larger.used[0] = used
    make_enter_keys()(larger.table, larger.key[:used])
    return larger


def translated(game: Game, words: Words, actions: Sequence[int], image: Words) -> list[int]:
    """The actions of ``image`` that lead to the same futures as ``actions`` from ``words``.

    Args:
        game: whose states they are.
        words: a state.
        actions: all its legal actions, or outcomes of chance, in any order.
        image: a state with the same ``state_key``.
    """
    if np.array_equal(words, image):
        return list(actions)
    there = State(game, image).legal_actions()
    paired = zip(_by_future(game, words, actions), _by_future(game, image, there), strict=True)
    twins = dict(paired)
    return [twins[action] for action in actions]


def _by_future(game: Game, words: Words, actions: Sequence[int]) -> list[int]:
    """Actions in the order of what they lead to."""
    apply, state_key = (make_verb(game.rules, verb) for verb in ("apply", "state_key"))

    def future(action: int) -> tuple[int, int]:
        after = words.copy()
        apply(after, action)
        return int(state_key(after)), action

    return sorted(actions, key=future)
