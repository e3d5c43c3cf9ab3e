"""A game made from the treaty alone gets everything: perft, playouts, agents, OpenSpiel."""

from fractions import Fraction

import numpy as np
import pyspiel
import pytest

from agents import make_agent
from cardcommons import Game, State
from cardcommons.openspiel import register
from cardcommons.perft import divide, perft
from cardcommons.playout import playouts
from tests.toy import RACE, RaceParams, exact_values


def race(goal: int) -> Game:
    return RACE.make(RaceParams(goal=goal))


def test_perft_counts_chance_outcomes_as_actions() -> None:
    # Three actions deep: 2 moves x 2 outcomes x 2 moves, none of which ends a race to 7.
    assert perft(race(7), 3) == 8
    assert divide(race(7), 3) == {"add:1": 4, "add:2": 4}
    # Without chance, a race to 4 of 1s and 2s: 1111, 112, 121, 211, 22.
    assert [perft(race(4), depth) for depth in (1, 2, 3, 4, 5)] == [2, 4, 6, 2, 0]


def test_playouts_follow_the_weights_of_chance() -> None:
    # A race to 1 after a first step is impossible, so take 3: add 2 (half the time) and then
    # chance adds 1 with weight 1 of 4 for a draw.
    counts = playouts(race(3), 200_000, seed=5)
    draws = Fraction(counts.outcomes[(0.0, 0.0)], counts.games)
    # Draw at 2 + bump: 1/2 * 1/4; at 1 (+0 or bump to 2): 1/2 * 3/4 * (second adds 1: 1/2) * 1/4.
    expected = 0.5 * 0.25 + 0.5 * 0.75 * 0.5 * 0.25
    assert abs(float(draws) - expected) < 5 * np.sqrt(expected * (1 - expected) / 200_000)


@pytest.mark.parametrize("goal", [4, 5, 6, 7, 8, 9])
def test_mcts_proves_the_value_through_chance(goal: int) -> None:
    agent = make_agent("mcts:sims=20000,selection=uct,c=5", race(goal))
    agent.restart(3)
    decision = agent.decide(State(race(goal)))
    assert decision.proven
    assert decision.value == pytest.approx(exact_values(0, goal, 0), abs=1e-12)


@pytest.mark.parametrize("goal", [4, 6, 8, 10, 12])
def test_minimax_solves_it(goal: int) -> None:
    agent = make_agent("minimax:depth=20", race(goal))
    agent.restart(3)
    decision = agent.decide(State(race(goal)))
    assert decision.proven
    assert decision.value == exact_values(0, goal, 0)


def test_minimax_refuses_chance_by_name() -> None:
    with pytest.raises(ValueError, match="no chance, not race"):
        make_agent("minimax:depth=2", race(7))


def test_it_is_an_openspiel_game() -> None:
    register(RACE)
    game = pyspiel.load_game("cardcommons_race(goal=5)")
    assert game.get_type().chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    assert (game.max_game_length(), game.max_chance_nodes_in_history()) == (5, 4)
    state = game.new_initial_state()
    state.apply_action(1)
    assert state.chance_outcomes() == [(0, 0.75), (1, 0.25)]
    assert state.action_to_string(1) == "bump:1"
    pyspiel.random_sim_test(game, 10, serialize=True, verbose=False)
