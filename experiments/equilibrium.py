"""Solve a game with hidden information: ``python -m experiments.equilibrium --help``.

The folder of a run holds run.json, the curve as curve.jsonl and curve.png, a checkpoint, the
policy and the result.  The same command goes on where it was stopped, with the same outcome as
without a stop.
"""

import json
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

from cyclopts import App, Parameter
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from cardcommons import parse_game
from cardcommons.sequence_form import SequenceForm
from cardcommons.tree import default_limit
from experiments import command
from experiments.folder import RunFolder
from experiments.provenance import versions
from experiments.solving import Source, Work, begin_work, check_algorithm, unrolled_form

app = App(
    name="python -m experiments.equilibrium",
    help="Approach an equilibrium of a game, and measure how near it is.",
    version_flags=[],
)

_GROWTH = 1.1
"""From one measurement to the next: iterations grow by this factor."""
_SLICE_SECONDS = 0.25
_FIRST_SAVE_SECONDS = 5.0
_SAVE_SECONDS = 60.0
_GIB = 2**30


@dataclass(frozen=True)
class Settings:
    """All that decides what a run computes, and so which folder it can go on in."""

    game: str
    rules: str
    algorithm: str
    seed: int
    tree: bool
    memory: int
    format: int = 1


@dataclass(frozen=True)
class Goal:
    """When to stop; ``None`` for no such goal.

    Attributes:
        target: exploitability.
        iterations: in all.
        seconds: of this run and those before it in the folder.
    """

    target: float | None
    iterations: int | None
    seconds: float | None

    def reached(self, point: dict[str, Any]) -> bool:
        """Whether a point of the curve is good enough, or late enough."""
        near = self.target is not None and point.get("exploitability", math.inf) <= self.target
        done = self.iterations is not None and point["iteration"] >= self.iterations
        return near or done or self.late(point["seconds"])

    def late(self, seconds: float) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and seconds >= self.seconds


@app.default
def equilibrium(
    *,
    out: Path,
    game: str | None = None,
    openspiel: str | None = None,
    algorithm: str = "dcfr",
    target: float | None = None,
    iterations: command.Whole | None = None,
    minutes: float | None = None,
    seed: command.Whole = 0,
    tree: bool = True,
    memory: float | None = None,
    cache: bool = True,
    policy: Annotated[bool, Parameter(negative="--no-policy")] = True,
) -> int:
    """Solve a game, or go on solving it, and print where it stands.

    Parameters
    ----------
    out
        The folder of the run. The same command with the same folder continues it.
    game
        The game, such as treasure:rows=2,columns=2,ranks=2,copies=1,hand=2.
    openspiel
        Or a game of OpenSpiel's, such as leduc_poker.
    algorithm
        cfr, cfr-simultaneous, cfr+, lcfr, dcfr or pcfr+; or sampling: external or outcome.
    target
        Stop at this exploitability.
    iterations
        Stop after so many iterations.
    minutes
        Stop after so much time.
    seed
        Of sampling.
    tree
        With --no-tree, sample without unrolling the game; exploitability can't be measured then.
    memory
        The most gigabytes to take: for the tree, by default half of what is available; for the
        tables of a sampling without a tree, by default 1.
    cache
        With --no-cache, unroll the game anew, and don't keep its tree on disk.
    policy
        With --no-policy, leave out the file of the policy, which grows with the game.
    """
    source = _source(game, openspiel)
    check_algorithm(algorithm)
    goal = _goal(target, iterations, minutes, tree)
    if memory is not None and not 0 < memory < math.inf:
        raise ValueError(f"--memory must be positive, not {memory:g}")
    bound = _GIB if memory is None else int(memory * _GIB)
    settings = Settings(source.name, source.rules, algorithm, seed, tree, 0 if tree else bound)
    folder = RunFolder(out, "curve.jsonl")
    with folder.locked():
        folder.begin(settings)
        form = None
        if tree:
            limit = default_limit() if memory is None else bound
            with _building() as progress:
                form = unrolled_form(source, limit, progress, cache)
        work = begin_work(source, algorithm, seed, form=form, memory=bound)
        return _Run(folder, settings, goal, work, form, policy).carry_out()


def _source(game: str | None, openspiel: str | None) -> Source:
    if (game is None) == (openspiel is None):
        raise ValueError("give either --game or --openspiel")
    if openspiel is not None:
        return Source.of_openspiel(openspiel)
    return Source.of_game(parse_game(game or ""))


def _goal(target: float | None, iterations: int | None, minutes: float | None, tree: bool) -> Goal:
    if target is None and iterations is None and minutes is None:
        raise ValueError("say when to stop: --target, --iterations or --minutes")
    if target is not None and not tree:
        raise ValueError("--target needs a tree, without which exploitability can't be measured")
    told = {"target": target, "iterations": iterations, "minutes": minutes}
    for name, limit in told.items():
        if limit is not None and not 0 < limit < math.inf:
            raise ValueError(f"--{name} must be positive, not {limit:g}")
    return Goal(target, iterations, None if minutes is None else 60 * minutes)


@contextmanager
def _building() -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar on ``stderr`` while a tree is counted and built."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,} histories"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("counting", total=None)
        yield lambda stage, done, total: progress.update(
            task, description=stage, completed=done, total=total
        )


class _Stop:
    """Whether somebody asked to stop; asked twice, it happens at once."""

    def __init__(self) -> None:
        self.asked = False

    def hear(self, signum: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def _stoppable() -> Iterator[_Stop]:
    """Let Ctrl-C, or a request to terminate, end the work between two iterations."""
    stop = _Stop()
    before = {
        number: signal.signal(number, stop.hear) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Run:
    """A solver in its folder."""

    def __init__(
        self,
        folder: RunFolder,
        settings: Settings,
        goal: Goal,
        work: Work,
        form: SequenceForm | None,
        keep_policy: bool,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.goal = goal
        self.work = work
        self.form = form
        self.keep_policy = keep_policy
        self.checkpoint = folder.path / "checkpoint.npz"
        self.curve: list[dict[str, Any]] = []
        self.seconds = 0.0
        self.next_save = time.monotonic() + _FIRST_SAVE_SECONDS

    def carry_out(self) -> int:
        self._resume()
        with _stoppable() as stop, _live(self) as show:
            self._solve(stop, show)
        self._save()
        self._tell()
        if stop.asked:
            command.say("stopped; the same command goes on from here")
            return command.INTERRUPTED
        return 0

    def _resume(self) -> None:
        """Take up the checkpoint, and the curve as far as it goes."""
        if not self.checkpoint.exists():
            self.folder.write(self.folder.log.name, "")
            return
        notes = self.work.load(self.checkpoint)
        points = read_curve(self.folder.log)
        self.curve = [point for point in points if point["iteration"] <= self.work.iteration]
        self.seconds = notes.get("seconds", self.curve[-1]["seconds"] if self.curve else 0.0)
        lines = [json.dumps(point) + "\n" for point in self.curve]
        self.folder.write(self.folder.log.name, "".join(lines))
        command.say(f"{self.work.iteration:,} iterations are there already")

    def _solve(self, stop: _Stop, show: Callable[[], None]) -> None:
        if self.curve and self.goal.reached(self.curve[-1]):
            return
        while not stop.asked:
            due = self._next_check()
            self._run_until(due, stop, show)
            if stop.asked and self.work.iteration < due:
                return
            self._check()
            show()
            if self.goal.reached(self.curve[-1]):
                return

    def _save(self) -> None:
        self.work.save(self.checkpoint, {"seconds": self.seconds})
        self.next_save = time.monotonic() + _SAVE_SECONDS

    def _next_check(self) -> int:
        """When to measure next: at the same iterations whether or not there was a stop."""
        due = 1
        while due <= self.work.iteration:
            due = max(due + 1, int(due * _GROWTH))
        return due if self.goal.iterations is None else min(due, self.goal.iterations)

    def _run_until(self, due: int, stop: _Stop, show: Callable[[], None]) -> None:
        """Iterate in slices, between which a stop is heard and time looked at."""
        size = 1
        while self.work.iteration < due and not stop.asked and not self.goal.late(self.seconds):
            begun = time.perf_counter()
            self.work.run(min(size, due - self.work.iteration))
            taken = time.perf_counter() - begun
            self.seconds += taken
            size = 2 * size if taken < _SLICE_SECONDS / 2 else max(1, size // 2)
            if time.monotonic() >= self.next_save:
                self._save()
            show()

    def _measured(self) -> dict[str, Any]:
        point = {"iteration": self.work.iteration, "seconds": round(self.seconds, 6)}
        return point | self.work.measure()

    def _check(self) -> None:
        """Measure, and write a line of the log."""
        point = self._measured()
        self.curve.append(point)
        with self.folder.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(point) + "\n")

    def _tell(self) -> None:
        """Write and print the outcome.

        After a stop between two points of the curve it is measured apart: the curve has the same
        points with and without a stop.
        """
        if not self.curve:
            return
        last = self.curve[-1]
        if last["iteration"] != self.work.iteration:
            last = self._measured()
        told = {"settings": vars(self.settings), "versions": versions(), **last}
        self.folder.write("result.json", json.dumps(told, indent=2) + "\n")
        if self.keep_policy:
            made = {"algorithm": self.settings.algorithm, "seed": self.settings.seed, **told}
            self.work.policy(made).save(self.folder.path / "policy.npz")
        if "exploitability" in last:
            draw_curve(self.curve, self.folder.path / "curve.png", self._title())
        command.console().print(self._table(last))

    def _title(self) -> str:
        return f"{self.settings.game}, {self.settings.algorithm}"

    def _table(self, last: dict[str, Any]) -> Table:
        table = Table(title=self._title(), show_header=False)
        if self.form is not None:
            table.add_row("histories", f"{self.form.tree.num_nodes:,}")
            table.add_row("information sets", f"{self.form.tree.num_info_sets:,}")
        table.add_row("iterations", f"{last['iteration']:,}")
        table.add_row("seconds", f"{last['seconds']:,.2f}")
        for name in ("exploitability", "nash_conv"):
            if name in last:
                table.add_row(name.replace("nash_conv", "NashConv"), f"{last[name]:.3e}")
        if "values" in last:
            table.add_row("values", "  ".join(f"{value:+.6f}" for value in last["values"]))
        if "info_sets" in last:
            bound = ", as many as fit" if last["full"] else ""
            table.add_row("information sets stored", f"{last['info_sets']:,}{bound}")
        table.add_row("folder", str(self.folder.path))
        return table


@contextmanager
def _live(run: _Run) -> Iterator[Callable[[], None]]:
    """Where the run stands, on ``stderr`` if that is a terminal; yields what updates it."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("iteration 0", total=None)

        def show() -> None:
            text = f"iteration {run.work.iteration:,}"
            if run.curve and "exploitability" in run.curve[-1]:
                text += f"  exploitability {run.curve[-1]['exploitability']:.3e}"
            if run.goal.target is not None:
                text += f"  target {run.goal.target:.0e}"
            progress.update(task, description=text)

        yield show


def read_curve(path: Path) -> list[dict[str, Any]]:
    """The points of a curve; lines that were cut short are left out."""
    points = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            points.append(json.loads(line))
        except ValueError:
            continue
    return points


def draw_curve(curve: list[dict[str, Any]], path: Path, title: str) -> None:
    """Draw exploitability by iterations, both on logarithmic scales."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.loglog(
        [point["iteration"] for point in curve], [point["exploitability"] for point in curve]
    )
    axes.set(xlabel="iterations", ylabel="exploitability", title=title)
    axes.grid(True, which="both", alpha=0.3)
    figure.savefig(path, dpi=150)


def main(arguments: list[str]) -> int:
    """Run the command with these arguments; its exit code."""
    return command.run(app, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
