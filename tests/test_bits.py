"""The bit tricks against Python's integers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from cardcommons import bits

popcount = njit(bits.popcount)
lowest = njit(bits.lowest)
without_lowest = njit(bits.without_lowest)
field = njit(bits.field)
swap = njit(bits.swap)
mix = njit(bits.mix)

FULL = 2**64 - 1
words = st.one_of(
    st.integers(0, FULL),
    st.integers(0, 63).map(lambda i: 1 << i),
    st.sampled_from([0, FULL, 1 << 63, FULL - 1]),
)
nonzero = words.filter(bool)


@given(words)
def test_popcount(word: int) -> None:
    assert popcount(np.uint64(word)) == word.bit_count()


@given(nonzero)
def test_lowest(word: int) -> None:
    assert lowest(np.uint64(word)) == (word & -word).bit_length() - 1


@given(nonzero)
def test_without_lowest(word: int) -> None:
    rest = without_lowest(np.uint64(word))
    assert int(rest) == word & (word - 1)


@given(words, st.integers(0, 63), st.integers(1, 16))
def test_field(word: int, shift: int, width: int) -> None:
    mask = (1 << width) - 1
    assert field(np.uint64(word), np.uint64(shift), np.uint64(mask)) == word >> shift & mask


@given(words, words, st.integers(1, 32))
def test_swap_exchanges_bits_with_those_above(word: int, wanted: int, shift: int) -> None:
    # A mask must not meet its own shift, nor reach beyond the word.
    mask = 0
    for place in range(64 - shift):
        if wanted >> place & 1 and not (mask << shift) >> place & 1:
            mask |= 1 << place
    expected = word
    for place in range(64 - shift):
        if mask >> place & 1:
            low, high = word >> place & 1, word >> place + shift & 1
            expected &= ~(1 << place | 1 << place + shift)
            expected |= high << place | low << place + shift
    swapped = np.uint64(swap(np.uint64(word), np.uint64(mask), np.uint64(shift)))
    assert int(swapped) == expected
    assert int(swap(swapped, np.uint64(mask), np.uint64(shift))) == word


def _mixed(word: int) -> int:
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & FULL
    word = (word ^ word >> 27) * 0x94D049BB133111EB & FULL
    return word ^ word >> 31


@given(words)
def test_mix(word: int) -> None:
    assert int(mix(np.uint64(word))) == _mixed(word)
