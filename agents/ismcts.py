"""Information-set Monte Carlo tree search, for games with hidden cards.

Cowling, Powley and Whitehouse, "Information set Monte Carlo tree search", IEEE Transactions on
Computational Intelligence and AI in Games 4(2), 2012.  Each simulation first redraws what the
searching player doesn't know, then walks by the actions that are legal in the redrawn state; an
action's bound counts how often it was available.  Hidden cards themselves are never looked at, but
what others have hidden on the table is redrawn as they are thought to play: see
:mod:`agents.beliefs`.

Where a simulation stands is not found by the actions that led there.  With ``observer=table``, the
default, it is what the player to move sees there (``view_key``), however it came about: the order
of draws and plays is forgotten, an imperfect recall (Waugh et al., "A practical use of imperfect
recall", SARA 2009) that brings many simulations together.  The searching player's hand counts, the
others' don't; of them it matters only which of the actions are available, as in the article's own
multiple-observer search.  But what the others have hidden on the table they know.

The other two are by information sets, with all the past (``info_key``): actions and draws that
look the same to an observer lead to the same place, whatever they were.  With ``observer=single``
this is the searching player throughout, so that the others seem not to know what they have hidden.
With ``observer=many`` each decision is looked up by what its own player knows, the redrawn hand
included (Heinrich and Silver, "Smooth UCT search in computer poker", IJCAI 2015, call it
multiple-observer), which needs many more simulations.  In any case the statistics of an action
are kept by its own id, since whoever plays it knows what it is.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from agents.beliefs import (
    BELIEFS,
    begin_search,
    forget_beliefs,
    learn,
    make_beliefs,
    make_redraw,
    note_available,
)
from agents.budget import Budget
from agents.information_sets import (
    INFORMATION_SETS,
    NONE,
    add_edge,
    add_set,
    find_slot,
    forget,
    make_information_sets,
    set_in,
    set_key,
)
from agents.judging import LEARNED, Learned, make_foresee, make_rollout
from agents.root_parallel import RootParallelAgent
from agents.selection import (
    SELECTION,
    Selection,
    TreeOptions,
    effort_of,
    level_of,
    prior_of,
    shuffle,
    spread_of,
)
from agents.tally import Found, Tally
from cardcommons import Game, State
from cardcommons.compiled import compiled
from cardcommons.rng import make_rng, weighted
from cardcommons.treaty import (
    CHANCE,
    SCRATCH,
    TERMINAL,
    Kernel,
    Rules,
    Words,
    make_scratch,
)


class Marks(NamedTuple):
    """Which actions are legal, and have no edge yet, at the decision looked at last."""

    wanted: npt.NDArray[np.int64]
    """Shape ``(num_actions,)``: the number of the last decision at which it was so."""
    decisions: npt.NDArray[np.int64]
    """Shape ``(1,)``: how many decisions were looked at."""


def make_marks(num_actions: int) -> Marks:
    """Marks of no decision yet."""
    return Marks(
        wanted=np.zeros(num_actions, dtype=np.int64), decisions=np.zeros(1, dtype=np.int64)
    )


_MARKS = numba.typeof(make_marks(1))

_OBSERVERS = ("single", "many", "table")
_MANY, _TABLE = map(_OBSERVERS.index, ("many", "table"))


@register_jitable
def _take_stock(sets, number, marks, edges, n):
    """List the edges of ``n`` legal actions, as far as there are any, and count them as available.

    Returns how many there are, and their visits, totals and priors together.
    """
    found = 0
    visits = 0
    total = 0.0
    priors = 0.0
    edge = sets.first_edge[number]
    while edge != NONE and found < n:
        action = sets.action[edge]
        if marks.wanted[action] == marks.decisions[0]:
            marks.wanted[action] = 0
            sets.available[edge] += 1
            edges[found] = edge
            found += 1
            visits += sets.visits[edge]
            total += sets.total[edge]
            priors += sets.prior[edge]
        edge = sets.next_edge[edge]
    return found, visits, total, priors


@register_jitable
def _rate(sets, edge, how):
    """Bring an edge's part of its bound up to date."""
    visits, prior = sets.visits[edge], sets.prior[edge]
    sets.level[edge] = level_of(how, visits, sets.total[edge], prior)
    sets.spread[edge] = spread_of(how, visits, prior)


@register_jitable
def _best_edge(sets, edges, n, how, visits, total, priors):
    """Of the first ``n`` edges listed, the one with the highest bound; or none.

    PUCT explores by the visits to all edges available now; UCT by how often each one was.
    """
    mean = total / max(visits, 1)
    share = 1.0 / priors if how.puct else 1.0
    best = NONE
    best_bound = -np.inf
    counted = visits
    effort = effort_of(how, counted) * share
    for i in range(n):
        edge = edges[i]
        if not how.puct and sets.available[edge] != counted:
            counted = sets.available[edge]
            effort = effort_of(how, counted)
        bound = sets.level[edge] + sets.spread[edge] * effort
        if sets.visits[edge] == 0:
            bound += mean
        if bound > best_bound:
            best, best_bound = edge, bound
            if bound == np.inf:
                break
    return best


def make_view(rules: Rules) -> Kernel:
    """The jittable ``(s, player, hand) -> uint64``: the game's ``view_key`` or ``info_key``."""
    info_key = rules.info_key
    if rules.view_key is not None:
        return rules.view_key

    @register_jitable
    def view_key(s, player, hand):
        return info_key(s, player)

    return view_key


@cache
def make_simulate(rules: Rules) -> Kernel:
    """Compile the simulations of a game.

    Their arguments are ``(sets, root, n, how, observer, rng, scratch, learned, marks, beliefs,
    trusting, path, result)``.

    Runs ``n`` simulations for the player to move in ``root`` and returns the number of its
    information set.  ``how`` is a :class:`Selection`, ``observer`` the place of the option's value
    in ``_OBSERVERS``, ``scratch`` has two rows, ``learned`` is :class:`agents.judging.Learned`,
    ``path`` is ``int64[max_length]`` and ``result`` ``float64[num_players]``.
    """
    to_move, legal, chance, apply = rules.to_move, rules.legal, rules.chance, rules.apply
    info_key, view_key, redraw = rules.info_key, make_view(rules), make_redraw(rules)
    rollout, foresee = make_rollout(rules), make_foresee(rules)
    hides = rules.hidden_actions is not None

    @register_jitable
    def add_edges(sets, number, s, player, n, found, how, marks, scratch, rng):
        """Give legal actions without an edge one, listed after those found.

        Returns how many are listed now, and the sum of the new priors.
        """
        moves, edges, ahead = scratch.moves[0], scratch.moves[1], scratch.words[1]
        shuffle(moves, n, rng)
        priors = 0.0
        for i in range(n):
            if marks.wanted[moves[i]] != marks.decisions[0]:
                continue
            prior = 0.0
            if how.informed:
                _, value = foresee(s, moves[i], player, ahead)
                prior = prior_of(how, value)
            edge = add_edge(sets, number, moves[i], player, prior)
            if edge != NONE:
                _rate(sets, edge, how)
                edges[found] = edge
                found += 1
                priors += prior
        return found, priors

    @register_jitable
    def choose(sets, number, s, player, how, marks, scratch, beliefs, noted, rng):
        """The edge to follow, or none: the information set has none, and there is no room."""
        moves, edges = scratch.moves[0], scratch.moves[1]
        n = legal(s, moves)
        marks.decisions[0] += 1
        for i in range(n):
            marks.wanted[moves[i]] = marks.decisions[0]
        if noted:
            note_available(beliefs, player, moves, n)
        found, visits, total, priors = _take_stock(sets, number, marks, edges, n)
        if found < n:
            found, more = add_edges(sets, number, s, player, n, found, how, marks, scratch, rng)
            priors += more
        edge = _best_edge(sets, edges, found, how, visits, total, priors)
        if noted and edge != NONE:
            beliefs.chosen[player, sets.action[edge]] += 1
        return edge

    @register_jitable
    def key_of(s, me, player, observer):
        """By what the place is found where ``player`` is to act, while ``me`` searches.

        What one searches out by their own cards is never another's to find, who may be served by
        the same agent.
        """
        if observer == _TABLE:
            return set_key(view_key(s, player, player == me), me, player)
        return set_key(info_key(s, player if observer == _MANY else me), me, player)

    @register_jitable
    def locate(sets, key, guess):
        """(information set, whether it is new); none if there is no room for it.

        ``guess`` is where it may be, or none: to look there first saves a search in most cases.
        """
        if guess != NONE and sets.key[guess] == key:
            return guess, False
        number = set_in(sets, find_slot(sets, key))
        if number != NONE:
            return number, False
        return add_set(sets, key), True

    @register_jitable
    def descend(sets, s, me, how, observer, marks, scratch, beliefs, noting, path, rng):
        """Walk ``s`` to a new information set or the end; returns the number of edges.

        If ``noting``, it is counted for the beliefs what the others reply.
        """
        depth = 0
        replying = False
        while True:
            player = to_move(s)
            if player == TERMINAL:
                return depth
            if player == CHANCE:
                moves = scratch.moves[0]
                n = chance(s, moves, scratch.weight)
                apply(s, moves[weighted(rng, scratch.weight, n)])
                continue
            guess = np.int64(sets.goal[path[depth - 1]]) if depth else NONE
            number, new = locate(sets, key_of(s, me, player, observer), guess)
            if depth:
                sets.goal[path[depth - 1]] = number
            if number == NONE or (new and depth > 0):
                return depth
            replying = (replying or depth == 1) and player != me
            noted = noting and replying
            edge = choose(sets, number, s, player, how, marks, scratch, beliefs, noted, rng)
            if edge == NONE:
                return depth
            path[depth] = edge
            depth += 1
            apply(s, np.int64(sets.action[edge]))

    @compiled(
        rules.name,
        types.int64(
            INFORMATION_SETS,
            types.uint64[::1],
            types.int64,
            SELECTION,
            types.int64,
            types.uint64[::1],
            SCRATCH,
            LEARNED,
            _MARKS,
            BELIEFS,
            types.boolean,
            types.int64[::1],
            types.float64[::1],
        ),
    )
    def simulate(
        sets, root, n, how, observer, rng, scratch, learned, marks, beliefs, trusting, path, result
    ):
        s = scratch.words[0]
        me = to_move(root)
        noting = hides and trusting
        for _ in range(n):
            redraw(s, root, me, rng, scratch.moves[0], beliefs, trusting)
            depth = descend(sets, s, me, how, observer, marks, scratch, beliefs, noting, path, rng)
            rollout(s, how.cutoff, how.tries, rng, scratch, learned, result)
            for i in range(depth):
                edge = path[i]
                sets.visits[edge] += 1
                sets.total[edge] += result[sets.mover[edge]]
                _rate(sets, edge, how)
        number, _ = locate(sets, key_of(root, me, me, observer), NONE)
        return number

    return simulate


class _Searcher:
    """A table with all that it takes to fill it: what each thread has for itself."""

    CHUNK = 64

    def __init__(self, game: Game, options: "ISMCTSOptions") -> None:
        rules = game.rules
        self.options = options
        self.how = Selection.of(options, rules, solve=False)
        self.simulate = make_simulate(rules)
        self.sets = make_information_sets(options.nodes)
        self.rng = make_rng(0)
        self.scratch = make_scratch(rules, 2)
        self.learned = Learned.of(game)
        self.marks = make_marks(rules.num_actions)
        self.beliefs = make_beliefs(rules)
        self.path = np.zeros(rules.max_length, dtype=np.int64)
        self.result = np.zeros(rules.num_players, dtype=np.float64)

    def search(self, state: State, budget: Budget) -> Tally:
        """Simulate for as long as the budget allows, from what is there if it may be reused."""
        if not self.options.reuse or self.sets.used.max() > self.options.nodes // 2:
            forget(self.sets)
        begin_search(self.beliefs)
        done = 0
        while chunk := budget.chunk(done, self.CHUNK):
            root = self.run(state.words, chunk)
            done += chunk
        if not done:
            return Tally({}, False, 0, 0)
        learn(self.beliefs, state.player, self.options.trust)
        return self.tally(root, done)

    def run(self, words: Words, n: int) -> int:
        """Run some simulations; returns the number of the root's information set."""
        number: int = self.simulate(
            self.sets,
            words,
            n,
            self.how,
            _OBSERVERS.index(self.options.observer),
            self.rng,
            self.scratch,
            self.learned,
            self.marks,
            self.beliefs,
            self.options.trust > 0,
            self.path,
            self.result,
        )
        return number

    def tally(self, root: int, done: int) -> Tally:
        """What is known of the actions in an information set."""
        sets, actions = self.sets, {}
        edge = int(sets.first_edge[root])
        while edge != NONE:
            found = Found(int(sets.visits[edge]), float(sets.total[edge]))
            actions[int(sets.action[edge])] = found
            edge = int(sets.next_edge[edge])
        return Tally(actions, False, done, int(sets.used.max()))


@dataclass(frozen=True)
class ISMCTSOptions(TreeOptions):
    """How much and how to search; see also :class:`agents.selection.TreeOptions`.

    Attributes:
        observer: by whose knowledge positions are told apart: ``single``, the searching player's,
            ``many``, that of the player to move, or ``table``, what that player sees now.
        trust: how far the others are believed to have hidden what the search would have them hide:
            from 0, not at all, to 1; see :mod:`agents.beliefs`.
    """

    agent = "ismcts"

    c: float = 2.0
    cutoff: int = 6
    tries: int = 12
    observer: str = "table"
    trust: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("observer", self.observer in _OBSERVERS, "single, many or table")
        self.require("trust", 0 <= self.trust <= 1, "0 to 1")


class ISMCTSAgent(RootParallelAgent):
    """Plays the most visited action."""

    name = "ismcts"
    Options = ISMCTSOptions

    def __init__(self, game: Game, options: ISMCTSOptions | None = None) -> None:
        super().__init__(game, options)
        self.options: ISMCTSOptions
        self._searchers = [_Searcher(game, self.options) for _ in range(self.options.threads)]

    @property
    def searchers(self) -> list[_Searcher]:
        return self._searchers

    def restart(self, seed: int) -> None:
        super().restart(seed)
        for searcher in self._searchers:
            forget(searcher.sets)
            forget_beliefs(searcher.beliefs, self.options.trust)

    def search(self, state: State, part: int, budget: Budget) -> Tally:
        return self._searchers[part].search(state, budget)
