"""The outcome of a tournament of games for three players or more: utilities, places, ratings."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.measures import Mean, mean_of, speeds
from experiments.plackett_luce import Outcome, Ratings, rate
from experiments.ratings import VIRTUAL_DRAWS, Array
from experiments.record import GameRecord
from experiments.table import Sheet, speed_cell

_PLACES = ("1st", "2nd", "3rd")

_NOTE = (
    "utility: the mean, with errors over deals.  place: the mean; 1st and so on: the share of "
    "games in that place; seats that tie share their places.  rating: Plackett-Luce, on the scale "
    "of Elo."
)
_SEATS_NOTE = "The mean utility in each seat; every deal was played in all rotations."


@dataclass(frozen=True)
class Row:
    """How one agent did.

    Attributes:
        rank: from 1, by mean utility.
        agent: its spec.
        games: how many it played; one in which it had two seats counts twice, as it does below.
        utility: the mean over deals of what it won per game of a deal.
        rating: its Plackett-Luce rating on the scale of Elo; the mean of all is 0.
        rating_error: half the width of the 95 % interval; ``None`` for a single deal.
        place: the mean place, from 1; seats that tie share the mean of their places.
        places: the share of its games in each place; seats that tie share those too.
        seat_utilities: the mean utility in each seat.
        moves_per_second: decisions per second of its own time; ``None`` if it made none.
    """

    rank: int
    agent: str
    games: int
    utility: Mean
    rating: float
    rating_error: float | None
    place: float
    places: list[float]
    seat_utilities: list[float]
    moves_per_second: float | None

    def cells(self) -> list[str]:
        """The row as text."""
        error = "–" if self.rating_error is None else f"{self.rating_error:.0f}"
        return [
            str(self.rank),
            self.agent,
            str(self.games),
            str(self.utility),
            f"{round(self.rating):+d} ± {error}",
            f"{self.place:.2f}",
            *[f"{share:.1%}" for share in self.places],
            speed_cell(self.moves_per_second),
        ]


@dataclass(frozen=True)
class RotationStandings:
    """The table.

    Attributes:
        rows: best first.
        games: how many were played.
        deals: of how many deals they were.
        seat_utilities: what each seat won, whoever sat there.
        virtual_draws: the prior of the ratings, in draws between every two agents.
    """

    rows: list[Row]
    games: int
    deals: int
    seat_utilities: list[Mean]
    virtual_draws: float

    def sheets(self) -> list[Sheet]:
        """The table as text, and one of the utilities by seat."""
        players = len(self.seat_utilities)
        places = [*_PLACES, *(f"{place}th" for place in range(4, players + 1))]
        heads = ["", "agent", "games", "utility ± 95 %", "rating ± 95 %", "place", *places]
        note = f"{self.games} games of {self.deals} deals.  {_NOTE}"
        by_seat = [
            [row.agent, *(f"{utility:+.3f}" for utility in row.seat_utilities)] for row in self.rows
        ]
        by_seat.append(["all ± 95 %", *map(str, self.seat_utilities)])
        seats = ["agent", *(f"seat {seat}" for seat in range(players))]
        return [
            Sheet([*heads, "moves/s"], [row.cells() for row in self.rows], note),
            Sheet(seats, by_seat, _SEATS_NOTE),
        ]

    def to_json(self) -> dict[str, Any]:
        """The table as plain JSON values, under the names of the attributes."""
        return asdict(self)


def standings(agents: Sequence[str], records: Sequence[GameRecord]) -> RotationStandings:
    """The table of a tournament; every agent has played every deal, and in every seat."""
    results = _Results(agents, records)
    ratings, pace = rate(len(agents), results.outcomes()), speeds(agents, records)
    order = sorted(range(len(agents)), key=lambda i: -results.utilities[i].mean)
    return RotationStandings(
        rows=[
            results.row(i, rank, ratings, pace[agents[i]]) for rank, i in enumerate(order, start=1)
        ],
        games=len(records),
        deals=results.deals,
        seat_utilities=results.seat_utilities(),
        virtual_draws=VIRTUAL_DRAWS,
    )


class _Results:
    """What a log says, a row a game and a column a seat.

    Attributes:
        deal: ``[games]``, which one was played.
        seated: ``[games, seats]``, the number of the agent.
        returns: ``[games, seats]``.
        better: ``[games, seats]``, how many seats won more.
        equal: ``[games, seats]``, how many won the same, this one included.
    """

    def __init__(self, agents: Sequence[str], records: Sequence[GameRecord]) -> None:
        self.agents = agents
        number = {spec: i for i, spec in enumerate(agents)}
        self.deal = np.array([record.pair for record in records])
        self.deals = int(self.deal.max()) + 1
        self.seated = np.array([[number[spec] for spec in record.agents] for record in records])
        self.returns = np.array([record.returns for record in records])
        others, own = self.returns[:, None, :], self.returns[:, :, None]
        self.better = (others > own).sum(axis=2)
        self.equal = (others == own).sum(axis=2)

    @cached_property
    def utilities(self) -> list[Mean]:
        """Of each agent, over deals."""
        return [self._over_deals(self.seated == i) for i in range(len(self.agents))]

    def seat_utilities(self) -> list[Mean]:
        """Of each seat, over deals."""
        seats = np.arange(self.seated.shape[1])
        return [self._over_deals(np.broadcast_to(seats == i, self.seated.shape)) for i in seats]

    def _over_deals(self, mine: npt.NDArray[np.bool_]) -> Mean:
        """The mean over deals of a deal's mean return, where ``mine``: ``[games, seats]``."""
        total = np.bincount(self.deal, (self.returns * mine).sum(axis=1))
        return mean_of(total / np.bincount(self.deal, mine.sum(axis=1)))

    def outcomes(self) -> list[list[Outcome]]:
        """The outcomes of each deal's games."""
        deals: list[list[Outcome]] = [[] for _ in range(self.deals)]
        for deal, seated, better in zip(self.deal, self.seated, self.better, strict=True):
            deals[deal].append(
                tuple(tuple(sorted(seated[better == n].tolist())) for n in sorted(set(better)))
            )
        return deals

    def row(self, i: int, rank: int, ratings: Ratings, pace: float | None) -> Row:
        """The table's row of an agent."""
        mine = self.seated == i
        places = self._places()[mine].mean(axis=0)
        return Row(
            rank=rank,
            agent=self.agents[i],
            games=int(mine.sum()),
            utility=self.utilities[i],
            rating=float(ratings.elo[i]),
            rating_error=None if ratings.error is None else float(ratings.error[i]),
            place=float(places @ np.arange(1, places.size + 1)),
            places=places.tolist(),
            seat_utilities=[
                float(self.returns[mine[:, seat], seat].mean()) for seat in range(places.size)
            ],
            moves_per_second=pace,
        )

    def _places(self) -> Array:
        """The share that each seat has in each place, ``[games, seats, places]``."""
        above, tied = self.better[:, :, None], self.equal[:, :, None]
        place = np.arange(self.seated.shape[1])
        shares: Array = ((above <= place) & (place < above + tied)) / tied
        return shares
