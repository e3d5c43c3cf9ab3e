"""Expectimax on every game it can search: against plain recursion, with and without pruning."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.budget import Budget
from agents.expectimax import TO_THE_END, Search
from cardcommons import Game, State, load, parse_game
from cardcommons.treaty import VALUE_WORK
from tests import kuhn


def judged(state: State) -> float:
    """What the game says of a state for player 0, by learned values if it has any."""
    rules, work = state.game.rules, np.zeros(VALUE_WORK, dtype=np.float32)
    if rules.value is None:
        return state.estimate(0)
    value = float(rules.value(state.words, 0, state.game.weights, work))
    return min(max(value, rules.min_utility), rules.max_utility)


def plain(state: State, depth: int) -> float:
    """The value for player 0, so many decisions deep, by the definition."""
    return _plain(state, depth, {})


def _plain(state: State, depth: int, found: dict[tuple[bytes, int], float]) -> float:
    key = state.words.tobytes(), depth
    if key not in found:
        found[key] = _value(state, depth, found)
    return found[key]


def _value(state: State, depth: int, found: dict[tuple[bytes, int], float]) -> float:
    if state.is_terminal:
        return state.returns()[0]
    if depth <= 0 and state.game.rules.settled(state.words):
        return judged(state)
    if state.is_chance:
        outcomes = state.chance_weights()
        total = sum(weight for _, weight in outcomes)
        return sum(w * _plain(after(state, a), depth, found) for a, w in outcomes) / total
    values = [_plain(after(state, action), depth - 1, found) for action in state.legal_actions()]
    return max(values) if state.player == 0 else min(values)


def after(state: State, action: int) -> State:
    child = state.copy()
    child.apply(action)
    return child


def decisions(game: Game, count: int, seed: int, least_played: int) -> Iterator[State]:
    """States met in random play in which a player has a choice, spread over the game."""
    rng = random.Random(seed)
    found = 0
    while found < count:
        state, played = State(game), 0
        wanted = rng.randrange(least_played, game.max_decisions)
        while not state.is_terminal and (played < wanted or state.is_chance):
            played += not state.is_chance
            state.apply(rng.choice(state.legal_actions()))
        if not state.is_terminal and len(state.legal_actions()) > 1:
            found += 1
            yield state


TREASURE = "treasure:rows=3,columns=3,ranks=4,copies=1,hand=2"
CASES = [
    ("rally:stages=1-0-1-0/1-0-0-1", 1, 0),
    ("rally:stages=1-1-0-1,utility=win", 2, 0),
    ("particles", 2, 3),
    ("particles:tutorial=True,torus=True", 2, 4),
    (TREASURE, 1, 2),
    (TREASURE, 3, 4),
    (TREASURE + ",utility=margin", 2, 4),
]


@pytest.mark.parametrize(("spec", "depth", "least_played"), CASES)
def test_pruning_finds_what_plain_recursion_finds(spec: str, depth: int, least_played: int) -> None:
    game = parse_game(spec)
    search, players = Search(game, 12), set()
    for state in decisions(game, 12, 3, least_played):
        search.values.key.fill(0)
        value = plain(state, depth)
        players.add(state.player)
        assert search.value(state, depth) == pytest.approx(value, abs=1e-9)
        assert search.stack.most[0] == pytest.approx(value, abs=1e-9)
        best = plain(after(state, int(search.stack.move[0])), depth - 1)
        assert best == pytest.approx(value, abs=1e-9)
    assert players == set(range(game.rules.num_players))


@pytest.mark.parametrize(("spec", "depth", "least_played"), CASES)
@pytest.mark.parametrize("multipv", [1, 2, 99])
def test_candidates_have_values_or_bounds(
    spec: str, depth: int, least_played: int, multipv: int
) -> None:
    game = parse_game(spec)
    agent = make_agent(f"expectimax:depth={depth},multipv={multipv},cheat=True", game)
    bounds = set()
    for state in decisions(game, 5, 4, least_played):
        agent.restart(0)
        decision = agent.decide(state)
        sign = 1 if state.player == 0 else -1
        known = [candidate for candidate in decision.candidates if candidate.bound != "at most"]
        assert len(known) >= min(multipv, len(state.legal_actions()))
        assert {candidate.action for candidate in decision.candidates} == {*state.legal_actions()}
        assert decision.action == known[0].action
        for candidate in decision.candidates:
            value = sign * plain(after(state, candidate.action), depth - 1)
            bounds.add(candidate.bound)
            if candidate.bound == "at most":
                assert candidate.value >= value - 1e-9
                assert known[multipv - 1].value >= candidate.value - 1e-9
            else:
                assert candidate.value == pytest.approx(value, abs=1e-9)
    assert bounds <= {"exact", "searched", "at most"}
    assert multipv < 99 or "at most" not in bounds


@pytest.mark.parametrize(
    ("spec", "depth", "least_played", "share"),
    [("particles", 3, 2, 0.3), ("treasure", 4, 44, 0.7), ("rally:stages=2-1-1-1", 3, 0, 0.99)],
)
def test_pruning_leaves_out_much(spec: str, depth: int, least_played: int, share: float) -> None:
    """All in all; a search that may lose nothing of its table leaves nothing out."""
    game = parse_game(spec)
    pruned = whole = 0
    for state in decisions(game, 8, 5, least_played):
        some = Search(game, 16)
        every = Search(game, 16, most_entries=1 << 22)
        assert some.value(state, depth) == pytest.approx(every.value(state, depth), abs=1e-9)
        pruned += some.nodes
        whole += every.nodes
    assert pruned < share * whole


# Hidden cards


def test_redrawn_worlds_are_weighed_by_how_often_they_are_drawn() -> None:
    game = kuhn.FAMILY.make(kuhn.KuhnParams())
    state = State.from_string(game, "01 b")
    times = 40
    agent = make_agent(f"expectimax:depth=9,determinizations={times}", game)
    agent.restart(3)
    decision = agent.decide(state)
    values = {c.action: c.value for c in decision.candidates}
    calls = {state.string_to_action(word): values[state.string_to_action(word)]
             for word in ("bet", "pass")}  # fmt: skip
    assert calls[state.string_to_action("pass")] == -1.0
    won = (calls[state.string_to_action("bet")] + 2.0) / 4.0 * times  # 2 won or 2 lost
    assert won == pytest.approx(round(won))
    assert 8 <= round(won) <= 32
    assert {candidate.bound for candidate in decision.candidates} == {"mean"}
    assert not decision.proven


def test_what_is_hidden_is_not_looked_at_unless_by_a_cheat() -> None:
    game = kuhn.FAMILY.make(kuhn.KuhnParams())
    states = [State.from_string(game, f"{hidden}1 b") for hidden in (0, 2)]

    def decide(options: str, state: State) -> Any:
        agent = make_agent(f"expectimax:depth=9,{options}", game)
        agent.restart(7)
        return agent.decide(state)

    one, other = (decide("determinizations=20", state) for state in states)
    assert one == other
    told = [decide("cheat=True", state) for state in states]
    assert [states[0].action_to_string(d.action) for d in told] == ["bet", "pass"]
    assert [d.value for d in told] == [2.0, -1.0]
    assert all(d.proven for d in told)


def test_late_treasure_is_solved_once_nothing_is_hidden() -> None:
    """With both decks empty each player knows the other's hand: all redraws are one."""
    game = load("treasure")
    solved = 0
    for state in decisions(game, 30, 6, game.max_decisions - 4):
        if "decks: - -" not in state.position:
            continue
        agent = make_agent("expectimax:depth=54,determinizations=7", game)
        agent.restart(1)
        decision = agent.decide(state)
        sign = 1 if state.player == 0 else -1
        assert decision.value == pytest.approx(sign * plain(state, TO_THE_END), abs=1e-12)
        solved += 1
    assert solved >= 20


# The clock


def test_with_time_it_deepens_until_all_is_proven() -> None:
    game = load("rally", stages="1-0-0-1/1-0-0-1")
    state = State(game)
    state.apply("sector:3")
    decision = make_agent("expectimax:time=60", game).decide(state)
    assert decision.proven
    assert decision.value == pytest.approx(plain(state, TO_THE_END), abs=1e-12)
    assert 1 < decision.work["depth"] <= game.max_decisions
    shallow = make_agent("expectimax:time=60,depth=1", game).decide(state)
    assert shallow.work["depth"] == 1


def test_without_time_it_looks_one_decision_ahead() -> None:
    game = load("particles")
    decision = make_agent("expectimax:time=1e-9", game).decide(State(game))
    assert decision.work["depth"] == 1
    alone = make_agent("expectimax", game).decide(State(game))
    assert (decision.action, decision.candidates) == (alone.action, alone.candidates)


def test_an_interrupted_search_keeps_what_a_shallower_one_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = load("particles")
    for state in decisions(game, 20, 7, 3):
        wanted = [make_agent(f"expectimax:depth={depth}", game).decide(state) for depth in (1, 2)]
        if wanted[0].value != pytest.approx(wanted[1].value, abs=1e-6):
            break
    assert wanted[0].value != pytest.approx(wanted[1].value, abs=1e-6)
    needed = Search(game, 18)
    needed.value(state, 1)
    needed.value(state, 2)

    def chunk(budget: Budget, done: int, size: int) -> int:
        return size if budget.seconds is None else max(0, min(size, needed.nodes + 3 - done))

    monkeypatch.setattr(Budget, "chunk", chunk)
    decision = make_agent("expectimax:time=1", game).decide(state)
    assert decision.work["depth"] == 2
    assert decision.value == pytest.approx(wanted[1].value, abs=1e-12)


def test_limits_beyond_the_game_are_those_of_the_game() -> None:
    game = load("rally", stages="1-0-0-1")
    state = State(game)
    state.apply("sector:3")
    huge = 10**30
    decision = make_agent(f"expectimax:depth={huge},multipv={huge}", game).decide(state)
    assert decision.proven
    assert decision.work["depth"] == game.max_decisions
    assert {candidate.bound for candidate in decision.candidates} == {"exact"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("determinizations=-1", "'determinizations' of expectimax must be at least 0, not -1"),
        ("determinizations=2,cheat=True", "can have cheat=True or determinizations, not both"),
        ("multipv=0", "option 'multipv' of expectimax must be positive, not 0"),
        ("time=0", "option 'time' of expectimax must be positive, not 0"),
    ],
)
def test_options_that_make_no_sense(options: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make_agent(f"expectimax:{options}", load("treasure"))
