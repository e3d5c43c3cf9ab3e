"""Gluons: a quick guess at who is winning, from what the player asked for may see.

Each gluon on the field counts as much of a point as it seems likely to become valid: the one whose
turn it is and whose quarks lie right surely is, others may see their quarks change before their
turn comes, for better or worse.  The others' hidden cards are never looked at.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import ONE, lowest, without_lowest
from cardcommons.games.gluons.rules import (
    ACTIVATION,
    COUNTS,
    META,
    POINTS,
    deck_size,
    face_down,
    first_player,
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
    """What counts how much, in points; ``python -m experiments.tune`` varies it."""

    valid_now: float = 0.72
    """A gluon whose quarks lie right at present."""
    turned: float = 0.30
    """One whose quarks lie otherwise."""
    unknown: float = 0.55
    """Another's gluon that is face down."""
    next_to_act: float = 0.98
    """A gluon that is valid and may be activated at once."""
    card_in_hand: float = 0.04
    """A card, in hand or in the deck."""
    first_seat: float = 0.1
    """To be first in the round."""


WEIGHTS = Weights()
_VALID_NOW, _TURNED, _UNKNOWN, _NEXT_TO_ACT, _CARD_IN_HAND, _FIRST_SEAT = range(len(WEIGHTS))

_WIN_SCALE = 2.5
"""The lead that is half of what can be hoped for."""


@register_jitable
def _chance_of(s, area, viewer, owner, w):
    """How likely the gluon on an area becomes valid."""
    if owner != viewer and (face_down(s) >> np.uint64(area)) & ONE:
        return w[_UNKNOWN]
    return w[_VALID_NOW] if value_at(s, area) == quarks_at(s[COUNTS], area) else w[_TURNED]


@register_jitable
def _prospects(s, viewer, owner, w):
    """Points of a player, with what is to be hoped for from the field and the hand.

    Nothing counts as a whole point before it is one, and the first seat only decides ties: so no
    lead is taken for a proven one.
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
    total += w[_CARD_IN_HAND] * (hand_size(s, owner) + deck_size(s, owner))
    if s[META] & POINTS:
        return total
    return total + w[_FIRST_SEAT] * (owner == first_player(s[META]))


@register_jitable
def weighted(s, player, w):
    """A guess at ``payoff(s, player)`` by the :class:`Weights` ``w``: a tuple or an array."""
    players = players_of(s[META])
    own, best, total = 0.0, -1.0, 0.0
    for owner in range(players):
        hoped = _prospects(s, player, owner, w)
        total += hoped
        if owner == player:
            own = hoped
        else:
            best = max(best, hoped)
    if s[META] & POINTS:
        return own - total / players
    lead = own - best
    share = 1.0 / players + lead / (_WIN_SCALE + abs(lead)) * (
        (1.0 - 1.0 / players) if lead > 0 else 1.0 / players
    )
    return (share * players - 1.0) / (players - 1)


@register_jitable
def estimate(s, player):
    """A guess at ``payoff(s, player)``, strictly inside its bounds."""
    return weighted(s, player, WEIGHTS)
