"""Open-addressed tables from 64-bit keys to row numbers, for compiled code.

The arrays belong to Python, since compiled code can't allocate: it stops when a table gets full,
and goes on with a larger one.
"""

from functools import cache
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from cardcommons.bits import ONE, mix
from cardcommons.compiled import compiled
from cardcommons.treaty import Kernel

NOT_THERE = -1
"""In place of a row: the key is not in the table."""

_SEAT = np.uint64(0x9E37_79B9_7F4A_7C15)


class KeyTable(NamedTuple):
    """Keys and their rows, arrays of shape ``(capacity,)``, a power of two."""

    key: npt.NDArray[np.uint64]
    """0 where there is no entry."""
    row: npt.NDArray[np.int64]


def make_keytable(bits: int) -> KeyTable:
    """An empty table of ``2**bits`` entries."""
    return KeyTable(np.zeros(1 << bits, dtype=np.uint64), np.zeros(1 << bits, dtype=np.int64))


KEYTABLE = numba.typeof(make_keytable(0))
"""The numba type of a :class:`KeyTable`, for signatures."""


@register_jitable
def seated(info_key, player):
    """One key for an information set of ``player``: no set of another player shares it.

    Two sets may only collide as any two hashes of 64 bits may.
    """
    return max(mix(info_key + np.uint64(player + 1) * _SEAT), ONE)


def all_seated(
    info_keys: npt.NDArray[np.uint64], players: npt.NDArray[np.int8]
) -> npt.NDArray[np.uint64]:
    """:func:`seated` of many information sets, for callers outside compiled code."""
    seats = (players.astype(np.uint64) + ONE) * _SEAT
    told: npt.NDArray[np.uint64] = np.maximum(mix(info_keys + seats), ONE)
    return told


@register_jitable
def find_slot(table, key):
    """Where ``key``, which isn't 0, stands or would stand; some entry of the table is free."""
    mask = np.uint64(table.key.size - 1)
    slot = key & mask
    while table.key[np.int64(slot)] != key and table.key[np.int64(slot)] != 0:
        slot = (slot + ONE) & mask
    return np.int64(slot)


@register_jitable
def find_row(table, key):
    """The row of ``key``, or ``NOT_THERE``."""
    slot = find_slot(table, key)
    return table.row[slot] if table.key[slot] == key else NOT_THERE


@register_jitable
def has_room(table, used):
    """Whether a table with ``used`` entries may take one more and still be quick."""
    return 2 * used < table.key.size


@cache
def make_move_keys() -> Kernel:
    """Compile ``(old, new)``: copy all entries of a table to a larger one."""

    @compiled("keytable", types.void(KEYTABLE, KEYTABLE))
    def move_keys(old, new):
        for i in range(old.key.size):
            if old.key[i] != 0:
                slot = find_slot(new, old.key[i])
                new.key[slot] = old.key[i]
                new.row[slot] = old.row[i]

    return move_keys


@cache
def make_enter_keys() -> Kernel:
    """Compile ``(table, keys)``: enter different keys (``uint64[n]``) as rows 0 to n - 1."""

    @compiled("keytable", types.void(KEYTABLE, types.uint64[::1]))
    def enter_keys(table, keys):
        for row in range(keys.size):
            slot = find_slot(table, keys[row])
            table.key[slot] = keys[row]
            table.row[slot] = row

    return enter_keys


def grown(table: KeyTable) -> KeyTable:
    """A table of twice the size with the same entries."""
    larger = make_keytable(table.key.size.bit_length())
    make_move_keys()(table, larger)
    return larger
