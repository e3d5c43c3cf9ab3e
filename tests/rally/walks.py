"""Rallies driven in the fast engine and its slow twin at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from cardcommons import Game, State, load
from tests.twins.rally import CHANCE, GEARS, TERMINAL, Twin

BONUS_HUNT = "/".join(["1-0-0-4"] * 70)
"""Stages in which nothing need ever be lost, and one in three sectors can give a bonus."""

SETS: dict[str, dict[str, Any]] = {
    "default": {},
    "default for the win": {"utility": "win"},
    "many Jokers": {"jokers": 30, "loss_utility": -20.5},
    "many Jokers for the win": {"jokers": 30, "utility": "win"},
    "one stage": {"stages": "2-3-5-2", "jokers": 1, "loss_utility": 3.0},
    "five stages": {"stages": "1-2-1-1/2-0-0-1/0-1-1-0/1-1-1-4/1-0-1-1", "jokers": 3},
    "no piles": {"stages": "1-0-0-1/12-12-16-0"},
    "one card in the piles": {"stages": "11-12-16-0/12-12-15-0", "jokers": 9},
    "a Queen and no piles": {"stages": "12-12-16-1", "utility": "win"},
    "no Boosts": {"stages": "2-2-2-0/1-2-0-0/2-0-0-0", "jokers": 0},
    "no Jokers": {"stages": "6-2-0-1/3-1-0-1", "jokers": 0},
    "bonuses over and over": {"stages": BONUS_HUNT, "jokers": 30},
    "bonuses without a Joker": {"stages": BONUS_HUNT[:79], "jokers": 0, "utility": "win"},
}


def rally(params: dict[str, Any]) -> Game:
    """The fast engine's game."""
    return load("rally", **params)


@dataclass
class Pair:
    """One history in both engines."""

    state: State
    twin: Twin

    @classmethod
    def start(cls, **params: Any) -> "Pair":
        """The start of a rally in both engines."""
        return cls(State(rally(params)), Twin.start(**params))

    @property
    def is_over(self) -> bool:
        """Whether the rally is over."""
        return self.twin.player == TERMINAL

    def play(self, action: str) -> None:
        """Play one action, or turn a card up, in both engines."""
        self.state.apply(action)
        self.twin = self.twin.apply(action)

    def played(self, *actions: str) -> "Pair":
        """The pair after some actions more; itself unchanged."""
        after = Pair(self.state.copy(), self.twin)
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
        assert sorted(texts) == sorted(twin.chance() or twin.legal()), state.position
        assert [state.string_to_action(text) for text in texts] == ids
        assert chances(state) == twin.chance(), state.position
        self._check_fields()

    def _check_fields(self) -> None:
        told, twin = self.state.fields(), self.twin
        assert told["result"] == result_word(twin)
        assert (told["bonuses"], told["penalties"]) == (twin.bonuses, twin.penalties)
        assert told["stage"] == twin.stage
        if twin.ending:
            return
        assert told["jokers"] == twin.parameters.jokers - twin.jokers_down
        assert (told["queens"], told["jacks"]) == (twin.queens, twin.jacks)
        assert told["hidden_sectors"] == [*twin.hidden_counts]
        assert told["unseen"] == [*twin.unseen_counts]
        assert told["piles"] == [*twin.piles.values()]
        sector = (told["sector"], told["total"], told["cards_on_it"])
        assert sector == (twin.number, twin.total, min(twin.cards, 2))


def chances(state: State) -> dict[str, Fraction]:
    """The fast engine's outcomes with their exact chances; none where nothing is turned up."""
    weights = state.chance_weights()
    total = sum(weight for _, weight in weights)
    return {state.action_to_string(a): Fraction(weight, total) for a, weight in weights}


def result_word(twin: Twin) -> str:
    """The word of the rules for how a rally ended; empty while it goes on."""
    return {None: "", "pack": "middle"}.get(twin.outcome, str(twin.outcome))


Policy = Callable[[Twin, str], float]
"""The weight with which a random driver takes a legal action of a state."""


def _uniform(twin: Twin, action: str) -> float:
    return 1.0


def careful(twin: Twin) -> str:
    """Drive with care: a deterministic rule of thumb, which never busts if it can brake."""
    missing = twin.number - twin.total
    if missing < 0:
        return "brake"
    if missing == 1 and twin.queens:
        return "boost"
    if missing <= 1 + (twin.penalties < 8):
        return "next"
    fitting = [gear for gear, values in GEARS.items() if min(values) <= missing]
    return next((gear for gear in reversed(fitting) if twin.piles[gear]), "next")


def _careful(twin: Twin, action: str) -> float:
    return 50.0 if action == careful(twin) else 0.1 if action == "bust" else 1.0


def _gear_happy(twin: Twin, action: str) -> float:
    return 30.0 if action in GEARS else 1.0


def _braking(twin: Twin, action: str) -> float:
    """Drives into high totals that the Jacks can just pay for."""
    if action in ("brake", "3rd"):
        return 40.0
    return 5.0 if action == "2nd" else 0.5


def _boosting(twin: Twin, action: str) -> float:
    return 30.0 if action == "boost" else 1.0


def _hunting(twin: Twin, action: str) -> float:
    """Wants bonuses, and no penalties."""
    if twin.total == 0 and twin.cards == 0:
        wanted = "boost" if twin.number == 1 else "1st"
    else:
        wanted = "boost" if twin.number > twin.total else "brake"
    return 1000.0 if action == wanted else 1e-3


def _brinkmanship(twin: Twin, action: str) -> float:
    """Goes to exactly 15 penalties, and then for a bust."""
    missing = twin.number - twin.total
    if action == "next":
        return 50.0 if twin.penalties + missing <= 15 else 0.01
    if action == "bust":
        return 5.0 if twin.penalties == 15 else 0.01
    if twin.penalties == 15:
        return 1.0 if action == "2nd" else 0.1
    return 1.0


POLICIES: dict[str, Policy] = {
    "uniform": _uniform,
    "careful": _careful,
    "gear-happy": _gear_happy,
    "braking": _braking,
    "boosting": _boosting,
    "hunting": _hunting,
    "brinkmanship": _brinkmanship,
}


def choose(twin: Twin, policy: Policy, rng: Random) -> str:
    """Draw a legal action, or a card."""
    if twin.player == CHANCE:
        outcomes = twin.chance()
        return rng.choices([*outcomes], [float(chance) for chance in outcomes.values()])[0]
    legal = twin.legal()
    return rng.choices(legal, [policy(twin, action) for action in legal])[0]


def walk(pair: Pair, policy: str, rng: Random) -> Iterator[tuple[Pair, str]]:
    """Play a pair to the end of its rally; yields it before each action, with that action."""
    while not pair.is_over:
        action = choose(pair.twin, POLICIES[policy], rng)
        yield pair, action
        pair.play(action)


def random_walks(name: str, games: int, seed: object = 1) -> Iterator[tuple[Pair, str]]:
    """The steps of random rallies with a set of parameters, the policies taken by turns."""
    policies = sorted(POLICIES)
    for i in range(games):
        rng = Random(f"{seed} {name} {i}")
        yield from walk(Pair.start(**SETS[name]), policies[i % len(policies)], rng)
