"""Perft and playouts against the C++ baseline: same rules, same counts, same random numbers."""

import time
from collections.abc import Iterator

import numpy as np

from cardcommons import Game
from cardcommons.perft import make_perft
from cardcommons.playout import playouts
from cardcommons.treaty import make_scratch
from experiments.bench.baseline import Baseline
from experiments.bench.measure import Comparison, compare

TARGET = 0.7
_SECONDS = 0.05
"""About how long one round of C++ takes: short rounds keep a busy machine from blurring them."""
_MOST_SECONDS = 20 * _SECONDS
_SEED = 7


def kernel_rounds(game: Game, cpp: Baseline, rounds: int) -> Iterator[Comparison]:
    """Compare perft and playouts.

    Raises:
        RuntimeError: the two engines count differently.
    """
    yield _perft(game, cpp, rounds)
    yield _playouts(game, cpp, rounds)


def _agree(what: str, ours: int, theirs: int) -> None:
    if ours != theirs:
        raise RuntimeError(f"{what}: {ours} here, but {theirs} in C++")


def _depth_for(cpp: Baseline) -> int:
    """A depth that keeps C++ busy for a while; the last one with leaves, if there is no such."""
    depth, found = 1, cpp.perft(1)
    while found["seconds"] < _SECONDS:
        found = cpp.perft(depth + 1)
        if found["leaves"] == 0 or found["seconds"] > _MOST_SECONDS:
            break
        depth += 1
    return depth


def _perft(game: Game, cpp: Baseline, rounds: int) -> Comparison:
    depth = _depth_for(cpp)
    kernel = make_perft(game.rules)
    scratch, left = make_scratch(game.rules, depth), np.zeros(depth, dtype=np.int64)

    def ours() -> float:
        began = time.perf_counter()
        leaves = kernel(game.start.copy(), depth, scratch, left)
        seconds = time.perf_counter() - began
        _agree(f"perft {depth}", leaves, cpp.perft(depth)["leaves"])
        return float(leaves / seconds)

    def theirs() -> float:
        found = cpp.perft(depth)
        return float(found["leaves"] / found["seconds"])

    return compare(
        f"perft {depth}",
        game.spec,
        "leaves/s",
        ours=ours,
        rival="C++",
        theirs=theirs,
        target=TARGET,
        rounds=rounds,
    )


def _playouts(game: Game, cpp: Baseline, rounds: int) -> Comparison:
    games = 1000
    while cpp.playouts(games, _SEED)["seconds"] < _SECONDS:
        games *= 2

    def ours() -> float:
        began = time.perf_counter()
        counts = playouts(game, games, _SEED)
        seconds = time.perf_counter() - began
        _agree("actions of playouts", counts.actions, cpp.playouts(games, _SEED)["actions"])
        return games / seconds

    def theirs() -> float:
        return games / float(cpp.playouts(games, _SEED)["seconds"])

    return compare(
        "playouts",
        game.spec,
        "games/s",
        ours=ours,
        rival="C++",
        theirs=theirs,
        target=TARGET,
        rounds=rounds,
    )
