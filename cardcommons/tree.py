"""Games unrolled: every history a node, in flat arrays, for algorithms that visit them all.

Nodes are numbered breadth first, so that the children of a node are neighbours, a parent comes
before its children, and a pass over the whole tree is a plain loop.  Information sets are
numbered player by player, and each before those that it leads to.

A tree is counted before it is built: the count walks all histories with a row for each ply and
remembers none of them.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from cardcommons.bits import lowest, mix
from cardcommons.compiled import compiled
from cardcommons.keytable import (
    KeyTable,
    find_slot,
    grown,
    has_room,
    make_keytable,
    seated,
)
from cardcommons.treaty import (
    CHANCE,
    SCRATCH,
    TERMINAL,
    Game,
    Kernel,
    Rules,
    copy_words,
    make_scratch,
)

NOWHERE = -1
"""In place of a node, an action or an index: there is none."""

Progress = Callable[[str, int, int | None], None]
"""``(stage, done, total)``, called now and then; ``total`` is ``None`` while it isn't known."""

MOST_NODES = 2**31 - 2
"""Nodes are numbered by ``int32``."""

_CHUNK = 1 << 20
_REGISTERS = 4096
_REGISTER_BITS = np.uint64(12)
_ALPHA = 0.7213 / (1 + 1.079 / _REGISTERS)
_INFO_SET_BYTES = 80
"""Its row, its key in a table that is at most half full and has just grown, and two slots."""


class Nodes(NamedTuple):
    """The nodes of a tree, N of them; 0 is the root.

    An *action* is an outcome where chance moves.
    """

    player: npt.NDArray[np.int8]
    """``[N]``: who moves, CHANCE or TERMINAL"""
    parent: npt.NDArray[np.int32]
    """``[N]``: ``NOWHERE`` for the root"""
    action: npt.NDArray[np.int32]
    """``[N]``: what leads here from the parent; ``NOWHERE`` for the root"""
    prob: npt.NDArray[np.float64]
    """``[N]``: the probability of that, if chance moves at the parent; else 1"""
    first_child: npt.NDArray[np.int32]
    """``[N + 1]``: the children of node i are ``first_child[i]`` to ``first_child[i + 1] - 1``, by
    ascending action"""
    place: npt.NDArray[np.int32]
    """``[N]``: the information set of a decision, the row in ``utility`` of an end, or
    ``NOWHERE`` where chance moves"""
    utility: npt.NDArray[np.float64]
    """``[ends, players]``"""


class InfoSets(NamedTuple):
    """The information sets of a tree, I of them, with S actions in all, which are its *slots*."""

    player: npt.NDArray[np.int8]
    """``[I]``, ascending"""
    key: npt.NDArray[np.uint64]
    """``[I]``: the ``info_key``, or a hash of OpenSpiel's string"""
    node: npt.NDArray[np.int32]
    """``[I]``: one of its nodes, the first"""
    first_slot: npt.NDArray[np.int64]
    """``[I + 1]``: the slots of set i are ``first_slot[i]`` to ``first_slot[i + 1] - 1``"""
    action: npt.NDArray[np.int32]
    """``[S]``: the action of a slot, ascending within a set"""


@dataclass(frozen=True, eq=False)
class GameTree:
    """A game with all its histories.

    Attributes:
        game: the game as text, with its parameters.
        num_players: how many play.
        nodes: the histories.
        info_sets: what the players can tell apart.
        labels: of each information set, OpenSpiel's string; empty for games of the treaty.
    """

    game: str
    num_players: int
    nodes: Nodes
    info_sets: InfoSets
    labels: tuple[str, ...] = ()

    @property
    def num_nodes(self) -> int:
        """How many histories there are."""
        return self.nodes.player.size

    @property
    def num_info_sets(self) -> int:
        """How many information sets there are, of all players."""
        return self.info_sets.player.size

    @property
    def num_slots(self) -> int:
        """How many actions the information sets have in all."""
        return self.info_sets.action.size

    @property
    def num_terminals(self) -> int:
        """How many histories are over."""
        return int(np.count_nonzero(self.nodes.player == TERMINAL))

    @property
    def bytes(self) -> int:
        """The memory that its arrays take."""
        return sum(array.nbytes for array in (*self.nodes, *self.info_sets))

    @cached_property
    def depth(self) -> int:
        """How many actions, chance outcomes included, the longest history has."""
        depth, node = 0, self.num_nodes - 1  # which is one of the deepest
        while node:
            depth, node = depth + 1, int(self.nodes.parent[node])
        return depth

    def history(self, node: int) -> list[int]:
        """The actions, chance outcomes included, that lead to a node."""
        actions = []
        while node:
            actions.append(int(self.nodes.action[node]))
            node = int(self.nodes.parent[node])
        return actions[::-1]

    def __repr__(self) -> str:
        return (
            f"<GameTree of {self.game}: {self.num_nodes:,} nodes, "
            f"{self.num_info_sets:,} information sets>"
        )


@dataclass(frozen=True)
class TreeCount:
    """How large a tree is.

    Attributes:
        game: the game as text.
        num_players: how many play.
        levels: nodes at each depth.
        terminals: nodes where the game is over.
        decisions: nodes where a player moves.
        choices: the legal actions at all of those.
        info_sets: how many information sets there are, to within a few per cent.
    """

    game: str
    num_players: int
    levels: tuple[int, ...]
    terminals: int
    decisions: int
    choices: int
    info_sets: int

    @property
    def nodes(self) -> int:
        """All nodes."""
        return sum(self.levels)

    @property
    def bytes(self) -> int:
        """About how much memory the tree takes."""
        slots = self.info_sets * self.choices // max(self.decisions, 1)
        ends = 8 * self.terminals * self.num_players
        return _node_bytes() * self.nodes + ends + _INFO_SET_BYTES * self.info_sets + 4 * slots


def _node_bytes() -> int:
    return sum(array.itemsize for array in make_nodes(0, 0, 1)[:-1])


def make_nodes(nodes: int, terminals: int, players: int) -> Nodes:
    """Arrays for so many nodes."""
    return Nodes(
        player=np.empty(nodes, dtype=np.int8),
        parent=np.full(nodes, NOWHERE, dtype=np.int32),
        action=np.full(nodes, NOWHERE, dtype=np.int32),
        prob=np.ones(nodes, dtype=np.float64),
        first_child=np.empty(nodes + 1, dtype=np.int32),
        place=np.full(nodes, NOWHERE, dtype=np.int32),
        utility=np.empty((terminals, players), dtype=np.float64),
    )


def available_memory() -> int:
    """How many bytes a process may hope for: what the system says is available."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            told = dict(line.split(":") for line in file)
        return 1024 * int(told["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def default_limit() -> int:
    """The memory that a tree may take unless told otherwise: half of what is available."""
    return available_memory() // 2


def require_fit(game: str, needed: int, limit: int, counted: str) -> None:
    """Raise ``MemoryError`` if a tree needs more bytes than it may take."""
    if needed > limit:
        raise MemoryError(
            f"the tree of {game} does not fit: {counted}, which takes {needed / 2**20:,.1f} MiB or "
            f"more, and the limit is {limit / 2**20:,.1f} MiB; choose parameters that make the "
            "game smaller, or raise the limit"
        )


@register_jitable
def _note(registers, key):
    """Show ``key`` to a sketch that estimates how many distinct ones it was shown.

    Flajolet, Fusy, Gandouet and Meunier, "HyperLogLog", AofA 2007.
    """
    word = mix(key)
    register = np.int64(word >> (np.uint64(64) - _REGISTER_BITS))
    registers[register] = max(registers[register], lowest(word) + 1)


def _distinct(registers: npt.NDArray[np.int64]) -> int:
    """What the sketch tells, with the paper's correction for small numbers."""
    estimate = _ALPHA * _REGISTERS**2 / float(np.sum(2.0**-registers))
    empty = np.count_nonzero(registers == 0)
    if empty and estimate <= 2.5 * _REGISTERS:
        estimate = _REGISTERS * np.log(_REGISTERS / empty)
    return round(float(estimate))


class _Tally(NamedTuple):
    """What a count has found so far."""

    levels: npt.NDArray[np.int64]
    """``[plies]``: nodes at each depth"""
    kinds: npt.NDArray[np.int64]
    """``[3]``: terminals, decisions and choices"""
    registers: npt.NDArray[np.int64]
    """a sketch of the information sets"""


def _make_walk(rules: Rules, visit: Kernel, book: Any) -> Kernel:
    """Compile ``(nodes, ply, scratch, listed, tried, book) -> ply``: a walk through all histories.

    Goes on for about ``nodes`` nodes, until ``visit`` stops it, or until the ply is -1: it has
    seen all.  ``scratch`` has a row for each ply; ``listed`` and ``tried`` (``int64[plies]``) say
    how many children there are and how many were seen.  A row that has not been visited yet has
    ``listed`` -1, as the root at the start.

    ``visit(s, ply, moves, weight, book)`` looks at a node, lists its children's actions in
    ``moves`` and returns their number, or ``NOWHERE`` to stop before the node.
    """
    apply, num_words = rules.apply, rules.num_words

    @compiled(
        rules.name,
        types.int64(
            types.int64,
            types.int64,
            SCRATCH,
            types.int64[::1],
            types.int64[::1],
            numba.typeof(book),
        ),
    )
    def walk(nodes, ply, scratch, listed, tried, book):
        pool, moves = scratch.words, scratch.moves
        visited = 0
        while ply >= 0 and visited < nodes:
            if listed[ply] < 0:
                listed[ply] = visit(pool[ply], ply, moves[ply], scratch.weight, book)
                tried[ply] = 0
                visited += 1
                if listed[ply] < 0:
                    break
            elif tried[ply] == listed[ply]:
                ply -= 1
            else:
                copy_words(pool[ply + 1], pool[ply], num_words)
                apply(pool[ply + 1], moves[ply, tried[ply]])
                tried[ply] += 1
                ply += 1
                listed[ply] = -1
        return ply

    return walk


class _Walk:
    """Where a walk through all histories stands.

    Attributes:
        over: whether it has seen all.
    """

    def __init__(self, game: Game, walk: Kernel) -> None:
        plies = game.rules.max_length + 2
        self._walk = walk
        self._scratch = make_scratch(game.rules, plies)
        self._scratch.words[0] = game.start
        self._listed = np.full(plies, -1, dtype=np.int64)
        self._tried = np.zeros(plies, dtype=np.int64)
        self._ply = 0

    @property
    def over(self) -> bool:
        return self._ply < 0

    def go_on(self, book: Any) -> None:
        """Visit some more nodes."""
        self._ply = self._walk(_CHUNK, self._ply, self._scratch, self._listed, self._tried, book)


@cache
def make_count(rules: Rules) -> Kernel:
    """Compile the walk that counts, whose book is a tally."""
    to_move, legal, chance, info_key = rules.to_move, rules.legal, rules.chance, rules.info_key

    @register_jitable
    def visit(s, ply, moves, weight, tally):
        player = to_move(s)
        tally.levels[ply] += 1
        if player == TERMINAL:
            tally.kinds[0] += 1
            return 0
        if player == CHANCE:
            return chance(s, moves, weight)
        n = legal(s, moves)
        tally.kinds[1] += 1
        tally.kinds[2] += n
        _note(tally.registers, seated(info_key(s, player), player))
        return n

    return _make_walk(rules, visit, _make_tally(1))


def _make_tally(plies: int) -> _Tally:
    return _Tally(
        levels=np.zeros(plies, dtype=np.int64),
        kinds=np.zeros(3, dtype=np.int64),
        registers=np.zeros(_REGISTERS, dtype=np.int64),
    )


def count_tree(
    game: Game, *, limit: int | None = None, progress: Progress | None = None
) -> TreeCount:
    """Count the histories of a game from its start, in memory for one history.

    Args:
        game: what to count.
        limit: the memory that the tree may take, in bytes; by default half of what is available.
        progress: is told how far the count is.

    Raises:
        MemoryError: the tree would take more than ``limit``; counting has stopped as soon as that
            was certain.
    """
    limit = default_limit() if limit is None else limit
    most = min(limit // _node_bytes(), MOST_NODES)
    tally = _make_tally(game.rules.max_length + 2)
    walk = _Walk(game, make_count(game.rules))
    while not walk.over:
        walk.go_on(tally)
        nodes = int(tally.levels.sum())
        if nodes > most:
            needed = max(nodes * _node_bytes(), limit + 1)
            require_fit(game.spec, needed, limit, f"more than {most:,} histories")
        if progress is not None:
            progress("counting", nodes, None)
    count = _counted(game, tally)
    require_fit(game.spec, count.bytes, limit, f"{count.nodes:,} histories")
    return count


def _counted(game: Game, tally: _Tally) -> TreeCount:
    terminals, decisions, choices = (int(x) for x in tally.kinds)
    return TreeCount(
        game=game.spec,
        num_players=game.rules.num_players,
        levels=tuple(int(x) for x in tally.levels if x),
        terminals=terminals,
        decisions=decisions,
        choices=choices,
        info_sets=_distinct(tally.registers),
    )


class _Found(NamedTuple):
    """What an expansion has found so far, numbered in the order in which it was found."""

    used: npt.NDArray[np.int64]
    """``[2]``: terminals and information sets"""
    clash: npt.NDArray[np.int64]
    """``[1]``: a node that contradicts its information set, or ``NOWHERE``"""
    player: npt.NDArray[np.int8]
    """``[capacity]``, of each information set, as the next two"""
    key: npt.NDArray[np.uint64]
    node: npt.NDArray[np.int32]


def _make_found(capacity: int) -> _Found:
    return _Found(
        used=np.zeros(2, dtype=np.int64),
        clash=np.full(1, NOWHERE, dtype=np.int64),
        player=np.empty(capacity, dtype=np.int8),
        key=np.empty(capacity, dtype=np.uint64),
        node=np.empty(capacity, dtype=np.int32),
    )


@register_jitable
def _same_actions(nodes, one, other, n):
    """Whether two nodes have the same ``n`` actions; ``other`` may be the one that is recorded."""
    first, second = nodes.first_child[one], nodes.first_child[other]
    for i in range(n):
        if nodes.parent[first + i] != one or nodes.action[first + i] != nodes.action[second + i]:
            return False
    end = first + n
    return end == nodes.parent.size or nodes.parent[end] != one


@register_jitable
def _info_set(nodes, found, table, node, n, player, key):
    """The information set of a node with ``n`` actions, new if need be; NOWHERE in a clash."""
    sealed = seated(key, player)
    slot = find_slot(table, sealed)
    if table.key[slot] == 0:
        row = found.used[1]
        found.used[1] += 1
        table.key[slot] = sealed
        table.row[slot] = row
        found.player[row] = player
        found.key[row] = key
        found.node[row] = node
        return row
    row = table.row[slot]
    agree = found.player[row] == player and found.key[row] == key
    if agree and _same_actions(nodes, np.int64(found.node[row]), node, n):
        return row
    return np.int64(NOWHERE)


class _Record(NamedTuple):
    """The book of a walk that records."""

    nodes: Nodes
    found: _Found
    table: KeyTable
    free: npt.NDArray[np.int64]
    """``[plies + 1]``: the next node to be visited at each depth"""
    listed: npt.NDArray[np.int64]
    """``[plies + 1]``: the next node to be listed as a child at each depth"""


@cache
def make_record(rules: Rules) -> Kernel:
    """Compile the walk that records, whose book is a :class:`_Record`.

    A walk visits the nodes of each depth in the order of their numbers, so that a counter for
    each depth tells which node it is at.  It stops where there is no room for another
    information set, or with ``found.clash`` at a node that shares its information key with
    another, and can be told from it by its actions.
    """
    to_move, legal, chance = rules.to_move, rules.legal, rules.chance
    payoff, info_key, num_players = rules.payoff, rules.info_key, rules.num_players

    @register_jitable
    def finish(s, node, nodes, found):
        row = found.used[0]
        found.used[0] += 1
        nodes.place[node] = row
        for player in range(num_players):
            nodes.utility[row, player] = payoff(s, player)

    @register_jitable
    def list_children(s, node, player, first, nodes, moves, weight):
        n = chance(s, moves, weight) if player == CHANCE else legal(s, moves)
        total = 0
        for i in range(n):
            total += weight[i] if player == CHANCE else 0
        for i in range(n):
            nodes.parent[first + i] = node
            nodes.action[first + i] = moves[i]
            nodes.prob[first + i] = weight[i] / total if player == CHANCE else 1.0
        return n

    @register_jitable
    def visit(s, ply, moves, weight, book):
        nodes, found = book.nodes, book.found
        if not has_room(book.table, found.used[1]) or found.used[1] == found.player.size:
            return NOWHERE
        node, first = book.free[ply], book.listed[ply + 1]
        player = to_move(s)
        nodes.player[node] = player
        nodes.first_child[node] = first
        n = 0
        if player == TERMINAL:
            finish(s, node, nodes, found)
        else:
            n = list_children(s, node, player, first, nodes, moves, weight)
        if player >= 0:
            place = _info_set(nodes, found, book.table, node, n, player, info_key(s, player))
            if place == NOWHERE:
                found.clash[0] = node
                return NOWHERE
            nodes.place[node] = place
        book.free[ply] += 1
        book.listed[ply + 1] += n
        return n

    return _make_walk(
        rules,
        visit,
        _Record(
            make_nodes(1, 1, 1), _make_found(1), make_keytable(0), *np.zeros((2, 1), dtype=np.int64)
        ),
    )


class _Unrolling:
    """A tree in the making."""

    def __init__(self, game: Game, count: TreeCount) -> None:
        self.game = game
        self.count = count
        nodes = make_nodes(count.nodes, count.terminals, count.num_players)
        nodes.first_child[-1] = count.nodes
        starts = np.zeros(game.rules.max_length + 3, dtype=np.int64)
        starts[1 : len(count.levels) + 1] = np.cumsum(count.levels)
        starts[len(count.levels) + 1 :] = count.nodes
        found = _make_found(int(1.1 * count.info_sets) + 64)
        table = make_keytable((3 * count.info_sets + 64).bit_length())
        self.record = _Record(nodes, found, table, starts, starts.copy())
        self._begun = int(starts.sum())

    def unroll(self, progress: Progress | None) -> GameTree:
        walk = _Walk(self.game, make_record(self.game.rules))
        while not walk.over:
            walk.go_on(self.record)
            self._make_room()
            if progress is not None:
                done = int(self.record.free.sum() - self._begun)
                progress("unrolling", done, self.count.nodes)
        return self._tree()

    def _make_room(self) -> None:
        found, table = self.record.found, self.record.table
        if found.clash[0] != NOWHERE:
            raise ValueError(
                f"{self.game.spec} gives one information key to positions with different legal "
                f"actions: node {found.clash[0]}"
            )
        if not has_room(table, found.used[1]):
            self.record = self.record._replace(table=grown(table))
        if found.used[1] == found.player.size:
            self.record = self.record._replace(found=_wider(found))

    def _tree(self) -> GameTree:
        found = self.record.found
        used = int(found.used[1])
        return assemble(
            self.game.spec,
            self.record.nodes,
            found.player[:used],
            found.key[:used],
            found.node[:used],
        )


def _wider(found: _Found) -> _Found:
    larger = _make_found(2 * found.player.size)
    pairs: Iterator[tuple[Any, Any]] = zip(found, larger, strict=True)
    for old, new in pairs:
        new[: old.size] = old
    return larger


def assemble(
    game: str,
    nodes: Nodes,
    player: npt.NDArray[np.int8],
    key: npt.NDArray[np.uint64],
    node: npt.NDArray[np.int32],
    labels: tuple[str, ...] = (),
) -> GameTree:
    """A tree from its nodes, and its information sets in the order of their first nodes.

    Args:
        game: the game as text.
        nodes: all nodes; the sets in ``place`` are renumbered, player by player.
        player: of each information set.
        key: of each, as :class:`InfoSets` has it.
        node: the first node of each.
        labels: of each, or nothing.
    """
    order = np.argsort(player, kind="stable")
    rank = np.empty(order.size, dtype=np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    decisions = np.flatnonzero(nodes.player >= 0)
    nodes.place[decisions] = rank[nodes.place[decisions]]
    node = node[order]
    sizes = (nodes.first_child[node + 1] - nodes.first_child[node]).astype(np.int64)
    first_slot = np.zeros(order.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=first_slot[1:])
    within = np.arange(first_slot[-1]) - np.repeat(first_slot[:-1], sizes)
    action = nodes.action[np.repeat(nodes.first_child[node], sizes) + within]
    info_sets = InfoSets(player[order], key[order], node, first_slot, action)
    players = nodes.utility.shape[1]
    return GameTree(game, players, nodes, info_sets, tuple(labels[i] for i in order if labels))


def unroll(
    game: Game,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
    count: TreeCount | None = None,
) -> GameTree:
    """The tree of a game from its start.

    Args:
        game: what to unroll.
        limit: the memory that may be taken, in bytes; by default half of what is available.
        progress: is told how far it is.
        count: the tree's size, if :func:`count_tree` has told it already.

    Raises:
        MemoryError: the tree would take more than ``limit``; nothing was built.
        ValueError: positions that share an information key have different legal actions.
    """
    if count is None:
        count = count_tree(game, limit=limit, progress=progress)
    return _Unrolling(game, count).unroll(progress)
