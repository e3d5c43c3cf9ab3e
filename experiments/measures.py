"""What the tables of several formats show: means with their errors, and speeds."""

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.ratings import NORMAL_95, Array
from experiments.record import GameRecord


@dataclass(frozen=True)
class Mean:
    """A mean over deals.

    Attributes:
        mean: the mean.
        error: half the width of the 95 % interval: 1.96 standard errors, the variance estimated
            without bias; ``None`` for a single deal.
    """

    mean: float
    error: float | None

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {'–' if self.error is None else f'{self.error:.3f}'}"


def mean_of(values: Array) -> Mean:
    """The mean of independent values, shape ``(deals,)``, at least one of them."""
    if values.size == 1:
        return Mean(float(values[0]), None)
    return Mean(float(values.mean()), float(NORMAL_95 * values.std(ddof=1) / values.size**0.5))


def speeds(agents: Sequence[str], records: Sequence[GameRecord]) -> dict[str, float | None]:
    """Decisions per second of each agent's own time; ``None`` if that was none."""
    moves, seconds = dict.fromkeys(agents, 0), dict.fromkeys(agents, 0.0)
    for record in records:
        for spec, made, took in zip(record.agents, record.moves, record.seconds, strict=True):
            moves[spec] += made
            seconds[spec] += took
    return {spec: moves[spec] / seconds[spec] if seconds[spec] else None for spec in agents}
