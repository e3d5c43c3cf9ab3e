"""Particles: a quick guess at who is winning.

Standard game: open cells decide, so count the lead in them, then the tie-break, then what the
lead may become: the cells on the other's side that a hand can still fill, and the tempo, since a
leader may pass and wait.  Tutorial game: who runs out of placements loses, so compare mobility.
"""

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import (
    ONE,
    ZERO,
    field,
    lowest,
    popcount,
    without_lowest,
)
from cardcommons.games.particles.rules import (
    META,
    MOVER_SHIFT,
    SIDES,
    TUTORIAL,
    cards_on_side,
    hand_of,
    leader,
    open_cells,
    placements,
    plane_of,
    targets,
)

OPEN_CELL = 1.0
CARD = 0.15
LEADER = 0.5
REACH = 0.35
TO_MOVE = 0.2
MOBILITY_SCALE = 12.0


@register_jitable
def _squash(x):
    """Into (-1, 1), keeping order and sign."""
    return x / (1.0 + abs(x))


@register_jitable
def _reach(hand, low, high, side):
    """How many cells of ``side`` the hand could channel onto."""
    cells = ZERO
    levels = (hand | (hand >> np.uint64(6))) & np.uint64(0x3F)
    while levels:
        cells |= plane_of(low, high, lowest(levels))
        levels = without_lowest(levels)
    return popcount(cells & side)


@register_jitable
def _mobility(s, player):
    """The number of placements that a player would have on the move."""
    total = 0
    for actions in placements(s, hand_of(s[META], player)):
        total += popcount(actions)
    return total


@register_jitable
def _standard(s, player):
    low, high, _, _, _, _ = targets(s)
    meta = s[META]
    other = 1 - player
    lead = OPEN_CELL * (open_cells(s, player) - open_cells(s, other))
    lead += CARD * (cards_on_side(s, other) - cards_on_side(s, player))
    lead += LEADER if leader(s) == player else -LEADER
    mine = _reach(hand_of(meta, player), low, high, SIDES[other])
    theirs = _reach(hand_of(meta, other), low, high, SIDES[player])
    lead += REACH * (mine - theirs)  # one term: rounding stays antisymmetric
    lead += TO_MOVE if field(meta, MOVER_SHIFT, ONE) == player else -TO_MOVE
    return _squash(0.5 * lead)


@register_jitable
def estimate(s, player):
    """A guess at ``payoff(s, player)``, in (-1, 1); antisymmetric in the players."""
    if not s[META] & TUTORIAL:
        return _standard(s, player)
    return _squash((_mobility(s, player) - _mobility(s, 1 - player)) / MOBILITY_SCALE)
