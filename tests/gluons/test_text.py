"""Notation, drawings, and what is said of wrong actions."""

import json
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given

from cardcommons import CHANCE, State
from tests.gluons.test_examples import HAND, dealt
from tests.gluons.walks import DEFAULT, Pair, Variant, lying, pairs, quarks
from tests.twins.gluons import ACTIVATION, PAIRS, PLANNING, TERMINAL

NUM_ACTIONS = 241


def test_all_actions_and_outcomes_read_back() -> None:
    text = DEFAULT.game().text
    assert DEFAULT.game().rules.num_actions == NUM_ACTIONS
    notation = [text.action_to_string(0, action) for action in range(NUM_ACTIONS)]
    assert len(set(notation)) == NUM_ACTIONS
    assert [text.string_to_action(1, told) for told in notation] == list(range(NUM_ACTIONS))
    assert (notation[0], notation[13], notation[71]) == ("RG@A12", "RB@A13", "BG@B32")
    assert (notation[72], notation[143], notation[144]) == ("RG?A12", "BG?B32", "pass")
    assert (notation[145], notation[156]) == ("block@A12", "block@B32")
    assert (notation[157], notation[168]) == ("!A12", "!B32")
    assert (notation[169], notation[-1]) == ("!A12+RG", "!B32+BG")
    draws = [text.action_to_string(CHANCE, pair) for pair in range(6)]
    assert draws == [f"draw:{pair}" for pair in PAIRS]
    assert [text.string_to_action(CHANCE, told) for told in draws] == list(range(6))


@pytest.mark.parametrize(
    ("player", "action", "why"),
    [
        (0, -1, "action -1 is not in 0 .. 240"),
        (3, 241, "action 241 is not in 0 .. 240"),
        (CHANCE, 6, "outcome 6 is not in 0 .. 5"),
        (CHANCE, -1, "outcome -1 is not in 0 .. 5"),
    ],
)
def test_ids_that_are_no_actions(player: int, action: int, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        DEFAULT.game().text.action_to_string(player, action)


@pytest.mark.parametrize(
    "told",
    [
        *("", "RG", "RR@A12", "RG@A11", "RG@C12", "RG@A14", "RG!A12", "Pass", "draw:RG"),
        *("block@A1", "block?A12", "!A12+", "!A12+RR"),
    ],
)
def test_texts_that_are_no_actions(told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{told!r} is no action of Gluons: expected")):
        DEFAULT.game().text.string_to_action(0, told)


@pytest.mark.parametrize("told", ["", "draw", "draw:", "draw:RR", "RG", "RG@A12", "pass"])
def test_texts_that_are_no_draws(told: str) -> None:
    why = f"{told!r} is no draw of Gluons: expected draw: and one of RG RB GR GB BR BG"
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        DEFAULT.game().text.string_to_action(CHANCE, told)


def test_illegal_actions_are_refused_with_what_is_legal() -> None:
    state = dealt(["RG", "RB"], hand=1, sides="12-21").state
    before = state.words.copy()
    for told in ("RB@A12", "RG?A12", "RG@A13", "RG@B12", "pass", "!A12", "block@A12"):
        why = rf"^'{re.escape(told)}' is not legal in RGB .*; legal: RG@A12 RG@A21$"
        with pytest.raises(ValueError, match=why):
            state.apply(told)
    with pytest.raises(ValueError, match="no action of Gluons"):
        state.apply("draw:RG")
    assert (state.words == before).all()


def test_impossible_draws_are_refused() -> None:
    state = Pair.start(DEFAULT).played(["draw:RG", "draw:RG"]).state
    with pytest.raises(ValueError, match=r"^'draw:RG' is not legal in .*; legal: draw:RB draw:GR"):
        state.apply("draw:RG")


def test_nothing_is_played_after_the_end() -> None:
    pair = Pair.start(Variant.of(max_rounds=1))
    while not pair.is_over:
        pair.play(pair.state.action_to_string(pair.state.legal_actions()[-1]))
    with pytest.raises(ValueError, match="the game is over"):
        pair.state.apply("pass")


def test_positions_are_not_read() -> None:
    why = "Gluons has no position strings, so 'x' can't be read"
    with pytest.raises(ValueError, match=f"^{why}$"):
        State.from_string(DEFAULT.game(), "x")


BOARD = """\
A                  1:R
           RG/0         [RB/1]
      RG/2                    #/1
 2:G    .                     .     3:B

B                  1:R
           #/2            .
       .                     [GR/0]
 2:G    .                    #/0    3:B

player 0: 0 points, hand RB-GB-BR, deck 7, first player
player 1: 0 points, hand RG-GR-GB-BR, deck 7
player 2: 0 points, hand RB-GR-GB-BR, deck 7
round 1 first 0 tokens - 1 plans"""


def test_the_board_of_a_known_state() -> None:
    pair = dealt([HAND] * 3).played(["block@B32", "block@A31", "block@B12"])
    pair = pair.played(["RG@A12", "RB?A13", "RG@A21", "GR?B31"])
    board = pair.state.game.text.board(pair.state.words)
    assert board.splitlines() == BOARD.splitlines()


def test_a_viewer_sees_the_own_hand_and_gluons_alone() -> None:
    pair = dealt([HAND] * 3).played(["block@B32", "block@A31", "block@B12"])
    state = pair.played(["RG?A12", "RB?A13", "RG?A21"]).state
    board = state.game.text.board
    for viewer in (0, 1, 2):
        told = board(state.words, viewer)
        seen = ["[RG/0]", "[RB/1]", "[RG/2]"]
        assert [spot in told for spot in seen] == [player == viewer for player in range(3)]
        assert told.count("[??/") == 2
        hands = [line.split(", ")[1] for line in told.splitlines() if line[:6] == "player"]
        assert [hand == "hand 4" for hand in hands] == [player != viewer for player in range(3)]
    assert "??" not in board(state.words)


def _line(pair: Pair, player: int, viewer: int | None) -> str:
    """What a viewer is told of a player."""
    twin = pair.twin
    points, deck = twin.points(player), len(twin.decks[player])
    line = f"player {player}: {points} points, hand {_hand(pair, player, viewer)}, deck {deck}"
    if player == twin.first:
        line += ", first player"
    for number, who in twin.tokens.items():
        if who == player and twin.phase in (PLANNING, ACTIVATION):
            locked = " locked" * (number in twin.locked and twin.phase == PLANNING)
            line += f", token {number}{locked}"
    return line


def _hand(pair: Pair, player: int, viewer: int | None) -> str:
    """What a viewer is told of a player's hand."""
    cards = pair.twin.hands[player]
    return ("-".join(cards) or "-") if viewer in (None, player) else str(len(cards))


def _told(spot: str, viewer: int | None) -> str:
    """A gluon as a viewer sees it."""
    hides = spot[0] == "[" and viewer is not None and f"/{viewer}]" not in spot
    return f"[??{spot[3:]}" if hides else spot


@given(pairs())
def test_drawings_show_what_a_viewer_may_see_and_nothing_else(pair: Pair) -> None:
    words, text = pair.state.words, pair.state.game.text
    for viewer in (None, *pair.players):
        board, svg = text.board(words, viewer), text.svg(words, viewer)
        root = ElementTree.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        texts = ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("}text")]
        for player in pair.players:
            line = _line(pair, player, viewer)
            assert line in board.splitlines()
            assert line in texts
        spots = sorted(_told(spot, viewer) for spot in lying(pair.twin).values())
        assert sorted(re.findall(r"\[?[RGB?#]{1,2}/\d\]?", board)) == spots
        assert sorted(told for told in texts if "/" in told) == spots
        assert [*re.findall(r"\d:([RGB])", board.split("player")[0])] == _corners(pair)


def _corners(pair: Pair) -> list[str]:
    """The colours as a drawing shows them, from top to bottom and from left to right."""
    return [colour for nucleon in quarks(pair.twin) for colour in nucleon]


@given(pairs())
def test_positions_and_fields_tell_everything_that_counts(pair: Pair) -> None:
    told, twin = pair.state.fields(), pair.twin
    assert json.loads(json.dumps(told)) == told
    names = {"position", "quarks", "areas", "hands", "decks", "points", "first_player", "tokens"}
    assert set(told) == names
    position = told["position"]
    assert position == pair.state.position
    field = [*quarks(twin), *(f"{area}:{spot}" for area, spot in sorted(lying(twin).items()))]
    cards = [
        f"{player}:{twin.points(player)},{told['hands'][player]},{told['decks'][player]}"
        for player in pair.players
    ]
    assert position.startswith(f"{' '.join([*field, *cards])} round ")
    assert f" first {twin.first} tokens {told['tokens']} " in position
    verbs = {"blocking": "blocks", "planning": "plans", "activation": "activates"}
    last = {CHANCE: "draw", TERMINAL: "over"}.get(twin.player)
    assert position.endswith(last or f" {twin.player} {verbs.get(twin.phase)}")
