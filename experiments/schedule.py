"""Who plays whom, in which seat, with which seed: the games of a tournament, in order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, permutations

from cardcommons.rng import child_seed


@dataclass(frozen=True)
class Fixture:
    """A game to be played.

    Attributes:
        index: its place in the schedule, from 0.
        pair: which pair of games of its two agents it belongs to, or in other numbers which deal
            it is of, from 0.
        agents: the specs, by seat.
        seed: of the game, which chance follows; depends only on the tournament's seed and
            ``pair``, so that all agents are dealt alike.
        opening_seed: of the random opening; depends only on the tournament's seed and ``pair``,
            so that all agents meet the same openings.
    """

    index: int
    pair: int
    agents: tuple[str, ...]
    seed: int
    opening_seed: int


def round_robin(agents: Sequence[str], pairs: int, seed: int) -> list[Fixture]:
    """Every two agents play ``pairs`` pairs of games: one opening and deal, once in each seat.

    All first pairs come before all second ones, so that every prefix of the schedule is about as
    fair to each agent as the whole.
    """
    return _numbered(
        seed,
        (
            (pair, seating)
            for pair in range(pairs)
            for one, other in combinations(agents, 2)
            for seating in ((one, other), (other, one))
        ),
    )


def every_deal(agents: Sequence[str], deals: int, seed: int) -> list[Fixture]:
    """Every agent plays every deal of a solo game once; all first deals come before all second."""
    return _numbered(
        seed,
        ((deal, (agent,)) for deal in range(deals) for agent in agents),
    )


def every_rotation(players: int, agents: Sequence[str], deals: int, seed: int) -> list[Fixture]:
    """Every group of agents plays every deal in all rotations of its seats.

    A group is any ``players`` different agents; if there are fewer, any mix of them that fills
    the seats, but for those of a single agent.  So agents in the same number of seats meet the
    same company.

    In turning, every agent has each seat but keeps its neighbours; the order in which the others
    follow the first one changes from deal to deal, and in ``(players - 1)!`` deals every order has
    its turn.  Where the same agents would come to sit in the same seats again, as with two pairs
    that alternate, they play once.
    """
    orders = list(permutations(range(1, players)))
    return _numbered(
        seed,
        (
            (deal, seating)
            for deal in range(deals)
            for group in _groups(agents, players)
            for seating in _rotations([group[i] for i in (0, *orders[deal % len(orders)])])
        ),
    )


def _groups(agents: Sequence[str], players: int) -> list[tuple[str, ...]]:
    """Who sits down together."""
    if len(agents) >= players:
        return list(combinations(agents, players))
    mixes = combinations_with_replacement(agents, players)
    return [group for group in mixes if len(set(group)) > 1]


def _rotations(seating: list[str]) -> list[tuple[str, ...]]:
    """The different seatings that turning gives."""
    turned = (seating[turn:] + seating[:turn] for turn in range(len(seating)))
    return list(dict.fromkeys(map(tuple, turned)))


def _numbered(seed: int, games: Iterable[tuple[int, tuple[str, ...]]]) -> list[Fixture]:
    """The fixtures of games told by their pair and agents."""
    return [
        Fixture(
            index,
            pair,
            agents,
            child_seed(seed, "deal", pair),
            child_seed(seed, "opening", pair),
        )
        for index, (pair, agents) in enumerate(games)
    ]
