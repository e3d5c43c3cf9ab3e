"""Unrolled trees: against known counts, perft, OpenSpiel's own walk, and their laws."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel
import pytest
from numba.extending import register_jitable

import cardcommons
from cardcommons import Game, State, openspiel_tree, tree_cache
from cardcommons.identity import rules_digest
from cardcommons.openspiel import PREFIX
from cardcommons.perft import perft
from cardcommons.treaty import CHANCE, TERMINAL, Words
from cardcommons.tree import GameTree, count_tree, unroll
from tests import kuhn

SMALL = "treasure:rows=2,columns=2,ranks=2,copies=1,hand=2,utility=margin"


def kuhn_game(players: int = 2) -> Game:
    return kuhn.FAMILY.make(kuhn.KuhnParams(players))


def arrays(tree: GameTree) -> dict[str, npt.NDArray[Any]]:
    sets = {f"info set {name}": told for name, told in tree.info_sets._asdict().items()}
    return tree.nodes._asdict() | sets


def assert_equal(one: GameTree, other: GameTree, *, but: str = "") -> None:
    for (name, ours), theirs in zip(arrays(one).items(), arrays(other).values(), strict=True):
        assert ours.dtype == theirs.dtype, name
        assert name == but or np.array_equal(ours, theirs), name


def through_openspiel(game: Game) -> GameTree:
    return openspiel_tree.unroll(pyspiel.load_game(PREFIX + game.name, game.parameters))


@pytest.mark.parametrize(
    ("name", "nodes", "info_sets"),
    [
        ("kuhn_poker", 58, 12),
        ("kuhn_poker(players=3)", 617, 48),
        ("leduc_poker", 9457, 936),
    ],
)
def test_known_sizes_of_openspiel_games(name: str, nodes: int, info_sets: int) -> None:
    game = pyspiel.load_game(name)
    count, tree = openspiel_tree.count_tree(game), openspiel_tree.unroll(game)
    assert (count.nodes, count.info_sets) == (nodes, info_sets)
    assert (tree.num_nodes, tree.num_info_sets) == (nodes, info_sets)
    assert np.bincount(_depths(tree)).tolist() == list(count.levels)


@pytest.mark.parametrize(("players", "nodes", "info_sets"), [(2, 58, 12), (3, 617, 48)])
def test_native_tree_of_kuhn_poker(players: int, nodes: int, info_sets: int) -> None:
    tree, count = unroll(kuhn_game(players)), count_tree(kuhn_game(players))
    assert (tree.num_nodes, tree.num_info_sets) == (nodes, info_sets)
    assert count.nodes == nodes
    assert abs(count.info_sets - info_sets) <= 1
    assert count.terminals == np.count_nonzero(tree.nodes.player == TERMINAL)
    assert count.decisions == np.count_nonzero(tree.nodes.player >= 0)
    assert count.choices == 2 * count.decisions


def test_both_doors_lead_to_the_same_tree() -> None:
    game = cardcommons.parse_game("treasure:rows=2,columns=2,ranks=2,copies=1,hand=1")
    native, foreign = unroll(game), through_openspiel(game)
    assert_equal(native, foreign, but="info set key")
    assert native.labels == ()
    assert [label[-16:] for label in foreign.labels] == [f"{k:016x}" for k in native.info_sets.key]


def test_levels_are_perft_and_the_estimates_are_near() -> None:
    game = cardcommons.parse_game(SMALL)
    count, tree = count_tree(game), unroll(game)
    running = [perft(game, depth) for depth in range(6)]
    assert list(count.levels[:6]) == running
    assert count.info_sets == pytest.approx(tree.num_info_sets, rel=0.1)
    taken = sum(array.nbytes for array in arrays(tree).values())
    assert taken < count.bytes < 2 * taken


def _depths(tree: GameTree) -> list[int]:
    depths = [0] * tree.num_nodes
    for node in range(1, tree.num_nodes):
        depths[node] = depths[tree.nodes.parent[node]] + 1
    return depths


@pytest.mark.parametrize("game", [kuhn_game(3), cardcommons.parse_game(SMALL)], ids=repr)
def test_laws_of_a_tree(game: Game) -> None:
    tree = unroll(game)
    nodes, sets = tree.nodes, tree.info_sets
    assert _depths(tree) == sorted(_depths(tree))
    child = np.arange(1, tree.num_nodes)
    assert np.all(nodes.first_child[nodes.parent[child]] <= child)
    assert np.all(child < nodes.first_child[nodes.parent[child] + 1])
    at_chance = nodes.player[nodes.parent[child]] == CHANCE
    sums = np.bincount(nodes.parent[child], nodes.prob[child], minlength=tree.num_nodes)
    assert np.allclose(sums[nodes.player == CHANCE], 1.0)
    assert np.all(nodes.prob[child][~at_chance] == 1.0)
    assert np.all(np.diff(sets.player) >= 0)
    decisions = np.flatnonzero(nodes.player >= 0)
    assert np.array_equal(sets.player[nodes.place[decisions]], nodes.player[decisions])
    assert np.array_equal(nodes.utility.sum(axis=1), np.zeros(len(nodes.utility)))


def test_nodes_replay_to_their_states() -> None:
    game = cardcommons.parse_game(SMALL)
    tree = unroll(game)
    for node in range(0, tree.num_nodes, 997):
        state = State(game)
        for action in tree.history(node):
            state.apply(action)
        assert state.player == tree.nodes.player[node]
        children = slice(tree.nodes.first_child[node], tree.nodes.first_child[node + 1])
        assert state.legal_actions() == tree.nodes.action[children].tolist()
        if state.is_terminal:
            assert state.returns() == tree.nodes.utility[tree.nodes.place[node]].tolist()


def test_tables_grow_where_the_estimate_was_too_low() -> None:
    game = cardcommons.parse_game(SMALL)
    count = count_tree(game)
    grown, usual = unroll(game, count=replace(count, info_sets=1)), unroll(game, count=count)
    assert_equal(grown, usual)


def test_trees_that_do_not_fit_are_refused() -> None:
    game = cardcommons.load("treasure")
    with pytest.raises(MemoryError, match=r"tree of treasure does not fit: more than .* histories"):
        unroll(game, limit=10**7)
    needed = count_tree(kuhn_game()).bytes
    with pytest.raises(MemoryError, match=r"tree of kuhn does not fit: 58 histories.* MiB"):
        unroll(kuhn_game(), limit=needed - 1)
    assert unroll(kuhn_game(), limit=needed).num_nodes == 58
    with pytest.raises(MemoryError, match="does not fit: more than 200 histories"):
        openspiel_tree.unroll(pyspiel.load_game("leduc_poker"), limit=10_000)


@pytest.mark.parametrize(
    ("game", "complaint"),
    [
        ("matrix_rps", "convert_to_turn_based"),
        ("phantom_go", "no information_state_string"),
        ("negotiation", "does not list the outcomes of chance"),
    ],
)
def test_openspiel_games_that_are_refused(game: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        openspiel_tree.unroll(pyspiel.load_game(game))


def test_simultaneous_games_can_be_converted() -> None:
    game = pyspiel.convert_to_turn_based(pyspiel.load_game("matrix_rps"))
    tree = openspiel_tree.unroll(game)
    assert (tree.num_nodes, tree.num_info_sets, tree.num_slots) == (13, 2, 6)


def test_positions_that_share_a_key_must_share_their_actions() -> None:
    game = kuhn_game()
    rules = game.rules._replace(info_key=_always_one, legal=_pass_at_first, name="blurred")
    with pytest.raises(ValueError, match="one information key to positions with different legal"):
        unroll(replace(game, rules=rules))


@register_jitable
def _always_one(s: Words, player: int) -> np.uint64:
    return np.uint64(1)


@register_jitable
def _pass_at_first(s: Words, out: npt.NDArray[np.int64]) -> int:
    out[0], out[1] = kuhn.PASS, kuhn.BET
    return 1 if s[1] == 0 else 2


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int | None]] = []
    unroll(cardcommons.parse_game(SMALL), progress=lambda *news: told.append(news))
    nodes = count_tree(cardcommons.parse_game(SMALL)).nodes
    assert told == [("counting", nodes, None), ("unrolling", nodes, nodes)]


def test_the_cache_gives_back_what_was_built(tmp_path: Path) -> None:
    tree = openspiel_tree.unroll(pyspiel.load_game("kuhn_poker"))
    calls = []

    def build() -> GameTree:
        calls.append(1)
        return tree

    first, second = (tree_cache.kept("kuhn", build, tmp_path) for _ in range(2))
    assert (len(calls), first) == (1, tree)
    assert (second.game, second.num_players, second.labels) == ("kuhn_poker()", 2, tree.labels)
    assert_equal(second, tree)
    tree_cache.kept("another", build, tmp_path)
    assert len(calls) == 2


def test_damaged_files_of_the_cache_are_made_anew(tmp_path: Path) -> None:
    tree = unroll(kuhn_game())
    tree_cache.kept("kuhn", lambda: tree, tmp_path)
    (path,) = (tmp_path / "trees").iterdir()
    whole = path.read_bytes()
    for damage in (b"", b"nonsense", whole[: len(whole) // 2]):
        path.write_bytes(damage)
        assert tree_cache.kept("kuhn", lambda: tree, tmp_path) is tree
        assert path.read_bytes() == whole


def test_what_a_tree_is_known_by() -> None:
    one = rules_digest(cardcommons.parse_game(SMALL))
    assert one == rules_digest(cardcommons.parse_game(SMALL))
    assert one != rules_digest(cardcommons.parse_game(SMALL.replace("margin", "win")))
    game = kuhn_game()
    changed = replace(game, rules=game.rules._replace(info_key=_always_one))
    assert rules_digest(game) != rules_digest(changed)
    assert openspiel_tree.identity(pyspiel.load_game("kuhn_poker")) is not None
    assert openspiel_tree.identity(pyspiel.load_game("cardcommons_treasure")) is None
