"""What every agent is: a player that is told a position and answers with a decision."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from cardcommons import Game, State
from cardcommons.rng import make_rng
from cardcommons.spec import write_options


@dataclass(frozen=True)
class Candidate:
    """One action that a search looked at.

    Attributes:
        action: its id.
        value: what it is worth to the player to move, in utilities.
        visits: how many simulations went through it (0 where the search does not count so).
        bound: how to read ``value``: ``"mean"`` of samples, ``"exact"`` (proven to the end of
            the game), ``"searched"`` to the horizon, or ``"at most"`` or ``"at least"`` what a
            search to the horizon would find.
        principal_variation: the line that is expected after it, ``action`` first; empty if the
            search does not tell.
    """

    action: int
    value: float
    visits: int = 0
    bound: str = "searched"
    principal_variation: tuple[int, ...] = ()


@dataclass(frozen=True)
class Decision:
    """What an agent chose, and why.

    Attributes:
        action: the chosen action's id.
        value: what the agent expects for the player to move, or ``None`` if it has no opinion.
        principal_variation: the line it expects, ``action`` first.
        candidates: the actions it looked at, best first; empty if it does not compare.
        proven: whether ``value`` is exact: the game solved from here.
        work: figures of the search by name: ``nodes``, ``simulations``, ``depth``.
    """

    action: int
    value: float | None = None
    principal_variation: tuple[int, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    proven: bool = False
    work: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class NoOptions:
    """The options of an agent that has none."""


class Agent(ABC):
    """A player of one game, in any seat, native on the treaty.

    A match calls :meth:`restart` before a game, :meth:`decide` when it is the agent's turn, and
    :meth:`inform` after every action of the game: the agent's own, the others' and chance's.
    Between restarts with the same seed and the same calls, an agent without a time budget makes
    the same decisions.

    Attributes:
        name: what the agent is called in a spec.
        Options: the frozen dataclass of its options.
    """

    name: ClassVar[str]
    Options: ClassVar[type[Any]] = NoOptions

    def __init__(self, game: Game, options: Any = None) -> None:
        self.game = game
        self.options = self.Options() if options is None else options
        self.rng = make_rng(0)

    @property
    def spec(self) -> str:
        """The agent as text, such as ``mcts:sims=500``."""
        listed = write_options(self.options)
        return f"{self.name}:{listed}" if listed else self.name

    @property
    def fingerprint(self) -> str:
        """A hash of what the agent plays by beyond its spec, such as a file; empty if nothing."""
        return ""

    def restart(self, seed: int) -> None:
        """Forget everything and begin a new game with this seed."""
        self.rng = make_rng(seed)

    def inform(self, action: int) -> None:  # noqa: B027  most agents need no news
        """Hear that ``action`` was played, whoever played it."""

    def decide(self, state: State) -> Decision:
        """Choose an action in ``state``, which is not changed.

        Raises:
            ValueError: nobody has a choice there, or it is a state of another game.
        """
        if state.game.rules != self.game.rules:
            raise ValueError(f"{self!r} can't decide in a state of {state.game.spec}")
        if state.player < 0:
            reason = "the game is over" if state.is_terminal else "chance is to move"
            raise ValueError(f"nothing to decide: {reason} in {state.position}")
        return self.choose(state)

    @abstractmethod
    def choose(self, state: State) -> Decision:
        """What :meth:`decide` does, in a state where a player of this game is to move."""

    def __repr__(self) -> str:
        return f"<Agent {self.spec} for {self.game.spec}>"
