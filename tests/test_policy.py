"""Policies in files, and the agent that plays them."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel
import pytest

import cardcommons
from agents import as_bot, make_agent
from agents.cfr import CFRSolver
from agents.mccfr import GameMCCFR
from agents.policy import Policy
from agents.strategy import random_strategy, uniform
from cardcommons import State
from cardcommons.arrayfile import read_arrays, write_arrays
from cardcommons.identity import rules_digest
from cardcommons.openspiel import PREFIX
from cardcommons.state import make_verb
from cardcommons.tree import GameTree, unroll
from experiments.match import play
from tests import kuhn
from tests.forms import TREASURE, native_form
from tests.lab import games, run

KUHN = kuhn.FAMILY.make(kuhn.KuhnParams())


def kuhn_policy(tree: GameTree) -> Policy:
    strategy = random_strategy(tree, np.random.default_rng(3))
    return Policy.of_strategy(tree, strategy, rules_digest(KUHN), {"by": "a test"})


def write_treasure(path: Path) -> str:
    """A policy for reduced Treasure; the agent that plays it, as text."""
    form = native_form(TREASURE)
    solver = CFRSolver(form)
    solver.run(100)
    game = cardcommons.parse_game(TREASURE)
    Policy.of_strategy(form.tree, solver.average_strategy(), rules_digest(game)).save(path)
    return f"policy:file={path}"


def test_a_file_gives_back_the_policy(tmp_path: Path) -> None:
    tree = unroll(KUHN)
    policy = kuhn_policy(tree)
    policy.save(tmp_path / "kuhn.npz")
    again = Policy.load(tmp_path / "kuhn.npz")
    assert (again.game, again.rules, again.made) == ("kuhn", rules_digest(KUHN), {"by": "a test"})
    assert np.array_equal(again.strategy(tree), policy.prob)
    again.check_game(KUHN, "kuhn.npz")


def test_probabilities_are_found_by_key() -> None:
    tree = unroll(KUHN)
    policy = kuhn_policy(tree)
    info_key = make_verb(KUHN.rules, "info_key")
    state = State(KUHN)
    for action in (2, 0, 0):
        state.apply(action)
    place = tree.nodes.place[_node(tree, [2, 0, 0])]
    first = tree.info_sets.first_slot[place]
    told = policy.probabilities(int(info_key(state.words, 1)), 1)
    assert told is not None
    assert told.tolist() == policy.prob[first : first + 2].tolist()
    assert policy.probabilities(int(info_key(state.words, 1)), 0) is None


def _node(tree: GameTree, history: list[int]) -> int:
    return next(node for node in range(tree.num_nodes) if tree.history(node) == history)


def test_the_agent_draws_by_the_probabilities(tmp_path: Path) -> None:
    tree = unroll(KUHN)
    path = tmp_path / "kuhn.npz"
    policy = kuhn_policy(tree)
    policy.save(path)
    agent = make_agent(f"policy:file={path}", KUHN)
    state = State(KUHN)
    for action in (2, 0):
        state.apply(action)
    wanted = policy.prob[tree.info_sets.first_slot[tree.nodes.place[_node(tree, [2, 0])]]]
    agent.restart(1)
    drawn = [agent.decide(state) for _ in range(4000)]
    assert np.mean([d.action == 0 for d in drawn]) == pytest.approx(wanted, abs=0.03)
    assert all(d.work == {"known": 1} for d in drawn)
    agent.restart(1)
    assert [agent.decide(state) for _ in range(50)] == drawn[:50]


def test_where_the_policy_is_silent_play_is_uniform(tmp_path: Path) -> None:
    empty = np.zeros(0)
    path = tmp_path / "silent.npz"
    none = Policy("kuhn", rules_digest(KUHN), empty.astype(np.uint64), np.zeros(1, np.int64), empty)
    none.save(path)
    agent = make_agent(f"policy:file={path}", KUHN)
    state = State(KUHN)
    for action in (2, 0):
        state.apply(action)
    drawn = [agent.decide(state) for _ in range(2000)]
    assert np.mean([d.action for d in drawn]) == pytest.approx(0.5, abs=0.05)
    assert all(d.work == {"known": 0} for d in drawn)
    tree = unroll(KUHN)
    assert np.array_equal(none.strategy(tree), uniform(tree))


def test_policies_play_tournaments(tmp_path: Path) -> None:
    agent = write_treasure(tmp_path / "treasure.npz")
    out = tmp_path / "run"
    assert run(out, ["random", agent], game=TREASURE, pairs=150, opening=0) == 0
    wins = [game["agents"][game["returns"].index(1)] for game in games(out) if any(game["returns"])]
    assert wins.count(agent) > 5 * wins.count("random") > 0


def test_a_tournament_keeps_to_its_policies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "treasure.npz", tmp_path / "run"
    agent = write_treasure(path)
    assert run(out, ["random", agent], game=TREASURE, pairs=1, opening=0) == 0
    before = Policy.load(path)
    kept = json.loads((out / "run.json").read_text())["fingerprints"]
    assert kept == {agent: before.digest}
    Policy(before.game, before.rules, before.key, before.first, before.prob, {"x": 1}).save(path)
    assert run(out, ["random", agent], game=TREASURE, pairs=1, opening=0) == 0
    form = native_form(TREASURE)
    other = Policy.of_strategy(form.tree, uniform(form.tree), before.rules)
    other.save(path)
    capsys.readouterr()
    assert run(out, ["random", agent], game=TREASURE, pairs=1, opening=0) == 2
    said = capsys.readouterr().err
    assert "holds another run: fingerprints was" in said
    assert said.index(before.digest) < said.index(other.digest)


def test_a_policy_plays_in_openspiel(tmp_path: Path) -> None:
    game = cardcommons.parse_game(TREASURE)
    spec = write_treasure(tmp_path / "treasure.npz")
    bots = [as_bot(make_agent(told, game), seat) for seat, told in enumerate((spec, "random"))]
    spiel = pyspiel.load_game(PREFIX + game.name, game.parameters)
    returns = [pyspiel.evaluate_bots(spiel.new_initial_state(), bots, seed) for seed in range(60)]
    assert sum(first for first, _ in returns) > 20
    assert all(first == -second for first, second in returns)


def test_a_policy_of_the_whole_game_plays_it(tmp_path: Path) -> None:
    game = cardcommons.load("treasure")
    solver = GameMCCFR(game, "outcome", seed=1)
    solver.run(200)
    policy = solver.policy({"note": "short"})
    policy.save(tmp_path / "whole.npz")
    told = Policy.load(tmp_path / "whole.npz").made
    assert told == {"algorithm": "outcome sampling", "iterations": 200, "note": "short"}
    agents = [make_agent(f"policy:file={tmp_path / 'whole.npz'}", game), make_agent("random", game)]
    assert sum(play(game, agents, seed=1).returns) == 0


def _rewritten(path: Path, **changes: Any) -> None:
    told, arrays = read_arrays(path)
    write_arrays(path, told | changes, arrays)


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "treasure.npz"
    spec = write_treasure(path)
    with pytest.raises(ValueError, match=f"is a policy for {TREASURE}, not for treasure$"):
        make_agent(spec, cardcommons.load("treasure"))
    game = cardcommons.parse_game(TREASURE)
    _rewritten(path, rules="0123")
    with pytest.raises(ValueError, match="as it was under other rules; it has to be made anew"):
        make_agent(spec, game)
    _rewritten(path, kind="policy 0")
    with pytest.raises(ValueError, match="holds no policy of this format, but policy 0"):
        make_agent(spec, game)
    path.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="is damaged, or was not written by cardcommons"):
        make_agent(spec, game)
    with pytest.raises(OSError, match="nowhere"):
        make_agent("policy:file=nowhere.npz", game)
    with pytest.raises(ValueError, match="policy needs file="):
        make_agent("policy", game)


def test_a_single_array_is_no_policy(tmp_path: Path) -> None:
    path = tmp_path / "array.npz"
    with path.open("wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(ValueError, match=r"array.npz is damaged, or was not written by cardcomm"):
        Policy.load(path)


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("key", lambda a: a.astype(np.int64), "key is int64 with 1 axes, not uint64 with 1"),
        ("prob", lambda a: a.astype(np.float32), "prob is float32 with 1 axes, not float64"),
        ("prob", lambda a: a[None], "prob is float64 with 2 axes, not float64 with 1"),
        ("first", lambda a: a[:-1], "first has 12 entries for 12 information sets"),
        ("first", lambda a: a[:0], "first has 0 entries for 12 information sets"),
        ("first", lambda a: a + 1, "first does not ascend from 0 to the 24 probabilities"),
        ("first", lambda a: np.where(a == 2, 20, a), "first does not ascend from 0 to the 24"),
        ("first", lambda a: np.where(a == 24, 10**9, a), "first does not ascend from 0 to"),
        ("key", lambda a: np.full_like(a, 7), "an information set occurs twice"),
        ("prob", lambda a: np.full_like(a, np.nan), "a probability is negative or no number"),
        ("prob", lambda a: np.full_like(a, np.inf), "a probability is negative or no number"),
        ("prob", lambda a: np.tile([-0.5, 1.5], 12), "a probability is negative or no number"),
        ("prob", lambda a: a + 1e-5, "probabilities of an information set don't sum to 1"),
    ],
)
def test_arrays_of_no_policy_are_refused(
    tmp_path: Path,
    name: str,
    change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
    complaint: str,
) -> None:
    path = tmp_path / "kuhn.npz"
    kuhn_policy(unroll(KUHN)).save(path)
    told, arrays = read_arrays(path)
    write_arrays(path, told, arrays | {name: change(arrays[name])})
    with pytest.raises(ValueError, match=rf"kuhn.npz is damaged: .*{complaint}"):
        Policy.load(path)


@pytest.mark.parametrize(("name", "value"), [("game", 3), ("rules", None), ("made", [])])
def test_words_of_no_policy_are_refused(tmp_path: Path, name: str, value: object) -> None:
    path = tmp_path / "kuhn.npz"
    kuhn_policy(unroll(KUHN)).save(path)
    _rewritten(path, **{name: value})
    with pytest.raises(ValueError, match=rf"kuhn.npz is damaged: {name} can't be "):
        Policy.load(path)


def test_drafts_that_were_left_behind_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "kuhn.npz"
    stale, fresh, other = (tmp_path / f"{n}.part" for n in ("kuhn.npz.1", "kuhn.npz.2", "x.npz.3"))
    for draft in (stale, fresh, other):
        draft.write_bytes(b"half")
    for draft in (stale, other):
        os.utime(draft, (1e9, 1e9))
    kuhn_policy(unroll(KUHN)).save(path)
    assert set(tmp_path.iterdir()) == {path, fresh, other}


def test_a_policy_is_not_taken_for_that_of_another_tree() -> None:
    with pytest.raises(ValueError, match=f"the policy is for kuhn, not for {TREASURE}"):
        kuhn_policy(unroll(KUHN)).strategy(native_form(TREASURE).tree)
