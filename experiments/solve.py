"""Solve a small game exactly: ``python -m experiments.solve --game rally --stages 1-1-0-1``.

Dynamic programming over the states that can be reached, by expectimax to the end of the game with
a table that keeps every state: the value of the start under optimal play, and the best action in
each state.
"""

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
from cyclopts import App
from rich.table import Table

from agents.expectimax import TO_THE_END, Search, require_open_cards
from cardcommons import State, parse_game
from experiments import command

app = App(name="python -m experiments.solve", help=__doc__, version_flags=[])

_FIRST_BITS = 16
_ENTRY_BYTES = 32
_LEAST_MEMORY, _MOST_MEMORY = 0.002, 10_000.0
_LARGEST_DENOMINATOR = 10**6


@app.default
def solve(
    *, game: str, stages: str | None = None, policy: Path | None = None, memory: float = 4.0
) -> int:
    """Solve a game from its start.

    Parameters
    ----------
    game
        The game, such as rally:utility=win or particles:tutorial=True,position=...
    stages
        For Rally, its stages: the same as rally:stages=...
    policy
        Where to write the best action of every state, by state key (an .npz file with the arrays
        key, action and value; chance nodes have the action -1).
    memory
        The most gigabytes that the table of states may take; while it grows, half as much again.
    """
    told = game.removesuffix(":")
    separator = "," if ":" in told else ":"
    solved = parse_game(told if stages is None else f"{told}{separator}stages={stages}")
    if not _LEAST_MEMORY <= memory <= _MOST_MEMORY:
        raise ValueError(
            f"memory must be {_LEAST_MEMORY:g} to {_MOST_MEMORY:g} gigabytes, not {memory:g}"
        )
    if policy is not None:
        _check_writable(policy)
    require_open_cards(solved)
    search = Search(solved, _FIRST_BITS, most_entries=int(memory * 2**30) // _ENTRY_BYTES)
    state = State(solved)
    value = search.value(state, TO_THE_END)
    command.console().print(_report(state, search, value))
    if policy is not None:
        used = np.flatnonzero(search.values.key)
        table = search.values
        with policy.open("wb") as file:
            np.savez_compressed(
                file, key=table.key[used], action=table.move[used], value=table.low[used]
            )
    return 0


def _check_writable(path: Path) -> None:
    """Fail now rather than after the work, and leave nothing behind."""
    existed = path.exists()
    path.open("ab").close()
    if not existed:
        path.unlink()


def _report(state: State, search: Search, value: float) -> Table:
    table = Table(title=f"{state.game.spec}, solved", show_header=False)
    exact = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    near = f" (about {exact})" if abs(float(exact) - value) < 1e-12 else ""
    table.add_row("value for player 0", f"{value:.9f}{near}")
    if not state.is_chance and not state.is_terminal:
        best = int(search.stack.move[0])
        table.add_row("best action", state.action_to_string(best))
    table.add_row("states kept", f"{np.count_nonzero(search.values.key):,}")
    table.add_row("nodes visited", f"{search.nodes:,}")
    return table


if __name__ == "__main__":
    sys.exit(command.run(app, sys.argv[1:]))
