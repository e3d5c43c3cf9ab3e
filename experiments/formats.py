"""How a tournament is played and judged.

Two players meet in pairs of games; one plays deals; three or more play deals in rotation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from cardcommons import Game
from experiments import deal_standings, pair_standings, rotation_standings
from experiments.record import GameRecord
from experiments.schedule import Fixture, every_deal, every_rotation, round_robin
from experiments.table import Standings


@dataclass(frozen=True)
class Format:
    """A form of tournament.

    Attributes:
        unit: what the option ``pairs`` counts.
        fewest_agents: that it can be played with.
        opening: how many actions at random begin each game unless told otherwise.
        schedule: ``(agents, pairs, seed) -> fixtures``.
        standings: ``(agents, records) -> standings``.
    """

    unit: str
    fewest_agents: int
    opening: int
    schedule: Callable[[Sequence[str], int, int], list[Fixture]]
    standings: Callable[[Sequence[str], Sequence[GameRecord]], Standings]


PAIRS = Format("pairs", 2, 2, round_robin, pair_standings.standings)
DEALS = Format("deals", 1, 0, every_deal, deal_standings.standings)


def rotations(players: int) -> Format:
    """The form for three players or more."""
    return Format("deals", 2, 0, partial(every_rotation, players), rotation_standings.standings)


_MOST = 1_000_000
"""Pairs, or deals: a schedule is held in memory."""


def format_of(game: Game) -> Format:
    """The form of tournament that a game is played in."""
    players = game.rules.num_players
    return {1: DEALS, 2: PAIRS}.get(players) or rotations(players)


def check_field(game: Game, agents: Sequence[str], pairs: int) -> None:
    """Raise ``ValueError`` unless the agents can play a tournament of so many pairs, or deals."""
    form = format_of(game)
    if len(agents) < form.fewest_agents:
        needed = "1 agent" if form.fewest_agents == 1 else f"{form.fewest_agents} agents"
        raise ValueError(f"a tournament needs at least {needed}, not {len(agents)}")
    for spec in agents:
        if agents.count(spec) > 1:
            raise ValueError(f"agent {spec!r} is listed more than once")
    if pairs < 1:
        raise ValueError(f"{form.unit} must be at least 1, not {pairs}")
    if pairs > _MOST:
        raise ValueError(f"{form.unit} must be at most {_MOST:,}, not {pairs:,}")
