"""Counting unseen cards comes to the same as shuffling them and turning them up one by one."""

from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from tests.rally.walks import Pair, careful, chances, result_word
from tests.twins.rally import GEARS, PerGear, Result, ShuffledRally, Twin, mixed, results_by_deals


def _results_by_counts(pair: Pair, known: dict[Twin, dict[Result, Fraction]]) -> dict[Any, Any]:
    """The exact distribution of results when the fast engine's chances decide."""
    if pair.is_over:
        told = pair.state.fields()
        return {(told["bonuses"], told["penalties"], told["result"]): Fraction(1)}
    if pair.twin not in known:
        steps = chances(pair.state) or {sparing(pair.twin): Fraction(1)}
        known[pair.twin] = mixed(
            (p, _results_by_counts(pair.played(action), known)) for action, p in steps.items()
        )
    return known[pair.twin]


def sparing(twin: Twin) -> str:
    """Drive with care, but take no card of a gear that was taken on this sector already."""
    action = careful(twin)
    return "next" if twin.cards and action in GEARS else action


@pytest.mark.parametrize(
    ("params", "tops"),
    [
        ({"stages": "1-0-0-1"}, (1, 1, 0)),
        ({"stages": "2-0-0-1", "jokers": 0}, (2, 0, 0)),
        ({"stages": "2-1-0-2", "jokers": 0}, (3, 1, 0)),
        ({"stages": "0-1-1-1"}, (0, 2, 1)),
        ({"stages": "1-0-0-0/1-1-0-1", "jokers": 0}, (2, 1, 0)),
    ],
    ids=str,
)
def test_chances_agree_exactly_with_all_shuffles(params: dict[str, Any], tops: PerGear) -> None:
    pair = Pair.start(**params)
    dealt = results_by_deals(pair.twin, sparing, tops)
    counted = _results_by_counts(pair, {})
    named = {(b, p, "middle" if word == "pack" else word): s for (b, p, word), s in dealt.items()}
    assert counted == named
    assert sum(counted.values()) == 1
    assert len(counted) > 2


def _counted_rally(pair: Pair, rng: Random) -> tuple[int, int, str, int]:
    """Drive by the fast engine's chances."""
    while not pair.is_over:
        outcomes = chances(pair.state)
        if outcomes:
            shares = [float(share) for share in outcomes.values()]
            pair.play(rng.choices([*outcomes], shares)[0])
        else:
            pair.play(careful(pair.twin))
    told = pair.state.fields()
    return told["bonuses"], told["penalties"], told["result"], told["stage"]


def _chi_square(one: Counter[Any], other: Counter[Any]) -> tuple[float, int]:
    """The statistic of two samples of one size, rare kinds merged, and its degrees of freedom."""
    kinds: list[list[int]] = []
    rare = [0, 0]
    for kind in one.keys() | other.keys():
        pair = [one[kind], other[kind]]
        if sum(pair) >= 10:
            kinds.append(pair)
        else:
            rare = [a + b for a, b in zip(rare, pair, strict=True)]
    kinds += [rare] if sum(rare) >= 10 else []
    return sum((a - b) ** 2 / (a + b) for a, b in kinds), len(kinds) - 1


ONE_IN_TEN_THOUSAND = (
    15.1, 18.4, 21.1, 23.5, 25.7, 27.9, 29.9, 31.8, 33.7, 35.6, 37.4, 39.1, 40.9, 42.6, 44.3,
)  # fmt: skip
"""What a chi-square exceeds that rarely, from one degree of freedom on."""

GAMES = 800
PARAMS: dict[str, Any] = {"stages": "2-3-5-2/1-1-1-1", "jokers": 3}


def test_sampled_rallies_agree_with_really_shuffled_ones() -> None:
    rng = Random(20)
    shuffled = ShuffledRally(Twin.start(**PARAMS), Random(21))
    ends = [shuffled.play(careful) for _ in range(GAMES)]
    dealt = [(end.bonuses, end.penalties, result_word(end), end.stage) for end in ends]
    counted = [_counted_rally(Pair.start(**PARAMS), rng) for _ in range(GAMES)]
    assert len({result for _, _, result, _ in dealt}) > 3
    for part in range(4):
        samples = [Counter(end[part] for end in sample) for sample in (counted, dealt)]
        statistic, freedom = _chi_square(*samples)
        assert freedom > 0
        assert statistic < ONE_IN_TEN_THOUSAND[freedom - 1], samples
