"""Particles: a quick guess at who is winning.

Standard game: open cells decide, so count the lead in them, then the tie-break, then what may
become of the lead: the cells on the other's side that a hand can still fill, the choice of
placements, and the tempo, since a leader may wait while the other must act.  Tutorial game: who
runs out of placements loses, so compare placements and the cards that may bring more.
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

# Weights of the standard game, in open cells; found by matches of alpha-beta at depth 2 against
# itself, which is also how to judge a change of them.
OPEN_CELL = 1.0
CARD = 0.25
REACH = 0.7
PLACEMENT = 0.1
WAIT = 0.3
STANDARD_SCALE = 2.0

# Weights of the tutorial game, in placements.
TUTORIAL_CARD = 1.2
TUTORIAL_SCALE = 12.0


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
def _mobility_lead(s, player):
    return _mobility(s, player) - _mobility(s, 1 - player)


@register_jitable
def _standard(s, player):
    """The lead of a player in open cells, with all that may still add to it."""
    low, high, _, _, _, _ = targets(s)
    meta = s[META]
    other = 1 - player
    lead = OPEN_CELL * (open_cells(s, player) - open_cells(s, other))
    lead += CARD * (cards_on_side(s, other) - cards_on_side(s, player))
    mine = _reach(hand_of(meta, player), low, high, SIDES[other])
    theirs = _reach(hand_of(meta, other), low, high, SIDES[player])
    lead += REACH * (mine - theirs)  # one term: rounding stays antisymmetric
    lead += PLACEMENT * _mobility_lead(s, player)
    ahead = leader(s)
    if ahead != field(meta, MOVER_SHIFT, ONE):
        lead += WAIT if ahead == player else -WAIT
    return lead


@register_jitable
def _tutorial(s, player):
    """The lead of a player in placements; a card in hand is one more to come."""
    meta = s[META]
    cards = popcount(hand_of(meta, player)) - popcount(hand_of(meta, 1 - player))
    return _mobility_lead(s, player) + TUTORIAL_CARD * cards


@register_jitable
def estimate(s, player):
    """A guess at ``payoff(s, player)``, in (-1, 1); antisymmetric in the players."""
    if s[META] & TUTORIAL:
        return _squash(_tutorial(s, player) / TUTORIAL_SCALE)
    return _squash(_standard(s, player) / STANDARD_SCALE)
