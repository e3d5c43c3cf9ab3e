"""Uniformly random games in compiled code: for statistics, tests and speed."""

from dataclasses import dataclass
from functools import cache
from operator import index

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from cardcommons.bits import ZERO, mix
from cardcommons.compiled import compiled
from cardcommons.rng import below, make_rng, weighted
from cardcommons.state import State, root_words
from cardcommons.treaty import (
    CHANCE,
    SCRATCH,
    TERMINAL,
    Game,
    Kernel,
    Rules,
    copy_words,
    make_scratch,
)

_FIRST_CAPACITY = 64

_SPREAD = np.uint64(0x9E37_79B9_7F4A_7C15)


@dataclass(frozen=True)
class PlayoutCounts:
    """What came out of a number of games.

    Attributes:
        games: how many games were played.
        actions: atomic actions in all of them, chance outcomes included.
        outcomes: how often each vector of returns (a utility per player) came about, the most
            frequent first.
    """

    games: int
    actions: int
    outcomes: dict[tuple[float, ...], int]

    @property
    def mean_returns(self) -> tuple[float, ...]:
        """The average utility of each player."""
        weights = np.array(list(self.outcomes.values()), dtype=float)
        return tuple(float(x) for x in weights @ np.array(list(self.outcomes)) / self.games)


def make_playout(rules: Rules) -> Kernel:
    """The jittable ``(s, rng, moves, weight) -> actions``: play ``s`` to its end, at random.

    ``moves`` and ``weight`` are ``int64[max_legal]`` buffers.  For searches to close over.
    """
    to_move, legal, chance, apply = rules.to_move, rules.legal, rules.chance, rules.apply

    @register_jitable
    def playout(s, rng, moves, weight):
        actions = 0
        player = to_move(s)
        while player != TERMINAL:
            if player == CHANCE:
                choice = weighted(rng, weight, chance(s, moves, weight))
            else:
                choice = below(rng, legal(s, moves))
            apply(s, moves[choice])
            actions += 1
            player = to_move(s)
        return actions

    return playout


@register_jitable
def _slot(row, rows, counts):
    """Where ``row`` stands, or would stand, in an open-addressed table of rows of words."""
    key = ZERO
    for i in range(row.size):
        key = mix(key ^ row[i]) + _SPREAD
    slot = np.int64(key % np.uint64(counts.size))
    while counts[slot] > 0:
        same = True
        for i in range(row.size):
            same = same and rows[slot, i] == row[i]
        if same:
            break
        slot = (slot + 1) % counts.size
    return slot


@cache
def make_playouts(rules: Rules) -> Kernel:
    """Compile a batch of playouts.

    The kernel is ``(root, n, rng, scratch, returns, returns_bits, rows, counts) -> (games,
    actions)``.
    ``returns`` is ``float64[num_players]`` and ``returns_bits`` the same memory as ``uint64``;
    ``rows`` (``uint64[capacity, num_players]``) and ``counts`` (``int64[capacity]``) are a hash
    table of the vectors of returns.  Stops early when the table is half full.
    """
    playout, payoff = make_playout(rules), rules.payoff
    num_words, num_players = rules.num_words, rules.num_players

    @compiled(
        rules.name,
        types.UniTuple(types.int64, 2)(
            types.uint64[::1],
            types.int64,
            types.uint64[::1],
            SCRATCH,
            types.float64[::1],
            types.uint64[::1],
            types.uint64[:, ::1],
            types.int64[::1],
        ),
    )
    def playouts(root, n, rng, scratch, returns, returns_bits, rows, counts):
        s, moves = scratch.words[0], scratch.moves[0]
        used = 0
        for i in range(counts.size):
            used += counts[i] > 0
        games = 0
        actions = 0
        while games < n and 2 * used < counts.size:
            copy_words(s, root, num_words)
            actions += playout(s, rng, moves, scratch.weight)
            for player in range(num_players):
                returns[player] = payoff(s, player)
            slot = _slot(returns_bits, rows, counts)
            if counts[slot] == 0:
                used += 1
                for player in range(num_players):
                    rows[slot, player] = returns_bits[player]
            counts[slot] += 1
            games += 1
        return games, actions

    return playouts


def playouts(game: Game, n: int, seed: int, state: State | None = None) -> PlayoutCounts:
    """Play ``n`` uniformly random games.

    Args:
        game: the game to play.
        n: how many games, at least 1.
        seed: any integer; the same seed gives the same games.
        state: where each game begins; the start of the game if not given.
    """
    if index(n) < 1:
        raise ValueError(f"n must be at least 1, not {n}")
    run = make_playouts(game.rules)
    root = root_words(game, state)
    rng, scratch = make_rng(seed), make_scratch(game.rules)
    returns = np.empty(game.rules.num_players)
    rows, counts = _table(_FIRST_CAPACITY, game.rules.num_players)
    games = actions = 0
    while True:
        bits = returns.view(np.uint64)
        played, acted = run(root, n - games, rng, scratch, returns, bits, rows, counts)
        games, actions = games + played, actions + acted
        if games == n:
            return PlayoutCounts(games, actions, _outcomes(rows, counts))
        rows, counts = _grown(rows, counts)


def _table(capacity: int, width: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    return np.zeros((capacity, width), dtype=np.uint64), np.zeros(capacity, dtype=np.int64)


def _grown(
    rows: npt.NDArray[np.uint64], counts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    larger_rows, larger_counts = _table(4 * counts.size, rows.shape[1])
    with np.errstate(over="ignore"):
        for i in np.flatnonzero(counts):
            slot = _slot(rows[i], larger_rows, larger_counts)
            larger_rows[slot], larger_counts[slot] = rows[i], counts[i]
    return larger_rows, larger_counts


def _outcomes(
    rows: npt.NDArray[np.uint64], counts: npt.NDArray[np.int64]
) -> dict[tuple[float, ...], int]:
    used = np.flatnonzero(counts)
    found = {tuple(map(float, rows[i].view(np.float64))): int(counts[i]) for i in used}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
