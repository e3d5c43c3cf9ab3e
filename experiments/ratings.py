"""Elo ratings by maximum likelihood, with an advantage for the first seat.

Bradley and Terry, "Rank analysis of incomplete block designs", Biometrika 39, 1952, with the
order effect of Davidson and Beaver, Biometrics 33, 1977; a draw counts as half a win and half a
loss, as in Elo, "The rating of chessplayers", 1978.  The probability that A in the first seat
beats B is ``1 / (1 + 10 ** -((A - B + advantage) / 400))``.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

ELO = 400 / math.log(10)
"""Elo points in a unit of log-odds."""

VIRTUAL_DRAWS = 1.0
"""How many draws are added between every two agents that met, half of them in each seating."""

NORMAL_95 = 1.959963984540054
"""Half the width of a 95 % interval, in standard deviations of a normal distribution."""

_MOST_STEPS = 200
_UNBOUNDED = 20.0
"""Log-odds that no result asks for, unless it asks for infinity."""


@dataclass(frozen=True)
class Ratings:
    """Ratings of a number of agents; errors are half the width of a 95 % interval.

    Attributes:
        elo: shape ``(agents,)``, with mean 0.
        error: shape ``(agents,)``, of the rating against the mean of all.
        advantage: what sitting in the first seat is worth, in Elo.
        advantage_error: its error.
    """

    elo: Array
    error: Array
    advantage: float
    advantage_error: float


def rate(score: Array, games: Array, virtual_draws: float = VIRTUAL_DRAWS) -> Ratings:
    """The most likely ratings for the results of a tournament.

    The errors come from the curvature of the likelihood (the inverse of the observed information),
    virtual draws included, as if games were independent.  Pairs of games with one opening and
    seats swapped cancel out some of the chance in it, and a draw varies less than half a win:
    both make the true errors smaller than these.  Games that repeat one another would make them
    larger; openings at random are there to keep games apart.

    Args:
        score: shape ``(agents, agents)``; entry ``i, j`` is what ``i`` in the first seat scored
            against ``j`` in the second: wins and half the draws.
        games: of the same shape, how many games that took.
        virtual_draws: the prior; see :data:`VIRTUAL_DRAWS`.

    Raises:
        ValueError: without virtual draws, if a perfect score asks for an infinite rating.
    """
    first, second = np.nonzero(games + games.T)
    count = games[first, second] + virtual_draws / 2
    scored = score[first, second] + virtual_draws / 4
    design = _design(first, second, len(games))
    strength, information = _maximise(design, scored, count)
    if np.abs(strength).max(initial=0.0) > _UNBOUNDED:
        raise ValueError("a perfect score has no finite rating without virtual draws")
    error = ELO * NORMAL_95 * np.sqrt(np.diag(np.linalg.pinv(information, hermitian=True)))
    return Ratings(
        elo=ELO * strength[:-1],
        error=error[:-1],
        advantage=ELO * float(strength[-1]),
        advantage_error=float(error[-1]),
    )


def _design(first: npt.NDArray[np.intp], second: npt.NDArray[np.intp], agents: int) -> Array:
    """What the log-odds of each seating are made of: one agent, less the other, and the seat."""
    design = np.zeros((first.size, agents + 1))
    seating = np.arange(first.size)
    design[seating, first] += 1
    design[seating, second] -= 1
    design[:, -1] = 1
    return design


def _maximise(design: Array, scored: Array, count: Array) -> tuple[Array, Array]:
    """Newton's method: the most likely strengths and the information there.

    Only differences of ratings matter; the pseudo-inverse keeps their mean at 0.  A step is cut
    to one unit of log-odds, beyond which the curvature says little.
    """
    strength = np.zeros(design.shape[1])
    for _ in range(_MOST_STEPS):
        expected = 1 / (1 + np.exp(-design @ strength))
        information = (design.T * (count * expected * (1 - expected))) @ design
        gradient = design.T @ (scored - count * expected)
        step = np.linalg.pinv(information, hermitian=True) @ gradient
        strength += step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-12:
            break
    return strength, information
