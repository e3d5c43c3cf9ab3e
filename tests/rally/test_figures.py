"""Exact counts and values of whole rallies, on which independent engines agree."""

from fractions import Fraction
from typing import NamedTuple

import pytest

from agents.expectimax import TO_THE_END, Search
from cardcommons import State, load
from cardcommons.perft import perft
from tests.rally import trees
from tests.twins import rally as slow
from tests.twins.rally import Twin


class Row(NamedTuple):
    """What a whole rally comes to under best play."""

    stages: str
    jokers: int
    histories: int
    decisions: int
    score: Fraction
    win: Fraction

    def __str__(self) -> str:
        return f"{self.stages}, {self.jokers} Jokers"


SMALL = (
    Row("1-0-0-0", 2, 102, 7, Fraction(-31, 99), Fraction(3, 11)),
    Row("1-0-0-1", 2, 187, 22, Fraction(17, 33), Fraction(17, 33)),
    Row("0-1-0-1", 2, 2148, 262, Fraction(2, 11), Fraction(3, 11)),
    Row("0-0-1-0", 2, 11924, 860, Fraction(-83623, 207900), Fraction(1, 5)),
    Row("2-0-0-1", 2, 20684, 2389, Fraction(2617, 3465), Fraction(637, 990)),
    # Confirmed by going through all shuffles of real cards.
    Row("2-0-0-1", 0, 5694, 601, Fraction(1444, 3465), Fraction(637, 990)),
    Row("1-0-0-1/1-0-0-1", 2, 24553, 2904, Fraction(34, 33), Fraction(833, 1089)),
)
ROWS = (
    *SMALL,
    Row("1-1-0-1", 2, 406391, 47868, Fraction(62707, 114345), Fraction(817, 1452)),
)
UTILITIES = ("score", "win")


@pytest.mark.parametrize("row", ROWS, ids=str)
@pytest.mark.parametrize("utility", UTILITIES)
def test_the_search_finds_the_optimum(row: Row, utility: str) -> None:
    game = load("rally", stages=row.stages, jokers=row.jokers, utility=utility)
    search = Search(game, 16, most_entries=1 << 20)
    value = search.value(State(game), TO_THE_END)
    assert value == pytest.approx(float(getattr(row, utility)), abs=1e-13)
    assert Fraction(value).limit_denominator(10**6) == getattr(row, utility)


@pytest.mark.parametrize("row", SMALL, ids=str)
@pytest.mark.parametrize("utility", UTILITIES)
def test_the_fast_engine_counts_and_values_as_the_table_says(row: Row, utility: str) -> None:
    game = load("rally", stages=row.stages, jokers=row.jokers, utility=utility)
    expected = (row.histories, row.decisions, getattr(row, utility))
    assert trees.statistics(State(game)) == expected


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_twin_counts_and_values_as_the_table_says(row: Row) -> None:
    start = Twin.start(row.stages, row.jokers)
    assert slow.statistics(start) == (row.histories, row.decisions, row.score)
    if row in SMALL:
        assert slow.statistics(Twin.start(row.stages, row.jokers, "win")).value == row.win


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_compiled_walks_reach_as_many_histories(row: Row) -> None:
    game = load("rally", stages=row.stages, jokers=row.jokers)
    histories = depth = 0
    while reached := perft(game, depth):
        histories += reached
        depth += 1
    assert histories == row.histories
