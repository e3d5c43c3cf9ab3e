"""The greedy player: looks one whole turn ahead by the game's own estimate."""

from functools import cache

import numpy as np
from numba import types

from agents.base import Agent, Candidate, Decision, NoOptions
from cardcommons import Game, State
from cardcommons.compiled import compiled
from cardcommons.rng import draw_below
from cardcommons.treaty import SCRATCH, TERMINAL, Kernel, Rules, copy_words, make_scratch

_MOST_ACTIONS = 8
"""A turn longer than this is judged where it stands."""


@cache
def make_turn_values(rules: Rules) -> Kernel:
    """Compile ``(root, moves, values, scratch, left) -> n``: what a turn's first action is worth.

    Writes the legal actions of ``root`` to ``moves`` (``int64[max_legal]``) and, for each, to
    ``values`` (``float64[max_legal]``) the best estimate for the player to move over all ways to
    finish the turn: until another player, chance or nobody is to move.  ``scratch`` and ``left``
    (``int64``) have a row for each action of a turn, and one more.
    """
    to_move, legal, apply = rules.to_move, rules.legal, rules.apply
    payoff, estimate = rules.payoff, rules.estimate
    num_words = rules.num_words

    @compiled(
        rules.name,
        types.int64(
            types.uint64[::1], types.int64[::1], types.float64[::1], SCRATCH, types.int64[::1]
        ),
    )
    def turn_values(root, moves, values, scratch, left):
        pool, listed = scratch.words, scratch.moves
        me = to_move(root)
        n = legal(root, moves)
        for first in range(n):
            values[first] = -np.inf
            copy_words(pool[0], root, num_words)
            listed[0, 0] = moves[first]
            left[0] = 1
            ply = 0
            while ply >= 0:
                if left[ply] == 0:
                    ply -= 1
                    continue
                left[ply] -= 1
                s = pool[ply + 1]
                copy_words(s, pool[ply], num_words)
                apply(s, listed[ply, left[ply]])
                player = to_move(s)
                if player == me and ply + 1 < _MOST_ACTIONS:
                    ply += 1
                    left[ply] = legal(s, listed[ply])
                else:
                    value = payoff(s, me) if player == TERMINAL else estimate(s, me)
                    values[first] = max(values[first], value)
        return n

    return turn_values


class GreedyAgent(Agent):
    """Plays the first action of a turn that ends with the best estimate; ties at random."""

    name = "greedy"

    def __init__(self, game: Game, options: NoOptions | None = None) -> None:
        super().__init__(game, options)
        self._turn_values = make_turn_values(game.rules)

    def choose(self, state: State) -> Decision:
        rules = self.game.rules
        moves = np.zeros(rules.max_legal, dtype=np.int64)
        values = np.zeros(rules.max_legal, dtype=np.float64)
        scratch = make_scratch(rules, _MOST_ACTIONS + 1)
        left = np.zeros(_MOST_ACTIONS + 1, dtype=np.int64)
        n = self._turn_values(state.words, moves, values, scratch, left)
        best = values[:n].max()
        ties = np.flatnonzero(values[:n] == best)
        action = int(moves[ties[draw_below(self.rng, ties.size)]])
        order = np.argsort(-values[:n], kind="stable")
        return Decision(
            action,
            value=float(best),
            principal_variation=(action,),
            candidates=tuple(Candidate(int(moves[i]), float(values[i])) for i in order),
        )
