"""Agents never look at hidden cards, those that would have to refuse, and the estimate's laws."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given

from agents import make_agent
from cardcommons import State
from experiments.match import play
from tests.gluons.test_examples import HAND, dealt
from tests.gluons.test_resample import resampled
from tests.gluons.walks import (
    DEFAULT,
    FOUR_FULL,
    OPEN,
    POLICIES,
    REEMITTING,
    THREE_REEMITTING,
    TINY,
    Pair,
    Variant,
    info_key,
    pairs,
    played_round,
    walk,
)

FAIR = ["random", "greedy", "ismcts:sims=50"]


def indistinguishable(variant: Variant, policies: tuple[str, ...]) -> Iterator[tuple[State, State]]:
    """Two states, with other cards, that the player to move can't tell apart."""
    for policy in policies:
        rng = Random(f"{variant} {policy}")
        for pair, _ in walk(Pair.start(variant), POLICIES[policy], rng):
            state, player = pair.state, pair.state.player
            if player < 0:
                continue
            other = resampled(state, player, rng.getrandbits(64))
            others = set(pair.players) - {player}
            if any(info_key(other, each) != info_key(state, each) for each in others):
                yield state.copy(), other


@pytest.mark.parametrize("spec", FAIR)
@pytest.mark.parametrize("variant", [REEMITTING, THREE_REEMITTING, FOUR_FULL], ids=str)
def test_choices_do_not_depend_on_hidden_cards(spec: str, variant: Variant) -> None:
    agent = make_agent(spec, variant.game())
    compared = choices = 0
    for seed, (state, other) in enumerate(indistinguishable(variant, ("hiding", "reemitting"))):
        assert state.legal_actions() == other.legal_actions()
        decisions = []
        for each in (state, other):
            agent.restart(seed)
            before = each.words.copy()
            decisions.append(agent.decide(each))
            assert np.array_equal(each.words, before)
        assert decisions[0] == decisions[1]
        assert decisions[0].action in state.legal_actions()
        compared += 1
        choices += len(state.legal_actions()) > 1
    assert compared > 50
    assert choices > 40


@pytest.mark.parametrize("variant", [REEMITTING, THREE_REEMITTING, FOUR_FULL], ids=str)
def test_estimates_do_not_depend_on_hidden_cards(variant: Variant) -> None:
    values = set()
    for state, other in indistinguishable(variant, ("hiding", "reemitting")):
        assert state.estimate(state.player) == other.estimate(state.player)
        values.add(state.estimate(state.player))
    assert len(values) > 20


@given(pairs())
def test_estimates_lie_within_the_bounds(pair: Pair) -> None:
    assume(not pair.is_over)
    rules = pair.state.game.rules
    for player in pair.players:
        value = pair.state.estimate(player)
        assert np.isfinite(value)
        if rules.num_players == 2 or pair.state.game.params.utility == "win":
            assert rules.min_utility < value < rules.max_utility


@pytest.mark.parametrize("utility", ["win", "points"])
def test_no_estimate_of_the_smallest_game_is_taken_for_a_proven_end(utility: str) -> None:
    game = Variant.of(**dict(TINY.params), utility=utility).game()
    bound, left, estimates = game.rules.max_utility, [State(game)], set()
    while left:
        state = left.pop()
        for action in state.legal_actions():
            left.append(state.copy())
            left[-1].apply(action)
        if not state.is_terminal:
            estimates |= {state.estimate(player) for player in (0, 1)}
    assert len(estimates) > 10
    assert -bound < min(estimates) < 0 < max(estimates) < bound


@given(pairs((OPEN, Variant.of(face_up=True), Variant.of(face_up=True, max_rounds=2))))
def test_two_estimates_are_opposite_if_all_gluons_are_face_up(pair: Pair) -> None:
    assert pair.state.estimate(0) == pytest.approx(-pair.state.estimate(1), abs=1e-12)


@pytest.mark.parametrize("utility", ["win", "points"])
@pytest.mark.parametrize("players", [2, 4])
def test_whoever_leads_has_the_highest_estimate(players: int, utility: str) -> None:
    """After a round in which one player scored, and everything else is alike."""
    for leader in range(players):
        pair = dealt([HAND] * players, utility=utility)
        invalid = ["A31", "A32", "B31", "B32"]
        plays = [
            f"RG@{'B12' if players == 4 else 'A12'}" if p == leader else f"RG@{invalid[p]}"
            for p in range(players)
        ]
        after = played_round(pair, plays, ["BG"] * players)
        assert after.state.fields()["points"] == [int(p == leader) for p in range(players)]
        values = [after.state.estimate(player) for player in range(players)]
        assert max(values) == values[leader] > 0
        assert max(v for p, v in enumerate(values) if p != leader) < 0


def test_a_gluon_that_lies_right_is_worth_more_than_one_that_does_not() -> None:
    pair = dealt([HAND] * 2)
    right, wrong = (pair.played([f"RG@{area}"]).state for area in ("A12", "A21"))
    assert right.estimate(0) > wrong.estimate(0)
    assert right.estimate(1) < wrong.estimate(1)
    down, other = (pair.played([f"RG?{area}"]).state for area in ("A12", "A21"))
    assert down.estimate(0) > other.estimate(0)
    assert down.estimate(1) == other.estimate(1)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("mcts", "mcts needs perfect information, and gluons has hidden information"),
        ("minimax", "minimax needs perfect information and no chance, not gluons"),
        (
            "openspiel_mcts",
            "openspiel_mcts needs perfect information, and gluons has hidden information",
        ),
    ],
)
def test_agents_that_need_perfect_information_refuse(spec: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}$"):
        make_agent(spec, DEFAULT.game())


@pytest.mark.parametrize("players", [2, 3])
def test_a_greedy_player_outscores_random_ones(players: int) -> None:
    game = Variant.of(players=players, utility="points").game()
    greedy, chance = make_agent("greedy", game), make_agent("random", game)
    gains = []
    for seed in range(18):
        seats = [greedy if player == seed % players else chance for player in range(players)]
        gains.append(play(game, seats, seed).returns[seed % players])
    assert sum(gains) / len(gains) > 1
