"""Treasure: a quick guess at who is winning, from what both players see.

For the win: the lead in points, what the cards that are still to come may do (their ranks, their
number, the spaces where they may go), how well the tops hold, and how many cards there are left to
change it all.  For the margin: points alone.  Neither hand matters by itself, since all that a
player still holds or has in the deck gets played; so one player's guess is the other's, negated.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import popcount
from cardcommons.games.treasure.rules import (
    DECKS,
    HANDS,
    MARGIN,
    META,
    NUM_RANKS,
    RANK,
    cards_of,
    connected,
    own_tops,
    points,
    reachable_from,
    treasures,
)


class Weights(NamedTuple):
    """What counts how much for the win, in points; fitted to games of self-play.

    ``python -m experiments.fit_estimate --game treasure --agent ismcts:sims=500 --games 2000``.
    """

    connected: float = -0.4
    """A top that is connected; what may be reached from it counts for itself."""
    rank_of_top: float = 0.081
    """A rank more of an own top."""
    treasure_at_risk: float = 0.41
    """An own treasure on the board, which counts against."""
    card: float = 0.74
    """A card to come, from hand or deck; as the next two."""
    card_rank: float = 0.29
    """A rank more of it."""
    treasure_to_come: float = 1.9
    reach: float = 0.33
    """A space where a card may go."""
    scale: float = 1.5
    """At the end, the lead that is a win in 88 of 100 games."""
    scale_card: float = 0.136
    """What each card to come, of either player, adds to it."""


WEIGHTS = Weights()
(
    _CONNECTED,
    _RANK_OF_TOP,
    _TREASURE_AT_RISK,
    _CARD,
    _CARD_RANK,
    _TREASURE_TO_COME,
    _REACH,
    _SCALE,
    _SCALE_CARD,
) = range(len(WEIGHTS))

_MOST = 0.999
"""What no guess exceeds, since only a finished game is won."""
_MARGIN_SCALE = 0.9
"""How much of a lead in points is likely to last."""

_TREASURE = np.uint64(3)
_ALL = tuple(np.uint64(sum(1 << 2 * rank + bit for rank in range(NUM_RANKS))) for bit in (0, 1))
_WITH_BIT = tuple(
    tuple(
        np.uint64(sum(1 << 2 * rank + bit for rank in range(NUM_RANKS) if rank >> i & 1))
        for bit in (0, 1)
    )
    for i in range(4)
)
"""The places of the ranks with bit ``i``, for one copy and for two."""


@register_jitable
def _count(cards, places):
    """How many of a player's cards there are in some places of one copy and of two."""
    return popcount(cards & places[0]) + 2 * popcount(cards & places[1])


@register_jitable
def _to_come(s, player):
    """A player's cards in hand and deck, of which all know the sum."""
    return cards_of(s[HANDS], player) + cards_of(s[DECKS], player)


@register_jitable
def _prospects(s, player, cards, w):
    """Points, with something for what keeps them and adds to them."""
    own, joined = own_tops(s, player), connected(s, player)
    total = np.float64(points(s, player))
    total += w[_CONNECTED] * popcount(joined)
    total += w[_REACH] * popcount(reachable_from(s, player, joined))
    total += w[_TREASURE_TO_COME] * popcount(cards & _TREASURE)
    ranks = 0
    ranks_of_tops = 0
    for i in range(4):
        ranks += _count(cards, _WITH_BIT[i]) << i
        ranks_of_tops += popcount(own & s[RANK + i]) << i
    total += w[_CARD_RANK] * ranks + w[_RANK_OF_TOP] * ranks_of_tops
    return total - w[_TREASURE_AT_RISK] * popcount(own & treasures(s))


@register_jitable
def weighted(s, player, w):
    """A guess at ``payoff(s, player)`` by the :class:`Weights` ``w``: a tuple or an array."""
    if s[META] & MARGIN:
        return _MARGIN_SCALE * np.float64(points(s, player) - points(s, 1 - player))
    own, other = _to_come(s, player), _to_come(s, 1 - player)
    count, others = _count(own, _ALL), _count(other, _ALL)
    lead = _prospects(s, player, own, w) - _prospects(s, 1 - player, other, w)
    lead += w[_CARD] * (count - others)
    return _MOST * math.tanh(lead / (w[_SCALE] + w[_SCALE_CARD] * (count + others)))


@register_jitable
def estimate(s, player):
    """A guess at ``payoff(s, player)``, strictly inside its bounds."""
    return weighted(s, player, WEIGHTS)
