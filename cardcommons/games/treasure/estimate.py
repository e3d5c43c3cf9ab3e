"""Treasure: a quick guess at who is winning, from what the player asked for may see.

For the win: points on the board, tops that may be lost because they are low or cut off, and the
strength of the own hand.  For the margin: points alone.  The other's hidden cards are never looked
at.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import field, lowest, popcount, without_lowest
from cardcommons.games.treasure.rules import (
    HANDS,
    MARGIN,
    META,
    RANK,
    cards_of,
    connected,
    own_tops,
    points,
    ranks_of,
    treasures,
)


class Weights(NamedTuple):
    """What counts how much for the win, in points; found by self-play.

    ``python -m experiments.tune --game treasure --agent greedy --iterations 300 --deals 10 --rate
    0.2 --nudge 0.5``.
    """

    connected: float = 0.42
    """A top that is connected."""
    rank_of_top: float = 0.013
    """A rank more of an own top."""
    treasure_at_risk: float = 1.4
    """An own treasure on the board, which counts against."""
    card_rank: float = 0.039
    """A rank more of a card in hand."""


WEIGHTS = Weights()
_CONNECTED, _RANK_OF_TOP, _TREASURE_AT_RISK, _CARD_RANK = range(len(WEIGHTS))

_WIN_SCALE = 6.0
"""The lead that is half of what can be hoped for."""
_MARGIN_SCALE = 0.9
"""How much of a lead in points is likely to last."""


@register_jitable
def _holding(s, player, w):
    """Points, with something for what keeps them and adds to them."""
    own = own_tops(s, player)
    total = np.float64(points(s, player)) + w[_CONNECTED] * popcount(connected(s, player))
    for i in range(4):
        total += w[_RANK_OF_TOP] * (1 << i) * popcount(own & s[RANK + i])
    return total - w[_TREASURE_AT_RISK] * popcount(own & treasures(s))


@register_jitable
def _hand_strength(s, player, w):
    cards = cards_of(s[HANDS], player)
    left = ranks_of(cards)
    total = 0
    while left:
        place = lowest(left)
        left = without_lowest(left)
        total += (place >> 1) * field(cards, np.uint64(place), np.uint64(3))
    return w[_CARD_RANK] * total


@register_jitable
def weighted(s, player, w):
    """A guess at ``payoff(s, player)`` by the :class:`Weights` ``w``: a tuple or an array."""
    if s[META] & MARGIN:
        return _MARGIN_SCALE * np.float64(points(s, player) - points(s, 1 - player))
    lead = _holding(s, player, w) - _holding(s, 1 - player, w) + _hand_strength(s, player, w)
    return lead / (_WIN_SCALE + abs(lead))


@register_jitable
def estimate(s, player):
    """A guess at ``payoff(s, player)``, strictly inside its bounds."""
    return weighted(s, player, WEIGHTS)
