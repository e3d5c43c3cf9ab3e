"""Agents: players native on the treaty, which know no game.  The table of contents."""

from agents.base import Agent, Candidate, Decision
from agents.expectimax import ExpectimaxAgent
from agents.greedy import GreedyAgent
from agents.ismcts import ISMCTSAgent
from agents.mcts import MCTSAgent
from agents.minimax import MinimaxAgent
from agents.openspiel import (
    MadeBotAgent,
    OpenSpielISMCTSAgent,
    OpenSpielMCTSAgent,
    OpenSpielRandomAgent,
    as_bot,
)
from agents.policy import PolicyAgent
from agents.random import RandomAgent
from cardcommons import Game
from cardcommons.spec import read_options, split_spec, suggestion

__all__ = ["AGENTS", "Agent", "Candidate", "Decision", "as_bot", "make_agent"]

AGENTS: dict[str, type[Agent]] = {
    agent.name: agent
    for agent in (
        RandomAgent,
        GreedyAgent,
        MCTSAgent,
        ISMCTSAgent,
        MinimaxAgent,
        ExpectimaxAgent,
        OpenSpielRandomAgent,
        OpenSpielMCTSAgent,
        OpenSpielISMCTSAgent,
        MadeBotAgent,
        PolicyAgent,
    )
}


def make_agent(spec: str, game: Game) -> Agent:
    """The agent that a text names, such as ``mcts:sims=2000`` or ``minimax:time=0.1``.

    Raises:
        ValueError: no such agent or option, a value that makes no sense, or a game that the
            agent can't play.
    """
    if not isinstance(game, Game):
        raise TypeError(f"agents play a cardcommons.Game, as load() gives it, not {game!r}")
    name, listed = split_spec(spec)
    if name not in AGENTS:
        raise ValueError(f"no agent is called {name!r}{suggestion(name, list(AGENTS))}")
    agent = AGENTS[name]
    return agent(game, read_options(agent.Options, name, listed))
