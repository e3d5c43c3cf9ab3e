"""Paired measurements: two things that do the same work, timed by turns in one run.

A machine's speed drifts; a ratio of two figures taken side by side does not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

Rate = Callable[[], float]
"""Does a piece of work and says how many units of it were done per second."""


@dataclass(frozen=True)
class Comparison:
    """How fast we are, and how fast somebody else is, on the same work.

    Attributes:
        name: what was measured.
        game: the game's spec.
        unit: of the rates, such as ``leaves/s``.
        ours: our median rate.
        rival: who the other is.
        theirs: the other's median rate.
        ratio: the median over the rounds of ours / theirs.
        target: the ratio to reach.
    """

    name: str
    game: str
    unit: str
    ours: float
    rival: str
    theirs: float
    ratio: float
    target: float


@dataclass(frozen=True)
class Duration:
    """How long something takes.

    Attributes:
        name: what was measured.
        game: the game's spec.
        seconds: the median.
        target: the most it may take.
    """

    name: str
    game: str
    seconds: float
    target: float


@dataclass(frozen=True)
class Promise:
    """Whether decisions take the time they are given.

    Attributes:
        name: the agent's spec.
        game: the game's spec.
        asked: seconds a decision.
        taken: the median of what decisions took, those that were proven before left out.
        longest: the longest of them.
        kept: the share of them that took what was asked, give or take ``margin``.
        margin: as a share of ``asked``.
    """

    name: str
    game: str
    asked: float
    taken: float
    longest: float
    kept: float
    margin: float


def compare(
    name: str,
    game: str,
    unit: str,
    *,
    ours: Rate,
    rival: str,
    theirs: Rate,
    target: float,
    rounds: int,
) -> Comparison:
    """Measure both by turns, ``rounds`` times, after one round that does not count."""
    pairs = [(ours(), theirs()) for _ in range(rounds + 1)][1:]
    return Comparison(
        name,
        game,
        unit,
        ours=median(our for our, _ in pairs),
        rival=rival,
        theirs=median(their for _, their in pairs),
        ratio=median(our / their for our, their in pairs),
        target=target,
    )
