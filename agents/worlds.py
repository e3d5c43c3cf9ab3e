"""Two worlds that a sampling walk can move in: a game of the treaty, and an unrolled tree.

A walk is written once, against :class:`Verbs`.  A *world* is a NamedTuple of arrays with a row
for each ply of the walk; a *place* is the first slot of an information set in the walk's tables.
"""

from functools import cache
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from cardcommons.keytable import (
    KeyTable,
    find_slot,
    grown,
    has_room,
    make_enter_keys,
    make_keytable,
    seated,
)
from cardcommons.rng import unit, weighted
from cardcommons.treaty import Game, Kernel, Rules, Scratch, copy_words, make_scratch
from cardcommons.tree import GameTree, Nodes, make_nodes

UNKNOWN = -1
"""In place of a place: nothing is stored of the information set."""

NO_ROOM = -2
"""In place of a place: it would be stored, but there is no room; the walk must stop here."""


class Verbs(NamedTuple):
    """How a walk moves: jittable functions, in whose signatures ``w`` is a world."""

    start: Kernel
    """``(w)``: put row 0 at the start of the game."""
    mover: Kernel
    """``(w, ply) -> player``: who moves at a row, CHANCE or TERMINAL."""
    options: Kernel
    """``(w, ply, player) -> n``: list the legal actions of a player."""
    draw: Kernel
    """``(w, ply, rng)``: draw an outcome of chance, and go on to it in the same row."""
    step: Kernel
    """``(w, ply, i)``: go on to option ``i`` in the same row."""
    branch: Kernel
    """``(w, ply, i)``: the same, in the next row."""
    utility: Kernel
    """``(w, ply, player) -> float``: of a finished game."""
    place: Kernel
    """``(w, ply, player, n, add) -> place``: where the information set of a player with ``n``
    options is stored, which it is from now on if ``add``; or ``UNKNOWN`` or ``NO_ROOM``."""
    added: Kernel
    """``(w) -> int``: how many information sets were added since ``start``."""


class Shelf(NamedTuple):
    """Where the information sets that a walk has met are stored: E entries."""

    table: KeyTable
    """from ``seated(info_key, player)`` to entries"""
    key: npt.NDArray[np.uint64]
    """``[E]``: the same keys, by entry"""
    first: npt.NDArray[np.int64]
    """``[E + 1]``: the slots of entry e are ``first[e]`` to ``first[e + 1] - 1``"""
    used: npt.NDArray[np.int64]
    """``[4]``: entries, slots there is room for, whether nothing may be added any more, and how
    many entries were added since a walk has set this to 0"""


def make_shelf(bits: int, slots: int) -> Shelf:
    """A shelf for up to ``2**(bits - 1)`` entries with so many slots in all."""
    entries = 1 << (bits - 1)
    return Shelf(
        table=make_keytable(bits),
        key=np.zeros(entries, dtype=np.uint64),
        first=np.zeros(entries + 1, dtype=np.int64),
        used=np.array([0, slots, 0, 0], dtype=np.int64),
    )


def grown_shelf(shelf: Shelf) -> Shelf:
    """A shelf for twice as many entries, with all that is on this one."""
    entries = 2 * shelf.key.size
    key, first = np.zeros(entries, dtype=np.uint64), np.zeros(entries + 1, dtype=np.int64)
    key[: shelf.key.size], first[: shelf.first.size] = shelf.key, shelf.first
    return Shelf(grown(shelf.table), key, first, shelf.used)


def filled_shelf(
    key: npt.NDArray[np.uint64], first: npt.NDArray[np.int64], bits: int, slots: int
) -> Shelf:
    """A shelf with these entries, and room for ``2**(bits - 1)``, with so many slots in all."""
    shelf = make_shelf(bits, slots)
    shelf.key[: key.size], shelf.first[: first.size] = key, first
    shelf.used[0] = key.size
    make_enter_keys()(shelf.table, key)
    return shelf


class TreatyWorld(NamedTuple):
    """A game of the treaty, and the information sets that were met so far."""

    root: npt.NDArray[np.uint64]
    scratch: Scratch
    shelf: Shelf


class TreeWorld(NamedTuple):
    """An unrolled tree, all of whose information sets are stored."""

    nodes: Nodes
    first_slot: npt.NDArray[np.int64]
    at: npt.NDArray[np.int64]
    """``[plies]``: the node of each row"""


TREATY_WORLD = numba.typeof(
    TreatyWorld(
        np.zeros(1, dtype=np.uint64),
        Scratch(
            np.zeros((1, 1), dtype=np.uint64),
            np.zeros((1, 1), dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        ),
        make_shelf(1, 0),
    )
)
"""The numba type of a :class:`TreatyWorld`, for signatures."""

TREE_WORLD = numba.typeof(
    TreeWorld(make_nodes(1, 1, 1), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
)
"""The numba type of a :class:`TreeWorld`, for signatures."""


def treaty_world(game: Game, shelf: Shelf) -> TreatyWorld:
    """The world of a game at its start."""
    scratch = make_scratch(game.rules, game.rules.max_length + 2)
    return TreatyWorld(game.start.copy(), scratch, shelf)


def tree_world(tree: GameTree, plies: int) -> TreeWorld:
    """The world of a tree so deep."""
    return TreeWorld(tree.nodes, tree.info_sets.first_slot, np.zeros(plies, dtype=np.int64))


@register_jitable
def _shelved(shelf, key, n, add):
    """The place of a key with ``n`` options."""
    slot = find_slot(shelf.table, key)
    if shelf.table.key[slot] == key:
        entry = shelf.table.row[slot]
        first = shelf.first[entry]
        return first if shelf.first[entry + 1] - first == n else np.int64(UNKNOWN)
    if not add or shelf.used[2]:
        return np.int64(UNKNOWN)
    entry = shelf.used[0]
    first = shelf.first[entry]
    if not has_room(shelf.table, entry + 1) or first + n > shelf.used[1]:
        return np.int64(NO_ROOM)
    shelf.table.key[slot] = key
    shelf.table.row[slot] = entry
    shelf.key[entry] = key
    shelf.first[entry + 1] = first + n
    shelf.used[0] += 1
    shelf.used[3] += 1
    return first


@cache
def treaty_verbs(rules: Rules) -> Verbs:
    """The verbs of a :class:`TreatyWorld`."""
    to_move, legal, chance, apply = rules.to_move, rules.legal, rules.chance, rules.apply
    payoff, info_key, num_words = rules.payoff, rules.info_key, rules.num_words

    @register_jitable
    def start(w):
        copy_words(w.scratch.words[0], w.root, num_words)
        w.shelf.used[3] = 0

    @register_jitable
    def mover(w, ply):
        return to_move(w.scratch.words[ply])

    @register_jitable
    def options(w, ply, player):
        return legal(w.scratch.words[ply], w.scratch.moves[ply])

    @register_jitable
    def draw(w, ply, rng):
        s, moves, weight = w.scratch.words[ply], w.scratch.moves[ply], w.scratch.weight
        apply(s, moves[weighted(rng, weight, chance(s, moves, weight))])

    @register_jitable
    def step(w, ply, i):
        apply(w.scratch.words[ply], w.scratch.moves[ply, i])

    @register_jitable
    def branch(w, ply, i):
        for j in range(num_words):
            w.scratch.words[ply + 1, j] = w.scratch.words[ply, j]
        apply(w.scratch.words[ply + 1], w.scratch.moves[ply, i])

    @register_jitable
    def utility(w, ply, player):
        return payoff(w.scratch.words[ply], player)

    @register_jitable
    def place(w, ply, player, n, add):
        return _shelved(w.shelf, seated(info_key(w.scratch.words[ply], player), player), n, add)

    @register_jitable
    def added(w):
        return w.shelf.used[3]

    return Verbs(start, mover, options, draw, step, branch, utility, place, added)


@register_jitable
def _tree_start(w):
    w.at[0] = 0


@register_jitable
def _tree_mover(w, ply):
    return np.int64(w.nodes.player[w.at[ply]])


@register_jitable
def _tree_options(w, ply, player):
    node = w.at[ply]
    return np.int64(w.nodes.first_child[node + 1] - w.nodes.first_child[node])


@register_jitable
def _tree_draw(w, ply, rng):
    child = np.int64(w.nodes.first_child[w.at[ply]])
    last = np.int64(w.nodes.first_child[w.at[ply] + 1]) - 1
    left = unit(rng) - w.nodes.prob[child]
    while left >= 0.0 and child < last:
        child += 1
        left -= w.nodes.prob[child]
    w.at[ply] = child


@register_jitable
def _tree_step(w, ply, i):
    w.at[ply] = w.nodes.first_child[w.at[ply]] + i


@register_jitable
def _tree_branch(w, ply, i):
    w.at[ply + 1] = w.nodes.first_child[w.at[ply]] + i


@register_jitable
def _tree_utility(w, ply, player):
    return w.nodes.utility[w.nodes.place[w.at[ply]], player]


@register_jitable
def _tree_place(w, ply, player, n, add):
    return w.first_slot[w.nodes.place[w.at[ply]]]


@register_jitable
def _tree_added(w):
    return np.int64(0)


TREE_VERBS = Verbs(
    _tree_start,
    _tree_mover,
    _tree_options,
    _tree_draw,
    _tree_step,
    _tree_branch,
    _tree_utility,
    _tree_place,
    _tree_added,
)
"""The verbs of a :class:`TreeWorld`."""
