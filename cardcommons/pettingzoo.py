"""Every game as a PettingZoo AEC environment: one class for all of them.

    table = env("treasure", rows=3, columns=3)
    table.reset(seed=1)
    for agent in table.agent_iter():
        observation, reward, terminated, truncated, info = table.last()
        mask = observation["action_mask"]
        table.step(None if terminated else table.action_space(agent).sample(mask))

Importing this module, which needs the extra ``pettingzoo``, also registers each game for
``pettingzoo.make("aec", "cardcommons/<name>-v0")``; parameters of the game are keywords there too.
"""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pettingzoo
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from cardcommons.catalogue import GAMES, load
from cardcommons.episode import Episode, blocks_space, require_render_mode
from cardcommons.treaty import Game


class GameEnv(pettingzoo.AECEnv):  # type: ignore[misc]
    """A game for any number of players; chance is played inside, by ``np_random``.

    The *agents* are ``player_0``, ``player_1`` and so on, by seat.  An *action* is an id of the
    game (``episode.state.action_to_string`` tells the notation).  An *observation* has two parts:

    * ``observation``, ``float32[n]``: what that agent sees and no more, the game's named blocks one
      after the other; it is the vector that OpenSpiel's observation tensor holds.
      ``gymnasium.spaces.unflatten(env.unwrapped.blocks, vector)`` gives the blocks back.
    * ``action_mask``, ``int8[num_actions]``: 1 at the legal actions of the agent to move, all zeros
      for the others and at the end.

    The *rewards* are 0 up to the end, where all agents get their utilities, and are terminated, at
    once.  Nothing is ever truncated, and an info is empty.

    If an episode never asks for a decision, the first agent is asked for one all the same.  Any
    action will do, as the mask says, and ends it.

    Attributes:
        game: the game that is played.
        episode: what is being played; for agents of this package, ``episode.state`` is the
            position to decide in.  Not to be changed.
        blocks: the space of the named blocks of an observation.
        np_random: draws for chance.
    """

    metadata = {"render_modes": ["ansi"], "is_parallelizable": False, "render_fps": 1}  # noqa: RUF012  as PettingZoo has it

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        """An environment of ``game``; ``ValueError`` if there is no such render mode."""
        super().__init__()
        require_render_mode(render_mode)
        self.game = game
        self.render_mode = render_mode
        self.metadata = self.metadata | {"name": f"{game.name}_v0"}
        self.episode = Episode(game)
        self.blocks = blocks_space(game)
        self.np_random, _ = seeding.np_random()
        self.possible_agents = [f"player_{seat}" for seat in range(game.rules.num_players)]
        self.agents: list[str] = []
        self.action_spaces = {
            agent: spaces.Discrete(game.rules.num_actions) for agent in self.possible_agents
        }
        self.observation_spaces = {agent: self._observed() for agent in self.possible_agents}

    def _observed(self) -> spaces.Dict:
        mask = spaces.Box(0, 1, self.episode.legal.shape, np.int8)
        return spaces.Dict({"observation": spaces.flatten_space(self.blocks), "action_mask": mask})

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """The action ids of the game; an agent has a space of its own, to be seeded."""
        return self.action_spaces[self._known(agent)]

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """What the observations of ``agent`` are in."""
        return self.observation_spaces[self._known(agent)]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a new episode; with a seed, always the same one.  No option is known or used."""
        if seed is not None:
            self.np_random, _ = seeding.np_random(seed)
        self.episode.begin(self.np_random)
        self.agents = list(self.possible_agents)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.agent_selection = self._next()

    def step(self, action: Any) -> None:
        """Play a legal action of the agent to move, and whatever chance does then.

        When the game is over, each agent takes leave by the action ``None``.

        Raises:
            ValueError: the action is not legal, or no episode is under way; nothing has changed.
        """
        if self.agents and self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self.episode.play(action, self.np_random)
        self.rewards = dict(zip(self.agents, self.episode.state.returns(), strict=True))
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, self.episode.state.is_terminal)
        self.agent_selection = self._next()

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """What ``agent`` sees now; the arrays are the caller's own."""
        seat = self.possible_agents.index(self._known(agent))
        blocks = self.episode.observe(seat).values()
        seen = np.concatenate([block.ravel() for block in blocks])
        return {"observation": seen, "action_mask": self._mask(agent)}

    def render(self) -> str | None:
        """The position and its board as text, hidden cards too, in render mode ``ansi``."""
        return str(self.episode.state) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Nothing is held open."""

    def _known(self, agent: str) -> str:
        if agent not in self.possible_agents:
            listed = ", ".join(self.possible_agents)
            raise ValueError(f"no agent is called {agent!r} (agents: {listed})")
        return agent

    def _next(self) -> str:
        """Who is to move; at the end, who takes leave first."""
        return self.agents[max(self.episode.state.player, 0)]

    def _mask(self, agent: str) -> npt.NDArray[np.int8]:
        to_move = agent in self.agents and agent == self.agent_selection
        if not to_move or self.terminations[agent]:
            return np.zeros_like(self.episode.legal)
        if self.episode.state.is_terminal:
            return np.ones_like(self.episode.legal)
        return self.episode.legal.copy()


def raw_env(name: str, render_mode: str | None = None, **params: Any) -> GameEnv:
    """The game called ``name``, with parameters.

    Raises:
        ValueError: no such game, parameter or render mode.
    """
    return GameEnv(load(name, **params), render_mode)


def env(name: str, render_mode: str | None = None, **params: Any) -> pettingzoo.AECEnv:
    """The same in PettingZoo's wrapper that tells of calls in a wrong order.

    An action that is not legal stays an error, which leaves everything as it was.  In PettingZoo's
    own games it ends the episode; its ``TerminateIllegalWrapper`` around :func:`raw_env` does that.
    """
    return OrderEnforcingWrapper(raw_env(name, render_mode, **params))


def register(name: str) -> str:
    """Make PettingZoo know a game of the catalogue; returns the id it goes by."""
    known_as = f"cardcommons/{name}-v0"
    pettingzoo.register("aec", known_as, "cardcommons.pettingzoo:env", kwargs={"name": name})
    return known_as


IDS: tuple[str, ...] = tuple(register(name) for name in GAMES)
"""The ids of the environments."""
