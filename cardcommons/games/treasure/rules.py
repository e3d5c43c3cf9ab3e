"""Treasure: what happens.

The board has five rows of nine virtual columns; cell ``9 * row + column`` counts from a1, so east
is +1 and north is +9.  At most ``columns`` neighbouring columns ever hold cards, and the first
card goes to e, so nothing ever leaves a to i.  A *plane* is a word with a bit for each cell.
Ranks: 0 is the Treasure, 1 to 13 are 2 to A.

    words 0-3  RANK        bit i of the rank of each top card, a plane for each i
    word  4    TAKEN       spaces that hold a card
    word  5    BLACK       spaces whose top card is player 1's
    word  6    HANDS       cards in hand: 2 bits for each rank, player 0 from bit 0, player 1 from
                           bit 28
    word  7    DECKS       cards in the decks, likewise
    word  8    META        bit  0      player to act next
                           bit  1      player who began these hands, and will empty theirs first
                           bits 2-3    who has played a card
                           bits 4-5    draws to come, before anyone acts
                           bit  6      who draws them
                           bit  7      player 1's first hand is still to be drawn
                           bit  8      the game is over
                           bits 9-11   rows
                           bits 12-14  columns
                           bits 15-16  cards in a full hand
                           bit  17     utility is the margin
                           bits 18-22  cards in a whole deck
                           bits 24-28  cards drawn by player 0, bits 32-36 by player 1
                           bits 40-41  cards in the hand of player 0, bits 44-45 of player 1
    word  9    SEEN        hash of all plays and discards in order
    words 10-13 DRAWN      ranks plus 1 in the order drawn, 4 bits each, 0 if nothing was drawn
                           yet: two words for each player

Covered cards and discards have no further part in the game.
"""

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import FULL, ONE, ZERO, field, lowest, mix, popcount, without_lowest
from cardcommons.treaty import CHANCE, TERMINAL

NUM_WORDS = 14
RANK, TAKEN, BLACK, HANDS, DECKS, META, SEEN, DRAWN = 0, 4, 5, 6, 7, 8, 9, 10

NUM_RANKS = 14
NUM_CELLS = 45
WIDTH = 9
CENTRE_COLUMN = 4

# Actions: rank * 45 + cell is a play; the discards follow.  Outcomes of chance are ranks.
DISCARDS = NUM_RANKS * NUM_CELLS
NUM_ACTIONS = DISCARDS + NUM_RANKS
MAX_LEGAL = 3 * 30 + 3
"""Three ranks on five rows of at most four columns and two new ones, and three discards."""

MAX_LENGTH = 108
"""Each of the 54 cards is drawn once, and played or discarded once."""

_ROW = np.uint64(0x1FF)
_ALL_ROWS = sum(ONE << np.uint64(WIDTH * row) for row in range(5))
_WEST_EDGE = np.uint64(_ALL_ROWS)
_S9, _S18, _S36 = np.uint64(9), np.uint64(18), np.uint64(36)

PLAYER_CARDS = np.uint64(0xFFF_FFFF)
_LOW_OF_PAIRS = np.uint64(0x555_5555)
_PAIR = np.uint64(3)
_NIBBLE = np.uint64(15)

BEGAN = ONE << np.uint64(1)
PLAYED_SHIFT = np.uint64(2)
_DRAWS_SHIFT = np.uint64(4)
_DRAWS = np.uint64(3) << _DRAWS_SHIFT
_DRAWER_SHIFT = np.uint64(6)
_DRAWER = ONE << _DRAWER_SHIFT
DEALING = ONE << np.uint64(7)
OVER = ONE << np.uint64(8)
ROWS_SHIFT = np.uint64(9)
COLUMNS_SHIFT = np.uint64(12)
HAND_SHIFT = np.uint64(15)
MARGIN = ONE << np.uint64(17)
DECK_SHIFT = np.uint64(18)
_THREE_BITS = np.uint64(7)
_FIVE_BITS = np.uint64(31)


@register_jitable
def cards_shift(player):
    """Where a player's part of HANDS and DECKS begins."""
    return np.uint64(28 * player)


@register_jitable
def _drawn_shift(player):
    return np.uint64(24 + 8 * player)


@register_jitable
def _held_shift(player):
    return np.uint64(40 + 4 * player)


@register_jitable
def rows_of(meta):
    return field(meta, ROWS_SHIFT, _THREE_BITS)


@register_jitable
def held(meta, player):
    """How many cards a player holds."""
    return field(meta, _held_shift(player), _PAIR)


@register_jitable
def drawn(meta, player):
    """How many cards a player has drawn so far."""
    return field(meta, _drawn_shift(player), _FIVE_BITS)


@register_jitable
def draws_to_come(meta):
    """How many cards are to be drawn before anyone acts."""
    return field(meta, _DRAWS_SHIFT, _PAIR)


@register_jitable
def drawer(meta):
    """Who draws, if anyone does."""
    return field(meta, _DRAWER_SHIFT, ONE)


@register_jitable
def cards_of(word, player):
    """A player's part of HANDS or DECKS."""
    return (word >> cards_shift(player)) & PLAYER_CARDS


@register_jitable
def ranks_of(cards):
    """A bit at ``2 * rank`` for each rank that is there."""
    return (cards | (cards >> ONE)) & _LOW_OF_PAIRS


@register_jitable
def one_card(player, rank):
    """A card as HANDS and DECKS count it."""
    return ONE << (cards_shift(player) + np.uint64(2 * rank))


@register_jitable
def home_row(meta, player):
    """The plane of a player's home row."""
    return _ROW << np.uint64(WIDTH * (rows_of(meta) - 1) * player)


@register_jitable
def own_tops(s, player):
    """The plane of spaces that are a player's."""
    return s[BLACK] if player == 1 else s[TAKEN] & ~s[BLACK]


@register_jitable
def _spread(x):
    """The orthogonal neighbours of ``x``, off the board and around the edges too.

    Around an edge no card ever lies or can go: columns in use are neighbours, and at most five.
    """
    return (x << ONE) | (x >> ONE) | (x << _S9) | (x >> _S9)


@register_jitable
def board_of(meta):
    """The plane of all cells in the game's rows."""
    return (ONE << np.uint64(WIDTH * rows_of(meta))) - ONE


@register_jitable
def connected(s, player):
    """The plane of a player's tops that a path of their own joins to their home row."""
    own = own_tops(s, player)
    reached = own & home_row(s[META], player)
    for _ in range(3):  # most often enough, and without a branch that can't be foreseen
        reached |= _spread(reached) & own
    while True:
        more = reached | (_spread(reached) & own)
        if more == reached:
            return reached
        reached = more


@register_jitable
def columns_of(taken):
    """The columns that hold cards, as 9 bits."""
    folded = taken | (taken >> _S18) | (taken >> _S36)
    return (folded | (taken >> _S9) | (taken >> (_S18 + _S9))) & _ROW


@register_jitable
def reachable(s, player):
    """The spaces where a player may put a card, as far as place goes."""
    if not has_played(s[META], player):  # before looking for paths, of which there are none
        return _first_space(s[META], player)
    return _reachable_from(s, player, connected(s, player))


@register_jitable
def reachable_from(s, player, joined):
    """The same, where it is known already which tops are connected."""
    if not has_played(s[META], player):
        return _first_space(s[META], player)
    return _reachable_from(s, player, joined)


@register_jitable
def has_played(meta, player):
    """Whether a player has played a card, so that no first one is due."""
    return field(meta, PLAYED_SHIFT + np.uint64(player), ONE) != 0


@register_jitable
def _first_space(meta, player):
    return home_row(meta, player) & (_WEST_EDGE << np.uint64(CENTRE_COLUMN))


@register_jitable
def _reachable_from(s, player, joined):
    meta = s[META]
    columns = columns_of(s[TAKEN])
    room = columns
    if popcount(columns) < field(meta, COLUMNS_SHIFT, _THREE_BITS):
        room |= ((columns << ONE) | (columns >> ONE)) & _ROW
    beside = _spread(joined) & (room * _WEST_EDGE) & board_of(meta)
    return joined | beside | (home_row(meta, player) & (columns * _WEST_EDGE))


@register_jitable
def lower_tops(s, rank):
    """The spaces whose top card ranks below ``rank``: a bitwise comparison, lowest bit first."""
    lower = ZERO
    for i in range(4):
        wanted, missing = FULL * np.uint64((rank >> i) & 1), ~s[RANK + i]
        lower = (missing & wanted) | (lower & (missing | wanted))
    return lower & s[TAKEN]


@register_jitable
def treasures(s):
    """The spaces with a Treasure on top."""
    return s[TAKEN] & ~(s[RANK] | s[RANK + 1] | s[RANK + 2] | s[RANK + 3])


@register_jitable
def to_move(s):
    """The player to act, CHANCE while cards are drawn, or TERMINAL."""
    meta = s[META]
    if meta & (_DRAWS | OVER):
        return TERMINAL if meta & OVER else CHANCE
    return field(meta, ZERO, ONE)


@register_jitable
def _add_plays(out, n, rank, cells):
    """Write the plays of a rank on ``cells`` to ``out`` from ``n``; returns where they end.

    Four are written at a time: a processor foresees the number of such groups better than that of
    plays.  The last group may go three too far, into the place of the discards or past the end of
    the list, but never beyond MAX_LEGAL.
    """
    end = n + popcount(cells)
    while cells:
        for i in range(4):
            out[n + i] = rank * NUM_CELLS + lowest(cells)
            cells = without_lowest(cells)
        n += 4
    return end


@register_jitable
def legal(s, out):
    """Write the ascending legal actions to ``out``; returns their number."""
    player = to_move(s)
    if player < 0:
        return 0
    ranks = ranks_of(cards_of(s[HANDS], player))
    where = reachable(s, player)
    n = 0
    left = ranks
    while left:
        rank = lowest(left) >> 1
        left = without_lowest(left)
        n = _add_plays(out, n, rank, where & (~s[TAKEN] | lower_tops(s, rank)))
    while ranks:
        out[n] = DISCARDS + (lowest(ranks) >> 1)
        ranks = without_lowest(ranks)
        n += 1
    return n


@register_jitable
def chance(s, out, weight):
    """Write the ranks that may be drawn, ascending, and how many cards of each are left."""
    if to_move(s) != CHANCE:
        return 0
    deck = cards_of(s[DECKS], drawer(s[META]))
    n = 0
    left = ranks_of(deck)
    while left:
        place = lowest(left)
        left = without_lowest(left)
        out[n] = place >> 1
        weight[n] = field(deck, np.uint64(place), _PAIR)
        n += 1
    return n


@register_jitable
def begin_draw(meta, player):
    """META with a player to draw a full hand, or what is left of their deck."""
    left = field(meta, DECK_SHIFT, _FIVE_BITS) - drawn(meta, player)
    draws = min(field(meta, HAND_SHIFT, _PAIR), left)
    meta &= ~(_DRAWS | _DRAWER)
    return meta | (np.uint64(draws) << _DRAWS_SHIFT) | (np.uint64(player) << _DRAWER_SHIFT)


@register_jitable
def set_drawn(s, player, index, rank):
    """Record the rank of the card that a player drew as number ``index``."""
    word = DRAWN + 2 * player + (index >> 4)
    shift = np.uint64(4 * (index & 15))
    s[word] = (s[word] & ~(_NIBBLE << shift)) | (np.uint64(rank + 1) << shift)


@register_jitable
def get_drawn(s, player, index):
    """The rank of the card that a player drew as number ``index``."""
    return field(s[DRAWN + 2 * player + (index >> 4)], np.uint64(4 * (index & 15)), _NIBBLE) - 1


@register_jitable
def _draw(s, rank):
    meta = s[META]
    player = drawer(meta)
    card = one_card(player, rank)
    s[DECKS] -= card
    s[HANDS] += card
    set_drawn(s, player, drawn(meta, player), rank)
    meta += (ONE << _drawn_shift(player)) + (ONE << _held_shift(player))
    meta -= ONE << _DRAWS_SHIFT
    if meta & DEALING and not meta & _DRAWS:
        meta = begin_draw(meta & ~DEALING, 1)
    s[META] = meta


@register_jitable
def _cover(s, player, rank, cell):
    here = ONE << np.uint64(cell)
    for i in range(4):
        s[RANK + i] = (s[RANK + i] & ~here) | (np.uint64((rank >> i) & 1) << np.uint64(cell))
    s[TAKEN] |= here
    s[BLACK] = (s[BLACK] & ~here) | (np.uint64(player) << np.uint64(cell))
    s[META] |= ONE << (PLAYED_SHIFT + np.uint64(player))


@register_jitable
def _end_turn(s, player):
    """Settle who acts next, who draws, and whether it is over.

    Both hands are of one size when they begin, and turns alternate, so whoever began empties
    theirs first; the other one empties theirs second, and begins the next hands.
    """
    meta = s[META] - (ONE << _held_shift(player))
    emptied = held(meta, player) == 0
    began = field(meta, ONE, ONE)
    if emptied:
        meta = begin_draw(meta, player)
    if emptied and player != began:
        meta ^= BEGAN
        if not meta & _DRAWS:
            meta |= OVER
    else:
        meta ^= ONE
    s[META] = meta


@register_jitable
def apply(s, a):
    """Play the legal action, or the possible outcome, ``a`` in place."""
    if s[META] & _DRAWS:
        _draw(s, a)
        return
    player = field(s[META], ZERO, ONE)
    rank = a - DISCARDS
    if a < DISCARDS:
        rank = a // NUM_CELLS
        _cover(s, player, rank, a - rank * NUM_CELLS)
    s[HANDS] -= one_card(player, rank)
    s[SEEN] = mix(s[SEEN] ^ np.uint64(a + 1))
    _end_turn(s, player)


@register_jitable
def points(s, player):
    """A player's points as the board lies."""
    own = own_tops(s, player)
    return popcount(own) + 2 * popcount(own & treasures(s))


@register_jitable
def cut_off(s, player):
    """How many of a player's top cards are unconnected."""
    return popcount(own_tops(s, player) & ~connected(s, player))


@register_jitable
def payoff(s, player):
    """The utility of a finished game."""
    other = 1 - player
    lead = points(s, player) - points(s, other)
    if s[META] & MARGIN:
        return np.float64(lead)
    if lead == 0:
        lead = cut_off(s, other) - cut_off(s, player)
    return 1.0 if lead > 0 else -1.0 if lead < 0 else 0.0
