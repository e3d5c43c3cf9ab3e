"""Parameters, and the facts of a game that follow from them."""

import re
from random import Random
from typing import Any

import pyspiel
import pytest

from cardcommons import State, load, parse_game
from cardcommons.playout import playouts
from tests.rally.trees import extremes
from tests.rally.walks import POLICIES, SETS, Pair, rally, walk

DEFAULTS = {
    "stages": "2-4-8-4/2-4-6-3/2-3-5-2", "jokers": 2, "utility": "score", "loss_utility": -16.0,
}  # fmt: skip

FORM = (
    "one reads 2-4-8-4: the sectors from 1st, 2nd and 3rd gear, and the Boosts; stages are "
    "separated by '/'"
)
MOST = "the most are 12, 12 and 16 sectors and 4 Boosts"


def test_defaults_are_the_game() -> None:
    game = load("rally")
    assert game.parameters == DEFAULTS
    assert game.spec == "rally"


@pytest.mark.parametrize(
    ("stages", "stage", "why"),
    [
        ("", "", FORM),
        ("2-4-8", "2-4-8", FORM),
        ("2-4-8-4//", "", FORM),
        ("/2-4-8-4", "", FORM),
        ("2-4-8-4 /2-3-5-2", "2-4-8-4 ", FORM),
        ("2-4-8-4,2-3-5-2", "2-4-8-4,2-3-5-2", FORM),
        ("1-1-1-1/1-1--1-1", "1-1--1-1", FORM),
        ("02-4-8-4", "02-4-8-4", FORM),
        ("+2-4-8-4", "+2-4-8-4", FORM),
        ("2-4-٨-4", "2-4-٨-4", FORM),
        ("2-4-8-4\n", "2-4-8-4\n", FORM),
        ("a-b-c-d", "a-b-c-d", FORM),
        ("1-0-0-0/13-0-0-0", "13-0-0-0", MOST),
        ("0-13-0-0", "0-13-0-0", MOST),
        ("0-0-17-0", "0-0-17-0", MOST),
        ("1-0-0-5", "1-0-0-5", MOST),
        ("1-0-0-0/0-0-0-4", "0-0-0-4", None),
    ],
)
def test_wrong_stages_are_named(stages: str, stage: str, why: str | None) -> None:
    told = f"parameter 'stages' has a stage {stage!r}"
    told += f"; {why}" if why else " without a sector"
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        load("rally", stages=stages)


def test_there_may_be_many_stages_but_not_any_number() -> None:
    assert len(load("rally", stages="/".join(["1-0-0-0"] * 1000)).params.layout) == 1000
    with pytest.raises(ValueError, match=r"^parameter 'stages' may have at most 65535 stages$"):
        load("rally", stages="/".join(["1-0-0-0"] * 65536))


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"stages": 5}, "parameter 'stages' must be a string, not 5"),
        ({"stages": None}, "parameter 'stages' must be a string, not None"),
        ({"jokers": -1}, "parameter 'jokers' must be a whole number from 0 to 65535, not -1"),
        ({"jokers": 65536}, "parameter 'jokers' must be a whole number from 0 to 65535, not 65536"),
        ({"jokers": True}, "parameter 'jokers' must be a whole number from 0 to 65535, not True"),
        ({"jokers": 2.0}, "parameter 'jokers' must be a whole number from 0 to 65535, not 2.0"),
        ({"utility": "wins"}, "parameter 'utility' must be one of score, win, not 'wins'"),
        ({"utility": None}, "parameter 'utility' must be one of score, win, not None"),
        (
            {"loss_utility": float("nan")},
            "parameter 'loss_utility' must be a finite number, not nan",
        ),
        (
            {"loss_utility": -float("inf")},
            "parameter 'loss_utility' must be a finite number, not -inf",
        ),
        ({"loss_utility": "-16"}, "parameter 'loss_utility' must be a finite number, not '-16'"),
        ({"loss_utility": False}, "parameter 'loss_utility' must be a finite number, not False"),
        ({"joker": 1}, "rally has no parameter 'joker'; did you mean 'jokers'?"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}"):
        load("rally", **params)


@pytest.mark.parametrize("name", SETS)
def test_specs_read_back(name: str) -> None:
    game = rally(SETS[name])
    assert parse_game(game.spec).parameters == game.parameters == DEFAULTS | SETS[name]


def test_the_most_and_the_least_are_allowed() -> None:
    assert State(load("rally", jokers=65535)).fields()["jokers"] == 65535
    start = State(load("rally", stages="12-12-16-4", jokers=0)).fields()
    assert (start["piles"], start["jokers"], start["queens"]) == ([0, 0, 0], 0, 4)


@pytest.mark.parametrize("name", SETS)
def test_no_rally_is_longer_or_worth_more_than_the_facts_say(name: str) -> None:
    game = rally(SETS[name])
    assert game.has_chance
    assert not game.has_hidden_information
    assert not game.rules.zero_sum
    lengths, returns = [], set()
    for policy in POLICIES:
        pair = Pair.start(**SETS[name])
        players = [now.state.player for now, _ in walk(pair, policy, Random(policy))]
        lengths.append((players.count(0), players.count(-1)))
        returns |= {*pair.state.returns()}
    assert max(decisions for decisions, _ in lengths) <= game.max_decisions
    assert max(draws for _, draws in lengths) <= game.max_chance_nodes
    assert game.max_decisions + game.max_chance_nodes <= game.rules.max_length
    returns |= {each for (each,) in playouts(game, 2000, seed=4).outcomes}
    assert game.rules.min_utility <= min(returns)
    assert max(returns) <= game.rules.max_utility


@pytest.mark.parametrize(
    ("params", "least", "most"),
    [
        ({"stages": "1-0-0-0"}, -3.0, 1.0),
        ({"stages": "1-0-0-1"}, -3.0, 1.0),
        ({"stages": "0-1-0-1", "jokers": 0}, -16.0, 1.0),
        ({"stages": "0-1-0-1", "jokers": 0, "loss_utility": 4.0}, -6.0, 4.0),
        ({"stages": "0-1-0-1", "jokers": 1, "loss_utility": 4.0}, -6.0, 1.0),
        ({"stages": "0-0-1-0"}, -10.0, 1.0),
        ({"stages": "2-0-0-1"}, -6.0, 2.0),
        ({"stages": "1-0-0-1/1-0-0-1"}, -6.0, 2.0),
        ({"stages": "1-1-0-0", "utility": "win"}, 0.0, 1.0),
    ],
    ids=str,
)
def test_bounds_of_the_utility_are_reached(
    params: dict[str, Any], least: float, most: float
) -> None:
    game = load("rally", **params)
    assert (game.rules.min_utility, game.rules.max_utility) == (least, most)
    assert extremes(State(game), {}) == (least, most)


@pytest.mark.parametrize(
    ("params", "least", "most"),
    [
        ({}, -16.0, 16.0),
        ({"loss_utility": -3.0}, -15.0, 16.0),
        ({"loss_utility": 20.0}, -15.0, 20.0),
        ({"utility": "win", "loss_utility": 20.0}, 0.0, 1.0),
        ({"stages": "5-0-0-0", "jokers": 5}, -14.0, 5.0),
        ({"stages": "0-1-1-0", "jokers": 2}, -16.0, 2.0),
    ],
)
def test_bounds_of_larger_rallies(params: dict[str, Any], least: float, most: float) -> None:
    rules = load("rally", **params).rules
    assert (rules.min_utility, rules.max_utility) == (least, most)


def test_lengths_follow_from_the_stages() -> None:
    game = load("rally")
    assert (game.max_decisions, game.max_chance_nodes) == (3 * 40 + 4 + 3 + 2, 3 * 40)
    assert game.max_chance_outcomes == game.rules.num_actions + 13 == 20
    assert load("rally", stages="1-0-0-3").max_decisions == 43


def test_a_slash_may_end_the_list() -> None:
    """OpenSpiel's parameter strings need it, to tell one stage from a number."""
    assert (
        load("rally", stages="1-1-0-1/").params.layout
        == load("rally", stages="1-1-0-1").params.layout
    )
    game = pyspiel.load_game("cardcommons_rally(stages=1-1-0-1/)")
    assert pyspiel.load_game(str(game)).get_parameters() == game.get_parameters()
