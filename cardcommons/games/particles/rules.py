"""Particles: what happens.

Cells are numbered 0 to 15 from a1, b1, ... to d4, so north is +4 and east is +1.  A *plane* is a
16-bit mask of cells; a word holds four planes, its *lanes*.

    word 0  BANS_LOW    | bans 4  | bans 3  | bans 2  | bans 1  |     lane 3 .. lane 0
    word 1  BANS_HIGH   | taken   | red     | bans 6  | bans 5  |
    word 2  META        bits  0-15  stacked cells
                        bits 16-27  hand of player 0: red A-6, then black A-6
                        bits 28-39  hand of player 1: the same
                        bit  40     player to move
                        bits 41-42  passes in a row
                        bits 43-45  phase: PLACE, DISCARD, REPEL, POLARIZE, OVER
                        bits 46-48  phase owed after a discard (PLACE if none)
                        bits 49-52  cell of the card just placed, while a choice is pending
                        bit  53     tutorial game
                        bit  54     torus
    word 3  OWNERS      lane 0: cells whose top card is player 1's, lane 1: whose covered card is
    word 4  UNSEEN      lanes 0-2: level of face-down tops, a bit a lane

A cell is in the plane "bans L" when its face-up top forbids level L next to it: a red card of
level M forbids L <= M, a black one L >= M.  This thermometer code is the whole law: the union of
a plane's neighbours is where level L can't go, for four levels at a time.  Every face-up card
bans level 1 (if red) or level 6 (if black), so a taken cell that bans neither is face down.

Words 3 and 4, and the colour of a face-down card, serve the printer alone: no rule reads them.
"""

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import FULL, ONE, ZERO, field, lowest, popcount, without_lowest
from cardcommons.treaty import TERMINAL

NUM_WORDS = 5
BANS_LOW, BANS_HIGH, META, OWNERS, UNSEEN = range(NUM_WORDS)

PLACE, DISCARD, REPEL, POLARIZE, OVER = range(5)

# Actions.  Cards are the mover's own: 0-5 red A-6, 6-11 black A-6.
#   card * 32 + cell         channel (or open)
#   card * 32 + 16 + cell    invert
DISCARDS = 384  # + card
REPELS = 396  # + direction: n e s w
POLARIZE_SELF = 400
POLARIZES = 401  # + direction
DECLINE = 405
PASS = 406
NUM_ACTIONS = 407
MAX_LEGAL = 192
"""Placements: 12 cards on 16 cells, since a cell is a channel's or an invert's, never both."""

_S16 = np.uint64(16)
_S32 = np.uint64(32)
_S48 = np.uint64(48)
CELLS = np.uint64(0xFFFF)
LANES = np.uint64(0x0001_0001_0001_0001)
"""The cell a1 in all four lanes; times a plane, the plane in all four."""

RED_SHIFT = _S32
TAKEN_SHIFT = _S48
BANS_OF_HIGH = np.uint64(0x0000_0000_FFFF_FFFF)
_HAND = np.uint64(0xFFF)
_HAND_SHIFTS = np.array([16, 28], dtype=np.uint64)
MOVER_SHIFT = np.uint64(40)
PASSES_SHIFT = np.uint64(41)
PHASE_SHIFT = np.uint64(43)
OWED_SHIFT = np.uint64(46)
CELL_SHIFT = np.uint64(49)
_PHASE_MASK = np.uint64(7)
_PASSES_MASK = np.uint64(3)
_CELL_MASK = np.uint64(15)
MOVER = ONE << MOVER_SHIFT
TUTORIAL = ONE << np.uint64(53)
TORUS = ONE << np.uint64(54)
_PASSES = _PASSES_MASK << PASSES_SHIFT
_PENDING = (_PHASE_MASK << PHASE_SHIFT) | (_PHASE_MASK << OWED_SHIFT) | (_CELL_MASK << CELL_SHIFT)

_WEST_EDGE = np.uint64(0x1111) * LANES
_EAST_EDGE = np.uint64(0x8888) * LANES
_SOUTH_EDGE = np.uint64(0x000F) * LANES
_NORTH_EDGE = np.uint64(0xF000) * LANES
_NOT_WEST_EDGE, _NOT_EAST_EDGE = ~_WEST_EDGE, ~_EAST_EDGE
_NOT_SOUTH_EDGE, _NOT_NORTH_EDGE = ~_SOUTH_EDGE, ~_NORTH_EDGE
_S3, _S4, _S12 = np.uint64(3), np.uint64(4), np.uint64(12)
_CENTRE = np.uint64(0x0660)
_CORNERS_IN_LANE_3 = np.uint64(0x9009) << _S48
_LANE_0, _LANE_1 = CELLS, CELLS << _S16
SIDES = np.array([0xFF00, 0x00FF], dtype=np.uint64)
"""A player's side: the two rows furthest from them."""

_S2, _S6, _S8, _S10 = np.uint64(2), np.uint64(6), np.uint64(8), np.uint64(10)
_TWO_CARDS = np.uint64(3)
_HALVES = np.array([0, 0xFFFFFFFF, 0xFFFFFFFF00000000, 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)
"""The half words of a pair of cards, by which of the two are held."""

_TWO_TO_FIVE = np.uint64(0b011110_011110)

_ONE_TO_FOUR, _FIVE_AND_SIX = np.uint64(15), np.uint64(3)
_TO_LANES = np.uint64(1 | 1 << 15 | 1 << 30 | 1 << 45)
"""Times four bits, these bits in the lowest places of the four lanes, and others between."""


def _bans(red: bool, level: int) -> list[int]:
    return [int(other <= level if red else other >= level) for other in range(1, 7)]


def _card_lanes(first: int) -> np.ndarray:
    """The lanes ``first .. first + 3`` of (bans 1 .. 6, red, taken), for each of the 12 cards."""
    rows = [[*_bans(card < 6, card % 6 + 1), int(card < 6), 1] for card in range(12)]
    packed = [sum(bit << (16 * i) for i, bit in enumerate(row[first:][:4])) for row in rows]
    return np.array(packed, dtype=np.uint64)


_CARD_LOW = _card_lanes(0)
_CARD_HIGH = _card_lanes(4)


def card_planes(card: int, face_down: bool) -> tuple[int, int]:
    """The bits of a card lying on a1, in BANS_LOW and BANS_HIGH; face down it bans nothing."""
    low, high = int(_CARD_LOW[card]), int(_CARD_HIGH[card])
    return (0, high & ~int(BANS_OF_HIGH)) if face_down else (low, high)


_OWED = np.array([PLACE, PLACE, REPEL, PLACE, POLARIZE, PLACE], dtype=np.int64)
"""The phase that the ability of a level (less one) leads to."""


def _neighbour_table() -> np.ndarray:
    """``[torus, direction, cell]``: the next cell n, e, s or w, or -1 beyond the edge."""
    table = np.full((2, 4, 16), -1, dtype=np.int64)
    for direction, (north, east) in enumerate([(1, 0), (0, 1), (-1, 0), (0, -1)]):
        for cell in range(16):
            row, column = cell // 4 + north, cell % 4 + east
            table[1, direction, cell] = row % 4 * 4 + column % 4
            if 0 <= row < 4 and 0 <= column < 4:
                table[0, direction, cell] = row * 4 + column
    return table


NEIGHBOURS = _neighbour_table()


@register_jitable
def _vertical(x, wrap):
    """In each lane, the cells north and south of ``x``: (ordinary, across the edge)."""
    ordinary = ((x << _S4) & _NOT_SOUTH_EDGE) | ((x >> _S4) & _NOT_NORTH_EDGE)
    wrapped = ((x >> _S12) & _SOUTH_EDGE) | ((x << _S12) & _NORTH_EDGE)
    return ordinary, wrapped & wrap


@register_jitable
def _horizontal(x, wrap):
    """In each lane, the cells east and west of ``x``: (ordinary, across the edge)."""
    ordinary = ((x << ONE) & _NOT_WEST_EDGE) | ((x >> ONE) & _NOT_EAST_EDGE)
    wrapped = ((x >> _S3) & _WEST_EDGE) | ((x << _S3) & _EAST_EDGE)
    return ordinary, wrapped & wrap


@register_jitable
def _wrap_mask(meta):
    return FULL if meta & TORUS else ZERO


@register_jitable
def _banned_low(bans, wrap, anchored):
    """Where the levels 1 to 4 break the law, a lane each; ``anchored``: the 4 has its ability.

    A corner has one vertical and one horizontal ordinary neighbour, and on the torus one of each
    across an edge.  The Anchor ignores one of each pair, so only both together forbid.
    """
    vertical, vertical_wrapped = _vertical(bans, wrap)
    horizontal, horizontal_wrapped = _horizontal(bans, wrap)
    either = vertical | horizontal | vertical_wrapped | horizontal_wrapped
    both = (vertical & horizontal) | (vertical_wrapped & horizontal_wrapped)
    corners = _CORNERS_IN_LANE_3 & anchored
    return (either & ~corners) | (both & corners)


@register_jitable
def _spread(x, wrap):
    """In each lane, the orthogonal neighbours of ``x``."""
    vertical, vertical_wrapped = _vertical(x, wrap)
    horizontal, horizontal_wrapped = _horizontal(x, wrap)
    return vertical | vertical_wrapped | horizontal | horizontal_wrapped


@register_jitable
def _diagonals(x, wrap):
    """In each lane, the diagonal neighbours of ``x``."""
    ordinary, wrapped = _vertical(x, wrap)
    ordinary, wrapped = _horizontal(ordinary | wrapped, wrap)
    return ordinary | wrapped


@register_jitable
def hand_of(meta, player):
    """The 12-bit hand of a player."""
    return (meta >> _HAND_SHIFTS[player]) & _HAND


@register_jitable
def targets(s):
    """Where each level may go: words of lanes (levels 1-4, levels 5-6).

    Returns six words: channels low and high, inverts by a red card low and high, inverts by a
    black card low and high.  The opening is not among them.
    """
    low, high, meta = s[BANS_LOW], s[BANS_HIGH], s[META]
    wrap = _wrap_mask(meta)
    abilities = ZERO if meta & TUTORIAL else FULL
    taken = high >> TAKEN_SHIFT
    lawful_low = ~_banned_low(low, wrap, abilities)
    lawful_high = ~_spread(high & BANS_OF_HIGH, wrap) & BANS_OF_HIGH

    free = ~taken & CELLS
    frontier = _spread(taken, wrap) & free
    tunnels = _diagonals(taken, wrap) & free & abilities
    channel_low = lawful_low & (frontier * LANES | tunnels << _S16)
    channel_high = lawful_high & (frontier * LANES)

    # The level of a red card is the last it bans, that of a black card the first.
    single = (taken & ~(meta & CELLS)) * LANES
    red = ((high >> RED_SHIFT) & CELLS) * LANES
    red_low = low & ~((low >> _S16) | (high << _S48)) & red & single
    black_low = low & ~(low << _S16) & ~red & single
    bans_high = high & BANS_OF_HIGH
    red_high = bans_high & ~(bans_high >> _S16) & red & single
    black_high = bans_high & ~((bans_high << _S16) | (low >> _S48)) & ~red & single
    return (
        channel_low,
        channel_high,
        black_low & lawful_low,
        black_high & lawful_high,
        red_low & lawful_low,
        red_high & lawful_high,
    )


@register_jitable
def _openings(hand, out):
    n = 0
    cards = hand & _TWO_TO_FIVE
    while cards:
        first = lowest(cards) * 32
        cards = without_lowest(cards)
        cells = _CENTRE
        while cells:
            out[n] = first + lowest(cells)
            cells = without_lowest(cells)
            n += 1
    return n


@register_jitable
def _spread_pair(x):
    """The lanes 0 and 1 of ``x`` moved to the lanes 0 and 2."""
    return (x & _LANE_0) | ((x & _LANE_1) << _S16)


@register_jitable
def _weave(channels, inverts, hand):
    """The placements of two cards in a word, as action ids have it.

    Lanes 0 and 1 of ``channels`` and ``inverts`` are the cards' planes, the lowest two bits of
    ``hand`` say which are held.
    """
    woven = _spread_pair(channels) | (_spread_pair(inverts) << _S16)
    return woven & _HALVES[np.int64(hand & _TWO_CARDS)]


@register_jitable
def placements(s, hand):
    """All placements of a hand, in six words: bit ``b`` of word ``w`` is action ``64 * w + b``."""
    low, high, red_low, red_high, black_low, black_high = targets(s)
    paid = FULL if can_pay(hand) else ZERO
    red_low &= paid
    red_high &= paid
    black_low &= paid
    black_high &= paid
    return (
        _weave(low, red_low, hand),
        _weave(low >> _S32, red_low >> _S32, hand >> _S2),
        _weave(high, red_high, hand >> _S4),
        _weave(low, black_low, hand >> _S6),
        _weave(low >> _S32, black_low >> _S32, hand >> _S8),
        _weave(high, black_high, hand >> _S10),
    )


@register_jitable
def _whole_lanes(levels):
    """A lane full of bits for each of four bits."""
    return ((levels * _TO_LANES) & LANES) * CELLS


@register_jitable
def held(hand):
    """The cards of a hand, a lane full of bits each: red low and high, black low and high."""
    return (
        _whole_lanes(hand & _ONE_TO_FOUR),
        _whole_lanes((hand >> _S4) & _FIVE_AND_SIX),
        _whole_lanes((hand >> _S6) & _ONE_TO_FOUR),
        _whole_lanes((hand >> _S10) & _FIVE_AND_SIX),
    )


@register_jitable
def channels(low, high, lanes):
    """Of the targets for cards of low and of high levels, those for one that is :func:`held`."""
    reds_low, reds_high, blacks_low, blacks_high = lanes
    return low & (reds_low | blacks_low) | high & (reds_high | blacks_high)


@register_jitable
def can_pay(hand):
    """Whether a hand has a second card, to pay for an invert by the first."""
    return hand & (hand - ONE) != ZERO


@register_jitable
def _placements(s, hand, out):
    n = 0
    first = 0
    for cells in placements(s, hand):
        while cells:
            out[n] = first + lowest(cells)
            cells = without_lowest(cells)
            n += 1
        first += 64
    return n


@register_jitable
def can_place(s):
    """Whether the player to move has a placement; the field is not empty."""
    meta = s[META]
    hand = hand_of(meta, field(meta, MOVER_SHIFT, ONE))
    low, high, red_low, red_high, black_low, black_high = targets(s)
    lanes = held(hand)
    reds_low, reds_high, blacks_low, blacks_high = lanes
    by_red = red_low & reds_low | red_high & reds_high
    by_black = black_low & blacks_low | black_high & blacks_high
    if channels(low, high, lanes) != ZERO:
        return True
    return can_pay(hand) and (by_red | by_black) != ZERO


@register_jitable
def face_up(s):
    """The plane of cells with a face-up top."""
    return (s[BANS_LOW] | (s[BANS_HIGH] >> _S16)) & CELLS


@register_jitable
def _can_slide(s, cell, direction):
    """Whether the neighbour of ``cell`` in ``direction`` can be slid one further."""
    torus = 1 if s[META] & TORUS else 0
    near = NEIGHBOURS[torus, direction, cell]
    if near < 0:
        return False
    far = NEIGHBOURS[torus, direction, near]
    if far < 0:
        return False
    taken = s[BANS_HIGH] >> TAKEN_SHIFT
    return (taken >> np.uint64(near)) & ONE != ZERO and (taken >> np.uint64(far)) & ONE == ZERO


@register_jitable
def _can_turn(s, cell, direction):
    """Whether the neighbour of ``cell`` in ``direction`` has a face-up top."""
    near = NEIGHBOURS[1 if s[META] & TORUS else 0, direction, cell]
    return near >= 0 and (face_up(s) >> np.uint64(near)) & ONE != ZERO


@register_jitable
def phase_of(meta):
    """The pending kind of choice: PLACE, DISCARD, REPEL, POLARIZE or OVER."""
    return field(meta, PHASE_SHIFT, _PHASE_MASK)


@register_jitable
def _choices(s, phase, out):
    """The options of a pending discard or ability."""
    meta = s[META]
    cell = field(meta, CELL_SHIFT, _CELL_MASK)
    n = 0
    if phase == DISCARD:
        cards = hand_of(meta, field(meta, MOVER_SHIFT, ONE))
        while cards:
            out[n] = DISCARDS + lowest(cards)
            cards = without_lowest(cards)
            n += 1
        return n
    if phase == REPEL:
        for direction in range(4):
            if _can_slide(s, cell, direction):
                out[n] = REPELS + direction
                n += 1
    else:
        out[0] = POLARIZE_SELF
        n = 1
        for direction in range(4):
            if _can_turn(s, cell, direction):
                out[n] = POLARIZES + direction
                n += 1
    out[n] = DECLINE
    return n + 1


@register_jitable
def to_move(s):
    """The player to move, or TERMINAL."""
    if phase_of(s[META]) == OVER:
        return TERMINAL
    return field(s[META], MOVER_SHIFT, ONE)


@register_jitable
def legal(s, out):
    """Write the ascending legal actions to ``out``; returns their number, 0 at the end."""
    meta = s[META]
    phase = phase_of(meta)
    if phase == PLACE:
        hand = hand_of(meta, field(meta, MOVER_SHIFT, ONE))
        if s[BANS_HIGH] >> TAKEN_SHIFT == ZERO:
            return _openings(hand, out)
        n = _placements(s, hand, out)
        if not meta & TUTORIAL:
            out[n] = PASS
            n += 1
        return n
    if phase == OVER:
        return 0
    return _choices(s, phase, out)


@register_jitable
def _end_turn(s):
    """Hand the turn over; in the tutorial game, end it if the next player is stuck."""
    s[META] = (s[META] & ~_PENDING) ^ MOVER
    if s[META] & TUTORIAL and not can_place(s):
        s[META] |= np.uint64(OVER) << PHASE_SHIFT


@register_jitable
def _ask(s, phase, cell):
    s[META] = (
        (s[META] & ~_PENDING) | (np.uint64(phase) << PHASE_SHIFT) | (np.uint64(cell) << CELL_SHIFT)
    )


@register_jitable
def _ability(s, card, cell):
    """The phase that the ability of a card just placed on ``cell`` leads to; PLACE if none."""
    owed = _OWED[card % 6]
    if s[META] & TUTORIAL:
        return PLACE
    if owed != REPEL:
        return owed
    for direction in range(4):
        if _can_slide(s, cell, direction):
            return REPEL
    return PLACE


@register_jitable
def _proceed(s, owed, cell):
    """After a placement and its discard, ask for the ability owed; says if the turn is over."""
    if owed == PLACE:
        return True
    _ask(s, owed, cell)
    return False


@register_jitable
def _place(s, card, cell, invert):
    """Put a card from hand on a cell; says whether the turn is over."""
    here = np.uint64(cell)
    meta = s[META]
    player = field(meta, MOVER_SHIFT, ONE)
    owners = s[OWNERS]
    if invert:
        erase = ~(LANES << here)
        s[BANS_LOW] &= erase
        s[BANS_HIGH] &= erase
        meta |= ONE << here
        owners |= ((owners >> here) & ONE) << (here + _S16)
    s[BANS_LOW] |= _CARD_LOW[card] << here
    s[BANS_HIGH] |= _CARD_HIGH[card] << here
    s[OWNERS] = (owners & ~(ONE << here)) | (np.uint64(player) << here)
    s[META] = (meta & ~_PASSES) ^ (ONE << (_HAND_SHIFTS[player] + np.uint64(card)))
    owed = _ability(s, card, cell)
    if invert:
        _ask(s, DISCARD, cell)
        s[META] |= np.uint64(owed) << OWED_SHIFT
        return False
    return _proceed(s, owed, cell)


@register_jitable
def _moved(word, near, far):
    """``word`` with the cell ``near`` of every lane moved to the empty cell ``far``."""
    column = (word >> near) & LANES
    return (word & ~(LANES << near)) | (column << far)


@register_jitable
def _slide(s, cell, direction):
    torus = 1 if s[META] & TORUS else 0
    step = NEIGHBOURS[torus, direction, cell]
    near, far = np.uint64(step), np.uint64(NEIGHBOURS[torus, direction, step])
    s[BANS_LOW] = _moved(s[BANS_LOW], near, far)
    s[BANS_HIGH] = _moved(s[BANS_HIGH], near, far)
    s[OWNERS] = _moved(s[OWNERS], near, far)
    s[UNSEEN] = _moved(s[UNSEEN], near, far)
    stacked = (s[META] >> near) & ONE
    s[META] = (s[META] & ~(ONE << near)) | (stacked << far)


@register_jitable
def _turn_down(s, cell):
    """Turn the face-up top at ``cell`` down: it bans nothing any more."""
    here = np.uint64(cell)
    banned = popcount((s[BANS_LOW] >> here) & LANES)
    banned += popcount(((s[BANS_HIGH] & BANS_OF_HIGH) >> here) & LANES)
    red = (s[BANS_HIGH] >> (here + RED_SHIFT)) & ONE
    level = np.uint64(banned) if red else np.uint64(7 - banned)
    for i in range(3):
        bit = (level >> np.uint64(i)) & ONE
        s[UNSEEN] |= bit << (here + np.uint64(16 * i))
    s[BANS_LOW] &= ~(LANES << here)
    s[BANS_HIGH] &= ~((LANES & BANS_OF_HIGH) << here)


@register_jitable
def _pass(s):
    passes = field(s[META], PASSES_SHIFT, _PASSES_MASK) + 1
    s[META] = (s[META] & ~_PASSES) | (np.uint64(passes) << PASSES_SHIFT)
    s[META] ^= MOVER
    if passes == 2:
        s[META] |= np.uint64(OVER) << PHASE_SHIFT


@register_jitable
def _choose(s, a):
    """Settle a pending discard or ability; says whether the turn is over."""
    meta = s[META]
    cell = field(meta, CELL_SHIFT, _CELL_MASK)
    if a < REPELS:
        shift = _HAND_SHIFTS[field(meta, MOVER_SHIFT, ONE)] + np.uint64(a - DISCARDS)
        s[META] = meta ^ (ONE << shift)
        return _proceed(s, field(meta, OWED_SHIFT, _PHASE_MASK), cell)
    if a < POLARIZE_SELF:
        _slide(s, cell, a - REPELS)
    elif a == POLARIZE_SELF:
        _turn_down(s, cell)
    elif a < DECLINE:
        _turn_down(s, NEIGHBOURS[1 if meta & TORUS else 0, a - POLARIZES, cell])
    return True


@register_jitable
def apply(s, a):
    """Play the legal action ``a`` in place."""
    if a == PASS:
        _pass(s)
        return
    turn_over = _place(s, a >> 5, a & 15, a & 16 != 0) if a < DISCARDS else _choose(s, a)
    if turn_over:
        _end_turn(s)


@register_jitable
def settled(s):
    """Whether no choice of a turn is pending."""
    phase = phase_of(s[META])
    return phase in (PLACE, OVER)


@register_jitable
def open_cells(s, player):
    """The number of empty cells on a player's side."""
    taken = s[BANS_HIGH] >> TAKEN_SHIFT
    return popcount(~taken & SIDES[player])


@register_jitable
def cards_on_side(s, player):
    """The number of cards on a player's side, a stack counting two."""
    taken = s[BANS_HIGH] >> TAKEN_SHIFT
    return popcount(taken & SIDES[player]) + popcount(s[META] & SIDES[player])


@register_jitable
def leader(s):
    """Who would win if the standard game were scored now."""
    margin = open_cells(s, 0) - open_cells(s, 1)
    if margin == 0:
        margin = cards_on_side(s, 1) - cards_on_side(s, 0)
    return 0 if margin >= 0 else 1


@register_jitable
def payoff(s, player):
    """+1 to the winner of a finished game, -1 to the loser."""
    loser = field(s[META], MOVER_SHIFT, ONE) if s[META] & TUTORIAL else 1 - leader(s)
    return -1.0 if player == loser else 1.0
