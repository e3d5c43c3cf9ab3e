"""Tournaments of three players and more: small logs by hand, and runs of Gluons."""

import json
import math
import statistics
from pathlib import Path

import pytest

import agents
from cardcommons import load
from experiments.match import play
from experiments.plackett_luce import Outcome, rate
from experiments.ratings import NORMAL_95
from experiments.record import GameRecord
from experiments.replay import examine
from experiments.rotation_standings import standings
from experiments.schedule import every_rotation
from experiments.table import to_markdown, to_rich
from tests.lab import entry, games, run

GLUONS = "gluons:players=3,max_rounds=2,utility=points"
FIELD = ["random", "greedy", "ismcts:sims=5"]


SMALL = [
    entry(0, "abc", [2, -1, -1], seconds=[0.5, 0.0, 0.0]),
    entry(0, "bca", [0, -1, 1], seconds=[0.0, 0.0, 0.5]),
    entry(0, "cab", [0, 0, 0], seconds=[0.0, 1.5, 0.0]),
    entry(1, "acb", [-1, -1, 2]),
    entry(1, "cba", [-3, 0, 3]),
    entry(1, "bac", [1, -2, 1]),
]


def test_table_by_hand() -> None:
    """The returns of a: 2, 1, 0 in the first deal, mean 1; -1, 3, -2 in the second, mean 0.

    b: -1, 0, 0, mean -1/3; 2, 0, 1, mean 1.  c: -1, -1, 0, mean -2/3; -1, -3, 1, mean -1.  Two
    means that are d apart have a standard error of d / 2.
    The places of a: 1, 1, 2 (all three tie); 2.5, 1, 3.
    """
    table = standings(["c", "a", "b"], SMALL)
    rows = {row.agent: row for row in table.rows}
    assert [(row.rank, row.agent) for row in table.rows] == [(1, "a"), (2, "b"), (3, "c")]
    assert {(row.games, len(row.places)) for row in table.rows} == {(6, 3)}
    for agent, first, second in (("a", 1, 0), ("b", -1 / 3, 1), ("c", -2 / 3, -1)):
        utility = rows[agent].utility
        assert utility.mean == pytest.approx((first + second) / 2)
        assert utility.error == pytest.approx(NORMAL_95 * abs(first - second) / 2)
    a = rows["a"]
    assert a.place == pytest.approx((1 + 1 + 2 + 2.5 + 1 + 3) / 6)
    third = 1 / 3
    assert a.places == pytest.approx(
        [(1 + 1 + third + 1) / 6, (third + 0.5) / 6, (third + 0.5 + 1) / 6]
    )
    assert a.seat_utilities == pytest.approx([(2 - 1) / 2, (0 - 2) / 2, (1 + 3) / 2])
    assert a.moves_per_second == pytest.approx(30 / 2.5)
    assert rows["b"].moves_per_second is None
    assert (table.games, table.deals) == (6, 2)
    first_seat = table.seat_utilities[0]  # 2, 0, 0 and -1, -3, 1
    assert first_seat.mean == pytest.approx((2 / 3 - 1) / 2)
    assert first_seat.error == pytest.approx(NORMAL_95 * (2 / 3 + 1) / 2)


def test_ratings_are_those_of_the_places() -> None:
    a, b, c = 0, 1, 2
    deals: list[list[Outcome]] = [
        [((a,), (b, c)), ((a,), (b,), (c,)), ((a, b, c),)],
        [((b,), (a, c)), ((a,), (b,), (c,)), ((b, c), (a,))],
    ]
    found = rate(3, deals)
    assert found.error is not None
    for row in standings("abc", SMALL).rows:
        assert row.rating == pytest.approx(found.elo["abc".index(row.agent)], abs=1e-9)
        assert row.rating_error == pytest.approx(found.error["abc".index(row.agent)])


def test_agent_in_several_seats_counts_for_each() -> None:
    table = standings(
        "ab",
        [entry(0, "aab", [2, -1, -1]), entry(0, "aba", [-3, 3, 0]), entry(0, "baa", [0, 0, 0])],
    )
    a, b = (next(row for row in table.rows if row.agent == agent) for agent in "ab")
    assert (a.games, b.games) == (6, 3)
    assert a.utility.mean == pytest.approx(-2 / 6)
    assert b.utility.mean == pytest.approx(2 / 3)
    assert a.utility.error is a.rating_error is None
    assert b.places == pytest.approx([(1 + 1 / 3) / 3, (0.5 + 1 / 3) / 3, (0.5 + 1 / 3) / 3])
    assert a.seat_utilities == pytest.approx([-0.5, -0.5, 0])


def test_table_as_text() -> None:
    table = standings("abc", SMALL)
    lines = to_markdown(table.sheets(), "three").splitlines()
    assert lines[2:4] == [
        "|  | agent | games | utility ± 95 % | rating ± 95 % | place | 1st | 2nd | 3rd | moves/s |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    a = table.rows[0]
    assert a.rating_error is not None
    rating = f"{round(a.rating):+d} ± {a.rating_error:.0f}"
    assert lines[4] == (
        f"| 1 | a | 6 | +0.500 ± 0.980 | {rating} | 1.75 | 55.6% | 13.9% | 30.6% | 12 |"
    )
    assert "| a | +0.500 | -1.000 | +2.000 |" in lines
    assert "| all ± 95 % | -0.167 ± 1.633 | -0.833 ± 0.327 | +1.000 ± 1.960 |" in lines
    assert [drawn.row_count for drawn in map(to_rich, table.sheets())] == [3, 4]
    told = json.loads(json.dumps(table.to_json()))
    assert told["rows"][0]["utility"]["mean"] == 0.5
    assert told["virtual_draws"] == 1


def test_five_players_have_five_places() -> None:
    turned = ["ababa", "babaa", "abaab", "baaba", "aabab"]
    sheet, seats = standings("ab", [entry(0, one, [0, 1, 2, 3, -6]) for one in turned]).sheets()
    assert list(sheet.heads)[6:] == ["1st", "2nd", "3rd", "4th", "5th", "moves/s"]
    assert list(seats.heads)[1:] == [f"seat {seat}" for seat in range(5)]
    assert {len(row) for row in sheet.rows} == {len(sheet.heads)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of 18 games; not to be changed."""
    out = tmp_path_factory.mktemp("whole")
    assert run(out, FIELD, game=GLUONS, pairs=6) == 0
    return out


def test_log_holds_every_deal_in_all_rotations(whole: Path) -> None:
    logged = games(whole)
    schedule = every_rotation(3, FIELD, 6, 5)
    assert [(one["agents"], one["seed"], one["pair"]) for one in logged] == [
        (list(fixture.agents), fixture.seed, fixture.pair) for fixture in schedule
    ]
    for first in range(0, 18, 3):
        hands = {tuple(one["actions"][:15]) for one in logged[first : first + 3]}
        assert len(hands) == 1
        assert all(draw.startswith("draw:") for draw in hands.pop())
    assert len({tuple(one["actions"][:15]) for one in logged}) == 6
    assert {one["opening"] for one in logged} == {0}
    assert not examine(whole / "games.jsonl").faults


def test_run_is_the_same_for_any_workers_and_after_any_cut(whole: Path, tmp_path: Path) -> None:
    assert run(tmp_path / "two", FIELD, game=GLUONS, pairs=6, workers=2) == 0
    assert games(tmp_path / "two") == games(whole)
    content = (whole / "games.jsonl").read_bytes()
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / "run.json").write_bytes((whole / "run.json").read_bytes())
    for share in (5, 2):
        (cut / "games.jsonl").write_bytes(content[: len(content) // share])
        assert run(cut, FIELD, game=GLUONS, pairs=6) == 0
        assert games(cut) == games(whole)


def test_a_logged_game_can_be_played_again(whole: Path) -> None:
    for line in (whole / "games.jsonl").read_bytes().splitlines()[::5]:
        record = GameRecord.from_line(line)
        gluons = load(record.game, **record.params)
        players = [agents.make_agent(spec, gluons) for spec in record.agents]
        assert list(play(gluons, players, record.seed).actions) == record.actions


def test_table_agrees_with_the_log(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(whole, FIELD, game=GLUONS, pairs=6) == 0
    shown = capsys.readouterr().out
    told = json.loads((whole / "table.json").read_text())
    logged = games(whole)
    assert (told["games"], told["deals"]) == (18, 6)
    assert told["settings"] == json.loads((whole / "run.json").read_text())
    for row in told["rows"]:
        won = [one["returns"][one["agents"].index(row["agent"])] for one in logged]
        by_deal = [statistics.mean(won[first : first + 3]) for first in range(0, 18, 3)]
        error = NORMAL_95 * statistics.stdev(by_deal) / math.sqrt(6)
        assert row["utility"]["mean"] == pytest.approx(statistics.mean(won))
        assert row["utility"]["error"] == pytest.approx(error)
        assert f"{statistics.mean(won):+.3f} ± {error:.3f}" in shown
        places = [
            1 + sum(x > mine for x in one["returns"]) + (one["returns"].count(mine) - 1) / 2
            for one, mine in zip(logged, won, strict=True)
        ]
        assert row["place"] == pytest.approx(statistics.mean(places))
        assert statistics.mean(row["seat_utilities"]) == pytest.approx(statistics.mean(won))
        assert sum(row["places"]) == pytest.approx(1)
        assert row["moves_per_second"] > 0
    assert sum(row["rating"] for row in told["rows"]) == pytest.approx(0, abs=1e-6)
    assert sum(seat["mean"] for seat in told["seat_utilities"]) == pytest.approx(0, abs=1e-9)
    assert told["rows"][-1]["agent"] == "random"


def test_openings_are_the_same_for_all_of_a_deal(tmp_path: Path) -> None:
    assert run(tmp_path, ["random", "greedy"], game=GLUONS, pairs=2, opening=4) == 0
    logged = games(tmp_path)
    assert len(logged) == 2 * 2 * 3
    for first in (0, 6):
        of_deal = logged[first : first + 6]
        assert {one["opening"] for one in of_deal} == {15 + 4}
        assert len({tuple(one["actions"][:19]) for one in of_deal}) == 1
    assert not examine(tmp_path / "games.jsonl").faults


def test_numbers_of_deals_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, FIELD, game=GLUONS, pairs=0) == 2
    assert capsys.readouterr().err == "error: deals must be at least 1, not 0\n"
