"""Learned values: they fit the rules they were learned under, and make a better driver."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import make_agent
from cardcommons import Game, State, load
from cardcommons.games.rally import rules, value, weights
from cardcommons.rng import child_seed
from cardcommons.treaty import VALUE_WORK
from experiments.match import play

UTILITIES = ["win", "score"]


@pytest.mark.parametrize("utility", UTILITIES)
def test_the_usual_rally_has_learned_values(utility: str) -> None:
    game = load("rally", utility=utility)
    assert game.weights.shape == (value.SECTORS * value.SIZE,)
    assert game.weights.dtype == np.float32
    assert np.isfinite(game.weights).all()
    assert value.HIDDEN + value.INPUTS <= VALUE_WORK


def test_values_learned_under_other_rules_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "rules_mark", lambda: "other")
    with pytest.warns(UserWarning, match=r"values-win\.npz was learned under other rules"):
        assert load("rally", utility="win").weights.size == 0
    with pytest.raises(ValueError, match="learned under other rules"):
        weights.read_weights(Path(weights.__file__).with_name("values-win.npz"))


@pytest.mark.parametrize(
    "params",
    [
        {"stages": "2-3-5-2"},
        {"jokers": 3},
        {"loss_utility": -20.0},
        {"utility": "win", "jokers": 1},
    ],
)
def test_other_games_have_none(params: dict[str, Any]) -> None:
    assert load("rally", **params).weights.size == 0


def test_what_makes_no_difference_makes_none() -> None:
    assert load("rally", utility="win", loss_utility=-3.0).weights.size > 0
    assert load("rally", stages="2-4-8-4/2-4-6-3/2-3-5-2/").weights.size > 0


def test_values_are_written_and_read_as_they_are(tmp_path: Path) -> None:
    game = load("rally", utility="win")
    weights.save_weights(tmp_path / "values.npz", game)
    with np.load(tmp_path / "values.npz") as told:
        assert np.array_equal(told["weights"], game.weights)
        assert str(told["rules"]) == weights.rules_mark()
        assert (str(told["utility"]), str(told["stages"])) == ("win", game.params.stages)


@pytest.mark.parametrize("utility", UTILITIES)
def test_the_network_is_what_it_is_said_to_be(utility: str) -> None:
    """The kernel's output against the formula, on the start of a rally."""
    game = load("rally", utility=utility)
    state = State(game)
    at = (value.SECTORS - 1) * value.SIZE
    net = game.weights[at : at + value.SIZE].astype(np.float64)
    split = (value.INPUTS + 1) * value.HIDDEN
    first = net[:split].reshape(value.INPUTS + 1, value.HIDDEN)
    seen = np.zeros(value.INPUTS, dtype=np.float32)
    value.write_inputs(state.words, seen, 0)
    units = np.maximum(first[0] + seen @ first[1:], 0)
    rows = net[split:].reshape(value.ROWS, value.HIDDEN + 1)
    row = rows[value.output_row(state.words)]
    output = units @ row[:-1] + row[-1]
    told = 1 / (1 + np.exp(-output)) if utility == "win" else value.POINTS * output
    work = np.zeros(VALUE_WORK, dtype=np.float32)
    assert value.value(state.words, 0, game.weights, work) == pytest.approx(told, abs=1e-5)


def test_the_networks_see_what_is_left() -> None:
    """The odds of each card and sector in a gear with 3 Aces, a 2 and a 3, one of them hidden."""
    state = State(load("rally", utility="win"))
    words = state.words.copy()
    words[rules.UNSEEN] -= np.uint64(0x331)
    words[rules.META] -= np.uint64(1)
    seen = np.zeros(value.INPUTS, dtype=np.float32)
    value.write_inputs(words, seen, 0)
    assert seen[:3].tolist() == [1.0, -1.0, -1.0]
    assert seen[10:13].tolist() == pytest.approx([1.2, 0.4, 0.4])
    assert seen[20:23].tolist() == pytest.approx([0.6, 0.2, 0.2])
    assert seen[[30, 33, 36]].tolist() == [0.5, 1.0, 1.0]
    assert seen[[39, 42]].tolist() == pytest.approx([0.6, 0.3])
    assert seen[45:59].tolist() == [2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert value.output_row(words) == value.ROWS // 2


def mean_return(game: Game, deals: int) -> float:
    agent = make_agent("expectimax", game)
    return float(np.mean([play(game, [agent], child_seed(3, k)).returns[0] for k in range(deals)]))


def test_they_make_a_better_driver() -> None:
    game = load("rally", utility="win")
    learned, estimated = (
        mean_return(game, 120),
        mean_return(replace(game, weights=game.weights[:0]), 120),
    )
    assert learned > 0.35
    assert estimated < learned
