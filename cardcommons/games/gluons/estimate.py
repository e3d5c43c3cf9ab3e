"""Gluons: a quick guess at who is winning, from what the player asked for may see.

The gluons on the field are activated one by one to see what becomes of them, by a simple rule for
each player, in the order of the tokens; who has not passed yet is taken to do so last.  Only those
that are on the field by now take part, and the others' hidden cards are never looked at.

For the win, each player's share of the chances grows exponentially with what this comes to
(Bradley and Terry's model of comparisons, for several players Luce's), the slower the more is
still to come.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import ONE, ZERO, field, lowest, popcount, without_lowest
from cardcommons.games.gluons.rules import (
    ACTIVATION,
    COUNTS,
    META,
    NUM_AREAS,
    POINTS,
    activator,
    actor,
    around,
    deck_size,
    face_down,
    gluons,
    hand_size,
    has_passed,
    holder,
    phase,
    players_of,
    points,
    quarks_at,
    swapped,
    tokens_taken,
    value_at,
)


class Weights(NamedTuple):
    """What counts how much, in points; tuned by matches.

    That is by ``python -m experiments.tune --game gluons --agent ismcts:sims=300``, then with 500.
    Weights that fit the results of self-play (:mod:`experiments.fit_estimate`) play far worse:
    players who play alike play about as many cards, so that results don't tell what one is worth.
    """

    valid: float = 0.321
    """A gluon that becomes valid, in activation."""
    failed: float = 0.158
    """One that doesn't, though much may change."""
    hoped: float = 0.61
    """One that would become valid if activation began now."""
    doubted: float = -0.146
    """One that would not; it was a card, after all."""
    unknown: float = 0.294
    """Another's gluon that is face down."""
    card: float = 0.105
    """A card, in hand or in the deck."""
    scale: float = 0.206
    """The lead, if nothing is left to come, that makes a win e times as likely as the other's."""
    scale_card: float = 0.068
    """What each card to come or on the field adds to it, of those a player has on average."""


WEIGHTS = Weights()
_VALID, _FAILED, _HOPED, _DOUBTED, _UNKNOWN, _CARD, _SCALE, _SCALE_CARD = range(len(WEIGHTS))

_MOST = 0.999
"""What no guess at a win exceeds, since only a finished game is won."""

_NONE = -1
_LEAST = -99
_NIBBLE = np.uint64(15)
_PLAYER = np.uint64(3)
_PLANE = np.uint64(0xFFF)
_FAILURES, _UNKNOWNS = np.uint64(16), np.uint64(32)
"""Where the counts begin of gluons that fail and of those unknown, a nibble for each player."""


@register_jitable
def _order(meta):
    """Who activates their gluons in turn, 2 bits each, as it looks now."""
    players = players_of(meta)
    order = ZERO
    if phase(meta) == ACTIVATION:
        for i in range(players):
            order |= np.uint64(holder(meta, around(meta, activator(meta) + i))) << np.uint64(2 * i)
        return order
    place = tokens_taken(meta)
    for token in range(place):
        order |= np.uint64(holder(meta, token)) << np.uint64(2 * token)
    for i in range(players):
        player = around(meta, actor(meta) + i)
        if not has_passed(meta, player):
            order |= np.uint64(player) << np.uint64(2 * place)
            place += 1
    return order


@register_jitable
def _num_valid(s, counts, areas):
    """How many of the gluons on some areas are valid with the quarks in ``counts``."""
    number = 0
    while areas:
        area = lowest(areas)
        areas = without_lowest(areas)
        number += value_at(s, area) == quarks_at(counts, area)
    return number


@register_jitable
def _best_valid(s, counts, own, others):
    """The area of a valid gluon among ``own``, or none.

    Of several the one that leaves the most own gluons valid, which count twice, and the fewest of
    the others'.
    """
    best, most = _NONE, _LEAST
    areas = own
    while areas:
        area = lowest(areas)
        areas = without_lowest(areas)
        if value_at(s, area) == quarks_at(counts, area):
            after = swapped(counts, area, ONE)
            rest = own ^ ONE << np.uint64(area)
            worth = 2 * _num_valid(s, after, rest) - _num_valid(s, after, others)
            if worth > most:
                best, most = area, worth
    return best


@register_jitable
def _outcomes(s, viewer):
    """How many gluons of each player become valid, fail, or can't be read by ``viewer``.

    A player activates a valid gluon if there is one, else one that can't be read, else any.
    """
    meta, counts = s[META], s[COUNTS]
    players = players_of(meta)
    order = _order(meta)
    known = ~face_down(s) | gluons(s, viewer)
    left, readable = ZERO, ZERO
    for owner in range(players):
        left |= gluons(s, owner) << np.uint64(NUM_AREAS * owner)
        readable |= gluons(s, owner) & known
    outcomes = ZERO
    turn = 0
    while left:
        player = np.int64((order >> np.uint64(2 * turn)) & _PLAYER)
        turn = around(meta, turn + 1)
        lane = np.uint64(NUM_AREAS * player)
        own = (left >> lane) & _PLANE
        if not own:
            continue
        area = _best_valid(s, counts, own & readable, readable & ~own)
        at = np.uint64(4 * player)
        if area != _NONE:
            counts = swapped(counts, area, ONE)
        elif own & ~readable:
            area = lowest(own & ~readable)
            at += _UNKNOWNS
        else:
            area = lowest(own)
            at += _FAILURES
        outcomes += ONE << at
        left ^= ONE << (lane + np.uint64(area))
        readable &= ~(ONE << np.uint64(area))
    return outcomes


@register_jitable
def _cards_left(s, owner):
    """A player's cards in hand and in the deck."""
    return hand_size(s, owner) + deck_size(s, owner)


@register_jitable
def _prospects(s, outcomes, owner, w):
    """Points of a player, with what is to be hoped for from the field and the cards left."""
    at = np.uint64(4 * owner)
    valid, failed = field(outcomes, at, _NIBBLE), field(outcomes, at + _FAILURES, _NIBBLE)
    total = np.float64(points(s, owner))
    if phase(s[META]) == ACTIVATION:
        total += w[_VALID] * valid + w[_FAILED] * failed
    else:
        total += w[_HOPED] * valid + w[_DOUBTED] * failed
    total += w[_UNKNOWN] * field(outcomes, at + _UNKNOWNS, _NIBBLE)
    return total + w[_CARD] * _cards_left(s, owner)


@register_jitable
def _above_the_mean(s, outcomes, player, players, own, w):
    """How far ``own`` points are above the mean of all players."""
    total = own
    for other in range(players):
        if other != player:
            total += _prospects(s, outcomes, other, w)
    return own - total / players


@register_jitable
def _share(s, outcomes, player, players, own, w):
    """The chance to win with ``own`` points."""
    cards = 0
    for owner in range(players):
        cards += _cards_left(s, owner) + popcount(gluons(s, owner))
    scale = w[_SCALE] + w[_SCALE_CARD] * cards / players
    odds_against = 0.0
    for other in range(players):
        if other != player:
            odds_against += math.exp((_prospects(s, outcomes, other, w) - own) / scale)
    return 1.0 / (1.0 + odds_against)


@register_jitable
def weighted(s, player, w):
    """A guess at ``payoff(s, player)`` by the :class:`Weights` ``w``: a tuple or an array."""
    players = players_of(s[META])
    outcomes = _outcomes(s, player)
    own = _prospects(s, outcomes, player, w)
    if s[META] & POINTS:
        return _above_the_mean(s, outcomes, player, players, own, w)
    return _MOST * (_share(s, outcomes, player, players, own, w) * players - 1.0) / (players - 1)


@register_jitable
def estimate(s, player):
    """A guess at ``payoff(s, player)``; strictly inside its bounds until the game is over."""
    return weighted(s, player, WEIGHTS)
