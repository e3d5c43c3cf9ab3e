"""Monte Carlo CFR: convergence to what the exact algorithms find, tables that grow, checkpoints."""

from pathlib import Path

import numpy as np
import pytest

import cardcommons
from agents import mccfr
from agents.best_response import best_responses, nash_conv
from agents.cfr import CFRSolver
from agents.mccfr import SAMPLINGS, GameMCCFR, TreeMCCFR
from agents.policy import Policy
from cardcommons.sequence_form import sequence_form
from cardcommons.tree import unroll
from tests import kuhn
from tests.forms import KUHN, KUHN_FOR_THREE, LEDUC, TREASURE, native_form, openspiel_form


def tables(policy: Policy) -> list[bytes]:
    return [policy.key.tobytes(), policy.first.tobytes(), policy.prob.tobytes()]


@pytest.mark.parametrize(
    ("name", "sampling", "iterations", "bound"),
    [
        (KUHN, "external", 100_000, 0.03),
        (KUHN, "outcome", 300_000, 0.03),
        (LEDUC, "external", 200_000, 0.2),
        (LEDUC, "outcome", 1_000_000, 0.5),
        (KUHN_FOR_THREE, "external", 100_000, 0.1),
    ],
)
def test_sampling_on_trees_converges(
    name: str, sampling: str, iterations: int, bound: float
) -> None:
    """Lanctot et al. 2009, theorems 4 and 5; for three players, by experience."""
    solver = TreeMCCFR(openspiel_form(name), sampling, seed=1)
    solver.run(iterations // 100)
    early = nash_conv(solver.form, solver.average_strategy())
    solver.run(iterations - solver.iteration)
    late = nash_conv(solver.form, solver.average_strategy())
    assert solver.iteration == iterations
    assert late < bound < early


@pytest.mark.parametrize(("sampling", "iterations"), [("external", 30_000), ("outcome", 200_000)])
def test_sampled_and_exact_versions_agree(sampling: str, iterations: int) -> None:
    form = native_form(TREASURE)
    exact = CFRSolver(form)
    exact.run(1000)
    value = best_responses(form, exact.average_strategy()).values[0]
    solver = GameMCCFR(cardcommons.parse_game(TREASURE), sampling, seed=2)
    solver.run(iterations)
    told = best_responses(form, solver.policy().strategy(form.tree))
    assert told.nash_conv < 2e-3
    assert told.values[0] == pytest.approx(value, abs=2e-3)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_kuhn_poker_without_a_tree(sampling: str) -> None:
    game = kuhn.FAMILY.make(kuhn.KuhnParams())
    solver = GameMCCFR(game, sampling, seed=3)
    solver.run(200_000)
    form = sequence_form(unroll(game))
    assert solver.num_info_sets == 12
    told = best_responses(form, solver.policy().strategy(form.tree))
    assert told.nash_conv < 0.03
    assert told.values[0] == pytest.approx(-1 / 18, abs=5e-3)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_how_tables_grow_makes_no_difference(
    sampling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = cardcommons.load("treasure", rows=2, columns=2, ranks=2, copies=1)
    learned = []
    for bits, slots in ((1, 1), (20, 1_000_000)):
        monkeypatch.setattr(mccfr, "_FIRST_BITS", bits)
        monkeypatch.setattr(mccfr, "_FIRST_SLOTS", slots)
        solver = GameMCCFR(game, sampling, seed=4)
        solver.run(50)
        learned.append((solver.num_info_sets, tables(solver.policy())))
    assert learned[0] == learned[1]
    assert learned[0][0] > 50


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_seed_decides(sampling: str) -> None:
    game = cardcommons.parse_game(TREASURE)
    policies = []
    for seed, runs in ((1, (300,)), (1, (100, 0, 200)), (2, (300,))):
        solver = GameMCCFR(game, sampling, seed=seed)
        for iterations in runs:
            solver.run(iterations)
        policies.append(tables(solver.policy()))
    assert policies[0] == policies[1] != policies[2]


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_checkpoint_of_a_game_changes_nothing(sampling: str, tmp_path: Path) -> None:
    game = cardcommons.load("treasure", rows=2, columns=2, ranks=2, copies=1)
    through, begun = (GameMCCFR(game, sampling, seed=5) for _ in range(2))
    through.run(60)
    begun.run(25)
    begun.save(tmp_path / "begun.npz")
    resumed = GameMCCFR(game, sampling, seed=0)
    resumed.load(tmp_path / "begun.npz")
    assert resumed.num_info_sets == begun.num_info_sets
    resumed.run(35)
    assert resumed.iteration == 60
    assert tables(resumed.policy()) == tables(through.policy())


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_checkpoint_on_a_tree_changes_nothing(sampling: str, tmp_path: Path) -> None:
    form = openspiel_form(LEDUC)
    through, begun = (TreeMCCFR(form, sampling, seed=5) for _ in range(2))
    through.run(600)
    begun.run(250)
    begun.save(tmp_path / "begun.npz")
    resumed = TreeMCCFR(form, sampling)
    resumed.load(tmp_path / "begun.npz")
    resumed.run(350)
    assert np.array_equal(resumed.average_strategy(), through.average_strategy())


def test_memory_is_bounded_on_the_whole_game(tmp_path: Path) -> None:
    game = cardcommons.load("treasure")
    solver = GameMCCFR(game, "outcome", seed=6, memory=2_000_000)
    solver.run(500)
    assert not solver.full
    assert solver.num_info_sets == 1000  # one a walk
    solver.run(9500)
    assert solver.full
    assert solver.bytes <= 2_000_000
    stored = solver.num_info_sets
    solver.save(tmp_path / "full.npz")
    solver.run(100)
    assert solver.num_info_sets == stored
    resumed = GameMCCFR(game, "outcome", memory=2_000_000)
    resumed.load(tmp_path / "full.npz")
    resumed.run(100)
    assert resumed.full
    assert tables(resumed.policy()) == tables(solver.policy())


def test_wrong_arguments_and_checkpoints_are_refused(tmp_path: Path) -> None:
    game, form = cardcommons.parse_game(TREASURE), openspiel_form(KUHN)
    with pytest.raises(ValueError, match="no sampling is called 'extern'; did you mean 'external'"):
        TreeMCCFR(form, "extern")
    with pytest.raises(ValueError, match="epsilon must be above 0 and at most 1, not 0"):
        GameMCCFR(game, epsilon=0)
    with pytest.raises(ValueError, match="memory must be at least 1000000 bytes, not 5"):
        GameMCCFR(game, memory=5)
    with pytest.raises(ValueError, match="iterations must be at least 0, not -1"):
        TreeMCCFR(form).run(-1)
    with pytest.raises(ValueError, match="two must play or more"):
        GameMCCFR(cardcommons.load("rally"))
    path = tmp_path / "some.npz"
    GameMCCFR(game, "outcome").save(path)
    with pytest.raises(ValueError, match="has sampling outcome, not external"):
        GameMCCFR(game, "external").load(path)
    with pytest.raises(ValueError, match=r"has epsilon 0\.6, not 0\.5"):
        GameMCCFR(game, "outcome", epsilon=0.5).load(path)
    with pytest.raises(ValueError, match=r"is of treasure:rows=2.*, not of treasure"):
        GameMCCFR(cardcommons.load("treasure"), "outcome").load(path)
    CFRSolver(form).save(path)
    with pytest.raises(ValueError, match="is no checkpoint of Monte Carlo regret minimization"):
        TreeMCCFR(form).load(path)
