"""Monte Carlo counterfactual regret minimization: on games of the treaty, and on unrolled trees.

Lanctot, Waugh, Zinkevich and Bowling, "Monte Carlo sampling for regret minimization in extensive
games", NeurIPS 2009.  An iteration walks once for each player.  *External sampling* looks at all
actions of that player and draws those of chance and the others.  *Outcome sampling* draws a
single history, the player's own actions with some exploration.

A game of the treaty needs no tree: what was learned of the information sets that were met is kept
in a table that grows up to a bound.  Outcome sampling adds one information set a walk, and plays
at random beyond, as in Lisý, Lanctot and Bowling, "Online Monte Carlo counterfactual regret
minimization for search in imperfect information games", AAMAS 2015; once the bound is reached,
both samplings play at random where nothing is stored.

The others' strategies are averaged where a walk passes by (the paper's stochastically weighted
averaging), each by the walks of the player before it.  With the same seed everything comes out
the same.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from agents.policy import Policy
from agents.strategy import Strategy, normalized
from agents.worlds import (
    NO_ROOM,
    TREATY_WORLD,
    TREE_VERBS,
    TREE_WORLD,
    UNKNOWN,
    Shelf,
    Verbs,
    filled_shelf,
    grown_shelf,
    make_shelf,
    treaty_verbs,
    treaty_world,
    tree_world,
)
from cardcommons.arrayfile import Notes, read_arrays, write_arrays
from cardcommons.compiled import compiled
from cardcommons.identity import rules_digest
from cardcommons.keytable import has_room
from cardcommons.rng import below, make_rng, unit
from cardcommons.sequence_form import SequenceForm
from cardcommons.spec import suggestion
from cardcommons.treaty import CHANCE, TERMINAL, Game, Kernel, Rules

SAMPLINGS = ("external", "outcome")
"""What can be sampled."""

_ROOT = -1
"""The ply above the first: the walk is over."""


class Tables(NamedTuple):
    """What was learned: ``float64[slots]`` each."""

    regret: npt.NDArray[np.float64]
    average: npt.NDArray[np.float64]


class Stack(NamedTuple):
    """Where a walk stands, so that it can stop for want of room and go on: K plies, M options.

    Rows are the walking player's decisions.
    """

    sigma: npt.NDArray[np.float64]
    """``[K, M]``: the probabilities of the options"""
    worth: npt.NDArray[np.float64]
    """``[K, M]``: what they have turned out to be worth"""
    place: npt.NDArray[np.int64]
    """``[K]``"""
    options: npt.NDArray[np.int64]
    """``[K]``: how many there are"""
    tried: npt.NDArray[np.int64]
    """``[K]``: how many were tried; in outcome sampling, which one was drawn"""
    drawn: npt.NDArray[np.float64]
    """``[2]``: in outcome sampling, the probability with which the walk drew the player's own
    actions: where they are stored, and everywhere"""
    where: npt.NDArray[np.int64]
    """``[3]``: the iteration, the player who walks, and the ply to go on at, or -1 at the start"""


def make_stack(plies: int, options: int) -> Stack:
    """A stack before the first walk."""
    return Stack(
        sigma=np.zeros((plies, options)),
        worth=np.zeros((plies, options)),
        place=np.zeros(plies, dtype=np.int64),
        options=np.zeros(plies, dtype=np.int64),
        tried=np.zeros(plies, dtype=np.int64),
        drawn=np.ones(2),
        where=np.array([0, 0, _ROOT], dtype=np.int64),
    )


@register_jitable
def _match_regrets(tables, place, n, sigma):
    """Write the strategy of an information set to ``sigma``."""
    total = 0.0
    for i in range(n):
        sigma[i] = max(tables.regret[place + i], 0.0) if place != UNKNOWN else 0.0
        total += sigma[i]
    for i in range(n):
        sigma[i] = sigma[i] / total if total > 0.0 else 1.0 / n


@register_jitable
def _sampled(sigma, n, rng):
    """An option drawn by its probability."""
    left = unit(rng)
    chosen = 0
    for i in range(n):
        if sigma[i] > 0.0 and left >= 0.0:
            chosen = i
        left -= sigma[i]
    return chosen


@register_jitable
def _average(tables, place, n, sigma, weight):
    for i in range(n):
        tables.average[place + i] += weight * sigma[i]


def _make_external(verbs: Verbs, players: int) -> Kernel:
    """The jittable ``(w, tables, stack, me, epsilon, rng) -> finished``: go on with a walk."""
    mover, options, draw, step = verbs.mover, verbs.options, verbs.draw, verbs.step
    branch, utility, place_of = verbs.branch, verbs.utility, verbs.place

    @register_jitable
    def sink(w, tables, stack, ply, me, rng):
        """Go on in the same row to a stored decision of ``me``, or to the end."""
        sigma = stack.sigma[ply]
        player = mover(w, ply)
        while player != TERMINAL:
            if player == CHANCE:
                draw(w, ply, rng)
            else:
                n = options(w, ply, player)
                place = place_of(w, ply, player, n, True)
                if place == NO_ROOM:
                    return np.int64(NO_ROOM)
                _match_regrets(tables, place, n, sigma)
                if place != UNKNOWN and player == me:
                    stack.place[ply], stack.options[ply], stack.tried[ply] = place, n, 0
                    return np.int64(me)
                if place != UNKNOWN and player == (me + 1) % players:
                    _average(tables, place, n, sigma, 1.0)
                step(w, ply, _sampled(sigma, n, rng))
            player = mover(w, ply)
        return np.int64(TERMINAL)

    @register_jitable
    def learn(tables, stack, ply):
        """Add the regrets of a decision whose options were all tried; returns its value."""
        value = 0.0
        for i in range(stack.options[ply]):
            value += stack.sigma[ply, i] * stack.worth[ply, i]
        for i in range(stack.options[ply]):
            tables.regret[stack.place[ply] + i] += stack.worth[ply, i] - value
        return value

    @register_jitable
    def walk(w, tables, stack, me, epsilon, rng):
        ply = max(stack.where[2], 0)
        while True:
            player = sink(w, tables, stack, ply, me, rng)
            if player == NO_ROOM:
                stack.where[2] = ply
                return False
            if player == TERMINAL:
                value = utility(w, ply, me)
                ply -= 1
                while ply >= 0:
                    stack.worth[ply, stack.tried[ply] - 1] = value
                    if stack.tried[ply] < stack.options[ply]:
                        break
                    value = learn(tables, stack, ply)
                    ply -= 1
                if ply == _ROOT:
                    return True
            branch(w, ply, stack.tried[ply])
            stack.tried[ply] += 1
            ply += 1

    return walk


def _make_outcome(verbs: Verbs, players: int) -> Kernel:
    """The same for outcome sampling, of which the whole walk is in row 0 of the world."""
    mover, options, draw, step = verbs.mover, verbs.options, verbs.draw, verbs.step
    utility, place_of, added = verbs.utility, verbs.place, verbs.added

    @register_jitable
    def explore(stack, depth, n, epsilon, rng):
        """Draw an own action, now and then at random; returns it and its probability."""
        sigma = stack.sigma[depth]
        chosen = below(rng, n) if unit(rng) < epsilon else _sampled(sigma, n, rng)
        return chosen, epsilon / n + (1.0 - epsilon) * sigma[chosen]

    @register_jitable
    def decide(w, tables, stack, depth, player, me, epsilon, rng):
        """Play a decision; returns the depth after it, or NO_ROOM."""
        n = options(w, 0, player)
        place = place_of(w, 0, player, n, added(w) == 0)
        if place == NO_ROOM:
            return np.int64(NO_ROOM)
        _match_regrets(tables, place, n, stack.sigma[depth])
        if player != me:
            if place != UNKNOWN and player == (me + 1) % players:
                _average(tables, place, n, stack.sigma[depth], 1.0 / stack.drawn[1])
            step(w, 0, _sampled(stack.sigma[depth], n, rng))
            return depth
        if place == UNKNOWN:
            stack.drawn[1] /= n
            step(w, 0, below(rng, n))
            return depth
        chosen, prob = explore(stack, depth, n, epsilon, rng)
        stack.place[depth], stack.options[depth], stack.tried[depth] = place, n, chosen
        stack.drawn[0] *= prob
        stack.drawn[1] *= prob
        step(w, 0, chosen)
        return depth + 1

    @register_jitable
    def learn(tables, stack, depth, value):
        """Bring up to date what is known of the player's decisions, from the last to the first."""
        for k in range(depth - 1, -1, -1):
            chosen = stack.tried[k]
            after = value * stack.sigma[k, chosen]
            for i in range(stack.options[k]):
                tables.regret[stack.place[k] + i] += (value if i == chosen else 0.0) - after
            value = after

    @register_jitable
    def walk(w, tables, stack, me, epsilon, rng):
        depth = stack.where[2]
        if depth == _ROOT:
            depth = 0
            stack.drawn[0] = 1.0
            stack.drawn[1] = 1.0
        player = mover(w, 0)
        while player != TERMINAL:
            if player == CHANCE:
                draw(w, 0, rng)
            else:
                after = decide(w, tables, stack, depth, player, me, epsilon, rng)
                if after == NO_ROOM:
                    stack.where[2] = depth
                    return False
                depth = after
            player = mover(w, 0)
        learn(tables, stack, depth, utility(w, 0, me) / stack.drawn[0])
        return True

    return walk


def _make_run(owner: str, verbs: Verbs, world: Any, sampling: str, players: int) -> Kernel:
    """Compile ``(w, tables, stack, epsilon, rng, until)``: walk until so many iterations are done.

    Stops early where there is no room, to be called again with more of it.
    """
    start = verbs.start
    walk = {"external": _make_external, "outcome": _make_outcome}[sampling](verbs, players)

    @compiled(
        owner,
        types.void(
            world,
            numba.typeof(Tables(*np.zeros((2, 1)))),
            numba.typeof(make_stack(1, 1)),
            types.float64,
            types.uint64[::1],
            types.int64,
        ),
    )
    def run(w, tables, stack, epsilon, rng, until):
        while stack.where[0] < until:
            if stack.where[2] == _ROOT:
                start(w)
            if not walk(w, tables, stack, stack.where[1], epsilon, rng):
                return
            stack.where[2] = _ROOT
            stack.where[1] += 1
            if stack.where[1] == players:
                stack.where[1] = 0
                stack.where[0] += 1

    return run


@cache
def make_treaty_run(rules: Rules, sampling: str) -> Kernel:
    """Walks in a :class:`~agents.worlds.TreatyWorld`; see :func:`_make_run`."""
    verbs, players = treaty_verbs(rules), rules.num_players
    return _make_run(rules.name, verbs, TREATY_WORLD, sampling, players)


@cache
def make_tree_run(players: int, sampling: str) -> Kernel:
    """Walks in a :class:`~agents.worlds.TreeWorld`; see :func:`_make_run`."""
    return _make_run(f"{players} players", TREE_VERBS, TREE_WORLD, sampling, players)


_KIND = "mccfr checkpoint 1"
_FIRST_BITS, _FIRST_SLOTS = 10, 4096
_LEAST_MEMORY = 1_000_000
_SLOT_BYTES = 16
_ENTRY_BYTES = 48
"""Of the capacity for an information set: two entries of the table, its key and its place."""


def _check(players: int, sampling: str, epsilon: float) -> None:
    if players < 2:
        raise ValueError("sampling averages the strategies of others, so two must play or more")
    if sampling not in SAMPLINGS:
        raise ValueError(
            f"no sampling is called {sampling!r}{suggestion(sampling, list(SAMPLINGS))}"
        )
    if not 0 < epsilon <= 1:
        raise ValueError(f"epsilon must be above 0 and at most 1, not {epsilon}")


class MCCFRSolver(ABC):
    """What the solvers on games and on trees have in common.

    Attributes:
        sampling: ``external`` or ``outcome``.
        tables: what was learned, by slot.
    """

    def __init__(
        self, players: int, sampling: str, epsilon: float, seed: int, stack: Stack
    ) -> None:
        _check(players, sampling, epsilon)
        self.sampling = sampling
        self.epsilon = epsilon
        self.tables = Tables(np.zeros(0), np.zeros(0))
        self._rng = make_rng(seed)
        self._stack = stack

    @property
    def iteration(self) -> int:
        """How many iterations are done, each a walk for every player."""
        return int(self._stack.where[0])

    def run(self, iterations: int) -> None:
        """Do some more iterations; at least 0."""
        if iterations < 0:
            raise ValueError(f"iterations must be at least 0, not {iterations}")
        until = self.iteration + iterations
        while self.iteration < until:
            self._walk(until)
            if self.iteration < until:
                self._make_room()

    @abstractmethod
    def _walk(self, until: int) -> None:
        """Walk until so many iterations are done, or room is needed."""

    @abstractmethod
    def _make_room(self) -> None:
        """Make room for more information sets."""

    @abstractmethod
    def _known_by(self) -> tuple[str, str]:
        """The game as text, and a hash of its rules."""

    def _told(self) -> dict[str, Any]:
        game, rules = self._known_by()
        return {
            "kind": _KIND,
            "game": game,
            "rules": rules,
            "sampling": self.sampling,
            "epsilon": self.epsilon,
            "iteration": self.iteration,
            "rng": int(self._rng[0]),
        }

    def _restore(self, path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Take over what all solvers have of a checkpoint; all that it holds."""
        told, arrays = read_arrays(path)
        mine = self._told()
        if told.get("kind") != _KIND:
            raise ValueError(f"{path} is no checkpoint of Monte Carlo regret minimization")
        if told["game"] != mine["game"]:
            raise ValueError(f"{path} is of {told['game']}, not of {mine['game']}")
        if told["rules"] != mine["rules"]:
            raise ValueError(f"{path} is of {told['game']} under other rules")
        for name in ("sampling", "epsilon"):
            if told[name] != mine[name]:
                raise ValueError(f"{path} has {name} {told[name]}, not {mine[name]}")
        self._stack.where[:] = told["iteration"], 0, _ROOT
        self._rng[0] = told["rng"]
        return told, arrays


class TreeMCCFR(MCCFRSolver):
    """Sampling on an unrolled tree."""

    def __init__(
        self, form: SequenceForm, sampling: str = "external", epsilon: float = 0.6, seed: int = 0
    ) -> None:
        """Begin anew.

        Args:
            form: the game.
            sampling: ``external`` or ``outcome``.
            epsilon: exploration in outcome sampling, above 0 and at most 1.
            seed: of all sampling.
        """
        tree = form.tree
        plies = tree.depth + 1
        options = int(np.diff(tree.info_sets.first_slot).max())
        super().__init__(tree.num_players, sampling, epsilon, seed, make_stack(plies, options))
        self.form = form
        self.tables = Tables(*np.zeros((2, tree.num_slots)))
        self._world = tree_world(tree, plies)
        self._run = make_tree_run(tree.num_players, sampling)

    def average_strategy(self) -> Strategy:
        """The strategy that approaches an equilibrium, in a zero-sum game of two players."""
        return normalized(self.form.leaves.first_slot, self.tables.average)

    def save(self, path: Path, notes: Notes | None = None) -> None:
        """Write all that it takes to go on as if there had been no interruption.

        Args:
            path: where to.
            notes: plain JSON values to keep with it.
        """
        write_arrays(path, self._told() | _noted(notes), self.tables._asdict())

    def load(self, path: Path) -> Notes:
        """Go on from a checkpoint, and give its notes.

        Raises:
            ValueError: it is none of this game and sampling.
        """
        told, arrays = self._restore(path)
        self.tables = Tables(**arrays)
        kept: Notes = told.get("notes", {})
        return kept

    def _walk(self, until: int) -> None:
        self._run(self._world, self.tables, self._stack, self.epsilon, self._rng, until)

    def _make_room(self) -> None:
        raise AssertionError("a tree stores all its information sets")

    def _known_by(self) -> tuple[str, str]:
        return self.form.tree.game, self.form.digest


class GameMCCFR(MCCFRSolver):
    """Sampling on a game of the treaty, without a tree.

    Attributes:
        game: what is played.
        memory: the most bytes that tables may take.
    """

    def __init__(
        self,
        game: Game,
        sampling: str = "outcome",
        epsilon: float = 0.6,
        seed: int = 0,
        memory: int = 2**30,
    ) -> None:
        """Begin anew.

        Args:
            game: what to play.
            sampling: ``external`` (for small games: its walks meet all actions of a player) or
                ``outcome``.
            epsilon: exploration in outcome sampling, above 0 and at most 1.
            seed: of all sampling.
            memory: the most bytes that tables may take, at least a million; what doesn't fit is
                played at random.
        """
        if memory < _LEAST_MEMORY:
            raise ValueError(f"memory must be at least {_LEAST_MEMORY} bytes, not {memory}")
        rules = game.rules
        stack = make_stack(rules.max_length + 2, rules.max_legal)
        super().__init__(rules.num_players, sampling, epsilon, seed, stack)
        self.game = game
        self.memory = memory
        self.tables = Tables(*np.zeros((2, _FIRST_SLOTS + rules.max_legal)))
        self._world = treaty_world(game, make_shelf(_FIRST_BITS, self.tables.regret.size))
        self._run = make_treaty_run(rules, sampling)

    @property
    def _shelf(self) -> Shelf:
        return self._world.shelf

    @property
    def _num_slots(self) -> int:
        """How many slots there is room for."""
        return int(self._shelf.used[1])

    @property
    def num_info_sets(self) -> int:
        """How many information sets are stored."""
        return int(self._shelf.used[0])

    @property
    def full(self) -> bool:
        """Whether the bound on memory was reached."""
        return bool(self._shelf.used[2])

    @property
    def bytes(self) -> int:
        """The memory that tables take."""
        return _ENTRY_BYTES * self._shelf.key.size + _SLOT_BYTES * self._num_slots

    def policy(self, made: Mapping[str, Any] | None = None) -> Policy:
        """The average strategy; information sets that no average was taken of are left out.

        Args:
            made: how it came about, as plain JSON values, besides what the solver knows.
        """
        entries = self.num_info_sets
        first = self._shelf.first[: entries + 1]
        weights = self.tables.average[: first[-1]]
        sizes = np.diff(first)
        kept = np.add.reduceat(weights, first[:-1]) > 0 if entries else np.zeros(0, np.bool_)
        begins = np.concatenate(([0], np.cumsum(sizes[kept])))
        about = {"algorithm": f"{self.sampling} sampling", "iterations": self.iteration}
        return Policy(
            game=self.game.spec,
            rules=rules_digest(self.game),
            key=self._shelf.key[:entries][kept],
            first=begins,
            prob=normalized(begins, weights[np.repeat(kept, sizes)]),
            made=about | dict(made or {}),
        )

    def save(self, path: Path, notes: Notes | None = None) -> None:
        """Write all that it takes to go on as if there had been no interruption.

        Args:
            path: where to.
            notes: plain JSON values to keep with it.
        """
        entries = self.num_info_sets
        first = self._shelf.first[: entries + 1]
        arrays = {"key": self._shelf.key[:entries], "first": first}
        arrays |= {name: table[: first[-1]] for name, table in self.tables._asdict().items()}
        room = {"bits": self._shelf.table.key.size.bit_length() - 1, "slots": self._num_slots}
        write_arrays(path, self._told() | room | {"full": self.full} | _noted(notes), arrays)

    def load(self, path: Path) -> Notes:
        """Go on from a checkpoint, and give its notes.

        Raises:
            ValueError: it is none of this game and sampling.
        """
        told, arrays = self._restore(path)
        shelf = filled_shelf(arrays["key"], arrays["first"], told["bits"], told["slots"])
        shelf.used[2] = told["full"]
        self._world = self._world._replace(shelf=shelf)
        averages, regrets = arrays["average"], arrays["regret"]
        self.tables = Tables(*(_lengthened(t, told["slots"]) for t in (regrets, averages)))
        kept: Notes = told.get("notes", {})
        return kept

    def _walk(self, until: int) -> None:
        self._run(self._world, self.tables, self._stack, self.epsilon, self._rng, until)

    def _make_room(self) -> None:
        """Double what has run out, or play at random from now on where nothing is stored."""
        shelf = self._shelf
        more_entries = not has_room(shelf.table, self.num_info_sets + 1)
        needed = _ENTRY_BYTES * shelf.key.size if more_entries else _SLOT_BYTES * self._num_slots
        if self.bytes + 2 * needed > self.memory:  # while old and new tables stand side by side
            shelf.used[2] = 1
        elif more_entries:
            self._world = self._world._replace(shelf=grown_shelf(shelf))
        else:
            shelf.used[1] *= 2
            self.tables = Tables(*(_lengthened(table, self._num_slots) for table in self.tables))

    def _known_by(self) -> tuple[str, str]:
        return self.game.spec, rules_digest(self.game)


def _noted(notes: Notes | None) -> dict[str, Any]:
    return {"notes": dict(notes or {})}


def _lengthened(table: npt.NDArray[np.float64], size: int) -> npt.NDArray[np.float64]:
    longer = np.zeros(size)
    longer[: table.size] = table
    return longer
