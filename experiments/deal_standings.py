"""The outcome of a tournament of a solo game: utilities, and differences on the same deals."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from experiments.measures import Mean, mean_of, speeds
from experiments.ratings import Array
from experiments.record import GameRecord
from experiments.table import Sheet, speed_cell


@dataclass(frozen=True)
class Row:
    """How one agent did.

    Attributes:
        rank: from 1, by mean utility.
        agent: its spec.
        deals: how many it played.
        utility: what it scored per deal.
        results: how many deals ended in what way, in the game's words; the ways of all agents,
            those of the highest mean utility first.
        moves_per_second: decisions per second of its own time; ``None`` if it made none.
    """

    rank: int
    agent: str
    deals: int
    utility: Mean
    results: dict[str, int]
    moves_per_second: float | None

    def cells(self) -> list[str]:
        """The row as text."""
        shares = [f"{count / self.deals:.1%}" for count in self.results.values()]
        cells = [str(self.rank), self.agent, str(self.deals), str(self.utility), *shares]
        return [*cells, speed_cell(self.moves_per_second)]


@dataclass(frozen=True)
class Difference:
    """What one agent scored more than another, deal by deal.

    Attributes:
        agent: the one ranked higher.
        less: the other one.
        utility: the difference of their utilities.
    """

    agent: str
    less: str
    utility: Mean


@dataclass(frozen=True)
class DealStandings:
    """The table.

    Attributes:
        rows: best first.
        deals: how many deals each agent played.
        differences: between every two agents.
    """

    rows: list[Row]
    deals: int
    differences: list[Difference]

    def sheets(self) -> list[Sheet]:
        """The table as text, and one of the differences if there are any."""
        heads = ["", "agent", "deals", "utility ± 95 %", *self.rows[0].results, "moves/s"]
        note = f"All agents played the same {self.deals} deals."
        sheets = [Sheet(heads, [row.cells() for row in self.rows], note)]
        if self.differences:
            pairs = [[one.agent, one.less, str(one.utility)] for one in self.differences]
            note = "Paired: the mean over deals of the first agent's utility less the other's."
            sheets.append(Sheet(["agent", "less", "difference ± 95 %"], pairs, note))
        return sheets

    def to_json(self) -> dict[str, Any]:
        """The table as plain JSON values, under the names of the attributes."""
        return asdict(self)


def standings(agents: Sequence[str], records: Sequence[GameRecord]) -> DealStandings:
    """The table of a tournament of a solo game; every agent has played every deal once."""
    played = {spec: [record for record in records if record.agents == [spec]] for spec in agents}
    utility = {spec: _utilities(games) for spec, games in played.items()}
    order = sorted(agents, key=lambda spec: -float(utility[spec].mean()))
    known, pace = _results(records), speeds(agents, records)
    return DealStandings(
        rows=[
            _row(rank, spec, played[spec], utility[spec], known, pace[spec])
            for rank, spec in enumerate(order, start=1)
        ],
        deals=len(records) // len(agents),
        differences=[
            Difference(one, other, mean_of(utility[one] - utility[other]))
            for one, other in combinations(order, 2)
        ],
    )


def _utilities(games: Sequence[GameRecord]) -> Array:
    """One agent's utilities by deal."""
    return np.array([game.returns[0] for game in sorted(games, key=lambda game: game.pair)])


def _results(records: Sequence[GameRecord]) -> list[str]:
    """The ways in which games ended, as the table orders them."""
    utilities: dict[str, list[float]] = {}
    for record in records:
        if record.result:
            utilities.setdefault(record.result, []).append(record.returns[0])
    return sorted(utilities, key=lambda one: (float(np.mean(utilities[one])), one), reverse=True)


def _row(
    rank: int,
    spec: str,
    games: Sequence[GameRecord],
    utility: Array,
    known: Sequence[str],
    pace: float | None,
) -> Row:
    ended = Counter(game.result for game in games)
    return Row(
        rank=rank,
        agent=spec,
        deals=len(games),
        utility=mean_of(utility),
        results={result: ended[result] for result in known},
        moves_per_second=pace,
    )
