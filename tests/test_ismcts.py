"""Information-set search: on a game with known equilibria, on public games, on hidden cards."""

import random

import numpy as np
import pytest

import cardcommons
from agents import make_agent
from cardcommons import State
from tests import kuhn
from tests.particles.endings import exact_value, late_states


@pytest.mark.parametrize(("card", "wanted"), [(2, "bet"), (0, "pass")])
def test_it_finds_the_only_good_actions_in_kuhn_poker(card: int, wanted: str) -> None:
    """Facing a bet, the highest card must call and the lowest must fold."""
    game = kuhn.FAMILY.make(kuhn.KuhnParams())
    for hidden in {0, 1, 2} - {card}:
        state = State.from_string(game, f"{hidden}{card} b")
        assert state.player == 1
        for seed in range(5):
            agent = make_agent("ismcts:sims=2000", game)
            agent.restart(seed)
            assert state.action_to_string(agent.decide(state).action) == wanted


def test_it_never_looks_at_the_other_card_of_kuhn_poker() -> None:
    game = kuhn.FAMILY.make(kuhn.KuhnParams())
    decisions = []
    for hidden in (0, 2):
        agent = make_agent("ismcts:sims=500", game)
        agent.restart(7)
        decisions.append(agent.decide(State.from_string(game, f"{hidden}1 b")))
    assert decisions[0] == decisions[1]


@pytest.mark.parametrize("tutorial", [False, True])
def test_on_a_public_game_it_finds_the_best_action(tutorial: bool) -> None:
    best, chances = 0, 0
    for state in late_states({"tutorial": tutorial, "torus": False}, 60, left=8, seed=3):
        values = {}
        for action in state.legal_actions():
            after = state.copy()
            after.apply(action)
            values[action] = exact_value(after, state.player)
        if len(set(values.values())) == 1:
            continue
        agent = make_agent("ismcts:sims=3000", state.game)
        agent.restart(1)
        chances += 1
        best += values[agent.decide(state).action] == 1.0
    assert chances >= 5
    assert best == chances


hidden = pytest.mark.parametrize("spec", ["treasure", "gluons:reemission=True", "gluons:players=3"])


@hidden
def test_statistics_agree_with_each_other(spec: str) -> None:
    game = cardcommons.parse_game(spec)
    state = deal(game, 4)
    agent = make_agent("ismcts:sims=777", game)
    agent.restart(1)
    decision = agent.decide(state)
    assert sum(candidate.visits for candidate in decision.candidates) == 777
    assert {candidate.action for candidate in decision.candidates} == set(state.legal_actions())
    assert decision.work["simulations"] == 777
    assert all(abs(candidate.value) <= 1.0 for candidate in decision.candidates)


@hidden
def test_the_same_seed_gives_the_same_decision_and_the_state_is_left_alone(spec: str) -> None:
    game = cardcommons.parse_game(spec)
    state = deal(game, 9)
    before = state.words.copy()
    agent = make_agent("ismcts:sims=300", game)
    decisions = []
    for _ in range(2):
        agent.restart(5)
        decisions.append(agent.decide(state))
    assert decisions[0] == decisions[1]
    assert np.array_equal(before, state.words)


@hidden
def test_a_full_tree_stays_within_its_bound(spec: str) -> None:
    game = cardcommons.parse_game(spec)
    agent = make_agent("ismcts:sims=5000,nodes=1000", game)
    agent.restart(5)
    decision = agent.decide(deal(game, 2))
    assert decision.work["nodes"] <= 1000
    assert sum(candidate.visits for candidate in decision.candidates) == 5000


def deal(game: cardcommons.Game, seed: int) -> State:
    """The first decision of a game."""
    state, rng = State(game), random.Random(seed)
    while state.is_chance:
        outcomes, weights = zip(*state.chance_weights(), strict=True)
        state.apply(rng.choices(outcomes, weights)[0])
    return state
