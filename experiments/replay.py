"""Check a game log against the rules, or show one of its games: ``--help`` says how."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from cardcommons import Game, State, load
from experiments import command
from experiments.match import result_of
from experiments.record import GameRecord, read_lines

app = App(
    name="python -m experiments.replay",
    help="Check a game log against the rules, or show one of its games.",
    version_flags=[],
    result_action="return_value",
)

WRONG = 1
"""The exit code when a line of the log is damaged or breaks the rules."""


@app.default
def replay(
    log: Annotated[Path, Parameter(negative=())], /, *, show: command.Whole | None = None
) -> int:
    """Check every line of a log, and print a summary.

    Parameters
    ----------
    log
        The games.jsonl of a tournament.
    show
        Instead, print the game with this number (its index) move by move.
    """
    return check(log) if show is None else show_game(log, show)


def replayed(record: GameRecord) -> list[State]:
    """The positions of a game, from the start to the end.

    Raises:
        ValueError: the record is not that of a game played to its end by the rules.
    """
    state = State(_game(record.game, json.dumps(record.params, sort_keys=True)))
    players = state.game.rules.num_players
    for name in ("agents", "returns", "moves", "seconds"):
        if (told := len(getattr(record, name))) != players:
            raise ValueError(f"{name} has {told} entries for {players} players")
    positions = [state]
    for number, action in enumerate(record.actions, start=1):
        state = state.copy()
        try:
            state.apply(action)
        except ValueError as error:
            raise ValueError(f"action {number}: {error}") from None
        positions.append(state)
    _check_end(record, positions)
    return positions


def _check_end(record: GameRecord, positions: Sequence[State]) -> None:
    state = positions[-1]
    if not state.is_terminal:
        raise ValueError(f"the game is not over after {len(record.actions)} actions")
    if state.returns() != record.returns:
        raise ValueError(f"returns are {record.returns}, should be {state.returns()}")
    if (result := result_of(state)) != record.result:
        raise ValueError(f"result is {record.result!r}, should be {result!r}")
    decided = Counter(before.player for before in positions[record.opening : -1])
    moves = [decided[seat] for seat in range(state.game.rules.num_players)]
    if moves != record.moves:
        raise ValueError(f"moves are {record.moves}, should be {moves}")


@cache
def _game(name: str, params: str) -> Game:
    return load(name, **json.loads(params))


@dataclass
class Summary:
    """What a check found.

    Attributes:
        lines: how many lines the log has.
        actions: how many actions the good ones hold.
        outcomes: how many games each seating of agents played and what each seat won in all.
        faults: what is wrong, by line number.
    """

    lines: int = 0
    actions: int = 0
    outcomes: dict[tuple[str, ...], tuple[int, list[float]]] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)

    def add(self, record: GameRecord) -> None:
        """Count a game that is in order."""
        self.actions += len(record.actions)
        agents = tuple(record.agents)
        games, total = self.outcomes.get(agents, (0, [0.0] * len(agents)))
        summed = [x + y for x, y in zip(total, record.returns, strict=True)]
        self.outcomes[agents] = (games + 1, summed)


def examine(log: Path) -> Summary:
    """Check every line of a log, to its end.

    Raises:
        OSError: it can't be read.
        ValueError: it is empty.
    """
    summary = Summary()
    lines: dict[int, int] = {}
    for number, record, damage in read_lines(log):
        summary.lines = number
        if record is None:
            summary.faults[number] = damage
            continue
        try:
            replayed(record)
            first = lines.setdefault(record.index, number)
            if first != number:
                raise ValueError(f"index {record.index} is that of line {first} too")
        except ValueError as error:
            summary.faults[number] = str(error)
        else:
            summary.add(record)
    if not summary.lines:
        raise ValueError(f"{log} holds no games")
    return summary


def check(log: Path) -> int:
    """Print what is wrong with a log and a summary of it; the exit code."""
    summary = examine(log)
    for number, fault in summary.faults.items():
        command.say(f"{log}, line {number}: {fault}")
    console = command.console()
    good = summary.lines - len(summary.faults)
    if summary.outcomes:
        console.print(_summary_table(summary))
    console.print(
        f"{good} of {summary.lines} games are in order, {summary.actions} actions in all.",
        highlight=False,
    )
    return WRONG if summary.faults else 0


def _summary_table(summary: Summary) -> Table:
    drawn = Table(title="mean returns by seat", title_justify="left", box=SIMPLE_HEAD)
    drawn.add_column("agents by seat", overflow="fold")
    drawn.add_column("games", justify="right")
    drawn.add_column("returns", justify="right")
    for agents, (games, total) in summary.outcomes.items():
        means = "  ".join(f"{x / games:+.3f}" for x in total)
        drawn.add_row(escape(" – ".join(agents)), str(games), means)
    return drawn


def show_game(log: Path, index: int) -> int:
    """Print a game move by move; the exit code."""
    found = [(n, r, d) for n, r, d in read_lines(log) if r is None or r.index == index]
    for number, record, _ in found:
        if record is not None:
            return _show(log, number, record)
    damaged = ", ".join(str(number) for number, _, _ in found)
    hint = f"; damaged lines: {damaged}" if damaged else ""
    raise ValueError(f"{log} has no game {index}{hint}")


def _show(log: Path, number: int, record: GameRecord) -> int:
    try:
        positions = replayed(record)
    except ValueError as error:
        command.say(f"{log}, line {number}: {error}")
        return WRONG
    print(f"game {record.index}: {positions[0].game.spec}, seed {record.seed}, {record.started}")
    for seat, agent in enumerate(record.agents):
        print(f"seat {seat}: {agent}")
    print(f"\n{positions[0]}")
    for i, action in enumerate(record.actions):
        print(f"\n{i + 1}. {_actor(record, positions[i], i)}: {action}\n{positions[i + 1]}")
    story = positions[0].game.text.story
    if story:
        ids = [
            before.string_to_action(text)
            for before, text in zip(positions, record.actions, strict=False)
        ]
        print(f"\n{story(positions[0].words, ids)}")
    print(f"\nreturns: {' '.join(f'{x:+g}' for x in record.returns)} {record.result}".rstrip())
    return 0


def _actor(record: GameRecord, before: State, i: int) -> str:
    if before.is_chance:
        return "chance"
    by_lot = ", at random" if i < record.opening else ""
    return f"seat {before.player} ({record.agents[before.player]}{by_lot})"


def main(arguments: Sequence[str]) -> int:
    """Run the command with these arguments; its exit code."""
    return command.run(app, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
