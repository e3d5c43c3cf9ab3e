"""What a search believes of hidden things: weights of redraws, and where they come from."""

from collections import Counter
from typing import Any

import numba
import numpy as np
import pytest

from agents import make_agent
from agents.beliefs import Beliefs, begin_search, forget_beliefs, learn, make_beliefs, make_redraw
from agents.ismcts import ISMCTSAgent
from cardcommons import Game, State, load
from cardcommons.rng import make_rng
from cardcommons.state import make_verb
from tests import hide

COUNT = 20_000


def redraws(state: State, beliefs: Beliefs, trusting: bool = True) -> Counter[bytes]:
    """How often each redraw comes up in a search for the player to move."""
    redraw: Any = numba.njit(make_redraw(state.game.rules))
    words, moves = state.words.copy(), np.zeros(state.game.rules.max_legal, dtype=np.int64)
    rng, found = make_rng(3), Counter[bytes]()
    begin_search(beliefs)
    for _ in range(COUNT):
        redraw(words, state.words, state.player, rng, moves, beliefs, trusting)
        found[words.tobytes()] += 1
    return found


def staying() -> State:
    """She stayed, he hid heads, and she is to guess."""
    state = State(hide.make())
    state.apply(hide.STAY)
    state.apply(hide.HEADS)
    return state


@pytest.mark.parametrize(("trusting", "share"), [(True, 0.75), (False, 0.5)])
def test_redraws_come_up_by_their_weights(trusting: bool, share: float) -> None:
    state = staying()
    beliefs = make_beliefs(state.game.rules)
    beliefs.credence[1, 0, [hide.HEADS, hide.TAILS]] = 0.03, 0.01
    found = redraws(state, beliefs, trusting)
    assert len(found) == 2
    assert found[state.words.tobytes()] / COUNT == pytest.approx(share, abs=0.015)


def test_several_hidden_gluons_multiply_their_weights() -> None:
    """Against the redraws that weigh the same, counted by what they have face down."""
    game = load("gluons", copies=1, hand=4, pairs="RG-GB-BR-GR-RB", max_rounds=2)
    state = State(game)
    for pair in ("RG", "GB", "BR", "GR") * 2:
        state.apply(f"draw:{pair}")
    for action in ("RG@A12", "RG@A13", "GB?A23", "BR?A31", "BR?A32", "GR?A21", "pass"):
        state.apply(action)
    rng = np.random.default_rng(4)
    beliefs = make_beliefs(game.rules)
    beliefs.credence[:] = rng.uniform(0.1, 1.0, beliefs.credence.shape)
    me = state.player
    told = make_verb(game.rules, "hidden_actions")

    def hidden(words: bytes) -> tuple[int, ...]:
        out = np.zeros(game.rules.max_legal, dtype=np.int64)
        count = told(np.frombuffer(words, dtype=np.uint64).copy(), 1 - me, out)
        return tuple(out[:count].tolist())

    fair, weighed = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
    for words, count in redraws(state, beliefs, trusting=False).items():
        fair[hidden(words)] += count
    for words, count in redraws(state, beliefs).items():
        weighed[hidden(words)] += count
    assert {len(actions) for actions in fair} == {2}
    assert len(fair) == len(weighed) == 12
    wanted = {
        actions: count * float(np.prod(beliefs.credence[me, 1 - me, list(actions)]))
        for actions, count in fair.items()
    }
    whole = sum(wanted.values())
    for actions, weight in wanted.items():
        assert weighed[actions] / COUNT == pytest.approx(weight / whole, abs=0.02)
    assert max(wanted.values()) > 5 * min(wanted.values())


def test_credence_is_the_share_of_the_chances_that_were_taken() -> None:
    beliefs = make_beliefs(hide.make().rules)
    beliefs.chosen[0], beliefs.available[0] = (0, 39, 4), (90, 90, 0)
    beliefs.hidden[0] = 1
    beliefs.credence[1, 0, hide.TAILS] = 0.7
    learn(beliefs, 1, trust=0.5)
    assert beliefs.credence[1, 0] == pytest.approx([0.1, (40 / 100) ** 0.5, 0.7])
    assert (beliefs.credence[0] == 1.0).all()
    beliefs.hidden[0] = 0
    learn(beliefs, 1, trust=1.0)
    assert beliefs.credence[1, 0] == pytest.approx([0.01, 0.4, 0.1])


def test_what_was_never_available_is_no_more_credible_than_what_was_seldom_so() -> None:
    beliefs = make_beliefs(hide.make().rules)
    forget_beliefs(beliefs, trust=0.5)
    beliefs.chosen[0], beliefs.available[0] = (0, 1, 0), (0, 2, 0)
    beliefs.hidden[0] = 1  # as if the first search came after something was hidden
    learn(beliefs, 1, trust=0.5)
    assert beliefs.credence[1, 0] == pytest.approx([0.1**0.5, (2 / 12) ** 0.5, 0.1**0.5])


def searcher(game: Game, spec: str) -> ISMCTSAgent:
    agent = make_agent(spec, game)
    assert isinstance(agent, ISMCTSAgent)
    agent.restart(1)
    return agent


def test_a_search_counts_how_the_other_replies() -> None:
    """At her first decision: he would be foolish to pay, and may hide the coin either way."""
    state = State(hide.make())
    agent = searcher(state.game, "ismcts:sims=2000")
    stayed = next(c.visits for c in agent.decide(state).candidates if c.action == hide.STAY)
    beliefs = agent._searchers[0].beliefs
    assert beliefs.chosen[0].sum() == stayed - 1  # the first simulation ends where he is to act
    assert beliefs.available[0].tolist() == [stayed - 1] * 3
    assert not beliefs.available[1].any()
    assert beliefs.credence[1, 0, hide.PAY] < beliefs.credence[1, 0, hide.HEADS] / 2
    assert (beliefs.credence[0] == 0.1**0.5).all()


def test_who_trusts_goes_by_what_was_learned() -> None:
    state = staying()
    for believed in (hide.HEADS, hide.TAILS):
        agent = searcher(state.game, "ismcts:sims=500")
        agent._searchers[0].beliefs.credence[1, 0] = 0.01
        agent._searchers[0].beliefs.credence[1, 0, believed] = 1.0
        decision = agent.decide(state)
        assert decision.action == believed - hide.HEADS
        assert decision.value == pytest.approx(0.96, abs=0.05)


def test_who_does_not_trust_takes_all_redraws_to_be_as_likely() -> None:
    state = staying()
    decisions = []
    for believed in (hide.HEADS, hide.TAILS):
        agent = searcher(state.game, "ismcts:sims=500,trust=0")
        agent._searchers[0].beliefs.credence[1, 0, believed] = 0.001
        decisions.append(agent.decide(state))
    assert decisions[0] == decisions[1]
    assert decisions[0].value == pytest.approx(0.0, abs=0.2)
