"""Tunnel, repel, anchor, polarize, inverts and endings on small positions, worked out by hand."""

import pytest

from cardcommons import TERMINAL, State
from tests.particles.walks import (
    STANDARD,
    STANDARD_TORUS,
    TUTORIAL,
    TUTORIAL_TORUS,
    VARIANTS,
    Variant,
)


def after(variant: Variant, position: str, *actions: str) -> State:
    """The state that actions lead to."""
    state = State.from_string(variant.game(), position) if position else State(variant.game())
    for action in actions:
        state.apply(action)
    return state


def moves(state: State, card: str = "") -> list[str]:
    """The legal actions, or those of one card, as sorted strings."""
    texts = map(state.action_to_string, state.legal_actions())
    return sorted(text for text in texts if text.startswith(card))


# Tunnel


@pytest.mark.parametrize(
    ("variant", "field", "cells"),
    [
        (STANDARD, "..../.3h../..../....", "a2 a4 c2 c4"),
        (STANDARD, "..../.3h../..../..As.", "a2 a4 c4 d2"),
        (STANDARD, "..../..../..../3h...", "b2"),
        (STANDARD_TORUS, "..../..../..../3h...", "b2 b4 d2 d4"),
        (TUTORIAL, "..../.3h../..../....", ""),
        (TUTORIAL_TORUS, "..../..../..../3h...", ""),
        (STANDARD, "..../.3h*../..../....", "a2 a3 a4 b2 b4 c2 c3 c4"),
    ],
)
def test_a_two_may_be_channelled_diagonally(variant: Variant, field: str, cells: str) -> None:
    state = after(variant, f"{field} 2h6s Ad 0 0")
    assert moves(state, "2h") == [f"2h@{cell}" for cell in cells.split()]


def test_other_levels_need_an_orthogonal_neighbour() -> None:
    state = after(STANDARD, "..../.3h../..../.... 2h6s Ad 0 0")
    assert moves(state, "6s") == ["6s@a3", "6s@b2", "6s@b4", "6s@c3"]


# Repel


@pytest.mark.parametrize(
    ("variant", "field", "place", "slide", "slid"),
    [
        (STANDARD, "..../.4s../..../....", "3h@b2", "repel:n", ".4s../..../.3h../...."),
        (STANDARD, "..../.4s+4d../..../....", "3h@b2", "repel:n", ".4s+4d../..../.3h../...."),
        (STANDARD, "..../.4s*../..../....", "3h@b2", "repel:n", ".4s*../..../.3h../...."),
        (STANDARD, "..../.5c*+5h../..../....", "3h@b2", "repel:n", ".5c*+5h../..../.3h../...."),
        (STANDARD, "..../..../.4s../....", "3h@b3", "repel:s", "..../.3h../..../.4s.."),
        (STANDARD, "..../..../.4s../....", "3h@a2", "repel:e", "..../..../3h.4s./...."),
        (STANDARD, "..../..../..4s./....", "3h@d2", "repel:w", "..../..../.4s.3h/...."),
        # The law doesn't apply to the slide: 4s comes to lie beside the red 6.
        (STANDARD, "6d.../.4s../..../....", "3h@b2", "repel:n", "6d4s../..../.3h../...."),
        (STANDARD_TORUS, ".4s../..../..../....", "3h@b3", "repel:n", "..../.3h../..../.4s.."),
        (STANDARD_TORUS, ".4s../..../..../....", "3h@b1", "repel:s", "..../.4s../..../.3h.."),
        (STANDARD_TORUS, "..../...4s/..../....", "3h@c3", "repel:e", "..../4s.3h./..../...."),
        (STANDARD_TORUS, "..../...4s/..../....", "3h@a3", "repel:w", "..../3h.4s./..../...."),
    ],
)
def test_a_three_slides_a_neighbour_one_cell_away(
    variant: Variant, field: str, place: str, slide: str, slid: str
) -> None:
    hands = "Ah Ad 1 0"
    state = after(variant, f"{field} Ah3h Ad 0 0", place)
    assert state.position.endswith(f" Ah Ad 0 0 then: repel {place[-2:]}")
    assert moves(state) == ["decline", slide]
    moved = state.copy()
    moved.apply(slide)
    assert moved.position == f"{slid} {hands}"
    stayed = state.position.split(" ")[0]
    state.apply("decline")
    assert state.position == f"{stayed} {hands}"


@pytest.mark.parametrize(
    ("variant", "field", "place"),
    [
        (STANDARD, ".4s../..../..../....", "3h@b3"),
        (STANDARD, ".6d../.4s../..../....", "3h@b2"),
        (STANDARD_TORUS, ".4s../..../..../.6d*..", "3h@b3"),
        (TUTORIAL, "..../.4s../..../....", "3h@b2"),
        (TUTORIAL_TORUS, "..../.4s../..../....", "3h@b2"),
    ],
)
def test_a_three_with_nothing_to_slide_asks_nothing(
    variant: Variant, field: str, place: str
) -> None:
    state = after(variant, f"{field} Ah3h 5d6c 0 0", place)
    assert state.position.endswith(" Ah 5d6c 1 0")


def test_a_three_chooses_among_all_that_it_can_slide() -> None:
    state = after(STANDARD, "..../.4s../6s*.5c./.... Ah3h Ad 0 0", "3h@b2")
    # a2 is against the edge; b3 and c2 have room behind them.
    assert moves(state) == ["decline", "repel:e", "repel:n"]


# Anchor


@pytest.mark.parametrize(
    ("variant", "field", "legal"),
    [
        (STANDARD, "..../..../6d.../....", True),  # one breach
        (STANDARD, "..../..../6d.../.As..", False),  # both
        (STANDARD, "..../..../6d.../.2h..", True),  # one of two neighbours
        (STANDARD, "6d.../..../..../.6c..", True),  # no breach: a4 is no neighbour
        (STANDARD_TORUS, "..../..../6d.../....", True),
        (STANDARD_TORUS, "..../..../6d.../.As..", False),  # the ordinary pair
        (STANDARD_TORUS, "6d.../..../..../...As", False),  # the wrapped pair
        (STANDARD_TORUS, "..../..../6d.../...As", True),  # one of each
        (STANDARD_TORUS, "6d.../..../..../.As..", True),  # one of each
        (STANDARD_TORUS, "6d.../..../6h.../...As", False),  # one ordinary, two wrapped
        (TUTORIAL, "..../..../6d.../....", False),
        (TUTORIAL_TORUS, "..../..../6d.../....", False),
    ],
)
def test_a_four_in_the_corner_may_ignore_a_neighbour(
    variant: Variant, field: str, legal: bool
) -> None:
    state = after(variant, f"{field} Ah4h5s Ad 0 0")
    assert ("4h@a1" in moves(state)) == legal


def test_every_corner_anchors_and_no_other_cell_or_level() -> None:
    for field, cells in (("..../As..Ac/..../....", "a4 d4"), ("..../..../As..Ac/....", "a1 d1")):
        state = after(STANDARD, f"{field} 4h5h Ad 0 0")
        assert moves(state) == [*(f"4h@{cell}" for cell in cells.split()), "pass"]


def test_a_four_may_anchor_by_an_invert() -> None:
    position = "..../..../2c.../4d... 5h4s Ad 0 0"
    assert moves(after(STANDARD, position), "4sx") == ["4sxa1"]
    assert moves(after(TUTORIAL, position), "4sx") == []


# Polarize


def test_a_five_may_turn_itself_or_a_neighbour() -> None:
    start = "..../.4d+4s../..../.... Ah5h Ad 0 0"
    state = after(STANDARD, start, "5h@b2")
    assert state.position == "..../.4d+4s../.5h../.... Ah Ad 0 0 then: polarize b2"
    assert moves(state) == ["decline", "polarize:n", "polarize:self"]
    for choice, field in (
        ("polarize:n", "..../.4d*+4s../.5h../...."),
        ("polarize:self", "..../.4d+4s../.5h*../...."),
        ("decline", "..../.4d+4s../.5h../...."),
    ):
        assert after(STANDARD, start, "5h@b2", choice).position == f"{field} Ah Ad 1 0"


def test_a_face_down_card_is_not_turned_again() -> None:
    state = after(STANDARD, "..../.4d*../..../.... Ah5h Ad 0 0", "5h@b2")
    assert moves(state) == ["decline", "polarize:self"]


def test_a_five_turns_cards_across_the_edge_of_the_torus_only() -> None:
    start = "6c*4d../..../..../.... Ah5h Ad 0 0"
    assert "5h@b1" not in moves(after(STANDARD, start))
    state = after(STANDARD_TORUS, start, "5h@b1")
    assert moves(state) == ["decline", "polarize:s", "polarize:self"]
    assert after(STANDARD_TORUS, start, "5h@b1", "polarize:s").position == (
        "6c*4d*../..../..../.5h.. Ah Ad 1 0"
    )


def test_a_face_down_card_cannot_be_inverted() -> None:
    start = "..../.4d../..../.... Ah5h Ad5c 0 0"
    assert "5cxb2" in moves(after(STANDARD, start, "5h@b2", "decline"))
    assert "5cxb2" not in moves(after(STANDARD, start, "5h@b2", "polarize:self"))


def test_an_opening_five_may_turn_down_and_then_binds_nobody() -> None:
    state = after(STANDARD, "", "5h@b2")
    assert state.position.endswith(" 0 0 then: polarize b2")
    assert moves(state) == ["decline", "polarize:self"]
    state.apply("polarize:self")
    assert state.position.startswith("..../..../.5h*../.... ")
    # Twelve cards on four cells, two 2s on four more, and a pass.
    assert len(state.legal_actions()) == 12 * 4 + 2 * 4 + 1


def test_an_opening_three_has_nothing_to_slide() -> None:
    assert after(STANDARD, "", "3s@c3").player == 1


@pytest.mark.parametrize("variant", [TUTORIAL, TUTORIAL_TORUS], ids=lambda v: v.name)
def test_a_five_asks_nothing_in_the_tutorial(variant: Variant) -> None:
    assert after(variant, "", "5h@b2").player == 1


# Inverts


def test_an_invert_needs_another_card_to_discard(variant: Variant) -> None:
    alone = after(variant, "..../.4d../..../.... 4s Ad 0 0")
    assert [move for move in moves(alone) if "x" in move] == []
    state = after(variant, "..../.4d../..../.... 2h4s6s Ad 0 0", "4sxb3")
    assert state.position == "..../.4s+4d../..../.... 2h6s Ad 0 0 then: discard"
    assert moves(state) == ["-2h", "-6s"]
    state.apply("-6s")
    assert state.position == "..../.4s+4d../..../.... 2h Ad 1 0"


def test_an_invert_wants_the_same_level_and_the_other_charge(variant: Variant) -> None:
    field = "..../.4d../..../...."
    assert "4hxb3" not in moves(after(variant, f"{field} 4h6s Ad 0 0"))
    assert "3sxb3" not in moves(after(variant, f"{field} 3s6s Ad 0 0"))
    assert "4sxb3" in moves(after(variant, f"{field} 4s6s Ad 0 0"))


def test_own_cards_can_be_inverted_and_stacks_cannot(variant: Variant) -> None:
    assert "4sxb3" in moves(after(variant, "..../.4h../..../.... 4s6s Ad 0 0"))
    assert "4hxb3" not in moves(after(variant, "..../.4s+4d../..../.... 4h6s Ad 0 0"))


def test_the_law_binds_an_invert(variant: Variant) -> None:
    assert "4sxb3" in moves(after(variant, "..../.4d2h./..../.... 4s6s Ad 0 0"))
    assert "4sxb3" not in moves(after(variant, "..../.4d5h./..../.... 4s6s Ad 0 0"))


def test_the_ability_of_an_invert_comes_after_the_discard() -> None:
    start = "..../.3d../.5c../.... 3s6s Ad 0 0"
    state = after(STANDARD, start, "3sxb3", "-6s")
    assert state.position == "..../.3s+3d../.5c../.... - Ad 0 0 then: repel b3"
    state.apply("repel:s")
    assert state.position == "..../.3s+3d../..../.5c.. - Ad 1 0"
    turned = after(STANDARD, "..../.5d../..../.... 5s6s Ad 0 0", "5sxb3", "-6s", "polarize:self")
    assert turned.position == "..../.5s*+5d../..../.... - Ad 1 0"


# Passes and endings


def test_two_passes_end_the_game_and_a_placement_between_does_not() -> None:
    start = "..../.3h../..../.... 4h6h 6d6c 0 0"
    over = after(STANDARD, start, "pass", "pass")
    assert over.player == TERMINAL
    assert over.legal_actions() == []
    assert over.position == "..../.3h../..../.... 4h6h 6d6c 0 2"
    on = after(STANDARD, start, "pass", "6d@b4")
    assert on.position == ".6d../.3h../..../.... 4h6h 6c 0 0"
    assert after(STANDARD, start, "pass", "6d@b4", "pass").player == 1


def test_a_player_without_a_placement_can_only_pass() -> None:
    assert moves(after(STANDARD, "..../.3h../..../.... - Ad 0 0")) == ["pass"]
    assert moves(after(STANDARD, "..../.3h../..../.... Ah Ad 0 0")) == ["pass"]


def test_no_pass_at_the_opening_or_in_the_tutorial(variant: Variant) -> None:
    assert len(moves(after(variant, ""))) == 32
    assert "pass" not in moves(after(variant, ""))
    assert ("pass" in moves(after(variant, "", "4h@b2"))) == (not variant.tutorial)


@pytest.mark.parametrize(
    ("field", "winner"),
    [
        ("..../..../.3h../....", 0),  # 8 open cells against 7
        (".3h../..../..../....", 1),
        ("..../.4s+4d../.3h../....", 1),  # 7 against 7 open, 2 cards against 1
        ("..../.4s*+4d../.3h../....", 1),
        ("..../.3h../.4s*+4d../....", 0),
        ("..../.4s+4d../.3h2h./....", 0),  # open cells come first
        ("..../.4s../.3h../....", 0),  # all equal: the opener
        ("..../.4s+4d../.3h+3c../....", 0),
    ],
)
@pytest.mark.parametrize("variant", [STANDARD, STANDARD_TORUS], ids=lambda v: v.name)
@pytest.mark.parametrize("player", [0, 1])
def test_scoring(variant: Variant, field: str, winner: int, player: int) -> None:
    state = after(variant, f"{field} Ah Ad {player} 1")
    assert state.returns() == [0.0, 0.0]
    state.apply("pass")
    assert state.is_terminal
    assert state.returns() == ([1.0, -1.0] if winner == 0 else [-1.0, 1.0])


@pytest.mark.parametrize("variant", [TUTORIAL, TUTORIAL_TORUS], ids=lambda v: v.name)
def test_who_is_stuck_loses_the_tutorial_game(variant: Variant) -> None:
    # The 4h leaves player 1 with an ace, which goes nowhere beside red cards.
    state = after(variant, "..../.3h../..../.... 4h Ad 0 0", "4h@b2")
    assert state.position == "..../.3h../.4h../.... - Ad 1 0"
    assert state.is_terminal
    assert state.returns() == [1.0, -1.0]


def test_a_tutorial_position_may_be_lost_already() -> None:
    for variant in VARIANTS:
        for player, returns in ((0, [-1.0, 1.0]), (1, [1.0, -1.0])):
            state = after(variant, f"3h.../..../..../.... - Ad {player} 0")
            assert state.is_terminal == variant.tutorial
            assert state.returns() == (returns if variant.tutorial else [0.0, 0.0])
            assert moves(state) == ([] if variant.tutorial else ["pass"])


def test_illegal_actions_are_refused_with_the_legal_ones() -> None:
    state = after(STANDARD, "..../.3h../..../.... Ah4h Ad 0 0")
    before = state.position
    with pytest.raises(ValueError, match=r"'4h@a1' is not legal in \.\.\.\..*legal: 4h@b2.* pass"):
        state.apply("4h@a1")
    with pytest.raises(ValueError, match="Ad is not a card of player 0, who has the suits h and s"):
        state.apply("Ad@b2")
    with pytest.raises(ValueError, match="'4h b2' is no action of Particles: expected a placement"):
        state.apply("4h b2")
    with pytest.raises(ValueError, match="'7h' is no card"):
        state.apply("-7h")
    with pytest.raises(ValueError, match=r"action 407 is not in 0 \.\. 406"):
        state.action_to_string(407)
    assert state.position == before
    over = after(STANDARD, "..../.3h../..../.... Ah Ad 0 1", "pass")
    with pytest.raises(ValueError, match="406 can't be played: the game is over"):
        over.apply(406)
