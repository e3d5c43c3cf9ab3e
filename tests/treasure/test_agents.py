"""Agents never look at hidden cards, and those that would have to refuse."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from agents import make_agent
from cardcommons import State
from experiments.match import play
from tests.treasure.test_resample import resampled
from tests.treasure.walks import DEFAULT, LOW, POLICIES, Pair, Variant, info_key, walk

FAIR = ["random", "greedy", "ismcts:sims=50"]


def indistinguishable(variant: Variant, games: int) -> Iterator[tuple[State, State]]:
    """Two states, with other cards, that the player to move can't tell apart."""
    for game in range(games):
        rng = Random(f"{variant} {game}")
        policy = sorted(POLICIES)[game % len(POLICIES)]
        for pair, _ in walk(Pair.start(variant), POLICIES[policy], rng):
            state, player = pair.state, pair.state.player
            if player < 0:
                continue
            other = resampled(state, player, rng.getrandbits(64))
            if info_key(other, 1 - player) != info_key(state, 1 - player):
                yield state.copy(), other


@pytest.mark.parametrize("spec", FAIR)
@pytest.mark.parametrize("variant", [DEFAULT, LOW], ids=str)
def test_choices_do_not_depend_on_hidden_cards(spec: str, variant: Variant) -> None:
    agent = make_agent(spec, variant.game())
    pairs = choices = 0
    for seed, (state, other) in enumerate(indistinguishable(variant, 9)):
        assert state.legal_actions() == other.legal_actions()
        decisions = []
        for each in (state, other):
            agent.restart(seed)
            before = each.words.copy()
            decisions.append(agent.decide(each))
            assert np.array_equal(each.words, before)
        assert decisions[0] == decisions[1]
        assert decisions[0].action in state.legal_actions()
        pairs += 1
        choices += len(state.legal_actions()) > 1
    assert pairs > 80
    assert choices > 60


def test_estimates_do_not_depend_on_hidden_cards() -> None:
    values = set()
    for state, other in indistinguishable(DEFAULT, 9):
        player = state.player
        assert state.estimate(player) == other.estimate(player)
        assert -1 < state.estimate(player) < 1
        values.add(state.estimate(player))
    assert len(values) > 100


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("mcts", "mcts needs perfect information, and treasure has hidden information"),
        ("minimax", "minimax needs perfect information and no chance, not treasure"),
        (
            "openspiel_mcts",
            "openspiel_mcts needs perfect information, and treasure has hidden information",
        ),
    ],
)
def test_agents_that_need_perfect_information_refuse(spec: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}$"):
        make_agent(spec, DEFAULT.game())


def test_a_greedy_player_outscores_a_random_one() -> None:
    game = Variant.of(utility="margin").game()
    greedy, chance = make_agent("greedy", game), make_agent("random", game)
    margins = [play(game, [greedy, chance], seed).returns[0] for seed in range(12)]
    margins += [play(game, [chance, greedy], seed).returns[1] for seed in range(12)]
    assert sum(margins) / len(margins) > 5
