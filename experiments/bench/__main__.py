"""``python -m experiments.bench --game particles --json FILE``."""

import json
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.table import Table

from cardcommons import Game, parse_game
from experiments import command
from experiments.bench.baseline import baseline
from experiments.bench.clock import clock_rounds
from experiments.bench.kernels import kernel_rounds
from experiments.bench.measure import Comparison, Duration, Promise
from experiments.bench.rivals import rival_rounds
from experiments.bench.solvers import solver_rounds
from experiments.bench.startup import first_move
from experiments.provenance import versions
from experiments.solving import load_openspiel
from experiments.table import speed_cell

Result = Comparison | Duration | Promise

app = App(name="python -m experiments.bench", help=__doc__, version_flags=[])


@app.default
def bench(
    *,
    game: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None,
    openspiel: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None,
    json_file: Annotated[Path | None, Parameter(name="--json")] = None,
    rounds: command.Whole = 9,
) -> int:
    """Measure speed as ratios, both sides by turns in one run.

    Parameters
    ----------
    game
        The games, such as: particles particles:tutorial=True.
    openspiel
        Games of OpenSpiel's on which to measure the solvers, such as: leduc_poker liars_dice.
    json_file
        Where to write all figures.
    rounds
        How often each pair is measured; medians are reported.
    """
    if rounds < 1:
        raise ValueError(f"--rounds must be at least 1, not {rounds}")
    if not game and not openspiel:
        raise ValueError("--game or --openspiel needs at least one game, such as particles")
    games = [parse_game(spec) for spec in game or []]
    spiels = {name: load_openspiel(name) for name in openspiel or []}
    if json_file is not None:
        json_file.open("a").close()  # better to fail now than after the work
    results = [result for played in games for result in _measure(played, rounds)]
    for name, spiel in spiels.items():
        results += solver_rounds(name, spiel, rounds)
    command.console().print(_table(results))
    if json_file is not None:
        json_file.write_text(json.dumps(_report(results, rounds), indent=2) + "\n")
    return 0


def _measure(game: Game, rounds: int) -> Iterator[Result]:
    with baseline(game) as cpp:
        if isinstance(cpp, str):
            command.say(f"no comparison with C++: {cpp}")
        else:
            yield from kernel_rounds(game, cpp, rounds)
    yield from rival_rounds(game, rounds)
    yield first_move(game, rounds)
    yield from clock_rounds(game)


def _table(results: list[Result]) -> Table:
    table = Table("game", "work", "ours", "theirs", "ratio", "target")
    for result in results:
        table.add_row(result.game, result.name, *_cells(result))
    return table


def _cells(result: Result) -> list[str]:
    if isinstance(result, Duration):
        return [f"{result.seconds:.2f} s", "", "", f"at most {result.target:g} s"]
    if isinstance(result, Promise):
        times = f"{result.taken:.4f} s, at most {result.longest:.4f} s"
        return [times, "", f"{result.kept:.1%} kept", f"within {result.margin:.0%}"]
    return [
        f"{speed_cell(result.ours)} {result.unit}",
        f"{speed_cell(result.theirs)} ({result.rival})",
        f"{result.ratio:.2f}",
        f"{result.target:g}",
    ]


def _report(results: list[Result], rounds: int) -> dict[str, object]:
    return {
        "rounds": rounds,
        "machine": {"system": platform.platform(), "processor": platform.machine()},
        "versions": versions(),
        "results": [asdict(result) for result in results],
    }


if __name__ == "__main__":
    sys.exit(command.run(app, sys.argv[1:]))
