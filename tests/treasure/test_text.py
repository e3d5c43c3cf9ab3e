"""Notation, drawings, and what is said of wrong actions."""

import json
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given

from cardcommons import CHANCE, State
from tests.treasure.walks import DEFAULT, Pair, Variant, pairs

NUM_ACTIONS, NUM_CELLS = 644, 45


def _after(*actions: str) -> State:
    return Pair.start(DEFAULT).played(actions).state


def test_all_actions_and_outcomes_read_back() -> None:
    text = DEFAULT.game().text
    assert DEFAULT.game().rules.num_actions == NUM_ACTIONS
    notation = [text.action_to_string(0, action) for action in range(NUM_ACTIONS)]
    assert len(set(notation)) == NUM_ACTIONS
    assert [text.string_to_action(1, told) for told in notation] == list(range(NUM_ACTIONS))
    assert notation[0] == "$@a1"
    assert notation[NUM_CELLS + 4] == "2@e1"
    assert notation[-15:-12] == ["A@i5", "-$", "-2"]
    draws = [text.action_to_string(CHANCE, rank) for rank in range(14)]
    assert draws == [f"draw:{rank}" for rank in "$23456789TJQKA"]
    assert [text.string_to_action(CHANCE, told) for told in draws] == list(range(14))


@pytest.mark.parametrize(
    ("player", "action", "why"),
    [
        (0, -1, "action -1 is not in 0 .. 643"),
        (1, 644, "action 644 is not in 0 .. 643"),
        (CHANCE, 14, "outcome 14 is not in 0 .. 13"),
        (CHANCE, -1, "outcome -1 is not in 0 .. 13"),
    ],
)
def test_ids_that_are_no_actions(player: int, action: int, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        DEFAULT.game().text.action_to_string(player, action)


@pytest.mark.parametrize("told", ["", "7", "7@", "7@j1", "7@e6", "10@e1", "-1", "7e1", "draw:7"])
def test_texts_that_are_no_actions(told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{told!r} is no action of Treasure: expected")):
        DEFAULT.game().text.string_to_action(0, told)


@pytest.mark.parametrize("told", ["", "draw", "draw:1", "7@e1", "-7", "draw:10"])
def test_texts_that_are_no_draws(told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{told!r} is no draw of Treasure: expected")):
        DEFAULT.game().text.string_to_action(CHANCE, told)


def test_illegal_actions_are_refused_with_what_is_legal() -> None:
    state = _after(*["draw:2", "draw:3", "draw:$"] * 2)
    legal = "$@e1 2@e1 3@e1 -$ -2 -3"
    before = state.words.copy()
    for told in ("7@e1", "2@e2", "3@d1", "-7"):
        with pytest.raises(ValueError, match=rf"^'{told}' is not legal in .*; legal: .*") as caught:
            state.apply(told)
        assert str(caught.value).endswith(f"; legal: {legal}")
    with pytest.raises(ValueError, match="no action of Treasure"):
        state.apply("draw:2")
    assert (state.words == before).all()


def test_impossible_draws_are_refused() -> None:
    state = _after("draw:$")
    with pytest.raises(ValueError, match=r"^'draw:\$' is not legal in .*; legal: draw:2 draw:3"):
        state.apply("draw:$")


def test_nothing_is_played_after_the_end() -> None:
    pair = Pair.start(DEFAULT)
    while not pair.is_over:
        pair.play(pair.state.action_to_string(pair.state.legal_actions()[-1]))
    with pytest.raises(ValueError, match="the game is over"):
        pair.state.apply("-7")


def test_positions_are_not_read() -> None:
    state = _after()
    with pytest.raises(ValueError, match="Treasure has no position strings, so 'x' can't be read"):
        State.from_string(state.game, "x")


BOARD = """\
   +------+------+------+------+
 3 |      |  2b  |  9b  |      |  home of Black (player 1)
   +------+------+------+------+
 2 |      | (7r) |  Jb  |      |
   +------+------+------+------+
 1 |      |      |  5r  |      |  home of Red (player 0)
   +------+------+------+------+
      c      d      e      f
Black: 3 points, hand -
Red: 2 points, hand $2K"""


def test_the_board_of_a_known_state() -> None:
    pair = Pair.start(Variant.of(rows=3)).played(["draw:5", "draw:6", "draw:7"])
    pair = pair.played(["draw:9", "draw:2", "draw:J", "5@e1", "9@e3", "6@e2", "2@d3", "7@d2"])
    state = pair.played(["draw:K", "draw:2", "draw:$", "J@e2"]).state
    board = state.game.text.board(state.words)
    assert [line.rstrip() for line in board.splitlines()] == BOARD.splitlines()
    assert str(state) == f"{state.position}\n{board}"
    assert state.position == (
        "...2b9b..../...7rJb..../....5r.... red:$2K black:- "
        "decks: 233445678899TTJJQQKAA $23344556677889TTJQQKKAA draw"
    )


def test_a_viewer_sees_the_own_hand_alone() -> None:
    state = _after("draw:2", "draw:3", "draw:3", "draw:9", "draw:9", "draw:K", "-3")
    board = state.game.text.board
    assert board(state.words).splitlines()[-2:] == [
        "Black: 0 points, hand 99K",
        "Red: 0 points, hand 23",
    ]
    assert board(state.words, 0).splitlines()[-2:] == [
        "Black: 0 points, hand 3 hidden",
        "Red: 0 points, hand 23",
    ]
    assert board(state.words, 1).splitlines()[-2:] == [
        "Black: 0 points, hand 99K",
        "Red: 0 points, hand 2 hidden",
    ]


def _told(pair: Pair, player: int) -> str:
    return "".join(pair.twin.hands[player]) or "-"


@given(pairs())
def test_drawings_hide_the_other_hand_and_mark_what_is_cut_off(pair: Pair) -> None:
    words, text = pair.state.words, pair.state.game.text
    for viewer in (None, 0, 1):
        board, svg = text.board(words, viewer), text.svg(words, viewer)
        root = ElementTree.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        lines = ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("}text")]
        for player in (0, 1):
            name, size = ("Red", "Black")[player], len(pair.twin.hands[player])
            told = _told(pair, player) if viewer in (None, player) else f"{size} hidden"
            line = f"{name}: {pair.twin.points(player)} points, hand {told}"
            assert line in board.splitlines()
            assert line in lines
        loose = pair.twin.unconnected(0) | pair.twin.unconnected(1)
        assert board.count("(") - board.count("(player") == len(loose)
        assert svg.count("stroke-dasharray") == len(loose)
        for cell in loose:
            top = pair.twin.piles[cell][-1]
            assert f"({top.rank}{'rb'[top.owner]})" in board


@given(pairs())
def test_positions_and_fields_tell_everything_that_counts(pair: Pair) -> None:
    told = pair.state.fields()
    assert json.loads(json.dumps(told)) == told
    assert set(told) == {"position", "board", "hands", "points"}
    board, *rest = told["position"].split()
    rows = board.split("/")
    assert len(rows) == pair.twin.parameters.rows
    assert rest[0] == f"red:{_told(pair, 0)}"
    assert rest[1] == f"black:{_told(pair, 1)}"
    assert rest[-1] == {CHANCE: "draw", -4: "over"}.get(pair.state.player, str(pair.state.player))
    assert len(board) - board.count(".") - board.count("/") == 2 * len(told["board"])
