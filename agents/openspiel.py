"""OpenSpiel's bots as agents here, and agents as bots there."""

import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, TypeVar

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

from agents.base import Agent, Decision
from agents.budget import check_budget
from cardcommons import Game, State
from cardcommons.openspiel import PREFIX, to_native
from cardcommons.rng import child_seed
from cardcommons.spec import check_types

T = TypeVar("T")

BotMaker = Callable[[pyspiel.Game, int, int], pyspiel.Bot]
"""``(game, player, seed) -> bot``, for a bot that plays as ``player``."""


class BotAgent(Agent):
    """An agent whose decisions are those of a ``pyspiel.Bot``.

    It keeps a state of OpenSpiel's in step with the game, so it has to hear every action from the
    start.  A bot is made for each player that the agent is asked to decide for, usually one, and
    is then told of what went before.
    """

    def __init__(self, game: Game, options: Any = None) -> None:
        super().__init__(game, options)
        self.pyspiel_game = pyspiel.load_game(PREFIX + game.name, game.parameters)
        self.restart(0)

    @abstractmethod
    def make_bot(self, player: int, seed: int) -> pyspiel.Bot:
        """A new bot for ``self.pyspiel_game``."""

    def restart(self, seed: int) -> None:
        super().restart(seed)
        self._seed = seed
        self._state = self.pyspiel_game.new_initial_state()
        self._bots: dict[int, pyspiel.Bot] = {}

    def inform(self, action: int) -> None:
        mover = self._state.current_player()
        for player, bot in self._bots.items():
            if player != mover:
                bot.inform_action(self._state, mover, action)
        self._state.apply_action(action)

    def choose(self, state: State) -> Decision:
        if not np.array_equal(to_native(self._state).words, state.words):
            raise ValueError(f"{self.spec} has not heard of every action up to {state.position}")
        if state.player not in self._bots:
            self._bots[state.player] = self._seat(state.player)
        return Decision(int(_step(self._bots[state.player], self._state.clone())))

    def _seat(self, player: int) -> pyspiel.Bot:
        """A bot that has been told of all that happened so far."""
        bot = self.make_bot(player, child_seed(self._seed, player))
        bot.restart()
        past = self.pyspiel_game.new_initial_state()
        for step in self._state.full_history():
            if step.player != player:
                bot.inform_action(past, step.player, step.action)
            elif bot.provides_force_action():
                bot.force_action(past, step.action)
            past.apply_action(step.action)
        return bot


def _step(bot: pyspiel.Bot, state: pyspiel.State) -> int:
    """The bot's action.

    OpenSpiel's own tree searches in C++ let go of the interpreter in ``step`` and crash on games
    in Python, but not in ``step_with_policy``.
    """
    if isinstance(bot, pyspiel.MCTSBot | pyspiel.ISMCTSBot):
        return int(bot.step_with_policy(state)[1])
    return int(bot.step(state))


@dataclass(frozen=True)
class MadeBotOptions:
    """Which bot to make.

    Attributes:
        make: ``package.module.function``, a :data:`BotMaker`.
    """

    make: str = ""

    def __post_init__(self) -> None:
        check_types(self, "bot")


class MadeBotAgent(BotAgent):
    """Any bot, from a function that makes it."""

    name = "bot"
    Options = MadeBotOptions

    def __init__(self, game: Game, options: MadeBotOptions | None = None) -> None:
        self._make = find_function((options or MadeBotOptions()).make)
        super().__init__(game, options)

    def make_bot(self, player: int, seed: int) -> pyspiel.Bot:
        return self._make(self.pyspiel_game, player, seed)


def find_function(path: str) -> Callable[..., Any]:
    """The function that ``package.module.function`` names; ``ValueError`` if there is none."""
    module, _, name = path.rpartition(".")
    if not module:
        raise ValueError(f"bot needs make=package.module.function, not {path!r}")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"no function {path!r} for bot: {error}") from None
    if not callable(found):
        raise ValueError(f"{path!r} is not a function but {found!r}")
    return found  # type: ignore[no-any-return]


class OpenSpielRandomAgent(BotAgent):
    """OpenSpiel's uniformly random bot."""

    name = "openspiel_random"

    def make_bot(self, player: int, seed: int) -> pyspiel.Bot:
        return pyspiel.make_uniform_random_bot(player, seed % 2**31)


@dataclass(frozen=True)
class OpenSpielSearchOptions:
    """How much and how to search.

    Attributes:
        sims: simulations a move, if no time is given.
        time: seconds a move, or ``None``.  These searches know no clock, so a short search tells
            how many simulations there is time for.
        c: exploration, in utilities.
        rollouts: random playouts a simulation.
    """

    agent: ClassVar[str]

    sims: int = 100
    time: float | None = None
    c: float = 2.0
    rollouts: int = 1

    def __post_init__(self) -> None:
        check_types(self, self.agent)
        check_budget(self.agent, sims=self.sims, time=self.time, c=self.c, rollouts=self.rollouts)


class OpenSpielMCTSOptions(OpenSpielSearchOptions):
    """Of the search for perfect information."""

    agent = "openspiel_mcts"


class OpenSpielISMCTSOptions(OpenSpielSearchOptions):
    """Of the search for hidden information."""

    agent = "openspiel_ismcts"


_TRIAL = 20
"""Simulations that tell how fast a search is here."""
_MOST = 10**9


def _timed(seconds: float, search: Callable[[int], T]) -> T:
    """What ``search``, which takes a number of simulations, finds in so many seconds.

    A short search tells how many there is time for; if there is none left, it has to do.
    """
    begun = time.perf_counter()
    found = search(_TRIAL)
    spent = time.perf_counter() - begun
    more = min(_TRIAL * (seconds - spent) / spent, _MOST)
    return found if more < _TRIAL else search(int(more))


class _TimedMCTSBot(mcts.MCTSBot):  # type: ignore[misc]
    """Searches for about so many ``seconds`` a move."""

    seconds: float

    def mcts_search(self, state: pyspiel.State) -> mcts.SearchNode:
        search = super().mcts_search

        def run(simulations: int) -> mcts.SearchNode:
            self.max_simulations = simulations
            return search(state)

        return _timed(self.seconds, run)


class _TimedISMCTSBot(ismcts.ISMCTSBot):  # type: ignore[misc]
    """Likewise."""

    seconds: float

    def run_search(self, state: pyspiel.State) -> list[tuple[int, float]]:
        search = super().run_search

        def run(simulations: int) -> list[tuple[int, float]]:
            self._max_simulations = simulations
            return search(state)  # type: ignore[no-any-return]

        return _timed(self.seconds, run)


class OpenSpielMCTSAgent(BotAgent):
    """OpenSpiel's tree search in Python, with random rollouts."""

    name = "openspiel_mcts"
    Options = OpenSpielMCTSOptions

    def __init__(self, game: Game, options: OpenSpielMCTSOptions | None = None) -> None:
        if game.has_hidden_information:
            raise ValueError(
                f"openspiel_mcts needs perfect information, and {game.name} has hidden information"
            )
        super().__init__(game, options)
        self.options: OpenSpielMCTSOptions

    def make_bot(self, player: int, seed: int) -> pyspiel.Bot:
        random = np.random.RandomState(seed % 2**32)
        evaluator = mcts.RandomRolloutEvaluator(self.options.rollouts, random)
        options = self.options
        kind = _TimedMCTSBot if options.time else mcts.MCTSBot
        bot = kind(self.pyspiel_game, options.c, options.sims, evaluator, random_state=random)
        bot.seconds = options.time
        return bot


class OpenSpielISMCTSAgent(BotAgent):
    """OpenSpiel's information-set search in Python, with random rollouts."""

    name = "openspiel_ismcts"
    Options = OpenSpielISMCTSOptions

    def __init__(self, game: Game, options: OpenSpielISMCTSOptions | None = None) -> None:
        if not game.has_hidden_information:
            raise ValueError(f"openspiel_ismcts needs hidden information, and {game.name} has none")
        super().__init__(game, options)
        self.options: OpenSpielISMCTSOptions

    def make_bot(self, player: int, seed: int) -> pyspiel.Bot:
        random = np.random.RandomState(seed % 2**32)
        evaluator = mcts.RandomRolloutEvaluator(self.options.rollouts, random)
        options = self.options
        kind = _TimedISMCTSBot if options.time else ismcts.ISMCTSBot
        bot = kind(self.pyspiel_game, evaluator, options.c, options.sims, random_state=random)
        bot.seconds = options.time
        # Its own sampler has a seed that nobody can set.
        bot.set_resampler(lambda state, me: state.resample_from_infostate(me, random.uniform))
        return bot


class AgentBot(pyspiel.Bot):  # type: ignore[misc]
    """A bot that decides as an agent does; see :func:`as_bot`.

    What happened in a game it takes from the history of the states it is shown, so it needs no
    ``inform_action``; a state that does not continue the last one begins a new game.
    """

    def __init__(self, agent: Agent, player: int, seed: int) -> None:
        pyspiel.Bot.__init__(self)
        self.agent = agent
        self.player = player
        self._seed = seed
        self._games = 0
        self.restart()

    def restart(self) -> None:
        """Begin a new game, with a seed of its own."""
        self.agent.restart(child_seed(self._seed, self._games))
        self._games += 1
        self._heard: list[int] = []

    def restart_at(self, state: pyspiel.State) -> None:
        """Begin a new game at a state."""
        self.restart()

    def inform_action(self, state: pyspiel.State, player: int, action: int) -> None:
        """Nothing to do: the next state has it in its history."""

    def provides_force_action(self) -> bool:
        """Yes."""
        return True

    def force_action(self, state: pyspiel.State, action: int) -> None:
        """Nothing to do, for the same reason."""

    def step(self, state: pyspiel.State) -> int:
        """The action to play in a state of a game of this package; ``TypeError`` for another."""
        return self._decide(state).action

    def _decide(self, state: pyspiel.State) -> Decision:
        position = to_native(state)
        self._catch_up(state.history())
        return self.agent.decide(position)

    def _catch_up(self, history: list[int]) -> None:
        if history[: len(self._heard)] != self._heard:
            self.restart()
        for action in history[len(self._heard) :]:
            self.agent.inform(action)
        self._heard = history

    def provides_policy(self) -> bool:
        """Yes."""
        return True

    def step_with_policy(self, state: pyspiel.State) -> tuple[list[tuple[int, float]], int]:
        """The policy, as told by :func:`policy_of`, and the action that the agent plays."""
        decision = self._decide(state)
        return policy_of(decision, state.legal_actions()), decision.action

    def get_policy(self, state: pyspiel.State) -> list[tuple[int, float]]:
        """The policy alone."""
        return self.step_with_policy(state)[0]


def policy_of(decision: Decision, legal: list[int]) -> list[tuple[int, float]]:
    """A probability for each legal action.

    They are the shares of visits where a search counts those, unless the chosen action is proven
    to be best; in all other cases the chosen action has the probability 1.
    """
    visits = {c.action: c.visits for c in decision.candidates if c.bound != "exact"}
    if not visits.get(decision.action):
        visits = {decision.action: 1}
    total = sum(visits.values())
    return [(action, visits.get(action, 0) / total) for action in legal]


def as_bot(agent: Agent, player: int, seed: int = 0) -> AgentBot:
    """An agent as a bot that plays as ``player`` in OpenSpiel's games of this package.

    Args:
        agent: who decides; it must not play elsewhere meanwhile.
        player: the seat, which OpenSpiel wants to know; the agent goes by the state.
        seed: of the agent; every game gets its own from it.
    """
    return AgentBot(agent, player, seed)
