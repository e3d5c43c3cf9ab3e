"""Who plays whom, in which seat, with which seed: the games of a tournament, in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from cardcommons import Game
from cardcommons.rng import child_seed


@dataclass(frozen=True)
class Fixture:
    """A game to be played.

    Attributes:
        index: its place in the schedule, from 0.
        pair: which pair of games of its two agents it belongs to, from 0.
        agents: the specs, by seat.
        seed: of the game; depends only on the tournament's seed, ``agents`` and ``pair``.
        opening_seed: of the random opening; depends only on the tournament's seed and ``pair``,
            so that all agents meet the same openings.
    """

    index: int
    pair: int
    agents: tuple[str, ...]
    seed: int
    opening_seed: int


def check_field(game: Game, agents: Sequence[str], pairs: int) -> None:
    """Raise ``ValueError`` unless the agents can meet in pairs of games."""
    if game.rules.num_players != 2:
        raise ValueError(
            f"tournaments are for games of 2 players, and {game.name} has {game.rules.num_players}"
        )
    if len(agents) < 2:
        raise ValueError(f"a tournament needs at least 2 agents, not {len(agents)}")
    for spec in agents:
        if agents.count(spec) > 1:
            raise ValueError(f"agent {spec!r} is listed more than once")
    if pairs < 1:
        raise ValueError(f"pairs must be at least 1, not {pairs}")


def round_robin(agents: Sequence[str], pairs: int, seed: int) -> list[Fixture]:
    """Every two agents play ``pairs`` pairs of games: one opening, once in each seat.

    All first pairs come before all second ones, so that every prefix of the schedule is about as
    fair to each agent as the whole.
    """
    seatings = [
        (pair, seating)
        for pair in range(pairs)
        for one, other in combinations(agents, 2)
        for seating in ((one, other), (other, one))
    ]
    return [
        Fixture(
            index=index,
            pair=pair,
            agents=seating,
            seed=child_seed(seed, "game", *seating, pair),
            opening_seed=child_seed(seed, "opening", pair),
        )
        for index, (pair, seating) in enumerate(seatings)
    ]
