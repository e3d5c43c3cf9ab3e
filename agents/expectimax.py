"""Expectimax: expectation over chance, the best action of players, a table of bounds.

Michie, "Game-playing and game-learning automata", 1966.  Depth is counted in decisions; at depth
0 the search goes on until the game is *settled* (see :class:`cardcommons.treaty.Rules`), where
its estimate is asked.  Values are utilities of player 0, whom a second player, in a zero-sum
game, opposes.

What is found of a node is a pair of bounds, equal where its value is known.  Since utilities have
bounds, an outcome of chance that can't change the decision any more is not searched: Star1, and
with a first look at one reply to each outcome Star2 (Ballard, "The *-minimax search procedure for
trees containing chance nodes", Artificial Intelligence 21, 1983; Hauk, Buro and Schaeffer,
"Rediscovering *-minimax search", CG 2004).  Bounds of siblings make the window of each outcome:
those from the table, from the first look and from the search itself all count alike.

States with the same future share a value.  Where cards are hidden, a game's estimate may tell such
states apart by what player 0 knows of them, and what is found is the value of one of them.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from agents.base import Agent, Candidate, Decision
from agents.budget import Budget, check_budget, check_hidden
from agents.judging import LEARNED, Learned, make_judge
from cardcommons import Game, State
from cardcommons.bits import ONE
from cardcommons.compiled import compiled
from cardcommons.spec import check_types
from cardcommons.state import make_verb
from cardcommons.treaty import CHANCE, TERMINAL, Kernel, Rules, copy_words

TO_THE_END = 1 << 20
"""A depth that no game exhausts: nothing is estimated."""

_PROBES = 64
_NO_MOVE = -1
_ROUNDING = 1e-12
"""By how much, as a share of the range of utilities, a weighted mean may miss a window."""


class Values(NamedTuple):
    """A table of values, open-addressed: arrays of shape ``(entries,)``, a power of two."""

    key: npt.NDArray[np.uint64]
    """0 where there is no entry."""
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    """The value lies between them; they are equal where it is known."""
    depth: npt.NDArray[np.int32]
    """``TO_THE_END`` where nothing was estimated."""
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
    low: npt.NDArray[np.float64]
    """[P, M]: bounds of what the moves are worth"""
    high: npt.NDArray[np.float64]
    """[P, M]"""
    listed: npt.NDArray[np.int64]
    """[P], as all below: how many moves there are to try"""
    next: npt.NDArray[np.int64]
    """which of them is the next"""
    depth: npt.NDArray[np.int64]
    """decisions left"""
    player: npt.NDArray[np.int64]
    key: npt.NDArray[np.uint64]
    move: npt.NDArray[np.int64]
    """the best move so far"""
    alpha: npt.NDArray[np.float64]
    """what value would be too low to matter"""
    beta: npt.NDArray[np.float64]
    """what value would be too high"""
    least: npt.NDArray[np.float64]
    """bounds of the node's value: of the moves tried so far, and in the end of all"""
    most: npt.NDArray[np.float64]
    sure: npt.NDArray[np.bool_]
    """whether nothing was estimated"""
    glance: npt.NDArray[np.bool_]
    """whether to look at one move only"""
    probing: npt.NDArray[np.bool_]
    """whether a chance node is taking a first look at its outcomes"""
    ply: npt.NDArray[np.int64]
    """[1], where the search is; -1 when it is complete"""


class Manner(NamedTuple):
    """How to search."""

    lossless: bool
    """whether every value is wanted: the table then loses nothing, so that it may have to grow, and
    what can't change the decision at the root is searched too"""
    best: int
    """of how many of the best moves at the root the values are wanted"""


MANNER = numba.typeof(Manner(False, 1))
"""The numba type of a :class:`Manner`, for signatures."""


def make_values(bits: int) -> Values:
    """An empty table of ``2**bits`` entries."""
    entries = 1 << bits
    return Values(
        key=np.zeros(entries, dtype=np.uint64),
        low=np.zeros(entries, dtype=np.float64),
        high=np.zeros(entries, dtype=np.float64),
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
        low=np.zeros((plies, moves), dtype=np.float64),
        high=np.zeros((plies, moves), dtype=np.float64),
        listed=np.zeros(plies, dtype=np.int64),
        next=np.zeros(plies, dtype=np.int64),
        depth=np.zeros(plies, dtype=np.int64),
        player=np.zeros(plies, dtype=np.int64),
        key=np.zeros(plies, dtype=np.uint64),
        move=np.zeros(plies, dtype=np.int64),
        alpha=np.zeros(plies, dtype=np.float64),
        beta=np.zeros(plies, dtype=np.float64),
        least=np.zeros(plies, dtype=np.float64),
        most=np.zeros(plies, dtype=np.float64),
        sure=np.zeros(plies, dtype=np.bool_),
        glance=np.zeros(plies, dtype=np.bool_),
        probing=np.zeros(plies, dtype=np.bool_),
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
    values.low[slot] = stack.least[ply]
    values.high[slot] = stack.most[ply]
    values.depth[slot] = TO_THE_END if stack.sure[ply] else stack.depth[ply]
    values.move[slot] = stack.move[ply]
    return True


@register_jitable
def _take(stack, ply):
    """Account for what the move tried last at ``ply`` was found to be worth."""
    at = stack.next[ply] - 1
    least, most = stack.least[ply + 1], stack.most[ply + 1]
    stack.sure[ply] &= stack.sure[ply + 1]
    if stack.player[ply] == CHANCE:
        # Searches that met other entries in the table may contradict each other: the last counts.
        if max(least, stack.low[ply, at]) <= min(most, stack.high[ply, at]):
            least, most = max(least, stack.low[ply, at]), min(most, stack.high[ply, at])
        stack.low[ply, at], stack.high[ply, at] = least, most
        return
    stack.low[ply, at], stack.high[ply, at] = least, most
    better = least > stack.least[ply] if stack.player[ply] == 0 else most < stack.most[ply]
    if at == 0 or better:
        stack.move[ply] = stack.moves[ply, at]
    if at == 0:
        stack.least[ply], stack.most[ply] = least, most
    elif stack.player[ply] == 0:
        stack.least[ply] = max(least, stack.least[ply])
        stack.most[ply] = max(most, stack.most[ply])
    else:
        stack.least[ply] = min(least, stack.least[ply])
        stack.most[ply] = min(most, stack.most[ply])


@register_jitable
def _expect(stack, ply):
    """(lower, upper, weight): sums over the outcomes of a chance node, each times its weight."""
    low = 0.0
    high = 0.0
    total = 0.0
    for i in range(stack.listed[ply]):
        weight = stack.weight[ply, i]
        low += weight * stack.low[ply, i]
        high += weight * stack.high[ply, i]
        total += weight
    return low, high, total


@register_jitable
def _nth_best(stack, n):
    """The ``n``-th best of the values found at the root so far, for player 0 or player 1."""
    sign = 1.0 if stack.player[0] == 0 else -1.0
    found = stack.low[0] if stack.player[0] == 0 else stack.high[0]
    nth = -np.inf
    for i in range(stack.next[0]):
        as_good = 0
        for j in range(stack.next[0]):
            as_good += sign * found[j] >= sign * found[i]
        if as_good >= n:
            nth = max(nth, sign * found[i])
    return sign * nth


@register_jitable
def _window(stack, ply, at, best):
    """(alpha, beta) for the move ``at`` of ``ply``."""
    alpha, beta = stack.alpha[ply], stack.beta[ply]
    if stack.player[ply] == CHANCE:
        low, high, total = _expect(stack, ply)
        weight = stack.weight[ply, at]
        low -= weight * stack.low[ply, at]
        high -= weight * stack.high[ply, at]
        return (alpha * total - high) / weight, (beta * total - low) / weight
    if ply == 0:
        bound = _nth_best(stack, best)
        return (bound, beta) if stack.player[0] == 0 else (alpha, bound)
    if stack.next[ply] == 0:
        return alpha, beta
    if stack.player[ply] == 0:
        return max(alpha, stack.least[ply]), beta
    return alpha, min(beta, stack.most[ply])


@register_jitable
def _put_first(stack, ply, move):
    """Try ``move`` before the others, if it is listed."""
    for i in range(stack.listed[ply]):
        if stack.moves[ply, i] == move:
            for j in range(i, 0, -1):
                stack.moves[ply, j] = stack.moves[ply, j - 1]
            stack.moves[ply, 0] = move
            return


@cache
def make_search(rules: Rules) -> Kernel:
    """Compile ``(stack, values, learned, entering, nodes, manner) -> (entering, visited)``.

    Goes on with the search on ``stack`` for about ``nodes`` nodes, or until it is complete
    (``stack.ply[0] < 0``; its value lies between ``stack.least[0]`` and ``stack.most[0]``), or, if
    it is to be lossless, until ``values`` needs to grow.  ``manner`` is a :class:`Manner`.
    ``entering`` says whether the node on top is still to be looked at; it is 1 at the start, and
    is handed back between calls.
    """
    to_move, legal, chance, apply = rules.to_move, rules.legal, rules.chance, rules.apply
    payoff, state_key = rules.payoff, rules.state_key
    settled, num_words = rules.settled, rules.num_words
    judge = make_judge(rules)
    # With one player nothing can be too good, which is all that a first look could show.
    may_probe = rules.num_players == 2

    @register_jitable
    def conclude(stack, ply, least, most, sure):
        stack.least[ply], stack.most[ply], stack.sure[ply] = least, most, sure
        return True

    @register_jitable
    def known(stack, values, learned, ply, manner):
        """Whether the node of ``ply`` needs no search; opens it if it does."""
        s = stack.words[ply]
        player = to_move(s)
        stack.player[ply] = player
        if player == TERMINAL:
            value = payoff(s, 0)
            return conclude(stack, ply, value, value, True)
        if stack.depth[ply] <= 0 and settled(s):
            value = judge(s, 0, learned)
            return conclude(stack, ply, value, value, False)
        key = max(state_key(s), ONE)  # 0 stands for no entry
        stack.key[ply] = key
        slot = find(values, key)
        first = _NO_MOVE
        if slot >= 0 and values.key[slot] == key:
            low, high = values.low[slot], values.high[slot]
            first = values.move[slot]
            tells = low == high or low >= stack.beta[ply] or high <= stack.alpha[ply]
            if ply > 0 and tells and values.depth[slot] >= stack.depth[ply]:
                return conclude(stack, ply, low, high, values.depth[slot] == TO_THE_END)
        if stack.glance[ply] and not worth_a_look(stack, ply, learned):
            return conclude(stack, ply, learned.lowest, learned.highest, True)
        open_node(stack, ply, learned, manner)
        if not manner.lossless and first != _NO_MOVE:
            _put_first(stack, ply, first)
        return False

    @register_jitable
    def worth_a_look(stack, ply, learned):
        """Whether a single move could show that the node's value doesn't matter."""
        if stack.player[ply] == 0:
            return stack.beta[ply] < learned.highest
        if stack.player[ply] == 1:
            return stack.alpha[ply] > learned.lowest
        return stack.alpha[ply] > learned.lowest or stack.beta[ply] < learned.highest

    @register_jitable
    def open_node(stack, ply, learned, manner):
        s = stack.words[ply]
        if stack.player[ply] == CHANCE:
            n = chance(s, stack.moves[ply], stack.weight[ply])
            for i in range(n):
                stack.low[ply, i], stack.high[ply, i] = learned.lowest, learned.highest
            probes = may_probe and not manner.lossless
            stack.probing[ply] = probes and worth_a_look(stack, ply, learned)
        else:
            n = legal(s, stack.moves[ply])
            stack.probing[ply] = False
        stack.listed[ply] = n
        stack.next[ply] = 0
        stack.move[ply] = _NO_MOVE
        stack.sure[ply] = True

    @register_jitable
    def done_with_chance(stack, ply, learned):
        """Whether the outcomes looked at suffice; writes the bounds of their mean."""
        low, high, total = _expect(stack, ply)
        low, high = low / total, high / total
        rounding = _ROUNDING * (learned.highest - learned.lowest)
        stack.least[ply], stack.most[ply] = low, high
        if low == high:
            return True
        if high <= stack.alpha[ply] + rounding:
            stack.most[ply] = min(high, stack.alpha[ply])
            return True
        if low >= stack.beta[ply] - rounding:
            stack.least[ply] = max(low, stack.beta[ply])
            return True
        if stack.next[ply] < stack.listed[ply]:
            return False
        if not stack.probing[ply] or stack.glance[ply]:
            return True
        stack.probing[ply] = False
        stack.next[ply] = 0
        return False

    @register_jitable
    def done_with_moves(stack, ply, learned):
        """Whether the moves tried suffice; those not tried may be better than the others."""
        if stack.next[ply] == stack.listed[ply]:
            return True
        if stack.player[ply] == 0:
            done = stack.least[ply] >= stack.beta[ply]
        else:
            done = stack.most[ply] <= stack.alpha[ply]
        done |= stack.glance[ply]
        if done and stack.player[ply] == 0:
            stack.most[ply] = learned.highest
        elif done:
            stack.least[ply] = learned.lowest
        return done

    @register_jitable
    def enter_child(stack, ply, manner):
        at = stack.next[ply]
        alpha, beta = -np.inf, np.inf
        if not manner.lossless:
            alpha, beta = _window(stack, ply, at, manner.best)
        stack.next[ply] += 1
        child = stack.words[ply + 1]
        copy_words(child, stack.words[ply], num_words)
        apply(child, stack.moves[ply, at])
        decisions = 0 if stack.player[ply] == CHANCE else 1
        stack.depth[ply + 1] = max(stack.depth[ply] - decisions, 0)
        stack.alpha[ply + 1], stack.beta[ply + 1] = alpha, beta
        stack.glance[ply + 1] = stack.probing[ply]

    @register_jitable
    def skip_known(stack, ply):
        """Go on to the next outcome whose value is not known; whether there is one."""
        n = stack.listed[ply]
        if stack.player[ply] == CHANCE:
            while stack.next[ply] < n and (
                stack.low[ply, stack.next[ply]] == stack.high[ply, stack.next[ply]]
            ):
                stack.next[ply] += 1
        return stack.next[ply] < n

    @compiled(
        rules.name,
        types.UniTuple(types.int64, 2)(
            numba.typeof(make_stack(rules)),
            numba.typeof(make_values(0)),
            LEARNED,
            types.int64,
            types.int64,
            MANNER,
        ),
    )
    def search(stack, values, learned, entering, nodes, manner):
        visited = 0
        ply = stack.ply[0]
        while ply >= 0 and visited < nodes:
            if entering:
                visited += 1
                done = known(stack, values, learned, ply, manner)
            else:
                if stack.player[ply] == CHANCE:
                    done = done_with_chance(stack, ply, learned)
                else:
                    done = done_with_moves(stack, ply, learned)
                if done and not _store(values, stack, ply, manner.lossless):
                    break
            entering = 0
            if done:
                ply -= 1
                if ply >= 0:
                    _take(stack, ply)
            elif skip_known(stack, ply):
                enter_child(stack, ply, manner)
                ply += 1
                entering = 1
        stack.ply[0] = ply
        return entering, visited

    return search


def require_open_cards(game: Game) -> None:
    """Raise ``ValueError`` if what a state is worth depends on what a player knows."""
    if game.has_hidden_information:
        raise ValueError(f"expectimax needs open cards, and {game.name} has hidden ones")


class Search:
    """An expectimax search of a game, with its table of values.

    It sees all that is in a state, hidden cards too.

    Attributes:
        stack: the stack, whose row 0 is the root.
        values: the table; values stay good, so it is kept from one search to the next.
        nodes: how many nodes were visited so far.
    """

    _CHUNK = 256

    def __init__(self, game: Game, bits: int, most_entries: int = 0) -> None:
        """Prepare a search.

        Args:
            game: what to search.
            bits: the table begins with ``2**bits`` entries.
            most_entries: if given, the table keeps everything and grows up to this size, so that
                it holds the value of every state in the end; otherwise it stays as it is and
                forgets.

        Raises:
            ValueError: opponents are no opposites.
        """
        rules = game.rules
        if not rules.opposed:
            raise ValueError(
                f"expectimax needs one player, or two in a zero-sum game, not {game.name}"
            )
        self.game = game
        self.stack = make_stack(rules)
        self.values = make_values(bits)
        self.nodes = 0
        self._learned = Learned.of(game)
        self._most_entries = most_entries
        self._search = make_search(rules)

    def value(self, state: State, depth: int) -> float:
        """The value of a state for player 0, ``depth`` decisions deep.

        After it, ``stack`` holds the moves of the root and bounds of their values.

        Raises:
            MemoryError: the table would have to grow beyond ``most_entries``.
        """
        self.look(state, depth, Budget(None, None), self.nodes)
        return float(self.stack.least[0])

    def look(self, state: State, depth: int, budget: Budget, begun: int, best: int = 1) -> bool:
        """Search as :meth:`value` does, within a budget; whether it sufficed.

        Args:
            state: the root.
            depth: in decisions.
            budget: of time.
            begun: what ``nodes`` was when the budget was made.
            best: of how many of the best moves the value, not only a bound, is wanted.
        """
        stack = self.stack
        if state.is_terminal:
            stack.least[0] = stack.most[0] = state.returns()[0]
            return True
        stack.words[0] = state.words
        stack.depth[0] = depth
        stack.ply[0] = 0
        stack.alpha[0], stack.beta[0], stack.glance[0] = -np.inf, np.inf, False
        manner = Manner(lossless=self._most_entries > 0, best=best)
        entering = 1
        while stack.ply[0] >= 0:
            chunk = budget.chunk(self.nodes - begun, self._CHUNK)
            if not chunk:
                return False
            entering, visited = self._search(
                stack, self.values, self._learned, entering, chunk, manner
            )
            self.nodes += visited
            if stack.ply[0] >= 0 and visited < chunk:
                self._grow()
        return True

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
            new.low[target] = old.low[source]
            new.high[target] = old.high[source]
            new.depth[target] = old.depth[source]
            new.move[target] = old.move[source]
        return True

    return move_entries


@dataclass(frozen=True)
class ExpectimaxOptions:
    """How far to search.

    Attributes:
        depth: decisions to look ahead; by default 1, or as many as there is time for.
        time: seconds a move, or ``None``; the first decision is looked at whole in any case.
        multipv: how many of the best actions get a value, not a bound.
        table: the table of values has ``2**table`` entries.
        determinizations: with hidden information, how many times to redraw all that is hidden and
            search as if it were known; what an action is worth is the mean.
        cheat: with hidden information, look at all that is hidden.
    """

    depth: int | None = None
    time: float | None = None
    multipv: int = 1
    table: int = 18
    determinizations: int = 0
    cheat: bool = False

    def __post_init__(self) -> None:
        check_types(self, "expectimax")
        check_budget("expectimax", depth=self.depth, time=self.time, multipv=self.multipv)
        if not 4 <= self.table <= 28:
            raise ValueError(f"option 'table' of expectimax must be 4 to 28, not {self.table}")
        check_hidden("expectimax", self.determinizations, self.cheat)


class ExpectimaxAgent(Agent):
    """Plays the action with the best expectation; the first found of equals."""

    name = "expectimax"
    Options = ExpectimaxOptions

    def __init__(self, game: Game, options: ExpectimaxOptions | None = None) -> None:
        super().__init__(game, options)
        self.options: ExpectimaxOptions
        if not (self.options.cheat or self.options.determinizations):
            require_open_cards(game)
        self._search = Search(game, self.options.table)

    def restart(self, seed: int) -> None:
        super().restart(seed)
        self._search.values.key.fill(0)

    def choose(self, state: State) -> Decision:
        begun, clock = self._search.nodes, Budget(None, self.options.time)
        worlds = self._worlds(state)
        depth, *deeper = self._depths()
        candidates = self._compare(worlds, depth, Budget(None, None), begun)
        for further in deeper:
            if candidates[0].bound == "exact":
                break
            found = self._compare(worlds, further, clock, begun)
            if not found:
                break
            depth, candidates = further, found
        best = candidates[0]
        return Decision(
            action=best.action,
            value=best.value,
            principal_variation=(best.action,),
            candidates=tuple(candidates),
            proven=best.bound == "exact",
            work={"nodes": self._search.nodes - begun, "depth": depth},
        )

    def _depths(self) -> range:
        """The depths to search, one after the other."""
        unlimited = 1 if self.options.time is None else self.game.max_decisions
        deepest = min(self.options.depth or unlimited, self.game.max_decisions)
        return range(deepest if self.options.time is None else 1, deepest + 1)

    def _worlds(self, state: State) -> list[tuple[State, int]]:
        """What to search as if it were known, and how many times each was drawn."""
        redraw = make_verb(self.game.rules, "resample")
        drawn: Counter[bytes] = Counter()
        for _ in range(self.options.determinizations):
            words = state.words.copy()
            redraw(words, state.player, self.rng)
            drawn[words.tobytes()] += 1
        if not drawn:
            return [(state, 1)]
        return [
            (State(self.game, np.frombuffer(words, dtype=np.uint64)), times)
            for words, times in drawn.items()
        ]

    def _compare(
        self, worlds: list[tuple[State, int]], depth: int, budget: Budget, begun: int
    ) -> list[Candidate]:
        """What the actions are worth so many decisions deep; empty if the budget is spent."""
        search, player = self._search, worlds[0][0].player
        most = self.game.rules.max_legal
        best = min(self.options.multipv, most) if len(worlds) == 1 else most
        low: Counter[int] = Counter()
        high: Counter[int] = Counter()
        for world, times in worlds:
            if not search.look(world, depth, budget, begun, best):
                return []
            share = times / max(self.options.determinizations, 1)
            for i in range(search.stack.listed[0]):
                action = int(search.stack.moves[0, i])
                low[action] += share * search.stack.low[0, i]
                high[action] += share * search.stack.high[0, i]
        known = "exact" if search.stack.sure[0] else "searched"
        if self.options.determinizations:
            known = "mean"
        candidates = [
            Candidate(
                action,
                float(high[action] if player == 0 else -low[action]),
                bound=known if low[action] == high[action] else "at most",
            )
            for action in high
        ]
        return sorted(candidates, key=lambda candidate: -candidate.value)
