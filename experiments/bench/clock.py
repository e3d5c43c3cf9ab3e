"""Whether searches that are given a time for each move take that time."""

import random
import time
from collections.abc import Iterator
from itertools import islice
from statistics import median

from agents import Agent, make_agent
from cardcommons import Game, State
from cardcommons.rng import child_seed
from experiments.bench.measure import Promise

_ASKED = (0.01, 0.1)
_MARGIN = 0.05
_SEED = 7
_DECISIONS, _GAMES = 100, 20
"""How many decisions are timed, and the most games they are taken from."""


def clock_rounds(game: Game) -> Iterator[Promise]:
    """Ask for decisions along random games, and see how long they take."""
    searches = ["mcts", "minimax"]
    if game.has_hidden_information:
        searches = ["ismcts"]
    elif game.has_chance:
        searches = ["mcts"]
    for search in searches:
        for asked in _ASKED:
            agent = make_agent(f"{search}:time={asked}", game)
            taken = sorted(islice(_seconds(agent), _DECISIONS))
            if taken:
                yield _promise(agent, asked, taken)


def _promise(agent: Agent, asked: float, taken: list[float]) -> Promise:
    kept = sum(abs(seconds / asked - 1) <= _MARGIN for seconds in taken) / len(taken)
    return Promise(agent.spec, agent.game.spec, asked, median(taken), taken[-1], kept, _MARGIN)


def _seconds(agent: Agent) -> Iterator[float]:
    """How long each choice in some random games takes, but for those proven before their time."""
    for index in range(_GAMES):
        seed = child_seed(_SEED, index)
        generator, state = random.Random(seed), State(agent.game)
        agent.restart(seed)
        while not state.is_terminal:
            actions = state.legal_actions()
            if not state.is_chance and len(actions) > 1:
                began = time.perf_counter()
                decision = agent.decide(state)
                if not decision.proven:
                    yield time.perf_counter() - began
            action = generator.choice(actions)
            state.apply(action)
            agent.inform(action)
