"""Learn what a rally is worth between sectors: ``python -m experiments.fit_rally --help``.

Fitted value iteration, backwards over the number of sectors to come (Bertsekas and Tsitsiklis,
"Neuro-dynamic programming", 1996, section 6.9).  The value of a state with ``n`` sectors to come
is the exact expectation, over the next sector and the cards drawn on it, of the best play by the
values for ``n - 1``; a small network is fitted to such values at states that self-play visits, and
at states near them.  Passes repeat with self-play by the values of the pass before.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from cyclopts import App
from joblib import Parallel, delayed

from agents.expectimax import Search
from cardcommons import Game, State, load
from cardcommons.games.rally import rules, value
from cardcommons.games.rally.estimate import sectors_to_come
from cardcommons.games.rally.weights import read_weights, save_weights
from cardcommons.rng import child_seed, make_rng
from experiments import command
from experiments.match import random_action

Array = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]
States = npt.NDArray[np.uint64]

app = App(name="python -m experiments.fit_rally", help=__doc__, version_flags=[])

_TABLE_BITS = 16
_LEAST_STATES = 100

_JOKERS_AT = int(rules.JOKERS_SHIFT)
_RESERVES = (
    (int(rules.BONUSES_SHIFT), rules.MOST_BONUSES, 2),
    (int(rules.PENALTIES_SHIFT), rules.MOST_PENALTIES - 1, 3),
    (int(rules.QUEENS_SHIFT), 4, 1),
    (int(rules.JACKS_SHIFT), 4, 1),
)
"""Where META has them, the most there can be, and how far the states to fit vary them."""
_FIELD = {shift: 31 if most > 7 else 7 for shift, most, _ in _RESERVES}
_SLICES = 8
_BATCH = 256
_STEPS = 10000
_RATE = 4e-3


@app.default
def fit(
    out: Path,
    *,
    utility: str = "win",
    start: Path | None = None,
    passes: command.Whole = 2,
    games: command.Whole = 400,
    states: command.Whole = 4000,
    seed: command.Whole = 1,
    workers: command.Whole = 2,
) -> int:
    """Fit the networks and write them.

    Parameters
    ----------
    out
        The file to write; the game reads values-win.npz and values-score.npz in
        cardcommons/games/rally.
    utility
        What to play for: win or score.
    start
        A file written before: its values play the first games, instead of the estimate.
    passes
        How often to go through all sectors.
    games
        Games of self-play before each pass.
    states
        States to fit for each number of sectors to come.
    seed
        The same seed gives the same networks.
    workers
        Processes that compute values at once.
    """
    game = load("rally", utility=utility)
    if min(passes, games // _SLICES, states // _LEAST_STATES, workers) < 1:
        raise ValueError(
            f"passes and workers must be at least 1, games at least {_SLICES} and states at least "
            f"{_LEAST_STATES}"
        )
    nothing = np.zeros(0, dtype=np.float32)
    game = replace(game, weights=nothing if start is None else read_weights(start))
    visited: list[States] = []
    with Parallel(n_jobs=workers) as parallel:
        for index in range(passes):
            new = _self_play(parallel, game, games, child_seed(seed, "play", index))
            visited = [_joined(n, new, visited) for n in range(value.SECTORS)]
            weights = _pass(parallel, game, visited, states, child_seed(seed, "fit", index))
            game = replace(game, weights=weights)
            save_weights(out, game)
    return 0


def _joined(n: int, new: list[States], old: list[States]) -> States:
    """New states and as many old ones: what was once overrated must not be forgotten."""
    if not old:
        return new[n]
    return np.concatenate([new[n], old[n][: len(new[n])]])


def _self_play(parallel: Any, game: Game, games: int, seed: int) -> list[States]:
    """The states between sectors of many games, by the number of sectors to come."""
    slices = parallel(
        delayed(_play_games)(game.parameters, game.weights, games // _SLICES, child_seed(seed, i))
        for i in range(_SLICES)
    )
    return [np.concatenate([found[n] for found in slices]) for n in range(value.SECTORS)]


def _play_games(params: dict[str, Any], weights: Weights, games: int, seed: int) -> list[States]:
    game = replace(load("rally", **params), weights=weights)
    search = Search(game, _TABLE_BITS)
    found: list[list[npt.NDArray[np.uint64]]] = [[] for _ in range(value.SECTORS)]
    for index in range(games):
        state, rng = State(game), make_rng(child_seed(seed, index))
        while not state.is_terminal:
            if state.is_chance:
                if rules.settled(state.words):
                    found[int(sectors_to_come(state.words)) - 1].append(state.words.copy())
                state.apply(random_action(state, rng))
            else:
                search.value(state, 1)
                state.apply(int(search.stack.move[0]))
    width = game.rules.num_words
    return [np.array(rows, dtype=np.uint64).reshape(-1, width) for rows in found]


def _pass(parallel: Any, game: Game, visited: list[States], count: int, seed: int) -> Weights:
    """Fit a network for each number of sectors to come, from the last one backwards."""
    weights = np.zeros(value.SECTORS * value.SIZE, dtype=np.float32)
    before: Weights | None = None
    for n in range(1, value.SECTORS + 1):
        began = time.perf_counter()
        rng = np.random.default_rng(child_seed(seed, n))
        effort = _effort(game, n)
        chosen = _around(visited[n - 1], count * effort, rng)
        parts = parallel(
            delayed(_targets)(game.parameters, weights, part)
            for part in np.array_split(chosen, _SLICES)
        )
        targets = np.concatenate(parts)
        seen = np.array([value.inputs(row) for row in chosen], dtype=np.float64)
        net = _Net(seen.shape[1], rng, before)
        logistic = game.params.utility == "win"
        loss = net.fit(seen, targets, rng, _STEPS * effort, logistic)
        before = net.flat()
        weights[(n - 1) * value.SIZE : n * value.SIZE] = before
        seconds = time.perf_counter() - began
        command.say(f"{n} sectors to come: {len(chosen)} states, error {loss:.4f}, {seconds:.1f} s")
    return weights


def _effort(game: Game, n: int) -> int:
    """How many times as many states and steps where a stage ends.

    Values are sharp there, and cheap to compute.
    """
    for stage in reversed(game.params.layout):
        sectors = sum(stage.sectors)
        if n <= sectors:
            return 6 if n <= 3 else 1
        n -= sectors
    return 1


def _around(visited: States, count: int, rng: np.random.Generator) -> States:
    """States that were visited, half of them with another clock, Jokers and reserves."""
    if not len(visited):
        raise ValueError("self-play reached too few sectors; play more games")
    chosen = visited[rng.integers(len(visited), size=count)].copy()
    for row in chosen[::2]:
        meta, told = int(row[rules.META]), int(row[rules.UNSEEN])
        for shift, most, spread in _RESERVES:
            now = meta >> shift & _FIELD[shift]
            then = min(max(now + int(rng.integers(-spread, spread + 1)), 0), most)
            meta ^= (now ^ then) << shift
        row[rules.META] = meta
        jokers = int(rng.integers(0, 3))
        row[rules.UNSEEN] = (told & ((1 << _JOKERS_AT) - 1)) | jokers << _JOKERS_AT
    return chosen


def _targets(params: dict[str, Any], weights: Weights, states: States) -> Array:
    """One sector's exact expectation at each state; for scores, less the score so far."""
    game = replace(load("rally", **params), weights=weights)
    search = Search(game, _TABLE_BITS)
    told = np.array([search.value(State(game, row), 1) for row in states])
    if game.params.utility == "score":
        told -= [int(rules.score(row)) for row in states]
    return told


class _Net:
    """A network of one hidden layer of rectified units, trained by Adam.

    Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015.
    """

    def __init__(self, inputs: int, rng: np.random.Generator, start: Weights | None) -> None:
        if start is None:
            self.first = rng.normal(0, np.sqrt(2 / inputs), (inputs, value.HIDDEN)) * 0.5
            self.bias = rng.normal(0, 0.5, value.HIDDEN)
            self.second = rng.normal(0, 0.1, value.HIDDEN)
            self.offset = np.zeros(1)
        else:
            rows = start[:-1].astype(np.float64).reshape(inputs + 2, value.HIDDEN)
            self.bias, self.first, self.second = rows[0].copy(), rows[1:-1].copy(), rows[-1].copy()
            self.offset = start[-1:].astype(np.float64)

    def flat(self) -> Weights:
        """The weights as ``value.py`` reads them."""
        rows = np.concatenate([self.bias[None], self.first, self.second[None]])
        return np.concatenate([rows.ravel(), self.offset]).astype(np.float32)

    def fit(
        self, seen: Array, targets: Array, rng: np.random.Generator, most: int, logistic: bool
    ) -> float:
        """Train on nine tenths for about ``most`` steps.

        Returns the root of the mean squared error on the rest.
        """
        held = len(seen) // 10
        parts = [self.first, self.bias, self.second, self.offset]
        moments = [(np.zeros_like(part), np.zeros_like(part)) for part in parts]
        steps = 0
        epochs = -(-most * _BATCH // len(seen))
        for epoch in range(epochs):
            rate = _RATE * (1 - epoch / epochs) + 1e-5
            for batch in _batches(rng.permutation(len(seen) - held) + held):
                steps += 1
                slopes = self._slopes(seen[batch], targets[batch], logistic)
                for part, slope, (mean, square) in zip(parts, slopes, moments, strict=True):
                    mean += 0.1 * (slope - mean)
                    square += 0.001 * (slope * slope - square)
                    step = mean / (1 - 0.9**steps)
                    part -= rate * step / (np.sqrt(square / (1 - 0.999**steps)) + 1e-8)
        out = self._output(seen[:held])[1]
        told = 1 / (1 + np.exp(-out)) if logistic else out
        return float(np.sqrt(np.mean((told - targets[:held]) ** 2)))

    def _output(self, seen: Array) -> tuple[Array, Array]:
        units = np.maximum(seen @ self.first + self.bias, 0)
        return units, units @ self.second + self.offset

    def _slopes(self, seen: Array, targets: Array, logistic: bool) -> list[Array]:
        units, out = self._output(seen)
        told = 1 / (1 + np.exp(-out)) if logistic else out
        error = (told - targets) / len(seen)
        back = np.outer(error, self.second) * (units > 0)
        return [seen.T @ back, back.sum(axis=0), units.T @ error, np.array([error.sum()])]


def _batches(order: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    for begin in range(0, len(order), _BATCH):
        yield order[begin : begin + _BATCH]


if __name__ == "__main__":
    sys.exit(command.run(app, sys.argv[1:]))
