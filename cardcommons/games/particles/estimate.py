"""Particles: a quick guess at who is winning.

Standard game: open cells decide, so count the lead in them, then the tie-break, then what may
become of the lead: the cells on the other's side that a hand can still fill and in how many ways,
the choice of placements, and the tempo, since a leader may wait while the other must act.
Tutorial game: who runs out of placements loses, so compare placements, the cells they go to, and
the cards that may bring more.  In either game a lead is the surer the fewer cards are left.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import ONE, field, popcount
from cardcommons.games.particles.rules import (
    CELLS,
    LANES,
    META,
    MOVER_SHIFT,
    SIDES,
    TUTORIAL,
    can_pay,
    cards_on_side,
    channels,
    hand_of,
    held,
    leader,
    open_cells,
    targets,
)


class Weights(NamedTuple):
    """What counts how much; fitted to games of minimax against itself.

    ``python -m experiments.fit_estimate --game particles particles:torus=True --agent
    minimax:nodes=2000,table=14 --games 1500``, and likewise for the tutorial games; ``hand`` and
    ``level`` by matches after that.
    """

    card: float = 0.23
    """Standard game, as the next ones: a card lying on the own side, in open cells."""
    reach: float = 0.59
    """A cell of the other's side that the hand could channel onto."""
    breadth: float = 0.54
    """The root of the number of ways to do so."""
    placement: float = 0.1
    """A placement that there would be on the move."""
    wait: float = 0.92
    """To be ahead while the other must act."""
    hand: float = -0.1
    """A card in hand."""
    level: float = 0.25
    """A level of which there is one."""
    tempo: float = 0.63
    """To be on the move."""
    certainty: float = 0.15
    """How surely an open cell wins, for each card that is gone from the hands."""
    tutorial_hand: float = 1.76
    """Tutorial game, as the next ones: a card in hand, in placements."""
    tutorial_reach: float = 1.12
    """A cell that the hand could channel onto."""
    tutorial_tempo: float = -1.53
    """To be on the move."""
    tutorial_certainty: float = 0.043
    """How surely a placement wins, for each card that is gone from the hands."""


WEIGHTS = Weights()
_CARD, _REACH, _BREADTH, _PLACEMENT, _WAIT, _HAND, _LEVEL, _TEMPO, _CERTAINTY = range(9)
_TUTORIAL_HAND, _TUTORIAL_REACH, _TUTORIAL_TEMPO, _TUTORIAL_CERTAINTY = range(9, len(WEIGHTS))

_CARDS = 24
_S16, _S32 = np.uint64(16), np.uint64(32)
_SIX, _ONE_COLOUR = np.uint64(6), np.uint64(0x3F)
_HANDS = np.uint64(0xFFFFFF) << np.uint64(16)


@register_jitable
def _squash(x):
    """Into (-1, 1), keeping order and sign."""
    return x / (1.0 + abs(x))


@register_jitable
def _ways(low, high, lanes):
    """How many cards there are to go where the levels may go, over all cells."""
    reds_low, reds_high, blacks_low, blacks_high = lanes
    by_red = popcount(low & reds_low) + popcount(high & reds_high)
    return by_red + popcount(low & blacks_low) + popcount(high & blacks_high)


@register_jitable
def _prospects(reach, hand, side):
    """What a hand could do if it were on the move.

    Returns how many cells of ``side`` it could channel onto, in how many ways, and the number of
    its placements of any kind on any side.
    """
    low, high, red_low, red_high, black_low, black_high = reach
    lanes = held(hand)
    reds_low, reds_high, blacks_low, blacks_high = lanes
    low_here, high_here = low & (side * LANES), high & (side * LANES)
    cells = channels(low_here, high_here, lanes)
    cells |= cells >> _S32
    cells |= cells >> _S16
    inverts = popcount(red_low & reds_low) + popcount(red_high & reds_high)
    inverts += popcount(black_low & blacks_low) + popcount(black_high & blacks_high)
    placements = _ways(low, high, lanes) + (inverts if can_pay(hand) else 0)
    return popcount(cells & CELLS), _ways(low_here, high_here, lanes), placements


@register_jitable
def _levels(hand):
    """How many levels a hand has a card of."""
    return popcount((hand | hand >> _SIX) & _ONE_COLOUR)


@register_jitable
def _sign_of_mover(s, player):
    return 1.0 if field(s[META], MOVER_SHIFT, ONE) == player else -1.0


@register_jitable
def _standard(s, player, w):
    """The lead of a player in open cells, with all that may still add to it."""
    reach, meta = targets(s), s[META]
    other = 1 - player
    my_hand, their_hand = hand_of(meta, player), hand_of(meta, other)
    lead = np.float64(open_cells(s, player) - open_cells(s, other))
    lead += w[_CARD] * (cards_on_side(s, other) - cards_on_side(s, player))
    mine, my_ways, my_placements = _prospects(reach, my_hand, SIDES[other])
    theirs, their_ways, their_placements = _prospects(reach, their_hand, SIDES[player])
    lead += w[_REACH] * (mine - theirs)  # one term: rounding stays antisymmetric
    lead += w[_BREADTH] * (math.sqrt(my_ways) - math.sqrt(their_ways))
    lead += w[_PLACEMENT] * (my_placements - their_placements)
    lead += w[_HAND] * (popcount(my_hand) - popcount(their_hand))
    lead += w[_LEVEL] * (_levels(my_hand) - _levels(their_hand))
    lead += w[_TEMPO] * _sign_of_mover(s, player)
    ahead = leader(s)
    if ahead != field(meta, MOVER_SHIFT, ONE):
        lead += w[_WAIT] if ahead == player else -w[_WAIT]
    return lead


@register_jitable
def _tutorial(s, player, w):
    """The lead of a player in placements; a card in hand is one more to come."""
    reach, meta = targets(s), s[META]
    my_hand, their_hand = hand_of(meta, player), hand_of(meta, 1 - player)
    mine, _, my_placements = _prospects(reach, my_hand, CELLS)
    theirs, _, their_placements = _prospects(reach, their_hand, CELLS)
    lead = np.float64(my_placements - their_placements)
    lead += w[_TUTORIAL_HAND] * (popcount(my_hand) - popcount(their_hand))
    lead += w[_TUTORIAL_REACH] * (mine - theirs)
    return lead + w[_TUTORIAL_TEMPO] * _sign_of_mover(s, player)


@register_jitable
def weighted(s, player, w):
    """A guess at ``payoff(s, player)``, in (-1, 1), by the :class:`Weights` ``w``.

    ``w`` is a tuple or an array of them; the guess is antisymmetric in the players.
    """
    gone = _CARDS - popcount(s[META] & _HANDS)
    if s[META] & TUTORIAL:
        return _squash(_tutorial(s, player, w) * (w[_TUTORIAL_CERTAINTY] * gone))
    return _squash(_standard(s, player, w) * (w[_CERTAINTY] * gone))


@register_jitable
def estimate(s, player):
    """A guess at ``payoff(s, player)``, in (-1, 1); antisymmetric in the players."""
    return weighted(s, player, WEIGHTS)
