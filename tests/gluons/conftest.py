"""The sets of parameters as a fixture."""

import pytest

from tests.gluons.walks import VARIANTS, Variant


@pytest.fixture(params=VARIANTS, ids=str)
def variant(request: pytest.FixtureRequest) -> Variant:
    """Each variant in turn."""
    chosen: Variant = request.param
    return chosen
