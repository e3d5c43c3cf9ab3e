"""Count the nodes of fixed searches: ``python -m experiments.signature``.

A search that behaves as before visits as many nodes as before, on any machine.  So the sum is a
signature: where it changes, the search behaves in another way, and that should be meant.
"""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

from cyclopts import App, Parameter
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from agents import make_agent
from cardcommons import State, parse_game
from experiments import command

app = App(
    name="python -m experiments.signature",
    help="Count the nodes that an agent visits on fixed positions of Particles.",
    version_flags=[],
    result_action="return_value",
)

AGENT = "minimax:depth=4"
"""Whose nodes are counted unless told otherwise."""

POSITIONS = (
    (
        "particles",
        "..5d./3c6s5h*./..../.... Ah2h3h4h6hAs2s3s4s5s Ad2d3d4d6dAc2c4c5c6c 0 0",
        "2c.2d4h/.As../.2sAd+Ac./.Ah.. 2h3h5h6h3s4s5s6s 3d4d6d3c4c5c6c 0 0",
        ".3sAd6c/5h2h4s3c+3d/.4c+4d5s./..As. Ah3h4h6h2s6s 5dAc2c5c 0 0",
    ),
    (
        "particles:torus=True",
        "..5d./.3c.5h*/..5s*./.... Ah2h3h4h6hAs2s3s4s6s Ad2d3d4d6dAc2c4c5c6c 0 0",
        "2c.2d4s/.As../.2sAd+Ac./.Ah.. 2h3h4h5h6h3s5s6s 4d5d6d3c4c5c6c 0 0",
        "4h.2d5c/5d2h3h3d*/.4c+4d5s4s/2s... Ah5h6hAs3s6s Ad6dAc2c3c 0 0",
    ),
    (
        "particles:tutorial=True",
        "..../..2s./.4h5d./..3c. Ah2h3h5h6hAs3s4s5s6s Ad2d3d4d6dAc2c4c5c6c 0 0",
        "..../.As../Ad2s.5d/.Ah+Ac2d6s 2h3h4h6h3s4s5s 3d4d6d2c3c4c5c6c 0 0",
        "...Ac/.2d.4s/.Ad5h+5s2h+2c/.6h+6s4d. 3hAs3s 3d5d6d3c4c5c6c 1 0",
    ),
    (
        "particles:tutorial=True,torus=True",
        ".2c6c3h/..5h./..../.... Ah2h4h6hAs2s3s4s5s6s Ad2d3d4d5dAc3c4c5c 0 0",
        "...3d/.As../Ad2s.6c+6h/.Ac.2h Ah3h4h5h3s4s5s6s 4d5d6d2c3c4c5c 0 0",
        ".4c../4h2h4d+4s6s/.5cAh+Ac3h/..3d. 5hAs2s3s5s Ad5d6d2c3c6c 1 0",
    ),
)
"""Games, each with an early, a middle and a late position."""


@dataclass(frozen=True)
class Count:
    """A search from one position.

    Attributes:
        game: its spec.
        position: where it was.
        nodes: how many it visited.
        depth: how deep it came.
        action: what it chose.
        value: what it found for the player to move.
        seconds: how long it took.
    """

    game: str
    position: str
    nodes: int
    depth: int
    action: str
    value: float | None
    seconds: float


def counts(agent: str) -> Iterator[Count]:
    """Let an agent decide in every position, each in a game of its own.

    Raises:
        ValueError: there is no such agent, or one that counts no nodes.
    """
    for spec, *positions in POSITIONS:
        game = parse_game(spec)
        player = make_agent(agent, game)
        for position in positions:
            state = State.from_string(game, position)
            player.restart(0)
            begun = time.perf_counter()
            decision = player.decide(state)
            seconds = time.perf_counter() - begun
            if "nodes" not in decision.work:
                raise ValueError(f"{player.spec} does not count nodes")
            yield Count(
                spec,
                position,
                decision.work["nodes"],
                decision.work.get("depth", 0),
                state.action_to_string(decision.action),
                decision.value,
                seconds,
            )


def signature(agent: str = AGENT) -> int:
    """The sum of the nodes over all positions."""
    return sum(count.nodes for count in counts(agent))


@app.default
def tell(
    *,
    agent: str = AGENT,
    as_json: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> int:
    """Count, and print a table.

    Parameters
    ----------
    agent
        Whose nodes to count; without a limit of time, or they are no signature.
    as_json
        Print the counts as JSON instead.
    """
    found = list(counts(agent))
    nodes, seconds = sum(c.nodes for c in found), sum(c.seconds for c in found)
    if as_json:
        told = {"agent": agent, "nodes": nodes, "positions": [asdict(c) for c in found]}
        print(json.dumps(told, indent=2))
        return 0
    console = command.console()
    console.print(_table(found))
    console.print(
        f"{agent}: {nodes} nodes in {seconds:.2f} s, {nodes / seconds:,.0f} a second",
        highlight=False,
    )
    return 0


def _table(found: list[Count]) -> Table:
    table = Table("game", "position", box=SIMPLE_HEAD)
    for head in ("depth", "nodes", "action", "value"):
        table.add_column(head, justify="right")
    for count in found:
        value = "–" if count.value is None else f"{count.value:+.3f}"
        told = (count.game, count.position, str(count.depth), str(count.nodes), count.action, value)
        table.add_row(*map(escape, told))
    return table


def main(arguments: Sequence[str]) -> int:
    """Run the command with these arguments; its exit code."""
    return command.run(app, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
