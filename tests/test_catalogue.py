"""Games by name and parameters, and what is said of wrong ones."""

from typing import Any

import pytest

from cardcommons import GAMES, load, parse_game


def test_games_are_listed_and_load() -> None:
    assert "particles" in GAMES
    assert [load(name).name for name in GAMES] == list(GAMES)


def test_a_spec_reads_back() -> None:
    for params in ({}, {"tutorial": True}, {"tutorial": True, "torus": True}):
        game = load("particles", **params)
        assert parse_game(game.spec).parameters == game.parameters
    assert load("particles").spec == "particles"
    assert parse_game("particles:torus=true").parameters["torus"] is True
    placed = load("particles", position="3h.../..../..../.... 4h Ad 0 1")
    assert parse_game(placed.spec).parameters == placed.parameters


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"tutorial": 1}, "parameter 'tutorial' must be True or False, not 1"),
        ({"torus": "yes"}, "parameter 'torus' must be True or False, not 'yes'"),
        ({"torus": None}, "parameter 'torus' must be True or False, not None"),
        ({"position": 3}, "parameter 'position' must be a string, not 3"),
        ({"position": "x"}, "position refused: 'x' should be four rows, two hands"),
        ({"tutrial": True}, "particles has no parameter 'tutrial'; did you mean 'tutorial'?"),
        ({"seed": 1}, r"particles has no parameter 'seed' \(known: tutorial, torus, position\)"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("?", r"\?")):
        load("particles", **params)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no game is called ''"),
        ("particle", "no game is called 'particle'; did you mean 'particles'?"),
        ("particles:torus", "'torus' of particles should read parameter=value"),
        ("particles:torus=1", "parameter 'torus' of particles must be True or False, not '1'"),
        ("particles:size=3", "particles has no parameter 'size'"),
        ("particles:position=?", "position refused: "),
    ],
)
def test_wrong_texts_are_named(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("?", r"\?")):
        parse_game(text)
