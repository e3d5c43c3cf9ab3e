"""Alpha-beta: principal variation search with a transposition table and move ordering.

Knuth and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6, 1975; Marsland and
Campbell, "Parallel search of strongly ordered game trees", ACM Computing Surveys 14(4), 1982
(principal variation search, aspiration windows); Akl and Newborn, "The principal continuation and
the killer heuristic", ACM 1977; Schaeffer, "The history heuristic and alpha-beta search
enhancements in practice", IEEE PAMI 11(11), 1989; Breuker, Uiterwijk and van den Herik,
"Replacement schemes for transposition tables", ICCA Journal 17(4), 1994; Heinz, "Extended futility
pruning", ICCA Journal 21(2), 1998, and its mirror image.

Depth is counted in turns: an action after which the same player goes on costs none, and no
estimate is asked for before the game is *settled* (see :class:`cardcommons.treaty.Rules`).  Values
are utilities of the player to move; on the way up they change sign only where the turn passed, so
a player may well move twice in a row.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from agents.base import Agent, Candidate, Decision
from agents.budget import Budget, check_budget
from agents.judging import LEARNED, Learned, make_judge
from cardcommons import Game, State
from cardcommons.compiled import compiled
from cardcommons.spec import check_types
from cardcommons.treaty import TERMINAL, Kernel, Rules, copy_words

LOWER, UPPER, EXACT = 1, 2, 3
"""What a value is: a bound from below or above, or the value itself; 0 where there is none."""

_ENTRY = np.dtype(
    [
        ("key", np.uint64),
        ("value", np.float64),
        ("move", np.int32),
        ("depth", np.int16),
        ("bound", np.int8),
        ("age", np.int8),
    ]
)
"""What the transposition table knows of a state, seen by the player to move there.

``depth`` is in turns; ``bound`` is negated where the value is *solved*: no estimate took part in
it, so that it is true at any depth; ``age`` is the number of the search that wrote the entry.
"""

_BUCKET = 2
"""How many entries a key may choose from."""

_FIRST_BITS = 16
"""A table begins with ``2**16`` entries in use, few enough to stay near the core."""

_NODES_PER_ENTRY = 64
"""A search of more nodes than that for each entry in use puts twice as many to use.

Even so full, a table that replaces the shallow first serves a search as deep as a larger one, whose
every look into memory takes several times as long."""

_AGES = 128
_STALE = 4
"""An entry of an earlier search is worth as much as one of this search so much less deep."""

_NO_MOVE = -1
_TABLE_MOVE, _KILLER = 1 << 60, 1 << 50

_CRACK = 1e-9
"""The width of the window of a scout, in ranges of utilities."""

_ASPIRATION = 1 / 8
"""How far on either side an iteration at first expects its value, in ranges of utilities."""

_ASPIRING_FROM = 4
"""The first depth at which an iteration expects anything."""

_HOPELESS = (0.3, 0.2, 0.4)
"""How far below the window a node is judged that is not searched 1, 2 or 3 turns from the horizon,
in halves of the range of utilities.  (Found on Particles, by matches; three turns in four gain less
than that.)"""

_SAFE = (0.15, 0.3, 0.3)
"""How far above it."""

Table = npt.NDArray[Any]
"""A transposition table, or as much of it as is in use: entries, ``(2**bits,)``."""


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
    line: npt.NDArray[np.int64]
    """[P, P], the principal variation from each ply on."""
    listed: npt.NDArray[np.int64]
    """[P], as all below: how many moves there are to try"""
    next: npt.NDArray[np.int64]
    """which of them is the next"""
    length: npt.NDArray[np.int64]
    """of ``line``"""
    depth: npt.NDArray[np.int64]
    """turns left; below 0 where an unsettled game goes on"""
    player: npt.NDArray[np.int64]
    key: npt.NDArray[np.uint64]
    alpha: npt.NDArray[np.float64]
    beta: npt.NDArray[np.float64]
    floor: npt.NDArray[np.float64]
    """alpha on entry"""
    best: npt.NDArray[np.float64]
    move: npt.NDArray[np.int64]
    """the move that gave ``best``"""
    solved: npt.NDArray[np.bool_]
    """whether no estimate took part in ``best``"""
    scouting: npt.NDArray[np.bool_]
    """whether the child above is only asked if it is better than alpha"""
    killers: npt.NDArray[np.int64]
    """[P, 2], moves that cut off elsewhere on the same ply"""
    history: npt.NDArray[np.int64]
    """[2, num_actions], how well each player's actions have done"""
    ply: npt.NDArray[np.int64]
    """[1], where the search is; -1 when an iteration is complete"""


class Root(NamedTuple):
    """What is known of the moves of the root, in the order of ``Stack.moves[0]``."""

    value: npt.NDArray[np.float64]
    """[M], as all but the last"""
    bound: npt.NDArray[np.int8]
    solved: npt.NDArray[np.bool_]
    line: npt.NDArray[np.int64]
    """[M, P]"""
    length: npt.NDArray[np.int64]
    """of ``line``"""
    top: npt.NDArray[np.float64]
    """[K], the best values of the iteration, ascending: K moves are wanted exactly"""


def make_table(bits: int) -> Table:
    """An empty table of ``2**bits`` entries; memory is touched only as it comes into use."""
    return np.zeros(1 << bits, dtype=_ENTRY)


def widened(table: Table, used: int) -> Table:
    """Twice as much of a table as the ``used`` entries; each of those goes where it is looked for.

    The number of a bucket is so many low bits of the key, and takes in the next bit now.
    """
    old, new = table[:used], table[used : 2 * used]
    moves = (old["key"] & np.uint64(used)) != 0
    new[:] = old
    new["bound"][~moves] = 0
    old["bound"][moves] = 0
    return table[: 2 * used]


def _whole(*shape: int) -> npt.NDArray[np.int64]:
    return np.zeros(shape, dtype=np.int64)


def _real(*shape: int) -> npt.NDArray[np.float64]:
    return np.zeros(shape, dtype=np.float64)


def _bools(*shape: int) -> npt.NDArray[np.bool_]:
    return np.zeros(shape, dtype=np.bool_)


def make_stack(rules: Rules) -> Stack:
    """A stack deep enough for any game under the rules."""
    plies, moves = rules.max_length + 2, rules.max_legal
    return Stack(
        words=np.zeros((plies, rules.num_words), dtype=np.uint64),
        moves=_whole(plies, moves),
        merit=_whole(plies, moves),
        line=_whole(plies, plies),
        listed=_whole(plies),
        next=_whole(plies),
        length=_whole(plies),
        depth=_whole(plies),
        player=_whole(plies),
        key=np.zeros(plies, dtype=np.uint64),
        alpha=_real(plies),
        beta=_real(plies),
        floor=_real(plies),
        best=_real(plies),
        move=_whole(plies),
        solved=_bools(plies),
        scouting=_bools(plies),
        killers=_whole(plies, 2),
        history=_whole(2, rules.num_actions),
        ply=_whole(1),
    )


def make_root(rules: Rules, multipv: int) -> Root:
    """Room for the moves of a root, of which ``multipv`` are wanted exactly."""
    plies, moves = rules.max_length + 2, rules.max_legal
    return Root(
        value=_real(moves),
        bound=np.zeros(moves, dtype=np.int8),
        solved=_bools(moves),
        line=_whole(moves, plies),
        length=_whole(moves),
        top=_real(multipv),
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
def _credit(stack, ply):
    """Remember the move that cut off, to the discredit of those tried before it."""
    moves, tried = stack.moves[ply], stack.next[ply]
    move = moves[tried - 1]
    if stack.killers[ply, 0] != move:
        stack.killers[ply, 1] = stack.killers[ply, 0]
        stack.killers[ply, 0] = move
    history = stack.history[stack.player[ply]]
    credit = max(stack.depth[ply], 1) ** 2
    history[move] += credit
    for i in range(tried - 1):
        history[moves[i]] -= credit


@register_jitable
def _bound_of(value, floor, ceiling):
    """What a value is that was found within a window."""
    if value >= ceiling:
        return LOWER
    if value <= floor:
        return UPPER
    return EXACT


@register_jitable
def _first_slot(table, key):
    """Where the bucket of ``key`` begins."""
    return np.int64(key & np.uint64(table.size - _BUCKET))


@register_jitable
def _find(table, key):
    """The slot of ``key``, or -1."""
    first = _first_slot(table, key)
    for slot in range(first, first + _BUCKET):
        if table[slot]["key"] == key and table[slot]["bound"] != 0:
            return slot
    return -1


@register_jitable
def _slot_for(table, key, age):
    """Where to keep ``key``: where it is already, or in the place of the least worthy entry."""
    first = _first_slot(table, key)
    found = first
    least = np.int64(1 << 30)
    for slot in range(first, first + _BUCKET):
        entry = table[slot]
        if entry["key"] == key or entry["bound"] == 0:
            return slot
        worth = np.int64(entry["depth"]) - (0 if entry["age"] == age else _STALE)
        if worth < least:
            found, least = slot, worth
    return found


@register_jitable
def _store(table, stack, ply, age):
    """Keep the finished node of ``ply``."""
    key, best = stack.key[ply], stack.best[ply]
    entry = table[_slot_for(table, key, age)]
    entry["key"] = key
    entry["value"] = best
    entry["move"] = stack.move[ply]
    entry["depth"] = stack.depth[ply]
    bound = _bound_of(best, stack.floor[ply], stack.beta[ply])
    entry["bound"] = -bound if stack.solved[ply] else bound
    entry["age"] = age


@register_jitable
def _answers(entry, depth, alpha, beta, scouted):
    """Whether a table entry settles a node.

    Where more than a scout asks, an exact value must be solved, or else the line behind it would
    not be known.
    """
    solved, bound = entry["bound"] < 0, abs(entry["bound"])
    if not solved and entry["depth"] < depth:
        return False
    if bound == EXACT:
        return scouted or solved
    return entry["value"] >= beta if bound == LOWER else entry["value"] <= alpha


@register_jitable
def _note(root, stack, value, solved):
    """Write down what was found of the move of the root that was tried last."""
    at = stack.next[0] - 1
    root.value[at] = value
    root.bound[at] = _bound_of(value, stack.alpha[0], stack.beta[0])
    root.solved[at] = solved
    root.line[at, 0] = stack.moves[0, at]
    for i in range(stack.length[1]):
        root.line[at, i + 1] = stack.line[1, i]
    root.length[at] = stack.length[1] + 1


@register_jitable
def _least_of_top(top, value):
    """Enter a value among the best ones; returns the least of them."""
    if value > top[0]:
        i = 0
        while i + 1 < top.size and top[i + 1] < value:
            top[i] = top[i + 1]
            i += 1
        top[i] = value
    return top[0]


@register_jitable
def _take(stack, root, ply, value, solved):
    """Account for the value of the last move tried at ``ply``; says whether it cuts off.

    What a cut-off proves, it proves by one move; anything else needs all of them.
    """
    floor = value
    if ply == 0:
        _note(root, stack, value, solved)
        floor = _least_of_top(root.top, value)
    if value > stack.best[ply]:
        move = stack.moves[ply, stack.next[ply] - 1]
        stack.best[ply] = value
        stack.move[ply] = move
        stack.line[ply, 0] = move
        for i in range(stack.length[ply + 1]):
            stack.line[ply, i + 1] = stack.line[ply + 1, i]
        stack.length[ply] = stack.length[ply + 1] + 1
    stack.alpha[ply] = max(stack.alpha[ply], floor)
    if stack.alpha[ply] >= stack.beta[ply]:
        stack.solved[ply] = solved
        return True
    stack.solved[ply] = stack.solved[ply] and solved
    return False


@cache
def make_search(rules: Rules) -> Kernel:
    """Compile a slice of the search.

    It is ``(stack, root, table, learned, futility, age, entering, nodes) -> (entering, visited)``,
    and goes on with the search on ``stack`` for about ``nodes`` nodes, or until the iteration is
    complete (``stack.ply[0] < 0``).  ``entering`` says whether the node on top is still to be
    looked at; it is 0 at the start of an iteration, whose root is open already, and is handed
    back between calls.
    """
    to_move, legal, apply, settled = rules.to_move, rules.legal, rules.apply, rules.settled
    payoff, state_key, judge = rules.payoff, rules.state_key, make_judge(rules)
    num_words, lowest = rules.num_words, rules.min_utility
    crack = (rules.max_utility - rules.min_utility) * _CRACK
    half = (rules.max_utility - rules.min_utility) / 2.0
    hopes = tuple(half * share for share in _HOPELESS)
    fears = tuple(half * share for share in _SAFE)

    @register_jitable
    def foregone(stack, learned, ply):
        """Whether a node near the horizon is judged to be far beyond its window: (so, bound)."""
        s, depth = stack.words[ply], stack.depth[ply]
        if depth < 1 or depth > len(_HOPELESS) or not settled(s):
            return False, 0.0
        worth = judge(s, 0, learned) * (1.0 if stack.player[ply] == 0 else -1.0)
        hoped, feared = worth + hopes[depth - 1], worth - fears[depth - 1]
        if hoped <= stack.alpha[ply]:
            return True, hoped
        return feared >= stack.beta[ply], feared

    @register_jitable
    def open_node(stack, table, learned, futility, ply):
        """Look the node of ``ply`` up and list its moves: (known, value, solved)."""
        key = state_key(stack.words[ply])
        alpha, beta = stack.alpha[ply], stack.beta[ply]
        stack.length[ply] = 0
        stack.key[ply] = key
        slot = _find(table, key)
        table_move = np.int64(_NO_MOVE)
        if slot >= 0:
            entry = table[slot]
            table_move = np.int64(entry["move"])
            if _answers(entry, stack.depth[ply], alpha, beta, beta - alpha < 2.0 * crack):
                return True, entry["value"], entry["bound"] < 0
        if futility and beta - alpha < 2.0 * crack:
            known, bound = foregone(stack, learned, ply)
            if known:
                return True, bound, False
        stack.listed[ply] = legal(stack.words[ply], stack.moves[ply])
        stack.next[ply] = 0
        stack.floor[ply] = alpha
        stack.best[ply] = lowest - 1.0
        stack.solved[ply] = True
        _rank(stack, ply, table_move)
        return False, 0.0, False

    @register_jitable
    def set_window(stack, ply, scouting):
        """Ask the child of ``ply`` for its value, or only whether that is above alpha."""
        alpha, beta = stack.alpha[ply], stack.beta[ply]
        if scouting:
            beta = min(beta, alpha + crack)
        passes = stack.player[ply + 1] != stack.player[ply]
        stack.scouting[ply] = scouting
        stack.alpha[ply + 1] = -beta if passes else alpha
        stack.beta[ply + 1] = -alpha if passes else beta

    @register_jitable
    def try_move(stack, learned, ply):
        """Play the next move of ``ply`` onto the row above: (known, value, solved)."""
        _bring_best_forward(stack, ply)
        move = stack.moves[ply, stack.next[ply]]
        stack.next[ply] += 1
        child, me = stack.words[ply + 1], stack.player[ply]
        copy_words(child, stack.words[ply], num_words)
        apply(child, move)
        player = to_move(child)
        stack.player[ply + 1] = player
        stack.depth[ply + 1] = stack.depth[ply] - (0 if player == me else 1)
        stack.length[ply + 1] = 0
        stack.scouting[ply] = False
        if player == TERMINAL:
            return True, payoff(child, me), True
        if stack.depth[ply + 1] <= 0 and settled(child):
            # One judge for both, in case a game's estimates are not opposites.
            value = judge(child, 0, learned)
            return True, value if me == 0 else -value, False
        return False, 0.0, False

    @compiled(
        rules.name,
        types.UniTuple(types.int64, 2)(
            numba.typeof(make_stack(rules)),
            numba.typeof(make_root(rules, 1)),
            numba.typeof(make_table(0)),
            LEARNED,
            types.boolean,
            types.int64,
            types.int64,
            types.int64,
        ),
    )
    def search(stack, root, table, learned, futility, age, entering, nodes):
        visited = 0
        ply = stack.ply[0]
        while ply >= 0 and visited < nodes:
            if entering:
                entering = 0
                done, value, solved = open_node(stack, table, learned, futility, ply)
                if not done:
                    continue
            elif stack.next[ply] == stack.listed[ply]:
                done, value, solved = True, stack.best[ply], stack.solved[ply]
                if ply > 0:
                    _store(table, stack, ply, age)
            else:
                visited += 1
                known, value, solved = try_move(stack, learned, ply)
                if not known:
                    wanted = root.top.size if ply == 0 else 1
                    set_window(stack, ply, stack.next[ply] > wanted)
                    ply += 1
                    entering = 1
                    continue
                done = False
            if done:
                ply -= 1
                if ply < 0:
                    break
                if stack.player[ply + 1] != stack.player[ply]:
                    value = -value
                if stack.scouting[ply] and stack.alpha[ply] < value < stack.beta[ply]:
                    visited += 1
                    set_window(stack, ply, False)
                    ply += 1
                    entering = 1
                    continue
            if _take(stack, root, ply, value, solved):
                _credit(stack, ply)
                stack.listed[ply] = stack.next[ply]
        stack.ply[0] = ply
        return entering, visited

    return search


@dataclass(frozen=True)
class MinimaxOptions:
    """How far to search.

    Attributes:
        depth: turns to look ahead, or ``None`` for no such limit.
        time: seconds a move, or ``None``.
        nodes: the most nodes a move, or ``None``; with no limit at all, 3 turns.
        table: the transposition table has up to ``2**table`` entries, as a search needs them.
        multipv: how many of the best actions get a value, not a bound, and a line of play.
        futility: whether to leave out what the game's estimate calls hopeless or safe near the
            horizon; without it, every value is that of a full search to the horizon.
    """

    depth: int | None = None
    time: float | None = None
    nodes: int | None = None
    table: int = 20
    multipv: int = 1
    futility: bool = True

    def __post_init__(self) -> None:
        check_types(self, "minimax")
        limits = {"depth": self.depth, "time": self.time, "nodes": self.nodes}
        check_budget("minimax", **limits, multipv=self.multipv)
        if not 4 <= self.table <= 28:
            raise ValueError(f"option 'table' of minimax must be 4 to 28, not {self.table}")


@dataclass
class _Finding:
    """What a search has come to so far.

    Attributes:
        actions: how many there are.
        action: the best of them.
        value: its value.
        line: the principal variation.
        proven: whether the value is that of the game.
        depth: of the last complete iteration.
        nodes: visited so far.
    """

    actions: int
    action: int
    value: float = 0.0
    line: tuple[int, ...] = ()
    proven: bool = False
    depth: int = 0
    nodes: int = 0


class MinimaxAgent(Agent):
    """Iterative deepening until the depth, the budget or the game is exhausted."""

    name = "minimax"
    Options = MinimaxOptions
    _DEFAULT_DEPTH = 3
    _CHUNK = 2048

    def __init__(self, game: Game, options: MinimaxOptions | None = None) -> None:
        super().__init__(game, options)
        self.options: MinimaxOptions
        rules = game.rules
        if rules.num_players != 2 or not rules.zero_sum:
            raise ValueError(f"minimax needs a zero-sum game of two players, not {game.name}")
        if game.has_chance or game.has_hidden_information:
            raise ValueError(f"minimax needs perfect information and no chance, not {game.name}")
        self._lowest, self._highest = rules.min_utility, rules.max_utility
        self._search = make_search(rules)
        self._stack = make_stack(rules)
        self._root = make_root(rules, min(self.options.multipv, rules.max_legal))
        self._memory = make_table(self.options.table)
        self._table = self._first_table()
        self._learned = Learned.of(game)
        self._age = 0

    def restart(self, seed: int) -> None:
        super().restart(seed)
        self._table.view(np.uint8).fill(0)
        self._table = self._first_table()
        self._age = 0

    def _first_table(self) -> Table:
        """What a search uses of its memory before it needs more."""
        return self._memory[: 1 << _FIRST_BITS]

    def choose(self, state: State) -> Decision:
        budget = Budget(self.options.nodes, self.options.time)
        finding = self._set_up(state)
        values: list[float] = []
        while finding.depth < self._deepest():
            if not self._deepen(budget, finding, self._window(values)):
                break
            values.append(finding.value)
            if self._stack.solved[0]:
                break
        return self._decision(finding)

    def _deepest(self) -> int:
        options = self.options
        if options.depth is not None:
            return min(options.depth, self.game.rules.max_length)
        unlimited = options.time is None and options.nodes is None
        return self._DEFAULT_DEPTH if unlimited else self.game.rules.max_length

    def _set_up(self, state: State) -> _Finding:
        """Put a state at the root of a new search."""
        stack, actions = self._stack, state.legal_actions()
        self._age = (self._age + 1) % _AGES
        stack.history.fill(0)
        stack.killers.fill(_NO_MOVE)
        stack.words[0] = state.words
        stack.player[0] = state.player
        stack.moves[0, : len(actions)] = actions
        self._root.bound.fill(0)
        return _Finding(len(actions), actions[0])

    def _window(self, values: Sequence[float]) -> tuple[float, float]:
        """Where the value of the next iteration is expected: near that of two turns less.

        The values of even and of odd depths differ by what it is worth to have moved last.
        """
        if len(values) + 1 < _ASPIRING_FROM or self._root.top.size > 1:
            return self._lowest, self._highest
        margin = (self._highest - self._lowest) * _ASPIRATION
        return max(self._lowest, values[-2] - margin), min(self._highest, values[-2] + margin)

    def _deepen(self, budget: Budget, finding: _Finding, window: tuple[float, float]) -> bool:
        """Search a turn deeper than before; says whether the budget sufficed to complete it."""
        alpha, beta = window
        while True:
            complete = self._iterate(budget, finding, alpha, beta)
            best = float(self._stack.best[0])
            failed_low = self._lowest < alpha >= best
            failed_high = self._highest > beta <= best
            if self._stack.length[0] and not failed_low:
                self._report(finding, complete)
            if not complete:
                return False
            if not failed_low and not failed_high:
                finding.depth += 1
                return True
            alpha = self._lowest if failed_low else alpha
            beta = self._highest if failed_high else beta

    def _iterate(self, budget: Budget, finding: _Finding, alpha: float, beta: float) -> bool:
        """Search within a window; says whether the budget sufficed to complete it."""
        stack = self._stack
        self._order_root(finding)
        self._root.top.fill(-np.inf)
        stack.depth[0] = finding.depth + 1
        stack.alpha[0] = stack.floor[0] = alpha
        stack.beta[0] = beta
        stack.best[0] = -np.inf
        stack.solved[0] = True
        stack.length[0] = stack.next[0] = stack.ply[0] = 0
        entering = 0
        while stack.ply[0] >= 0:
            chunk = budget.chunk(finding.nodes, self._CHUNK)
            if finding.depth == 0:
                # The first iteration is always complete, so that there is a move.
                chunk = max(chunk, 1)
            if not chunk:
                return False
            self._widen_table(finding.nodes)
            entering, visited = self._search(
                stack,
                self._root,
                self._table,
                self._learned,
                self.options.futility,
                self._age,
                entering,
                min(chunk, self._served() - finding.nodes),
            )
            finding.nodes += visited
        return True

    def _served(self) -> int:
        """How many nodes of a search the table in use is enough for.

        Slices end there, however long the clock would let them be: when the table grows must not
        depend on the clock.
        """
        whole = self._table.size == self._memory.size
        return sys.maxsize if whole else _NODES_PER_ENTRY * self._table.size

    def _widen_table(self, nodes: int) -> None:
        """Put more of the table to use, if so many nodes of a search need it."""
        if nodes >= self._served():
            self._table = widened(self._memory, self._table.size)

    def _order_root(self, finding: _Finding) -> None:
        """Sort the moves of the root: the best first, then the others by what is known of them."""
        stack, root, n = self._stack, self._root, finding.actions
        known = np.where(root.bound[:n] > 0, root.value[:n], -np.inf)
        known[stack.moves[0, :n] == finding.action] = np.inf
        order = np.argsort(-known, kind="stable")
        for column in (stack.moves[0], root.value, root.bound, root.solved, root.line, root.length):
            column[:n] = column[order]
        stack.merit[0, :n] = np.arange(n, 0, -1)
        stack.listed[0] = n

    def _report(self, finding: _Finding, complete: bool) -> None:
        """Write the best line so far into the finding."""
        stack, root = self._stack, self._root
        at = np.flatnonzero(stack.moves[0, : finding.actions] == stack.move[0])[0]
        won = stack.best[0] >= self._highest and root.solved[at]
        finding.action = int(stack.move[0])
        finding.value = float(stack.best[0])
        finding.line = tuple(stack.line[0, : stack.length[0]].tolist())
        finding.proven = bool(won or (complete and stack.solved[0]))

    def _decision(self, finding: _Finding) -> Decision:
        candidates = [self._candidate(i) for i in range(finding.actions) if self._root.bound[i]]
        return Decision(
            action=finding.action,
            value=finding.value,
            principal_variation=finding.line,
            candidates=tuple(
                sorted(candidates, key=lambda c: (c.action != finding.action, -c.value))
            ),
            proven=finding.proven,
            work={"nodes": finding.nodes, "depth": finding.depth},
        )

    def _candidate(self, i: int) -> Candidate:
        root = self._root
        value = float(root.value[i])
        return Candidate(
            int(self._stack.moves[0, i]),
            value,
            bound=self._reading(int(root.bound[i]), value, bool(root.solved[i])),
            principal_variation=tuple(root.line[i, : root.length[i]].tolist()),
        )

    def _reading(self, bound: int, value: float, solved: bool) -> str:
        """How to read a value; a bound that nothing can go beyond is the value itself."""
        if bound == UPPER and value > self._lowest:
            return "at most"
        if bound == LOWER and value < self._highest:
            return "at least"
        return "exact" if solved else "searched"
