"""How much a policy can be exploited at least, where a game is too large to say how much at most.

A *local best response* looks one decision ahead: it redraws what it can't see, tries each of its
actions, plays on by the policy for everyone, and takes the action that does best on average.  This
is the idea of Lisý and Bowling, "Equilibrium approximation quality of current no-limit poker bots",
AAAI workshop 2017, with hidden cards redrawn by the rules of the game, not by what the policy
would have done with them.  Whatever it plays, no best response earns less than it does, so that
its mean over many games, less the error of a mean, bounds exploitability from below.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from agents.policy import Policy
from agents.worlds import TREATY_WORLD, UNKNOWN, filled_shelf, treaty_verbs, treaty_world
from cardcommons.compiled import compiled
from cardcommons.rng import below, child_seed, make_rng, unit
from cardcommons.treaty import CHANCE, TERMINAL, Game, Kernel, Rules

_GAME, _GUESS, _TRIAL = 0, 1, 2
"""Rows of the world: the game as it is, with hidden things redrawn, and played on."""

_NORMAL_95 = 1.959964
_CHUNK = 16


@cache
def make_play(rules: Rules) -> Kernel:
    """Compile ``(w, prob, me, samples, rng, totals, returns)``: games against a policy.

    In each game ``me`` responds, and the others follow the policy, whose probabilities are
    ``prob`` by place; ``totals`` is a buffer, ``float64[max_legal]``.  The utility of ``me`` in
    each game goes to ``returns``.
    """
    verbs = treaty_verbs(rules)
    start, mover, options, draw = verbs.start, verbs.mover, verbs.options, verbs.draw
    step, branch, utility, place_of = verbs.step, verbs.branch, verbs.utility, verbs.place
    resample, num_words = rules.resample, rules.num_words

    @register_jitable
    def follow(w, prob, row, player, rng):
        """An option drawn by the policy, or at random where it is silent."""
        n = options(w, row, player)
        place = place_of(w, row, player, n, False)
        chosen = 0
        if place == UNKNOWN:
            chosen = below(rng, n)
        else:
            left = unit(rng) - prob[place]
            while left >= 0.0 and chosen < n - 1:
                chosen += 1
                left -= prob[place + chosen]
        return chosen

    @register_jitable
    def play_on(w, prob, row, rng):
        player = mover(w, row)
        while player != TERMINAL:
            if player == CHANCE:
                draw(w, row, rng)
            else:
                step(w, row, follow(w, prob, row, player, rng))
            player = mover(w, row)

    @register_jitable
    def respond(w, prob, me, samples, rng, totals):
        """The option that does best on average, the first of equals."""
        n = options(w, _GAME, me)
        for i in range(n):
            totals[i] = 0.0
        for _ in range(samples if n > 1 else 0):
            for j in range(num_words):
                w.scratch.words[_GUESS, j] = w.scratch.words[_GAME, j]
            resample(w.scratch.words[_GUESS], me, rng)
            options(w, _GUESS, me)
            for i in range(n):
                branch(w, _GUESS, i)
                play_on(w, prob, _TRIAL, rng)
                totals[i] += utility(w, _TRIAL, me)
        best = 0
        for i in range(1, n):
            if totals[i] > totals[best]:
                best = i
        return best

    floats = types.float64[::1]

    @compiled(
        rules.name,
        types.void(
            TREATY_WORLD, floats, types.int64, types.int64, types.uint64[::1], floats, floats
        ),
    )
    def play(w, prob, me, samples, rng, totals, returns):
        for number in range(returns.size):
            start(w)
            player = mover(w, _GAME)
            while player != TERMINAL:
                if player == CHANCE:
                    draw(w, _GAME, rng)
                else:
                    if player == me:
                        chosen = respond(w, prob, me, samples, rng, totals)
                    else:
                        chosen = follow(w, prob, _GAME, player, rng)
                    step(w, _GAME, chosen)
                player = mover(w, _GAME)
            returns[number] = utility(w, _GAME, me)

    return play


@dataclass(frozen=True)
class LowerBound:
    """What local best responses earned: an estimate from below, never from above.

    Attributes:
        means: of the utility of the response in each seat.
        errors: half of the 95 % confidence interval of each.
        games: in each seat.
    """

    means: tuple[float, ...]
    errors: tuple[float, ...]
    games: int

    @property
    def nash_conv(self) -> float:
        """The estimate; NashConv is at least what the true means add up to."""
        return sum(self.means)

    @property
    def error(self) -> float:
        """Half of the 95 % confidence interval of the estimate."""
        return math.hypot(*self.errors)

    @property
    def exploitability(self) -> float:
        """The same per player."""
        return self.nash_conv / len(self.means)

    @property
    def at_least(self) -> float:
        """The bound that the estimate gives: 0 where it is negative, as exploitability never is."""
        return max(0.0, self.exploitability)

    @property
    def exploitability_error(self) -> float:
        """Half of its 95 % confidence interval."""
        return self.error / len(self.means)


def lower_bound(
    game: Game,
    policy: Policy,
    *,
    games: int = 1000,
    samples: int = 20,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> LowerBound:
    """Bound the exploitability of a policy from below, by play against local best responses.

    Args:
        game: of any size, with utilities that sum to zero.
        policy: for that game.
        games: in each seat, at least 2.
        samples: how often hidden cards are redrawn for a decision, at least 1.
        seed: of all that is random.
        progress: is told how many games of how many were played.

    Raises:
        ValueError: utilities don't sum to zero, or the policy is for another game.
    """
    if not game.rules.zero_sum:
        raise ValueError(f"utilities of {game.spec} don't sum to zero, as the bound needs")
    if games < 2 or samples < 1:
        raise ValueError(f"games must be at least 2 and samples 1, not {games} and {samples}")
    policy.check_game(game, "this")
    shelf = filled_shelf(
        policy.key, policy.first, (policy.key.size + 1).bit_length() + 1, policy.prob.size
    )
    world, totals = treaty_world(game, shelf), np.zeros(game.rules.max_legal)
    prob = np.ascontiguousarray(policy.prob)
    play, players = make_play(game.rules), game.rules.num_players
    returns = np.zeros((players, games))
    for me in range(players):
        rng = make_rng(child_seed(seed, me))
        for begin in range(0, games, _CHUNK):
            part = returns[me, begin : begin + _CHUNK]
            play(world, prob, me, samples, rng, totals, part)
            if progress is not None:
                progress(me * games + begin + part.size, players * games)
    return _bound(returns)


def _bound(returns: npt.NDArray[np.float64]) -> LowerBound:
    """The bound from the utilities, ``[seats, games]``."""
    games = returns.shape[1]
    spread = returns.std(axis=1, ddof=1) / math.sqrt(games)
    return LowerBound(
        tuple(returns.mean(axis=1).tolist()), tuple((_NORMAL_95 * spread).tolist()), games
    )
