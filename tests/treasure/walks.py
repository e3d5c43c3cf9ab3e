"""Games of Treasure, played by the fast engine and its slow twin at once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from cardcommons import Game, State, load
from cardcommons.state import make_verb
from tests.twins.treasure import CHANCE, RANKS, TERMINAL, Event, Twin
from tests.twins.trees import at_random


class Variant(NamedTuple):
    """A set of parameters, as far as they are not the defaults; hashable."""

    params: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, **params: Any) -> "Variant":
        """The variant with these parameters."""
        return cls(tuple(params.items()))

    def game(self) -> Game:
        """The fast engine's game."""
        return load("treasure", **dict(self.params))

    def twin(self) -> Twin:
        """The slow engine's start."""
        return Twin.start(**dict(self.params))

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.params) or "default"


DEFAULT = Variant()
NARROW = Variant.of(rows=2, columns=1, ranks=2, copies=2, hand=2)
LOW = Variant.of(rows=3, columns=2, ranks=4, hand=3)
SHORT_DECK = Variant.of(rows=4, columns=3, ranks=6, copies=1, hand=2, utility="margin")
NO_TREASURE = Variant.of(columns=4, copies=1, treasure=False)
FLAT = Variant.of(rows=2, ranks=9, hand=1, utility="margin")
TIED = Variant.of(rows=3, ranks=1)
WIDE = Variant.of(rows=4, treasure=False, utility="margin")
VARIANTS = (DEFAULT, NARROW, LOW, SHORT_DECK, NO_TREASURE, FLAT, TIED, WIDE)
"""Decks of 27, 5, 9, 7, 13, 19, 3 and 26 cards."""

TINY = (
    Variant.of(rows=2, columns=1, ranks=2, copies=1, treasure=False, hand=1),
    Variant.of(rows=2, columns=1, ranks=1, copies=2, hand=2),
    Variant.of(rows=2, columns=2, ranks=1, copies=2, treasure=False, hand=2),
    Variant.of(rows=2, columns=2, ranks=2, copies=1, hand=1),
    Variant.of(rows=2, columns=1, ranks=1, copies=2, hand=3),
    Variant.of(rows=2, columns=1, ranks=2, copies=1, hand=2),
)
"""Games of at most 20 000 histories, to be walked through completely."""


@dataclass
class Pair:
    """One history in both engines."""

    state: State
    twin: Twin

    @classmethod
    def start(cls, variant: Variant) -> "Pair":
        """The start of a game in both engines."""
        return cls(State(variant.game()), variant.twin())

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.twin.player == TERMINAL

    def copy(self) -> "Pair":
        """An independent copy."""
        return Pair(self.state.copy(), self.twin)

    def play(self, action: str) -> None:
        """Play one action, or draw a card, in both engines."""
        self.state.apply(action)
        self.twin = self.twin.apply(action)

    def played(self, actions: Iterable[str]) -> "Pair":
        """The pair after some actions more; itself unchanged."""
        after = self.copy()
        for action in actions:
            after.play(action)
        return after

    def check(self) -> None:
        """Assert that the engines tell the same, and that actions have well-formed ids."""
        state, twin = self.state, self.twin
        assert state.player == twin.player
        assert tuple(state.returns()) == twin.returns()
        ids = state.legal_actions()
        assert ids == sorted(set(ids))
        texts = [state.action_to_string(action) for action in ids]
        assert sorted(texts) == sorted(at_random(twin)), state.position
        assert [state.string_to_action(text) for text in texts] == ids
        assert drawing_chances(state) == twin.chance()
        self._check_cards()

    def _check_cards(self) -> None:
        told, twin = self.state.fields(), self.twin
        tops = {cell: pile[-1] for cell, pile in twin.piles.items()}
        assert told["board"] == {cell: top.rank + "rb"[top.owner] for cell, top in tops.items()}
        assert told["hands"] == ["".join(hand) or "-" for hand in twin.hands]
        assert told["points"] == [twin.points(player) for player in (0, 1)]


def drawing_chances(state: State) -> dict[str, Fraction]:
    """The fast engine's outcomes of a draw with their exact chances; none if there is no draw."""
    weights = state.chance_weights()
    total = sum(weight for _, weight in weights)
    return {state.action_to_string(rank): Fraction(weight, total) for rank, weight in weights}


def info_key(state: State, player: int) -> int:
    """What stands for a player's knowledge."""
    return int(make_verb(state.game.rules, "info_key")(state.words, player))


def view_key(state: State, player: int, hand: bool) -> int:
    """What stands for a player's view of the table, with or without the own hand."""
    return int(make_verb(state.game.rules, "view_key")(state.words, player, hand))


Policy = Callable[[Twin, str], float]
"""The weight with which a random game takes a legal action of a state."""


def _is_discard(action: str) -> bool:
    return action.startswith("-")


def _uniform(twin: Twin, action: str) -> float:
    return 1.0


def _playing(twin: Twin, action: str) -> float:
    return 0.001 if _is_discard(action) else 1.0


def _discarding_first(twin: Twin, action: str) -> float:
    """Few first cards are played early, and some never."""
    owing = sum(twin.owes_first)
    return (1.0, 20.0, 100.0)[owing] if _is_discard(action) else 1.0


def _racing(twin: Twin, action: str) -> float:
    """Player 0 goes for the other home row in column e, which player 1 waits for."""
    if twin.turn == 1 and twin.owes_first[1]:
        waits = _is_discard(action) == (twin.top("e" + twin.parameters.home(1)) is None)
        return 30.0 if waits else 0.1
    if _is_discard(action) or twin.turn == 1:
        return 0.1
    climbs = action[2] == "e" and twin.top(action[2:]) is None
    return (100.0 if climbs else 1.0) / (1 + RANKS.index(action[0]))


def _refusing(twin: Twin, action: str) -> float:
    return 1.0 if _is_discard(action) else 1e-9


def _covering(twin: Twin, action: str) -> float:
    if _is_discard(action):
        return 0.02
    return 20.0 if twin.top(action[2:]) else 1.0


def _cutting(twin: Twin, action: str) -> float:
    """Covers the other player's cards, those near their home row above all."""
    if _is_discard(action):
        return 0.02
    top = twin.top(action[2:])
    return 30.0 if top is not None and top.owner != twin.turn else 0.5


def _expanding(twin: Twin, action: str) -> float:
    if _is_discard(action):
        return 0.02
    far = abs(int(action[3]) - int(twin.parameters.home(twin.turn)))
    return (30.0 if action[2] not in twin.columns_in_play else 1.0) * (1 + 4 * far)


def _treasuring(twin: Twin, action: str) -> float:
    """Plays Treasures, and keeps the 2s for covering them."""
    if _is_discard(action):
        return 0.05
    top = twin.top(action[2:])
    if top is not None and top.rank == "$":
        return 50.0
    return 20.0 if action[0] == "$" else 0.2 if action[0] == "2" else 1.0


POLICIES: dict[str, Policy] = {
    "uniform": _uniform,
    "playing": _playing,
    "discarding first": _discarding_first,
    "racing": _racing,
    "refusing": _refusing,
    "covering": _covering,
    "cutting": _cutting,
    "expanding": _expanding,
    "treasuring": _treasuring,
}


def choose(twin: Twin, policy: Policy, rng: Random) -> str:
    """Draw a legal action, or a card."""
    if twin.player == CHANCE:
        chances = twin.chance()
        return rng.choices([*chances], [float(chance) for chance in chances.values()])[0]
    legal = twin.legal()
    return rng.choices(legal, [policy(twin, action) for action in legal])[0]


def walk(pair: Pair, policy: Policy, rng: Random) -> Iterator[tuple[Pair, str]]:
    """Play a pair to the end of its game; yields it before each action, with that action."""
    while not pair.is_over:
        action = choose(pair.twin, policy, rng)
        yield pair, action
        pair.play(action)


def random_pair(variant: Variant, policy: str, seed: object, length: int) -> Pair:
    """A history of at most so many actions, draws included."""
    pair, rng = Pair.start(variant), Random(str(seed))
    for _ in range(length):
        if pair.is_over:
            break
        pair.play(choose(pair.twin, POLICIES[policy], rng))
    return pair


@st.composite
def pairs(draw: st.DrawFn, variants: tuple[Variant, ...] = VARIANTS) -> Pair:
    """Histories: some way into a random game."""
    variant = draw(st.sampled_from(variants))
    policy = draw(st.sampled_from(sorted(POLICIES)))
    length = draw(st.integers(0, 2 * variant.game().max_decisions))
    return random_pair(variant, policy, draw(st.integers(0, 2**32)), length)


def whole_tree(pair: Pair) -> Iterator[Pair]:
    """All histories from here on, parents before children."""
    yield pair
    for action in at_random(pair.twin):
        yield from whole_tree(pair.played([action]))


def public_part(events: Iterable[Event]) -> tuple[Event, ...]:
    """The plays and discards."""
    return tuple(event for event in events if not event.is_draw)


def conserved(twin: Twin, player: int) -> list[str]:
    """All cards that a player has drawn or has still to draw: always the whole deck."""
    shown = [
        event.action.lstrip("-")[0] for event in public_part(twin.events) if event.player == player
    ]
    cards = [*shown, *twin.hands[player], *twin.decks[player]]
    return sorted(cards, key=RANKS.index)
