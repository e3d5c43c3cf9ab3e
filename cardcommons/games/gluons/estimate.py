"""Gluons: a quick guess at who is winning, from what the player asked for may see.

Each gluon on the field counts as much of a point as it seems likely to become valid: the one whose
turn it is and whose quarks lie right surely is, others may see their quarks change before their
turn comes, for better or worse.  The others' hidden cards are never looked at.

For the win, each player's share of the chances grows exponentially with these points (Bradley and
Terry's model of comparisons, for several players Luce's), the slower the more is still to come.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import ONE, lowest, popcount, without_lowest
from cardcommons.games.gluons.rules import (
    ACTIVATION,
    COUNTS,
    META,
    POINTS,
    deck_size,
    face_down,
    gluons,
    hand_size,
    phase,
    players_of,
    points,
    quarks_at,
    to_move,
    value_at,
)


class Weights(NamedTuple):
    """What counts how much, in points; ``python -m experiments.tune`` varies it.

    The scale is near what results of self-play fit best (``python -m experiments.fit_estimate
    --game gluons --agent ismcts:sims=300 --games 1500 --only scale scale_card``).  The others are
    not: players who play alike play about as many cards, so results don't tell what one is worth.
    """

    valid_now: float = 0.72
    """A gluon whose quarks lie right at present."""
    turned: float = 0.30
    """One whose quarks lie otherwise."""
    unknown: float = 0.55
    """Another's gluon that is face down."""
    next_to_act: float = 0.98
    """A gluon that is valid and may be activated at once."""
    card: float = 0.04
    """A card, in hand or in the deck."""
    scale: float = 0.38
    """The lead, if nothing is left to come, that makes a win e times as likely as the other's."""
    scale_card: float = 0.164
    """What each card to come or on the field adds to it, of those a player has on average."""


WEIGHTS = Weights()
_VALID_NOW, _TURNED, _UNKNOWN, _NEXT_TO_ACT, _CARD, _SCALE, _SCALE_CARD = range(len(WEIGHTS))

_MOST = 0.999
"""What no guess at a win exceeds, since only a finished game is won."""


@register_jitable
def _chance_of(s, area, viewer, owner, w):
    """How likely the gluon on an area becomes valid."""
    if owner != viewer and (face_down(s) >> np.uint64(area)) & ONE:
        return w[_UNKNOWN]
    return w[_VALID_NOW] if value_at(s, area) == quarks_at(s[COUNTS], area) else w[_TURNED]


@register_jitable
def _cards_left(s, owner):
    """A player's cards in hand and in the deck."""
    return hand_size(s, owner) + deck_size(s, owner)


@register_jitable
def _prospects(s, viewer, owner, w):
    """Points of a player, with what is to be hoped for from the field and the cards left.

    Nothing counts as a whole point before it is one.
    """
    best = 0.0
    total = np.float64(points(s, owner))
    areas = gluons(s, owner)
    while areas:
        area = lowest(areas)
        areas = without_lowest(areas)
        likely = _chance_of(s, area, viewer, owner, w)
        total += likely
        best = max(best, likely)
    if best == w[_VALID_NOW] and phase(s[META]) == ACTIVATION and to_move(s) == owner:
        total += w[_NEXT_TO_ACT] - w[_VALID_NOW]
    return total + w[_CARD] * _cards_left(s, owner)


@register_jitable
def _above_the_mean(s, player, players, own, w):
    """How far ``own`` points are above the mean of all players."""
    total = own
    for other in range(players):
        if other != player:
            total += _prospects(s, player, other, w)
    return own - total / players


@register_jitable
def _share(s, player, players, own, w):
    """The chance to win with ``own`` points."""
    cards = 0
    for owner in range(players):
        cards += _cards_left(s, owner) + popcount(gluons(s, owner))
    scale = w[_SCALE] + w[_SCALE_CARD] * cards / players
    odds_against = 0.0
    for other in range(players):
        if other != player:
            odds_against += math.exp((_prospects(s, player, other, w) - own) / scale)
    return 1.0 / (1.0 + odds_against)


@register_jitable
def weighted(s, player, w):
    """A guess at ``payoff(s, player)`` by the :class:`Weights` ``w``: a tuple or an array."""
    players = players_of(s[META])
    own = _prospects(s, player, player, w)
    if s[META] & POINTS:
        return _above_the_mean(s, player, players, own, w)
    return _MOST * (_share(s, player, players, own, w) * players - 1.0) / (players - 1)


@register_jitable
def estimate(s, player):
    """A guess at ``payoff(s, player)``, strictly inside its bounds."""
    return weighted(s, player, WEIGHTS)
