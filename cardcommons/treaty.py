"""The treaty between games and the algorithms that play them.

A **state** is a one-dimensional ``uint64`` array; what its words mean is the game's own affair,
drawn at the head of its ``rules.py``.  A game offers :class:`Rules`: plain functions under
``@register_jitable`` that work on such an array and on buffers owned by the caller.  An algorithm
is a factory that closes over those functions (see :mod:`cardcommons.compiled`) and knows nothing
else of the game.  :class:`Game` adds the static facts and the parts that speak with people.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, Protocol

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from cardcommons.spec import write_options

CHANCE = -1
"""``to_move`` of a state in which a card is drawn; OpenSpiel's value."""

TERMINAL = -4
"""``to_move`` of a finished game; OpenSpiel's value."""

Words = npt.NDArray[np.uint64]
"""A state: the words of one position, shape ``(num_words,)``."""

Kernel = Callable[..., Any]
"""A jittable function; its arguments are given by its verb in :class:`Rules`."""


@register_jitable
def no_chance(s, out, weight):
    """The ``chance`` of a game without chance: no outcomes."""
    return 0


@register_jitable
def nothing_hidden(s, player, rng):
    """The ``resample`` of a game in which everything is public: nothing changes."""


@register_jitable
def always_settled(s):
    """The ``settled`` of a game that can be judged at any time."""
    return True


@register_jitable
def copy_words(target, source, num_words):
    """Make the state ``target`` the same as ``source``, as compiled code has to: word by word.

    Pass ``Rules.num_words`` as a constant of the closure, so that the loop is unrolled.
    """
    for i in range(num_words):
        target[i] = source[i]


VALUE_WORK = 256
"""How many numbers the buffer of a learned value holds."""


class Rules(NamedTuple):
    """What an algorithm may ask of a game: sizes, bounds and kernels.  Hashable.

    In the kernels' signatures ``s`` is a state (``uint64[num_words]``), ``out`` an
    ``int64[max_legal]`` buffer, ``a`` an action id, ``player`` a player's number and ``rng`` a
    generator of :mod:`cardcommons.rng`.
    """

    name: str
    num_players: int
    num_words: int
    num_actions: int
    """Ids of player actions are ``0 .. num_actions - 1``."""
    max_legal: int
    """The most that ``legal`` or ``chance`` ever write."""
    max_length: int
    """The most actions, chance included, from the start to the end."""
    min_utility: float
    max_utility: float
    zero_sum: bool

    to_move: Kernel
    """``(s) -> int``: a player, :data:`CHANCE` or :data:`TERMINAL`."""
    legal: Kernel
    """``(s, out) -> n``: ascending ids of the legal actions of the player to move."""
    apply: Kernel
    """``(s, a)``: play ``a``, legal or a possible outcome, in place."""
    payoff: Kernel
    """``(s, player) -> float``: utility of a finished game."""
    state_key: Kernel
    """``(s) -> uint64``: equal exactly when the futures are the same, up to hash collision."""
    estimate: Kernel
    """``(s, player) -> float``: a quick guess at the payoff; strictly inside the bounds where two
    players oppose each other, since there the bounds mean a proven end.
    """
    chance: Kernel
    """``(s, out, weight) -> n``: ascending outcome ids and their positive integer weights, with a
    sum below ``2**31``.
    """
    info_key: Kernel
    """``(s, player) -> uint64``: equal exactly when the player can't tell the states apart."""
    resample: Kernel
    """``(s, player, rng)``: redraw, in place, all that the player doesn't know."""
    view_key: Kernel | None = None
    """``(s, player, hand) -> uint64``: equal exactly when the player sees the same position, with
    their hand if ``hand`` is true, or else without; however it came about.

    Who has the same view and the same hand has the same legal actions.  None if ``info_key`` says
    no more than that.
    """
    hidden_actions: Kernel | None = None
    """``(s, player, out) -> n``: by which actions, as the state has it, the player came to have on
    the table what others can't see there.

    The others know that there were as many, and what they looked like.  None if nothing is hidden
    but in hands and decks.
    """
    value: Kernel | None = None
    """``(s, player, weights, work) -> float``: like ``estimate``, by learned ``Game.weights``.

    ``work`` is a buffer, ``float32[VALUE_WORK]``.
    """
    settled: Kernel = always_settled
    """``(s) -> bool``: whether ``estimate`` speaks of this state well: no turn is half done."""

    @property
    def opposed(self) -> bool:
        """Whether one number is a state's value to all: to one player, or two in a zero-sum game.

        Only then can a search prove values, or back up estimates by minimax.
        """
        return self.num_players == 1 or (self.num_players == 2 and self.zero_sum)


class Scratch(NamedTuple):
    """Buffers for compiled code, which can't allocate its own."""

    words: npt.NDArray[np.uint64]
    """``[rows, num_words]``: a state a row."""
    moves: npt.NDArray[np.int64]
    """``[rows, max_legal]``: for ``legal`` and ``chance``."""
    weight: npt.NDArray[np.int64]
    """``[max_legal]``: for ``chance``."""


def make_scratch(rules: Rules, rows: int = 1) -> Scratch:
    """Buffers for ``rows`` states at once."""
    return Scratch(
        words=np.zeros((rows, rules.num_words), dtype=np.uint64),
        moves=np.zeros((rows, rules.max_legal), dtype=np.int64),
        weight=np.zeros(rules.max_legal, dtype=np.int64),
    )


SCRATCH = numba.typeof(
    Scratch(
        words=np.zeros((1, 1), dtype=np.uint64),
        moves=np.zeros((1, 1), dtype=np.int64),
        weight=np.zeros(1, dtype=np.int64),
    )
)
"""The numba type of a :class:`Scratch`, for signatures."""


class Text(Protocol):
    """Strings and drawings of a game; never compiled.  ``words`` is a state."""

    def action_to_string(self, player: int, action: int) -> str:
        """The notation of an action; ``player`` is :data:`CHANCE` for an outcome."""

    def string_to_action(self, player: int, text: str) -> int:
        """The inverse; raises ``ValueError`` for a text that is no action of ``player``."""

    def position(self, words: Words) -> str:
        """One line that tells the position."""

    def parse(self, position: str) -> Words:
        """The state that a position string tells; raises ``ValueError`` if it is refused."""

    def board(self, words: Words, viewer: int | None = None) -> str:
        """Several lines for a terminal; what ``viewer`` can't see is left out."""

    def svg(self, words: Words, viewer: int | None = None) -> str:
        """A drawing, as an SVG document."""

    def fields(self, words: Words) -> dict[str, Any]:
        """The position as plain JSON values."""

    @property
    def story(self) -> Callable[[Words, Sequence[int]], str] | None:
        """``(words, actions) -> str``: a game's own record of what happened from ``words`` on."""


def require_bool(name: str, value: object) -> None:
    """Raise ``ValueError`` unless the parameter ``name`` is a bool."""
    if not isinstance(value, bool):
        raise ValueError(f"parameter {name!r} must be True or False, not {value!r}")


def require_string(name: str, value: object) -> None:
    """Raise ``ValueError`` unless the parameter ``name`` is a string."""
    if not isinstance(value, str):
        raise ValueError(f"parameter {name!r} must be a string, not {value!r}")


def require_range(name: str, value: object, least: int, most: int) -> None:
    """Raise ``ValueError`` unless the parameter ``name`` is a whole number within bounds."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(
            f"parameter {name!r} must be a whole number from {least} to {most}, not {value!r}"
        )


def require_number(name: str, value: object) -> None:
    """Raise ``ValueError`` unless the parameter ``name`` is a finite number."""
    real = isinstance(value, int | float) and not isinstance(value, bool)
    if not real or not abs(value) <= sys.float_info.max:  # type: ignore[arg-type]
        raise ValueError(f"parameter {name!r} must be a finite number, not {value!r}")


def require_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise ``ValueError`` unless the parameter ``name`` is one of the choices."""
    if value not in choices:
        raise ValueError(f"parameter {name!r} must be one of {', '.join(choices)}, not {value!r}")


class TensorSpec(NamedTuple):
    """One named block of an observation."""

    name: str
    shape: tuple[int, ...]
    private: bool = False
    """Whether only the observing player sees it."""


class Views(Protocol):
    """Who knows what, as arrays and strings."""

    @property
    def tensors(self) -> tuple[TensorSpec, ...]:
        """The blocks of an observation, in order."""

    def write(self, words: Words, player: int, into: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Fill the blocks named in ``into``, which hold zeros, with what ``player`` sees."""

    def string(self, words: Words, player: int, *, public: bool, private: bool) -> str:
        """The same in words, equal for two states exactly when the observations are."""


def speaking(module: ModuleType, parse: Callable[[str], Words]) -> Text:
    """The :class:`Text` of a game from the functions of its ``text.py``, able to be pickled."""
    return SimpleNamespace(
        action_to_string=module.action_to_string,
        string_to_action=module.string_to_action,
        position=module.position,
        parse=parse,
        board=module.board,
        svg=module.svg,
        fields=module.fields,
        story=getattr(module, "story", None),
    )


def seeing(module: ModuleType) -> Views:
    """The :class:`Views` of a game from its ``views.py``, able to be pickled."""
    return SimpleNamespace(tensors=module.tensors, write=module.write, string=module.string)


@dataclass(frozen=True, eq=False)
class Game:
    """One game with its parameters fixed: the static facts, and where its parts meet."""

    long_name: str
    params: Any
    """The frozen dataclass of the parameters, validated."""
    rules: Rules
    text: Text
    views: Views
    start: Words
    """The words of the initial state; read-only."""
    max_decisions: int
    """The most player decisions from the start to the end; OpenSpiel's ``max_game_length``."""
    weights: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    """What ``rules.value`` has learned; empty if nothing."""
    has_chance: bool = False
    has_hidden_information: bool = False
    max_chance_outcomes: int = 0
    """Above every outcome id, as OpenSpiel takes it."""
    max_chance_nodes: int = 0

    @property
    def name(self) -> str:
        """The short name, such as ``particles``."""
        return self.rules.name

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters by name, defaults included: plain JSON values."""
        return asdict(self.params)

    @property
    def spec(self) -> str:
        """The game as text: its name and the parameters that are not at their defaults."""
        listed = write_options(self.params)
        return f"{self.name}:{listed}" if listed else self.name

    def __repr__(self) -> str:
        return f"<Game {self.spec}>"


class Family(NamedTuple):
    """A game before its parameters are chosen: what the table of contents lists."""

    name: str
    params: type[Any]
    make: Callable[[Any], Game]
    players: tuple[int, int] | None = None
    """The fewest and the most that can play; as many as in the usual game if not given."""

    def player_range(self) -> tuple[int, int]:
        """The fewest and the most that can play."""
        usual = self.make(self.params()).rules.num_players
        return self.players or (usual, usual)
