"""What the tests of the experiments share: short tournaments, and an agent that listens."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents import Agent, Decision
from cardcommons import State
from experiments import tournament

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
