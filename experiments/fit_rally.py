"""Learn what a rally is worth between sectors: ``python -m experiments.fit_rally --help``.

Fitted value iteration, backwards over the number of sectors to come (Bertsekas and Tsitsiklis,
"Neuro-dynamic programming", 1996, section 6.9).  The value of a state with ``n`` sectors to come
is the exact expectation, over the next sector and the cards drawn on it, of the best play by the
values for ``n - 1``; a small network is fitted to such values at states that self-play visits, and
at states near them.  Passes repeat with self-play by the values of the pass before.

The library's values were made with ``OPENBLAS_NUM_THREADS=1`` (more threads add in another order)
by ``... values-win.npz --utility win`` and ``... values-score.npz --utility score --states 12000``.
Three times the games and four times the states for the ends of stages gave values as good.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from cyclopts import App
from joblib import Parallel, delayed
from numba import types

from agents.expectimax import Search
from cardcommons import Game, State, load
from cardcommons.compiled import compiled
from cardcommons.games.rally import rules, value
from cardcommons.games.rally.estimate import sectors_to_come
from cardcommons.games.rally.weights import read_weights, save_weights
from cardcommons.rng import child_seed, draw_below, make_rng
from cardcommons.treaty import Kernel
from experiments import command
from experiments.match import random_action

Array = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
States = npt.NDArray[np.uint64]

app = App(name="python -m experiments.fit_rally", help=__doc__, version_flags=[])

_TABLE_BITS = 14
_LEAST_STATES = 100
_ERRING = 20
"""Self-play errs once in so many decisions, so that it visits what a good driver avoids too."""

_JOKERS_AT = int(rules.JOKERS_SHIFT)
_CARDS = (1 << _JOKERS_AT) - 1
_SCORE = (
    (int(rules.BONUSES_SHIFT), rules.MOST_BONUSES, 2),
    (int(rules.PENALTIES_SHIFT), rules.MOST_PENALTIES - 1, 3),
)
_RESERVES = ((int(rules.QUEENS_SHIFT), 4, 1), (int(rules.JACKS_SHIFT), 4, 1))
"""Where META has them, the most there can be, and how far the states to fit vary them."""
_FIELD = {shift: 31 if most > 7 else 7 for shift, most, _ in _SCORE + _RESERVES}
_SLICES = 8
_BATCH = 512
_RATE = 6e-3
_DECAY = 0.03
_MORE_STEPS = 4
"""Where there are more states to fit, there are more steps, up to so many times as many."""
_ROUGH = 4
"""Passes before the last make do with so many times fewer states and steps."""


@app.default
def fit(
    out: Path,
    *,
    utility: str = "win",
    start: Path | None = None,
    passes: command.Whole = 2,
    games: command.Whole = 4000,
    states: command.Whole = 16000,
    ends: command.Whole = 4,
    steps: command.Whole = 10000,
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
        How often to go through all sectors; all passes but the last are rough ones.
    games
        Games of self-play before each pass.
    states
        States to fit for each number of sectors to come.
    ends
        How many times as many for the last two sectors of a stage; half as many times for the two
        before, and so on.
    steps
        Steps of gradient descent for each of them.
    seed
        The same seed gives the same networks.
    workers
        Processes that compute values at once.
    """
    game = load("rally", utility=utility)
    rough = states // _ROUGH
    if min(passes, games // _SLICES, rough // _LEAST_STATES, steps // _ROUGH, workers) < 1:
        raise ValueError(
            f"passes and workers must be at least 1, games at least {_SLICES}, steps at least "
            f"{_ROUGH} and states at least {_ROUGH * _LEAST_STATES}"
        )
    game = _valued(
        game.parameters, np.zeros(0, np.float32) if start is None else read_weights(start)
    )
    visited: list[States] = []
    with Parallel(n_jobs=workers) as parallel:
        for index in range(passes):
            new = _self_play(parallel, game, games, child_seed(seed, "play", index))
            visited = [_joined(n, new, visited) for n in range(value.SECTORS)]
            less = 1 if index == passes - 1 else _ROUGH
            fitting = _Fitting(parallel, game, child_seed(seed, "fit", index), ends)
            weights = fitting.through(visited, states // less, steps // less)
            game = replace(game, weights=weights)
            save_weights(out, game)
    return 0


def _valued(params: dict[str, Any], weights: Array) -> Game:
    """The game with these values, for searches that ask for them at the end of every sector."""
    game = load("rally", **params)
    return replace(game, weights=weights, rules=game.rules._replace(settled=rules.settled))


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


def _play_games(params: dict[str, Any], weights: Array, games: int, seed: int) -> list[States]:
    game = _valued(params, weights)
    search = Search(game, _TABLE_BITS)
    found: list[list[npt.NDArray[np.uint64]]] = [[] for _ in range(value.SECTORS)]
    for index in range(games):
        state, rng = State(game), make_rng(child_seed(seed, index))
        search.values.key.fill(0)
        while not state.is_terminal:
            if state.is_chance and rules.settled(state.words):
                found[int(sectors_to_come(state.words)) - 1].append(state.words.copy())
            if state.is_chance or draw_below(rng, _ERRING) == 0:
                state.apply(random_action(state, rng))
            else:
                search.value(state, 1)
                state.apply(int(search.stack.move[0]))
    width = game.rules.num_words
    return [np.array(rows, dtype=np.uint64).reshape(-1, width) for rows in found]


class _Fitting:
    """One pass: a network for each number of sectors to come, from the last one backwards."""

    def __init__(self, parallel: Any, game: Game, seed: int, ends: int) -> None:
        self.parallel = parallel
        self.game = game
        self.seed = seed
        self.ends = ends

    def through(self, visited: list[States], count: int, steps: int) -> Array:
        """The weights of all networks; ``count`` states are fitted for each of most of them."""
        weights = np.zeros(value.SECTORS * value.SIZE, dtype=np.float32)
        net = _Net(np.random.default_rng(self.seed))
        for n in range(1, value.SECTORS + 1):
            began = time.perf_counter()
            rng = np.random.default_rng(child_seed(self.seed, n))
            effort = self._effort(n)
            chosen = self._around(n, visited[n - 1], count * effort, rng)
            targets = self._targets(weights, chosen)
            logistic = self.game.params.utility == "win"
            loss = net.fit(*_seen(chosen), targets, rng, steps * min(effort, _MORE_STEPS), logistic)
            weights[(n - 1) * value.SIZE : n * value.SIZE] = net.flat()
            seconds = time.perf_counter() - began
            command.say(f"{n} to come: {len(chosen)} states, error {loss:.4f}, {seconds:.1f} s")
        return weights

    def _effort(self, n: int) -> int:
        """How many times as many states where a stage ends.

        Values are sharp there, and cheap to compute.
        """
        for stage in reversed(self.game.params.layout):
            sectors = sum(stage.sectors)
            if n <= sectors:
                return max(1, self.ends >> (n - 1) // 2)
            n -= sectors
        return 1

    def _around(self, n: int, visited: States, count: int, rng: np.random.Generator) -> States:
        """States that were visited, half of them with another score, Jokers, reserves and cards."""
        if not len(visited):
            raise ValueError("self-play reached too few sectors; play more games")
        chosen = visited[rng.integers(len(visited), size=count)].copy()
        for row in chosen[::2]:
            _vary_score(row, rng)
            if int(row[rules.UNSEEN]) & _CARDS != rules.ALL_UNSEEN:  # no stage begins
                _vary_reserves(row, rng)
        chosen = np.unique(chosen, axis=0)
        return rng.permutation(chosen)

    def _targets(self, weights: Array, states: States) -> Array:
        parts = self.parallel(
            delayed(_expectations)(self.game.parameters, weights, part)
            for part in np.array_split(states, _SLICES)
        )
        return np.concatenate(parts).astype(np.float32)


def _vary_score(row: npt.NDArray[np.uint64], rng: np.random.Generator) -> None:
    _vary(row, _SCORE, rng)
    jokers = int(rng.integers(0, 3))
    row[rules.UNSEEN] = (int(row[rules.UNSEEN]) & _CARDS) | jokers << _JOKERS_AT


def _vary(
    row: npt.NDArray[np.uint64],
    counts: tuple[tuple[int, int, int], ...],
    rng: np.random.Generator,
) -> None:
    meta = int(row[rules.META])
    for shift, most, spread in counts:
        now = meta >> shift & _FIELD[shift]
        then = min(max(now + int(rng.integers(-spread, spread + 1)), 0), most)
        meta ^= (now ^ then) << shift
    row[rules.META] = meta


def _vary_reserves(row: npt.NDArray[np.uint64], rng: np.random.Generator) -> None:
    """Other Queens and Jacks, and a card of one gear more or less."""
    _vary(row, _RESERVES, rng)
    card = int(rng.integers(1, 11))
    gear = sum(card >= first for first in rules.FIRST_VALUE[1:3])
    one = np.uint64(1 << 4 * (card - 1))
    if rng.random() < 0.5:
        if rules.unseen(row, card) < 4:
            row[rules.UNSEEN] += one
    elif rules.unseen(row, card) > 0 and rules.pile(row, gear) > 0:
        row[rules.UNSEEN] -= one


def _expectations(params: dict[str, Any], weights: Array, states: States) -> list[float]:
    """One sector's exact expectation at each state; for scores, what is yet to be scored."""
    game = _valued(params, weights)
    search = Search(game, _TABLE_BITS)
    told = []
    for row in states:
        search.values.key.fill(0)
        told.append(search.value(State(game, row), 1))
    if game.params.utility == "score":
        scores = [int(rules.score(row)) for row in states]
        return [(t - s) / value.POINTS for t, s in zip(told, scores, strict=True)]
    return told


@cache
def _make_look() -> Kernel:
    """Compile ``(states, inputs, rows)``: write what the networks see of each state."""

    @compiled("rally", types.void(types.uint64[:, ::1], types.float32[:, ::1], types.int64[::1]))
    def look(states: States, inputs: Array, rows: Rows) -> None:
        for i in range(states.shape[0]):
            value.write_inputs(states[i], inputs[i], 0)
            rows[i] = value.output_row(states[i])

    return look


def _seen(states: States) -> tuple[Array, Rows]:
    inputs = np.zeros((len(states), value.INPUTS), dtype=np.float32)
    rows = np.zeros(len(states), dtype=np.int64)
    _make_look()(np.ascontiguousarray(states), inputs, rows)
    return inputs, rows


class _Net:
    """A network as ``value.py`` reads it, trained by Adam.

    Each row of output weights is the sum of one that all share and one of its own, so that rows
    of which little is seen stay near the others.  Kingma and Ba, "Adam: a method for stochastic
    optimization", ICLR 2015; with decay as in Loshchilov and Hutter, "Decoupled weight decay
    regularization", ICLR 2019.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        def normal(spread: float, *shape: int) -> Array:
            return rng.normal(0, spread, shape).astype(np.float32)

        self.first = normal(value.INPUTS**-0.5, value.INPUTS, value.HIDDEN)
        self.bias = normal(0.5, value.HIDDEN)
        self.shared, self.own = normal(0.1, value.HIDDEN), normal(0, value.ROWS, value.HIDDEN)
        self.offset, self.own_offset = normal(0, 1), normal(0, value.ROWS)

    def flat(self) -> Array:
        """The weights as ``value.py`` reads them, rounded as they are in a file."""
        second = np.column_stack([self.shared + self.own, self.offset + self.own_offset])
        parts = [self.bias, self.first.ravel(), second.ravel()]
        return np.concatenate(parts).astype(np.float16).astype(np.float32)

    def fit(
        self,
        inputs: Array,
        rows: Rows,
        targets: Array,
        rng: np.random.Generator,
        steps: int,
        logistic: bool,
    ) -> float:
        """Train on nine tenths; the root of the mean squared error on the rest."""
        held = len(inputs) // 10
        parts = [self.first, self.bias, self.shared, self.offset, self.own, self.own_offset]
        moments = [(np.zeros_like(part), np.zeros_like(part)) for part in parts]
        batches = _batches(len(inputs) - held, rng)
        for step in range(1, steps + 1):
            batch = next(batches) + held
            slopes = self._slopes(inputs[batch], rows[batch], targets[batch], logistic)
            rate = _RATE * (0.5 + 0.5 * np.cos(np.pi * step / steps))
            for part, slope, (mean, square) in zip(parts, slopes, moments, strict=True):
                mean += np.float32(0.1) * (slope - mean)
                square += np.float32(0.001) * (slope * slope - square)
                size = np.sqrt(square / np.float32(1 - 0.999**step)) + np.float32(1e-8)
                part *= np.float32(1 - rate * _DECAY)
                part -= np.float32(rate / (1 - 0.9**step)) * mean / size
        told = _told(self._output(inputs[:held], rows[:held])[1], logistic)
        return float(np.sqrt(np.mean((told - targets[:held]) ** 2)))

    def _output(self, inputs: Array, rows: Rows) -> tuple[Array, Array]:
        units = np.maximum(inputs @ self.first + self.bias, 0)
        second = self.shared + self.own[rows]
        return units, np.einsum("bh,bh->b", units, second) + self.offset + self.own_offset[rows]

    def _slopes(self, inputs: Array, rows: Rows, targets: Array, logistic: bool) -> list[Array]:
        """Those of the mean squared error; of the cross-entropy if the output is logistic."""
        units, out = self._output(inputs, rows)
        error = (_told(out, logistic) - targets) / np.float32(len(inputs))
        back = error[:, None] * (self.shared + self.own[rows]) * (units > 0)
        by_row = np.zeros((len(inputs), value.ROWS), dtype=np.float32)
        by_row[np.arange(len(inputs)), rows] = error
        total = error.sum(keepdims=True)
        return [
            inputs.T @ back,
            back.sum(axis=0),
            error @ units,
            total,
            by_row.T @ units,
            by_row.sum(axis=0),
        ]


def _told(out: Array, logistic: bool) -> Array:
    one = np.float32(1.0)
    return one / (one + np.exp(-out)) if logistic else out


def _batches(count: int, rng: np.random.Generator) -> Iterator[Rows]:
    """Without end, all of them in each round (but for a remainder)."""
    size = min(_BATCH, count)
    while True:
        order = rng.permutation(count)
        for begin in range(0, count - size + 1, size):
            yield order[begin : begin + size]


if __name__ == "__main__":
    sys.exit(command.run(app, sys.argv[1:]))
