"""Ratings for games of several players, by maximum likelihood in the Plackett-Luce model.

Luce, "Individual choice behavior", 1959; Plackett, "The analysis of permutations", Applied
Statistics 24, 1975.  Every agent has a strength; the first place goes to one of the seats with a
probability in proportion to its strength, the second place to one of the others likewise, and so
on.  The most likely strengths are found by the MM algorithm of Hunter, "MM algorithms for
generalized Bradley-Terry models", Annals of Statistics 32, 2004, which always climbs, or by
Newton's steps where those climb higher.

Seats that tie are taken to have an order that nobody saw: the probability of an outcome is that of
all orders that it leaves open.  So a tie tells nothing of those who tie, only of them against the
others; where there is but one winner, ratings are the odds of winning.  The order is weighed anew
by the strengths before each step, which makes it an EM algorithm (Dempster, Laird and Rubin,
Journal of the Royal Statistical Society B 39, 1977).

On the scale of Elo, an agent rated 400 points above another has ten times its strength: it is ten
times as likely to come out ahead of it, whoever else plays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, permutations, product

import numpy as np
import numpy.typing as npt

from experiments.ratings import ELO, NORMAL_95, VIRTUAL_DRAWS, Array

Outcome = tuple[tuple[int, ...], ...]
"""The agents of a game by place: those who tie in one group, an agent once for each seat."""

_MOST_STEPS = 1000
_SETTLED = 1e-10
"""A step in log-odds that is as good as none."""
_SINGULAR = 1e-12
"""Information, compared with the greatest, that is as good as none."""


@dataclass(frozen=True)
class Ratings:
    """Ratings of a number of agents.

    Attributes:
        elo: shape ``(agents,)``, with mean 0.
        error: shape ``(agents,)``, half the width of the 95 % interval of the rating against the
            mean of all; ``None`` for a single deal.
    """

    elo: Array
    error: Array | None


def rate(
    agents: int, deals: Sequence[Sequence[Outcome]], virtual_draws: float = VIRTUAL_DRAWS
) -> Ratings:
    """The most likely ratings for the outcomes of games.

    The games of a deal depend on one another, deals do not: the errors are those of the sandwich
    estimator with a cluster for each deal (Liang and Zeger, "Longitudinal data analysis using
    generalized linear models", Biometrika 73, 1986), the curvature of the likelihood on both
    sides of the scatter of what the deals ask for.

    Args:
        agents: how many there are; outcomes have their numbers, from 0.
        deals: the outcomes of the games of each deal.
        virtual_draws: the prior, above 0: how many games between every two agents that met are
            added, each half won and half lost.

    Raises:
        ValueError: no virtual draws, or an agent that met no other.
    """
    if not virtual_draws > 0:
        raise ValueError(f"virtual draws must be above 0, not {virtual_draws}")
    known = sorted(set(chain.from_iterable(deals)))
    duels = _duels(known)
    if idle := set(range(agents)) - set(chain.from_iterable(chain.from_iterable(duels))):
        raise ValueError(f"agent {min(idle)} has met no other")
    number = {outcome: i for i, outcome in enumerate(known)}
    played = [[number[outcome] for outcome in deal] for deal in deals]
    count = np.bincount(list(chain.from_iterable(played)), minlength=len(known))
    model = _Model(agents, [*known, *duels], [*count, *[virtual_draws / 2] * len(duels)])
    strength = model.most_likely()
    virtual = slice(len(known), None)
    error = _errors(model, strength, played, virtual) if len(deals) > 1 else None
    return Ratings(ELO * strength, error)


def _errors(
    model: "_Model", strength: Array, played: Sequence[Sequence[int]], virtual: slice
) -> Array:
    """The errors in Elo, with the numbers of the outcomes of each deal and of the virtual ones.

    A virtual result counts as a deal of its own, or agents who do the same in every deal would
    have no error at all.
    """
    scores = model.scores(strength)
    asked = np.array([scores[numbers].sum(axis=0) for numbers in played])
    scatter = asked.T @ asked * (len(played) / (len(played) - 1))
    scatter += (scores[virtual].T * model.count[virtual]) @ scores[virtual]
    inverse = _inverse(model.information(strength))
    error: Array = ELO * NORMAL_95 * np.sqrt(np.diag(inverse @ scatter @ inverse))
    return error


def _inverse(information: Array) -> Array:
    """The pseudo-inverse; only differences of strengths matter, so that their sum is left out."""
    centred = information - information.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    inverse: Array = np.linalg.pinv(centred, rcond=_SINGULAR, hermitian=True)
    return inverse


def _duels(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Both results of a game between two agents, for every two that met."""
    tables = {frozenset(chain.from_iterable(outcome)) for outcome in outcomes}
    met = {pair for table in tables for pair in permutations(sorted(table), 2)}
    return [((ahead,), (behind,)) for ahead, behind in sorted(met)]


def _orders(outcome: Outcome) -> list[tuple[int, ...]]:
    """What the first places may have looked like, down to where all that are left tie."""
    groups = [sorted(set(permutations(group))) for group in outcome[:-1]]
    return [tuple(chain.from_iterable(order)) for order in product(*groups)]


def _sums(index: npt.NDArray[np.intp], values: Array, size: int) -> Array:
    """The sum of the values under each index."""
    return np.bincount(index, values, minlength=size).astype(np.float64)


class _Model:
    """The likelihood of outcomes, taken apart: an outcome has orders, and an order has choices.

    Attributes:
        count: ``[outcomes]``, how often each of them occurred.
        outcome: ``[orders]``, the outcome that each order belongs to.
        order: ``[choices]``, the order that each choice belongs to.
        chosen: ``[choices]``, the agent that took the place.
        seats: ``[choices, agents]``, how many seats of each agent were left to choose from.
    """

    def __init__(self, agents: int, outcomes: Sequence[Outcome], count: Sequence[float]) -> None:
        self.count = np.array(count, dtype=np.float64)
        outcome: list[int] = []
        order: list[int] = []
        chosen: list[int] = []
        seats: list[npt.NDArray[np.intp]] = []
        for number, groups in enumerate(outcomes):
            for first_places in _orders(groups):
                left = np.bincount(list(chain.from_iterable(groups)), minlength=agents)
                for agent in first_places:
                    order.append(len(outcome))
                    chosen.append(agent)
                    seats.append(left.copy())
                    left[agent] -= 1
                outcome.append(number)
        self.outcome, self.order, self.chosen = (
            np.array(one, dtype=np.intp) for one in (outcome, order, chosen)
        )
        self.seats = np.array(seats, dtype=np.float64).reshape(-1, agents)

    def most_likely(self) -> Array:
        """The log-strengths of greatest likelihood, with mean 0."""
        strength = np.zeros(self.seats.shape[1])
        for _ in range(_MOST_STEPS):
            slope = self.count @ self.scores(strength)
            step = _inverse(self.information(strength)) @ slope
            if np.abs(step).max() < _SETTLED:
                break
            newton = strength + step / max(1.0, float(np.abs(step).max()))
            strength = max(self._mm(strength), newton, key=self._likelihood)
        return strength

    def _mm(self, strength: Array) -> Array:
        """The next log-strengths by Hunter's algorithm, with mean 0."""
        weight = (self.count[self.outcome] * self._share(strength))[self.order]
        due = (weight / (self.seats @ np.exp(strength))) @ self.seats
        better: Array = np.log(_sums(self.chosen, weight, strength.size) / due)
        better -= better.mean()
        return better

    def _likelihood(self, strength: Array) -> float:
        """The log-likelihood of all outcomes."""
        return float(self.count @ np.log(self._outcome_likelihood(strength)))

    def scores(self, strength: Array) -> Array:
        """The gradient of the log-likelihood of each outcome, ``[outcomes, agents]``."""
        scores = np.zeros((self.count.size, strength.size))
        share = self._share(strength)[:, None]
        np.add.at(scores, self.outcome, share * self._order_scores(strength))
        return scores

    def information(self, strength: Array) -> Array:
        """The negative Hessian of the log-likelihood of all outcomes, ``[agents, agents]``.

        That of the orders, less what is not known of them (Louis, "Finding the observed
        information matrix when using the EM algorithm", Journal of the Royal Statistical Society
        B 44, 1982).
        """
        chance = self._chance(strength)
        weight = self.count[self.outcome] * self._share(strength)
        choices = weight[self.order, None] * chance
        by_order, by_outcome = self._order_scores(strength), self.scores(strength)
        complete = np.diag(choices.sum(axis=0)) - choices.T @ chance
        unknown = (by_order.T * weight) @ by_order - (by_outcome.T * self.count) @ by_outcome
        return complete - unknown

    def _chance(self, strength: Array) -> Array:
        """How likely each agent was to be chosen, ``[choices, agents]``."""
        odds: Array = self.seats * np.exp(strength)
        odds /= odds.sum(axis=1, keepdims=True)
        return odds

    def _order_likelihood(self, strength: Array) -> Array:
        """The probability of each order, ``[orders]``."""
        chance = strength[self.chosen] - np.log(self.seats @ np.exp(strength))
        return np.exp(_sums(self.order, chance, self.outcome.size))

    def _outcome_likelihood(self, strength: Array) -> Array:
        """The probability of each outcome, ``[outcomes]``."""
        return _sums(self.outcome, self._order_likelihood(strength), self.count.size)

    def _share(self, strength: Array) -> Array:
        """The probability of each order, given its outcome: ``[orders]``."""
        whole = self._outcome_likelihood(strength)[self.outcome]
        return self._order_likelihood(strength) / whole

    def _order_scores(self, strength: Array) -> Array:
        """The gradient of the log-likelihood of each order, ``[orders, agents]``."""
        choices: Array = -self._chance(strength)
        choices[np.arange(self.chosen.size), self.chosen] += 1
        scores = np.zeros((self.outcome.size, strength.size))
        np.add.at(scores, self.order, choices)
        return scores
