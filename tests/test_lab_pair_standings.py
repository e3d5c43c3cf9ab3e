"""Tables of two-player games, from small logs, against numbers worked out by hand."""

import math

import pytest

from experiments.pair_standings import standings
from experiments.ratings import NORMAL_95
from experiments.record import GameRecord
from experiments.table import to_markdown
from tests.lab import entry


def game(deal: int, first: str, second: str, utility: float) -> GameRecord:
    """A game of two, told by the first seat's utility."""
    return entry(deal, [first, second], [utility, -utility], "", [0.0, 0.0])


def deal(number: int, *utilities: float) -> list[GameRecord]:
    """Both games of a deal, told by the utilities of calm."""
    one, other = utilities
    return [game(number, "calm", "wild", one), game(number, "wild", "calm", -other)]


def test_errors_are_over_deals() -> None:
    """In the deals calm scores 1, 1/2, 1/2 and 3/4: mean 11/16.

    Squares about it: (25 + 9 + 9 + 1) / 256.  Games taken one by one would tell a third more.
    """
    records = deal(0, 1, 1) + deal(1, 1, -1) + deal(2, -1, 1) + deal(3, 1, 0)
    calm, wild = standings(["wild", "calm"], records).rows
    assert (calm.agent, calm.score, calm.wins, calm.draws, calm.losses) == (
        "calm",
        11 / 16,
        5,
        1,
        2,
    )
    assert (wild.agent, wild.score) == ("wild", 5 / 16)
    error = NORMAL_95 * math.sqrt(44 / 256 / 3 / 4)
    assert calm.score_error == pytest.approx(error)
    assert wild.score_error == pytest.approx(error)
    table = to_markdown(standings(["wild", "calm"], records).sheets(), "pairs")
    assert "| 8 | 68.8% ± 23.5% | 5/1/2 |" in table


def test_a_single_deal_has_no_error() -> None:
    table = standings(["calm", "wild"], deal(0, 1, 1))
    assert [row.score_error for row in table.rows] == [None, None]
    assert "100.0% ± – |" in to_markdown(table.sheets(), "pair")
