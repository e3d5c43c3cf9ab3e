"""The worked examples of the published rules.

They refer to a figure that shows a 5 of clubs, a 2 of hearts, a 4 of diamonds and a face-down
card; the position here is laid out to what the text says of it.
"""

import pytest

from cardcommons import State
from tests.particles.walks import STANDARD, VARIANTS, Variant

FIELD = "..../6s*4d../.2h5c./...."


def _moves(state: State, card: str) -> list[str]:
    texts = map(state.action_to_string, state.legal_actions())
    return sorted(text for text in texts if text.startswith(card))


def _figure(variant: Variant = STANDARD) -> State:
    return State.from_string(variant.game(), f"{FIELD} Ah3h4h4s Ad6dAc6c 0 0")


@pytest.mark.parametrize("variant", [v for v in VARIANTS if not v.torus], ids=lambda v: v.name)
def test_the_three_of_hearts_can_go_on_five_cells(variant: Variant) -> None:
    # Below the face-down card and beside 2h; above the face-down card; beside 2h; twice beside 5c.
    cells = ["a2", "a4", "b1", "c1", "d2"]
    assert _moves(_figure(variant), "3h") == [f"3h@{cell}" for cell in cells]


def test_the_four_of_spades_inverts_the_four_of_diamonds_and_the_four_of_hearts_does_not() -> None:
    state = _figure()
    assert "4sxb3" in _moves(state, "4s")
    assert [move for move in _moves(state, "4h") if "x" in move] == []

    state.apply("4sxb3")
    assert state.position == ("..../6s*4s+4d../.2h5c./.... Ah3h4h Ad6dAc6c 0 0 then: discard")
    state.apply("-Ah")
    assert state.position == "..../6s*4s+4d../.2h5c./.... 3h4h Ad6dAc6c 1 0"


def test_nothing_more_can_go_on_a_stack() -> None:
    state = State.from_string(STANDARD.game(), "..../6s*4s+4d../.2h5c./.... 3h4h Ad6dAc6c 0 0")
    assert [move for move in _moves(state, "4h") if "x" in move] == []
