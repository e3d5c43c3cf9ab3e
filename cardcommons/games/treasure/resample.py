"""Treasure: redrawing what a player doesn't know.

A player knows which cards the other one has shown, so the others of that deck are in hand or to
come.  The posterior is over deals: each hand weighs as much as there are ways to deal it, if it
agrees with what was seen, whatever the reasons for which its owner plays; it is not conditioned
on how they play.  Copies of a rank can't be told apart, which makes a difference.  When one of
two copies has been shown from the present hand, a hand with both was dealt in one way, a hand
with either in two.  So a hand that still holds the other copy weighs half.
"""

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import ONE, ZERO, field, lowest
from cardcommons.games.treasure.rules import (
    DECKS,
    HAND_SHIFT,
    HANDS,
    META,
    NUM_RANKS,
    PLAYER_CARDS,
    cards_of,
    cards_shift,
    drawn,
    get_drawn,
    held,
    one_card,
    ranks_of,
    set_drawn,
)
from cardcommons.rng import below, next_word

_PAIR = np.uint64(3)


@register_jitable
def _count(cards, rank):
    return field(cards, np.uint64(2 * rank), _PAIR)


@register_jitable
def _pick(cards, size, rng):
    """The rank of a random one of ``size`` cards."""
    left = below(rng, size)
    for rank in range(NUM_RANKS):
        left -= _count(cards, rank)
        if left < 0:
            return rank
    return lowest(ranks_of(cards)) >> 1


@register_jitable
def _pick_hand(unseen, size, rng):
    """A random hand of ``size`` of the unseen cards."""
    total = 0
    for rank in range(NUM_RANKS):
        total += _count(unseen, rank)
    hand = ZERO
    for i in range(size):
        card = one_card(0, _pick(unseen, total - i, rng))
        hand += card
        unseen -= card
    return hand


@register_jitable
def _weight_halvings(hand, shown):
    """How often the weight of a hand is halved, if these cards were shown from it before."""
    halvings = 0
    for rank in range(NUM_RANKS):
        if _count(shown, rank) == 1:
            halvings += _count(hand, rank)
    return np.uint64(halvings)


@register_jitable
def _redraw_hand(s, player, shown, rng):
    """Give a player as many cards as they hold, of those not shown, by the weights above."""
    unseen = cards_of(s[HANDS], player) + cards_of(s[DECKS], player)
    while True:
        hand = _pick_hand(unseen, held(s[META], player), rng)
        chances = (ONE << _weight_halvings(hand, shown)) - ONE
        if next_word(rng) & chances == ZERO:
            break
    shift = cards_shift(player)
    others = ~(PLAYER_CARDS << shift)
    s[HANDS] = (s[HANDS] & others) | (hand << shift)
    s[DECKS] = (s[DECKS] & others) | ((unseen - hand) << shift)


@register_jitable
def _cards_drawn(s, player, begin, end):
    """The cards that a player drew as numbers ``begin`` to ``end``, whatever their order."""
    cards = ZERO
    for i in range(begin, end):
        cards += one_card(0, get_drawn(s, player, i))
    return cards


@register_jitable
def _sort_drawn(s, player, begin, cards):
    """Let these cards be drawn in ascending order, from number ``begin`` on."""
    while cards:
        rank = lowest(ranks_of(cards)) >> 1
        cards -= one_card(0, rank)
        set_drawn(s, player, begin, rank)
        begin += 1


@register_jitable
def _shuffle_drawn(s, player, begin, end, rng):
    for i in range(end - 1, begin, -1):
        j = begin + below(rng, i - begin + 1)
        one, other = get_drawn(s, player, i), get_drawn(s, player, j)
        set_drawn(s, player, i, other)
        set_drawn(s, player, j, one)


@register_jitable
def resample(s, player, rng):
    """Redraw the other player's hand, and the order in which each of their hands came.

    What is drawn depends on what ``player`` knows and on ``rng`` alone, so hands are put in order
    before they are shuffled.
    """
    other = 1 - player
    total, full = drawn(s[META], other), field(s[META], HAND_SHIFT, _PAIR)
    present = max(total - 1, 0) // full * full
    shown = _cards_drawn(s, other, present, total) - cards_of(s[HANDS], other)
    _redraw_hand(s, other, shown, rng)
    for begin in range(0, total, full):
        end = min(begin + full, total)
        if begin == present:
            cards = shown + cards_of(s[HANDS], other)
        else:
            cards = _cards_drawn(s, other, begin, end)
        _sort_drawn(s, other, begin, cards)
        _shuffle_drawn(s, other, begin, end, rng)
