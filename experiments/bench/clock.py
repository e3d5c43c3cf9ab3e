"""Whether searches that are given a time for each move take that time."""

import random
import time
from collections.abc import Iterator
from statistics import median

from agents import Agent, make_agent
from cardcommons import Game, State
from cardcommons.rng import child_seed
from experiments.bench.measure import Promise

_ASKED = (0.01, 0.1)
_TARGET = 0.05
_SEED = 7


def clock_rounds(game: Game, rounds: int) -> Iterator[Promise]:
    """Ask for decisions along random games, and see how long they take."""
    searches = ["mcts", "minimax"]
    if game.has_hidden_information:
        searches = ["ismcts"]
    elif game.has_chance:
        searches = ["mcts"]
    for search in searches:
        for asked in _ASKED:
            yield _kept(game, search, asked, rounds)


def _kept(game: Game, search: str, asked: float, rounds: int) -> Promise:
    agent = make_agent(f"{search}:time={asked}", game)
    taken = sorted(
        seconds
        for index in range(rounds)
        for seconds in _decisions(agent, child_seed(_SEED, index))
    )
    within = sum(abs(seconds / asked - 1) <= _TARGET for seconds in taken) / len(taken)
    return Promise(
        f"{search}:time={asked:g}", game.spec, asked, median(taken), taken[-1], within, _TARGET
    )


def _decisions(agent: Agent, seed: int) -> Iterator[float]:
    """How long each choice of a random game takes that isn't proven before its time."""
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
