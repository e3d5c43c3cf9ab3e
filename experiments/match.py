"""One game, played natively: any number of agents by seat, chance from the seed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from agents import Agent
from cardcommons import Game, State
from cardcommons.rng import child_seed, draw_below, draw_weighted, make_rng

Generator = npt.NDArray[np.uint64]
"""A generator of :mod:`cardcommons.rng`."""


@dataclass(frozen=True)
class Played:
    """A finished game.

    Attributes:
        actions: the notation of every action in order, chance outcomes included.
        returns: the utility of each seat.
        result: the game's own word for how it ended; empty if it has none.
        opening: how many leading actions were given, not decided.
        moves: how many decisions each seat made.
        seconds: the time that each seat took for them.
        started: when, as an ISO 8601 time in UTC.
    """

    actions: tuple[str, ...]
    returns: tuple[float, ...]
    result: str
    opening: int
    moves: tuple[int, ...]
    seconds: tuple[float, ...]
    started: str


def play(game: Game, agents: Sequence[Agent], seed: int, opening: Sequence[int] = ()) -> Played:
    """Play one game between ``agents``, which sit in the order given.

    Args:
        game: what is played.
        agents: one for each player of the game, each an object of its own.
        seed: of chance, by the branch ``"chance"`` of its seed tree, and of the agents, by
            those of :func:`agent_seed`.
        opening: ids of the first actions, chance outcomes included, played for the agents.

    Raises:
        ValueError: not one agent for each player, or an action that is not legal.
    """
    if len(agents) != game.rules.num_players:
        raise ValueError(f"{game.name} needs {game.rules.num_players} agents, not {len(agents)}")
    specs = [agent.spec for agent in agents]
    for seat, agent in enumerate(agents):
        agent.restart(agent_seed(seed, specs, seat))
    return _Match(game, agents, seed).run(opening)


def agent_seed(seed: int, specs: Sequence[str], seat: int) -> int:
    """The seed of the agent in a seat, in the game with this seed between these agents.

    Its branch of the seed tree is ``"agent"``, then the specs of all and its seat.  The games of a
    deal share a seed, but agents that draw at random don't draw alike in all of them.
    """
    return child_seed(seed, "agent", *specs, seat)


class _Match:
    """A game in progress."""

    def __init__(self, game: Game, agents: Sequence[Agent], seed: int) -> None:
        self.state = State(game)
        self.agents = agents
        self.chance = make_rng(child_seed(seed, "chance"))
        self.actions: list[str] = []
        self.moves = [0] * len(agents)
        self.seconds = [0.0] * len(agents)

    def run(self, opening: Sequence[int]) -> Played:
        started = datetime.now(UTC).isoformat(timespec="seconds")
        for action in opening:
            self._apply(action)
        while not self.state.is_terminal:
            chance = self.state.is_chance
            self._apply(random_action(self.state, self.chance) if chance else self._decided())
        return Played(
            actions=tuple(self.actions),
            returns=tuple(self.state.returns()),
            result=result_of(self.state),
            opening=len(opening),
            moves=tuple(self.moves),
            seconds=tuple(round(seconds, 6) for seconds in self.seconds),
            started=started,
        )

    def _decided(self) -> int:
        """What the agent to move chooses; it sees a copy, so that it can't spoil the game."""
        seat, seen = self.state.player, self.state.copy()
        begun = time.perf_counter()
        decision = self.agents[seat].decide(seen)
        self.seconds[seat] += time.perf_counter() - begun
        self.moves[seat] += 1
        return decision.action

    def _apply(self, action: int) -> None:
        player = self.state.player
        self.state.apply(action)
        self.actions.append(self.state.game.text.action_to_string(player, action))
        for agent in self.agents:
            agent.inform(action)


def result_of(state: State) -> str:
    """The game's own word for how it ended, its field ``result``; empty if it has none."""
    return str(state.fields().get("result", ""))


def random_action(state: State, rng: Generator) -> int:
    """A legal action, each with the same chance; or an outcome, drawn by weight."""
    if not state.is_chance:
        legal = state.legal_actions()
        return legal[draw_below(rng, len(legal))]
    outcomes, weights = zip(*state.chance_weights(), strict=True)
    return outcomes[draw_weighted(rng, weights)]  # type: ignore[no-any-return]


def random_opening(game: Game, seed: int, decisions: int) -> tuple[int, ...]:
    """A random beginning of a game, as ids, with the chance outcomes that fall in between.

    Args:
        game: what is to be played.
        seed: the same seed gives the same opening.
        decisions: how many choices of the players it holds; fewer where the next action that is
            drawn would end the game.
    """
    state, rng = State(game), make_rng(seed)
    opening: list[int] = []
    while decisions > 0 and not state.is_terminal:
        decisions -= not state.is_chance
        action = random_action(state, rng)
        state.apply(action)
        if not state.is_terminal:
            opening.append(action)
    return tuple(opening)
