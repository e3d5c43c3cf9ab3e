"""Gluons: what happens.

Colours R, G, B are 0, 1, 2, and so are the vertices 1, 2, 3 of a nucleon.  An ordered pair of
different ones has the number ``2 * first + second``, less 1 if the second is larger: RG RB GR GB
BR BG, and likewise the sides 12 13 21 23 31 32.  An *area* is ``6 * nucleon + side``.  A *plane*
is 12 bits, one for each area; a *count of cards* 12 bits, two for each pair.

    word 0    OWN     a plane a player: areas with a gluon or blocker of theirs
                      bits 48-59  plane: areas that are blocked
    word 1    VALUE   a nibble an area: the pair of its gluon plus 1, 0 if there is none
                      bits 48-59  plane: areas whose gluon is face down
    word 2    HANDS   a count of cards a player
    word 3    DECKS   likewise
                      bits 48-59  plane: areas that exist
    word 4    COUNTS  bits 0-15   a nibble a player: points
                      bits 16-31  likewise: cards in hand
                      bits 32-47  likewise: cards in the deck
                      bits 48-59  quarks: 2 bits a vertex, 6 bits a nucleon
    word 5    META    bits 0-2    who is next: a player, 4 for a draw, 5 for the end
                      bits 3-4    the player who acts or draws
                      bits 5-6    first player
                      bits 7-9    cards that the drawer has still to draw
                      bits 10-11  phase: blocking, planning, activation
                      bits 12-13  in activation, the place of the player who acts in the order
                      bits 14-16  how many tokens are locked, always the lowest
                      bits 17-19  how many tokens are taken, always the lowest
                      bits 20-27  2 bits a token, lowest first: who holds it
                      bits 28-31  who is out, a bit each: in planning the players who have
                                  passed, in activation the places without a gluon
                      bits 32-39  2 bits a player: gluons played in this round
                      bits 40-43  a bit a player: has played one face up in this round
                      bits 44-47  round, from 1; 0 while the first hands are drawn
                      bits 48-51  the round after which the game is scored, 0 if there is none
                      bit  52     this round is the last one
                      bit  53     mode: all gluons are played face up
                      bit  54     mode: reemission
                      bit  55     utility is the points
                      bits 56-58  cards in a full hand
                      bits 59-61  players
    word 6    SEEN    hash of all that everybody has seen, in order
    then for each player
              DRAWN   a nibble a card in the order drawn: its pair plus 1
                      bits 48-51  how many
              SHOWN   3 bits a card in the order in which the others got to see them: its pair
                      bits 36-39  how many
                      bits 40-63  for each draw a 0 and for each card shown a 1, in order

A token's holder can lose it only to somebody who passes later, who takes the lowest one that is
not locked.  So the tokens that are taken, and those that are locked, are always the lowest, and
whoever passes slips into the order behind the locked ones.
"""

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import ONE, ZERO, field, lowest, mix, popcount, without_lowest
from cardcommons.treaty import CHANCE, TERMINAL

OWN, VALUE, HANDS, DECKS, COUNTS, META, SEEN, RECORDS = 0, 1, 2, 3, 4, 5, 6, 7

NUM_PAIRS = 6
NUM_AREAS = 12

# Actions; pair * 12 + area is a play.  Outcomes of chance are pairs.
DOWN = NUM_PAIRS * NUM_AREAS
PASS = 2 * DOWN
BLOCK = PASS + 1
ACTIVATE = BLOCK + NUM_AREAS
REEMIT = ACTIVATE + NUM_AREAS
"""Above it, ``area * 6 + pair``."""
NUM_ACTIONS = REEMIT + NUM_AREAS * NUM_PAIRS

MAX_LEGAL = 2 * 5 * NUM_AREAS + 2
"""Five pairs in hand, face up or down, on twelve areas, and two places that are never meant."""

_PLANE = np.uint64(0xFFF)
_PAIR_BITS = np.uint64(3)
_NIBBLE = np.uint64(15)
_THREE_BITS = np.uint64(7)
_LOW_OF_PAIRS = np.uint64(0x555)
_SECOND = np.uint64(0b01_00_10_00_10_01)
"""The second of each ordered pair, 2 bits each; the first is half of the pair's number."""

_NUCLEON = np.uint64(0b111111)
_SECOND_NUCLEON = np.uint64(NUM_PAIRS)


def _eight_areas(plane):
    """The areas of a nucleon's part of a plane in ascending order, and zeros to make eight."""
    areas = [area for area in range(NUM_PAIRS) if plane >> area & 1]
    return areas + [0] * (8 - len(areas))


_EIGHT_AREAS = np.array([_eight_areas(plane) for plane in range(64)])

_TOP = np.uint64(48)
"""Where a plane begins in OWN, VALUE and DECKS, and the quarks in COUNTS."""

NEXT_DRAW, NEXT_END = np.uint64(4), np.uint64(5)
ACTOR_SHIFT = np.uint64(3)
FIRST_SHIFT = np.uint64(5)
DRAWS_SHIFT = np.uint64(7)
PHASE_SHIFT = np.uint64(10)
BLOCKING, PLANNING, ACTIVATION = np.uint64(0), np.uint64(1), np.uint64(2)
_PLACE_SHIFT = np.uint64(12)
LOCKED_SHIFT = np.uint64(14)
TAKEN_SHIFT = np.uint64(17)
_ORDER_SHIFT = np.uint64(20)
_ORDER = np.uint64(0xFF)
_OUT_SHIFT = np.uint64(28)
_PLAYED_SHIFT = np.uint64(32)
_SHOWN_SHIFT = np.uint64(40)
ROUND_SHIFT = np.uint64(44)
MAX_ROUNDS_SHIFT = np.uint64(48)
FINAL = ONE << np.uint64(52)
FACE_UP = ONE << np.uint64(53)
REEMISSION = ONE << np.uint64(54)
POINTS = ONE << np.uint64(55)
HAND_SHIFT = np.uint64(56)
PLAYERS_SHIFT = np.uint64(59)

_NEXT_AND_ACTOR = np.uint64(0b11111)
_PLAN = (
    _THREE_BITS << LOCKED_SHIFT
    | _NIBBLE << _OUT_SHIFT
    | np.uint64(0xFF) << _PLAYED_SHIFT
    | _NIBBLE << _SHOWN_SHIFT
)
"""The fields of planning, which start anew for activation."""
TOKENS_AND_TURNS = (
    _ORDER << _ORDER_SHIFT
    | _THREE_BITS << TAKEN_SHIFT
    | _NIBBLE << _OUT_SHIFT
    | _PAIR_BITS << _PLACE_SHIFT
    | _PAIR_BITS << PHASE_SHIFT
)
"""The fields that matter no more when a round is over."""

_HAND_COUNT, _DECK_COUNT = 16, 32
_DRAWN_COUNT = np.uint64(48)
_SHOWN_COUNT = np.uint64(36)
_MOMENTS = np.uint64(40)


@register_jitable
def num_words(players):
    """How many words a state has."""
    return RECORDS + 2 * players


# Pairs, areas and quarks


@register_jitable
def second_of(pair):
    """The anticolour of a pair, or the receiving vertex of a side."""
    return field(_SECOND, np.uint64(2 * pair), _PAIR_BITS)


@register_jitable
def pair_of(first, second):
    """The number of an ordered pair."""
    return 2 * first + second - (second > first)


@register_jitable
def _quark_shift(area, vertex):
    return np.uint64(48 + 2 * vertex + 6 * (area >= NUM_PAIRS))


@register_jitable
def quarks_at(counts, area):
    """The pair that is valid on an area: its emitting and its receiving quark."""
    side = area - NUM_PAIRS * (area >= NUM_PAIRS)
    emitting = field(counts, _quark_shift(area, side >> 1), _PAIR_BITS)
    receiving = field(counts, _quark_shift(area, second_of(side)), _PAIR_BITS)
    return pair_of(emitting, receiving)


@register_jitable
def swapped(counts, area, valid):
    """COUNTS with the two quarks beside an area exchanged, if ``valid`` is 1 and not 0."""
    side = area - NUM_PAIRS * (area >= NUM_PAIRS)
    one, other = _quark_shift(area, side >> 1), _quark_shift(area, second_of(side))
    difference = ((counts >> one) ^ (counts >> other)) & (_PAIR_BITS * valid)
    return counts ^ (difference << one) ^ (difference << other)


@register_jitable
def existing(s):
    """The plane of all areas."""
    return s[DECKS] >> _TOP


@register_jitable
def blocked(s):
    """The plane of blocked areas."""
    return s[OWN] >> _TOP


@register_jitable
def face_down(s):
    """The plane of areas with a gluon that lies face down."""
    return s[VALUE] >> _TOP


@register_jitable
def owned(s, player):
    """The plane of areas with a gluon or blocker of a player."""
    return (s[OWN] >> np.uint64(NUM_AREAS * player)) & _PLANE


@register_jitable
def gluons(s, player):
    """The plane of areas with a gluon of a player."""
    return owned(s, player) & ~blocked(s)


@register_jitable
def empty(s):
    """The plane of areas that can still take something."""
    halves = s[OWN] | (s[OWN] >> np.uint64(2 * NUM_AREAS))
    return existing(s) & ~(halves | (halves >> np.uint64(NUM_AREAS)))


@register_jitable
def value_at(s, area):
    """The pair of the gluon on an area; -1 if there is none."""
    return field(s[VALUE], np.uint64(4 * area), _NIBBLE) - 1


# Cards


@register_jitable
def one_card(player, pair):
    """A card as HANDS and DECKS count it."""
    return ONE << np.uint64(12 * player + 2 * pair)


@register_jitable
def cards_of(word, player):
    """A player's part of HANDS or DECKS."""
    return (word >> np.uint64(12 * player)) & _PLANE


@register_jitable
def pairs_of(cards):
    """A bit at ``2 * pair`` for each pair that is there."""
    return (cards | (cards >> ONE)) & _LOW_OF_PAIRS


@register_jitable
def count_of(cards, pair):
    """How many cards of a pair are there."""
    return field(cards, np.uint64(2 * pair), _PAIR_BITS)


@register_jitable
def points(s, player):
    """How many gluons a player has kept."""
    return field(s[COUNTS], np.uint64(4 * player), _NIBBLE)


@register_jitable
def hand_size(s, player):
    """How many cards a player holds."""
    return field(s[COUNTS], np.uint64(_HAND_COUNT + 4 * player), _NIBBLE)


@register_jitable
def deck_size(s, player):
    """How many cards a player has still to draw."""
    return field(s[COUNTS], np.uint64(_DECK_COUNT + 4 * player), _NIBBLE)


@register_jitable
def drawn(s, player):
    """How many cards a player has drawn so far."""
    return field(s[RECORDS + 2 * player], _DRAWN_COUNT, _NIBBLE)


@register_jitable
def shown(s, player):
    """How many of a player's cards the others have seen so far."""
    return field(s[RECORDS + 2 * player + 1], _SHOWN_COUNT, _NIBBLE)


@register_jitable
def shown_pair(s, player, index):
    """The pair of the card that the others saw as number ``index``."""
    return field(s[RECORDS + 2 * player + 1], np.uint64(3 * index), _THREE_BITS)


@register_jitable
def moments_shown(s, player):
    """A bit for each draw and each card shown, in order: 1 for those shown."""
    return s[RECORDS + 2 * player + 1] >> _MOMENTS


@register_jitable
def _show(s, player, pair, seen):
    """Record that everybody sees a card, if ``seen`` is 1 and not 0.

    Once they have seen twelve, the moment is one too high for the word, but they see no more.
    """
    count = shown(s, player)
    moment = np.uint64((drawn(s, player) + count) % 24)
    card = np.uint64(pair) << np.uint64(3 * count)
    event = card | ONE << _SHOWN_COUNT | ONE << (_MOMENTS + moment)
    s[RECORDS + 2 * player + 1] += event * np.uint64(seen)


@register_jitable
def _discard(s, player, pair):
    """Take a card from hand."""
    s[HANDS] -= one_card(player, pair)
    s[COUNTS] -= ONE << np.uint64(_HAND_COUNT + 4 * player)


@register_jitable
def hidden_plays(s, player):
    """The plane of a player's gluons that the others can't read."""
    return gluons(s, player) & face_down(s)


@register_jitable
def hidden_actions(s, player, out):
    """How those were played, in the order of the areas."""
    areas = hidden_plays(s, player)
    n = 0
    while areas:
        area = lowest(areas)
        areas = without_lowest(areas)
        out[n] = DOWN + NUM_AREAS * value_at(s, area) + area
        n += 1
    return n


@register_jitable
def unseen_of(s, player):
    """The cards of a player that the others have not seen."""
    cards = cards_of(s[HANDS], player) + cards_of(s[DECKS], player)
    areas = hidden_plays(s, player)
    while areas:
        cards += one_card(0, value_at(s, lowest(areas)))
        areas = without_lowest(areas)
    return cards


# Who is next


@register_jitable
def players_of(meta):
    """How many play."""
    return field(meta, PLAYERS_SHIFT, _THREE_BITS)


@register_jitable
def actor(meta):
    """The player who acts, or draws."""
    return field(meta, ACTOR_SHIFT, _PAIR_BITS)


@register_jitable
def first_player(meta):
    """The holder of the first-player token."""
    return field(meta, FIRST_SHIFT, _PAIR_BITS)


@register_jitable
def phase(meta):
    """BLOCKING, PLANNING or ACTIVATION; it tells nothing while cards are drawn."""
    return (meta >> PHASE_SHIFT) & _PAIR_BITS


@register_jitable
def holder(meta, token):
    """Who holds a token, counted from 0, that is taken."""
    return field(meta, _ORDER_SHIFT + np.uint64(2 * token), _PAIR_BITS)


@register_jitable
def tokens_taken(meta):
    """How many tokens are taken."""
    return field(meta, TAKEN_SHIFT, _THREE_BITS)


@register_jitable
def tokens_locked(meta):
    """How many of them are locked."""
    return field(meta, LOCKED_SHIFT, _THREE_BITS)


@register_jitable
def activator(meta):
    """The place in the order of the player who activates."""
    return field(meta, _PLACE_SHIFT, _PAIR_BITS)


@register_jitable
def has_passed(meta, player):
    """Whether a player has passed in this planning phase."""
    return (phase(meta) == PLANNING) & field(meta, _OUT_SHIFT + np.uint64(player), ONE)


@register_jitable
def played(meta, player):
    """How many gluons a player has played in this planning phase."""
    return field(meta, _PLAYED_SHIFT + np.uint64(2 * player), _PAIR_BITS)


@register_jitable
def played_face_up(meta, player):
    """Whether one of them was face up."""
    return field(meta, _SHOWN_SHIFT + np.uint64(player), ONE)


@register_jitable
def around(meta, place):
    """A player, or a place in the order, counted on around the table."""
    return place if place < players_of(meta) else place - players_of(meta)


@register_jitable
def _clockwise(meta, player):
    return around(meta, player + 1)


@register_jitable
def _all_out(meta):
    return field(meta, _OUT_SHIFT, _NIBBLE) == (1 << players_of(meta)) - 1


@register_jitable
def _steps_on(meta, place):
    """How many steps on from a place the next one is that is not out; all around at most."""
    players = np.uint64(players_of(meta))
    still_in = ~(meta >> _OUT_SHIFT) & ((ONE << players) - ONE)
    return 1 + lowest((still_in | still_in << players) >> np.uint64(place + 1))


@register_jitable
def _acting(meta, player):
    """META with a player to act."""
    return (meta & ~_NEXT_AND_ACTOR) | np.uint64(player + (player << 3))


@register_jitable
def to_move(s):
    """The player to act, CHANCE while cards are drawn, or TERMINAL."""
    following = s[META] & _THREE_BITS
    if following >= NEXT_DRAW:
        return CHANCE if following == NEXT_DRAW else TERMINAL
    return np.int64(following)


# What may be done


@register_jitable
def _add_nucleon(out, n, first_action, areas):
    """Write an action for each area of a nucleon to ``out`` from ``n``; returns where they end.

    Eight are written, or none: a processor does so at once, and can't foresee how many areas there
    are.  What is too much is in the place of what comes next, or of nothing, within MAX_LEGAL.
    """
    size = popcount(areas)
    begin = np.uint64(n)
    for i in range(np.uint64((size + 7) & 8)):
        out[begin + i] = first_action + _EIGHT_AREAS[areas, i]
    return n + size


@register_jitable
def _add_areas(out, n, first_action, areas):
    """Write an action for each area to ``out`` from ``n``; returns where they end."""
    n = _add_nucleon(out, n, first_action, areas & _NUCLEON)
    if areas > _NUCLEON:
        n = _add_nucleon(out, n, first_action + NUM_PAIRS, areas >> _SECOND_NUCLEON)
    return n


@register_jitable
def _add_plays(out, n, first_action, pairs, areas):
    """Write the plays of all pairs on all areas to ``out`` from ``n``; returns where they end."""
    while pairs:
        n = _add_areas(out, n, first_action + (lowest(pairs) >> 1) * NUM_AREAS, areas)
        pairs = without_lowest(pairs)
    return n


@register_jitable
def _may_play_down(meta, player, cards):
    """1 if the duty of a gluon face up can still be met after one face down, else 0."""
    not_the_last = (played(meta, player) < 2) & (cards > 1)
    return (played_face_up(meta, player) | not_the_last) & ((meta & FACE_UP) == ZERO)


@register_jitable
def _legal_plans(s, player, out):
    meta = s[META]
    cards = hand_size(s, player)
    n = 0
    if played(meta, player) < 3 and cards > 0:
        pairs = pairs_of(cards_of(s[HANDS], player))
        areas = empty(s)
        n = _add_plays(out, 0, 0, pairs, areas)
        _add_plays(out, n, DOWN, pairs, areas)  # legal or not, which can't be foreseen
        n <<= _may_play_down(meta, player, cards)
    out[n] = PASS
    return n + (played_face_up(meta, player) | (cards == 0))


@register_jitable
def _missing(s, area):
    """The pair that would make the gluon on an area valid if discarded; -1 if none would."""
    value, quarks = value_at(s, area), quarks_at(s[COUNTS], area)
    if value == quarks or value >> 1 != quarks >> 1:
        return -1
    return pair_of(second_of(value), second_of(quarks))


@register_jitable
def _add_reemissions(s, player, out, n):
    cards = cards_of(s[HANDS], player)
    areas = gluons(s, player)
    while areas:
        area = lowest(areas)
        areas = without_lowest(areas)
        pair = _missing(s, area)
        if pair >= 0 and count_of(cards, pair) > 0:
            out[n] = REEMIT + area * NUM_PAIRS + pair
            n += 1
    return n


@register_jitable
def legal(s, out):
    """Write the ascending legal actions to ``out``; returns their number."""
    player = to_move(s)
    if player < 0:
        return 0
    now = phase(s[META])
    if now == PLANNING:
        return _legal_plans(s, player, out)
    if now == BLOCKING:
        return _add_areas(out, 0, BLOCK, empty(s))
    n = _add_areas(out, 0, ACTIVATE, gluons(s, player))
    return _add_reemissions(s, player, out, n) if s[META] & REEMISSION else n


@register_jitable
def chance(s, out, weight):
    """Write the pairs that may be drawn, ascending, and how many cards of each are left."""
    if to_move(s) != CHANCE:
        return 0
    deck = cards_of(s[DECKS], actor(s[META]))
    left = pairs_of(deck)
    n = 0
    while left:
        pair = lowest(left) >> 1
        left = without_lowest(left)
        out[n] = pair
        weight[n] = count_of(deck, pair)
        n += 1
    return n


# Drawing


@register_jitable
def draws_due(s, player):
    """How many cards a player draws when hands are filled: all at first, then up to two."""
    meta = s[META]
    full = field(meta, HAND_SHIFT, _THREE_BITS)
    if field(meta, ROUND_SHIFT, _NIBBLE) == 0:
        return full
    return min(2, full - hand_size(s, player), deck_size(s, player))


@register_jitable
def begin_draws(s, player):
    """Let a player draw; there is always something to draw."""
    draws = np.uint64(draws_due(s, player)) << DRAWS_SHIFT
    actor_and_draws = np.uint64(player) << ACTOR_SHIFT | draws
    s[META] = (s[META] & ~(_NEXT_AND_ACTOR | _THREE_BITS << DRAWS_SHIFT)) | (
        NEXT_DRAW | actor_and_draws
    )


@register_jitable
def _begin_round(s):
    meta = s[META] + (ONE << ROUND_SHIFT)
    if field(meta, ROUND_SHIFT, _NIBBLE) == field(meta, MAX_ROUNDS_SHIFT, _NIBBLE):
        meta |= FINAL
    for player in range(players_of(meta)):
        if deck_size(s, player) == 0:
            meta |= FINAL
    meta |= (BLOCKING if players_of(meta) == 3 else PLANNING) << PHASE_SHIFT
    s[META] = _acting(meta, first_player(meta))


@register_jitable
def _draw(s, pair):
    player = actor(s[META])
    card = one_card(player, pair)
    s[DECKS] -= card
    s[HANDS] += card
    s[COUNTS] += (ONE << np.uint64(_HAND_COUNT + 4 * player)) - (
        ONE << np.uint64(_DECK_COUNT + 4 * player)
    )
    record = RECORDS + 2 * player
    s[record] |= np.uint64(pair + 1) << np.uint64(4 * drawn(s, player))
    s[record] += ONE << _DRAWN_COUNT
    s[META] -= ONE << DRAWS_SHIFT
    if s[META] & (_THREE_BITS << DRAWS_SHIFT):
        return
    following = _clockwise(s[META], player)
    if following == first_player(s[META]):
        _begin_round(s)
    else:
        begin_draws(s, following)


# Planning


@register_jitable
def _block(s, player, area):
    s[OWN] |= (ONE << np.uint64(NUM_AREAS * player + area)) | (ONE << (_TOP + np.uint64(area)))
    meta = s[META]
    following = _clockwise(meta, player)
    if following == first_player(meta):
        meta |= PLANNING << PHASE_SHIFT
    s[META] = _acting(meta, following)


@register_jitable
def _play(s, player, pair, area, down):
    s[OWN] |= ONE << np.uint64(NUM_AREAS * player + area)
    s[VALUE] |= np.uint64(pair + 1) << np.uint64(4 * area)
    s[VALUE] |= np.uint64(down) << (_TOP + np.uint64(area))
    _discard(s, player, pair)
    s[META] += ONE << (_PLAYED_SHIFT + np.uint64(2 * player))
    s[META] |= np.uint64(1 - down) << (_SHOWN_SHIFT + np.uint64(player))
    _show(s, player, pair, 1 - down)


@register_jitable
def _plays_of(player):
    """The fields that tell what a player has played, which is nobody's concern once they pass."""
    shown_bit = ONE << (_SHOWN_SHIFT + np.uint64(player))
    return shown_bit | _PAIR_BITS << (_PLAYED_SHIFT + np.uint64(2 * player))


@register_jitable
def _take_token(meta, player):
    """META with a player who passes: behind the locked tokens, before the others."""
    behind = np.uint64(2 * tokens_locked(meta))
    order = (meta >> _ORDER_SHIFT) & _ORDER
    before = order & ((ONE << behind) - ONE)
    order = before | np.uint64(player) << behind | (order ^ before) << np.uint64(2)
    meta = (meta & ~(_ORDER << _ORDER_SHIFT)) | (order & _ORDER) << _ORDER_SHIFT
    meta &= ~_plays_of(player)
    return (meta | ONE << (_OUT_SHIFT + np.uint64(player))) + (ONE << TAKEN_SHIFT)


@register_jitable
def _next_planner(s, player):
    """Pass the turn on; tokens are locked as it comes round to the first player."""
    meta = s[META]
    if _all_out(meta):
        _begin_activation(s)
        return
    steps = _steps_on(meta, player)
    to_first = around(meta, first_player(meta) - player - 1 + players_of(meta)) + 1
    unlocked = np.uint64((tokens_taken(meta) - tokens_locked(meta)) * (to_first <= steps))
    s[META] = _acting(meta + (unlocked << LOCKED_SHIFT), around(meta, player + steps))


@register_jitable
def _plan(s, player, a):
    if a == PASS:
        s[META] = _take_token(s[META], player)
        s[SEEN] = mix(s[SEEN] ^ np.uint64(a + 1))
    else:
        down = np.int64(a >= DOWN)
        play = a - DOWN * down
        pair = play // NUM_AREAS
        area = play - pair * NUM_AREAS
        _play(s, player, pair, area, down)
        s[SEEN] = mix(s[SEEN] ^ np.uint64((DOWN + area if down else a) + 1))
    _next_planner(s, player)


# Activation


@register_jitable
def _end_round(s):
    s[OWN] = ZERO
    meta = s[META] & ~TOKENS_AND_TURNS
    if meta & FINAL:
        s[META] = (meta & ~_NEXT_AND_ACTOR) | NEXT_END
        return
    first = _clockwise(meta, first_player(meta))
    s[META] = (meta & ~(_PAIR_BITS << FIRST_SHIFT)) | np.uint64(first) << FIRST_SHIFT
    begin_draws(s, first)


@register_jitable
def _next_activation(s, place):
    """Let the next one in the order, after a place, who has a gluon activate it."""
    meta = s[META]
    if _all_out(meta):
        _end_round(s)
        return
    place = around(meta, place + _steps_on(meta, place))
    meta = (meta & ~(_PAIR_BITS << _PLACE_SHIFT)) | np.uint64(place) << _PLACE_SHIFT
    s[META] = _acting(meta, holder(meta, place))


@register_jitable
def _without_gluons(s, player):
    return np.uint64(gluons(s, player) == ZERO)


@register_jitable
def _begin_activation(s):
    meta = (s[META] & ~(_PLAN | _PAIR_BITS << PHASE_SHIFT)) | ACTIVATION << PHASE_SHIFT
    players = players_of(meta)
    for place in range(players):
        meta |= _without_gluons(s, holder(meta, place)) << (_OUT_SHIFT + np.uint64(place))
    s[META] = meta
    _next_activation(s, players - 1)


@register_jitable
def _activate(s, player, area, discarded):
    """Activate the gluon on an area; ``discarded`` is the pair that helps it, or -1."""
    value = value_at(s, area)
    valid = value == quarks_at(s[COUNTS], area)
    top = _TOP + np.uint64(area)
    _show(s, player, value, field(s[VALUE], top, ONE))
    if discarded >= 0:
        valid = True
        _discard(s, player, discarded)
        _show(s, player, discarded, 1)
    valid = np.uint64(valid)
    s[COUNTS] = swapped(s[COUNTS], area, valid) + (valid << np.uint64(4 * player))
    s[OWN] ^= ONE << np.uint64(NUM_AREAS * player + area)
    s[VALUE] &= ~(ONE << top | _NIBBLE << np.uint64(4 * area))
    place = activator(s[META])
    s[META] |= _without_gluons(s, player) << (_OUT_SHIFT + np.uint64(place))
    _next_activation(s, place)


@register_jitable
def apply(s, a):
    """Play the legal action, or the possible outcome, ``a`` in place."""
    player = actor(s[META])
    if s[META] & _THREE_BITS == NEXT_DRAW:
        _draw(s, a)
    elif a <= PASS:
        _plan(s, player, a)
    elif a < ACTIVATE:
        s[SEEN] = mix(s[SEEN] ^ np.uint64(a + 1))
        _block(s, player, a - BLOCK)
    else:
        area, discarded = a - ACTIVATE, -1
        if a >= REEMIT:
            area = (a - REEMIT) // NUM_PAIRS
            discarded = (a - REEMIT) - area * NUM_PAIRS
        s[SEEN] = mix(s[SEEN] ^ np.uint64((a + 1) + (value_at(s, area) << 10)))
        _activate(s, player, area, discarded)


# The end


@register_jitable
def _rank(s, player):
    """What decides a finished game: points, then an empty deck, then the hand, then the seat."""
    meta = s[META]
    behind = player - first_player(meta)
    if behind < 0:
        behind += players_of(meta)
    out_of_cards = deck_size(s, player) == 0
    return ((points(s, player) * 2 + out_of_cards) * 8 + hand_size(s, player)) * 4 + 3 - behind


@register_jitable
def is_winner(s, player):
    """Whether a player wins a finished game: no two have the same rank."""
    best = 0
    for other in range(players_of(s[META])):
        best = max(best, _rank(s, other))
    return _rank(s, player) == best


@register_jitable
def payoff(s, player):
    """The utility of a finished game."""
    players = players_of(s[META])
    if s[META] & POINTS:
        total = 0
        for other in range(players):
            total += points(s, other)
        return np.float64(players * points(s, player) - total) / np.float64(players)
    return 1.0 if is_winner(s, player) else -1.0 / np.float64(players - 1)
