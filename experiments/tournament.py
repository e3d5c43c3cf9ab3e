"""Tournaments: ``python -m experiments.tournament --help``.

Games are deterministic in the seed for any number of workers, agents with a time budget aside.
The log is always the beginning of the schedule, so that a run that was stopped in whatever way
goes on where it was when the same command is given again.
"""

import json
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from types import FrameType
from typing import Annotated

import joblib
from cyclopts import App, Parameter
from joblib.externals.loky.process_executor import TerminatedWorkerError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from agents import make_agent
from cardcommons import load, parse_game
from experiments import command, table
from experiments.folder import RunFolder, Settings
from experiments.formats import check_field, format_of
from experiments.match import Played
from experiments.provenance import versions
from experiments.record import GameRecord, LogWriter
from experiments.schedule import Fixture
from experiments.workers import Setting, play_all, prepare

app = App(
    name="python -m experiments.tournament",
    help=(
        "Play a tournament: every two agents meet in pairs of games with seats swapped. If the "
        "game is for one player, every agent plays the same deals; if it is for three or more, "
        "every group of agents plays the same deals, each in all rotations of the seats."
    ),
    version_flags=[],
    result_action="return_value",
)


@app.default
def tournament(
    *,
    game: str,
    agents: Annotated[list[str], Parameter(consume_multiple=True, negative=())],
    out: Path,
    pairs: Annotated[command.Whole, Parameter(alias="--deals")] = 10,
    seed: command.Whole = 0,
    opening: command.Whole | None = None,
    workers: command.Whole | None = None,
) -> int:
    """Play a tournament, or what is left of it, and print its table.

    Parameters
    ----------
    game
        The game, with parameters if need be: particles, particles:tutorial=True,torus=True.
    agents
        Two or more, or one or more for a solo game: random greedy mcts:sims=500 minimax:depth=4.
        Where that leaves seats empty, agents take several: all mixes of at least two agents play.
    out
        The folder for games.jsonl, run.json, table.json and table.md. The same command with the
        same folder continues a run that was stopped.
    pairs
        Pairs of games between every two agents, each with an opening of its own. For a solo game,
        deals that every agent plays once; for three players or more, deals that every group of
        agents plays once in each rotation of its seats.
    seed
        Any whole number; the same seed gives the same games.
    opening
        How many actions at random begin each game, the same ones in all games of a pair or deal;
        by default 2 for two players, and none for other numbers.
    workers
        Processes that play at once; by default one a core. Agents that think for a given time
        want a core each, so leave them some.
    """
    settings = make_settings(game, agents, pairs, seed, opening)
    if workers is None:
        workers = joblib.cpu_count()
    if workers < 1:
        raise ValueError(f"workers must be at least 1, not {workers}")
    folder = RunFolder(out)
    with folder.locked(), _terminable():
        return _Run(settings, folder, workers).carry_out()


def make_settings(
    game: str, agents: list[str], pairs: int, seed: int, opening: int | None
) -> Settings:
    """The settings of a tournament, checked; specs in their shortest form.

    Raises:
        ValueError: an unknown game, agent or option, or agents that can't meet.
    """
    played = parse_game(game)
    field = [make_agent(spec, played) for spec in agents]
    specs = [agent.spec for agent in field]
    check_field(played, specs, pairs)
    if opening is None:
        opening = min(format_of(played).opening, played.max_decisions - 1)
    if not 0 <= opening < played.max_decisions:
        raise ValueError(
            f"opening must be at least 0 and less than {played.max_decisions}, the most decisions "
            f"of a game, not {opening}"
        )
    prints = {agent.spec: agent.fingerprint for agent in field if agent.fingerprint}
    return Settings(
        played.name,
        played.parameters,
        specs,
        pairs,
        seed,
        opening,
        fingerprints=prints or None,
    )


class _Run:
    """A tournament in its folder."""

    def __init__(self, settings: Settings, folder: RunFolder, processes: int) -> None:
        self.settings = settings
        self.folder = folder
        self.processes = processes
        self.format = format_of(load(settings.game, **settings.params))
        self.schedule = self.format.schedule(settings.agents, settings.pairs, settings.seed)
        params = tuple(sorted(settings.params.items()))
        self.setting = Setting(settings.game, params, settings.opening)
        self.versions = versions()
        self.records: list[GameRecord] = []

    def carry_out(self) -> int:
        self.folder.begin(self.settings)
        if self.folder.mend():
            command.say(f"a line that was cut short is now in {self.folder.torn}")
        self.records = self.folder.played(self.settings, self.schedule)
        self._report_resumption()
        try:
            self._play_rest()
        except KeyboardInterrupt:
            command.say(self._how_to_continue("stopped"))
            return command.INTERRUPTED
        except OSError as error:
            return self._broken_off(command.explain(error))
        except TerminatedWorkerError:
            return self._broken_off("a worker process died: out of memory, killed or crashed")
        self._tell()
        return 0

    def _report_resumption(self) -> None:
        if not self.records:
            return
        command.say(f"{len(self.records)} of {len(self.schedule)} games are there already")
        before = self.records[-1].versions
        changed = [
            f"{name} {before.get(name)} → {now}"
            for name, now in self.versions.items()
            if before.get(name) != now
        ]
        if changed and len(self.records) < len(self.schedule):
            command.say(f"note: versions have changed since: {', '.join(changed)}")

    def _play_rest(self) -> None:
        rest = self.schedule[len(self.records) :]
        if not rest:
            return
        prepare(self.setting, self.settings.agents)
        with (
            LogWriter(self.folder.log) as log,
            _progress(len(self.records), len(self.schedule)) as advance,
            closing(play_all(self.setting, rest, self.processes)) as games,
        ):
            for fixture, played in zip(rest, games, strict=True):
                record = self._record(fixture, played)
                log.append(record)
                self.records.append(record)
                advance()

    def _record(self, fixture: Fixture, played: Played) -> GameRecord:
        return GameRecord(
            format=self.settings.format,
            index=fixture.index,
            pair=fixture.pair,
            game=self.settings.game,
            params=self.settings.params,
            agents=list(fixture.agents),
            seed=fixture.seed,
            opening=played.opening,
            actions=list(played.actions),
            returns=list(played.returns),
            result=played.result,
            moves=list(played.moves),
            seconds=list(played.seconds),
            started=played.started,
            versions=self.versions,
        )

    def _broken_off(self, reason: str) -> int:
        command.say(self._how_to_continue(f"error: {reason}"))
        return command.USER_ERROR

    def _how_to_continue(self, reason: str) -> str:
        done = f"{len(self.records)} of {len(self.schedule)} games are in {self.folder.log}"
        return f"{reason}; {done}; to continue:\n  {self._command()}"

    def _command(self) -> str:
        """The command line of this run."""
        settings = self.settings
        words = ["python", "-m", "experiments.tournament"]
        words += ["--game", settings.game_spec, "--agents", *settings.agents]
        words.append(f"--{self.format.unit}={settings.pairs}")
        words += [f"--seed={settings.seed}", f"--opening={settings.opening}"]
        words += ["--out", str(self.folder.path), f"--workers={self.processes}"]
        return shlex.join(words)

    def _tell(self) -> None:
        """Print the table and write it to the folder."""
        settings = self.settings
        standings = self.format.standings(settings.agents, self.records)
        title = f"{settings.game_spec}: {settings.pairs} {self.format.unit}, seed {settings.seed}"
        told = standings.to_json() | {"settings": asdict(settings)}
        self.folder.write("table.json", json.dumps(told, indent=2) + "\n")
        sheets = standings.sheets()
        self.folder.write("table.md", table.to_markdown(sheets, title))
        for heading, sheet in zip_longest([title], sheets):
            command.console().print(table.to_rich(sheet, heading))


@contextmanager
def _terminable() -> Iterator[None]:
    """Let a request to terminate end things as Ctrl-C does."""

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _progress(done: int, total: int) -> Iterator[Callable[[], None]]:
    """A bar on ``stderr``, if that is a terminal; yields what moves it on by a game."""
    console = Console(stderr=True)
    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("games", total=total, completed=done)
        yield lambda: progress.advance(task)


def main(arguments: Sequence[str]) -> int:
    """Run the command with these arguments; its exit code."""
    return command.run(app, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
