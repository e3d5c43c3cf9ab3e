"""Particles: which states have the same future.

The future depends on the charge and level of face-up tops, on which cells are taken, stacked or
face down, on the hands, and on the pending choice; never on who owns a card on the field.  Its
symmetries (each maps legal games to legal games):

* the left-right mirror, in every variant;
* in the tutorial game, where sides mean nothing, all eight symmetries of the square; on its torus
  all 384 automorphisms of the 4x4 torus, which is the graph of the four-dimensional cube;
* in the tutorial game, charges swapped together with level L -> 7 - L, which keeps the law.

A key is the least hash over the images of a state, so it is the same for all of them.
"""

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import (
    FULL,
    ZERO,
    field,
    lowest,
    mix,
    popcount,
    swap,
    without_lowest,
)
from cardcommons.games.particles.rules import (
    BANS_HIGH,
    BANS_LOW,
    BANS_OF_HIGH,
    CELL_SHIFT,
    CELLS,
    LANES,
    META,
    OWED_SHIFT,
    PLACE,
    POLARIZE,
    RED_SHIFT,
    REPEL,
    TAKEN_SHIFT,
    TORUS,
    TUTORIAL,
    face_up,
    phase_of,
)

_S1, _S2, _S3, _S4, _S6, _S8 = (np.uint64(n) for n in (1, 2, 3, 4, 6, 8))
_S16, _S28, _S32, _S48 = (np.uint64(n) for n in (16, 28, 32, 48))
_HAND = np.uint64(0xFFF)
_CELL_MASK = np.uint64(15)
_PHASE_MASK = np.uint64(7)
_HANDS = (_HAND << _S16) | (_HAND << _S28)
_WHERE = CELLS | (_CELL_MASK << CELL_SHIFT)
"""The bits of META that speak of cells."""
_SALT = np.uint64(0x51A3_7F0D_9C8E_2B65)


def _in_all_lanes(plane: int) -> np.uint64:
    return np.uint64(plane) * LANES


_ODD, _PAIR, _NIBBLE, _BYTE = (_in_all_lanes(m) for m in (0x5555, 0x3333, 0x0F0F, 0x00FF))
_TRANSPOSE_NEAR, _TRANSPOSE_FAR = _in_all_lanes(0x0A0A), _in_all_lanes(0x00CC)
_GRAY_COLUMNS, _GRAY_ROWS = _in_all_lanes(0x4444), _in_all_lanes(0x0F00)

_FLIP_MASKS = np.array([_ODD, _PAIR, _NIBBLE, _BYTE])
_FLIP_SHIFTS = np.array([1, 2, 4, 8], dtype=np.uint64)
_AXIS_MASKS = np.array([_in_all_lanes(m) for m in (0x2222, 0x0C0C, 0x00F0)])
_AXIS_SHIFTS = np.array([1, 2, 4], dtype=np.uint64)


def _adjacent_swaps(n: int) -> list[int]:
    """Positions to swap that walk through all orders of ``n`` things: "plain changes".

    Knuth, TAOCP 4A, section 7.2.1.2, Algorithm P.
    """
    if n == 1:
        return []
    inner = _adjacent_swaps(n - 1)
    down, up = list(range(n - 2, -1, -1)), list(range(n - 1))
    walk = list(down)
    for i, position in enumerate(inner):
        walk.append(position + 1 if i % 2 == 0 else position)
        walk += up if i % 2 == 0 else down
    return walk


_AXIS_WALK = np.array(_adjacent_swaps(4), dtype=np.int64)


@register_jitable
def _hash(low, high, where):
    return mix(mix(mix(low ^ _SALT) ^ high) ^ where)


@register_jitable
def _mirrored(x):
    return swap(swap(x, _ODD, _S1), _PAIR, _S2)


@register_jitable
def _turned(x):
    """Rows reversed."""
    return swap(swap(x, _NIBBLE, _S4), _BYTE, _S8)


@register_jitable
def _transposed(x):
    return swap(swap(x, _TRANSPOSE_NEAR, _S3), _TRANSPOSE_FAR, _S6)


@register_jitable
def _cubed(x):
    """Columns and rows renumbered by Gray code: torus neighbours differ in one index bit."""
    return swap(swap(x, _GRAY_COLUMNS, _S1), _GRAY_ROWS, _S4)


@register_jitable
def _least_of_mirror(low, high, where):
    return min(_hash(low, high, where), _hash(_mirrored(low), _mirrored(high), _mirrored(where)))


@register_jitable
def _least_of_square(low, high, where):
    least = FULL
    for _ in range(2):
        least = min(least, _least_of_mirror(low, high, where))
        least = min(least, _least_of_mirror(_turned(low), _turned(high), _turned(where)))
        low, high, where = _transposed(low), _transposed(high), _transposed(where)
    return least


@register_jitable
def _origins(low, high, where):
    """A small set of cells that every symmetry respects: the rarest kind of top on the field."""
    taken = high >> TAKEN_SHIFT
    red = ((high >> RED_SHIFT) & CELLS) * LANES
    best = taken
    count = popcount(taken)
    bans = high & BANS_OF_HIGH
    kinds_low = (low & ~((low >> _S16) | (high << _S48)) & red) | (low & ~(low << _S16) & ~red)
    kinds_high = (bans & ~(bans >> _S16) & red) | (bans & ~((bans << _S16) | (low >> _S48)) & ~red)
    for level in range(6):
        word = kinds_low if level < 4 else kinds_high
        plane = (word >> np.uint64(16 * (level & 3))) & CELLS
        for kind in (plane & red, plane & ~red):
            size = popcount(kind)
            if 0 < size < count:
                best, count = kind, size
    return best


@register_jitable
def _least_of_torus(low, high, where):
    """The least hash over the 384 automorphisms of the cube that move an origin to cell 0.

    Keeping to one kind of origin makes them few: 24 orders of the axes for each origin.
    """
    low, high, where = _cubed(low), _cubed(high), _cubed(where)
    origins = _origins(low, high, where)
    least = FULL
    while origins:
        origin = lowest(origins)
        origins = without_lowest(origins)
        x, y, z = low, high, where
        for axis in range(4):
            if (origin >> axis) & 1:
                mask, shift = _FLIP_MASKS[axis], _FLIP_SHIFTS[axis]
                x, y, z = swap(x, mask, shift), swap(y, mask, shift), swap(z, mask, shift)
        least = min(least, _hash(x, y, z))
        for i in range(_AXIS_WALK.size):
            mask, shift = _AXIS_MASKS[_AXIS_WALK[i]], _AXIS_SHIFTS[_AXIS_WALK[i]]
            x, y, z = swap(x, mask, shift), swap(y, mask, shift), swap(z, mask, shift)
            least = min(least, _hash(x, y, z))
    return least


@register_jitable
def _swapped_low(low, high):
    """Bans 1 to 4 after the charge swap: bans 6 to 3 before it."""
    return (
        ((high >> _S16) & CELLS)
        | ((high & CELLS) << _S16)
        | ((low >> _S48) << _S32)
        | (((low >> _S32) & CELLS) << _S48)
    )


@register_jitable
def _swapped_high(low, high):
    """Bans 5 and 6, red and taken after the charge swap."""
    shown = (low | (high >> _S16)) & CELLS
    red = shown & ~(high >> RED_SHIFT)
    taken = high >> TAKEN_SHIFT
    return ((low >> _S16) & CELLS) | ((low & CELLS) << _S16) | (red << _S32) | taken << _S48


@register_jitable
def _swapped_hands(meta):
    """META with red L and black 7 - L exchanged in both hands: each hand reads backwards."""
    hands = ((meta >> _S16) & _HAND) | (((meta >> _S28) & _HAND) << _S16)
    hands = _turned(_mirrored(hands)) >> _S4
    return (meta & ~_HANDS) | ((hands & _HAND) << _S16) | (((hands >> _S16) & _HAND) << _S28)


@register_jitable
def _least_image(low, high, where, meta):
    if not meta & TUTORIAL:
        least = _least_of_mirror(low, high, where)
    elif meta & TORUS and high >> TAKEN_SHIFT != ZERO:
        least = _least_of_torus(low, high, where)
    else:
        least = _least_of_square(low, high, where)
    return mix(least ^ mix(meta & ~_WHERE))


@register_jitable
def _seen_high(s):
    """BANS_HIGH without the colour of face-down tops, which no rule reads."""
    return s[BANS_HIGH] & ~((~face_up(s) & CELLS) << RED_SHIFT)


@register_jitable
def _where(meta, shown):
    """The cells that META speaks of, as planes: stacks, and the cell whose ability is to come.

    A discard without an ability to come could be for a card placed anywhere; and the height of a
    face-down pile serves the tie-break alone.
    """
    phase = phase_of(meta)
    where = meta & (shown if meta & TUTORIAL else CELLS)
    if phase in (REPEL, POLARIZE) or field(meta, OWED_SHIFT, _PHASE_MASK) != PLACE:
        where |= np.uint64(1) << (_S16 + np.uint64(field(meta, CELL_SHIFT, _CELL_MASK)))
    return where


@register_jitable
def state_key(s):
    """Equal exactly when the states are images of one another under the symmetries above.

    A 64-bit hash, so "equal" holds up to collision.  Standard game: 2 images; tutorial: 16; on
    its torus 768, of which the rarest kind of card on the field leaves about 100 to look at.
    """
    low, high, meta = s[BANS_LOW], _seen_high(s), s[META]
    where = _where(meta, face_up(s))
    key = _least_image(low, high, where, meta)
    if meta & TUTORIAL:
        swapped = _swapped_hands(meta)
        key = min(
            key, _least_image(_swapped_low(low, high), _swapped_high(low, high), where, swapped)
        )
    return key


@register_jitable
def info_key(s, player):
    """A hash of the position as it lies, no symmetry folded: all is public to both players."""
    meta = s[META]
    where = _where(meta, face_up(s))
    return mix(_hash(s[BANS_LOW], _seen_high(s), where) ^ mix(meta & ~_WHERE))
