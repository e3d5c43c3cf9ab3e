"""Parameters, and the facts of a game that follow from them."""

import re
from typing import Any

import pyspiel
import pytest

import cardcommons.openspiel  # noqa: F401  registers the games
from cardcommons import State, load, parse_game
from tests.gluons.walks import DEFAULT, HIDING, TINY, VARIANTS, Variant

BOUNDS = {"copies": (1, 2), "hand": (1, 5), "max_rounds": (0, 15), "players": (2, 4)}
DEFAULTS = {
    "players": 2, "face_up": False, "reemission": False, "copies": 2, "hand": 5,
    "utility": "win", "max_rounds": 0, "pairs": "", "sides": "",
}  # fmt: skip


def test_defaults_are_the_game_for_two() -> None:
    game = load("gluons")
    assert game.parameters == DEFAULTS
    assert game.spec == "gluons"
    assert (game.params.deck, game.params.nucleons, game.params.blockers) == (12, 1, 0)


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_are_allowed_and_nothing_beyond(name: str) -> None:
    least, most = BOUNDS[name]
    for value in range(least, most + 1):
        assert load("gluons", **{name: value}).parameters == DEFAULTS | {name: value}
    wrong: tuple[Any, ...] = (least - 1, most + 1, float(least), str(least), None, True)
    for value in wrong:
        why = f"parameter {name!r} must be a whole number from {least} to {most}, not {value!r}"
        with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
            load("gluons", **{name: value})


LISTED = {
    "pairs": "RG, RB, GR, GB, BR, BG",
    "sides": "12, 13, 21, 23, 31, 32",
}


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"face_up": 1}, "parameter 'face_up' must be True or False, not 1"),
        ({"reemission": "yes"}, "parameter 'reemission' must be True or False, not 'yes'"),
        ({"utility": "margin"}, "parameter 'utility' must be one of win, points, not 'margin'"),
        ({"utility": None}, "parameter 'utility' must be one of win, points, not None"),
        ({"pairs": 12}, "parameter 'pairs' must be a string, not 12"),
        ({"sides": 12}, "parameter 'sides' must be a string, not 12"),
        (
            {"pairs": "RG-RR"},
            f"parameter 'pairs' lists 'RR'; expected some of {LISTED['pairs']}, joined by '-', "
            "not 'RG-RR'",
        ),
        (
            {"pairs": "RG,GR"},
            f"parameter 'pairs' lists 'RG,GR'; expected some of {LISTED['pairs']}, joined by '-', "
            "not 'RG,GR'",
        ),
        (
            {"sides": "12-14"},
            f"parameter 'sides' lists '14'; expected some of {LISTED['sides']}, joined by '-', "
            "not '12-14'",
        ),
        (
            {"sides": "12-21-"},
            f"parameter 'sides' lists ''; expected some of {LISTED['sides']}, joined by '-', "
            "not '12-21-'",
        ),
        (
            {"sides": "12//"},
            f"parameter 'sides' lists '12/'; expected some of {LISTED['sides']}, joined by '-', "
            "not '12//'",
        ),
        (
            {"sides": "/"},
            f"parameter 'sides' lists ''; expected some of {LISTED['sides']}, joined by '-', "
            "not '/'",
        ),
        ({"pairs": "RG-GR-RG"}, "parameter 'pairs' lists something twice: 'RG-GR-RG'"),
        ({"sides": "12-21-12"}, "parameter 'sides' lists something twice: '12-21-12'"),
        (
            {"pairs": "RG-GR"},
            "parameters 'pairs' and 'copies' make decks of 4 cards; with hand=5 and max_rounds=0 "
            "at least 6 are needed",
        ),
        (
            {"copies": 1, "pairs": "RG-GR", "hand": 2, "max_rounds": 2},
            "parameters 'pairs' and 'copies' make decks of 2 cards; with hand=2 and max_rounds=2 "
            "at least 3 are needed",
        ),
        (
            {"copies": 1, "pairs": "RG", "hand": 2, "max_rounds": 1},
            "parameters 'pairs' and 'copies' make decks of 1 cards; with hand=2 and max_rounds=1 "
            "at least 2 are needed",
        ),
        (
            {"sides": "12-13-21-23-31"},
            "parameter 'sides' leaves 5 areas; 2 players with hand=5 need 6",
        ),
        (
            {"players": 3, "hand": 2, "sides": "12-13-21-23"},
            "parameter 'sides' leaves 8 areas; 3 players with hand=2 need 9",
        ),
        (
            {"players": 4, "hand": 1, "sides": "12"},
            "parameter 'sides' leaves 2 areas; 4 players with hand=1 need 4",
        ),
        ({"player": 3}, "gluons has no parameter 'player'; did you mean 'players'?"),
        ({"decks": 2}, "gluons has no parameter 'decks'"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}"):
        load("gluons", **params)


@pytest.mark.parametrize(
    "params",
    [
        {"copies": 1, "hand": 5, "max_rounds": 2},
        {"copies": 1, "hand": 2, "max_rounds": 1, "pairs": "RG-GR"},
        {"players": 3, "hand": 2, "sides": "12-13-21-23-31"},
        {"players": 3, "hand": 1, "sides": "12-13-21"},
        {"players": 4, "hand": 2, "sides": "12-13-21-23"},
        {"players": 4, "hand": 1, "sides": "12-13"},
        {"players": 2, "hand": 1, "sides": "12-13"},
    ],
)
def test_what_just_suffices_is_allowed(params: dict[str, Any]) -> None:
    assert load("gluons", **params).parameters == DEFAULTS | params


def test_specs_read_back() -> None:
    for variant in (*VARIANTS, TINY, HIDING):
        game = variant.game()
        assert parse_game(game.spec).parameters == game.parameters
    assert Variant.of(hand=1, pairs="RG-GR").game().spec == "gluons:hand=1,pairs=RG-GR"
    with pytest.raises(ValueError, match="'hand' of gluons must be a whole number, not 'few'"):
        parse_game("gluons:hand=few")


def test_a_list_of_sides_may_end_in_a_slash() -> None:
    """For OpenSpiel's strings of parameters, where 12-21 is a number."""
    game = Variant.of(hand=1, sides="12-21/").game()
    assert game.params.listed_sides == ("12", "21")
    assert (game.start == Variant.of(hand=1, sides="12-21").game().start).all()
    spoken = pyspiel.load_game("cardcommons_gluons(hand=1,sides=12-21/)")
    assert spoken.native_game.parameters == game.parameters
    assert pyspiel.load_game(str(spoken)).native_game.parameters == game.parameters
    one = Variant.of(players=2, hand=1, pairs="RG-GR/", sides="12-21").game()
    assert one.params.listed_pairs == ("RG", "GR")


@pytest.mark.parametrize(
    ("params", "decisions", "draws", "rounds", "played"),
    [
        ({}, 64, 24, 8, 12),
        ({"players": 3}, 120, 36, 8, 12),
        ({"players": 4}, 128, 48, 8, 12),
        ({"copies": 1}, 28, 12, 2, 6),
        ({"max_rounds": 2}, 2 * 2 * 6 + 4, 14, 2, 6),
        ({"max_rounds": 9}, 64, 24, 8, 12),
        ({"copies": 1, "hand": 1}, 36, 12, 6, 6),
        (dict(TINY.params), 6, 2, 1, 1),
        (dict(HIDING.params), 10, 4, 1, 2),
        ({"players": 3, "hand": 3, "max_rounds": 1}, 24, 9, 1, 3),
    ],
)
def test_facts_follow_from_the_parameters(
    params: dict[str, Any], decisions: int, draws: int, rounds: int, played: int
) -> None:
    game = load("gluons", **params)
    assert (game.max_decisions, game.max_chance_nodes) == (decisions, draws)
    assert (game.params.most_rounds, game.params.most_played) == (rounds, played)
    assert game.rules.max_length == decisions + draws
    assert (game.rules.num_actions, game.rules.max_legal, game.max_chance_outcomes) == (241, 122, 6)
    assert game.rules.num_players == params.get("players", 2)
    assert game.has_chance
    assert game.has_hidden_information
    assert game.rules.zero_sum


@pytest.mark.parametrize("players", [2, 3, 4])
def test_bounds_of_the_utility(players: int) -> None:
    win = load("gluons", players=players).rules
    assert (win.min_utility, win.max_utility) == (-1 / (players - 1), 1.0)
    points = load("gluons", players=players, hand=2, max_rounds=1, utility="points").rules
    assert points.max_utility == pytest.approx(2 * (1 - 1 / players))
    assert points.min_utility == pytest.approx(-2 * (1 - 1 / players))


def _extremes(state: State, known: dict[int, tuple[float, float]]) -> tuple[float, float]:
    """The lowest and the highest return of player 0 that any line from here ends with."""
    key = state.state_key()
    if key not in known:
        if state.is_terminal:
            return (state.returns()[0],) * 2
        found = []
        for action in state.legal_actions():
            child = state.copy()
            child.apply(action)
            found.append(_extremes(child, known))
        known[key] = (min(low for low, _ in found), max(high for _, high in found))
    return known[key]


def test_returns_of_whole_trees_lie_within_the_bounds_and_reach_the_highest() -> None:
    tiny = Variant.of(**dict(TINY.params), utility="points").game()
    assert _extremes(State(tiny), {}) == (-0.5, 0.5) == (tiny.rules.min_utility, 0.5)
    params = {"hand": 2, "max_rounds": 1, "pairs": "RG", "sides": "12-21-31-32"}
    twice = Variant.of(**params, utility="points").game()
    low, high = _extremes(State(twice), {})
    assert (low, high) == (-1.0, 1.0) == (twice.rules.min_utility, twice.rules.max_utility)
    for variant in (TINY, HIDING):
        assert _extremes(State(variant.game()), {}) == (-1.0, 1.0)
    assert DEFAULT.game().rules.max_utility == 1.0
