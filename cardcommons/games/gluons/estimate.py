"""Gluons: a quick guess at who is winning, from what the player asked for may see.

Each gluon on the field counts as much of a point as it seems likely to become valid: the one whose
turn it is and whose quarks lie right surely is, others may see their quarks change before their
turn comes, for better or worse.  The others' hidden cards are never looked at.
"""

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

VALID_NOW = 0.72
TURNED = 0.30
UNKNOWN = 0.55
NEXT_TO_ACT = 1.0
CARD_IN_HAND = 0.04
FIRST_SEAT = 0.1
WIN_SCALE = 2.5


@register_jitable
def _chance_of(s, area, viewer, owner):
    """How likely the gluon on an area becomes valid."""
    if owner != viewer and (face_down(s) >> np.uint64(area)) & ONE:
        return UNKNOWN
    return VALID_NOW if value_at(s, area) == quarks_at(s[COUNTS], area) else TURNED


@register_jitable
def _prospects(s, viewer, owner):
    """Points of a player, with what is to be hoped for from the field and the hand."""
    best = 0.0
    total = np.float64(points(s, owner))
    areas = gluons(s, owner)
    while areas:
        area = lowest(areas)
        areas = without_lowest(areas)
        likely = _chance_of(s, area, viewer, owner)
        total += likely
        best = max(best, likely)
    if best == VALID_NOW and phase(s[META]) == ACTIVATION and to_move(s) == owner:
        total += NEXT_TO_ACT - VALID_NOW
    total += CARD_IN_HAND * (hand_size(s, owner) + deck_size(s, owner))
    return total + FIRST_SEAT * (owner == first_player(s[META]))


@register_jitable
def estimate(s, player):
    """A guess at ``payoff(s, player)``, strictly inside its bounds."""
    players = players_of(s[META])
    own, best, total = 0.0, -1.0, 0.0
    for owner in range(players):
        hoped = _prospects(s, player, owner)
        total += hoped
        if owner == player:
            own = hoped
        else:
            best = max(best, hoped)
    if s[META] & POINTS:
        return own - total / players
    lead = own - best
    share = 1.0 / players + lead / (WIN_SCALE + abs(lead)) * (
        (1.0 - 1.0 / players) if lead > 0 else 1.0 / players
    )
    return (share * players - 1.0) / (players - 1)
