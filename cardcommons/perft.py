"""Perft: the number of ways to play a given number of atomic actions, for checking rules.

The name and use are those of chess programming: counts on which independent engines agree.
"""

from functools import cache

import numpy as np
from numba import types
from numba.extending import register_jitable

from cardcommons.compiled import compiled
from cardcommons.state import State, root_words
from cardcommons.treaty import CHANCE, SCRATCH, Game, Kernel, Rules, copy_words, make_scratch


@cache
def make_perft(rules: Rules) -> Kernel:
    """Compile ``(root, depth, scratch, left) -> leaves`` for ``depth >= 1``.

    ``scratch`` has ``depth`` rows, and ``left`` is ``int64[depth]``.
    """
    to_move, legal, chance, apply = rules.to_move, rules.legal, rules.chance, rules.apply
    num_words = rules.num_words

    @register_jitable
    def list_moves(s, out, weight):
        if to_move(s) == CHANCE:
            return chance(s, out, weight)
        return legal(s, out)

    @compiled(rules.name, types.int64(types.uint64[::1], types.int64, SCRATCH, types.int64[::1]))
    def perft(root, depth, scratch, left):
        """Walk the tree with a row of scratch per ply; the last ply is counted, not played."""
        pool, moves = scratch.words, scratch.moves
        copy_words(pool[0], root, num_words)
        ply = 0
        leaves = 0
        left[0] = list_moves(pool[0], moves[0], scratch.weight)
        if depth == 1:
            return left[0]
        while ply >= 0:
            if left[ply] == 0:
                ply -= 1
                continue
            left[ply] -= 1
            s, child = pool[ply], pool[ply + 1]
            copy_words(child, s, num_words)
            apply(child, moves[ply, left[ply]])
            n = list_moves(child, moves[ply + 1], scratch.weight)
            if ply + 2 == depth:
                leaves += n
            else:
                ply += 1
                left[ply] = n
        return leaves

    return perft


def perft(game: Game, depth: int, state: State | None = None) -> int:
    """Count the sequences of exactly ``depth`` atomic actions, chance outcomes included.

    Args:
        game: the game to walk.
        depth: at least 0; ``perft(game, 0)`` is 1.
        state: where to begin; the start of the game if not given.
    """
    if depth < 0:
        raise ValueError(f"depth must be at least 0, not {depth}")
    root = root_words(game, state)
    if depth == 0:
        return 1
    scratch = make_scratch(game.rules, depth)
    return int(make_perft(game.rules)(root, depth, scratch, np.zeros(depth, dtype=np.int64)))


def divide(game: Game, depth: int, state: State | None = None) -> dict[str, int]:
    """The same count split by the first action, to find where two engines part."""
    if depth < 1:
        raise ValueError(f"depth must be at least 1, not {depth}")
    root = state or State(game)
    counts = {}
    for action in root.legal_actions():
        child = root.copy()
        child.apply(action)
        counts[root.action_to_string(action)] = perft(game, depth - 1, child)
    return counts
