"""The generator: known values, exact uniformity, and the tree of seeds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from cardcommons import rng
from cardcommons.rng import child_seed, make_rng
from tests.plain_random import PlainRandom

next_word = njit(rng.next_word)
below = njit(rng.below)
unit = njit(rng.unit)
weighted = njit(rng.weighted)

GOLDEN = (3390214401120528442, 13765972311686912848, 2363030595953268471)

# Upper 0.1 % points of the chi-square distribution by degrees of freedom.
CHI_SQUARE = {1: 10.83, 2: 13.82, 5: 20.52, 6: 22.46, 9: 27.88}


def chi_square(counts: list[int], shares: list[float]) -> float:
    """Pearson's statistic of counts against the shares expected."""
    total, weight = sum(counts), sum(shares)
    wanted = [total * share / weight for share in shares]
    return sum((got - want) ** 2 / want for got, want in zip(counts, wanted, strict=True))


def test_the_published_sequence() -> None:
    word = make_rng(1234567)
    assert [int(next_word(word)) for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@given(st.integers(-(2**70), 2**70))
def test_any_integer_seeds_the_same_sequence_as_plain_python(seed: int) -> None:
    word, plain = make_rng(seed), PlainRandom(seed)
    assert [int(next_word(word)) for _ in range(3)] == [plain.next_word() for _ in range(3)]


@given(st.integers(0, 2**64 - 1), st.one_of(st.integers(1, 300), st.integers(1, 2**32 - 1)))
def test_below_is_the_plain_draw(seed: int, n: int) -> None:
    word, plain = make_rng(seed), PlainRandom(seed)
    for _ in range(5):
        drawn = int(below(word, n))
        assert drawn == plain.below(n)
        assert 0 <= drawn < n
    assert int(word[0]) == plain.word


def test_a_large_bound_makes_below_reject() -> None:
    # With a bound just above 2**31 almost half of all words are rejected.
    n = 2**31 + 1
    word, plain = make_rng(3), PlainRandom(3)
    draws = [int(below(word, n)) for _ in range(200)]
    assert draws == [plain.below(n) for _ in range(200)]
    steps = (int(word[0]) - 3) * pow(0x9E3779B97F4A7C15, -1, 2**64) % 2**64
    assert 320 < steps < 480


@pytest.mark.parametrize("n", [2, 3, 6, 7, 10])
def test_below_is_uniform(n: int) -> None:
    word = make_rng(n)
    counts = [0] * n
    for _ in range(20_000):
        counts[below(word, n)] += 1
    assert chi_square(counts, [1.0] * n) < CHI_SQUARE[n - 1]


def test_below_is_uniform_where_rounding_would_show() -> None:
    # Without rejection, the residues of draws below 3 * 2**30 would come 2 : 1 : 1.
    word = make_rng(8)
    counts = [0] * 3
    for _ in range(20_000):
        counts[below(word, 3 * 2**30) % 3] += 1
    assert chi_square(counts, [1.0] * 3) < CHI_SQUARE[2]


def test_unit_fills_the_interval_evenly() -> None:
    word = make_rng(5)
    drawn = [unit(word) for _ in range(20_000)]
    assert all(0 <= x < 1 for x in drawn)
    counts = [int(count) for count in np.histogram(drawn, bins=10, range=(0, 1))[0]]
    assert chi_square(counts, [1.0] * 10) < CHI_SQUARE[9]


def test_weighted_draws_in_proportion() -> None:
    weight = np.array([1, 0, 3, 4, 2, 99], dtype=np.int64)
    word = make_rng(6)
    counts = [0] * 6
    for _ in range(20_000):
        counts[weighted(word, weight, 5)] += 1
    assert counts[1] == counts[5] == 0  # no weight; beyond the n given
    drawn = [counts[i] for i in (0, 2, 3, 4)]
    assert chi_square(drawn, [1.0, 3.0, 4.0, 2.0]) < 16.27  # 0.1 % point, 3 degrees of freedom


def test_seed_trees_never_change() -> None:
    assert child_seed(1) == GOLDEN[0]
    assert child_seed(1, 0) == GOLDEN[1]
    assert child_seed(1, "pair", 7) == GOLDEN[2]


def test_paths_of_a_seed_tree_differ() -> None:
    paths: list[tuple[int | str, ...]] = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), ("0",), ("0, 0",)]
    seeds = [child_seed(seed, *path) for seed in (0, 1, -1) for path in paths]
    seeds += [child_seed(9, i) for i in range(5000)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**64 for seed in seeds)
