"""Tables of solo games, from small logs, against numbers worked out by hand."""

import json
import math

import numpy as np
import pytest

from experiments.deal_standings import standings
from experiments.measures import mean_of
from experiments.ratings import NORMAL_95
from experiments.record import GameRecord
from experiments.table import to_markdown, to_rich
from tests.lab import entry


def game(deal: int, agent: str, utility: float, result: str, seconds: float = 0.0) -> GameRecord:
    """A solo game."""
    return entry(deal, [agent], [utility], result, [seconds])


SMALL = [
    game(0, "wild", -16, "lost"), game(0, "calm", 0, "fair", 0.5),
    game(1, "wild", 3, "good"), game(1, "calm", 1, "good", 0.25),
    game(2, "wild", -16, "lost"), game(2, "calm", -1, "fair", 0.25),
    game(3, "wild", 1, "good"), game(3, "calm", 0, "fair", 0.5),
]  # fmt: skip


def test_table_by_hand() -> None:
    """wild: -16, 3, -16, 1, mean -7, squares about it 81 + 100 + 81 + 64 = 326.

    calm: 0, 1, -1, 0, mean 0, squares 2.  calm less wild: 16, -2, 15, -1, mean 7, squares
    81 + 81 + 64 + 64 = 290.  The error is 1.96 sqrt(squares / 3 / 4).
    """
    table = standings(["wild", "calm"], SMALL)
    calm, wild = table.rows
    assert (calm.rank, calm.agent, calm.deals) == (1, "calm", 4)
    assert (wild.rank, wild.agent, wild.deals) == (2, "wild", 4)
    assert (calm.utility.mean, wild.utility.mean) == (0, -7)
    assert calm.utility.error == pytest.approx(NORMAL_95 * math.sqrt(2 / 12))
    assert wild.utility.error == pytest.approx(NORMAL_95 * math.sqrt(326 / 12))
    assert list(calm.results.items()) == [("good", 1), ("fair", 3), ("lost", 0)]
    assert list(wild.results.items()) == [("good", 2), ("fair", 0), ("lost", 2)]
    assert calm.moves_per_second == pytest.approx(20 / 1.5)
    assert wild.moves_per_second is None
    (difference,) = table.differences
    assert (difference.agent, difference.less, difference.utility.mean) == ("calm", "wild", 7)
    assert difference.utility.error == pytest.approx(NORMAL_95 * math.sqrt(290 / 12))


def test_table_does_not_depend_on_the_order_of_games() -> None:
    assert standings(["calm", "wild"], SMALL[::-1]) == standings(["calm", "wild"], SMALL)


def test_table_as_text() -> None:
    table = standings(["wild", "calm"], SMALL)
    lines = to_markdown(table.sheets(), "solo").splitlines()
    assert lines[0] == "# solo"
    assert lines[2:6] == [
        "|  | agent | deals | utility ± 95 % | good | fair | lost | moves/s |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| 1 | calm | 4 | +0.000 ± 0.800 | 25.0% | 75.0% | 0.0% | 13 |",
        "| 2 | wild | 4 | -7.000 ± 10.216 | 50.0% | 0.0% | 50.0% | – |",
    ]
    assert "| calm | wild | +7.000 ± 9.635 |" in lines
    assert [drawn.row_count for drawn in map(to_rich, table.sheets())] == [2, 1]
    told = json.loads(json.dumps(table.to_json()))
    assert told["rows"][0]["results"] == {"good": 1, "fair": 3, "lost": 0}
    assert told["differences"][0]["utility"]["mean"] == 7


def test_one_agent_and_one_deal() -> None:
    table = standings(["calm"], [game(0, "calm", 2, "")])
    (sheet,) = table.sheets()
    assert list(sheet.heads) == ["", "agent", "deals", "utility ± 95 %", "moves/s"]
    assert sheet.rows == [["1", "calm", "1", "+2.000 ± –", "–"]]
    assert table.differences == []


def test_results_of_one_utility_keep_one_order() -> None:
    games = [game(i, "calm", 0, result) for i, result in enumerate(["DNF", "back", "DSQ"])]
    forth, back = (standings(["calm"], log).rows[0].results for log in (games, games[::-1]))
    assert list(forth) == list(back) == ["back", "DSQ", "DNF"]


def test_interval_covers_the_true_mean() -> None:
    """Of all outcomes of ten fair coins, those with 3 to 7 heads: 120 + 210 + 252 + 210 + 120.

    With 8 heads the error is 1.96 sqrt(1.6 / 9 / 10), 0.261; with 7, it is 0.299.
    """
    hits = 0
    for outcome in range(1 << 10):
        tossed = np.array([outcome >> i & 1 for i in range(10)], dtype=np.float64)
        mean = mean_of(tossed)
        assert mean.error is not None
        hits += abs(mean.mean - 0.5) <= mean.error
    assert hits == 912
