"""Particles: a quick guess at who is winning.

Standard game: open cells decide, so count the lead in them, then the tie-break, then what may
become of the lead: the cells on the other's side that a hand can still fill, the choice of
placements, and the tempo, since a leader may wait while the other must act.  Tutorial game: who
runs out of placements loses, so compare placements and the cards that may bring more.
"""

from typing import NamedTuple

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
    CELLS,
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


class Weights(NamedTuple):
    """What counts how much; found by self-play (``python -m experiments.tune``)."""

    card: float = 0.25
    """Standard game, as the next ones: a card lying on the own side, in open cells."""
    reach: float = 0.7
    """A cell of the other's side that the hand could channel onto."""
    placement: float = 0.1
    """A placement that there would be on the move."""
    wait: float = 0.3
    """To be ahead while the other must act."""
    hand: float = 0.0
    tempo: float = 0.0
    tutorial_card: float = 1.2
    """Tutorial game: a card in hand, in placements."""
    tutorial_tempo: float = 0.0
    tutorial_cell: float = 0.0


WEIGHTS = Weights()
_CARD, _REACH, _PLACEMENT, _WAIT, _HAND, _TEMPO, _TUTORIAL_CARD, _TUTORIAL_TEMPO, _TUTORIAL_CELL = (
    range(len(WEIGHTS))
)

_SCALE = 2.0
"""The lead that is half of what can be hoped for, in open cells."""
_TUTORIAL_SCALE = 12.0
"""The same, in placements."""


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
def _sign_of_mover(s, player):
    return 1.0 if field(s[META], MOVER_SHIFT, ONE) == player else -1.0


@register_jitable
def _standard(s, player, w):
    """The lead of a player in open cells, with all that may still add to it."""
    low, high, _, _, _, _ = targets(s)
    meta = s[META]
    other = 1 - player
    lead = 1.0 * (open_cells(s, player) - open_cells(s, other))
    lead += w[_CARD] * (cards_on_side(s, other) - cards_on_side(s, player))
    mine = _reach(hand_of(meta, player), low, high, SIDES[other])
    theirs = _reach(hand_of(meta, other), low, high, SIDES[player])
    lead += w[_REACH] * (mine - theirs)  # one term: rounding stays antisymmetric
    lead += w[_PLACEMENT] * _mobility_lead(s, player)
    lead += w[_HAND] * (popcount(hand_of(meta, player)) - popcount(hand_of(meta, other)))
    lead += w[_TEMPO] * _sign_of_mover(s, player)
    ahead = leader(s)
    if ahead != field(meta, MOVER_SHIFT, ONE):
        lead += w[_WAIT] if ahead == player else -w[_WAIT]
    return lead


@register_jitable
def _tutorial(s, player, w):
    """The lead of a player in placements; a card in hand is one more to come."""
    meta = s[META]
    other = 1 - player
    cards = popcount(hand_of(meta, player)) - popcount(hand_of(meta, other))
    low, high, _, _, _, _ = targets(s)
    lead = _mobility_lead(s, player) + w[_TUTORIAL_CARD] * cards
    mine = _reach(hand_of(meta, player), low, high, CELLS)
    theirs = _reach(hand_of(meta, other), low, high, CELLS)
    lead += w[_TUTORIAL_CELL] * (mine - theirs)
    return lead + w[_TUTORIAL_TEMPO] * _sign_of_mover(s, player)


@register_jitable
def weighted(s, player, w):
    """A guess at ``payoff(s, player)``, in (-1, 1), by the :class:`Weights` ``w``.

    ``w`` is a tuple or an array of them; the guess is antisymmetric in the players.
    """
    if s[META] & TUTORIAL:
        return _squash(_tutorial(s, player, w) / _TUTORIAL_SCALE)
    return _squash(_standard(s, player, w) / _SCALE)


@register_jitable
def estimate(s, player):
    """A guess at ``payoff(s, player)``, in (-1, 1); antisymmetric in the players."""
    return weighted(s, player, WEIGHTS)
