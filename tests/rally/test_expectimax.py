"""Expectimax and the exact solver on rallies that can be solved."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from agents.expectimax import TO_THE_END, Search
from cardcommons import Game, State, load
from experiments import command
from experiments.solve import app
from tests.rally.trees import statistics, worth

SMALL: list[dict[str, Any]] = [
    {"stages": "1-0-0-1/1-0-0-1"},
    {"stages": "1-0-0-1/1-0-0-1", "utility": "win"},
    {"stages": "2-0-0-1", "jokers": 0},
    {"stages": "0-1-0-1/1-0-0-0", "jokers": 0, "loss_utility": -3.0},
    {"stages": "0-1-0-1", "jokers": 0, "loss_utility": 5.0},
]


def optimum(game: Game) -> Fraction:
    """The expected utility of best play, by plain enumeration."""
    return statistics(State(game)).value


def agent_worth(spec: str, game: Game) -> Fraction:
    """The exact expected utility of an agent."""
    agent = make_agent(spec, game)
    agent.restart(1)
    return worth(State(game), lambda state: agent.decide(state).action)


@pytest.mark.parametrize("params", SMALL, ids=str)
def test_searching_to_the_end_plays_as_well_as_can_be(params: dict[str, Any]) -> None:
    game = load("rally", **params)
    best = optimum(game)
    assert Search(game, 12).value(State(game), TO_THE_END) == pytest.approx(float(best), abs=1e-12)
    assert agent_worth(f"expectimax:depth={game.max_decisions}", game) == best


@pytest.mark.parametrize("params", SMALL, ids=str)
@pytest.mark.parametrize("depth", [1, 2])
def test_no_agent_is_better_than_the_optimum(params: dict[str, Any], depth: int) -> None:
    game = load("rally", **params)
    random = worth(State(game), lambda state: state.legal_actions()[0])
    assert random < agent_worth(f"expectimax:depth={depth}", game) <= optimum(game)


def test_the_end_of_a_stage_is_searched_not_guessed() -> None:
    """One decision deep, the search of two sectors goes on through the second."""
    game = load("rally", stages="2-0-0-1")
    assert Search(game, 12).value(State(game), 1) == pytest.approx(2617 / 3465, abs=1e-12)
    settled = game.rules.settled
    state = State(game)
    assert settled(state.words)  # two sectors to come
    state.apply("sector:2")
    assert not settled(state.words)
    state.apply("next")
    assert not settled(state.words)  # one
    assert settled(State(load("rally", stages="1-0-0-0/1-0-0-0")).words)  # a stage yet to begin


def test_what_is_said_of_a_decision_is_what_the_actions_are_worth() -> None:
    game = load("rally", stages="2-0-0-1")
    state = State(game)
    state.apply("sector:2")
    before = state.words.copy()
    decision = make_agent("expectimax:depth=50,multipv=6", game).decide(state)
    assert np.array_equal(state.words, before)
    assert {candidate.action for candidate in decision.candidates} == {*state.legal_actions()}
    for candidate in decision.candidates:
        child = state.copy()
        child.apply(candidate.action)
        exact = statistics(child).value
        assert candidate.value == pytest.approx(float(exact), abs=1e-12)
    best = max(candidate.value for candidate in decision.candidates)
    assert decision.candidates[0].value == decision.value == best
    assert decision.principal_variation == (decision.action,)
    assert decision.work["depth"] == game.max_decisions
    assert decision.work["nodes"] > 1000


def test_a_table_that_must_grow_or_forgets_changes_nothing() -> None:
    game = load("rally", stages="1-1-0-1")
    searches = [Search(game, 4, most_entries=1 << 18), Search(game, 17, 1 << 17), Search(game, 6)]
    values = [search.value(State(game), TO_THE_END) for search in searches]
    assert values == pytest.approx([62707 / 114345] * 3, abs=1e-12)
    sizes = [search.values.key.size for search in searches]
    assert sizes[0] > 1 << 14
    assert sizes[1:] == [1 << 17, 1 << 6]
    assert searches[0].nodes == searches[1].nodes < searches[2].nodes
    kept = [np.sort(search.values.key[search.values.key > 0]) for search in searches[:2]]
    assert np.array_equal(kept[0], kept[1])


def test_a_table_may_not_grow_for_ever() -> None:
    game = load("rally", stages="2-0-0-1")
    search = Search(game, 4, most_entries=100)
    why = r"^the table for rally:stages=2-0-0-1 would have to grow beyond 100 entries; \d+ states"
    with pytest.raises(MemoryError, match=why):
        search.value(State(game), TO_THE_END)


def test_games_that_do_not_fit_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^expectimax needs open cards, and treasure has hidden ones$"
    ):
        make_agent("expectimax", load("treasure"))
    open_game = load("rally")
    three = replace(open_game, rules=open_game.rules._replace(num_players=3))
    pair = replace(open_game, rules=open_game.rules._replace(num_players=2))
    for game in (three, pair):
        with pytest.raises(
            ValueError, match=r"^expectimax needs one player, or two in a zero-sum game, not rally$"
        ):
            make_agent("expectimax", game)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("depth=0", "option 'depth' of expectimax must be positive, not 0"),
        ("table=3", "'table' of expectimax must be 4 to 28, not 3"),
        ("table=29", "'table' of expectimax must be 4 to 28, not 29"),
        ("sims=5", "expectimax has no option 'sims'"),
    ],
)
def test_options_that_make_no_sense(options: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make_agent(f"expectimax:{options}", load("rally"))


# The solver's command


@pytest.mark.parametrize(
    ("arguments", "game", "told"),
    [
        (["--game", "rally", "--stages", "2-0-0-1"], "rally:stages=2-0-0-1", "2617/3465"),
        (
            ["--game", "rally:jokers=0,utility=win", "--stages", "2-0-0-1"],
            "rally:stages=2-0-0-1,jokers=0,utility=win",
            "637/990",
        ),
        (["--game", "rally:stages=1-0-0-0"], "rally:stages=1-0-0-0", "-31/99"),
    ],
)
def test_the_command_tells_the_optimum(
    arguments: list[str], game: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.run(app, arguments) == 0
    out = capsys.readouterr().out
    assert f"{game}, solved" in out
    value = Fraction(told)
    assert f"{float(value):.9f} (about {told})" in out
    assert "states kept" in out


@pytest.mark.parametrize("utility", ["score", "win"])
def test_the_policy_that_the_command_writes_reaches_the_optimum(
    utility: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "policy.npz"
    spec, stages = f"rally:utility={utility}", "1-0-0-1/0-1-0-1"
    arguments = ["--game", spec, "--stages", stages, "--policy", str(path)]
    assert command.run(app, arguments) == 0
    assert "solved" in capsys.readouterr().out
    with np.load(path) as told:
        assert len(told["key"]) == len({*told["key"].tolist()}) == len(told["value"])
        actions = dict(zip(told["key"].tolist(), told["action"].tolist(), strict=True))
        values = dict(zip(told["key"].tolist(), told["value"].tolist(), strict=True))
    game = load("rally", utility=utility, stages=stages)
    start = State(game)
    best = optimum(game)
    assert worth(start, lambda state: actions[state.state_key()]) == best
    assert values[start.state_key()] == pytest.approx(float(best), abs=1e-12)
    assert actions[start.state_key()] == -1
    assert {-1, 0, 1, 3, 5} <= {*actions.values()} <= {*range(-1, 7)}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "--game"),
        (["--game", "rally", "--stages", "1-0-0"], "error: parameter 'stages' has a stage '1-0-0'"),
        (["--game", "rallye"], "error: no game is called 'rallye'; did you mean 'rally'?"),
        (["--game", "particles", "--stages", "1-0-0-1"], "error: particles has no parameter"),
        (["--game", "treasure"], "error: expectimax needs open cards, and treasure has hidden"),
        (
            ["--game", "rally", "--memory", "0"],
            "error: memory must be 0.002 to 10000 gigabytes, not 0",
        ),
        (
            ["--game", "rally", "--stages", "1-1-1-1", "--memory", "0.002"],
            "error: the table for rally:stages=1-1-1-1 would have to grow beyond",
        ),
        (["--game", "rally", "--policy", "/no/such/folder/x.npz"], "error: /no/such/folder/x.npz"),
    ],
)
def test_commands_that_cannot_be_carried_out(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.run(app, arguments) == command.USER_ERROR
    told = capsys.readouterr()
    assert told.out == ""
    assert why in told.err
    assert len(told.err.splitlines()) == 1
