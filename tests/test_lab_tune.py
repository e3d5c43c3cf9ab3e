"""Tuning the weights of estimates: what varies, how it is moved, and the match in the end."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardcommons import State, parse_game
from cardcommons.rng import make_rng
from experiments import fit_estimate, tune
from experiments.fit_estimate import fitted, harvest, make_guess
from experiments.match import random_action
from experiments.tune import Duel, Schedule, Weights, estimate_module, seatings, tunable

GAMES = ["particles", "particles:tutorial=True", "treasure", "gluons", "rally"]


def walk(spec: str, seed: int) -> list[State]:
    """The states of a random game, in its tunable form."""
    state, rng = State(tunable(parse_game(spec))), make_rng(seed)
    seen = []
    while not state.is_terminal:
        state.apply(random_action(state, rng))
        seen.append(state.copy())
    return seen


@pytest.mark.parametrize("spec", GAMES)
def test_the_estimate_goes_by_the_weights_in_the_state(spec: str) -> None:
    game = parse_game(spec)
    module = estimate_module(game)
    other = np.array(module.WEIGHTS) * 1.5 + 0.25
    changed = 0
    for state in walk(spec, 3):
        plain = State(game, state.words[: game.rules.num_words])
        varied = state.copy()
        varied.words[-other.size :] = other.view(np.uint64)
        for player in range(game.rules.num_players):
            usual = plain.estimate(player)
            assert state.estimate(player) == usual
            with np.errstate(over="ignore"):
                told = module.weighted(plain.words, player, tuple(other))
            assert varied.estimate(player) == pytest.approx(told, rel=1e-12)
            changed += varied.estimate(player) != usual
    assert changed > 10


def test_both_sides_sit_everywhere() -> None:
    assert seatings(1) == [(False,), (True,)]
    assert seatings(2) == [(False, True), (True, False)]
    assert len(seatings(3)) == 6
    for players in (1, 2, 3, 4):
        for seat in range(players):
            assert sum(2 * seats[seat] - 1 for seats in seatings(players)) == 0


def quadratic(best: Weights) -> Any:
    """A contest in which the weights nearer to the best ones win by what they are nearer."""

    def gain(first: Weights, second: Weights, number: int) -> float:
        noise = 0.3 if number % 2 else -0.3
        return float(np.sum((second - best) ** 2) - np.sum((first - best) ** 2)) + noise

    return gain


def silent(done: int, weights: Weights) -> None:
    pass


def test_the_weights_are_moved_to_the_best_ones_and_only_those_asked_for() -> None:
    before, best = np.array([1.0, -2.0, 0.5]), np.array([1.4, -1.2, 9.0])
    way = tune.tune(
        quadratic(best),
        before,
        np.array([1.0, 1.0, 0.0]),
        Schedule(iterations=400, deals=2, nudge=0.3, rate=0.5),
        4,
        silent,
    )
    assert len(way) == 400
    assert np.mean(way[200:], axis=0) == pytest.approx([1.4, -1.2, 0.5], abs=0.02)


@pytest.mark.parametrize("spec", ["particles:torus=True", "rally:stages=1-1-0-1"])
def test_equal_weights_gain_nothing_and_a_side_gains_what_the_other_loses(spec: str) -> None:
    duel = Duel([tunable(parse_game(spec))], "greedy", None)
    usual = np.array(estimate_module(duel.games[0]).WEIGHTS)
    other = -usual
    assert [duel.gain(usual, usual, number, 1) for number in range(4)] == [0.0] * 4
    gains = [duel.gain(usual, other, number, 1) for number in range(12)]
    assert [duel.gain(other, usual, number, 1) for number in range(12)] == [-g for g in gains]
    assert any(gains)
    assert max(map(abs, gains)) <= 1


def arguments(out: Path, **options: str) -> list[str]:
    told = {
        "game": "particles:tutorial=True",
        "agent": "greedy",
        "iterations": "4",
        "deals": "2",
        "proof": "6",
        "seed": "3",
        "out": str(out),
    } | options
    return [word for name, value in told.items() for word in (f"--{name}", *value.split())]


def test_a_run_writes_what_anyone_can_rerun(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = []
    for name in ("a", "b"):
        out = tmp_path / name
        assert tune.main(arguments(out, only="tutorial_hand")) == 0
        reports.append(json.loads(out.read_text()))
    assert reports[0] == reports[1]
    report = reports[0]
    assert report["games"] == ["particles:tutorial=True"]
    assert report["before"] == estimate_module(parse_game("particles")).WEIGHTS._asdict()
    moved = {k for k, w in report["before"].items() if report["after"][k] != w}
    assert moved == {"tutorial_hand"}
    assert len(report["way"]) == 4
    assert report["proof"]["deals"] == 6
    assert -1 <= report["proof"]["gain"] <= 1
    told = capsys.readouterr()
    assert "greedy, 6 deals: gain" in told.out
    assert "4 of 4: " in told.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": "tempi"}, "no weight is called 'tempi' (known: "),
        ({"start": "tempi=1"}, "no weight is called 'tempi' (known: "),
        ({"start": "tempo=fast"}, "--start 'tempo=fast' should read weight=number"),
        ({"iterations": "1"}, "iterations must be at least 2, not 1"),
        ({"rate": "0"}, "rate must be positive, not 0"),
        ({"proof": "1"}, "--proof must be at least 2, not 1"),
        ({"agent": "openspiel_mcts"}, "openspiel_mcts does not play by the estimate"),
        ({"game": "particles rally"}, "particles and rally differ in more than a state tells"),
    ],
)
def test_what_is_wrong_is_named(
    tmp_path: Path,
    options: dict[str, str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert tune.main(arguments(tmp_path / "out", **options)) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_fit_finds_the_weights_that_made_the_utilities() -> None:
    game = tunable(parse_game("treasure"))
    module = estimate_module(game)
    words, utilities = harvest([game], "random", 20, 6, 1)
    assert len(words) == len(utilities) > 300
    for row, both in zip(words, utilities, strict=True):
        assert sorted(both) in ([-1.0, 1.0], [0.0, 0.0])
        assert row[: game.rules.num_words - 4].any()
    true = np.array(module.WEIGHTS) * [2.0, 0.5, 1.0, 3.0, 1.5, 0.9, 2.0, 0.7, 1.0]
    make_guess(game.name, module.weighted, 2)(words, true, utilities)
    free = np.array([True, True, False, True, True, True, True, True, False])
    found, (before, after) = fitted(game, words, utilities, np.array(module.WEIGHTS), free)
    assert found == pytest.approx(true, rel=1e-4)
    assert found[2] == true[2]
    assert before > 1e-4
    assert after < 1e-9


def test_a_fit_writes_what_anyone_can_rerun(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["--game", "particles:tutorial=True", "--agent", "greedy", "--games", "30"]
    told += ["--only", "tutorial_hand", "tutorial_reach", "--start", "tutorial_hand=9"]
    reports = []
    for name in ("a", "b"):
        out = tmp_path / name
        assert fit_estimate.main([*told, "--proof", "6", "--out", str(out)]) == 0
        reports.append(json.loads(out.read_text()))
    assert reports[0] == reports[1]
    report = reports[0]
    assert report["before"]["tutorial_hand"] == 9
    moved = {k for k, w in report["before"].items() if report["after"][k] != w}
    assert moved == {"tutorial_hand", "tutorial_reach"}
    assert report["mean_square"]["after"] < report["mean_square"]["before"]
    assert report["positions"] > 200
    assert "greedy, 6 deals: gain" in capsys.readouterr().out
    assert fit_estimate.main([*told, "--games", "0", "--out", str(tmp_path / "c")]) == 2
    assert fit_estimate.main([*told[:-2], "--proof", "1", "--out", str(tmp_path / "c")]) == 2
    assert "--proof must be at least 2, not 1" in capsys.readouterr().err
