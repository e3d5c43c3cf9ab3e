"""The outcome of a tournament of two-player games: Elo, and a row an agent."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from experiments.measures import mean_of, speeds
from experiments.ratings import VIRTUAL_DRAWS, Array, rate
from experiments.record import GameRecord
from experiments.table import Sheet, speed_cell

_HEADS = ("", "agent", "Elo ± 95 %", "games", "score ± 95 %", "w/d/l", "1st", "2nd", "moves/s")


@dataclass(frozen=True)
class Row:
    """How one agent did.

    Attributes:
        rank: from 1, by rating.
        agent: its spec.
        games: how many it played.
        score: wins and half the draws, per game.
        score_error: half the width of the 95 % interval, by the scores of deals, each with all of
            its games; ``None`` for a single deal.
        wins: games in which its return was the higher one.
        draws: games in which the returns were equal.
        losses: the other games.
        elo: its rating; the mean of all is 0.
        elo_error: half the width of the 95 % interval.
        first_score: ``score`` in the first seat.
        second_score: ``score`` in the second seat.
        moves_per_second: decisions per second of its own time; ``None`` if it made none.
    """

    rank: int
    agent: str
    games: int
    score: float
    score_error: float | None
    wins: int
    draws: int
    losses: int
    elo: float
    elo_error: float
    first_score: float
    second_score: float
    moves_per_second: float | None

    def cells(self) -> list[str]:
        """The row as text."""
        return [
            str(self.rank),
            self.agent,
            f"{round(self.elo):+d} ± {self.elo_error:.0f}",
            str(self.games),
            f"{self.score:.1%} ± {'–' if self.score_error is None else f'{self.score_error:.1%}'}",
            f"{self.wins}/{self.draws}/{self.losses}",
            f"{self.first_score:.1%}",
            f"{self.second_score:.1%}",
            speed_cell(self.moves_per_second),
        ]


@dataclass(frozen=True)
class PairStandings:
    """The table.

    Attributes:
        rows: best first.
        games: how many were played.
        first_seat_score: what the first seat scored, per game.
        first_seat_elo: what sitting there is worth, the strength of the agents apart.
        first_seat_elo_error: half the width of the 95 % interval.
        virtual_draws: the prior of the ratings, in draws between every two agents.
    """

    rows: list[Row]
    games: int
    first_seat_score: float
    first_seat_elo: float
    first_seat_elo_error: float
    virtual_draws: float

    def sheets(self) -> list[Sheet]:
        """The table as text."""
        note = (
            "1st, 2nd: the score in that seat.  "
            f"The first seat scored {self.first_seat_score:.1%} in {self.games} games; its "
            f"advantage is {round(self.first_seat_elo):+d} ± {self.first_seat_elo_error:.0f} Elo."
        )
        return [Sheet(_HEADS, [row.cells() for row in self.rows], note)]

    def to_json(self) -> dict[str, Any]:
        """The table as plain JSON values, under the names of the attributes."""
        return asdict(self)


def standings(agents: Sequence[str], records: Sequence[GameRecord]) -> PairStandings:
    """The table of a tournament of two-player games; every agent has played in both seats."""
    results = _Results(agents, records)
    ratings = rate(results.score, results.games)
    order = sorted(range(len(agents)), key=lambda i: -ratings.elo[i])
    return PairStandings(
        rows=[
            results.row(i, rank, float(ratings.elo[i]), float(ratings.error[i]))
            for rank, i in enumerate(order, start=1)
        ],
        games=len(records),
        first_seat_score=float(results.score.sum() / len(records)),
        first_seat_elo=ratings.advantage,
        first_seat_elo_error=ratings.advantage_error,
        virtual_draws=VIRTUAL_DRAWS,
    )


class _Results:
    """Counts over a log; matrices have the first seat's agent in the row."""

    def __init__(self, agents: Sequence[str], records: Sequence[GameRecord]) -> None:
        self.agents = agents
        place = {spec: i for i, spec in enumerate(agents)}
        self.wins, self.draws, self.games = (np.zeros((len(agents),) * 2) for _ in range(3))
        self.speeds = speeds(agents, records)
        self.deals: list[dict[int, list[float]]] = [{} for _ in agents]
        for record in records:
            seats = [place[spec] for spec in record.agents]
            first, second = record.returns
            self.games[*seats] += 1
            self.wins[*seats] += first > second
            self.draws[*seats] += first == second
            scored = (np.sign(first - second) + 1) / 2
            for seat, points in zip(seats, (scored, 1 - scored), strict=True):
                self.deals[seat].setdefault(record.pair, []).append(float(points))

    @property
    def score(self) -> Array:
        return self.wins + self.draws / 2

    def row(self, i: int, rank: int, elo: float, elo_error: float) -> Row:
        as_first, as_second = self.games[i].sum(), self.games[:, i].sum()
        score_first = self.score[i].sum()
        score_second = (self.games - self.score)[:, i].sum()
        wins = self.wins[i].sum() + (self.games - self.wins - self.draws)[:, i].sum()
        draws = self.draws[i].sum() + self.draws[:, i].sum()
        games = as_first + as_second
        return Row(
            rank=rank,
            agent=self.agents[i],
            games=int(games),
            score=float((score_first + score_second) / games),
            score_error=mean_of(np.array([*map(np.mean, self.deals[i].values())])).error,
            wins=int(wins),
            draws=int(draws),
            losses=int(games - wins - draws),
            elo=elo,
            elo_error=elo_error,
            first_score=float(score_first / as_first),
            second_score=float(score_second / as_second),
            moves_per_second=self.speeds[self.agents[i]],
        )
