"""Leaf counts against the table, which comes from independent engines."""

import csv
from pathlib import Path
from typing import NamedTuple

import pytest

from cardcommons import State
from cardcommons.perft import divide, perft
from tests.particles.walks import STANDARD, VARIANTS, Variant
from tests.twins import particles as slow

TABLE = Path(__file__).parent.parent / "data" / "perft" / "particles.csv"


class Row(NamedTuple):
    """One count of the table."""

    variant: Variant
    position: str
    depth: int
    leaves: int

    def __str__(self) -> str:
        return f"{self.variant.name} {self.position or 'start'} depth {self.depth}"


def _read_table() -> list[Row]:
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    named = {variant.name: variant for variant in VARIANTS}
    return [
        Row(named[row["variant"]], row["position"], int(row["depth"]), int(row["leaves"]))
        for row in csv.DictReader(lines)
    ]


ROWS = _read_table()


def _slow_divide(row: Row, depth: int) -> dict[str, int]:
    twin = row.variant.twin(row.position)
    return {action: slow.perft(twin.apply(action), depth - 1) for action in twin.legal()}


def comparison(row: Row) -> str:
    """The counts of both engines move by move, at a depth that the twin manages."""
    depth = row.depth if row.leaves <= 1_000_000 else min(row.depth, 3)
    fast = divide(row.variant.game(row.position), depth)
    twin = _slow_divide(row, depth)
    lines = [
        f"{action:14}{fast.get(action, '-'):>10}{twin.get(action, '-'):>10}"
        + ("" if fast.get(action) == twin.get(action) else "  <--")
        for action in sorted(fast.keys() | twin.keys())
    ]
    return "\n".join([f"{row}: move, fast, twin at depth {depth}", *lines])


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_engine_counts_as_the_table_says(row: Row) -> None:
    assert perft(row.variant.game(row.position), row.depth) == row.leaves, comparison(row)


SMALL = [row for row in ROWS if row.leaves < 30_000]


@pytest.mark.parametrize("row", SMALL, ids=str)
def test_the_twin_counts_as_the_table_says(row: Row) -> None:
    twin = row.variant.twin(row.position)
    assert slow.perft(twin, row.depth) == row.leaves, comparison(row)


def test_the_table_covers_all_variants_from_the_start_and_from_elsewhere() -> None:
    for variant in VARIANTS:
        mine = [row for row in ROWS if row.variant == variant]
        assert [row.depth for row in mine if not row.position] == [1, 2, 3, 4, 5]
        assert len({row.position for row in mine}) >= 5


def test_divide_adds_up_to_perft() -> None:
    game = STANDARD.game()
    counts = divide(game, 3)
    assert len(counts) == 32
    assert sum(counts.values()) == perft(game, 3) == 19080
    assert counts == _slow_divide(Row(STANDARD, "", 3, 19080), 3)


def test_perft_from_a_state_leaves_the_state_alone() -> None:
    state = State(STANDARD.game())
    state.apply("3h@b2")
    before = state.words.copy()
    assert perft(STANDARD.game(), 1, state) == len(state.legal_actions())
    assert (state.words == before).all()


def test_the_comparison_marks_the_moves_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Row(STANDARD, "", 2, 736)
    assert "<--" not in comparison(row)
    right = slow.perft
    monkeypatch.setattr(
        slow, "perft", lambda twin, depth: right(twin, depth) + ("b2" in str(twin.piles))
    )
    marked = [line.split()[0] for line in comparison(row).splitlines() if line.endswith("<--")]
    assert marked == [f"{level}{suit}@b2" for level in "2345" for suit in "hs"]


def test_depths_that_make_no_sense_are_refused() -> None:
    game = STANDARD.game()
    assert perft(game, 0) == 1
    with pytest.raises(ValueError, match="depth must be at least 0, not -1"):
        perft(game, -1)
    with pytest.raises(ValueError, match="depth must be at least 1, not 0"):
        divide(game, 0)
