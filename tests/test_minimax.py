"""Minimax: what it says of more than one move, its bounds, and how it keeps to them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numba.extending import register_jitable

import cardcommons
from agents import Decision, make_agent
from agents.budget import Budget
from agents.minimax import MinimaxAgent, make_table, widened
from cardcommons import Game, State
from cardcommons.bits import ONE
from cardcommons.treaty import TERMINAL
from experiments import signature
from tests.particles.endings import exact_value, late_states
from tests.toy import RACE, RaceParams

POSITIONS = [(spec, told) for spec, *positions in signature.POSITIONS for told in positions]


def decide(spec: str, state: State) -> Decision:
    agent = make_agent(spec, state.game)
    agent.restart(0)
    return agent.decide(state)


def full_width(state: State, depth: int, player: int) -> float:
    """The value for ``player`` by plain minimax over so many turns, without any pruning."""
    if state.is_terminal:
        return state.returns()[player]
    if depth == 0:
        return state.estimate(player)
    found = []
    for action in state.legal_actions():
        after = state.copy()
        after.apply(action)
        found.append(full_width(after, depth - (after.player != state.player), player))
    return max(found) if state.player == player else min(found)


def test_two_turns_deep_it_finds_what_plain_minimax_finds() -> None:
    for spec, position in POSITIONS:
        state = State.from_string(cardcommons.parse_game(spec), position)
        decision = decide("minimax:depth=2,futility=False", state)
        assert decision.value == pytest.approx(full_width(state, 2, state.player), abs=1e-12)


def test_only_what_is_judged_far_below_the_best_is_left_out() -> None:
    """Two turns deep, an action that would be better is one that looks worse by 0.15 or more."""
    fewer = 0
    for spec, position in POSITIONS:
        state = State.from_string(cardcommons.parse_game(spec), position)
        decision, whole = (
            decide(f"minimax:depth=2,futility={futility}", state) for futility in (True, False)
        )
        assert decision.value is not None
        fewer += decision.work["nodes"] < whole.work["nodes"]
        for action in state.legal_actions():
            after = state.copy()
            after.apply(action)
            turn_over = after.player != state.player
            value = full_width(after, 2 - turn_over, state.player)
            if action == decision.action:
                assert decision.value == pytest.approx(value, abs=1e-12)
            elif turn_over:
                looks = after.estimate(state.player)
                assert value <= decision.value + 1e-6 or looks + 0.15 <= decision.value + 1e-6
    assert fewer >= len(POSITIONS) // 2


@pytest.mark.parametrize("tutorial", [False, True])
def test_what_is_left_out_is_never_called_proven(tutorial: bool) -> None:
    """With little depth much is left out; what is proven all the same has the right value."""
    proven = 0
    for state in late_states({"tutorial": tutorial, "torus": False}, 60, left=9, seed=21):
        for depth in (1, 2, 3, 4):
            decision = decide(f"minimax:depth={depth}", state)
            if decision.proven:
                proven += 1
                assert decision.value == exact_value(state, state.player)
    assert proven >= 30


def test_the_principal_variation_leads_to_the_value() -> None:
    for spec, position in POSITIONS:
        state = State.from_string(cardcommons.parse_game(spec), position)
        decision = decide("minimax:depth=4,multipv=3", state)
        exact = [c for c in decision.candidates if c.bound == "searched"]
        for candidate in exact:
            after = state.copy()
            for action in candidate.principal_variation:
                after.apply(action)
            assert after.estimate(state.player) == pytest.approx(candidate.value, abs=1e-12)
        if not decision.proven:
            assert len(exact) >= 2
            assert decision.candidates[0].principal_variation == decision.principal_variation
            assert decision.candidates[0].value == decision.value


def test_the_best_of_several_are_exact_and_the_others_bounded() -> None:
    compared = 0
    for spec, position in POSITIONS:
        state = State.from_string(cardcommons.parse_game(spec), position)
        everything = {
            c.action: c
            for c in decide("minimax:depth=2,multipv=999,futility=False", state).candidates
        }
        assert set(everything) == set(state.legal_actions())
        if {c.bound for c in everything.values()} != {"searched"}:
            continue  # what is solved may be known by another way, beyond the horizon
        values = sorted((c.value for c in everything.values()), reverse=True)
        found = decide("minimax:depth=2,multipv=4,futility=False", state).candidates
        assert [c.value for c in found[:4]] == values[:4]
        for candidate in found:
            true = everything[candidate.action].value
            if candidate.bound == "at most":
                assert true <= candidate.value <= values[3]
                compared += 1
            else:
                assert candidate.value == true
    assert compared > 40


def test_a_win_is_proven_even_if_others_are_still_to_be_valued() -> None:
    for state in late_states({"tutorial": True, "torus": False}, 5, left=12, seed=12):
        decision = decide("minimax:depth=60,multipv=3", state)
        assert decision.proven
        assert decision.value == exact_value(state, state.player)


@pytest.mark.parametrize("torus", [False, True])
def test_a_table_far_too_small_does_no_harm(torus: bool) -> None:
    values = set()
    for state in late_states({"tutorial": False, "torus": torus}, 6, left=9, seed=21):
        decision = decide("minimax:depth=60,table=4", state)
        assert decision.proven
        assert decision.value == exact_value(state, state.player)
        values.add(decision.value)
    assert values == {-1.0, 1.0}


def test_a_limit_of_nodes_is_kept_and_reproducible() -> None:
    state = State(cardcommons.load("particles"))
    first = decide("minimax:nodes=30000", state)
    assert 29_000 < first.work["nodes"] <= 30_000
    assert decide("minimax:nodes=30000", state) == first
    # A whole turn is always looked at.
    least = decide("minimax:nodes=1", state)
    assert least.work == {"nodes": least.work["nodes"], "depth": 1}
    assert len(least.candidates) == len(state.legal_actions())


def test_when_the_table_grows_does_not_depend_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than four million nodes are more than the first entries serve."""
    state = State(cardcommons.load("particles"))
    agent = make_agent("minimax:nodes=4300000", state.game)
    agent.restart(0)
    decision = agent.decide(state)
    assert isinstance(agent, MinimaxAgent)
    assert agent._table.size == 2**17
    monkeypatch.setattr(Budget, "_LONGEST_SLICE", 0.0001)
    assert decide("minimax:nodes=4300000", state) == decision
    agent.restart(0)
    assert agent._table.size == 2**16
    assert not agent._memory.view(np.uint8)[: agent._table.nbytes].any()
    assert agent.decide(state) == decision


def test_a_table_twice_as_large_holds_the_same() -> None:
    bits, bucket = 6, 2
    memory, used, rng = make_table(bits + 1), 1 << bits, np.random.default_rng(5)
    memory["bound"][used:] = 1  # as left by an earlier search
    for bottom in range(0, used, bucket):
        for slot in (bottom, bottom + 1):
            key = int(rng.integers(1 << 50)) * used + bottom + int(rng.integers(bucket))
            memory[slot] = (key, slot / 7, slot, slot % 9, (-3, 1, 2)[slot % 3], 4)
    before = {int(entry["key"]): entry.copy() for entry in memory[:used]}
    table = widened(memory, used)
    assert table.size == 2 * used
    after = {}
    for slot, entry in enumerate(table):
        if entry["bound"]:
            assert slot // bucket == (int(entry["key"]) & (2 * used - 1)) // bucket
            assert int(entry["key"]) not in after
            after[int(entry["key"])] = entry
    assert after == before


@register_jitable
def _even(s):
    return s[0] & ONE == 0


@register_jitable
def _lure(s, player):
    """Promises the world where the race is not settled."""
    if s[0] & ONE:
        return 0.9
    return 0.25 if player == 0 else -0.25


def unsettled_race(goal: int) -> Game:
    game = RACE.make(RaceParams(goal=goal))
    return replace(game, rules=game.rules._replace(settled=_even, estimate=_lure))


def test_an_unsettled_game_is_not_judged() -> None:
    state = State(unsettled_race(20))
    decision = decide("minimax:depth=1,multipv=2", state)
    assert [c.value for c in decision.candidates] == [0.25, 0.25]
    after = state.copy()
    for action in decision.principal_variation:
        after.apply(action)
    assert after.words[0] % 2 == 0
    assert after.player != TERMINAL


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("minimax:multipv=0", "option 'multipv' of minimax must be positive, not 0"),
        ("minimax:nodes=0", "option 'nodes' of minimax must be positive, not 0"),
        ("minimax:nodes=1e3", "option 'nodes' of minimax must be a whole number, not '1e3'"),
        ("minimax:depth=-1", "option 'depth' of minimax must be positive, not -1"),
    ],
)
def test_options_that_make_no_sense_are_refused(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec, cardcommons.load("particles"))


def test_the_signature_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert signature.main(["--agent", "minimax:depth=1"]) == 0
    assert f"{signature.signature('minimax:depth=1')} nodes in" in capsys.readouterr().out
    assert signature.main(["--agent", "minimax:depth=1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["nodes"] == sum(c["nodes"] for c in told["positions"])
    assert signature.main(["--agent", "random"]) == 2
    assert "random does not count nodes" in capsys.readouterr().err
