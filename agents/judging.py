"""What a state is worth to a search: learned values or estimates, playouts, and a look ahead."""

from typing import NamedTuple, Self

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from cardcommons.rng import below, weighted
from cardcommons.treaty import CHANCE, TERMINAL, VALUE_WORK, Game, Kernel, Rules, copy_words


class Learned(NamedTuple):
    """What a game's learned value takes beside the state."""

    weights: npt.NDArray[np.float32]
    """``Game.weights``"""
    work: npt.NDArray[np.float32]
    """a buffer"""
    lowest: float
    """The bounds of utilities; as constants they would make each parameter of a game compile."""
    highest: float

    @classmethod
    def of(cls, game: Game) -> Self:
        """For one search at a time."""
        work, rules = np.zeros(VALUE_WORK, dtype=np.float32), game.rules
        return cls(game.weights, work, float(rules.min_utility), float(rules.max_utility))


LEARNED = numba.typeof(Learned(np.zeros(0, np.float32), np.zeros(0, np.float32), 0.0, 0.0))
"""The numba type of :class:`Learned`, for signatures."""


def make_judge(rules: Rules) -> Kernel:
    """The jittable ``(s, player, learned) -> float``: the game's learned value, or its estimate.

    ``learned`` is :class:`Learned`; the value lies within the bounds of utilities.
    """
    value, estimate = rules.value, rules.estimate

    if value is None:

        @register_jitable
        def judge(s, player, learned):
            return estimate(s, player)

    else:

        @register_jitable
        def judge(s, player, learned):
            worth = value(s, player, learned.weights, learned.work)
            return min(max(worth, learned.lowest), learned.highest)

    return judge


def make_rollout(rules: Rules) -> Kernel:
    """The jittable ``(s, cutoff, tries, rng, scratch, learned, result)``: judge and spoil ``s``.

    Plays for ``cutoff`` decisions and on until the game is settled, then writes a utility for each
    player (``float64[num_players]``): the payoff at the end of the game, or else what it is judged
    to be worth, scaled in a zero-sum game so that the sum is zero.  Each decision is for the best
    of ``tries`` random actions by the game's estimate, or with 1 for any: between the greedy
    playouts and the random ones of Winands and Bjornsson, "Evaluation function based Monte-Carlo
    LOA", ACG 2009.  ``scratch`` has two rows, of which ``s`` may be the first.
    """
    to_move, legal, chance, apply = rules.to_move, rules.legal, rules.chance, rules.apply
    payoff, settled, judge = rules.payoff, rules.settled, make_judge(rules)
    foresee, num_players, zero_sum = make_foresee(rules), rules.num_players, rules.zero_sum

    @register_jitable
    def judge_all(s, learned, result):
        """Each by what they see themselves; so shares of what there is to win may need scaling."""
        surplus = 0.0
        for player in range(num_players):
            result[player] = judge(s, player, learned)
            surplus += result[player]
        if not zero_sum or surplus == 0.0:
            return
        lowest = learned.lowest
        whole = -num_players * lowest
        for player in range(num_players):
            result[player] = lowest + (result[player] - lowest) * whole / (whole + surplus)

    @register_jitable
    def pick(s, player, tries, rng, scratch):
        """The best of some random actions."""
        moves, ahead = scratch.moves[0], scratch.words[1]
        n = legal(s, moves)
        if tries == 1:
            return moves[below(rng, n)]
        best = moves[0]
        highest = -np.inf
        for i in range(min(tries, n)):
            drawn = i + below(rng, n - i)
            moves[i], moves[drawn] = moves[drawn], moves[i]
            _, value = foresee(s, moves[i], player, ahead)
            if value > highest:
                best, highest = moves[i], value
        return best

    @register_jitable
    def rollout(s, cutoff, tries, rng, scratch, learned, result):
        moves, weight = scratch.moves[0], scratch.weight
        left = cutoff
        player = to_move(s)
        while player != TERMINAL and not (left <= 0 and settled(s)):
            if player == CHANCE:
                action = moves[weighted(rng, weight, chance(s, moves, weight))]
            else:
                action = pick(s, player, tries, rng, scratch)
                left -= 1
            apply(s, action)
            player = to_move(s)
        if player != TERMINAL:
            judge_all(s, learned, result)
            return
        for other in range(num_players):
            result[other] = payoff(s, other)

    return rollout


def make_foresee(rules: Rules) -> Kernel:
    """The jittable ``(s, action, player, ahead) -> (over, value)``: one action ahead of ``s``.

    ``ahead`` is a state to play in; ``value`` is the payoff if that ends the game, or else the
    estimate, for ``player``.
    """
    to_move, apply = rules.to_move, rules.apply
    payoff, estimate = rules.payoff, rules.estimate
    num_words = rules.num_words

    @register_jitable
    def foresee(s, action, player, ahead):
        copy_words(ahead, s, num_words)
        apply(ahead, action)
        if to_move(ahead) == TERMINAL:
            return True, payoff(ahead, player)
        return False, estimate(ahead, player)

    return foresee
