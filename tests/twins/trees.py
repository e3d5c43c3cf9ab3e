"""Whole trees of histories, walked by a twin: for games small enough to be counted out."""

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol, Self, TypeVar

TERMINAL = -4  # the player number of a finished game


class Playable(Protocol):
    """What is asked of a twin."""

    @property
    def player(self) -> int: ...

    def legal(self) -> list[str]: ...

    def chance(self) -> dict[str, Fraction]: ...

    def apply(self, action: str) -> Self: ...

    def exact_returns(self) -> Sequence[Fraction]: ...

    def observations(self, player: int) -> tuple[str, ...]: ...

    def key(self) -> Hashable: ...


T = TypeVar("T", bound=Playable)


def at_random(twin: Playable) -> dict[str, Fraction]:
    """Return the probabilities of what happens next if players choose uniformly at random."""
    legal = twin.legal()
    return twin.chance() or {action: Fraction(1, len(legal)) for action in legal}


def histories(twin: T) -> Iterator[T]:
    """Walk through every history that starts here, parents before children."""
    yield twin
    for action in at_random(twin):
        yield from histories(twin.apply(action))


class Statistics(NamedTuple):
    """What is counted in a tree of histories."""

    histories: int  # nodes, the root, those of chance and the terminal ones included
    terminals: int
    value: Fraction  # player 0's expected return when all players choose uniformly at random


def count(twin: Playable) -> Statistics:
    """Count the histories that start here, each path for itself, and value random play."""
    return _count(twin, {})


def _count(twin: Playable, known: dict[Hashable, Statistics]) -> Statistics:
    """Count with what is known by key: states with equal keys have the same future."""
    key = twin.key()
    if key not in known:
        known[key] = _count_children(twin, known)
    return known[key]


def _count_children(twin: Playable, known: dict[Hashable, Statistics]) -> Statistics:
    if twin.player == TERMINAL:
        return Statistics(1, 1, twin.exact_returns()[0])
    histories, terminals, value = 1, 0, Fraction(0)
    for action, chance in at_random(twin).items():
        child = _count(twin.apply(action), known)
        histories += child.histories
        terminals += child.terminals
        value += chance * child.value
    return Statistics(histories, terminals, value)


def information_sets(twin: T, player: int) -> dict[tuple[str, ...], list[T]]:
    """Group the nodes from here on at which a player chooses by what the player has seen."""
    groups: dict[tuple[str, ...], list[T]] = {}
    for node in histories(twin):
        if node.player == player:
            groups.setdefault(node.observations(player), []).append(node)
    return groups
