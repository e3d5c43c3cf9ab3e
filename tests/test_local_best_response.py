"""Lower bounds on exploitability: never above the exact figure, and not far below."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import cardcommons
from agents.best_response import best_responses
from agents.cfr import CFRSolver
from agents.local_best_response import LowerBound, lower_bound
from agents.policy import Policy
from agents.strategy import Strategy, random_strategy, uniform
from cardcommons import Game
from cardcommons.identity import rules_digest
from cardcommons.sequence_form import SequenceForm, sequence_form
from cardcommons.tree import unroll
from experiments import exploit
from tests import kuhn
from tests.forms import TREASURE, native_form

GAMES = {
    "kuhn": kuhn.FAMILY.make(kuhn.KuhnParams()),
    "kuhn for three": kuhn.FAMILY.make(kuhn.KuhnParams(3)),
    "treasure": cardcommons.parse_game(TREASURE),
}


def policy_of(game: Game, form: SequenceForm, strategy: Strategy) -> Policy:
    return Policy.of_strategy(form.tree, strategy, rules_digest(game))


def form_of(game: Game) -> SequenceForm:
    return native_form(TREASURE) if game.name == "treasure" else sequence_form(unroll(game))


@pytest.mark.parametrize("name", GAMES)
def test_the_bound_is_below_what_is_exact_and_not_far(name: str) -> None:
    game = GAMES[name]
    form = form_of(game)
    for strategy in (uniform(form.tree), random_strategy(form.tree, np.random.default_rng(1))):
        exact = best_responses(form, strategy)
        told = lower_bound(game, policy_of(game, form, strategy), games=2000, samples=40, seed=1)
        assert 0.6 * exact.nash_conv < told.nash_conv < exact.nash_conv + told.error
        assert told.exploitability == pytest.approx(told.nash_conv / len(told.means))
        for mean, error, best in zip(told.means, told.errors, exact.best, strict=True):
            assert mean < best + 1.5 * error


def test_an_equilibrium_is_not_said_to_be_exploitable() -> None:
    game = GAMES["treasure"]
    form = form_of(game)
    solver = CFRSolver(form)
    solver.run(300)
    told = lower_bound(game, policy_of(game, form, solver.average_strategy()), games=4000, seed=2)
    assert told.nash_conv - told.error < 1e-3
    assert told.error < 0.05


def test_the_seed_decides() -> None:
    game = GAMES["kuhn"]
    form = form_of(game)
    policy = policy_of(game, form, uniform(form.tree))
    one, again, other = (lower_bound(game, policy, games=50, seed=seed) for seed in (1, 1, 2))
    assert one == again != other


def test_a_silent_policy_of_the_whole_game_is_random_play() -> None:
    game = cardcommons.load("treasure")
    none = np.zeros(0)
    silent = Policy(
        "treasure", rules_digest(game), none.astype(np.uint64), np.zeros(1, dtype=np.int64), none
    )
    told = lower_bound(game, silent, games=40, samples=4, seed=3)
    assert told.nash_conv - told.error > 1.0


def test_what_is_refused() -> None:
    game = GAMES["kuhn"]
    policy = policy_of(game, form_of(game), uniform(form_of(game).tree))
    with pytest.raises(ValueError, match="this is a policy for kuhn, not for treasure"):
        lower_bound(cardcommons.load("treasure"), policy)
    with pytest.raises(ValueError, match="games must be at least 2 and samples 1, not 1 and 1"):
        lower_bound(game, policy, games=1, samples=1)
    raked = kuhn.FAMILY.make(kuhn.KuhnParams(rake=1))
    with pytest.raises(ValueError, match="utilities of kuhn:rake=1 don't sum to zero"):
        lower_bound(raked, policy)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = GAMES["treasure"]
    form = form_of(game)
    policy_of(game, form, uniform(form.tree)).save(tmp_path / "policy.npz")
    words = ["--policy", str(tmp_path / "policy.npz"), "--games", "200", "--samples", "5"]
    assert exploit.main([*words, "--json-file", str(tmp_path / "bound.json")]) == 0
    assert re.search(r"exploitability, at least +│ 0\.\d+ +│", capsys.readouterr().out)
    assert '"exploitability_at_least": 0.' in (tmp_path / "bound.json").read_text()
    assert exploit.main(["--policy", str(tmp_path / "none.npz")]) == 2
    assert "none.npz: No such file" in capsys.readouterr().err


def test_a_negative_estimate_bounds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = GAMES["treasure"]
    form = form_of(game)
    policy_of(game, form, uniform(form.tree)).save(tmp_path / "policy.npz")
    low = LowerBound(means=(-0.5, 0.2), errors=(0.3, 0.4), games=10)
    monkeypatch.setattr(exploit, "lower_bound", lambda *_, **__: low)
    words = ["--policy", str(tmp_path / "policy.npz"), "--json-file", str(tmp_path / "bound.json")]
    assert exploit.main(words) == 0
    told = json.loads((tmp_path / "bound.json").read_text())
    assert (told["exploitability_at_least"], told["estimate"], told["error"]) == (0, -0.15, 0.25)
    printed = capsys.readouterr().out
    assert re.search(r"at least +│ 0\.0000 ", printed)
    assert "-0.1500 ± 0.2500 (95 %)" in printed


def test_policies_that_can_not_be_bounded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    none = np.zeros(0)
    path = tmp_path / "policy.npz"
    for game, rules, complaint in (
        ("leduc_poker()", "0", "only policies for this project's own games can be bounded"),
        ("treasure", "0", "a policy for treasure as it was under other rules"),
    ):
        Policy(game, rules, none.astype(np.uint64), np.zeros(1, np.int64), none).save(path)
        assert exploit.main(["--policy", str(path)]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"error: {path} is a policy for {game}")
        assert complaint in said
