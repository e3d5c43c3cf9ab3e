"""Who plays whom, in which seat, with which seed: the games of a tournament, in order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from cardcommons.rng import child_seed


@dataclass(frozen=True)
class Fixture:
    """A game to be played.

    Attributes:
        index: its place in the schedule, from 0.
        pair: which pair of games of its two agents it belongs to, or which deal of a solo game
            it is, from 0.
        agents: the specs, by seat.
        seed: of the game; depends only on the tournament's seed, ``pair`` and, if there are two,
            ``agents``.
        opening_seed: of the random opening; depends only on the tournament's seed and ``pair``,
            so that all agents meet the same openings.
    """

    index: int
    pair: int
    agents: tuple[str, ...]
    seed: int
    opening_seed: int


def round_robin(agents: Sequence[str], pairs: int, seed: int) -> list[Fixture]:
    """Every two agents play ``pairs`` pairs of games: one opening, once in each seat.

    All first pairs come before all second ones, so that every prefix of the schedule is about as
    fair to each agent as the whole.
    """
    return _numbered(
        seed,
        (
            (pair, seating, child_seed(seed, "game", *seating, pair))
            for pair in range(pairs)
            for one, other in combinations(agents, 2)
            for seating in ((one, other), (other, one))
        ),
    )


def every_deal(agents: Sequence[str], deals: int, seed: int) -> list[Fixture]:
    """Every agent plays every deal of a solo game once; all first deals come before all second.

    The games of a deal have one seed, which chance follows: agents that choose alike are dealt
    alike.
    """
    return _numbered(
        seed,
        (
            (deal, (agent,), child_seed(seed, "deal", deal))
            for deal in range(deals)
            for agent in agents
        ),
    )


def _numbered(seed: int, games: Iterable[tuple[int, tuple[str, ...], int]]) -> list[Fixture]:
    """The fixtures of games told by their pair, agents and seed."""
    return [
        Fixture(index, pair, agents, game_seed, child_seed(seed, "opening", pair))
        for index, (pair, agents, game_seed) in enumerate(games)
    ]
