"""Expectimax: exact expectation over chance, the best action of players, a table of values.

Michie, "Game-playing and game-learning automata", 1966.  Depth is counted in decisions; at depth
0 the search goes on until the game is *settled* (see :class:`cardcommons.treaty.Rules`), where
its estimate is asked.  Values are utilities of player 0, whom a second player, in a zero-sum
game, opposes.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from agents.base import Agent, Candidate, Decision
from agents.budget import check_budget
from cardcommons import Game, State
from cardcommons.bits import ONE
from cardcommons.compiled import compiled
from cardcommons.treaty import CHANCE, TERMINAL, VALUE_WORK, Kernel, Rules, copy_words

TO_THE_END = 1 << 20
"""A depth that no game exhausts: nothing is estimated."""

_PROBES = 64
_NO_MOVE = -1


class Values(NamedTuple):
    """A table of values, open-addressed: arrays of shape ``(entries,)``, a power of two."""

    key: npt.NDArray[np.uint64]
    """0 where there is no entry."""
    value: npt.NDArray[np.float64]
    depth: npt.NDArray[np.int32]
    move: npt.NDArray[np.int32]
    """The best action, or none at a chance node."""


class Stack(NamedTuple):
    """The search's own stack: it can stop between any two nodes and go on later.

    Shapes in brackets, with P plies, M moves and W words.
    """

    words: npt.NDArray[np.uint64]
    """[P, W]"""
    moves: npt.NDArray[np.int64]
    """[P, M]"""
    weight: npt.NDArray[np.int64]
    """[P, M]; meaningless at decisions"""
    values: npt.NDArray[np.float64]
    """[M], of the root's moves"""
    listed: npt.NDArray[np.int64]
    """[P], as all below: how many moves there are to try"""
    next: npt.NDArray[np.int64]
    """which of them is the next"""
    depth: npt.NDArray[np.int64]
    """decisions left"""
    player: npt.NDArray[np.int64]
    key: npt.NDArray[np.uint64]
    value: npt.NDArray[np.float64]
    """the best so far, or the weighted sum"""
    move: npt.NDArray[np.int64]
    """the move that gave the best"""
    total: npt.NDArray[np.float64]
    """the weights so far"""
    ply: npt.NDArray[np.int64]
    """[1], where the search is; -1 when it is complete"""


def make_values(bits: int) -> Values:
    """An empty table of ``2**bits`` entries."""
    entries = 1 << bits
    return Values(
        key=np.zeros(entries, dtype=np.uint64),
        value=np.zeros(entries, dtype=np.float64),
        depth=np.zeros(entries, dtype=np.int32),
        move=np.zeros(entries, dtype=np.int32),
    )


def make_stack(rules: Rules) -> Stack:
    """A stack deep enough for any game under the rules."""
    plies, moves = rules.max_length + 2, rules.max_legal
    return Stack(
        words=np.zeros((plies, rules.num_words), dtype=np.uint64),
        moves=np.zeros((plies, moves), dtype=np.int64),
        weight=np.zeros((plies, moves), dtype=np.int64),
        values=np.zeros(moves, dtype=np.float64),
        listed=np.zeros(plies, dtype=np.int64),
        next=np.zeros(plies, dtype=np.int64),
        depth=np.zeros(plies, dtype=np.int64),
        player=np.zeros(plies, dtype=np.int64),
        key=np.zeros(plies, dtype=np.uint64),
        value=np.zeros(plies, dtype=np.float64),
        move=np.zeros(plies, dtype=np.int64),
        total=np.zeros(plies, dtype=np.float64),
        ply=np.zeros(1, dtype=np.int64),
    )


@register_jitable
def find(values, key):
    """The entry of ``key``; or else a free one; or else -1."""
    mask = np.uint64(values.key.size - 1)
    for i in range(_PROBES):
        slot = np.int64((key + np.uint64(i)) & mask)
        if values.key[slot] == key or values.key[slot] == 0:
            return slot
    return -1


@register_jitable
def _store(values, stack, ply, lossless):
    """Keep the finished node of ``ply``; False if the table is full and may lose nothing."""
    key = stack.key[ply]
    slot = find(values, key)
    if slot < 0:
        if lossless:
            return False
        slot = np.int64(key & np.uint64(values.key.size - 1))
    values.key[slot] = key
    values.value[slot] = stack.value[ply]
    values.depth[slot] = stack.depth[ply]
    values.move[slot] = stack.move[ply]
    return True


@register_jitable
def _take(stack, ply, value):
    """Account for the value of the move tried last at ``ply``."""
    at = stack.next[ply] - 1
    if stack.player[ply] == CHANCE:
        stack.value[ply] += stack.weight[ply, at] * value
        stack.total[ply] += stack.weight[ply, at]
        return
    best = stack.value[ply]
    if at == 0 or (value > best if stack.player[ply] == 0 else value < best):
        stack.value[ply] = value
        stack.move[ply] = stack.moves[ply, at]


@cache
def make_search(rules: Rules) -> Kernel:
    """Compile ``(stack, values, weights, work, entering, nodes, lossless) -> (entering, visited)``.

    Goes on with the search on ``stack`` for about ``nodes`` nodes, or until it is complete
    (``stack.ply[0] < 0``; its value is ``stack.value[0]``), or, if ``lossless``, until ``values``
    needs to grow.  ``entering`` says whether the node on top is still to be looked at; it is 1 at
    the start, and is handed back between calls.
    """
    to_move, legal, chance, apply = rules.to_move, rules.legal, rules.chance, rules.apply
    payoff, estimate, state_key = rules.payoff, rules.estimate, rules.state_key
    settled, num_words = rules.settled, rules.num_words
    learned = rules.value

    if learned is None:

        @register_jitable
        def judge(s, weights, work):
            return estimate(s, 0)

    else:

        @register_jitable
        def judge(s, weights, work):
            return learned(s, 0, weights, work)

    @register_jitable
    def known(stack, values, weights, work, ply):
        """Whether the node of ``ply`` needs no search, and its value."""
        s = stack.words[ply]
        player = to_move(s)
        stack.player[ply] = player
        if player == TERMINAL:
            return True, payoff(s, 0)
        if stack.depth[ply] <= 0 and settled(s):
            return True, judge(s, weights, work)
        stack.key[ply] = max(state_key(s), ONE)  # 0 stands for no entry
        slot = find(values, stack.key[ply])
        if ply > 0 and slot >= 0 and values.key[slot] == stack.key[ply]:
            return values.depth[slot] >= stack.depth[ply], values.value[slot]
        return False, 0.0

    @register_jitable
    def open_node(stack, ply):
        s = stack.words[ply]
        if stack.player[ply] == CHANCE:
            stack.listed[ply] = chance(s, stack.moves[ply], stack.weight[ply])
        else:
            stack.listed[ply] = legal(s, stack.moves[ply])
        stack.next[ply] = 0
        stack.value[ply] = 0.0
        stack.total[ply] = 0.0
        stack.move[ply] = _NO_MOVE

    @register_jitable
    def enter_child(stack, ply):
        move = stack.moves[ply, stack.next[ply]]
        stack.next[ply] += 1
        child = stack.words[ply + 1]
        copy_words(child, stack.words[ply], num_words)
        apply(child, move)
        decisions = 0 if stack.player[ply] == CHANCE else 1
        stack.depth[ply + 1] = max(stack.depth[ply] - decisions, 0)

    @compiled(
        rules.name,
        types.UniTuple(types.int64, 2)(
            numba.typeof(make_stack(rules)),
            numba.typeof(make_values(0)),
            types.float32[::1],
            types.float32[::1],
            types.int64,
            types.int64,
            types.boolean,
        ),
    )
    def search(stack, values, weights, work, entering, nodes, lossless):
        visited = 0
        ply = stack.ply[0]
        while ply >= 0 and visited < nodes:
            done, value = False, 0.0
            if entering:
                visited += 1
                done, value = known(stack, values, weights, work, ply)
                if not done:
                    open_node(stack, ply)
            elif stack.next[ply] == stack.listed[ply]:
                if stack.total[ply] > 0.0:
                    stack.value[ply] /= stack.total[ply]
                    stack.total[ply] = 0.0
                done, value = True, stack.value[ply]
                if not _store(values, stack, ply, lossless):
                    break
            if not done:
                enter_child(stack, ply)
                ply += 1
                entering = 1
                continue
            ply -= 1
            entering = 0
            if ply >= 0:
                _take(stack, ply, value)
            if ply == 0:
                stack.values[stack.next[0] - 1] = value
        stack.ply[0] = ply
        return entering, visited

    return search


class Search:
    """An expectimax search of a game, with its table of values.

    Attributes:
        stack: the stack, whose row 0 is the root.
        values: the table; values stay good, so it is kept from one search to the next.
        nodes: how many nodes were visited so far.
    """

    _CHUNK = 1 << 20

    def __init__(self, game: Game, bits: int, most_entries: int = 0) -> None:
        """Prepare a search.

        Args:
            game: what to search.
            bits: the table begins with ``2**bits`` entries.
            most_entries: if given, the table keeps everything and grows up to this size;
                otherwise it stays as it is and forgets.

        Raises:
            ValueError: the game has hidden cards, or opponents that are no opposites.
        """
        if game.has_hidden_information:
            raise ValueError(f"expectimax needs open cards, and {game.name} has hidden ones")
        rules = game.rules
        if rules.num_players != 1 and not (rules.num_players == 2 and rules.zero_sum):
            raise ValueError(
                f"expectimax needs one player, or two in a zero-sum game, not {game.name}"
            )
        self.game = game
        self.stack = make_stack(rules)
        self.values = make_values(bits)
        self.nodes = 0
        self._work = np.zeros(VALUE_WORK, dtype=np.float32)
        self._most_entries = most_entries
        self._search = make_search(rules)

    def value(self, state: State, depth: int) -> float:
        """The value of a state for player 0, ``depth`` decisions deep.

        After it, ``stack`` holds the moves of the root and their values.

        Raises:
            MemoryError: the table would have to grow beyond ``most_entries``.
        """
        if state.is_terminal:
            return state.returns()[0]
        self.stack.words[0] = state.words
        self.stack.depth[0] = depth
        self.stack.ply[0] = 0
        entering = 1
        while self.stack.ply[0] >= 0:
            entering, visited = self._search(
                self.stack,
                self.values,
                self.game.weights,
                self._work,
                entering,
                self._CHUNK,
                self._most_entries > 0,
            )
            self.nodes += visited
            if self.stack.ply[0] >= 0 and visited < self._CHUNK:
                self._grow()
        return float(self.stack.value[0])

    def _grow(self) -> None:
        """Double the table, or more if that makes no room where it is needed."""
        old, bits = self.values, self.values.key.size.bit_length()
        while 1 << bits <= self._most_entries:
            if self._moved_into(old, bits):
                return
            bits += 1
        raise MemoryError(
            f"the table for {self.game.spec} would have to grow beyond {self._most_entries:,} "
            f"entries; {np.count_nonzero(old.key):,} states were found so far"
        )

    def _moved_into(self, old: Values, bits: int) -> bool:
        new = make_values(bits)
        used = np.flatnonzero(old.key)
        if not make_move_entries(self.game.name)(old, used, new):
            return False
        self.values = new
        return True


@cache
def make_move_entries(owner: str) -> Kernel:
    """Compile ``(old, used, new) -> moved``: copy the entries ``used`` of one table to another."""
    table = numba.typeof(make_values(0))

    @compiled(owner, types.boolean(table, types.int64[::1], table))
    def move_entries(old, used, new):
        for i in range(used.size):
            source = used[i]
            target = find(new, old.key[source])
            if target < 0:
                return False
            new.key[target] = old.key[source]
            new.value[target] = old.value[source]
            new.depth[target] = old.depth[source]
            new.move[target] = old.move[source]
        return True

    return move_entries


@dataclass(frozen=True)
class ExpectimaxOptions:
    """How far to search.

    Attributes:
        depth: decisions to look ahead, at least 1.
        table: the table of values has ``2**table`` entries.
    """

    depth: int = 1
    table: int = 18

    def __post_init__(self) -> None:
        check_budget("expectimax", depth=self.depth)
        if not 4 <= self.table <= 28:
            raise ValueError(f"option 'table' of expectimax must be 4 to 28, not {self.table}")


class ExpectimaxAgent(Agent):
    """Plays the action with the best expectation; the first of equals."""

    name = "expectimax"
    Options = ExpectimaxOptions

    def __init__(self, game: Game, options: ExpectimaxOptions | None = None) -> None:
        super().__init__(game, options)
        self.options: ExpectimaxOptions
        self._search = Search(game, self.options.table)

    def restart(self, seed: int) -> None:
        super().restart(seed)
        self._search.values.key.fill(0)

    def choose(self, state: State) -> Decision:
        before = self._search.nodes
        value = self._search.value(state, self.options.depth)
        stack = self._search.stack
        sign = 1.0 if state.player == 0 else -1.0
        moves = [int(move) for move in stack.moves[0, : stack.listed[0]]]
        valued = sorted(
            (
                Candidate(move, sign * float(worth))
                for move, worth in zip(moves, stack.values, strict=False)
            ),
            key=lambda candidate: -candidate.value,
        )
        best = int(stack.move[0])
        return Decision(
            action=best,
            value=sign * value,
            principal_variation=(best,),
            candidates=tuple(valued),
            work={"nodes": self._search.nodes - before, "depth": self.options.depth},
        )
