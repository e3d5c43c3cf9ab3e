"""Treasure: a quick guess at who is winning, from what the player asked for may see.

For the win: points on the board, tops that may be lost because they are low or cut off, and the
strength of the own hand.  For the margin: points alone.  The other's hidden cards are never looked
at.
"""

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

CONNECTED = 0.35
RANK_OF_TOP = 0.06
TREASURE_AT_RISK = 0.8
CARD_RANK = 0.02
WIN_SCALE = 6.0
MARGIN_SCALE = 0.9


@register_jitable
def _holding(s, player):
    """Points, with something for what keeps them and adds to them."""
    own = own_tops(s, player)
    total = np.float64(points(s, player)) + CONNECTED * popcount(connected(s, player))
    for i in range(4):
        total += RANK_OF_TOP * (1 << i) * popcount(own & s[RANK + i])
    return total - TREASURE_AT_RISK * popcount(own & treasures(s))


@register_jitable
def _hand_strength(s, player):
    cards = cards_of(s[HANDS], player)
    left = ranks_of(cards)
    total = 0
    while left:
        place = lowest(left)
        left = without_lowest(left)
        total += (place >> 1) * field(cards, np.uint64(place), np.uint64(3))
    return CARD_RANK * total


@register_jitable
def estimate(s, player):
    """A guess at ``payoff(s, player)``, strictly inside its bounds."""
    if s[META] & MARGIN:
        return MARGIN_SCALE * np.float64(points(s, player) - points(s, 1 - player))
    lead = _holding(s, player) - _holding(s, 1 - player) + _hand_strength(s, player)
    return lead / (WIN_SCALE + abs(lead))
