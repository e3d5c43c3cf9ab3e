"""Tournaments: their files, their errors, and that nothing is lost or repeated on the way."""

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import agents
from cardcommons import State, load
from experiments import tournament
from experiments.folder import RunFolder
from experiments.match import play, random_opening
from experiments.record import GameRecord
from experiments.replay import examine
from experiments.schedule import round_robin
from tests.lab import FIELD, Listener, arguments, games, run

LOGGED = {
    "format", "index", "pair", "game", "params", "agents", "seed", "opening", "actions",
    "returns", "result", "moves", "seconds", "started", "versions",
}  # fmt: skip

SOLO_FIELD = ["random", "expectimax"]
BANDS = ["win", "podium", "middle", "back", "DSQ", "DNF"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of 12 games; not to be changed."""
    out = tmp_path_factory.mktemp("whole")
    assert run(out) == 0
    return out


def test_log_holds_everything(whole: Path) -> None:
    lines = (whole / "games.jsonl").read_text().splitlines()
    logged = [json.loads(line) for line in lines]
    assert [game["index"] for game in logged] == list(range(12))
    for game, fixture in zip(logged, round_robin(FIELD, 2, 5), strict=True):
        assert set(game) == LOGGED
        assert game["params"] == {"tutorial": False, "torus": False, "position": ""}
        assert (game["agents"], game["seed"]) == (list(fixture.agents), fixture.seed)
        assert (game["opening"], game["pair"]) == (2, fixture.pair)
        assert sum(game["moves"]) == len(game["actions"]) - 2
        assert set(game["versions"]) == {
            "cardcommons", "commit", "python", "numpy", "numba", "open_spiel"
        }  # fmt: skip
    assert logged[0]["actions"][:2] == logged[1]["actions"][:2]
    assert logged[0]["actions"][:2] != logged[6]["actions"][:2]
    assert not examine(whole / "games.jsonl").faults


def test_a_logged_game_can_be_played_again(whole: Path) -> None:
    record = GameRecord.from_line((whole / "games.jsonl").read_bytes().splitlines()[4])
    game = load(record.game, **record.params)
    state = State(game)
    opening = []
    for action in record.actions[: record.opening]:
        opening.append(state.string_to_action(action))
        state.apply(action)
    players = [agents.make_agent(spec, game) for spec in record.agents]
    played = play(game, players, record.seed, opening)
    assert list(played.actions) == record.actions
    fixture = round_robin(FIELD, 2, 5)[4]
    assert tuple(opening) == random_opening(game, fixture.opening_seed, 2)


def test_table_agrees_with_the_log(whole: Path) -> None:
    told = json.loads((whole / "table.json").read_text())
    logged = games(whole)
    for row in told["rows"]:
        mine = [game for game in logged if row["agent"] in game["agents"]]
        won = sum(game["returns"][game["agents"].index(row["agent"])] > 0 for game in mine)
        first = [game["returns"][0] > 0 for game in mine if game["agents"][0] == row["agent"]]
        assert (row["games"], row["wins"], row["losses"], row["draws"]) == (8, won, 8 - won, 0)
        assert row["score"] == won / 8
        halves = [
            sum(g["returns"][g["agents"].index(row["agent"])] > 0 for g in mine[i : i + 4])
            for i in (0, 4)
        ]
        assert row["score_error"] == pytest.approx(1.959964 * abs(halves[0] - halves[1]) / 4 / 2)
        assert row["first_score"] == sum(first) / 4
        assert row["first_score"] + row["second_score"] == pytest.approx(2 * row["score"])
        assert row["moves_per_second"] > 0
    assert [row["rank"] for row in told["rows"]] == [1, 2, 3]
    assert told["rows"][-1]["agent"] == "random"
    assert told["first_seat_score"] == sum(game["returns"][0] > 0 for game in logged) / 12
    assert told["settings"] == json.loads((whole / "run.json").read_text())
    assert (whole / "table.md").read_text().count("\n|") == 5


def test_finished_run_plays_nothing_and_prints_its_table(
    whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (whole / "games.jsonl").read_bytes()
    assert run(whole) == 0
    told = capsys.readouterr()
    assert "12 of 12 games are there already" in told.err
    assert all(spec in told.out for spec in FIELD)
    assert "seat scored" in told.out
    assert (whole / "games.jsonl").read_bytes() == before


def test_specs_are_brought_to_their_shortest_form(whole: Path) -> None:
    same = ["random", "greedy", "minimax:table=20,depth=1"]
    assert run(whole, same, game="particles:tutorial=False") == 0


def test_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    field = ["random", "mcts:sims=20", "minimax:depth=2"]
    assert run(tmp_path / "one", agents=field) == 0
    assert run(tmp_path / "two", field, workers=2) == 0
    assert games(tmp_path / "one") == games(tmp_path / "two")


def test_workers_find_everything_compiled(tmp_path: Path) -> None:
    """From an empty cache, each kernel is compiled once, before the workers begin."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    env.pop("CARDCOMMONS_QUIET", None)
    told = arguments(tmp_path / "run", ["random", "greedy"], workers=2)
    command = [sys.executable, "-m", "experiments.tournament", *told]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    compiled = [line for line in done.stderr.splitlines() if "compiling" in line]
    assert any("turn_values" in line for line in compiled)
    labels = [line.split(" (")[0] for line in compiled]
    assert sorted(labels) == sorted(set(labels))


@pytest.mark.parametrize("left", [0, 1, 5000, -300, -2, -1])
def test_log_cut_anywhere_is_continued(tmp_path: Path, whole: Path, left: int) -> None:
    content = (whole / "games.jsonl").read_bytes()
    (tmp_path / "run.json").write_bytes((whole / "run.json").read_bytes())
    (tmp_path / "games.jsonl").write_bytes(content[:left])
    assert run(tmp_path) == 0
    assert games(tmp_path) == games(whole)
    kept = content[:left].rfind(b"\n") + 1
    torn = tmp_path / "torn.txt"
    if left in (0, -1):  # nothing there, or a line that lacks only its end
        assert not torn.exists()
    else:
        assert torn.read_bytes() == content[kept:left] + b"\n"
    again = (tmp_path / "games.jsonl").read_bytes()
    assert again[:kept] == content[:kept]


def test_games_with_draws_and_hidden_hands_are_logged_and_continued(tmp_path: Path) -> None:
    field, game = ["random", "greedy", "ismcts:sims=5"], "treasure:ranks=6,utility=margin"
    assert run(tmp_path / "whole", field, game=game, workers=2) == 0
    logged = games(tmp_path / "whole")
    assert [entry["index"] for entry in logged] == list(range(12))
    for entry in logged:
        draws = [action for action in entry["actions"] if action.startswith("draw:")]
        assert (len(draws), len(entry["actions"])) == (26, 52)
        assert entry["opening"] == 6 + 2  # both first hands, and two decisions
        assert sum(entry["moves"]) == 26 - 2
        assert sum(entry["returns"]) == 0
    assert not examine(tmp_path / "whole" / "games.jsonl").faults
    content = (tmp_path / "whole" / "games.jsonl").read_bytes()
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "games.jsonl").write_bytes(content[: len(content) // 2])
    (tmp_path / "cut" / "run.json").write_bytes((tmp_path / "whole" / "run.json").read_bytes())
    assert run(tmp_path / "cut", field, game=game) == 0
    assert games(tmp_path / "cut") == logged


def test_solo_run_is_the_same_for_any_workers_and_after_any_cut(tmp_path: Path) -> None:
    whole, twice = tmp_path / "whole", tmp_path / "twice"
    assert run(whole, SOLO_FIELD, game="rally", pairs=6) == 0
    assert run(twice, SOLO_FIELD, game="rally", pairs=6, workers=2) == 0
    logged = games(whole)
    assert games(twice) == logged
    assert [entry["agents"] for entry in logged] == [[spec] for spec in SOLO_FIELD] * 6
    assert [entry["pair"] for entry in logged] == [deal for deal in range(6) for _ in SOLO_FIELD]
    assert {entry["opening"] for entry in logged} == {0}
    assert {entry["result"] for entry in logged} <= set(BANDS)
    for entry in logged:
        assert set(entry) == LOGGED - {"seconds", "started"}
        of_deal = [other for other in logged if other["pair"] == entry["pair"]]
        assert len({(other["seed"], other["actions"][0]) for other in of_deal}) == 1
    assert len({entry["actions"][0] for entry in logged}) > 1
    assert not examine(whole / "games.jsonl").faults
    content = (whole / "games.jsonl").read_bytes()
    for share in (3, 2):
        (tmp_path / "cut").mkdir(exist_ok=True)
        (tmp_path / "cut" / "run.json").write_bytes((whole / "run.json").read_bytes())
        (tmp_path / "cut" / "games.jsonl").write_bytes(content[: len(content) // share])
        assert run(tmp_path / "cut", SOLO_FIELD, game="rally", pairs=6) == 0
        assert games(tmp_path / "cut") == logged


def test_a_logged_solo_game_can_be_played_again(tmp_path: Path) -> None:
    assert run(tmp_path, ["random"], game="rally:jokers=30", pairs=2) == 0
    for line in (tmp_path / "games.jsonl").read_bytes().splitlines():
        record = GameRecord.from_line(line)
        game = load(record.game, **record.params)
        played = play(game, [agents.make_agent("random", game)], record.seed)
        assert (list(played.actions), played.result) == (record.actions, record.result)


def test_solo_table_agrees_with_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    field = ["random", "expectimax"]
    assert run(tmp_path, field, game="rally:stages=2-3-5-2", pairs=30) == 0
    shown = capsys.readouterr().out
    told = json.loads((tmp_path / "table.json").read_text())
    logged = games(tmp_path)
    utilities = {
        spec: [game["returns"][0] for game in logged if game["agents"] == [spec]] for spec in field
    }
    assert [row["agent"] for row in told["rows"]] == ["expectimax", "random"]
    assert told["deals"] == 30
    for row in told["rows"]:
        mine = utilities[row["agent"]]
        assert row["utility"]["mean"] == pytest.approx(statistics.mean(mine))
        error = 1.959964 * statistics.stdev(mine) / 30**0.5
        assert row["utility"]["error"] == pytest.approx(error, rel=1e-6)
        assert f"{statistics.mean(mine):+.3f} ± {error:.3f}" in shown
        for result, count in row["results"].items():
            ended = [g for g in logged if (g["agents"], g["result"]) == ([row["agent"]], result)]
            assert count == len(ended)
        assert sum(row["results"].values()) == 30
    bands = list(told["rows"][0]["results"])
    assert bands == [band for band in BANDS if band in bands]
    (difference,) = told["differences"]
    apart = [x - y for x, y in zip(utilities["expectimax"], utilities["random"], strict=True)]
    assert difference["utility"]["mean"] == pytest.approx(statistics.mean(apart))
    error = 1.959964 * statistics.stdev(apart) / 30**0.5
    assert difference["utility"]["error"] == pytest.approx(error, rel=1e-6)
    markdown = (tmp_path / "table.md").read_text()
    assert f"| expectimax | random | {statistics.mean(apart):+.3f} ± {error:.3f} |" in markdown


def test_deals_is_another_word_for_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--game", "rally:stages=0-1-0-1", "--agents", "random", "--out", str(tmp_path)]
    assert tournament.main([*words, "--deals", "3"]) == 0
    assert len(games(tmp_path)) == 3
    capsys.readouterr()
    assert tournament.main([*words, "--pairs", "3"]) == 0
    assert "3 of 3 games are there already" in capsys.readouterr().err
    assert tournament.main([*words, "--deals", "0"]) == 2
    assert "deals must be at least 1, not 0" in capsys.readouterr().err


def test_no_opening_is_a_whole_game() -> None:
    smallest = "treasure:rows=2,columns=1,ranks=1,copies=1,treasure=False,hand=1"
    assert tournament.make_settings(smallest, ["greedy", "random"], 1, 0, None).opening == 1
    assert tournament.make_settings("treasure", ["greedy", "random"], 1, 0, None).opening == 2


def test_solo_openings_are_the_same_for_all(tmp_path: Path) -> None:
    assert run(tmp_path, SOLO_FIELD, game="rally", pairs=2, opening=1) == 0
    for first, other in zip(games(tmp_path)[::2], games(tmp_path)[1::2], strict=True):
        assert first["opening"] == other["opening"] >= 2
        assert first["actions"][: first["opening"]] == other["actions"][: other["opening"]]
    assert not examine(tmp_path / "games.jsonl").faults


def test_agents_that_can_not_play_a_game_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for spec in ("mcts", "minimax", "openspiel_mcts"):
        assert run(tmp_path / "out", ["random", spec], game="treasure") == 2
        told = capsys.readouterr().err
        assert told.startswith(f"error: {spec} needs perfect information")
        assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_torn_line_is_named(
    tmp_path: Path, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.json").write_bytes((whole / "run.json").read_bytes())
    (tmp_path / "games.jsonl").write_bytes((whole / "games.jsonl").read_bytes()[:-20])
    assert run(tmp_path) == 0
    told = capsys.readouterr().err
    assert f"a line that was cut short is now in {tmp_path / 'torn.txt'}" in told
    assert "11 of 12 games are there already" in told


def _damage(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1][:40] + b"\n", *lines[2:]]


def _swap(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[2], lines[1], *lines[3:]]


def _lose(lines: list[bytes]) -> list[bytes]:
    return [lines[0], *lines[2:]]


def _repeat(lines: list[bytes]) -> list[bytes]:
    return [*lines, lines[-1]]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (_damage, "games.jsonl, line 2 is damaged: not JSON"),
        (_swap, "games.jsonl, line 2 is not game 1 of this run"),
        (_lose, "games.jsonl, line 2 is not game 1 of this run"),
        (_repeat, "games.jsonl holds more games than the 12 of its run"),
    ],
)
def test_log_that_no_kill_leaves_behind_is_refused(
    tmp_path: Path,
    whole: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[list[bytes]], list[bytes]],
    complaint: str,
) -> None:
    changed = b"".join(change((whole / "games.jsonl").read_bytes().splitlines(keepends=True)))
    (tmp_path / "run.json").write_bytes((whole / "run.json").read_bytes())
    (tmp_path / "games.jsonl").write_bytes(changed)
    assert run(tmp_path) == 2
    assert complaint in capsys.readouterr().err
    assert (tmp_path / "games.jsonl").read_bytes() == changed


def test_other_settings_are_refused_by_name(
    whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(whole, opening=3, seed=6) == 2
    told = capsys.readouterr().err
    assert "holds another run: seed was 5, now 6; opening was 2, now 3" in told
    assert run(whole, game="particles:torus=True", pairs=3) == 2
    told = capsys.readouterr().err
    assert "params was" in told
    assert "pairs was 2, now 3" in told
    assert "seed was" not in told


@pytest.mark.parametrize("content", ["{", "[]"])
def test_damaged_settings_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    (tmp_path / "run.json").write_text(content)
    assert run(tmp_path) == 2
    assert f"{tmp_path / 'run.json'} is damaged" in capsys.readouterr().err


def test_log_without_settings_is_refused(
    tmp_path: Path, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "games.jsonl").write_bytes((whole / "games.jsonl").read_bytes())
    assert run(tmp_path) == 2
    assert "not the run.json that it belongs to" in capsys.readouterr().err


def test_folder_in_use_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RunFolder(tmp_path).locked():
        assert run(tmp_path) == 2
    assert f"another run is using {tmp_path}" in capsys.readouterr().err
    assert not (tmp_path / "games.jsonl").exists()


def test_other_versions_are_noted(
    tmp_path: Path, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.json").write_bytes((whole / "run.json").read_bytes())
    first = json.loads((whole / "games.jsonl").read_bytes().splitlines()[0])
    first["versions"]["numba"] = "0.1"
    (tmp_path / "games.jsonl").write_text(json.dumps(first) + "\n")
    assert run(tmp_path) == 0
    assert "versions have changed since: numba 0.1 →" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--game", "particle"], "did you mean 'particles'?"),
        (["--game", "particles:tutorail=True"], "no parameter 'tutorail'; did you mean"),
        (["--game", "particles:position=....x"], "....x"),
        (["--agents", "random", "gredy"], "did you mean 'greedy'?"),
        (["--agents", "random", "mcts:sim=5"], "did you mean 'sims'?"),
        (["--agents", "random", "mcts:sims=0"], "must be positive"),
        (["--agents", "random", "bot:make=no.such.function"], "no.such.function"),
        (["--agents", "random"], "at least 2 agents, not 1"),
        (["--agents", "greedy", "random", "greedy"], "'greedy' is listed more than once"),
        (["--agents", "minimax", "minimax:table=20"], "'minimax' is listed more than once"),
        (["--pairs", "0"], "pairs must be at least 1, not 0"),
        (["--pairs", "many"], "many"),
        (["--opening", "-1"], "opening must be at least 0 and less than 52, the most decisions"),
        (["--opening", "500"], "of a game, not 500"),
        (["--workers", "0"], "workers must be at least 1, not 0"),
        (["--colour", "red"], "--colour"),
        (["--out", os.devnull], f"{os.devnull} is not a folder"),
        (["--out", f"{os.devnull}/below"], "Not a directory"),
    ],
)
def test_user_errors_take_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    told = {"--game": ["particles"], "--agents": FIELD, "--out": [str(tmp_path / "out")]}
    told[words[0]] = words[1:]
    flat = [word for option, values in told.items() for word in (option, *values)]
    assert tournament.main(flat) == 2
    told_err = capsys.readouterr().err
    assert told_err.startswith("error: ")
    assert complaint in told_err
    assert told_err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_log_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "games.jsonl").mkdir()
    assert run(tmp_path) == 2
    assert "games.jsonl" in capsys.readouterr().err


class Failing(Listener):
    """Gives up in its third game, or is interrupted there."""

    name = "failing"
    error: type[BaseException] = ZeroDivisionError
    restarts = 0

    def restart(self, seed: int) -> None:
        super().restart(seed)
        Failing.restarts += 1
        if Failing.restarts == 3:
            raise self.error("tired")


def test_failing_agent_is_no_user_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agents.AGENTS, "failing", Failing)
    monkeypatch.setattr(Failing, "restarts", 0)
    with pytest.raises(RuntimeError, match=r"broke off in Fixture\(index=2, .*: tired"):
        run(tmp_path, agents=["random", "failing"])
    assert [game["index"] for game in games(tmp_path)] == [0, 1]


def test_interrupted_run_says_how_to_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(agents.AGENTS, "failing", Failing)
    monkeypatch.setattr(Failing, "restarts", 0)
    monkeypatch.setattr(Failing, "error", KeyboardInterrupt)
    assert run(tmp_path, agents=["random", "failing"]) == 130
    message = capsys.readouterr().err.splitlines()
    assert message[0].startswith("stopped; 2 of 4 games are in")
    words = message[1].split()
    assert words[:3] == ["python", "-m", "experiments.tournament"]
    assert tournament.main(words[3:]) == 0
    assert [game["index"] for game in games(tmp_path)] == [0, 1, 2, 3]


_TWO = ["random", "greedy"]


def _start(out: Path, workers: int) -> subprocess.Popen[bytes]:
    words = arguments(out, _TWO, pairs=150, workers=workers)
    command = [sys.executable, "-m", "experiments.tournament", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _wait_for_games(process: subprocess.Popen[bytes], log: Path, count: int) -> None:
    """Wait until the log holds this many games, or the process has ended."""
    while process.poll() is None:
        if log.exists() and log.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.001)


def test_killed_again_and_again_nothing_is_lost_or_repeated(tmp_path: Path) -> None:
    log = tmp_path / "killed" / "games.jsonl"
    before = b""
    for count, workers in ((7, 2), (60, 1), (133, 1)):
        process = _start(log.parent, workers)
        _wait_for_games(process, log, count)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        content = log.read_bytes()
        assert content.startswith(before[: before.rfind(b"\n") + 1])
        before = content
    assert before.count(b"\n") < 300
    assert run(log.parent, _TWO, pairs=150) == 0
    assert run(tmp_path / "whole", _TWO, pairs=150) == 0
    assert games(log.parent) == games(tmp_path / "whole")


def test_request_to_terminate_ends_workers_and_says_how_to_continue(tmp_path: Path) -> None:
    process = _start(tmp_path, workers=2)
    _wait_for_games(process, tmp_path / "games.jsonl", 5)
    process.terminate()
    _, told = process.communicate(timeout=60)  # which waits for the workers' ends of the pipe
    assert process.returncode == 130
    assert b"of 300 games are in" in told
    assert b"to continue:\n  python -m experiments.tournament --game particles" in told
    assert b"Traceback" not in told
