"""Game logs: reading them, checking them against the rules, and showing their games."""

import json
from pathlib import Path
from typing import Any

import pytest

from experiments import replay
from experiments.record import FORMAT, GameRecord, read_lines
from tests.lab import run


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of four games; not to be changed."""
    out = tmp_path_factory.mktemp("log")
    assert run(out, ["random", "greedy"], game="particles:tutorial=True") == 0
    return out / "games.jsonl"


def game(log: Path, **changes: Any) -> dict[str, Any]:
    """The first game of a log, changed."""
    first: dict[str, Any] = json.loads(log.read_bytes().splitlines()[0])
    return first | changes


def test_good_log(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main([str(log)]) == 0
    told = capsys.readouterr()
    actions = sum(len(json.loads(line)["actions"]) for line in log.read_bytes().splitlines())
    assert f"4 of 4 games are in order, {actions} actions in all." in told.out
    assert "random – greedy" in told.out
    assert told.err == ""


def test_faults_are_named_and_the_rest_is_checked(
    tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = game(log)
    bad = [
        game(log, game="nim"),
        game(log, params={"tutorial": 1}),
        game(log, params={"name": "particles"}),
        game(log, actions=first["actions"][:-1]),
        game(log, actions=[*first["actions"], "pass"]),
        game(log, actions=["3h@a1", *first["actions"][1:]]),
        game(log, actions=[first["actions"][0], "nonsense"]),
        game(log, returns=[-x for x in first["returns"]]),
        game(log, agents=["random"]),
        game(log, moves=[100, 0]),
        game(log, result="win"),
        [],
    ]
    lines = [json.dumps(line).encode() for line in bad]
    lines += [b"\xff\xfe{", b"", log.read_bytes().splitlines()[1], json.dumps(first).encode()[:99]]
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"\n".join(lines))
    assert replay.main([str(path)]) == 1
    told = capsys.readouterr()
    complaints = told.err.splitlines()
    for number, complaint in enumerate(
        [
            "no game is called 'nim'",
            "parameter 'tutorial' must be True or False",
            "particles has no parameter 'name'",
            "the game is not over after",
            f"action {len(first['actions']) + 1}: 'pass' can't be played: the game is over",
            "action 1: '3h@a1' is not legal",
            "action 2: ",
            "returns are",
            "key 'returns' has 2 seats, not 1",
            "moves are [100, 0], should be",
            "result is 'win', should be ''",
            "not a JSON object",
            "not JSON",
            "not JSON",
        ],
        start=1,
    ):
        assert complaints[number - 1].startswith(f"{path}, line {number}: ")
        assert complaint in complaints[number - 1]
    assert complaints[14].startswith(f"{path}, line 16: not JSON")
    assert len(complaints) == 15
    assert "1 of 16 games are in order" in told.out


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"format": FORMAT + 1}, f"format {FORMAT + 1} is not known"),
        ({"seed": "7"}, "key 'seed' can't be \"7\""),
        ({"seed": True}, "key 'seed' can't be true"),
        ({"actions": ["pass", 3]}, "key 'actions' can't be"),
        ({"returns": None}, "key 'returns' can't be null"),
        ({"versions": {"numpy": 2}}, "key 'versions' can't be"),
    ],
)
def test_records_of_the_wrong_kind(log: Path, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        GameRecord.from_line(json.dumps(game(log, **changes)).encode())


def test_every_key_is_needed_and_others_are_passed_over(log: Path) -> None:
    first = game(log)
    record = GameRecord.from_line(json.dumps(first | {"colour": "red"}).encode())
    assert json.loads(record.to_line()) == first
    for key in first:
        short = {name: value for name, value in first.items() if name != key}
        with pytest.raises(ValueError, match=f"key '{key}' is missing"):
            GameRecord.from_line(json.dumps(short).encode())


def test_lines_come_with_their_numbers(log: Path) -> None:
    assert [line.number for line in read_lines(log)] == [1, 2, 3, 4]


def test_game_is_shown_move_by_move(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main([str(log), "--show", "2"]) == 0
    told = capsys.readouterr().out
    record = json.loads(log.read_bytes().splitlines()[2])
    assert "game 2: particles:tutorial=True" in told
    for number, action in enumerate(record["actions"], start=1):
        assert f"\n{number}. seat " in told
        assert f"): {action}\n" in told
    assert "1. seat 0 (random, at random): " in told
    boards = told.count("..../..../..../....") + told.count("player 0: ")
    assert boards == len(record["actions"]) + 2
    winner = "+1 -1" if record["returns"][0] > 0 else "-1 +1"
    assert told.endswith(f"returns: {winner}\n")


def test_draws_are_shown_as_chance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, ["random", "greedy"], game="treasure:ranks=3,hand=2", pairs=1) == 0
    log = tmp_path / "games.jsonl"
    assert replay.main([str(log)]) == 0
    assert "2 of 2 games are in order, 56 actions in all." in capsys.readouterr().out
    assert replay.main([str(log), "--show", "1"]) == 0
    told = capsys.readouterr().out
    assert told.count("chance: draw:") == 14
    assert "\n1. chance: draw:" in told
    assert "\n5. seat 0 (greedy, at random): " in told
    assert told.count("home of Red (player 0)") == 1 + 28
    wrong = game(log, actions=["draw:K", *game(log)["actions"][1:]])
    (tmp_path / "wrong.jsonl").write_text(json.dumps(wrong))
    assert replay.main([str(tmp_path / "wrong.jsonl")]) == 1
    assert "action 1: 'draw:K' is not legal" in capsys.readouterr().err


def test_solo_games_are_checked_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, ["random", "greedy"], game="rally", pairs=3) == 0
    log = tmp_path / "games.jsonl"
    capsys.readouterr()
    assert replay.main([str(log)]) == 0
    assert "6 of 6 games are in order" in capsys.readouterr().out
    first = game(log)
    assert replay.main([str(log), "--show", "0"]) == 0
    told = capsys.readouterr().out
    assert f"\n1. chance: {first['actions'][0]}\n" in told
    assert f"\n2. seat 0 (random): {first['actions'][1]}\n" in told
    assert told.endswith(f"returns: {first['returns'][0]:+g} {first['result']}\n")
    wrong = game(log, result="win", returns=first["returns"])
    (tmp_path / "wrong.jsonl").write_text(json.dumps(wrong))
    assert replay.main([str(tmp_path / "wrong.jsonl")]) == 1
    assert f"result is 'win', should be {first['result']!r}" in capsys.readouterr().err


def test_game_that_is_not_there(
    tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay.main([str(log), "--show", "9"]) == 2
    assert f"error: {log} has no game 9\n" == capsys.readouterr().err
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"{\n" + log.read_bytes())
    assert replay.main([str(path), "--show", "9"]) == 2
    assert "has no game 9; damaged lines: 1" in capsys.readouterr().err


def test_bad_game_is_not_shown(
    tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(game(log, actions=["pass"])))
    assert replay.main([str(path), "--show", "0"]) == 1
    told = capsys.readouterr()
    assert f"{path}, line 1: action 1: 'pass' is not legal" in told.err
    assert told.out == ""


def test_games_occur_once(tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(log.read_bytes() + log.read_bytes().splitlines(keepends=True)[1])
    assert replay.main([str(path)]) == 1
    told = capsys.readouterr()
    assert told.err == f"{path}, line 5: index 1 is that of line 2 too\n"
    assert "4 of 5 games are in order" in told.out


def test_empty_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games.jsonl"
    path.touch()
    assert replay.main([str(path)]) == 2
    assert capsys.readouterr().err == f"error: {path} holds no games\n"


def test_log_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main([str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == f"error: {tmp_path / 'none'}: No such file or directory\n"
    assert replay.main([]) == 2
    assert capsys.readouterr().err.count("\n") == 1
