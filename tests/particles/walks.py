"""Random games of Particles, played by the fast engine and its slow twin at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

from cardcommons import Game, State, load
from cardcommons.perft import perft
from tests.twins.particles import CELLS, DECKS, TERMINAL, Card, Pile, Twin, opposite


class Variant(NamedTuple):
    """One of the four ways to play."""

    name: str
    tutorial: bool
    torus: bool

    def game(self, position: str = "") -> Game:
        """The fast engine's game."""
        return load("particles", tutorial=self.tutorial, torus=self.torus, position=position)

    def twin(self, position: str = "") -> Twin:
        """The slow engine's state."""
        return Twin.start(self.tutorial, self.torus, position)


STANDARD = Variant("standard", tutorial=False, torus=False)
STANDARD_TORUS = Variant("standard-torus", tutorial=False, torus=True)
TUTORIAL = Variant("tutorial", tutorial=True, torus=False)
TUTORIAL_TORUS = Variant("tutorial-torus", tutorial=True, torus=True)
VARIANTS = (STANDARD, STANDARD_TORUS, TUTORIAL, TUTORIAL_TORUS)


@dataclass
class Pair:
    """One position in both engines."""

    state: State
    twin: Twin

    @classmethod
    def start(cls, variant: Variant, position: str = "") -> "Pair":
        """The start of a game, or the given position, in both engines."""
        return cls(State(variant.game(position)), variant.twin(position))

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.twin.player == TERMINAL

    @property
    def between_turns(self) -> bool:
        """Whether the position has a string of its own, which both engines read."""
        return not self.twin.choices and self.twin.passes < 2

    def copy(self) -> "Pair":
        """An independent copy."""
        return Pair(self.state.copy(), self.twin)

    def play(self, action: str) -> None:
        """Play one action in both engines."""
        self.state.apply(action)
        self.twin = self.twin.apply(action)

    def check(self) -> None:
        """Assert that the engines tell the same, and that actions have well-formed ids."""
        state, twin = self.state, self.twin
        assert state.position == twin.position()
        assert state.player == twin.player, state.position
        assert tuple(state.returns()) == twin.returns(), state.position
        ids = state.legal_actions()
        assert ids == sorted(set(ids)), state.position
        texts = [state.action_to_string(action) for action in ids]
        assert sorted(texts) == twin.legal(), state.position
        assert [state.string_to_action(text) for text in texts] == ids, state.position


Policy = Callable[[str], float]
"""The weight with which a random game takes a legal action."""


def _uniform(action: str) -> float:
    return 1.0


def _lasting(action: str) -> float:
    """Keeps the cards, and the game going."""
    return 0.02 if action == "pass" or "x" in action else 1.0


def _inverting(action: str) -> float:
    if action == "pass":
        return 0.02
    return 8.0 if "x" in action else 1.0


def _moving(action: str) -> float:
    """Seeks the abilities that change the field: threes and fives, with inverts between."""
    if action in ("pass", "decline"):
        return 0.02
    return (4.0 if action[0] in "35" else 1.0) * (3.0 if "x" in action else 1.0)


def _cornering(action: str) -> float:
    """Saves its fours for the corners."""
    if action == "pass" or "x" in action:
        return 0.05
    if action[0] == "4":
        return 10.0 if action[-2:] in ("a1", "a4", "d1", "d4") else 0.05
    return 1.0


POLICIES: dict[str, Policy] = {
    "uniform": _uniform,
    "lasting": _lasting,
    "inverting": _inverting,
    "moving": _moving,
    "cornering": _cornering,
}


def choose(twin: Twin, policy: Policy, rng: Random) -> str:
    """Draw a legal action."""
    legal = twin.legal()
    return rng.choices(legal, [policy(action) for action in legal])[0]


def walk(pair: Pair, policy: Policy, rng: Random) -> Iterator[tuple[Pair, str]]:
    """Play a pair to the end of its game; yields it before each action, with that action."""
    while not pair.is_over:
        action = choose(pair.twin, policy, rng)
        yield pair, action
        pair.play(action)


def is_late(pair: Pair) -> bool:
    """Whether so little can still happen that the twin can search to the end."""
    game = pair.state.game
    return all(perft(game, depth, pair.state) < 4000 for depth in range(1, 10))


def scattered(variant: Variant, rng: Random) -> str:
    """A position that no game need lead to: cards thrown on the field, held, or lost."""
    cards = [card for deck in DECKS for card in deck]
    rng.shuffle(cards)
    piles: dict[str, Pile] = {}
    for cell in rng.sample(CELLS, rng.randint(1, 12)):
        if cards:
            piles[cell] = _pile(cards, rng)
    kept = rng.random()
    held = [card for card in cards if rng.random() < kept]
    hands = (
        frozenset(card for card in held if card in DECKS[0]),
        frozenset(card for card in held if card in DECKS[1]),
    )
    passes = 0 if variant.tutorial else int(rng.random() < 0.2)
    turn = rng.randrange(2)
    return Twin(piles, hands, turn, passes, (), variant.tutorial, variant.torus).position()


def _pile(cards: list[Card], rng: Random) -> Pile:
    top = cards.pop()
    below = [card for card in cards if opposite(card, top)] if rng.random() < 0.3 else []
    if below:
        cards.remove(below[0])
    return Pile(top, below[0] if below else None, rng.random() < 0.2)


@st.composite
def pairs(draw: st.DrawFn, variants: tuple[Variant, ...] = VARIANTS) -> Pair:
    """Positions: some way into a random game, from the start or from a scattered position."""
    variant = draw(st.sampled_from(variants))
    rng = Random(draw(st.integers(0, 2**32)))
    position = scattered(variant, rng) if draw(st.booleans()) else ""
    policy = POLICIES[draw(st.sampled_from(sorted(POLICIES)))]
    pair = Pair.start(variant, position)
    for _ in range(draw(st.integers(0, 30))):
        if pair.is_over:
            break
        pair.play(choose(pair.twin, policy, rng))
    return pair


def turns(variants: tuple[Variant, ...] = VARIANTS) -> st.SearchStrategy[Pair]:
    """Positions between turns with something on the field."""
    return pairs(variants).filter(lambda pair: pair.between_turns and bool(pair.twin.piles))
