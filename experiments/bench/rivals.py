"""The agents and the OpenSpiel adapter against what OpenSpiel offers."""

import random
import time
from collections.abc import Callable, Iterator

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts as python_mcts
from open_spiel.python.games import tic_tac_toe  # noqa: F401  registers python_tic_tac_toe

from agents import make_agent
from cardcommons import Game, State
from cardcommons.openspiel import PREFIX
from experiments.bench.measure import Comparison, compare

_UCT_TARGET = 50.0
_LOOP_TARGET = 3.0
_SEED = 7
_SECONDS = 0.2


def _in_openspiel(game: Game) -> pyspiel.Game:
    return pyspiel.load_game(PREFIX + game.name, game.parameters)


def rival_rounds(game: Game, rounds: int) -> Iterator[Comparison]:
    """Compare UCT and the plain Python loop."""
    if not game.has_hidden_information:
        yield _uct(game, rounds, "OpenSpiel C++ MCTS", _cpp_simulations)
        yield _uct(game, rounds, "OpenSpiel Python MCTS", _python_simulations)
    yield _loop(game, rounds)


def first_decision(game: Game) -> State:
    """Where the first choice is made, after the first of all outcomes wherever chance moves."""
    state = State(game)
    while state.is_chance:
        state.apply(state.legal_actions()[0])
    return state


def _openspiel_first_decision(game: pyspiel.Game) -> pyspiel.State:
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    return state


def _our_simulations(game: Game) -> float:
    sims = 20_000
    agent = make_agent(f"mcts:sims={sims},selection=uct,cutoff=-1", game)
    agent.restart(_SEED)
    state = first_decision(game)
    began = time.perf_counter()
    done = agent.decide(state).work["simulations"]
    return done / (time.perf_counter() - began)


def _cpp_simulations(game: Game) -> float:
    loaded = _in_openspiel(game)
    sims = 300
    bot = pyspiel.MCTSBot(
        loaded,
        pyspiel.RandomRolloutEvaluator(1, _SEED),
        1.0,
        sims,
        1000,
        False,
        _SEED,
        False,
    )
    state = _openspiel_first_decision(loaded)
    began = time.perf_counter()
    bot.mcts_search(state)
    return sims / (time.perf_counter() - began)


def _python_simulations(game: Game) -> float:
    loaded = _in_openspiel(game)
    sims = 100
    generator = np.random.RandomState(_SEED)
    evaluator = python_mcts.RandomRolloutEvaluator(1, generator)
    bot = python_mcts.MCTSBot(loaded, 1.0, sims, evaluator, solve=False, random_state=generator)
    state = _openspiel_first_decision(loaded)
    began = time.perf_counter()
    bot.mcts_search(state)
    return sims / (time.perf_counter() - began)


def _uct(game: Game, rounds: int, rival: str, theirs: Callable[[Game], float]) -> Comparison:
    return compare(
        "UCT from the start",
        game.spec,
        "simulations/s",
        ours=lambda: _our_simulations(game),
        rival=rival,
        theirs=lambda: theirs(game),
        target=_UCT_TARGET,
        rounds=rounds,
    )


def _moves_per_second(game: pyspiel.Game) -> float:
    """How fast a Python loop plays random games of an OpenSpiel game."""
    generator = random.Random(_SEED)
    moves = 0
    began = time.perf_counter()
    while time.perf_counter() - began < _SECONDS:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(generator.choices(outcomes, weights)[0])
            else:
                state.apply_action(generator.choice(state.legal_actions()))
            moves += 1
    return moves / (time.perf_counter() - began)


def _loop(game: Game, rounds: int) -> Comparison:
    return compare(
        "OpenSpiel Python loop",
        game.spec,
        "moves/s",
        ours=lambda: _moves_per_second(_in_openspiel(game)),
        rival="python_tic_tac_toe",
        theirs=lambda: _moves_per_second(pyspiel.load_game("python_tic_tac_toe")),
        target=_LOOP_TARGET,
        rounds=rounds,
    )
