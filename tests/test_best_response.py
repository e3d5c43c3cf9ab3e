"""Exact best responses against OpenSpiel's, and the bridge to its policies."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as python_policy

from agents.best_response import Responder, best_responses, exploitability, nash_conv
from agents.cfr import CFRSolver
from agents.openspiel_policy import from_openspiel, to_openspiel
from agents.strategy import Strategy, normalized, random_strategy, uniform
from cardcommons.sequence_form import SequenceForm, sequence_form
from cardcommons.tree import unroll
from tests import kuhn
from tests.forms import (
    GLUONS,
    KUHN,
    KUHN_FOR_THREE,
    LEDUC,
    LIARS,
    SMALL_LIARS,
    TREASURE,
    form_and_game,
    openspiel_form,
)


def trained(form: SequenceForm) -> Strategy:
    solver = CFRSolver(form)
    solver.run(20)
    return solver.average_strategy()


def strategies(form: SequenceForm) -> list[Strategy]:
    rng = np.random.default_rng(5)
    return [uniform(form.tree), random_strategy(form.tree, rng), trained(form)]


@pytest.mark.parametrize("name", [KUHN, KUHN_FOR_THREE, LEDUC, SMALL_LIARS, TREASURE, GLUONS])
def test_nash_conv_is_openspiels(name: str) -> None:
    form, game = form_and_game(name)
    for strategy in strategies(form):
        policy = to_openspiel(form.tree, strategy, game)
        assert nash_conv(form, strategy) == pytest.approx(pyspiel.nash_conv(game, policy), abs=1e-9)
        again = from_openspiel(form.tree, policy, game)
        assert np.array_equal(again, strategy)


def test_nash_conv_of_liars_dice_is_openspiels() -> None:
    form, game = form_and_game(LIARS)
    assert (form.tree.num_nodes, form.tree.num_info_sets) == (294_883, 24_576)
    strategy = trained(form)
    theirs = pyspiel.nash_conv(game, to_openspiel(form.tree, strategy, game))
    assert nash_conv(form, strategy) == pytest.approx(theirs, abs=1e-9)
    assert nash_conv(form, uniform(form.tree)) == pytest.approx(1.5614886463844797, abs=1e-9)


@pytest.mark.parametrize("name", [KUHN, KUHN_FOR_THREE, LEDUC])
def test_a_best_response_earns_what_it_is_said_to(name: str) -> None:
    form = openspiel_form(name)
    for strategy in strategies(form):
        told = best_responses(form, strategy)
        chosen = told.strategy(form.tree.num_slots)
        whose = np.repeat(form.tree.info_sets.player, np.diff(form.tree.info_sets.first_slot))
        for player in range(form.num_players):
            mixed = np.where(whose == player, chosen, strategy)
            got = best_responses(form, mixed)
            assert got.values[player] == pytest.approx(told.best[player], abs=1e-12)
            assert got.best[player] == pytest.approx(told.best[player], abs=1e-12)


def test_exploitability_is_nash_conv_per_player() -> None:
    form = openspiel_form(KUHN_FOR_THREE)
    strategy = uniform(form.tree)
    assert exploitability(form, strategy) == nash_conv(form, strategy) / 3
    assert nash_conv(form, strategy) == pytest.approx(2.0625, abs=1e-12)


def test_the_equilibria_of_kuhn_poker() -> None:
    """The family of equilibria with the first player betting a jack with probability alpha."""
    form, game = form_and_game(KUHN)
    for alpha in (0.0, 0.1, 1 / 3):
        bets = {"0": alpha, "1": 0.0, "2": 3 * alpha, "0pb": 0.0, "1pb": alpha + 1 / 3, "2pb": 1.0}
        bets |= {"0b": 0.0, "1b": 1 / 3, "2b": 1.0, "0p": 1 / 3, "1p": 0.0, "2p": 1.0}
        policy = pyspiel.TabularPolicy({k: [(0, 1 - p), (1, p)] for k, p in bets.items()})
        told = best_responses(form, from_openspiel(form.tree, policy, game))
        assert told.nash_conv == pytest.approx(0.0, abs=1e-12)
        assert told.values == pytest.approx((-1 / 18, 1 / 18), abs=1e-12)


def test_kuhn_poker_is_the_same_through_both_doors() -> None:
    native = sequence_form(unroll(kuhn.FAMILY.make(kuhn.KuhnParams())))
    for strategy in strategies(openspiel_form(KUHN)):
        ours, theirs = (
            best_responses(native, strategy),
            best_responses(openspiel_form(KUHN), strategy),
        )
        assert ours.values == pytest.approx(theirs.values, abs=1e-12)


def test_a_game_of_general_sum() -> None:
    """With a rake, the values add up to what is taken from the winner: the mean of it is 1."""
    form = sequence_form(unroll(kuhn.FAMILY.make(kuhn.KuhnParams(rake=1))))
    told = best_responses(form, uniform(form.tree))
    assert sum(told.values) == pytest.approx(-1.0, abs=1e-12)
    assert told.nash_conv > 0.5


def test_policies_written_in_python_are_read() -> None:
    form, game = form_and_game(LEDUC)
    told = from_openspiel(form.tree, python_policy.UniformRandomPolicy(game), game)
    assert np.array_equal(told, uniform(form.tree))
    solver = pyspiel.CFRSolver(game)
    solver.evaluate_and_update_policy()
    average = solver.average_policy()
    told = from_openspiel(form.tree, average, game)
    assert nash_conv(form, told) == pytest.approx(pyspiel.nash_conv(game, average), abs=1e-9)


def test_what_is_no_strategy_is_refused() -> None:
    form, game = form_and_game(KUHN)
    with pytest.raises(ValueError, match=r"kuhn_poker\(\) has 24 probabilities"):
        nash_conv(form, np.ones(3))
    with pytest.raises(ValueError, match=r"add up to 1 in each .* they don't at 0"):
        nash_conv(form, np.ones(24))
    with pytest.raises(ValueError, match="they don't at 0"):
        nash_conv(form, np.full(24, np.nan))
    with pytest.raises(ValueError, match="must be at least 0"):
        nash_conv(form, np.tile([1.5, -0.5], 12))
    with pytest.raises(ValueError, match="says nothing of the information state '0'"):
        from_openspiel(form.tree, pyspiel.TabularPolicy({}), game)
    other = python_policy.TabularPolicy(pyspiel.load_game(LEDUC))
    with pytest.raises(ValueError, match="says nothing of the information state '0'"):
        from_openspiel(form.tree, other, game)
    table = to_openspiel(form.tree, uniform(form.tree), game).policy_table()
    table["0"] = [(0, 0.5), (1, 0.5), (7, 0.25)]
    with pytest.raises(
        ValueError, match=r"plays action 7 in .* '0', where only \[0, 1\] are legal"
    ):
        from_openspiel(form.tree, pyspiel.TabularPolicy(table), game)
    with pytest.raises(ValueError, match=r"tree is of kuhn_poker\(\), not of leduc"):
        to_openspiel(form.tree, uniform(form.tree), pyspiel.load_game(LEDUC))


def test_games_without_perfect_recall_are_refused() -> None:
    with pytest.raises(ValueError, match="lacks perfect recall: player 1 can come to"):
        openspiel_form("liars_dice_ir(dice_sides=3)")


def test_weights_become_probabilities() -> None:
    form = openspiel_form(KUHN)
    weights = np.zeros(24)
    weights[2:4] = 1.0, 3.0
    told = normalized(form.leaves.first_slot, weights)
    assert told[:6].tolist() == [0.5, 0.5, 0.25, 0.75, 0.5, 0.5]


def test_a_responder_leaves_nothing_behind() -> None:
    form = openspiel_form(LEDUC)
    responder = Responder(form)
    one, other = strategies(form)[:2]
    first = responder.responses(one).nash_conv
    responder.responses(other)
    assert responder.responses(one).nash_conv == first
