"""The solvers against OpenSpiel's C++, on the same game."""

import time
from collections.abc import Callable, Iterator

import pyspiel

from agents.best_response import Responder
from agents.cfr import CFRSolver
from agents.mccfr import TreeMCCFR
from agents.openspiel_policy import to_openspiel
from cardcommons.openspiel_tree import unroll
from cardcommons.sequence_form import SequenceForm, sequence_form
from experiments.bench.measure import Comparison, Rate, compare

_CFR_TARGETS = {"leduc_poker": 30.0}
_OTHER_CFR_TARGET = 15.0
_EXPLOITABILITY_TARGET = 20.0
_SAMPLING_TARGET = 3.0
_SEED = 7
_SECONDS = 0.3


def solver_rounds(name: str, game: pyspiel.Game, rounds: int) -> Iterator[Comparison]:
    """Compare iterations of CFR, exploitability, and external sampling on an OpenSpiel game."""
    form = sequence_form(unroll(game))
    cfr = _CFR_TARGETS.get(name, _OTHER_CFR_TARGET)
    works: tuple[tuple[str, str, float, Rate, Rate], ...] = (
        ("CFR", "iterations/s", cfr, _our_cfr(form), _their_cfr(game)),
        (
            "exploitability",
            "strategies/s",
            _EXPLOITABILITY_TARGET,
            _our_exploitability(form),
            _their_exploitability(game, form),
        ),
        (
            "external sampling",
            "iterations/s",
            _SAMPLING_TARGET,
            _our_sampling(form),
            _their_sampling(game),
        ),
    )
    for work, unit, target, ours, theirs in works:
        yield compare(
            work, name, unit, ours=ours, rival="OpenSpiel C++", theirs=theirs, target=target,
            rounds=rounds,
        )  # fmt: skip


def _rate(do: Callable[[], object], times: int) -> float:
    """How often a second, in blocks of ``times``, over a short while."""
    done = 0
    began = time.perf_counter()
    while time.perf_counter() - began < _SECONDS:
        do()
        done += times
    return done / (time.perf_counter() - began)


def _our_cfr(form: SequenceForm) -> Rate:
    solver = CFRSolver(form, "cfr")
    return lambda: _rate(lambda: solver.run(20), 20)


def _their_cfr(game: pyspiel.Game) -> Rate:
    solver = pyspiel.CFRSolver(game)
    return lambda: _rate(solver.evaluate_and_update_policy, 1)


def _our_exploitability(form: SequenceForm) -> Rate:
    responder, solver = Responder(form), CFRSolver(form)
    solver.run(10)
    strategy = solver.average_strategy()
    return lambda: _rate(lambda: responder.responses(strategy).exploitability, 1)


def _their_exploitability(game: pyspiel.Game, form: SequenceForm) -> Rate:
    solver = CFRSolver(form)
    solver.run(10)
    policy = to_openspiel(form.tree, solver.average_strategy(), game)
    return lambda: _rate(lambda: pyspiel.exploitability(game, policy), 1)


def _our_sampling(form: SequenceForm) -> Rate:
    solver = TreeMCCFR(form, "external", seed=_SEED)
    return lambda: _rate(lambda: solver.run(1000), 1000)


def _their_sampling(game: pyspiel.Game) -> Rate:
    solver = pyspiel.ExternalSamplingMCCFRSolver(game, _SEED)
    return lambda: _rate(solver.run_iteration, 1)
