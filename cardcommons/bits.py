"""Arithmetic on ``uint64`` words: the only bit tricks in the package.

Constants are typed, because numba turns ``u & 1`` into a signed integer and ``u - 1`` into a
float; ``u & ONE`` stays a ``uint64``.  Everything here also runs as plain Python on numpy
scalars.
"""

import numpy as np
from numba.extending import register_jitable

ZERO = np.uint64(0)
ONE = np.uint64(1)
FULL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

_M1 = np.uint64(0x5555_5555_5555_5555)
_M2 = np.uint64(0x3333_3333_3333_3333)
_M4 = np.uint64(0x0F0F_0F0F_0F0F_0F0F)
_H01 = np.uint64(0x0101_0101_0101_0101)
_S2 = np.uint64(2)
_S4 = np.uint64(4)
_S56 = np.uint64(56)

_S30 = np.uint64(30)
_S27 = np.uint64(27)
_S31 = np.uint64(31)
_MIX1 = np.uint64(0xBF58_476D_1CE4_E5B9)
_MIX2 = np.uint64(0x94D0_49BB_1331_11EB)


@register_jitable
def popcount(x):
    """Number of set bits of the word ``x``, as ``int64``.

    LLVM recognises this shape and emits a single ``popcnt``.
    """
    x = x - ((x >> ONE) & _M1)
    x = (x & _M2) + ((x >> _S2) & _M2)
    x = (x + (x >> _S4)) & _M4
    return np.int64((x * _H01) >> _S56)


@register_jitable
def lowest(x):
    """Index of the lowest set bit of the word ``x``, as ``int64``; 64 if there is none."""
    return popcount(~x & (x - ONE))


@register_jitable
def without_lowest(x):
    """The word ``x`` with its lowest set bit cleared; zero stays zero."""
    return x & (x - ONE)


@register_jitable
def field(x, shift, mask):
    """The bits of ``x`` under ``mask`` after a right shift, as ``int64``."""
    return np.int64((x >> shift) & mask)


@register_jitable
def swap(x, mask, shift):
    """Exchange the bits of ``x`` under ``mask`` with those ``shift`` places above them.

    The "delta swap" of Knuth, TAOCP 4A, section 7.1.3: any permutation of bits is a short
    sequence of these.
    """
    difference = (x ^ (x >> shift)) & mask
    return x ^ difference ^ (difference << shift)


@register_jitable
def mix(x):
    """Scramble the word ``x``: the finaliser of splitmix64, a bijection on 64 bits.

    Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    x = (x ^ (x >> _S30)) * _MIX1
    x = (x ^ (x >> _S27)) * _MIX2
    return x ^ (x >> _S31)
