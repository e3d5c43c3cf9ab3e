"""The worked example of the published rules: taking a Treasure moves the score by four."""

from tests.treasure.walks import DEFAULT, Pair

BEFORE = [
    *("draw:2", "draw:Q", "draw:8", "draw:4", "draw:J", "draw:$"),
    *("2@e1", "J@e5", "Q@e2", "4@d5", "8@e3", "draw:T", "draw:T", "draw:3"),
    *("$@d4", "draw:A", "draw:J", "draw:2", "A@d5", "T@d2", "2@f5", "T@d3"),
    *("J@g5", "draw:6", "draw:9", "draw:5", "3@e1", "draw:$", "draw:3", "draw:2"),
]
"""A game that leads up to it: Black's Treasure on d4, above Red's 10 on d3."""


def test_a_two_captures_the_treasure_and_turns_the_score() -> None:
    pair = Pair.start(DEFAULT).played(BEFORE)
    pair.check()
    told = pair.state.fields()
    assert (told["board"]["d4"], told["board"]["d3"]) == ("$b", "Tr")
    assert told["points"] == [5, 7]
    assert pair.state.player == 0

    pair.play("2@d4")
    pair.check()
    told = pair.state.fields()
    assert told["board"]["d4"] == "2r"
    assert told["points"] == [6, 4]


def test_a_treasure_covers_nothing() -> None:
    pair = Pair.start(DEFAULT).played([*BEFORE[:-3], "draw:$", "draw:2", "draw:3"])
    plays = set(map(pair.state.action_to_string, pair.state.legal_actions()))
    board = pair.state.fields()["board"]
    assert {text for text in plays if text[:2] == "2@" and text[2:] in board} == {"2@d4"}
    assert any(text[:2] == "$@" for text in plays)
    assert not [text for text in plays if text[:2] == "$@" and text[2:] in board]
