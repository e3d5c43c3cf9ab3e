"""The command that solves games: what it writes, how it goes on, what it refuses."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardcommons
from agents.best_response import exploitability
from agents.policy import Policy
from cardcommons.arrayfile import read_arrays
from experiments import command, equilibrium
from experiments.bench import __main__ as bench
from experiments.solving import TreeWork
from tests.forms import TREASURE, native_form, openspiel_form


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDCOMMONS_CACHE", str(tmp_path / "cache"))


def solve(out: Path, **options: str | int | float) -> int:
    told: dict[str, Any] = {"game": TREASURE, "out": out} | options
    flags = [name for name, value in told.items() if value == ""]
    words = [f"--{name}" for name in flags]
    for name, value in told.items():
        words += [] if name in flags else [f"--{name}", str(value)]
    return equilibrium.main(words)


def curve(out: Path) -> list[dict[str, Any]]:
    points = equilibrium.read_curve(out / "curve.jsonl")
    for point in points:
        del point["seconds"]
    return points


def test_a_run_reaches_its_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert solve(out, target=1e-4, algorithm="cfr+") == 0
    points = curve(out)
    assert [point["iteration"] for point in points[:12]] == list(range(1, 13))
    assert points[-1]["exploitability"] <= 1e-4 < points[-2]["exploitability"]
    assert points[-1]["nash_conv"] == 2 * points[-1]["exploitability"]
    form = native_form(TREASURE)
    policy = Policy.load(out / "policy.npz")
    policy.check_game(cardcommons.parse_game(TREASURE), "policy.npz")
    found = exploitability(form, policy.strategy(form.tree))
    assert found == pytest.approx(points[-1]["exploitability"], abs=1e-12)
    result = json.loads((out / "result.json").read_text())
    assert (result["settings"]["algorithm"], result["iteration"]) == (
        "cfr+",
        points[-1]["iteration"],
    )
    assert policy.made["versions"] == result["versions"]
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert "exploitability" in printed
    assert TREASURE.partition(":")[0] in printed


def test_the_size_is_told_once_and_the_tree_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = "231 histories, about 76 information sets, 0.0 MiB"
    for number, times in enumerate((1, 0)):
        assert solve(tmp_path / str(number), iterations=1) == 0
        assert capsys.readouterr().err.count(told) == times
    assert len(list((tmp_path / "cache" / "trees").iterdir())) == 1
    anew: dict[str, Any] = {"iterations": 1, "no-cache": ""}
    assert solve(tmp_path / "anew", **anew) == 0
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("algorithm", ["pcfr+", "external", "outcome"])
def test_a_run_that_was_stopped_ends_as_one_that_was_not(tmp_path: Path, algorithm: str) -> None:
    for out, goals in ((tmp_path / "one", (90,)), (tmp_path / "two", (17, 40, 90))):
        for iterations in goals:
            assert solve(out, algorithm=algorithm, iterations=iterations, seed=3) == 0
    one, two = (Policy.load(tmp_path / name / "policy.npz") for name in ("one", "two"))
    assert np.array_equal(one.prob, two.prob)
    points = [curve(tmp_path / name) for name in ("one", "two")]
    assert [point for point in points[1] if point in points[0]] == points[0]


def test_a_torn_line_and_one_too_many_are_dropped(tmp_path: Path) -> None:
    solve(tmp_path, iterations=10)
    log = tmp_path / "curve.jsonl"
    whole = log.read_text()
    log.write_text(whole + '{"iteration": 11, "seconds": 1.0}\n{"itera')
    solve(tmp_path, iterations=10)
    assert log.read_text() == whole


def test_sampling_without_a_tree(tmp_path: Path) -> None:
    out = tmp_path / "whole"
    options = {"game": "treasure", "algorithm": "outcome", "no-tree": ""}
    assert solve(out, **options, iterations=40) == 0
    assert solve(out, **options, iterations=60) == 0
    last = curve(out)[-1]
    assert (last["iteration"], last["info_sets"], last["full"]) == (60, 120, False)
    assert not (out / "curve.png").exists()
    Policy.load(out / "policy.npz").check_game(cardcommons.load("treasure"), "policy.npz")


def test_openspiels_games_are_solved_too(tmp_path: Path) -> None:
    words = ["--openspiel", "kuhn_poker", "--out", str(tmp_path / "kuhn"), "--target", "1e-3"]
    assert equilibrium.main(words) == 0
    assert curve(tmp_path / "kuhn")[-1]["values"][0] == pytest.approx(-1 / 18, abs=1e-3)
    assert Policy.load(tmp_path / "kuhn" / "policy.npz").game == "kuhn_poker()"


def test_ctrl_c_ends_a_run_between_iterations(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = [
        "--openspiel",
        "leduc_poker",
        "--minutes",
        "5",
        "--out",
        str(out),
        "--algorithm",
        "cfr",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments.equilibrium", *words],
        env=os.environ | {"CARDCOMMONS_QUIET": "1"},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    while len(equilibrium.read_curve(out / "curve.jsonl")) < 20:
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped; the same command goes on from here" in said
    result = json.loads((out / "result.json").read_text())
    told, _ = read_arrays(out / "checkpoint.npz")
    assert told["iteration"] == result["iteration"]
    assert round(told["notes"]["seconds"], 6) == result["seconds"]
    form, policy = openspiel_form("leduc_poker"), Policy.load(out / "policy.npz")
    assert policy.made["iteration"] == result["iteration"]
    found = exploitability(form, policy.strategy(form.tree))
    assert found == pytest.approx(result["exploitability"], abs=1e-12)


def test_a_tree_from_the_cache_must_fit_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert solve(tmp_path / "one", iterations=1) == 0
    (path,) = (tmp_path / "cache" / "trees").iterdir()
    for memory in (1e-6, 1.01 * path.stat().st_size / 2**30):
        capsys.readouterr()
        assert solve(tmp_path / "two", iterations=1, memory=memory) == 2
        assert f"the tree of {TREASURE} does not fit" in capsys.readouterr().err
    assert solve(tmp_path / "two", iterations=1, memory=4 * path.stat().st_size / 2**30) == 0


class KilledError(Exception):
    """The end of a process that nobody could handle."""


@pytest.mark.parametrize("algorithm", ["dcfr", "external", "outcome"])
def test_a_killed_run_goes_on_between_measurements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert solve(one, algorithm=algorithm, iterations=400) == 0
    unbroken = TreeWork.run

    def run(self: TreeWork, iterations: int) -> None:
        if self.iteration > 205:
            raise KilledError
        unbroken(self, iterations)

    with monkeypatch.context() as broken:
        broken.setattr(TreeWork, "run", run)
        broken.setattr(equilibrium, "_FIRST_SAVE_SECONDS", 0.0)
        broken.setattr(equilibrium, "_SAVE_SECONDS", 0.0)
        with pytest.raises(KilledError):
            solve(two, algorithm=algorithm, iterations=400)
    last = equilibrium.read_curve(two / "curve.jsonl")[-1]
    told, _ = read_arrays(two / "checkpoint.npz")
    assert last["iteration"] < 205 < told["iteration"]
    assert last["seconds"] < told["notes"]["seconds"]
    assert solve(two, algorithm=algorithm, iterations=400) == 0
    assert curve(one) == curve(two)
    prob, again = (Policy.load(out / "policy.npz").prob for out in (one, two))
    assert np.array_equal(prob, again)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "say when to stop: --target, --iterations or --minutes"),
        ({"target": -1}, "--target must be positive, not -1"),
        ({"target": 1, "algorithm": "cfrr"}, "no algorithm is called 'cfrr'; did you mean 'cfr'"),
        ({"target": 1, "openspiel": "kuhn_poker"}, "give either --game or --openspiel"),
        ({"target": 1, "no-tree": ""}, "--target needs a tree"),
        ({"iterations": 1, "no-tree": ""}, "dcfr needs a tree; without one: external or outcome"),
        ({"target": 1, "memory": 0}, "--memory must be positive, not 0"),
        ({"target": 1, "memory": 1e-6}, "tree of treasure:.* does not fit"),
        ({"target": 1, "game": "treasure", "memory": 0.01}, "tree of treasure does not fit"),
    ],
)
def test_what_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: dict[str, str | float],
    complaint: str,
) -> None:
    assert solve(tmp_path, **options) == 2
    *_, line = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert _matches(complaint, line)


def _matches(pattern: str, line: str) -> bool:
    head, _, tail = pattern.partition(".*")
    return head in line and tail in line


def test_openspiel_games_that_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, complaint in (
        ("leduc_pokr", "OpenSpiel has no game 'leduc_pokr'; did you mean 'leduc_poker'?"),
        ("matrix_rps", "convert_to_turn_based"),
    ):
        assert equilibrium.main(["--openspiel", name, "--out", str(tmp_path), "--target", "1"]) == 2
        assert complaint in capsys.readouterr().err
        assert command.run(bench.app, ["--openspiel", name]) == 2
        assert complaint in capsys.readouterr().err


def test_the_folder_of_another_run_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert solve(tmp_path, iterations=5) == 0
    assert solve(tmp_path, iterations=5, algorithm="cfr") == 2
    assert 'holds another run: algorithm was "dcfr", now "cfr"' in capsys.readouterr().err
