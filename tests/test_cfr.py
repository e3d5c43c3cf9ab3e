"""The CFR family: against a slow twin and OpenSpiel, convergence, checkpoints."""

from pathlib import Path

import numpy as np
import pyspiel
import pytest

from agents.best_response import best_responses
from agents.cfr import ALGORITHMS, CFRSolver
from agents.openspiel_policy import from_openspiel
from tests.forms import (
    GLUONS,
    KUHN,
    KUHN_FOR_THREE,
    LEDUC,
    LIARS,
    TREASURE,
    form_and_game,
    openspiel_form,
)
from tests.twins.cfr import SlowCFR

TWINS = [
    (name, algorithm)
    for algorithm in ALGORITHMS
    for name in (KUHN, KUHN_FOR_THREE)
    # for three players its first regrets are exact ties, which rounding breaks this way or that
    if (name, algorithm) != (KUHN_FOR_THREE, "cfr-simultaneous")
]


@pytest.mark.parametrize(("name", "algorithm"), TWINS)
def test_the_slow_twin_agrees(name: str, algorithm: str) -> None:
    form, game = form_and_game(name)
    solver, twin = CFRSolver(form, algorithm), SlowCFR(game, algorithm)
    for _ in range(12):
        solver.run(1)
        twin.iterate()
    ours, theirs = solver.average_strategy(), twin.policy()
    first = form.tree.info_sets.first_slot
    for i, label in enumerate(form.tree.labels):
        assert ours[first[i] : first[i + 1]] == pytest.approx(theirs[label], abs=1e-12), label


@pytest.mark.parametrize(
    ("algorithm", "rival"), [("cfr", pyspiel.CFRSolver), ("cfr+", pyspiel.CFRPlusSolver)]
)
@pytest.mark.parametrize("name", [KUHN, KUHN_FOR_THREE, LEDUC])
def test_openspiels_solver_agrees(name: str, algorithm: str, rival: type) -> None:
    form, game = form_and_game(name)
    ours, theirs = CFRSolver(form, algorithm), rival(game)
    ours.run(10)
    for _ in range(10):
        theirs.evaluate_and_update_policy()
    policy = from_openspiel(form.tree, theirs.average_policy(), game)
    assert ours.average_strategy() == pytest.approx(policy, abs=1e-9)


NASH_CONV = {
    "cfr": (2e-3, 3e-2, 5e-2, 6e-3, 2e-3),
    "cfr-simultaneous": (2e-2, 9e-2, 3e-1, 6e-3, 2e-3),
    "cfr+": (2e-4, 6e-4, 1e-2, 6e-5, 2e-5),
    "lcfr": (2e-4, 2e-2, 2e-2, 5e-5, 2e-5),
    "dcfr": (3e-4, 4e-4, 5e-3, 4e-7, 1e-7),
    "pcfr+": (5e-8, 2e-3, 2e-2, 5e-7, 1e-7),
}
"""Bounds on NashConv, a little above what is reached after 1000 iterations on Kuhn and on Leduc
poker, 100 on liar's dice, and 300 on reduced Treasure and reduced Gluons.  That there are such
bounds is proven in the papers at the head of :mod:`agents.cfr`.
"""


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_converges(algorithm: str) -> None:
    for name, iterations, bound in zip(
        (KUHN, LEDUC, LIARS, TREASURE, GLUONS),
        (1000, 1000, 100, 300, 300),
        NASH_CONV[algorithm],
        strict=True,
    ):
        solver = CFRSolver(form_and_game(name)[0], algorithm)
        solver.run(iterations)
        told = best_responses(solver.form, solver.average_strategy())
        assert 0 <= told.nash_conv < bound, name


@pytest.mark.parametrize(("name", "value"), [(KUHN, -1 / 18), (LEDUC, -0.085606424)])
def test_values_of_the_games(name: str, value: float) -> None:
    """Kuhn 1950; Leduc as solved by Southey et al. 2005 and many since."""
    solver = CFRSolver(openspiel_form(name), "pcfr+")
    solver.run(20_000)
    told = best_responses(solver.form, solver.average_strategy())
    assert told.nash_conv < 5e-6
    assert told.values[0] == pytest.approx(value, abs=1e-7)
    assert -told.best[1] <= value + 1e-9
    assert value - 1e-9 <= told.best[0]


def test_three_players_come_near_an_equilibrium() -> None:
    """No theorem says so, but Kuhn poker for three is known to converge (Abou Risk and Szafron,
    AAMAS 2010).
    """
    solver = CFRSolver(openspiel_form(KUHN_FOR_THREE), "dcfr")
    solver.run(2000)
    assert best_responses(solver.form, solver.average_strategy()).nash_conv < 1e-4


def test_a_solver_stops_at_its_target() -> None:
    solver = CFRSolver(openspiel_form(LEDUC), "cfr+")
    told = solver.approach(5e-3, at_most=1000, every=30)
    assert told.exploitability <= 5e-3
    assert solver.iteration % 30 == 0
    before = CFRSolver(solver.form, "cfr+")
    before.run(solver.iteration - 30)
    assert best_responses(solver.form, before.average_strategy()).exploitability > 5e-3
    solver.approach(0.0, at_most=solver.iteration + 7)
    assert solver.iteration % 30 == 7


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_checkpoint_changes_nothing(algorithm: str, tmp_path: Path) -> None:
    form = openspiel_form(LEDUC)
    through = CFRSolver(form, algorithm)
    through.run(50)
    begun = CFRSolver(form, algorithm)
    begun.run(20)
    begun.save(tmp_path / "half.npz")
    resumed = CFRSolver(form, algorithm)
    resumed.load(tmp_path / "half.npz")
    for _ in range(3):
        resumed.run(10)
    assert (resumed.iteration, resumed.algorithm) == (50, algorithm)
    for ours, theirs in zip(resumed.tables, through.tables, strict=True):
        assert np.array_equal(ours, theirs)
    assert np.array_equal(resumed.average_strategy(), through.average_strategy())
    assert np.array_equal(resumed.current_strategy(), through.current_strategy())


def test_checkpoints_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "kuhn.npz"
    CFRSolver(openspiel_form(KUHN)).save(path)
    with pytest.raises(ValueError, match=r"is of kuhn_poker\(\), not of leduc_poker\(\)"):
        CFRSolver(openspiel_form(LEDUC)).load(path)
    with pytest.raises(ValueError, match=r"is of dcfr, not of cfr\+"):
        CFRSolver(openspiel_form(KUHN), "cfr+").load(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="is damaged"):
        CFRSolver(openspiel_form(KUHN)).load(path)
    with pytest.raises(OSError, match="nowhere"):
        CFRSolver(openspiel_form(KUHN)).load(tmp_path / "nowhere.npz")


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="no algorithm is called 'dcfrr'; did you mean 'dcfr'"):
        CFRSolver(openspiel_form(KUHN), "dcfrr")
    with pytest.raises(ValueError, match="iterations must be at least 0, not -1"):
        CFRSolver(openspiel_form(KUHN)).run(-1)
