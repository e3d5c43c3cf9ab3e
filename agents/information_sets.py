"""What an information-set search has learned, by information set."""

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from cardcommons.bits import mix

NONE = -1
"""No information set, or no edge."""

_S32 = np.uint64(32)
_LOW32 = np.uint64(0xFFFF_FFFF)
_ONE = np.uint64(1)
_FIRST_MASK = np.uint64(0x3FF)


class InformationSets(NamedTuple):
    """A hash table of information sets, each with a linked list of the actions tried there.

    Actions are in lists because an observer who doesn't see the mover's hand meets ever new ones.
    """

    slot: npt.NDArray[np.uint64]
    """Shape ``(slots,)``, a power of two: a set's number, below its generation in 32 bits each.

    Only as many slots are in use as the sets need, so that they stay close together in memory.
    """
    mask: npt.NDArray[np.uint64]
    """Shape ``(1,)``: one less than how many slots are in use, a power of two."""
    generation: npt.NDArray[np.uint64]
    """Shape ``(1,)``: slots of earlier generations are empty."""
    key: npt.NDArray[np.uint64]
    """Shape ``(capacity,)``, a set each."""
    first_edge: npt.NDArray[np.int32]
    """Likewise."""
    next_edge: npt.NDArray[np.int32]
    """Shape ``(capacity,)``, an edge each, as all below."""
    action: npt.NDArray[np.int32]
    mover: npt.NDArray[np.int8]
    """Whose action it is."""
    visits: npt.NDArray[np.int32]
    available: npt.NDArray[np.int32]
    """In how many simulations the action could have been chosen."""
    goal: npt.NDArray[np.int32]
    """The information set to which the action led last, or none."""
    total: npt.NDArray[np.float64]
    """The sum of the mover's utilities over the visits."""
    prior: npt.NDArray[np.float64]
    """What the selection makes of the estimate; 0 if it takes no interest."""
    level: npt.NDArray[np.float64]
    """The part of the bound that only visits of this edge change."""
    spread: npt.NDArray[np.float64]
    """The part that grows with the visits of its siblings, before it is multiplied."""
    used: npt.NDArray[np.int64]
    """Shape ``(2,)``: how many sets and how many edges are in use."""


def make_information_sets(capacity: int) -> InformationSets:
    """An empty table; memory is touched only as it comes into use."""
    return InformationSets(
        slot=np.zeros(1 << (2 * capacity - 1).bit_length(), dtype=np.uint64),
        mask=np.full(1, _FIRST_MASK, dtype=np.uint64),
        generation=np.ones(1, dtype=np.uint64),
        key=np.empty(capacity, dtype=np.uint64),
        first_edge=np.empty(capacity, dtype=np.int32),
        next_edge=np.empty(capacity, dtype=np.int32),
        action=np.empty(capacity, dtype=np.int32),
        mover=np.empty(capacity, dtype=np.int8),
        visits=np.empty(capacity, dtype=np.int32),
        available=np.empty(capacity, dtype=np.int32),
        goal=np.empty(capacity, dtype=np.int32),
        total=np.empty(capacity, dtype=np.float64),
        prior=np.empty(capacity, dtype=np.float64),
        level=np.empty(capacity, dtype=np.float64),
        spread=np.empty(capacity, dtype=np.float64),
        used=np.zeros(2, dtype=np.int64),
    )


INFORMATION_SETS = numba.typeof(make_information_sets(1))
"""The numba type of :class:`InformationSets`, for signatures."""


def forget(sets: InformationSets) -> None:
    """Empty the table, in no time."""
    sets.generation[0] += _ONE
    sets.mask[0] = _FIRST_MASK
    sets.used.fill(0)


@register_jitable
def set_key(known, searcher, mover):
    """The key of a place that ``searcher`` tells by what is known there, ``mover`` being to act."""
    return mix(known ^ mix(np.uint64(searcher + 1) << _S32 | np.uint64(mover + 1)))


@register_jitable
def find_slot(sets, key):
    """Where the information set stands, or would stand, in the table."""
    mask = sets.mask[0]
    at = key & mask
    while sets.slot[at] >> _S32 == sets.generation[0] and sets.key[sets.slot[at] & _LOW32] != key:
        at = (at + _ONE) & mask
    return np.int64(at)


@register_jitable
def set_in(sets, slot):
    """The number of the information set in a slot, or none."""
    if sets.slot[slot] >> _S32 != sets.generation[0]:
        return NONE
    return np.int64(sets.slot[slot] & _LOW32)


@register_jitable
def _widen(sets):
    """Use twice as many slots."""
    sets.generation[0] += _ONE
    sets.mask[0] += sets.mask[0] + _ONE
    for number in range(sets.used[0]):
        slot = find_slot(sets, sets.key[number])
        sets.slot[slot] = sets.generation[0] << _S32 | np.uint64(number)


@register_jitable
def add_set(sets, key):
    """A new information set; or none, if there is no room."""
    new = sets.used[0]
    if new >= sets.key.size:
        return NONE
    if np.uint64(4 * new) > sets.mask[0] and sets.mask[0] < np.uint64(sets.slot.size - 1):
        _widen(sets)
    sets.used[0] = new + 1
    sets.slot[find_slot(sets, key)] = sets.generation[0] << _S32 | np.uint64(new)
    sets.key[new] = key
    sets.first_edge[new] = NONE
    return new


@register_jitable
def add_edge(sets, number, action, mover, prior):
    """A new edge of an information set; or none, if there is no room."""
    new = sets.used[1]
    if new >= sets.action.size:
        return NONE
    sets.used[1] = new + 1
    sets.next_edge[new] = sets.first_edge[number]
    sets.action[new] = action
    sets.mover[new] = mover
    sets.visits[new] = 0
    sets.available[new] = 1
    sets.goal[new] = NONE
    sets.total[new] = 0.0
    sets.prior[new] = prior
    sets.first_edge[number] = new
    return new
