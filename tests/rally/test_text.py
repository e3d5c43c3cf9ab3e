"""Notation, drawings, tensors, and what is said of wrong actions."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pyspiel
import pytest
from open_spiel.python.observation import make_observation

from cardcommons import CHANCE, State, load
from tests.rally.walks import SETS, Pair, random_walks
from tests.twins.rally import GEARS

ACTIONS = ["1st", "2nd", "3rd", "boost", "next", "brake", "bust"]
OUTCOMES = [f"{kind}:{value}" for kind in ("sector", "card") for value in range(1, 11)]


def test_all_actions_and_outcomes_read_back() -> None:
    game = load("rally")
    text = game.text
    assert game.rules.num_actions == len(ACTIONS)
    assert [text.action_to_string(0, action) for action in range(7)] == ACTIONS
    assert [text.string_to_action(0, told) for told in ACTIONS] == [*range(7)]
    assert game.max_chance_outcomes == len(OUTCOMES)
    assert [text.action_to_string(CHANCE, outcome) for outcome in range(20)] == OUTCOMES
    assert [text.string_to_action(CHANCE, told) for told in OUTCOMES] == [*range(20)]


@pytest.mark.parametrize(
    ("player", "action", "why"),
    [
        (0, -1, "action -1 is not in 0 .. 6"),
        (0, 7, "action 7 is not in 0 .. 6"),
        (CHANCE, 20, "outcome 20 is not in 0 .. 19"),
        (CHANCE, -1, "outcome -1 is not in 0 .. 19"),
    ],
)
def test_ids_that_are_no_actions(player: int, action: int, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        load("rally").text.action_to_string(player, action)


@pytest.mark.parametrize("told", ["", "4th", "Boost", "next ", "sector:7", "card:7", "0"])
def test_texts_that_are_no_actions(told: str) -> None:
    why = f"{told!r} is nothing that can happen here in Rally: expected {', '.join(ACTIONS)}"
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        load("rally").text.string_to_action(0, told)


@pytest.mark.parametrize("told", ["", "sector", "sector:0", "card:11", "card:A", "card:07", "1st"])
def test_texts_that_are_no_outcomes(told: str) -> None:
    why = (
        f"{told!r} is nothing that can happen here in Rally: expected sector:1 to sector:10 or "
        "card:1 to card:10"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        load("rally").text.string_to_action(CHANCE, told)


def refused(state: State, action: str | int, legal: str) -> None:
    """Assert that an action is refused with the legal ones, and that nothing changes."""
    before = state.words.copy()
    with pytest.raises(
        ValueError, match=rf"^{action!r} is not legal in stage 1 .*; legal: "
    ) as why:
        state.apply(action)
    assert str(why.value).endswith(f"; legal: {legal}")
    assert np.array_equal(state.words, before)


def test_illegal_actions_are_refused_with_what_is_legal() -> None:
    pair = Pair.start(stages="1-0-16-1")
    refused(pair.state, "card:1", " ".join(OUTCOMES[:3] + OUTCOMES[6:10]))
    refused(pair.state, "sector:4", " ".join(OUTCOMES[:3] + OUTCOMES[6:10]))
    on_sector = pair.played("sector:9")
    for action in ("3rd", "brake", "bust", 5, -1, 99):
        refused(on_sector.state, action, "1st 2nd boost next")
    with pytest.raises(ValueError, match="nothing that can happen here"):
        on_sector.state.apply("card:1")
    drawing = on_sector.played("boost", "2nd").state
    refused(drawing, "card:9", "card:4 card:5 card:6")
    too_far = Pair.start(stages="1-0-0-4").played("sector:1", "2nd", "card:4").state
    refused(too_far, "next", "brake bust")


def test_nothing_is_played_after_the_end() -> None:
    state = Pair.start(stages="1-0-0-0").played("sector:1", "next").state
    with pytest.raises(ValueError, match=r"^4 can't be played: the game is over$"):
        state.apply(4)


def test_positions_are_not_read() -> None:
    with pytest.raises(ValueError, match=r"^Rally has no position strings, so 'x' can't be read$"):
        State.from_string(load("rally"), "x")


BOARD = """\
stage 2 of 2: =[1/9]????
sectors hidden by gear: 1 1 2
1st gear: 11 in the pile; unseen 1x4 2x4 3x4
2nd gear: 10 in the pile; unseen 4x3 5x4 6x4
3rd gear: 13 in the pile; unseen 7x4 8x4 9x3 10x4
Queens 0  Jacks 1  Jokers 1
clock: +1 -5 = -4"""

DRIVE = ["sector:3", "1st", "card:3", "sector:1", "2nd", "card:6"]
"""A bonus and a bust."""


def test_the_board_of_a_known_state() -> None:
    start = Pair.start(stages="2-0-0-2/1-2-3-1").played(*DRIVE)
    state = start.played("sector:4", "next", "sector:9", "boost", "2nd").state
    assert state.game.text.board(state.words) == BOARD
    assert str(state) == f"{state.position}\n{BOARD}"
    assert state.position == (
        "stage 2 hidden 1-1-2 unseen 4443444434 sector 9 total 1 with one card Q0 J1 jokers 1 "
        "clock +1 -5 draw 2nd"
    )


def test_the_board_of_a_rally_that_is_over() -> None:
    state = Pair.start(stages="1-0-0-0").played("sector:1", "next").state
    board = state.game.text.board(state.words).splitlines()
    assert (board[0], board[-1]) == ("stage 1 of 1: =", "the rally is over: podium")
    assert state.position.endswith(" clock +0 -1 podium")


def _svg_lines(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("}text")]


@pytest.mark.parametrize("name", SETS)
def test_drawings_and_fields_tell_everything_that_counts(name: str) -> None:
    told_apart: dict[str, set[str]] = {}
    for pair, action in random_walks(name, 3):
        for state in (pair.state, pair.played(action).state):
            board, told = state.game.text.board(state.words), state.fields()
            assert _svg_lines(state.game.text.svg(state.words)) == board.splitlines()
            assert json.loads(json.dumps(told)) == told
            assert told.pop("position") == state.position
            told_apart.setdefault(state.position, set()).add(json.dumps(told))
            here = f"[{told['total']}/{told['sector']}]" if told["sector"] else ""
            road = board.splitlines()[0].split(": ")[1]
            assert road.strip("=?") == here
            assert road.count("?") == sum(told["hidden_sectors"])
            assert board.endswith(f"the rally is over: {told['result']}") == state.is_terminal
    assert all(len(same) == 1 for same in told_apart.values())
    assert len({fields for same in told_apart.values() for fields in same}) == len(told_apart)


BLOCKS = {
    "hidden_sectors": 3, "piles": 3, "unseen": 10, "queens": 1, "jacks": 1, "jokers": 1,
    "bonuses": 1, "penalties": 1, "stage": 1, "sector": 1, "total": 1, "cards_on_it": 1,
    "drawing": 3, "ended": 3,
}  # fmt: skip


def blocks(pair: Pair) -> dict[str, list[float]]:
    """The observation that the twin's position should give."""
    twin, told = pair.twin, pair.state.fields()
    shown: dict[str, list[float]] = {}
    for block in BLOCKS.keys() - {"drawing", "ended"}:
        shown[block] = told[block] if isinstance(told[block], list) else [told[block]]
    shown["drawing"] = [twin.drawing == gear for gear in GEARS]
    shown["ended"] = [twin.ending == how for how in ("finished", "DSQ", "DNF")]
    return shown


@pytest.mark.parametrize("name", ["default", "five stages", "many Jokers"])
def test_blocks_of_an_observation_tell_the_position(name: str) -> None:
    game = pyspiel.load_game("cardcommons_rally", SETS[name])
    observer = make_observation(game)
    assert {block: array.shape for block, array in observer.dict.items()} == {
        block: (size,) for block, size in BLOCKS.items()
    }
    assert game.observation_tensor_shape() == [sum(BLOCKS.values())]
    state = game.new_initial_state()
    for pair, action in random_walks(name, 1):
        observer.set_from(state, 0)
        assert {block: array.tolist() for block, array in observer.dict.items()} == blocks(pair)
        assert observer.string_from(state, 0) == pair.state.position
        state.apply_action(state.string_to_action(action))
    assert state.is_terminal()


@pytest.mark.parametrize("name", ["default", "one stage", "no Jokers"])
def test_observations_are_equal_when_their_strings_are(name: str) -> None:
    told: set[tuple[str, bytes]] = set()
    observer = make_observation(pyspiel.load_game("cardcommons_rally", SETS[name]))
    for pair, action in random_walks(name, 10):
        for state in (pair.state, pair.played(action).state):
            pair.state.game.views.write(state.words, 0, observer.dict)
            told.add((state.position, observer.tensor.tobytes()))
    assert len({string for string, _ in told}) == len({tensor for _, tensor in told}) == len(told)


def test_the_road_book_tells_every_sector() -> None:
    game = load("rally", stages="1-1-1-2/1-0-0-1", jokers=1)
    told = (
        "sector:5 1st card:3 boost boost sector:2 1st card:2 sector:8 2nd card:4 2nd card:5 brake"
    )
    state, actions = State(game), []
    for action in told.split():
        actions.append(state.string_to_action(action))
        state.apply(action)
    assert game.text.story is not None
    book = game.text.story(State(game).words, actions).splitlines()
    assert [line.split() for line in book] == [
        ["stage", "1"],
        ["5", "1st:3", "Q", "Q", "exact", "+0", "-0"],
        ["2", "1st:2", "bonus", "+1", "-0"],
        ["8", "2nd:4", "2nd:5", "braked", "+1", "-0"],
    ]


def test_the_road_book_names_losses() -> None:
    game = load("rally", stages="1-1-1-0", jokers=1)
    told = "sector:5 2nd card:6 sector:2 1st card:1 next sector:10 1st card:3 next"
    state, actions = State(game), []
    for action in told.split():
        actions.append(state.string_to_action(action))
        state.apply(action)
    assert game.text.story is not None
    book = game.text.story(State(game).words, actions).splitlines()
    assert [line.split() for line in book] == [
        ["stage", "1"],
        ["5", "2nd:6", "bust", "+0", "-1"],
        ["2", "1st:1", "1", "short", "+0", "-2"],
        ["10", "1st:3", "7", "short", "+0", "-9"],
        ["back:", "-9"],
    ]
