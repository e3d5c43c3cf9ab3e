"""Two ways to tell things apart that must agree."""

from collections.abc import Hashable, Iterable


def assert_one_to_one(pairs: Iterable[tuple[Hashable, Hashable]]) -> int:
    """Equal left sides go with equal right sides, and the other way round; how many there are."""
    found = set(pairs)
    assert len({left for left, _ in found}) == len(found) == len({right for _, right in found})
    return len(found)
