"""Alpha-beta: iterative deepening with a transposition table and move ordering.

Knuth and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6, 1975; Schaeffer,
"The history heuristic", ICCA Journal 6(3), 1983; Akl and Newborn, "The principal continuation and
the killer heuristic", ACM 1977.

Depth is counted in turns: an action after which the same player goes on costs none, so the
estimate is never asked in the middle of a turn.  Values are utilities of player 0 throughout:
player 0 maximises and player 1 minimises, so a player may well move twice in a row.
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
from agents.budget import Budget, check_budget
from cardcommons import Game, State
from cardcommons.compiled import compiled
from cardcommons.treaty import TERMINAL, Kernel, Rules

LOWER, UPPER, EXACT = 1, 2, 3
"""What a stored value is: a bound from below or above (for player 0), or the value itself."""

SOLVED = 1 << 20
"""The depth of a value that no estimate took part in: true at any depth."""

_NO_MOVE = -1
_TABLE_MOVE, _KILLER = 1 << 60, 1 << 50


class Table(NamedTuple):
    """A transposition table, direct-mapped: arrays of shape ``(entries,)``, a power of two."""

    key: npt.NDArray[np.uint64]
    value: npt.NDArray[np.float64]
    depth: npt.NDArray[np.int32]
    move: npt.NDArray[np.int32]
    bound: npt.NDArray[np.int8]
    age: npt.NDArray[np.int8]


class Stack(NamedTuple):
    """The search's own stack, so that it can stop between any two nodes and go on later.

    Shapes in brackets, with P plies, M moves and W words.
    """

    words: npt.NDArray[np.uint64]
    """[P, W]"""
    moves: npt.NDArray[np.int64]
    """[P, M]"""
    merit: npt.NDArray[np.int64]
    """[P, M], of the moves, for ordering."""
    values: npt.NDArray[np.float64]
    """[M], of the root's moves, as far as they were searched in this iteration."""
    bounds: npt.NDArray[np.int8]
    """[M], how to read them; 0 if not yet searched."""
    line: npt.NDArray[np.int64]
    """[P, P], the principal variation from each ply on."""
    listed: npt.NDArray[np.int64]
    """[P], as all below: how many moves there are to try"""
    next: npt.NDArray[np.int64]
    """which of them is the next"""
    length: npt.NDArray[np.int64]
    """of ``line``"""
    depth: npt.NDArray[np.int64]
    """turns left"""
    player: npt.NDArray[np.int64]
    key: npt.NDArray[np.uint64]
    alpha: npt.NDArray[np.float64]
    beta: npt.NDArray[np.float64]
    floor: npt.NDArray[np.float64]
    """alpha on entry"""
    ceiling: npt.NDArray[np.float64]
    """beta on entry"""
    best: npt.NDArray[np.float64]
    move: npt.NDArray[np.int64]
    """the move that gave ``best``"""
    solved: npt.NDArray[np.bool_]
    """whether no estimate took part in ``best``"""
    killers: npt.NDArray[np.int64]
    """[P, 2], moves that cut off elsewhere on the same ply"""
    history: npt.NDArray[np.int64]
    """[2, num_actions], how much each player's actions have cut off"""
    ply: npt.NDArray[np.int64]
    """[1], where the search is; -1 when an iteration is complete"""


def make_table(bits: int) -> Table:
    """An empty table of ``2**bits`` entries."""
    entries = 1 << bits
    return Table(
        key=np.zeros(entries, dtype=np.uint64),
        value=np.zeros(entries, dtype=np.float64),
        depth=np.zeros(entries, dtype=np.int32),
        move=np.zeros(entries, dtype=np.int32),
        bound=np.zeros(entries, dtype=np.int8),
        age=np.zeros(entries, dtype=np.int8),
    )


def make_stack(rules: Rules) -> Stack:
    """A stack deep enough for any game under the rules."""
    plies, moves = rules.max_length + 2, rules.max_legal

    def whole(*shape: int) -> npt.NDArray[np.int64]:
        return np.zeros(shape, dtype=np.int64)

    def real(*shape: int) -> npt.NDArray[np.float64]:
        return np.zeros(shape, dtype=np.float64)

    return Stack(
        words=np.zeros((plies, rules.num_words), dtype=np.uint64),
        moves=whole(plies, moves),
        merit=whole(plies, moves),
        values=real(moves),
        bounds=np.zeros(moves, dtype=np.int8),
        line=whole(plies, plies),
        listed=whole(plies),
        next=whole(plies),
        length=whole(plies),
        depth=whole(plies),
        player=whole(plies),
        key=np.zeros(plies, dtype=np.uint64),
        alpha=real(plies),
        beta=real(plies),
        floor=real(plies),
        ceiling=real(plies),
        best=real(plies),
        move=whole(plies),
        solved=np.zeros(plies, dtype=np.bool_),
        killers=whole(plies, 2),
        history=whole(2, rules.num_actions),
        ply=whole(1),
    )


@register_jitable
def _bring_best_forward(stack, ply):
    """Swap the untried move of the highest merit to the place of the next one."""
    moves, merit = stack.moves[ply], stack.merit[ply]
    at = stack.next[ply]
    best = at
    for i in range(at + 1, stack.listed[ply]):
        if merit[i] > merit[best]:
            best = i
    moves[at], moves[best] = moves[best], moves[at]
    merit[at], merit[best] = merit[best], merit[at]


@register_jitable
def _rank(stack, ply, table_move):
    player = stack.player[ply]
    for i in range(stack.listed[ply]):
        move = stack.moves[ply, i]
        if move == table_move:
            stack.merit[ply, i] = _TABLE_MOVE
        elif move == stack.killers[ply, 0] or move == stack.killers[ply, 1]:
            stack.merit[ply, i] = _KILLER
        else:
            stack.merit[ply, i] = stack.history[player, move]


@register_jitable
def _credit(stack, ply, move):
    """Remember a move that cut off."""
    if stack.killers[ply, 0] != move:
        stack.killers[ply, 1] = stack.killers[ply, 0]
        stack.killers[ply, 0] = move
    depth = stack.depth[ply]
    stack.history[stack.player[ply], move] += depth * depth


@register_jitable
def _bound_of(value, floor, ceiling):
    """What a value is that was found within a window."""
    if value >= ceiling:
        return LOWER
    if value <= floor:
        return UPPER
    return EXACT


@register_jitable
def _store(table, stack, ply, age):
    """Keep the finished node of ``ply``, unless the entry there is worth more."""
    key = stack.key[ply]
    slot = np.int64(key & np.uint64(table.key.size - 1))
    depth = SOLVED if stack.solved[ply] else stack.depth[ply]
    if table.age[slot] == age and table.depth[slot] > depth and table.key[slot] != key:
        return
    table.key[slot] = key
    table.value[slot] = stack.best[ply]
    table.depth[slot] = depth
    table.move[slot] = stack.move[ply]
    table.bound[slot] = _bound_of(stack.best[ply], stack.floor[ply], stack.ceiling[ply])
    table.age[slot] = age


@register_jitable
def _answers(table, slot, stack, ply):
    """Whether the table entry settles the node of ``ply`` within its window."""
    if table.depth[slot] < stack.depth[ply]:
        return False
    value, bound = table.value[slot], table.bound[slot]
    if bound == EXACT:
        return True
    if bound == LOWER:
        return value >= stack.beta[ply]
    return value <= stack.alpha[ply]


@register_jitable
def _take(stack, ply, value, solved):
    """Account for the value of the last move tried at ``ply``; says whether it cuts off.

    What a cut-off proves, it proves by one move; anything else needs all of them.
    """
    move = stack.moves[ply, stack.next[ply] - 1]
    maximising = stack.player[ply] == 0
    better = value > stack.best[ply] if maximising else value < stack.best[ply]
    if better:
        stack.best[ply] = value
        stack.move[ply] = move
        stack.line[ply, 0] = move
        n = stack.length[ply + 1]
        for i in range(n):
            stack.line[ply, i + 1] = stack.line[ply + 1, i]
        stack.length[ply] = n + 1
    if maximising:
        stack.alpha[ply] = max(stack.alpha[ply], value)
    else:
        stack.beta[ply] = min(stack.beta[ply], value)
    if stack.alpha[ply] >= stack.beta[ply]:
        stack.solved[ply] = solved
        return True
    stack.solved[ply] = stack.solved[ply] and solved
    return False


@cache
def make_search(rules: Rules) -> Kernel:
    """Compile ``(stack, table, age, entering, nodes) -> (entering, visited)``.

    Goes on with the search on ``stack`` for about ``nodes`` nodes, or until the iteration is
    complete (``stack.ply[0] < 0``).  ``entering`` says whether the node on top is still to be
    looked at; it is 1 at the start of an iteration, and is handed back between calls.
    """
    to_move, legal, apply = rules.to_move, rules.legal, rules.apply
    payoff, estimate, state_key = rules.payoff, rules.estimate, rules.state_key
    num_words = rules.num_words
    lowest, highest = rules.min_utility, rules.max_utility

    @register_jitable
    def leaf(stack, ply):
        """The value of a node that has no moves to try: (is it one, value, solved)."""
        s = stack.words[ply]
        if stack.player[ply] == TERMINAL:
            return True, payoff(s, 0), True
        if stack.depth[ply] <= 0 or ply + 1 >= stack.listed.size:
            return True, estimate(s, 0), False
        return False, 0.0, False

    @register_jitable
    def open_node(stack, table, ply):
        """Look the node of ``ply`` up and list its moves: (settled, value, solved)."""
        is_leaf, value, solved = leaf(stack, ply)
        stack.length[ply] = 0
        if is_leaf:
            return True, value, solved
        key = state_key(stack.words[ply])
        slot = np.int64(key & np.uint64(table.key.size - 1))
        table_move = _NO_MOVE
        stack.key[ply] = key
        if table.key[slot] == key and table.bound[slot] != 0:
            table_move = table.move[slot]
            if ply > 0 and _answers(table, slot, stack, ply):
                return True, table.value[slot], table.depth[slot] == SOLVED
        stack.listed[ply] = legal(stack.words[ply], stack.moves[ply])
        stack.next[ply] = 0
        stack.floor[ply], stack.ceiling[ply] = stack.alpha[ply], stack.beta[ply]
        stack.best[ply] = lowest - 1.0 if stack.player[ply] == 0 else highest + 1.0
        stack.solved[ply] = True
        _rank(stack, ply, table_move)
        return False, 0.0, False

    @register_jitable
    def enter_child(stack, ply):
        """Play the next move of ``ply`` onto the row above."""
        _bring_best_forward(stack, ply)
        move = stack.moves[ply, stack.next[ply]]
        stack.next[ply] += 1
        child = stack.words[ply + 1]
        parent = stack.words[ply]
        for i in range(num_words):
            child[i] = parent[i]
        apply(child, move)
        player = to_move(child)
        stack.player[ply + 1] = player
        turn_passes = 0 if player == stack.player[ply] else 1
        stack.depth[ply + 1] = stack.depth[ply] - turn_passes
        stack.alpha[ply + 1], stack.beta[ply + 1] = stack.alpha[ply], stack.beta[ply]

    @compiled(
        rules.name,
        types.UniTuple(types.int64, 2)(
            numba.typeof(make_stack(rules)),
            numba.typeof(make_table(0)),
            types.int64,
            types.int64,
            types.int64,
        ),
    )
    def search(stack, table, age, entering, nodes):
        visited = 0
        ply = stack.ply[0]
        while ply >= 0 and visited < nodes:
            settled, value, solved = False, 0.0, False
            if entering:
                visited += 1
                settled, value, solved = open_node(stack, table, ply)
            elif stack.next[ply] == stack.listed[ply]:
                settled, value, solved = True, stack.best[ply], stack.solved[ply]
                _store(table, stack, ply, age)
            if not settled:
                enter_child(stack, ply)
                ply += 1
                entering = 1
                continue
            ply -= 1
            entering = 0
            if ply < 0:
                break
            if ply == 0:
                at = stack.next[0] - 1
                stack.values[at] = value
                stack.bounds[at] = _bound_of(value, stack.alpha[0], stack.beta[0])
            if _take(stack, ply, value, solved):
                _credit(stack, ply, stack.move[ply])
                stack.listed[ply] = stack.next[ply]
        stack.ply[0] = ply
        return entering, visited

    return search


@dataclass(frozen=True)
class MinimaxOptions:
    """How far to search.

    Attributes:
        depth: turns to look ahead, or ``None`` for no such limit.
        time: seconds a move, or ``None``; with neither, 3 turns.
        table: the transposition table has ``2**table`` entries.
    """

    depth: int | None = None
    time: float | None = None
    table: int = 20

    def __post_init__(self) -> None:
        check_budget("minimax", depth=self.depth, time=self.time)
        if not 4 <= self.table <= 28:
            raise ValueError(f"option 'table' of minimax must be 4 to 28, not {self.table}")


class MinimaxAgent(Agent):
    """Iterative deepening until the depth, the time or the game is exhausted."""

    name = "minimax"
    Options = MinimaxOptions
    _DEFAULT_DEPTH = 3
    _CHUNK = 1024

    def __init__(self, game: Game, options: MinimaxOptions | None = None) -> None:
        super().__init__(game, options)
        self.options: MinimaxOptions
        rules = game.rules
        if rules.num_players != 2 or not rules.zero_sum:
            raise ValueError(f"minimax needs a zero-sum game of two players, not {game.name}")
        if game.has_chance or game.has_hidden_information:
            raise ValueError(f"minimax needs perfect information and no chance, not {game.name}")
        self._search = make_search(rules)
        self._stack = make_stack(rules)
        self._table = make_table(self.options.table)
        self._age = 0

    def restart(self, seed: int) -> None:
        super().restart(seed)
        for column in self._table:
            column.fill(0)
        self._age = 0

    def choose(self, state: State) -> Decision:
        depth = self.options.depth
        if depth is None:
            depth = self._DEFAULT_DEPTH if self.options.time is None else SOLVED
        budget = Budget(None, self.options.time)
        self._age = (self._age + 1) % 128
        self._stack.history.fill(0)
        self._stack.killers.fill(_NO_MOVE)
        decision = None
        nodes = 0
        for turns in range(1, min(depth, self.game.rules.max_length) + 1):
            visited, complete = self._iterate(state, turns, budget, nodes)
            nodes += visited
            if self._stack.length[0] or decision is None:
                decision = self._decision(state, turns if complete else turns - 1, nodes)
            if not complete or decision.proven:
                break
        assert decision is not None  # depth is at least 1
        return decision

    def _iterate(self, state: State, turns: int, budget: Budget, nodes: int) -> tuple[int, bool]:
        """Search to a depth: (nodes visited, whether there was time to complete it)."""
        stack, rules = self._stack, self.game.rules
        stack.words[0] = state.words
        stack.player[0] = state.player
        stack.depth[0] = turns
        stack.alpha[0], stack.beta[0] = rules.min_utility, rules.max_utility
        stack.bounds.fill(0)
        stack.length[0] = 0
        stack.ply[0] = 0
        entering, visited = 1, 0
        while stack.ply[0] >= 0:
            # The first iteration is always complete, so that there is a move.
            chunk = budget.chunk(nodes + visited, self._CHUNK) if turns > 1 else self._CHUNK
            if not chunk:
                return visited, False
            entering, done = self._search(stack, self._table, self._age, entering, chunk)
            visited += done
        return visited, True

    def _decision(self, state: State, depth: int, nodes: int) -> Decision:
        stack = self._stack
        sign = 1.0 if state.player == 0 else -1.0
        proven = bool(stack.ply[0] < 0 and stack.solved[0])
        action = int(stack.move[0])
        return Decision(
            action=action,
            value=sign * float(stack.best[0]),
            principal_variation=tuple(int(a) for a in stack.line[0, : stack.length[0]]),
            candidates=self._candidates(sign, action, proven),
            proven=proven,
            work={"nodes": nodes, "depth": depth},
        )

    def _candidates(self, sign: float, best: int, proven: bool) -> tuple[Candidate, ...]:
        """The root's moves that were searched; a window that closed tells only a bound."""
        stack = self._stack
        found = []
        for i in range(int(stack.listed[0])):
            if stack.bounds[i]:
                action = int(stack.moves[0, i])
                bound = "searched" if stack.bounds[i] == EXACT or action == best else "at most"
                if proven and action == best:
                    bound = "exact"
                found.append(Candidate(action, sign * float(stack.values[i]), bound=bound))
        return tuple(sorted(found, key=lambda c: (c.action != best, -c.value)))
