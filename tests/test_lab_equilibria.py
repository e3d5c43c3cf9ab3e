"""The table of equilibria is what the code finds today."""

import pytest

from experiments.equilibria import ALGORITHM, GAMES, TARGET, Row, read_table, solve_row

ROWS = read_table()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.game)
def test_a_row_comes_out_again(row: Row) -> None:
    again = solve_row(row.game, row.iterations)
    sizes = again.histories, again.info_sets, again.algorithm, again.iterations
    assert sizes == (row.histories, row.info_sets, row.algorithm, row.iterations)
    assert again.exploitability == pytest.approx(row.exploitability, abs=1e-9)
    assert again.values == pytest.approx(row.values, abs=1e-9)
    assert again.first_seat == pytest.approx(row.first_seat, abs=1e-9)


def test_the_table_holds_what_it_should() -> None:
    assert len(ROWS) == len(GAMES)
    for row in ROWS:
        assert row.exploitability <= TARGET
        assert row.algorithm == ALGORITHM
        assert sum(row.values) == pytest.approx(0.0, abs=1e-9)


def test_values_that_can_be_found_by_hand() -> None:
    """With every card in hand from the start, nothing is hidden and nothing left to chance: such
    a game is won, lost or tied.
    """
    values = {row.game: row.values[0] for row in ROWS}
    for size, value in ((2, 1.0), (3, 0.0)):
        game = f"treasure:rows={size},columns={size},ranks=2,copies=1"
        assert values[game] == pytest.approx(value, abs=2 * TARGET)


def test_a_game_is_solved_until_it_is_near_enough() -> None:
    row = solve_row(GAMES[0])
    assert row == next(told for told in ROWS if told.game == row.game)
