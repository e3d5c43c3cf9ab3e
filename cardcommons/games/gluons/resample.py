"""Gluons: redrawing what a player doesn't know.

Of another player's deck one knows the cards that were shown, and by which draw each of them must
have come.  The rest are in hand, face down on the field, or still to come.  The posterior is over
deals and hidden plays: every order of a deck, and every choice of the cards that lie face down,
weighs the same if it agrees with what was seen, whatever the reasons for which its owner plays; it
is not conditioned on how they play.  The duty of a gluon face up concerns numbers of cards alone,
which all can see, and so rules nothing out.

To draw from it, each card that was shown, or lies face down, gets a place among the draws before
it, the earliest first: however the others are placed, there are as many ways for the next one.
Then the cards nobody has seen fill the other places in any order.  A deal would come up as often as
it has ways to place its cards: two for each pair of which both copies were drawn before one of them
was shown, since the two places can be exchanged.  So only the way is kept in which the first of a
pair to be shown, or else to lie face down, is the first that was drawn.
"""

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import ONE, ZERO, field, lowest, popcount, without_lowest
from cardcommons.games.gluons.rules import (
    DECKS,
    HANDS,
    META,
    NUM_PAIRS,
    RECORDS,
    VALUE,
    count_of,
    deck_size,
    drawn,
    hand_size,
    hidden_plays,
    moments_shown,
    one_card,
    players_of,
    shown,
    shown_pair,
    unseen_of,
)
from cardcommons.rng import below

_NIBBLE = np.uint64(15)
_PLANE = np.uint64(0xFFF)
_RECORD = np.uint64((1 << 48) - 1)

# Twelve numbers in a word, five bits each: how many cards of each pair, or which places are free.
_WIDTH = 5
_ONES = np.uint64(sum(1 << _WIDTH * i for i in range(12)))
_HIGHS = _ONES << np.uint64(_WIDTH - 1)
_TWO_BITS = np.uint64(3)

# A record has a nibble for each draw.
_LOW_OF_NIBBLES = np.uint64(0x1111_1111_1111)
_HIGH_OF_NIBBLES = _LOW_OF_NIBBLES << np.uint64(3)


@register_jitable
def _one(index):
    return ONE << np.uint64(_WIDTH * index)


@register_jitable
def _pick(numbers, size, rng):
    """Which one of twelve numbers a random one of the first ``size`` units belongs to.

    All sums of numbers from the first on are compared with a random one at once, by broadword
    selection: Vigna, "Broadword implementation of rank/select queries", WEA 2008.
    """
    chosen = np.uint64(below(rng, size) + 1)
    reached = ((numbers * _ONES) | _HIGHS) - chosen * _ONES
    return 12 - popcount(reached & _HIGHS)


@register_jitable
def _unpacked(cards):
    """A count of cards with five bits for each pair."""
    numbers = ZERO
    for pair in range(NUM_PAIRS):
        numbers |= np.uint64(count_of(cards, pair)) << np.uint64(_WIDTH * pair)
    return numbers


@register_jitable
def _packed(numbers):
    """The inverse of ``_unpacked``."""
    cards = ZERO
    for pair in range(NUM_PAIRS):
        count = (numbers >> np.uint64(_WIDTH * pair)) & _TWO_BITS
        cards |= count << np.uint64(2 * pair)
    return cards


@register_jitable
def _at(place, pair):
    """A record of one card."""
    return np.uint64(pair + 1) << np.uint64(4 * place)


@register_jitable
def _pair_at(record, place):
    return field(record, np.uint64(4 * place), _NIBBLE) - 1


@register_jitable
def _mark_first(first, marked, place, pair):
    """Mark a place, by the high bit of its nibble, if none of the pair is marked yet."""
    fresh = ~(marked >> np.uint64(pair)) & ONE
    return first | fresh << np.uint64(4 * place + 3), marked | ONE << np.uint64(pair)


@register_jitable
def _place_shown(s, player, rng):
    """A record with the cards shown at random places that they can have come from.

    Also the places that are left, and where the first of each pair is.
    """
    record, free, first, marked = ZERO, _ONES, ZERO, ZERO
    moments = moments_shown(s, player)
    count = 0
    while moments:
        place = _pick(free, lowest(moments) - 2 * count, rng)
        moments = without_lowest(moments)
        free ^= _one(place)
        pair = shown_pair(s, player, count)
        record |= _at(place, pair)
        first, marked = _mark_first(first, marked, place, pair)
        count += 1
    return record, free, first, marked


@register_jitable
def _place_hidden(plays, free, size, rng):
    """A random one of ``size`` free places for each hidden play, in the order of the areas.

    The places are a nibble each.
    """
    places = ZERO
    count = 0
    while plays:
        plays = without_lowest(plays)
        place = _pick(free, size - count, rng)
        free ^= _one(place)
        places |= np.uint64(place) << np.uint64(4 * count)
        count += 1
    return places


@register_jitable
def _fill(record, free, unseen, size, rng):
    """The record with random ones of ``size`` unseen cards at free places, and those left over."""
    while free:
        pair = _pick(unseen, size, rng)
        unseen -= _one(pair)
        size -= 1
        place = lowest(free) // _WIDTH
        free = without_lowest(free)
        record |= _at(place, pair)
    return record, unseen


@register_jitable
def _mark_hidden(record, plays, places, first, marked):
    """Where the first of each pair is, hidden plays included."""
    for i in range(popcount(plays)):
        place = field(places, np.uint64(4 * i), _NIBBLE)
        first, marked = _mark_first(first, marked, place, _pair_at(record, place))
    return first


@register_jitable
def _in_order(record, first):
    """Whether the marked one of each pair is the first that was drawn."""
    wrong = False
    for pair in range(NUM_PAIRS):
        others = record ^ (np.uint64(pair + 1) * _LOW_OF_NIBBLES)
        here = ~((others | _HIGH_OF_NIBBLES) - _LOW_OF_NIBBLES) & _HIGH_OF_NIBBLES
        earliest = here & ~(here - ONE)
        wrong |= (here & first) > earliest
    return not wrong


@register_jitable
def _settle(s, player, record, deck, unseen, plays, places):
    """Put the record, the deck, the hidden plays and the hand of a deal into the state."""
    word = RECORDS + 2 * player
    s[word] = (s[word] & ~_RECORD) | record
    hand = unseen - deck
    while plays:
        area = np.uint64(4 * lowest(plays))
        plays = without_lowest(plays)
        pair = _pair_at(record, np.int64(places & _NIBBLE))
        places >>= np.uint64(4)
        hand -= one_card(0, pair)
        s[VALUE] = (s[VALUE] & ~(_NIBBLE << area)) | np.uint64(pair + 1) << area
    shift = np.uint64(12 * player)
    s[HANDS] = (s[HANDS] & ~(_PLANE << shift)) | hand << shift
    s[DECKS] = (s[DECKS] & ~(_PLANE << shift)) | deck << shift


@register_jitable
def _redeal(s, player, rng):
    """Redraw a player's deck and hidden plays, as the others may take them to be."""
    unseen, plays, draws = unseen_of(s, player), hidden_plays(s, player), drawn(s, player)
    numbers = _unpacked(unseen)
    size = hand_size(s, player) + deck_size(s, player) + popcount(plays)
    while True:
        record, free, first, marked = _place_shown(s, player, rng)
        free &= _one(draws) - ONE
        places = _place_hidden(plays, free, draws - shown(s, player), rng)
        record, deck = _fill(record, free, numbers, size, rng)
        first = _mark_hidden(record, plays, places, first, marked)
        if _in_order(record, first):
            break
    _settle(s, player, record, _packed(deck), unseen, plays, places)


@register_jitable
def resample(s, player, rng):
    """Redraw the others' hands, decks, hidden gluons, and the order in which they drew."""
    for other in range(players_of(s[META])):
        if other != player:
            _redeal(s, other, rng)
