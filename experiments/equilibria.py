"""The table of equilibria of reduced games: ``python -m experiments.equilibria``.

Solves every game of the table anew, and writes experiments/equilibria.json: the values of the
seats, the advantage of the first one, and how near to an equilibrium the figures are.  A test
compares some rows, or all, with what the code finds today.
"""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from cyclopts import App
from rich.table import Table

from agents.cfr import CFRSolver
from cardcommons import parse_game
from cardcommons.sequence_form import sequence_form
from cardcommons.tree import unroll
from experiments import command

app = App(name="python -m experiments.equilibria", help=__doc__, version_flags=[])

TABLE = Path(__file__).with_suffix(".json")
ALGORITHM = "dcfr"
TARGET = 1e-4
"""Exploitability at which a game is taken for solved."""

_MOST_ITERATIONS = 20_000

GAMES = (
    "treasure:rows=2,columns=2,ranks=2,copies=1,treasure=False,hand=1",
    "treasure:rows=2,columns=1,ranks=2,copies=1,hand=1",
    "treasure:rows=2,columns=2,ranks=2,copies=1,hand=1",
    "treasure:rows=2,columns=2,ranks=2,copies=1,hand=1,utility=margin",
    "treasure:rows=2,columns=2,ranks=2,copies=1,hand=2",
    "treasure:rows=2,columns=2,ranks=2,copies=1,hand=2,utility=margin",
    "treasure:rows=2,columns=3,ranks=3,copies=1,treasure=False,hand=2",
    "treasure:rows=2,columns=2,ranks=2,copies=1,hand=3",
    "treasure:rows=3,columns=3,ranks=2,copies=1,hand=3",
    "gluons:copies=1,hand=1,pairs=RG-GR",
    "gluons:copies=1,hand=1,pairs=RG-GR-RB,max_rounds=2,sides=12-21-23-31",
    "gluons:copies=2,hand=2,pairs=RG-GR,max_rounds=1,sides=12-21-23-32",
    "gluons:copies=2,hand=2,pairs=RG-GR,max_rounds=1,sides=12-21-23-32,face_up=True",
    "gluons:copies=1,hand=2,pairs=RG-GR-RB,max_rounds=1,sides=12-21-23-32",
    "gluons:copies=1,hand=2,pairs=RG-GR-RB,max_rounds=1,sides=12-21-23-32,utility=points",
    "gluons:players=3,copies=1,hand=1,pairs=RG-GR-RB,max_rounds=1,sides=12-21-23",
)
"""The games of the table, as text."""


@dataclass(frozen=True)
class Row:
    """A game and its equilibrium.

    Attributes:
        game: the game as text.
        histories: how many its tree has.
        info_sets: how many it has.
        algorithm: that approached the equilibrium.
        iterations: that it took.
        exploitability: of the strategies found.  If two play and their utilities sum to zero,
            twice that is the most by which a value differs from that of the game.
        values: the utility of each seat by these strategies.
        first_seat: how much better the first seat does than the others do on average.
    """

    game: str
    histories: int
    info_sets: int
    algorithm: str
    iterations: int
    exploitability: float
    values: tuple[float, ...]
    first_seat: float


def solve_row(spec: str, iterations: int | None = None) -> Row:
    """Solve a game: for so many iterations, or until it is near enough to an equilibrium."""
    tree = unroll(parse_game(spec))
    form = sequence_form(tree)
    solver = CFRSolver(form, ALGORITHM)
    if iterations is None:
        told = solver.approach(TARGET, _MOST_ITERATIONS)
    else:
        told = solver.approach(0.0, iterations, iterations)
    first, *others = told.values
    return Row(
        game=tree.game,
        histories=tree.num_nodes,
        info_sets=tree.num_info_sets,
        algorithm=ALGORITHM,
        iterations=solver.iteration,
        exploitability=told.exploitability,
        values=told.values,
        first_seat=first - sum(others) / len(others),
    )


def read_table() -> list[Row]:
    """The table as it was written."""
    rows = json.loads(TABLE.read_text(encoding="utf-8"))
    return [Row(**row | {"values": tuple(row["values"])}) for row in rows]


@app.default
def equilibria() -> int:
    """Solve all games of the table, write it and print it."""
    rows = []
    for spec in GAMES:
        rows.append(solve_row(spec))
        command.say(f"{rows[-1].game}: {rows[-1].iterations:,} iterations")
    TABLE.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
    command.console().print(_table(rows))
    return 0


def _table(rows: list[Row]) -> Table:
    table = Table(title="Equilibria of reduced games")
    for head in ("game", "histories", "information sets", "values", "first seat", "exploitability"):
        table.add_column(head, justify="left" if head == "game" else "right")
    for row in rows:
        values = " ".join(f"{value:+.4f}" for value in row.values)
        figures = (f"{row.histories:,}", f"{row.info_sets:,}", values)
        table.add_row(row.game, *figures, f"{row.first_seat:+.4f}", f"{row.exploitability:.1e}")
    return table


if __name__ == "__main__":
    sys.exit(command.run(app, sys.argv[1:]))
