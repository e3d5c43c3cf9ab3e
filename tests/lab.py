"""What the tests of the experiments share: short runs, log entries, and an agent that listens."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents import Agent, Decision
from cardcommons import State
from experiments import tournament
from experiments.record import FORMAT, GameRecord

FIELD = ["random", "greedy", "minimax:depth=1"]


def arguments(out: Path, agents: Sequence[str] = FIELD, **options: str | int) -> list[str]:
    """The command line of a tournament: a small one, but for the options that are given."""
    told = {"game": "particles", "pairs": 2, "seed": 5, "workers": 1, "out": out} | options
    flat = [word for option, value in told.items() for word in (f"--{option}", str(value))]
    return [*flat, "--agents", *agents]


def run(out: Path, agents: Sequence[str] = FIELD, **options: str | int) -> int:
    """Play such a tournament in this process; its exit code."""
    return tournament.main(arguments(out, agents, **options))


def games(out: Path) -> list[dict[str, Any]]:
    """The games of a run without what time has a say in."""
    lines = (out / "games.jsonl").read_text().splitlines()
    timeless = [json.loads(line) for line in lines]
    for game in timeless:
        del game["seconds"], game["started"]
    return timeless


def entry(
    deal: int,
    agents: Sequence[str],
    returns: Sequence[float],
    result: str = "",
    seconds: Sequence[float] | None = None,
) -> GameRecord:
    """A game in which every seat made five decisions, as far as a table looks at it."""
    return GameRecord(
        format=FORMAT,
        index=0,
        pair=deal,
        game="any",
        params={},
        agents=list(agents),
        seed=0,
        opening=0,
        actions=[],
        returns=list(returns),
        result=result,
        moves=[5] * len(agents),
        seconds=list(seconds or [0.0] * len(agents)),
        started="",
        versions={},
    )


class Listener(Agent):
    """Plays its first legal action, and remembers what it was told."""

    name = "listener"

    def restart(self, seed: int) -> None:
        super().restart(seed)
        self.seed = seed
        self.heard: list[int] = []

    def choose(self, state: State) -> Decision:
        choice = state.legal_actions()[0]
        state.apply(choice)  # on a copy, if the match is careful
        return Decision(choice)

    def inform(self, action: int) -> None:
        self.heard.append(action)
