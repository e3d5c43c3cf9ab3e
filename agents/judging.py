"""What a state is worth to a tree search: playouts, cut off early or not, and a look ahead."""

from numba.extending import register_jitable

from cardcommons.rng import below, weighted
from cardcommons.treaty import CHANCE, TERMINAL, Kernel, Rules, copy_words


def make_rollout(rules: Rules) -> Kernel:
    """The jittable ``(s, cutoff, rng, scratch, result)``: judge ``s``, which is spoilt.

    Plays at random for ``cutoff`` decisions and on until the game is settled, then writes a
    utility for each player (``float64[num_players]``): the payoff at the end of the game, or else
    the estimate, shifted in a zero-sum game so that the sum is zero.
    """
    to_move, legal, chance, apply = rules.to_move, rules.legal, rules.chance, rules.apply
    payoff, estimate, settled = rules.payoff, rules.estimate, rules.settled
    num_players, zero_sum = rules.num_players, rules.zero_sum

    @register_jitable
    def judge(s, result):
        surplus = 0.0
        for player in range(num_players):
            result[player] = estimate(s, player)
            surplus += result[player]
        if zero_sum:
            for player in range(num_players):
                result[player] -= surplus / num_players

    @register_jitable
    def rollout(s, cutoff, rng, scratch, result):
        moves, weight = scratch.moves[0], scratch.weight
        left = cutoff
        player = to_move(s)
        while player != TERMINAL and not (left <= 0 and settled(s)):
            if player == CHANCE:
                choice = weighted(rng, weight, chance(s, moves, weight))
            else:
                choice = below(rng, legal(s, moves))
                left -= 1
            apply(s, moves[choice])
            player = to_move(s)
        if player != TERMINAL:
            judge(s, result)
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
