"""Gluons: which states have the same future, and which a player can't tell apart or sees alike.

Vertices matter only by the quarks that lie there, so an area goes by the colours beside it.  Which
nucleon is which doesn't matter, nor do the names of the colours: any permutation of them, applied
to quarks, gluons and cards, gives a game of the same future.
"""

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import FULL, ONE, ZERO, field, lowest, mix, without_lowest
from cardcommons.games.gluons.rules import (
    ACTIVATION,
    COUNTS,
    DECKS,
    HANDS,
    MAX_ROUNDS_SHIFT,
    META,
    NUM_PAIRS,
    OWN,
    RECORDS,
    ROUND_SHIFT,
    SEEN,
    TOKENS_AND_TURNS,
    VALUE,
    activator,
    blocked,
    cards_of,
    count_of,
    existing,
    face_down,
    gluons,
    hidden_plays,
    holder,
    owned,
    pair_of,
    phase,
    players_of,
    quarks_at,
    second_of,
    unseen_of,
    value_at,
)

_NIBBLE = np.uint64(15)
_PERMUTATIONS = np.uint64(0b00_01_10_00_10_01_01_00_10_01_10_00_10_00_01_10_01_00)
"""Six permutations of the colours, two bits a colour, the first colour of each lowest."""
_TWO_BITS = np.uint64(3)
_ALL_BUT_QUARKS = np.uint64((1 << 48) - 1)


@register_jitable
def _renamed(permutation, pair):
    """A pair after the colours have been permuted."""
    begin = 6 * permutation
    first = field(_PERMUTATIONS, np.uint64(begin + 2 * (pair >> 1)), _TWO_BITS)
    second = field(_PERMUTATIONS, np.uint64(begin + 2 * second_of(pair)), _TWO_BITS)
    return pair_of(first, second)


@register_jitable
def _owner_of(s, area):
    """Whose gluon lies on an area; 0 if there is none."""
    for player in range(1, 4):
        if (owned(s, player) >> np.uint64(area)) & ONE:
            return player
    return 0


@register_jitable
def _area_code(s, area, permutation):
    """What lies on an existing area, in 6 bits above 0."""
    if (blocked(s) >> np.uint64(area)) & ONE:
        return 2
    value = value_at(s, area)
    if value < 0:
        return 1
    return 8 + _renamed(permutation, value) + 8 * _owner_of(s, area)


@register_jitable
def _nucleon_hash(s, nucleon, permutation):
    """A hash of what lies between which colours."""
    digest = ZERO
    for side in range(NUM_PAIRS):
        area = NUM_PAIRS * nucleon + side
        if (existing(s) >> np.uint64(area)) & ONE:
            between = _renamed(permutation, quarks_at(s[COUNTS], area))
            digest |= np.uint64(_area_code(s, area, permutation)) << np.uint64(8 * between)
    return mix(digest)


@register_jitable
def _renamed_cards(word, players, permutation):
    """HANDS or DECKS after the colours have been permuted."""
    result = ZERO
    for player in range(players):
        cards = word >> np.uint64(12 * player)
        for pair in range(NUM_PAIRS):
            count = np.uint64(count_of(cards, pair))
            result |= count << np.uint64(12 * player + 2 * _renamed(permutation, pair))
    return result


@register_jitable
def _timeless(meta):
    """META without the round, if no round is the last one by its number."""
    if field(meta, MAX_ROUNDS_SHIFT, _NIBBLE) > 0 or field(meta, ROUND_SHIFT, _NIBBLE) == 0:
        return meta
    return (meta & ~(_NIBBLE << ROUND_SHIFT)) | ONE << ROUND_SHIFT


@register_jitable
def _turns(s):
    """A hash of META; while gluons are activated, of the turns of those who still have some."""
    meta = _timeless(s[META])
    if phase(meta) != ACTIVATION:
        return mix(meta)
    digest = mix(meta & ~TOKENS_AND_TURNS)
    place = activator(meta)
    for _ in range(players_of(meta)):
        player = holder(meta, place)
        if gluons(s, player):
            digest = mix(digest ^ np.uint64(player + 1))
        place = 0 if place + 1 == players_of(meta) else place + 1
    return digest


@register_jitable
def state_key(s):
    """Equal exactly when field, cards, points and turns are the same, up to the symmetries above.

    What the players have seen of each other's cards is not in it, nor which gluons lie face down.
    """
    players = players_of(s[META])
    rest = mix(_turns(s) ^ (s[COUNTS] & _ALL_BUT_QUARKS))
    best = FULL
    for permutation in range(6):
        digest = _nucleon_hash(s, 0, permutation) + _nucleon_hash(s, 1, permutation)
        digest = mix(digest ^ _renamed_cards(s[HANDS], players, permutation))
        digest = mix(digest ^ _renamed_cards(s[DECKS], players, permutation))
        best = min(best, digest)
    return mix(best ^ rest)


@register_jitable
def _values_on(s, areas):
    """The part of VALUE that tells the gluons on a plane of areas."""
    values = ZERO
    while areas:
        area = np.uint64(4 * lowest(areas))
        areas = without_lowest(areas)
        values |= s[VALUE] & (_NIBBLE << area)
    return values


@register_jitable
def info_key(s, player):
    """Equal exactly when a player has seen the same actions, and drawn and hidden the same cards.

    The draws are in their order; when they came, the actions tell.
    """
    own = mix(s[RECORDS + 2 * player] ^ np.uint64(player))
    own ^= _values_on(s, hidden_plays(s, player))
    return mix(mix(own) ^ s[SEEN])


@register_jitable
def view_key(s, player, hand):
    """Equal exactly when a player sees the same field, points, turns to come and cards never shown.

    Their own gluons they see face down, too; ``hand`` says whether their hand counts.  In which
    order cards were drawn or played is not in it, and the round only if their number is limited.
    """
    values = s[VALUE] ^ _values_on(s, face_down(s) & ~owned(s, player))
    digest = mix(mix(_turns(s) ^ s[COUNTS]) ^ s[OWN])
    digest = mix(digest ^ values)
    for other in range(players_of(s[META])):
        digest = mix(digest ^ unseen_of(s, other))
    return mix(digest ^ ~cards_of(s[HANDS], player)) if hand else digest
