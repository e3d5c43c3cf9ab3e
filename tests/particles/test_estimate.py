"""The estimate is a guess, but a consistent one."""

from hypothesis import given

from cardcommons import State
from tests.particles.symmetries import MIRRORING, image_of
from tests.particles.walks import STANDARD, TUTORIAL, VARIANTS, Pair, pairs, turns


@given(pairs())
def test_estimates_are_inside_the_bounds_and_antisymmetric(pair: Pair) -> None:
    first, second = (pair.state.estimate(player) for player in (0, 1))
    assert -1 < first < 1
    assert first == -second


@given(turns())
def test_the_mirror_leaves_the_estimate_alone(pair: Pair) -> None:
    image = image_of(pair, MIRRORING)
    assert image.state.estimate(0) == pair.state.estimate(0)


def test_more_open_cells_are_better() -> None:
    # The same two cards, on player 1's side and on player 0's.
    good, bad = (
        State.from_string(STANDARD.game(), f"{field} Ah6h Ad6d 0 0").estimate(0)
        for field in ("..../..../.3h../.5c..", ".5c../.3h../..../....")
    )
    assert good > 0 > bad


def test_mobility_counts_in_the_tutorial() -> None:
    state = State.from_string(TUTORIAL.game(), "..../.3h../..../.... 4h5h6h Ad 0 0")
    assert state.estimate(0) > 0.3


def test_the_start_is_nearly_even() -> None:
    for variant in VARIANTS:
        assert abs(State(variant.game()).estimate(0)) < 0.5
