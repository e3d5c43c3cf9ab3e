"""Any OpenSpiel game unrolled into the flat arrays of :mod:`cardcommons.tree`.

The walk is Python's, a microsecond or two a history; what is built on the tree no longer meets
OpenSpiel.  An information set is what ``information_state_string`` says it is.
"""

from array import array
from collections.abc import Iterator
from hashlib import blake2b
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyspiel

from cardcommons.identity import digest
from cardcommons.treaty import CHANCE, TERMINAL
from cardcommons.tree import (
    MOST_NODES,
    NOWHERE,
    GameTree,
    Nodes,
    Progress,
    TreeCount,
    assemble,
    default_limit,
    require_fit,
)

_CHUNK = 1 << 14
_NODE_BYTES = 50
"""While a tree is built, once in the order of the walk and once in its own."""


class _Visit(NamedTuple):
    """A history on a walk: the root first, children by ascending action, depth first."""

    state: pyspiel.State
    parent: int
    """the number of its parent on the walk"""
    depth: int
    action: int
    prob: float


def check_tractable(game: pyspiel.Game) -> None:
    """Raise ``ValueError`` for a game whose histories can't be listed, saying why."""
    kind = game.get_type()
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise ValueError(
            f"{game} is not sequential; if its players move at once, unroll "
            "pyspiel.convert_to_turn_based(game)"
        )
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise ValueError(f"{game} does not list the outcomes of chance, but only samples them")
    if not kind.provides_information_state_string:
        raise ValueError(
            f"{game} has no information_state_string, so its players can't be modelled"
        )


def _children(visit: _Visit, number: int) -> list[_Visit]:
    """The children of a history, the last one first, as a stack wants them."""
    state = visit.state
    if state.is_chance_node():
        options = sorted(state.chance_outcomes())
    else:
        options = [(action, 1.0) for action in state.legal_actions()]
    depth = visit.depth + 1
    return [_Visit(state.child(a), number, depth, a, p) for a, p in reversed(options)]


def _histories(game: pyspiel.Game, limit: int, progress: Progress | None, stage: str,
               total: int | None) -> Iterator[_Visit]:  # fmt: skip
    """All histories; ``MemoryError`` once they are too many."""
    most = min(limit // _NODE_BYTES, MOST_NODES)
    stack = [_Visit(game.new_initial_state(), NOWHERE, 0, NOWHERE, 1.0)]
    number = 0
    while stack:
        visit = stack.pop()
        if number >= most:
            needed = max(number * _NODE_BYTES, limit + 1)
            require_fit(str(game), needed, limit, f"more than {most:,} histories")
        if progress is not None and number % _CHUNK == 0:
            progress(stage, number, total)
        yield visit
        if not visit.state.is_terminal():
            stack += _children(visit, number)
        number += 1


def count_tree(
    game: pyspiel.Game, *, limit: int | None = None, progress: Progress | None = None
) -> TreeCount:
    """Count the histories of a game; information sets are counted exactly.

    Args:
        game: any sequential game that lists the outcomes of chance.
        limit: the memory that the tree may take, in bytes; by default half of what is available.
        progress: is told how far the count is.

    Raises:
        ValueError: the histories of the game can't be listed.
        MemoryError: the tree would take more than ``limit``.
    """
    check_tractable(game)
    levels: list[int] = []
    terminals = decisions = choices = 0
    seen: set[tuple[int, bytes]] = set()
    limit = default_limit() if limit is None else limit
    for state, _, depth, _, _ in _histories(game, limit, progress, "counting", None):
        if depth == len(levels):
            levels.append(0)
        levels[depth] += 1
        if state.is_terminal():
            terminals += 1
        elif not state.is_chance_node():
            decisions += 1
            choices += len(state.legal_actions())
            seen.add((state.current_player(), _digest(state.information_state_string())))
    players = game.num_players()
    return TreeCount(str(game), players, tuple(levels), terminals, decisions, choices, len(seen))


def _digest(label: str) -> bytes:
    return blake2b(label.encode(), digest_size=8).digest()


def label_key(label: str) -> int:
    """The key of the information set that OpenSpiel's string names."""
    return int.from_bytes(_digest(label), "little")


def identity(game: pyspiel.Game) -> str | None:
    """A hash of all that decides what the tree of a game is; ``None`` if that can't be told.

    It can be told of OpenSpiel's own games, but not of those that are written in Python.
    """
    if type(game) is not pyspiel.Game:
        return None
    return digest("openspiel", version("open_spiel"), str(game))


class _Record:
    """The histories as they came, in lists of plain numbers."""

    def __init__(self) -> None:
        self.player = array("b")
        self.parent, self.depth, self.action, self.place = (array("i") for _ in range(4))
        self.prob = array("d")
        self.utility = array("d")
        self.terminals = 0
        self.rows: dict[tuple[int, str], int] = {}
        self.first = array("i")
        self.actions: list[list[int]] = []

    def add(self, visit: _Visit) -> None:
        """Take in the next history of the walk."""
        state = visit.state
        number = len(self.player)
        self.parent.append(visit.parent)
        self.depth.append(visit.depth)
        self.action.append(visit.action)
        self.prob.append(visit.prob)
        if state.is_terminal():
            self.player.append(TERMINAL)
            self.place.append(self.terminals)
            self.terminals += 1
            self.utility.extend(state.returns())
        elif state.is_chance_node():
            self.player.append(CHANCE)
            self.place.append(NOWHERE)
        else:
            self.player.append(state.current_player())
            self.place.append(self._info_set(state, number))

    def _info_set(self, state: pyspiel.State, number: int) -> int:
        label, actions = state.information_state_string(), state.legal_actions()
        row = self.rows.setdefault((state.current_player(), label), len(self.rows))
        if row == len(self.first):
            self.first.append(number)
            self.actions.append(actions)
        elif self.actions[row] != actions:
            raise ValueError(f"information state {label!r} has different legal actions in places")
        return row


def unroll(
    game: pyspiel.Game, *, limit: int | None = None, progress: Progress | None = None,
    count: TreeCount | None = None,
) -> GameTree:  # fmt: skip
    """The tree of an OpenSpiel game; ``labels`` are its information state strings.

    Args:
        game: any sequential game that lists the outcomes of chance.
        limit: the memory that may be taken, in bytes; by default half of what is available.
        progress: is told how far it is.
        count: the tree's size, if :func:`count_tree` has told it already.

    Raises:
        ValueError: the histories of the game can't be listed, or an information state has
            different legal actions in different histories.
        MemoryError: the tree takes more than ``limit``.
    """
    check_tractable(game)
    record = _Record()
    limit = default_limit() if limit is None else limit
    total = None if count is None else count.nodes
    for visit in _histories(game, limit, progress, "unrolling", total):
        record.add(visit)
    return _breadth_first(str(game), game.num_players(), record)


def _breadth_first(game: str, players: int, record: _Record) -> GameTree:
    """The tree: sorted by depth, the order of the walk is the breadth-first order."""
    depth, parent = (np.asarray(told, np.int32) for told in (record.depth, record.parent))
    order = np.argsort(depth, kind="stable")
    rank = np.empty(order.size, dtype=np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    parent = np.where(parent < 0, NOWHERE, rank[parent])[order].astype(np.int32)
    nodes = Nodes(
        player=np.asarray(record.player, np.int8)[order],
        parent=parent,
        action=np.asarray(record.action, np.int32)[order],
        prob=np.asarray(record.prob, np.float64)[order],
        first_child=_first_children(parent),
        place=np.asarray(record.place, np.int32)[order],
        utility=np.asarray(record.utility, np.float64).reshape(-1, players),
    )
    labels = tuple(label for _, label in record.rows)
    return assemble(
        game,
        nodes,
        np.array([player for player, _ in record.rows], dtype=np.int8),
        np.array([label_key(label) for label in labels], dtype=np.uint64),
        rank[np.asarray(record.first, np.int32)],
        labels,
    )


def _first_children(parent: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    children = np.bincount(parent[1:], minlength=parent.size)
    return np.concatenate(([1], 1 + np.cumsum(children))).astype(np.int32)
