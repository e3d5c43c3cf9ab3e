"""Gluons: redrawing what a player doesn't know.

Of another player's deck one knows the cards that were shown, and by which draw each of them must
have come.  The rest are in hand, face down on the field, or still to come.  The posterior is over
deals and hidden plays: every order of a deck, and every choice of the cards that lie face down,
weighs the same if it agrees with what was seen, whatever the reasons for which its owner plays; it
is not conditioned on how they play.  The duty of a gluon face up concerns numbers of cards alone,
which all can see, and so rules nothing out.

To draw from it, each card that was shown, or lies face down, gets a place among the draws before
it, the earliest first: however the others are placed, there are as many ways for the next one.
Then the cards nobody has seen fill the other places in any order.  A deal comes up as often as it
has ways to place its cards.  It has two for each pair of which both copies were drawn before one
of them was shown, and is kept with a probability to match.
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
    cards_of,
    count_of,
    drawn,
    face_down,
    gluons,
    moments_shown,
    one_card,
    players_of,
    shown_pair,
    value_at,
)
from cardcommons.rng import below, next_word

_NIBBLE = np.uint64(15)
_PLANE = np.uint64(0xFFF)
_RECORD = np.uint64((1 << 48) - 1)


@register_jitable
def _pick_place(free, limit, rng):
    """A random one of the free places below ``limit``, as a bit."""
    free &= (ONE << np.uint64(limit)) - ONE
    for _ in range(below(rng, popcount(free))):
        free = without_lowest(free)
    return free & ~(free - ONE)


@register_jitable
def _pick_pair(cards, size, rng):
    """The pair of a random one of ``size`` cards."""
    left = below(rng, size)
    pair = 0
    while left >= count_of(cards, pair):
        left -= count_of(cards, pair)
        pair += 1
    return pair


@register_jitable
def _put(record, place, pair):
    """A record with a card at a place, given as a bit."""
    return record | np.uint64(pair + 1) << np.uint64(4 * lowest(place))


@register_jitable
def _pair_at(record, index):
    return field(record, np.uint64(4 * index), _NIBBLE) - 1


@register_jitable
def _both_drawn(record, pair, before):
    """1 if both copies of a pair are among the first draws, else 0."""
    count = 0
    for index in range(before):
        count += _pair_at(record, index) == pair
    return count >> 1


@register_jitable
def _hidden_plays(s, player):
    """The plane of a player's gluons that the others can't read."""
    return gluons(s, player) & face_down(s)


@register_jitable
def _unseen(s, player):
    """The cards of a player that the others have not seen."""
    cards = cards_of(s[HANDS], player) + cards_of(s[DECKS], player)
    areas = _hidden_plays(s, player)
    while areas:
        cards += one_card(0, value_at(s, lowest(areas)))
        areas = without_lowest(areas)
    return cards


@register_jitable
def _place_shown(s, player, rng):
    """A record with the cards shown at random places that they can have come from."""
    record = ZERO
    free = _PLANE
    moments = moments_shown(s, player)
    count = 0
    while moments:
        place = _pick_place(free, lowest(moments) - count, rng)
        free ^= place
        record = _put(record, place, shown_pair(s, player, count))
        moments = without_lowest(moments)
        count += 1
    return record, free


@register_jitable
def _place_hidden(plays, free, draws, rng):
    """A random place for each hidden play, a nibble each in the order of the areas."""
    places = ZERO
    count = 0
    while plays:
        plays = without_lowest(plays)
        place = _pick_place(free, draws, rng)
        free ^= place
        places |= np.uint64(lowest(place)) << np.uint64(4 * count)
        count += 1
    return places


@register_jitable
def _fill(record, free, unseen, draws, rng):
    """The record with random unseen cards at the free places, and the cards left over."""
    size = 0
    for pair in range(NUM_PAIRS):
        size += count_of(unseen, pair)
    free &= (ONE << np.uint64(draws)) - ONE
    while free:
        pair = _pick_pair(unseen, size, rng)
        unseen -= one_card(0, pair)
        size -= 1
        record = _put(record, free & ~(free - ONE), pair)
        free = without_lowest(free)
    return record, unseen


@register_jitable
def _halvings(s, player, record, plays, places):
    """For how many pairs the deal has two ways to place the cards shown and hidden."""
    halvings = 0
    used = ZERO
    moments = moments_shown(s, player)
    count = 0
    while moments:
        pair = shown_pair(s, player, count)
        if not used & (ONE << np.uint64(pair)):
            halvings += _both_drawn(record, pair, lowest(moments) - count)
        used |= ONE << np.uint64(pair)
        moments = without_lowest(moments)
        count += 1
    for i in range(popcount(plays)):
        pair = _pair_at(record, field(places, np.uint64(4 * i), _NIBBLE))
        if not used & (ONE << np.uint64(pair)):
            halvings += _both_drawn(record, pair, drawn(s, player))
        used |= ONE << np.uint64(pair)
    return halvings


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
    unseen, plays, draws = _unseen(s, player), _hidden_plays(s, player), drawn(s, player)
    while True:
        record, free = _place_shown(s, player, rng)
        places = _place_hidden(plays, free, draws, rng)
        record, deck = _fill(record, free, unseen, draws, rng)
        halvings = _halvings(s, player, record, plays, places)
        if next_word(rng) & ((ONE << np.uint64(halvings)) - ONE) == ZERO:
            break
    _settle(s, player, record, deck, unseen, plays, places)


@register_jitable
def resample(s, player, rng):
    """Redraw the others' hands, decks, hidden gluons, and the order in which they drew."""
    for other in range(players_of(s[META])):
        if other != player:
            _redeal(s, other, rng)
