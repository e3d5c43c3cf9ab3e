"""The C++ programs beside the kernels: one file a game, and a header that they share.

They are compiled where a compiler is.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cardcommons import Game

_FLAGS = ("-std=c++17", "-O3", "-march=native")


class Baseline:
    """A compiled program for one game.

    It is called with ``perft DEPTH`` or ``playouts GAMES SEED`` and the game's parameters as
    ``name=value``, and prints one JSON object with its counts and the ``seconds`` of the work.
    """

    def __init__(self, program: Path, game: Game) -> None:
        self._program = program
        self._params = [f"{name}={value}" for name, value in _changed(game).items()]

    def perft(self, depth: int) -> dict[str, Any]:
        """``leaves`` and ``seconds``."""
        return self._run("perft", str(depth))

    def playouts(self, games: int, seed: int) -> dict[str, Any]:
        """``games``, ``actions`` and ``seconds``."""
        return self._run("playouts", str(games), str(seed))

    def _run(self, *work: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(_run([str(self._program), *work, *self._params]))
        return found


def _run(command: list[str]) -> str:
    """What a command prints; ``RuntimeError`` with what it complained of if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        complaint = " ".join(done.stderr.split())[:300]
        raise RuntimeError(f"{Path(command[0]).name} failed: {complaint}")
    return done.stdout


def _changed(game: Game) -> dict[str, Any]:
    defaults = type(game.params)()
    return {
        name: value for name, value in game.parameters.items() if value != getattr(defaults, name)
    }


@contextmanager
def baseline(game: Game) -> Iterator[Baseline | str]:
    """The baseline of a game, compiled for this machine; or why there is none, in words."""
    source = Path(__file__).with_name(f"{game.name}.cpp")
    compiler = shutil.which("g++") or shutil.which("clang++")
    if not source.exists():
        yield f"there is no C++ program for {game.name}"
    elif compiler is None:
        yield "there is no C++ compiler on this machine (g++ or clang++)"
    else:
        with TemporaryDirectory() as folder:
            program = Path(folder) / game.name
            try:
                _run([compiler, *_FLAGS, str(source), "-o", str(program)])
                made = Baseline(program, game)
                made.perft(1)
            except RuntimeError as error:
                yield str(error)
                return
            yield made
