"""The uniformly random player: the zero of every rating."""

from agents.base import Agent, Decision
from cardcommons import State
from cardcommons.rng import draw_below


class RandomAgent(Agent):
    """Chooses each legal action with the same probability."""

    name = "random"

    def choose(self, state: State) -> Decision:
        legal = state.legal_actions()
        return Decision(legal[draw_below(self.rng, len(legal))])
