"""The four variants as fixtures."""

import pytest

from cardcommons import Game
from tests.particles.walks import VARIANTS, Variant


@pytest.fixture(params=VARIANTS, ids=lambda variant: variant.name)
def variant(request: pytest.FixtureRequest) -> Variant:
    """Each variant in turn."""
    chosen: Variant = request.param
    return chosen


@pytest.fixture
def game(variant: Variant) -> Game:
    """The game of the variant, from the usual start."""
    return variant.game()
