"""Rally: a quick guess at the utility, from the score, the sectors to come and the reserves."""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import ZERO, field
from cardcommons.games.rally.rules import (
    META,
    MOST_BONUSES,
    MOST_PENALTIES,
    WIN,
    bonuses,
    hidden,
    jacks,
    jokers,
    loss_utility,
    number,
    penalties,
    queens,
    score,
    stage,
    stage_word,
    total,
)


class Weights(NamedTuple):
    """What counts how much, in points of score; ``python -m experiments.tune`` varies it."""

    sector: float = -0.06
    """A sector to come."""
    point_short: float = -0.4
    """A point by which the cards drawn miss the number of the sector."""
    reserve: float = 0.2
    """A Queen or a Jack left."""


WEIGHTS = Weights()
_SECTOR, _POINT_SHORT, _RESERVE = range(len(WEIGHTS))

_WIN_SPREAD = 3.0
"""How far a score must be above the limit for a win to be likely, in points."""

_FIVE = np.uint64(31)


@register_jitable
def sectors_to_come(s):
    """Hidden sectors of this stage and all later ones."""
    meta = s[META]
    count = hidden(meta, 0) + hidden(meta, 1) + hidden(meta, 2)
    index = stage(meta) + 1
    while True:
        told = stage_word(s, index)
        here = field(told, ZERO, _FIVE) + field(told, np.uint64(5), _FIVE)
        here += field(told, np.uint64(10), _FIVE)
        if here == 0:
            return count
        count += here
        index += 1


@register_jitable
def weighted(s, player, w):
    """A guess at ``payoff(s, player)`` by the :class:`Weights` ``w``: a tuple or an array."""
    meta = s[META]
    to_come = sectors_to_come(s) + (number(meta) > 0)
    guess = score(s) + w[_SECTOR] * to_come + w[_RESERVE] * (queens(meta) + jacks(meta))
    guess += w[_POINT_SHORT] * abs(number(meta) - total(meta))
    if meta & WIN:
        return 1.0 / (1.0 + np.exp((0.5 - guess) / _WIN_SPREAD))
    risk = (penalties(meta) / 16.0) ** 2 / (1.0 + jokers(s))
    best = min(bonuses(meta) + to_come, MOST_BONUSES) - penalties(meta)
    return (1.0 - risk) * max(min(guess, best), 1.0 - MOST_PENALTIES) + risk * loss_utility(s)


@register_jitable
def estimate(s, player):
    """A guess at ``payoff(s, player)``, within its bounds."""
    return weighted(s, player, WEIGHTS)
