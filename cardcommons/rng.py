"""Randomness as a value: a generator is a ``uint64`` array of one word, passed in by the caller.

The generator is splitmix64 (Steele, Lea and Flood, OOPSLA 2014).  A *seed tree* gives every
game, pair and player of an experiment a seed of its own, so that no result depends on the order
in which workers take up their tasks.
"""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from cardcommons.bits import mix

_GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)
_S11 = np.uint64(11)
_S32 = np.uint64(32)
_LOW32 = np.uint64(0xFFFF_FFFF)
_TWO53 = 2.0**-53


@register_jitable
def next_word(rng):
    """Advance ``rng`` (``uint64[1]``) and return 64 random bits."""
    rng[0] += _GOLDEN
    return mix(rng[0])


@register_jitable
def below(rng, n):
    """A uniformly random ``int64`` in ``[0, n)``, for ``1 <= n < 2**32``; exactly unbiased.

    Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019.
    """
    bound = np.uint64(n)
    product = (next_word(rng) >> _S32) * bound
    if product & _LOW32 < bound:
        threshold = (_LOW32 - bound + np.uint64(1)) % bound
        while product & _LOW32 < threshold:
            product = (next_word(rng) >> _S32) * bound
    return np.int64(product >> _S32)


@register_jitable
def unit(rng):
    """A uniformly random ``float64`` in ``[0, 1)``, a multiple of ``2**-53``."""
    return np.float64(next_word(rng) >> _S11) * _TWO53


@register_jitable
def weighted(rng, weight, n):
    """An index in ``[0, n)`` drawn in proportion to the integers ``weight[:n]``."""
    total = np.int64(0)
    for i in range(n):
        total += weight[i]
    left = below(rng, total)
    index = 0
    for i in range(n):  # to the end: an early exit can't be foreseen by the processor
        left -= weight[i]
        index += left >= 0
    return index


def make_rng(seed: int) -> npt.NDArray[np.uint64]:
    """A fresh generator (``uint64[1]``) for ``seed``, any Python integer, taken modulo 2**64."""
    return np.array([seed & 0xFFFF_FFFF_FFFF_FFFF], dtype=np.uint64)


def draw_below(rng: npt.NDArray[np.uint64], n: int) -> int:
    """:func:`below` for callers outside compiled code."""
    with np.errstate(over="ignore"):
        return int(below(rng, n))


def draw_weighted(rng: npt.NDArray[np.uint64], weights: Sequence[int]) -> int:
    """:func:`weighted` for callers outside compiled code."""
    with np.errstate(over="ignore"):
        return int(weighted(rng, weights, len(weights)))


def child_seed(seed: int, *path: int | str) -> int:
    """The seed (64 bits) of the node that ``path`` names in the seed tree rooted at ``seed``.

    Distinct paths give independent seeds, and the same path gives the same seed on every
    machine.
    """
    digest = blake2b(repr((int(seed), *path)).encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "little")
