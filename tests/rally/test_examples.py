"""Corners of the rules, one short rally each."""

from typing import Any

import pytest

from cardcommons import load
from tests.rally.walks import Pair

DRIVES: dict[str, tuple[dict[str, Any], list[str], tuple[str, int, int, float]]] = {
    "a lone Queen on a 1 gives a bonus": (
        {"stages": "1-0-0-1"},
        ["sector:1", "boost"],
        ("win", 1, 0, 1.0),
    ),
    "a lone card gives a bonus, several give none": (
        {"stages": "2-0-0-2"},
        ["sector:2", "1st", "card:2", "sector:2", "boost", "boost"],
        ("win", 1, 0, 1.0),
    ),
    "braking takes as many Jacks as the total is ahead, all of them here": (
        {"stages": "1-0-0-3"},
        ["sector:1", "2nd", "card:4", "brake"],
        ("podium", 0, 0, 0.0),
    ),
    "a bust by itself": (
        {"stages": "1-0-0-2"},
        ["sector:1", "2nd", "card:4"],
        ("podium", 0, 1, -1.0),
    ),
    "a bust without a Joker is a DNF, even with a score of 1": (
        {"stages": "3-1-0-1", "jokers": 0, "utility": "win"},
        ["sector:2", "1st", "card:2", "sector:3", "1st", "card:3", "sector:1", "2nd", "card:4"],
        ("DNF", 2, 1, 0.0),
    ),
    "the same with a Joker goes on, and wins": (
        {"stages": "3-0-0-1", "jokers": 1, "utility": "win"},
        ["sector:2", "1st", "card:2", "sector:3", "1st", "card:3", "sector:1", "2nd", "card:4"],
        ("win", 2, 1, 1.0),
    ),
    "a bust that is the 16th penalty and has no Joker is a DSQ": (
        {"stages": "1-1-1-0", "jokers": 0, "loss_utility": -9.5},
        ["sector:10", "next", "sector:5", "next", "sector:1", "2nd", "card:4"],
        ("DSQ", 0, 16, -9.5),
    ),
    "penalties are counted up to 16, in the last sector too": (
        {"stages": "0-0-2-0", "loss_utility": 0.25},
        ["sector:9", "next", "sector:10", "next"],
        ("DSQ", 0, 16, 0.25),
    ),
    "a disqualification ends the rally at once": (
        {"stages": "0-0-4-0/1-0-0-1", "utility": "win"},
        ["sector:9", "next", "sector:7", "next"],
        ("DSQ", 0, 16, 0.0),
    ),
    "15 penalties are a finish": (
        {"stages": "0-1-1-0"},
        ["sector:9", "next", "sector:6", "next"],
        ("back", 0, 15, -15.0),
    ),
    "next by itself after the last Queen": (
        {"stages": "12-12-15-1"},
        [
            *("sector:5", "3rd", "card:10", "sector:5", "boost"),
            *("sector:4", "sector:4"),
        ],
        ("", 0, 13, 0.0),
    ),
    "next by itself after the last card": (
        {"stages": "11-12-16-0"},
        ["sector:10", "1st", "card:3", "sector:7"],
        ("", 0, 14, 0.0),
    ),
    "a score of -2 is the podium's last": (
        {"stages": "1-0-0-0"},
        ["sector:2", "next"],
        ("podium", 0, 2, -2.0),
    ),
    "a score of -3 is in the middle": (
        {"stages": "1-0-0-0"},
        ["sector:3", "next"],
        ("middle", 0, 3, -3.0),
    ),
    "a score of -6 is in the middle": (
        {"stages": "0-1-0-0", "utility": "win"},
        ["sector:6", "next"],
        ("middle", 0, 6, 0.0),
    ),
    "a score of -7 is in the back": (
        {"stages": "0-0-1-0"},
        ["sector:7", "next"],
        ("back", 0, 7, -7.0),
    ),
}


@pytest.mark.parametrize("name", DRIVES)
def test_a_drive(name: str) -> None:
    params, actions, (result, bonuses, penalties, utility) = DRIVES[name]
    pair = Pair.start(**params)
    for action in actions:
        pair.check()
        pair.play(action)
    pair.check()
    told = pair.state.fields()
    assert (told["result"], told["bonuses"], told["penalties"]) == (result, bonuses, penalties)
    assert pair.state.returns() == [utility]
    assert pair.is_over == (result != "")


def test_a_brake_that_can_be_paid_exactly_waits_for_a_choice() -> None:
    reached = {
        boosts: Pair.start(stages=f"2-0-0-{boosts}").played("sector:1", "2nd", "card:5")
        for boosts in (3, 4)
    }
    assert not reached[3].twin.legal()
    legal = reached[4].state.legal_actions()
    assert [reached[4].state.action_to_string(action) for action in legal] == ["brake", "bust"]
    assert reached[4].played("brake").state.fields()["jacks"] == 0
    bust = reached[4].played("bust").state.fields()
    assert (bust["jacks"], bust["penalties"], bust["jokers"]) == (4, 1, 1)


def test_a_new_stage_begins_afresh_but_for_the_clock_and_the_damage() -> None:
    pair = Pair.start(stages="2-0-0-2/1-2-3-1", jokers=4)
    pair = pair.played("sector:3", "1st", "card:3", "sector:1", "2nd", "card:6")
    pair.check()
    assert pair.state.fields() | {"position": ""} == {
        "position": "", "stage": 2, "hidden_sectors": [1, 2, 3], "unseen": [4] * 10,
        "piles": [11, 10, 13], "sector": 0, "total": 0, "cards_on_it": 0, "drawing": "",
        "queens": 1, "jacks": 1, "jokers": 3, "bonuses": 1, "penalties": 1, "result": "",
    }  # fmt: skip


def test_a_seventeenth_bonus_adds_nothing() -> None:
    pair = Pair.start(stages="/".join(["1-0-0-1"] * 18))
    counted: list[Any] = []
    for _ in range(18):
        pair = pair.played("sector:1", "boost")
        counted.append(pair.state.fields()["bonuses"])
    pair.check()
    assert counted == [*range(1, 17), 16, 16]
    assert pair.state.returns() == [16.0]
    assert load("rally", stages="/".join(["1-0-0-1"] * 18)).rules.max_utility == 16.0
