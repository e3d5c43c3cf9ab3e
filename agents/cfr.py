"""Counterfactual regret minimization and its family, on the sequence form of a game.

One kernel with the parameters of :class:`Variant`; the sources:

- CFR: Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with incomplete
  information", NeurIPS 2007.
- CFR+: Tammelin, "Solving large imperfect information games using CFR+", 2014.
- Linear and discounted CFR: Brown and Sandholm, "Solving imperfect-information games via
  discounted regret minimization", AAAI 2019.
- Predictive CFR+: Farina, Kroer and Sandholm, "Faster game solving via predictive Blackwell
  approachability", AAAI 2021.  What is predicted of an information set is the regret that was
  seen there last.

An iteration costs a pass over leaves and sequences for each player.  It is deterministic.
"""

import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from agents.best_response import Responder, Responses
from agents.strategy import Strategy, normalized, uniform
from cardcommons.arrayfile import Notes, read_arrays, write_arrays
from cardcommons.compiled import compiled
from cardcommons.sequence_form import SequenceForm, make_gradient, no_leaves, write_plan
from cardcommons.spec import suggestion
from cardcommons.treaty import Kernel

_KIND = "cfr checkpoint 1"
_KEEP, _DROP = math.inf, -math.inf


class Variant(NamedTuple):
    """What tells the members of the family apart; t is the number of an iteration, from 1.

    The three exponents are those of discounted CFR.
    """

    alternating: bool
    """whether a player's update meets the new strategies of the players before"""
    alpha: float
    """positive regrets are multiplied by ``t**alpha / (t**alpha + 1)``"""
    beta: float
    """negative ones likewise; ``-inf`` makes them 0, which is regret matching+"""
    gamma: float
    """the strategy of iteration t counts ``t**gamma`` times in the average"""
    predictive: bool
    """whether the next strategy counts on the last regret to come again"""


ALGORITHMS = {
    "cfr": Variant(True, _KEEP, _KEEP, 0.0, False),
    "cfr-simultaneous": Variant(False, _KEEP, _KEEP, 0.0, False),
    "cfr+": Variant(True, _KEEP, _DROP, 1.0, False),
    "lcfr": Variant(True, 1.0, 1.0, 1.0, False),
    "dcfr": Variant(True, 1.5, 0.0, 2.0, False),
    "pcfr+": Variant(True, _KEEP, _DROP, 2.0, True),
}
"""The variants by name, with the parameters that their papers recommend."""


class Tables(NamedTuple):
    """What iterations leave behind, all ``float64[S]``, a number for each slot."""

    regret: npt.NDArray[np.float64]
    """the regret so far, discounted"""
    strategy: npt.NDArray[np.float64]
    """the strategy of the next iteration"""
    average: npt.NDArray[np.float64]
    """the weighted sum of the plans so far"""
    last: npt.NDArray[np.float64]
    """the regret of the last iteration, where it is predicted to come again"""


@register_jitable
def _kept(iteration, exponent):
    """``t**e / (t**e + 1)``, and its limits for infinite exponents."""
    if math.isinf(exponent):
        return 1.0 if exponent > 0 else 0.0
    return 1.0 / (1.0 + float(iteration) ** -exponent)


@register_jitable
def _match_regrets(regret, last, strategy, begin, end, weight):
    """Regret matching on ``regret + weight * last``: Hart and Mas-Colell, Econometrica 2000."""
    total = 0.0
    for slot in range(begin, end):
        strategy[slot] = max(regret[slot] + weight * last[slot], 0.0)
        total += strategy[slot]
    for slot in range(begin, end):
        strategy[slot] = strategy[slot] / total if total > 0.0 else 1.0 / (end - begin)


@cache
def make_iterate(players: int) -> Kernel:
    """Compile ``(leaves, variant, tables, plan, gradient, done, count)``: ``count`` iterations.

    ``done`` iterations came before; ``plan`` and ``gradient`` are buffers, ``float64[Q]``.
    """
    write_gradient = make_gradient(players)

    @register_jitable
    def add_to_average(leaves, player, plan, average, weight):
        begin = leaves.first_slot[leaves.first_set[player]]
        for slot in range(begin, leaves.first_slot[leaves.first_set[player + 1]]):
            average[slot] += weight * plan[players + slot]

    @register_jitable
    def learn(variant, tables, gradient, begin, end, kept, dropped):
        """Add the regrets of an information set, match them; returns the value of the set."""
        value = 0.0
        for slot in range(begin, end):
            value += tables.strategy[slot] * gradient[players + slot]
        for slot in range(begin, end):
            regret = gradient[players + slot] - value
            tables.last[slot] = regret
            regret += tables.regret[slot]
            tables.regret[slot] = regret * (kept if regret > 0.0 else dropped)
        weight = 1.0 if variant.predictive else 0.0
        _match_regrets(tables.regret, tables.last, tables.strategy, begin, end, weight)
        return value

    @register_jitable
    def update(leaves, variant, tables, player, plan, gradient, iteration):
        add_to_average(leaves, player, plan, tables.average, float(iteration) ** variant.gamma)
        write_gradient(leaves, player, plan, gradient)
        kept, dropped = _kept(iteration, variant.alpha), _kept(iteration, variant.beta)
        first, last = leaves.first_set[player], leaves.first_set[player + 1] - 1
        for info_set in range(last, first - 1, -1):
            begin, end = leaves.first_slot[info_set], leaves.first_slot[info_set + 1]
            value = learn(variant, tables, gradient, begin, end, kept, dropped)
            gradient[leaves.parent[info_set]] += value

    floats = types.float64[::1]

    @compiled(
        f"{players} players",
        types.void(
            numba.typeof(no_leaves(players)),
            numba.typeof(ALGORITHMS["cfr"]),
            numba.typeof(Tables(*np.zeros((4, 1)))),
            floats,
            floats,
            types.int64,
            types.int64,
        ),
    )
    def iterate(leaves, variant, tables, plan, gradient, done, count):
        for player in range(players):
            write_plan(leaves, player, tables.strategy, plan)
        for iteration in range(done + 1, done + count + 1):
            for player in range(players):
                update(leaves, variant, tables, player, plan, gradient, iteration)
                if variant.alternating:
                    write_plan(leaves, player, tables.strategy, plan)
            if not variant.alternating:
                for player in range(players):
                    write_plan(leaves, player, tables.strategy, plan)

    return iterate


class CFRSolver:
    """A member of the family at work on a game.

    Attributes:
        form: the game.
        algorithm: its name in :data:`ALGORITHMS`.
        iteration: how many iterations are done.
        tables: what they left behind.
    """

    def __init__(self, form: SequenceForm, algorithm: str = "dcfr") -> None:
        """Begin anew; ``ValueError`` if there is no such algorithm."""
        if algorithm not in ALGORITHMS:
            raise ValueError(
                f"no algorithm is called {algorithm!r}{suggestion(algorithm, list(ALGORITHMS))}"
            )
        self.form = form
        self.algorithm = algorithm
        self.iteration = 0
        tree = form.tree
        zeros = np.zeros((3, tree.num_slots))
        self.tables = Tables(zeros[0], uniform(tree), zeros[1], zeros[2])
        self._iterate = make_iterate(form.num_players)
        self._buffers = np.zeros((2, form.num_sequences))

    def run(self, iterations: int) -> None:
        """Do some more iterations; at least 0."""
        if iterations < 0:
            raise ValueError(f"iterations must be at least 0, not {iterations}")
        variant, plan, gradient = ALGORITHMS[self.algorithm], *self._buffers
        self._iterate(
            self.form.leaves, variant, self.tables, plan, gradient, self.iteration, iterations
        )
        self.iteration += iterations

    def approach(self, target: float, at_most: int, every: int = 50) -> Responses:
        """Iterate until the average strategy is near enough to an equilibrium.

        Args:
            target: the exploitability to stop at.
            at_most: the iterations to stop at, those that are done already included.
            every: how many iterations to do before it is looked at again.

        Returns:
            Best responses to the average strategy, which tell its exploitability.
        """
        responder = Responder(self.form)
        told = responder.responses(self.average_strategy())
        while told.exploitability > target and self.iteration < at_most:
            self.run(min(every, at_most - self.iteration))
            told = responder.responses(self.average_strategy())
        return told

    def average_strategy(self) -> Strategy:
        """The strategy that approaches an equilibrium, in a zero-sum game of two players."""
        return normalized(self.form.leaves.first_slot, self.tables.average)

    def current_strategy(self) -> Strategy:
        """The strategy of the next iteration."""
        return self.tables.strategy.copy()

    def save(self, path: Path, notes: Notes | None = None) -> None:
        """Write all that it takes to go on as if there had been no interruption.

        Args:
            path: where to.
            notes: plain JSON values to keep with it.
        """
        told = {
            "kind": _KIND,
            "game": self.form.tree.game,
            "digest": self.form.digest,
            "algorithm": self.algorithm,
            "iteration": self.iteration,
            "notes": dict(notes or {}),
        }
        write_arrays(path, told, self.tables._asdict())

    def load(self, path: Path) -> Notes:
        """Go on from a checkpoint, and give its notes.

        Raises:
            ValueError: it is none of this game and algorithm.
        """
        told, arrays = read_arrays(path)
        if told.get("kind") != _KIND:
            raise ValueError(f"{path} is no checkpoint of counterfactual regret minimization")
        if told["game"] != self.form.tree.game:
            raise ValueError(f"{path} is of {told['game']}, not of {self.form.tree.game}")
        if told["digest"] != self.form.digest:
            raise ValueError(f"{path} is of {told['game']} under other rules")
        if told["algorithm"] != self.algorithm:
            raise ValueError(f"{path} is of {told['algorithm']}, not of {self.algorithm}")
        self.iteration = told["iteration"]
        self.tables = Tables(**arrays)
        kept: Notes = told.get("notes", {})
        return kept
