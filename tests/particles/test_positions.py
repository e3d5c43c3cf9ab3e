"""Which position strings are accepted, and what the refusals of the others say."""

import re

import pytest

from cardcommons import State, load
from tests.particles.walks import STANDARD, STANDARD_TORUS, TUTORIAL, VARIANTS, Variant

START = "..../..../..../.... Ah2h3h4h5h6hAs2s3s4s5s6s Ad2d3d4d5d6dAc2c3c4c5c6c 0 0"
ORDER = "in the order of Ah2h3h4h5h6hAs2s3s4s5s6s"

REFUSED = [
    (" ", "should be four rows, two hands"),
    (f"{START} ", "should be four rows, two hands"),
    (f" {START}", "should be four rows, two hands"),
    ("3h.../..../..../....  Ad 0 0", "must list cards such as Ah2h, or be '-'"),
    ("3h.../..../..../....   0 0", "must list cards such as Ah2h, or be '-'"),
    ("3h.../..../..../.... - - 0", "should be four rows, two hands"),
    ("3h.../..../..../....  - - 0 0", "should be four rows, two hands"),
    (f"{START} then: discard", "only positions between turns are accepted"),
    # the field
    ("3h.../..../.... - - 0 0", "has 3 rows, not 4 separated by '/'"),
    ("3h.../..../..../..../.... - - 0 0", "has 5 rows"),
    ("3h.../..../..../..... - - 0 0", "row 1 ('.....') has 5 cells, not 4"),
    ("3h../..../..../.... - - 0 0", "row 4 ('3h..') has 3 cells, not 4"),
    ("...3h/..../..?./.... - - 0 0", "row 2 ('..?.') has no cell at '?.'"),
    ("3h...|..../..../.... - - 0 0", "has 3 rows"),
    ("1h.../..../..../.... - - 0 0", "has no cell at '1h...'"),
    ("7h.../..../..../.... - - 0 0", "a cell is '.', a card such as 3h"),
    ("3H.../..../..../.... - - 0 0", "has no cell at '3H...'"),
    ("3h**.../..../..../.... - - 0 0", "has no cell at '*...'"),
    ("3h+3s+3c.../..../..../.... - - 0 0", "has no cell at '+3c...'"),
    # stacks
    ("3h+3d.../..../..../.... - - 0 0", "the stack 3h+3d must be two cards of one level and"),
    ("3h+4s.../..../..../.... - - 0 0", "the stack 3h+4s must be two cards of one level and"),
    ("3h*+3h.../..../..../.... - - 0 0", "the stack 3h*+3h must be two cards"),
    ("3h+3s*.../..../..../.... - - 0 0", "the covered card of 3h+3s* can't be face down"),
    ("3h*+3s*.../..../..../.... - - 0 0", "the covered card of 3h*+3s* can't be face down"),
    # cards
    ("3h.../..../..../.... 3h - 0 0", "3h appears more than once"),
    ("3h..3h/..../..../.... - - 0 0", "3h appears more than once"),
    ("3h+3s.../3s.../..../.... - - 0 0", "3s appears more than once"),
    ("3h.../3d.../..../.... 3h 3d 0 0", "3d, 3h appear more than once"),
    # hands
    ("3h.../..../..../.... Ad - 0 0", "Ad can't be in the hand of player 0"),
    ("3h.../..../..../.... - Ah 0 0", "Ah can't be in the hand of player 1"),
    ("3h.../..../..../.... 2hAh - 0 0", f"player 0 must list each card once, {ORDER}"),
    ("3h.../..../..../.... AsAh - 0 0", f"player 0 must list each card once, {ORDER}"),
    ("3h.../..../..../.... AhAh - 0 0", f"player 0 must list each card once, {ORDER}"),
    ("3h.../..../..../.... - 2dAd 0 0", "player 1 must list each card once, in the order of Ad"),
    ("3h.../..../..../.... Ah2 - 0 0", "the hand 'Ah2' of player 0 must list cards such as Ah2h"),
    ("3h.../..../..../.... Ah* - 0 0", "the hand 'Ah*' of player 0 must list cards"),
    # turn and passes
    ("3h.../..../..../.... - - 2 0", "the player to move is '2', not 0 or 1"),
    ("3h.../..../..../.... - - -4 0", "the player to move is '-4', not 0 or 1"),
    ("3h.../..../..../.... - - 0 2", "the number of passes is '2', not 0 or 1"),
    ("3h.../..../..../.... - - 0 00", "the number of passes is '00', not 0 or 1"),
    ("3h.../..../..../.... - - ٠ 0", "the player to move is '٠', not 0 or 1"),
    ("3h.../..../..../.... - - 0 0\n", "the number of passes is '0\\n', not 0 or 1"),
    # an empty field
    (START.replace(" 0 0", " 1 0"), "with an empty field it is player 0's turn, with 0 passes"),
    ("..../..../..../.... Ah6hAs6s Ad 0 0", "player 0 needs a card of level 2 to 5 to open with"),
    ("..../..../..../.... - Ad 0 0", "player 0 needs a card of level 2 to 5 to open with"),
]


@pytest.mark.parametrize(("position", "why"), REFUSED, ids=range(len(REFUSED)))
def test_a_position_that_cannot_be_is_refused(variant: Variant, position: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"position refused: .*{re.escape(why)}"):
        State.from_string(variant.game(), position)
    with pytest.raises(ValueError, match=f"position refused: .*{re.escape(why)}"):
        variant.game(position)
    with pytest.raises(ValueError, match="position refused: "):
        variant.twin(position)


def test_a_pass_before_the_opening_is_refused() -> None:
    position = START[:-1] + "1"
    with pytest.raises(ValueError, match="with an empty field it is player 0's turn"):
        STANDARD.game(position)
    with pytest.raises(ValueError, match="no passing in the tutorial game, so passes must be 0"):
        TUTORIAL.game(position)


def test_a_pass_in_the_tutorial_is_refused() -> None:
    position = "3h.../..../..../.... - Ad 0 1"
    assert State.from_string(STANDARD.game(), position).position == position
    with pytest.raises(ValueError, match="no passing in the tutorial game, so passes must be 0"):
        State.from_string(TUTORIAL.game(), position)


ODD = [
    "3h.../..../..../.... - - 0 0",
    "3h.../..../..../...4c Ah2h3s Ad 1 0",  # particles far apart, few cards
    "5h*.../.5d*+5c../..../...6s* Ah Ad 1 0",  # face down wherever
    "3h+3c3d+3s../..../..../.... 6s - 0 0",
    "Ah2h3h4h/5h6hAs2s/3s4s5s6s/AdAc2d2c - - 1 0",  # a full field
    "..../..../..../.... 2h - 0 0",  # one card to open with
]


@pytest.mark.parametrize("position", ODD)
def test_odd_positions_that_break_no_rule_are_accepted(variant: Variant, position: str) -> None:
    state = State.from_string(variant.game(), position)
    assert state.position == position
    assert state.legal_actions() == State(variant.game(position)).legal_actions()
    assert sorted(map(state.action_to_string, state.legal_actions())) == (
        variant.twin(position).legal()
    )


def test_the_start_is_the_start() -> None:
    for variant in VARIANTS:
        assert State(variant.game()).position == START
        assert (variant.game().start == variant.game(START).start).all()


def test_the_first_line_tells_what_is_pending() -> None:
    state = State(STANDARD.game("..../.5d../..../.... 5s6s Ad 0 0"))
    told = {
        "5sxb3": "..../.5s+5d../..../.... 6s Ad 0 0 then: discard",
        "-6s": "..../.5s+5d../..../.... - Ad 0 0 then: polarize b3",
        "polarize:self": "..../.5s*+5d../..../.... - Ad 1 0",
        "pass": "..../.5s*+5d../..../.... - Ad 0 1",
    }
    for action, line in told.items():
        state.apply(action)
        assert str(state).splitlines()[0] == line
        if " then: " in line:
            with pytest.raises(ValueError, match="it tells the middle of a turn"):
                State.from_string(STANDARD.game(), line)
    state.apply("pass")
    over = str(state).splitlines()[0]
    assert over == "..../.5s*+5d../..../.... - Ad 1 2"
    with pytest.raises(ValueError, match="the number of passes is '2'"):
        State.from_string(STANDARD.game(), over)


def test_a_position_is_a_parameter_of_the_game() -> None:
    position = "3h.../..../..../.... 4h Ad 0 1"
    game = load("particles", torus=True, position=position)
    assert State(game).position == position
    assert game.parameters == {"tutorial": False, "torus": True, "position": position}
    assert game.spec == f"particles:torus=True,position={position}"
    assert STANDARD_TORUS.game().spec == "particles:torus=True"
    assert not game.start.flags.writeable
