"""What a player can tell apart: keys, information state strings, observations.

The slow twin's sequences of observations decide.  Whole trees of reduced games are compared, nodes
of chance included, and long random games of larger ones.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.observation import make_observation

from cardcommons.openspiel import OpenSpielState
from cardcommons.state import make_verb
from tests.treasure.walks import DEFAULT, POLICIES, TINY, VARIANTS, Variant, choose, public_part
from tests.twins.treasure import TERMINAL, Twin
from tests.twins.trees import at_random

Node = tuple[Twin, OpenSpielState]
PRIVATE = pyspiel.PrivateInfoType


def root(variant: Variant) -> Node:
    """The start of a game, in the twin and in OpenSpiel."""
    game = pyspiel.load_game("cardcommons_treasure", dict(variant.params))
    return variant.twin(), game.new_initial_state()


def child(node: Node, action: str) -> Node:
    twin, state = node[0].apply(action), node[1].clone()
    state.apply_action(state.string_to_action(action))
    return twin, state


def tree(node: Node) -> Iterator[Node]:
    """All histories from here on."""
    yield node
    for action in at_random(node[0]):
        yield from tree(child(node, action))


def line(node: Node, policy: str, rng: Random) -> Iterator[Node]:
    """A random game."""
    yield node
    while node[0].player != TERMINAL:
        node = child(node, choose(node[0], POLICIES[policy], rng))
        yield node


def random_nodes(variant: Variant, games: int) -> list[Node]:
    """The nodes of random games, which are told apart early or late."""
    start = root(variant)
    policies = sorted(POLICIES)
    return [
        node
        for i in range(games)
        for node in line(start, policies[i % len(policies)], Random(f"{variant} {i}"))
    ]


def key_of(state: OpenSpielState, player: int) -> int:
    rules = state.get_game().native_game.rules
    return int(make_verb(rules, "info_key")(state.words.copy(), player))


class Groups:
    """Which values of one thing go with which values of another."""

    def __init__(self) -> None:
        self.of: dict[Hashable, set[Hashable]] = defaultdict(set)

    def add(self, key: Hashable, value: Hashable) -> None:
        self.of[key].add(value)

    def assert_function(self) -> None:
        """Equal keys always came with equal values."""
        split = [(key, values) for key, values in self.of.items() if len(values) > 1]
        assert not split, f"{len(split)} of {len(self.of)}, such as {split[0]}"


def assert_tells_the_same(nodes: list[Node]) -> None:
    """Keys and strings are equal exactly when the sequences of observations are."""
    for player in (0, 1):
        groups = {name: (Groups(), Groups()) for name in ("key", "string")}
        for twin, state in nodes:
            seen = twin.observations(player)
            told = {"key": key_of(state, player), "string": state.information_state_string(player)}
            for name, value in told.items():
                groups[name][0].add(seen, value)
                groups[name][1].add(value, seen)
        for there, back in groups.values():
            there.assert_function()
            back.assert_function()
            assert len(there.of) == len(back.of)


def kinds() -> dict[str, pyspiel.IIGObservationType]:
    """What may be observed without recall, by name."""
    return {
        "public": pyspiel.IIGObservationType(True, False, PRIVATE.NONE),
        "private": pyspiel.IIGObservationType(False, False, PRIVATE.SINGLE_PLAYER),
        "both": pyspiel.IIGObservationType(True, False, PRIVATE.SINGLE_PLAYER),
    }


class Eyes:
    """The observers of a game, which tell a node as something that can be compared."""

    def __init__(self, state: OpenSpielState) -> None:
        game = state.get_game()
        self.observers = {name: make_observation(game, kind) for name, kind in kinds().items()}

    def see(self, kind: str, state: OpenSpielState, player: int) -> tuple[bytes, str]:
        """The tensor and the string."""
        observer = self.observers[kind]
        observer.set_from(state, player)
        return observer.tensor.tobytes(), observer.string_from(state, player)


def assert_hides(nodes: list[Node]) -> None:
    """An observation follows from what the player saw, its parts from what they are to show."""
    eyes = Eyes(nodes[0][1])
    groups = {name: Groups() for name in kinds()}
    strings = Groups()
    for twin, state in nodes:
        public = public_part(twin.events)
        for player in (0, 1):
            groups["public"].add(public, eyes.see("public", state, player))
            hand = (player, twin.hands[player])
            groups["private"].add(hand, eyes.see("private", state, player))
            both = eyes.see("both", state, player)
            groups["both"].add((player, twin.observations(player)), both)
            strings.add((player, both[0]), (player, both[1]))
            strings.add((player, both[1]), (player, both[0]))
    for found in (*groups.values(), strings):
        found.assert_function()
    assert 1 < len(groups["private"].of) < len(groups["public"].of) < len(groups["both"].of)


@pytest.mark.parametrize("variant", TINY, ids=str)
def test_knowledge_is_told_exactly_in_whole_trees(variant: Variant) -> None:
    assert_tells_the_same(list(tree(root(variant))))


@pytest.mark.parametrize("variant", [TINY[0], TINY[1]], ids=str)
def test_observations_hide_what_they_should_in_whole_trees(variant: Variant) -> None:
    nodes = list(tree(root(variant)))
    assert_hides(nodes)
    seen: dict[Hashable, set[Hashable]] = defaultdict(set)
    for twin, _ in nodes:
        seen[twin.observations(0)].add(twin.hands[1])
    assert max(map(len, seen.values())) > 1  # so that there is something to hide


def test_knowledge_is_told_exactly_in_random_games(variant: Variant) -> None:
    nodes = random_nodes(variant, len(POLICIES))
    assert_tells_the_same(nodes)
    assert_hides(nodes)


def test_nothing_changes_for_a_player_while_the_other_one_draws() -> None:
    draws = 0
    for variant in VARIANTS:
        nodes = list(line(root(variant), "playing", Random(4)))
        eyes = Eyes(nodes[0][1])
        for (_, before), (twin, after) in pairwise(nodes):
            if not twin.events[-1].is_draw:
                continue
            other = 1 - twin.events[-1].player
            for player in (0, 1):
                assert eyes.see("public", before, player) == eyes.see("public", after, player)
            for told in (key_of, OpenSpielState.information_state_string):
                same: list[Any] = [told(state, other) for state in (before, after)]
                mine: list[Any] = [told(state, 1 - other) for state in (before, after)]
                assert same[0] == same[1]
                assert mine[0] != mine[1]
            draws += 1
    assert draws == sum(len(variant.twin().parameters.deck) * 2 for variant in VARIANTS)


BLOCKS = {
    "tops": (2, 14, 5, 9),
    "connected": (2, 5, 9),
    "unseen": (2, 14),
    "hand_sizes": (2,),
    "played": (2,),
    "next": (2,),
    "hand": (14,),
}


def test_blocks_of_an_observation_tell_the_state() -> None:
    observer = make_observation(root(DEFAULT)[1].get_game(), kinds()["both"])
    assert {name: block.shape for name, block in observer.dict.items()} == BLOCKS
    for variant in VARIANTS:
        for twin, state in line(root(variant), "covering", Random(6)):
            for player in (0, 1):
                observer.set_from(state, player)
                _assert_blocks(observer.dict, twin, player)


def _assert_blocks(blocks: dict[str, np.ndarray[Any, Any]], twin: Twin, player: int) -> None:
    ranks = "$23456789TJQKA"
    tops = {
        (pile[-1].owner, ranks.index(pile[-1].rank), int(cell[1]) - 1, "abcdefghi".index(cell[0]))
        for cell, pile in twin.piles.items()
    }
    assert {tuple(map(int, at)) for at in np.argwhere(blocks["tops"])} == tops
    assert blocks["tops"].sum() == len(tops)
    joined = {
        (owner, int(cell[1]) - 1, "abcdefghi".index(cell[0]))
        for owner in (0, 1)
        for cell in twin.connected(owner)
    }
    assert {tuple(map(int, at)) for at in np.argwhere(blocks["connected"])} == joined
    unseen = [[(*twin.hands[p], *twin.decks[p]).count(rank) for rank in ranks] for p in (0, 1)]
    assert blocks["unseen"].tolist() == unseen
    sizes = [len(twin.hands[p]) + twin.pending[p] for p in (0, 1)]
    assert blocks["hand_sizes"].tolist() == sizes
    assert blocks["played"].tolist() == [not owes for owes in twin.owes_first]
    assert blocks["next"].tolist() == [twin.turn == 0, twin.turn == 1]
    assert blocks["hand"].tolist() == [twin.hands[player].count(rank) for rank in ranks]


@pytest.mark.parametrize("variant", TINY, ids=str)
def test_what_is_seen_now_tells_what_is_legal(variant: Variant) -> None:
    """Also who still owes a first card, where that card may have been covered or never played."""
    told = Groups()
    for twin, state in tree(root(variant)):
        if twin.player >= 0:
            told.add(state.observation_string(twin.player), tuple(state.legal_actions()))
    told.assert_function()


def test_strings_of_a_known_state() -> None:
    state = root(Variant.of(rows=2, columns=2, ranks=3, copies=1, hand=2))[1]
    drawn = ("draw:$", "draw:4", "draw:2", "draw:3", "4@e1", "-3")
    for action in drawn:
        state.apply_action(state.string_to_action(action))
    table = "........./....4r.... unseen: $23 $24 hands: 1 1 played: 1 0 next: 0"
    eyes = Eyes(state)
    assert eyes.see("public", state, 0)[1] == table
    assert eyes.see("private", state, 0)[1] == "Red: $"
    assert eyes.see("private", state, 1)[1] == "Black: 2"
    assert eyes.see("both", state, 1)[1] == f"{table} Black: 2"
    assert state.observation_string(1) == f"{table} Black: 2"


def test_recalling_observers_hide_what_they_should() -> None:
    """They tell how many actions there were, draws included, and what follows from it."""
    nodes = list(tree(root(TINY[1])))
    game = nodes[0][1].get_game()
    table = make_observation(game, pyspiel.IIGObservationType(True, True, PRIVATE.NONE))
    own = make_observation(game, pyspiel.IIGObservationType(False, True, PRIVATE.SINGLE_PLAYER))
    for player in (0, 1):
        on_table, in_hand = Groups(), Groups()
        for twin, state in nodes[::5]:
            length = len(twin.events)
            on_table.add((public_part(twin.events), length), table.string_from(state, player))
            in_hand.add((twin.observations(player), length), own.string_from(state, player))
        on_table.assert_function()
        in_hand.assert_function()
