"""Games of Gluons, played by the fast engine and its slow twin at once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from cardcommons import Game, State, load
from cardcommons.games.gluons import text
from cardcommons.state import make_verb
from tests.twins.gluons import ACTIVATION, CHANCE, PLANNING, TERMINAL, Twin
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
        return load("gluons", **dict(self.params))

    def twin(self) -> Twin:
        """The slow engine's start."""
        return Twin.start(**dict(self.params))

    @property
    def players(self) -> range:
        """Everybody who plays."""
        return range(self.twin().parameters.players)

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.params) or "default"


DEFAULT = Variant()
REEMITTING = Variant.of(reemission=True)
OPEN = Variant.of(face_up=True, reemission=True, utility="points")
SHORT = Variant.of(copies=1, hand=3, max_rounds=2)
NARROW = Variant.of(
    reemission=True, hand=2, max_rounds=3, pairs="RG-GR-RB", sides="12-13-21-31", utility="points"
)
THREE = Variant.of(players=3)
THREE_REEMITTING = Variant.of(players=3, reemission=True, utility="points")
CROWDED = Variant.of(players=3, hand=1, pairs="RG-GB-BR", sides="12-21-23", max_rounds=3)
THREE_PAIRS = Variant.of(
    players=3, face_up=True, hand=2, copies=1, pairs="RG-RB-GR-GB", sides="12-13-21-23-31"
)
FOUR = Variant.of(players=4)
FOUR_REEMITTING = Variant.of(players=4, reemission=True, copies=1, utility="points")
FOUR_FULL = Variant.of(players=4, hand=2, pairs="RB-BR-BG", sides="12-21-23-32", max_rounds=2)
VARIANTS = (
    *(DEFAULT, REEMITTING, OPEN, SHORT, NARROW, THREE, THREE_REEMITTING, CROWDED, THREE_PAIRS),
    *(FOUR, FOUR_REEMITTING, FOUR_FULL),
)

TINY = Variant.of(copies=1, hand=1, max_rounds=1)
HIDING = Variant.of(copies=1, hand=2, max_rounds=1, sides="12-21-23-32", pairs="RG-GR")
"""Face-down plays in a game of 78 989 histories."""


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

    @property
    def players(self) -> range:
        """Everybody who plays."""
        return range(self.twin.parameters.players)

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
        assert [state.string_to_action(told) for told in texts] == ids
        assert drawing_chances(state) == twin.chance()
        self._check_what_lies()

    def _check_what_lies(self) -> None:
        told, twin = self.state.fields(), self.twin
        assert told["quarks"] == quarks(twin)
        assert told["areas"] == lying(twin)
        assert told["hands"] == ["-".join(hand) or "-" for hand in twin.hands]
        assert told["decks"] == ["-".join(deck) or "-" for deck in twin.decks]
        assert told["points"] == [twin.points(player) for player in self.players]
        assert told["first_player"] == twin.first
        assert told["tokens"] == tokens(twin)
        if twin.player >= 0:
            assert f" round {twin.round}{' final' * twin.is_final} first " in told["position"]


def quarks(twin: Twin) -> list[str]:
    """The colours on the vertices 1, 2, 3 of each nucleon."""
    return [
        "".join(twin.quarks[name + vertex] for vertex in "123") for name in twin.parameters.nucleons
    ]


def lying(twin: Twin) -> dict[str, str]:
    """What lies on the areas in use, as the fast engine tells it."""
    told = {area: f"#/{owner}" for area, owner in twin.blockers.items()}
    for area, gluon in twin.areas.items():
        face_up = f"{gluon.pair}/{gluon.owner}"
        told[area] = face_up if gluon.face_up else f"[{face_up}]"
    return told


def tokens(twin: Twin) -> str:
    """Who holds the tokens taken, lowest first, with a bar behind those locked.

    The fast engine keeps tokens until the round is over, and locks while gluons are played.
    """
    if twin.phase not in (PLANNING, ACTIVATION) or not twin.tokens:
        return "-"
    held = "".join(map(str, twin.order))
    locked = len(twin.locked) if twin.phase == PLANNING else 0
    assert sorted(twin.tokens)[:locked] == [*range(1, locked + 1)]
    return held[:locked] + "|" * (0 < locked < len(held)) + held[locked:]


def drawing_chances(state: State) -> dict[str, Fraction]:
    """The fast engine's outcomes of a draw with their exact chances; none if there is no draw."""
    weights = state.chance_weights()
    total = sum(weight for _, weight in weights)
    return {state.action_to_string(pair): Fraction(weight, total) for pair, weight in weights}


def info_key(state: State, player: int) -> int:
    """What stands for a player's knowledge."""
    return int(make_verb(state.game.rules, "info_key")(state.words, player))


def view_key(state: State, player: int, hand: bool) -> int:
    """What stands for a player's view of the table, with or without the own hand."""
    return int(make_verb(state.game.rules, "view_key")(state.words, player, hand))


def cards(word: Any, player: int) -> tuple[str, ...]:
    """A hand or a deck of HANDS or DECKS, as the twin has it."""
    told = text.listed(text.counts(word, player))
    return () if told == "-" else tuple(told.split("-"))


Policy = Callable[[Twin, str], float]
"""The weight with which a random game takes a legal action of a state."""


def _fits(twin: Twin, action: str) -> bool:
    """Whether a gluon that is played or activated is valid as the quarks lie."""
    area = action[1:4] if action[0] == "!" else action[3:]
    pair = twin.areas[area].pair if action[0] == "!" else action[:2]
    return pair == twin.emitting(area) + twin.receiving(area)


def _uniform(twin: Twin, action: str) -> float:
    return 1.0


def _unsparing(twin: Twin, action: str) -> float:
    """Passes only if nothing else is legal."""
    return 1e-9 if action == "pass" else 1.0


def _saving(twin: Twin, action: str) -> float:
    """One gluon a round, so that hands stay full and decks last."""
    return {"pass": 1000.0, "?": 0.02}.get(action if action == "pass" else action[2:3], 1.0)


def _hiding(twin: Twin, action: str) -> float:
    return 30.0 if action[2:3] == "?" else 0.2 if action == "pass" else 1.0


def _scoring(twin: Twin, action: str) -> float:
    """Plays what is valid as the quarks lie, and activates it."""
    if action == "pass" or action[:5] == "block":
        return 1.0
    return 30.0 if _fits(twin, action) else 1.0


def _reemitting(twin: Twin, action: str) -> float:
    """Plays gluons whose colour alone fits, keeps some cards, and reemits."""
    if action == "pass":
        return 3.0
    if action[0] == "!":
        return 30.0 if "+" in action else 1.0
    if action[2:3] in ("@", "?") and action[0] == twin.emitting(action[3:]):
        return 20.0 if action[1] != twin.receiving(action[3:]) else 1.0
    return 1.0


def _uneven(twin: Twin, action: str) -> float:
    """The higher a player's number, the sooner they pass; nobody wants points."""
    if action == "pass":
        return (0.001, 5.0, 50.0, 500.0)[twin.turn]
    return 1.0 if action[:5] == "block" else 0.02 if _fits(twin, action) else 1.0


def _in_turn(twin: Twin, action: str) -> float:
    """All play once and then pass one after the other, mostly."""
    return 8.0 if action == "pass" else 1.0


POLICIES: dict[str, Policy] = {
    "uniform": _uniform,
    "unsparing": _unsparing,
    "saving": _saving,
    "hiding": _hiding,
    "scoring": _scoring,
    "reemitting": _reemitting,
    "in turn": _in_turn,
    "uneven": _uneven,
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
    length = draw(st.integers(0, variant.game().rules.max_length))
    return random_pair(variant, policy, draw(st.integers(0, 2**32)), length)


def whole_tree(pair: Pair) -> Iterator[Pair]:
    """All histories from here on, parents before children."""
    yield pair
    for action in at_random(pair.twin):
        yield from whole_tree(pair.played([action]))


def played_round(pair: Pair, plays: Sequence[str], draws: Sequence[str] = ("",) * 4) -> Pair:
    """The pair after one round more: each plays some gluons and passes, and draws some cards.

    Args:
        pair: where a round begins; itself unchanged.
        plays: for each player the gluons, as ``RG@A12 GB?A13``.
        draws: for each player the cards of the recharge, as ``RG GB``.

    The lowest free areas are blocked, and the lowest gluons activated first, without reemission.
    """
    now, left = pair.copy(), [told.split() for told in plays]
    coming, number = [told.split() for told in draws], pair.twin.round
    while not now.is_over and (now.twin.round == number or now.twin.player == CHANCE):
        twin = now.twin
        if twin.player == CHANCE:
            now.play(f"draw:{coming[twin.drawer].pop(0)}")
        elif twin.phase == PLANNING:
            now.play(left[twin.turn].pop(0) if left[twin.turn] else "pass")
        else:
            now.play(twin.legal()[0])
    assert not any(left)
    assert not any(coming)
    return now
