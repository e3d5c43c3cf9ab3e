"""Games for one player as Gymnasium environments: one class for all of them.

    env = gymnasium.make("cardcommons/Rally-v0", stages="2-3-5-2")
    observation, info = env.reset(seed=1)
    while info["action_mask"].any():
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)

Importing this module, which needs the extra ``gymnasium``, registers each family whose usual game
is for one player as ``cardcommons/<Name>-v0``; parameters of the game are keywords of
``gymnasium.make``.  A name such as ``cardcommons.gymnasium:cardcommons/Rally-v0`` has Gymnasium
import it.
"""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from cardcommons.catalogue import load
from cardcommons.episode import Blocks, Episode, blocks_space, require_render_mode
from cardcommons.games import FAMILIES
from cardcommons.state import State
from cardcommons.treaty import Game


class Actions(spaces.Discrete):
    """All action ids of a game; a sample is one that is legal now, if nothing else is asked for.

    Attributes:
        legal: ``int8[n]``, 1 where an action is legal; the environment keeps it up to date.
        at_first: the same at the start of an episode, which seeding goes back to, so that samples
            of a seeded space do not depend on where an episode was.
    """

    def __init__(self, legal: npt.NDArray[np.int8], at_first: npt.NDArray[np.int8]) -> None:
        super().__init__(legal.size)
        self.legal = legal
        self.at_first = at_first
        self.legal[:] = at_first

    def seed(self, seed: int | None = None) -> int:
        """Seed the samples, and go back to the start of an episode."""
        self.legal[:] = self.at_first
        return super().seed(seed)

    def sample(
        self, mask: npt.NDArray[np.int8] | None = None, *others: Any, **named: Any
    ) -> np.int64:
        """A random action: a legal one, or what the arguments, those of ``Discrete``, ask for."""
        asked = (mask, *others, *named.values())
        if all(one is None for one in asked) and self.legal.any():
            return super().sample(self.legal)
        return super().sample(mask, *others, **named)


class SoloEnv(gymnasium.Env[Blocks, np.int64]):
    """A game for one player; chance is played inside, by ``np_random``.

    An *action* is an id of the game (``state.action_to_string`` tells the notation).  ``info``
    holds ``action_mask``, ``int8[num_actions]`` with 1 at the legal ones, all zeros at the end.
    An *observation* is what the player sees, the game's named blocks, each ``float32`` and of its
    own shape (``gymnasium.wrappers.FlattenObservation`` makes one vector of them).  The *reward*
    is the change of the player's utility: 0 up to the end, and there the return of the game.
    Nothing is ever truncated.

    An episode that never asks for a decision is over after its first step, whatever the action.

    Attributes:
        game: the :class:`~cardcommons.treaty.Game` that is played.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  as Gymnasium has it

    def __init__(self, name: str, render_mode: str | None = None, **params: Any) -> None:
        """The game called ``name``, with parameters.

        Raises:
            ValueError: no such game, parameter or render mode, or a game of more players.
        """
        self.game = load(name, **params)
        if self.game.rules.num_players != 1:
            raise ValueError(
                f"one player is needed, and {self.game.spec} has {self.game.rules.num_players}"
            )
        require_render_mode(render_mode)
        self.render_mode = render_mode
        self._episode = Episode(self.game)
        self.action_space: Actions = Actions(self._episode.legal, at_first=_legal_first(self.game))
        self.observation_space = blocks_space(self.game)  # type: ignore[assignment]  # of spaces

    @property
    def state(self) -> State:
        """The position, for agents of this package to decide in; not to be changed."""
        return self._episode.state

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Blocks, dict[str, Any]]:
        """Begin a new episode; with a seed, always the same one.

        Raises:
            ValueError: there are ``options``, of which none is known.
        """
        if options:
            raise ValueError(f"there are no options, so {dict(options)} can't be used")
        super().reset(seed=seed)
        self._episode.begin(self.np_random)
        return self._episode.observe(0), self._info()

    def step(self, action: Any) -> tuple[Blocks, float, bool, bool, dict[str, Any]]:
        """Play a legal action, and whatever chance does then.

        Raises:
            ValueError: the action is not legal, or no episode is under way; nothing has changed.
        """
        self._episode.play(action, self.np_random)
        reward, ended = self.state.returns()[0], self.state.is_terminal
        return self._episode.observe(0), reward, ended, False, self._info()

    def render(self) -> str | None:
        """The position and its board as text, in render mode ``ansi``."""
        return str(self.state) if self.render_mode == "ansi" else None

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_space.legal.copy()}


def _legal_first(game: Game) -> npt.NDArray[np.int8]:
    """The mask at the first decision of some episode."""
    episode = Episode(game)
    episode.begin(np.random.default_rng(0))
    return episode.legal


def register(name: str) -> str:
    """Make Gymnasium know a game of the catalogue; returns the id it goes by."""
    known_as = f"cardcommons/{name.title()}-v0"
    gymnasium.register(known_as, "cardcommons.gymnasium:SoloEnv", kwargs={"name": name})
    return known_as


IDS: tuple[str, ...] = tuple(
    register(family.name)
    for family in FAMILIES.values()
    if family.make(family.params()).rules.num_players == 1
)
"""The ids of the environments."""
