"""A position of a game as Python callers see it: for scripts, notebooks, matches and tests.

Searches work on words inside compiled code; this is the door to single positions.
"""

from functools import cache
from operator import index
from types import FunctionType
from typing import Any, Self

import numpy as np

from cardcommons.compiled import compiled
from cardcommons.treaty import CHANCE, TERMINAL, Game, Kernel, Rules, Words

_SIGNATURES = {
    "to_move": "int64(uint64[::1])",
    "legal": "int64(uint64[::1], int64[::1])",
    "apply": "void(uint64[::1], int64)",
    "payoff": "float64(uint64[::1], int64)",
    "state_key": "uint64(uint64[::1])",
    "estimate": "float64(uint64[::1], int64)",
    "chance": "int64(uint64[::1], int64[::1], int64[::1])",
    "info_key": "uint64(uint64[::1], int64)",
    "view_key": "uint64(uint64[::1], int64, boolean)",
    "resample": "void(uint64[::1], int64, uint64[::1])",
    "hidden_actions": "int64(uint64[::1], int64, int64[::1])",
}


@cache
def make_verb(rules: Rules, verb: str) -> Kernel:
    """A kernel of a game, compiled so that Python can call it."""
    kernel = getattr(rules, verb)
    # A function of its own: the kernel must stay a plain one for the algorithms that call it.
    twin = FunctionType(kernel.__code__, kernel.__globals__, verb, None, kernel.__closure__)
    return compiled(rules.name, _SIGNATURES[verb])(twin)


class State:
    """A mutable position of a :class:`~cardcommons.treaty.Game`.

    Attributes:
        game: the game.
        words: the state as the treaty has it; pass it to searches, copy it to keep it.
    """

    __slots__ = ("game", "words")

    def __init__(self, game: Game, words: Words | None = None) -> None:
        self.game = game
        self.words: Words = np.array(game.start if words is None else words, dtype=np.uint64)
        if self.words.shape != game.start.shape:
            raise ValueError(
                f"a state of {game.spec} has {game.start.size} words, not {self.words.shape}"
            )

    @classmethod
    def from_string(cls, game: Game, position: str) -> Self:
        """The state that a position string tells; ``ValueError`` says why one is refused."""
        return cls(game, game.text.parse(position))

    def copy(self) -> Self:
        """An independent copy."""
        return type(self)(self.game, self.words)

    @property
    def player(self) -> int:
        """Who is to move: a player, ``CHANCE`` or ``TERMINAL``."""
        return int(make_verb(self.game.rules, "to_move")(self.words))

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.player == TERMINAL

    @property
    def is_chance(self) -> bool:
        """Whether a card is to be drawn."""
        return self.player == CHANCE

    def legal_actions(self) -> list[int]:
        """Ascending ids of the legal actions, or of the possible outcomes at a chance node."""
        if self.is_chance:
            return [action for action, _ in self.chance_weights()]
        out = np.empty(self.game.rules.max_legal, dtype=np.int64)
        count = make_verb(self.game.rules, "legal")(self.words, out)
        return [int(action) for action in out[:count]]

    def chance_weights(self) -> list[tuple[int, int]]:
        """Outcomes with integer weights at a chance node; empty elsewhere."""
        if not self.is_chance:
            return []
        out, weight = np.empty((2, self.game.rules.max_legal), dtype=np.int64)
        count = make_verb(self.game.rules, "chance")(self.words, out, weight)
        return [(int(a), int(w)) for a, w in zip(out[:count], weight[:count], strict=True)]

    def apply(self, action: int | str) -> None:
        """Play a legal action, or a possible outcome, given by id or notation.

        Raises:
            ValueError: the action is not legal here; the state is unchanged.
        """
        legal = self.legal_actions()
        if not legal:
            raise ValueError(f"{action!r} can't be played: the game is over")
        wanted = self.string_to_action(action) if isinstance(action, str) else index(action)
        if wanted not in legal:
            raise ValueError(self._refusal(action, legal))
        make_verb(self.game.rules, "apply")(self.words, wanted)

    def _refusal(self, action: int | str, legal: list[int]) -> str:
        options = " ".join(self.action_to_string(a) for a in legal)
        return f"{action!r} is not legal in {self.position}; legal: {options}"

    def returns(self) -> list[float]:
        """The utility of each player at the end of the game; zeros before."""
        players = range(self.game.rules.num_players)
        if not self.is_terminal:
            return [0.0 for _ in players]
        payoff = make_verb(self.game.rules, "payoff")
        return [float(payoff(self.words, player)) for player in players]

    def estimate(self, player: int) -> float:
        """The game's quick guess at the utility of ``player``."""
        if not 0 <= index(player) < self.game.rules.num_players:
            raise ValueError(f"{self.game.spec} has no player {player}")
        return float(make_verb(self.game.rules, "estimate")(self.words, player))

    def state_key(self) -> int:
        """The transposition key: equal for states with the same future."""
        return int(make_verb(self.game.rules, "state_key")(self.words))

    def action_to_string(self, action: int) -> str:
        """The notation of an action of the player to move."""
        return self.game.text.action_to_string(self.player, action)

    def string_to_action(self, text: str) -> int:
        """The id of an action of the player to move; ``ValueError`` if it does not parse."""
        return self.game.text.string_to_action(self.player, text)

    @property
    def position(self) -> str:
        """The position on one line, in the game's notation."""
        return self.game.text.position(self.words)

    def fields(self) -> dict[str, Any]:
        """The position as plain JSON values."""
        return self.game.text.fields(self.words)

    def __str__(self) -> str:
        return f"{self.position}\n{self.game.text.board(self.words)}"

    def __repr__(self) -> str:
        return f"<State of {self.game.spec}: {self.position}>"

    def _repr_svg_(self) -> str:
        return self.game.text.svg(self.words)


def root_words(game: Game, state: State | None) -> Words:
    """The words to begin with: of ``state``, or of the start of ``game`` if there is none.

    Raises:
        ValueError: the state is of a game with other rules.
    """
    if state is None:
        return State(game).words
    if state.game.rules != game.rules:
        raise ValueError(f"a state of {game.spec} is needed, not one of {state.game.spec}")
    return state.words
