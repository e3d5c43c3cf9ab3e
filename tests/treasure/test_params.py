"""Parameters, and the facts of a game that follow from them."""

import re
from typing import Any

import pytest

from cardcommons import Game, State, load, parse_game
from tests.treasure.walks import DEFAULT, VARIANTS, Variant

BOUNDS = {"rows": (2, 5), "columns": (1, 5), "ranks": (1, 13), "copies": (1, 2), "hand": (1, 3)}
DEFAULTS = {
    "rows": 5, "columns": 5, "ranks": 13, "copies": 2, "treasure": True, "hand": 3,
    "utility": "win",
}  # fmt: skip


def test_defaults_are_the_game() -> None:
    game = load("treasure")
    assert game.parameters == DEFAULTS
    assert game.spec == "treasure"
    assert game.params.deck == 27


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_are_allowed_and_nothing_beyond(name: str) -> None:
    least, most = BOUNDS[name]
    for value in range(least, most + 1):
        assert load("treasure", **{name: value}).parameters == DEFAULTS | {name: value}
    wrong: tuple[Any, ...] = (least - 1, most + 1, float(least), str(least), None, True)
    for value in wrong:
        why = f"parameter {name!r} must be a whole number from {least} to {most}, not {value!r}"
        with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
            load("treasure", **{name: value})


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"treasure": 1}, "parameter 'treasure' must be True or False, not 1"),
        ({"treasure": "yes"}, "parameter 'treasure' must be True or False, not 'yes'"),
        ({"utility": "points"}, "parameter 'utility' must be one of win, margin, not 'points'"),
        ({"utility": None}, "parameter 'utility' must be one of win, margin, not None"),
        ({"row": 3}, "treasure has no parameter 'row'; did you mean 'rows'?"),
        ({"decks": 2}, "treasure has no parameter 'decks'"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        load("treasure", **params)


def test_specs_read_back() -> None:
    for variant in VARIANTS:
        game = variant.game()
        assert parse_game(game.spec).parameters == game.parameters
    assert Variant.of(hand=1, utility="margin").game().spec == "treasure:hand=1,utility=margin"
    with pytest.raises(ValueError, match="'rows' of treasure must be a whole number, not 'few'"):
        parse_game("treasure:rows=few")


def test_facts_follow_from_the_parameters() -> None:
    for variant in VARIANTS:
        game = variant.game()
        deck = len(variant.twin().parameters.deck)
        assert game.max_decisions == game.max_chance_nodes == 2 * deck
        assert game.rules.max_length >= 4 * deck
        assert game.max_chance_outcomes == max(State(game).legal_actions()) + 1
        assert game.has_chance
        assert game.has_hidden_information
        assert game.rules.zero_sum
        assert game.rules.min_utility == -game.rules.max_utility
    assert DEFAULT.game().rules.max_length == 4 * 27


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


@pytest.mark.parametrize(
    ("params", "most"),
    [
        ({"rows": 2, "columns": 1, "ranks": 2, "copies": 1, "treasure": False}, 2),
        ({"rows": 2, "columns": 1, "ranks": 2, "copies": 1, "hand": 2}, 4),
        ({"rows": 2, "columns": 1, "ranks": 1, "copies": 2, "hand": 1}, 4),
        ({"rows": 3, "columns": 3, "ranks": 1, "copies": 2, "hand": 2}, 5),
        ({"rows": 2, "columns": 2, "ranks": 3, "copies": 1, "treasure": False, "hand": 3}, 3),
    ],
)
def test_bounds_of_the_utility_are_reached_in_whole_trees(
    params: dict[str, Any], most: int
) -> None:
    for utility, bound in (("margin", most), ("win", 1)):
        game = Variant.of(**params, utility=utility).game()
        assert _extremes(State(game), {}) == (-bound, bound)
        assert (game.rules.min_utility, game.rules.max_utility) == (-bound, bound)


def _on_new_spaces(state: State) -> int:
    """An action that takes another space if there is one, with a Treasure if possible.

    Otherwise one that costs no point: a discard.
    """
    board = state.fields()["board"]
    texts = [state.action_to_string(action) for action in state.legal_actions()]
    new = [text for text in texts if "@" in text and text[2:] not in board]
    chosen = min(new or texts, key=lambda text: ("@" not in text) == bool(new))
    return state.string_to_action(chosen)


def _alone(game: Game, player: int) -> list[float]:
    """The returns of a game in which only one player plays cards."""
    state = State(game)
    while not state.is_terminal:
        legal = state.legal_actions()
        if state.is_chance:
            state.apply(legal[-1] if state.fields()["hands"][player] == "-" else legal[0])
        else:
            state.apply(_on_new_spaces(state) if state.player == player else legal[-1])
    return state.returns()


@pytest.mark.parametrize("player", [0, 1])
def test_the_highest_margin_of_the_whole_game_is_reached(player: int) -> None:
    for params, most in (
        ({}, 27),
        ({"treasure": False}, 25),
        ({"copies": 1}, 16),
        ({"rows": 2}, 12),
    ):
        game = Variant.of(**params, utility="margin").game()
        assert game.rules.max_utility == most
        assert _alone(game, player)[player] == most
