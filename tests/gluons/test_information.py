"""What a player can tell apart: keys, information state strings, observations.

The slow twin's sequences of observations decide.  Whole trees of reduced games are compared, nodes
of chance included, and random games of larger ones, together with histories that some of the
players can't tell from them.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pyspiel
import pytest
from open_spiel.python.observation import make_observation

from cardcommons.openspiel import OpenSpielState
from cardcommons.state import make_verb
from cardcommons.treaty import Words
from tests.gluons.posterior import rebuilt_actions
from tests.gluons.test_resample import resampled
from tests.gluons.walks import (
    DEFAULT,
    FOUR_FULL,
    HIDING,
    NARROW,
    POLICIES,
    REEMITTING,
    SHORT,
    THREE,
    THREE_REEMITTING,
    TINY,
    Variant,
    choose,
)
from tests.twins.gluons import PAIRS, SIDES, TERMINAL, Twin
from tests.twins.trees import at_random

Node = tuple[Twin, OpenSpielState]
PRIVATE = pyspiel.PrivateInfoType
AREAS = [nucleon + side for nucleon in "AB" for side in SIDES]

THREE_HANDS = Variant.of(players=3, copies=1, hand=1, max_rounds=1, pairs="RG-GR", sides="12-21-23")
FOUR_HANDS = Variant.of(players=4, copies=1, hand=1, max_rounds=1, pairs="RG-GR", sides="12-23")
TWO_ROUNDS = Variant.of(copies=1, hand=1, pairs="RG-GR", sides="12-21-13")
"""Games of three and of four players with draws that others don't see, and one that goes on."""


def root(variant: Variant) -> Node:
    """The start of a game, in the twin and in OpenSpiel."""
    game = pyspiel.load_game("cardcommons_gluons", dict(variant.params))
    return variant.twin(), game.new_initial_state()


def child(node: Node, action: str) -> Node:
    twin, state = node[0].apply(action), node[1].clone()
    state.apply_action(state.string_to_action(action))
    return twin, state


def tree(node: Node) -> Iterator[Node]:
    """All histories from here on in which each blocker stands on one of the first two areas."""
    yield node
    for number, action in enumerate(at_random(node[0])):
        if number < 2 or action[:5] != "block":
            yield from tree(child(node, action))


def line(node: Node, policy: str, rng: Random) -> Iterator[Node]:
    """A random game."""
    yield node
    while node[0].player != TERMINAL:
        node = child(node, choose(node[0], POLICIES[policy], rng))
        yield node


def replayed(start: Node, actions: Iterable[str]) -> Node:
    node = start
    for action in actions:
        node = child(node, action)
    return node


def continued(node: Node, actions: Iterable[str]) -> Iterator[Node]:
    """The nodes that follow by some actions, as far as they are possible."""
    for action in actions:
        if action not in at_random(node[0]):
            return
        node = child(node, action)
        yield node


def random_nodes(variant: Variant, policies: Iterable[str]) -> list[Node]:
    """The nodes of random games, and what a player takes as possible too.

    The latter go on as the game did, so that sooner or later it is seen which of them is true.
    """
    start, found = root(variant), []
    for policy in policies:
        rng = Random(f"{variant} {policy}")
        nodes = list(line(start, policy, rng))
        history = nodes[-1][0].history
        found += nodes
        for number in range(0, len(nodes), 5):
            twin, state = nodes[number]
            for player in variant.players:
                other = resampled(state.to_native(), player, rng.getrandbits(64))
                node = replayed(start, rebuilt_actions(twin, other.words))
                found += [node, *continued(node, history[number : number + 5])]
    return found


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


class Matching(NamedTuple):
    """Pairs of values that must determine each other."""

    there: Groups
    back: Groups

    @classmethod
    def empty(cls) -> "Matching":
        """Without any pairs yet."""
        return cls(Groups(), Groups())

    def add(self, one: Hashable, other: Hashable) -> None:
        """Two values that came together."""
        self.there.add(one, other)
        self.back.add(other, one)

    def assert_one_to_one(self) -> None:
        """Values of one kind are equal exactly when those of the other kind are."""
        self.there.assert_function()
        self.back.assert_function()
        assert len(self.there.of) == len(self.back.of)


def assert_tells_the_same(nodes: list[Node]) -> None:
    """Keys and strings are equal exactly when the sequences of observations are."""
    for player in range(nodes[0][0].parameters.players):
        keys, strings = Matching.empty(), Matching.empty()
        for twin, state in nodes:
            seen = twin.observations(player)
            keys.add(seen, key_of(state, player))
            strings.add(seen, state.information_state_string(player))
        keys.assert_one_to_one()
        strings.assert_one_to_one()
        assert len(keys.there.of) < len({twin.history for twin, _ in nodes})


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


def public_part(twin: Twin) -> tuple[str, ...]:
    """What somebody sees who plays no part in the game."""
    return tuple(f"{event.player}:{event.shown}" for event in twin.events if event.shown)


def own_part(twin: Twin, player: int) -> tuple[Hashable, ...]:
    """A player's hand and gluons that lie face down."""
    down = {area: own.pair for area, own in twin.gluons(player).items() if not own.face_up}
    return twin.hands[player], frozenset(down.items())


def assert_hides(nodes: list[Node]) -> None:
    """An observation follows from what the player saw, its parts from what they are to show."""
    eyes = Eyes(nodes[0][1])
    public, both = Groups(), Groups()
    private, strings = Matching.empty(), Matching.empty()
    for twin, state in nodes:
        for player in range(twin.parameters.players):
            public.add(public_part(twin), eyes.see("public", state, player))
            private.add(own_part(twin, player), eyes.see("private", state, player))
            seen = eyes.see("both", state, player)
            both.add((player, twin.observations(player)), seen)
            strings.add((player, seen[0]), (player, seen[1]))
    public.assert_function()
    both.assert_function()
    private.assert_one_to_one()
    strings.assert_one_to_one()
    assert len(private.there.of) > 1
    assert 1 < len(public.of) < len(both.of)


@pytest.mark.parametrize("variant", [TINY, THREE_HANDS, FOUR_HANDS, TWO_ROUNDS], ids=str)
def test_knowledge_is_told_exactly_in_whole_trees(variant: Variant) -> None:
    assert_tells_the_same(list(tree(root(variant))))


@pytest.mark.parametrize("variant", [FOUR_HANDS, TWO_ROUNDS], ids=str)
def test_observations_hide_what_they_should_in_whole_trees(variant: Variant) -> None:
    nodes = list(tree(root(variant)))
    assert_hides(nodes[:: 1 + len(nodes) // 1000])
    seen: dict[Hashable, set[Hashable]] = defaultdict(set)
    for twin, _ in nodes:
        seen[twin.observations(0)].add(twin.hands[1])
    assert max(map(len, seen.values())) > 1  # so that there is something to hide


def _words_of_tree(variant: Variant) -> Iterator[tuple[Twin, Words]]:
    """The same as ``tree`` without OpenSpiel, in less time."""
    game = variant.game()
    apply = make_verb(game.rules, "apply")

    @cache
    def id_of(action: str) -> int:
        return game.text.string_to_action(-1 if action[:5] == "draw:" else 0, action)

    def below(twin: Twin, words: Words) -> Iterator[tuple[Twin, Words]]:
        yield twin, words
        for action in at_random(twin):
            after = words.copy()
            apply(after, id_of(action))
            yield from below(twin.apply(action), after)

    return below(variant.twin(), game.start.copy())


def test_knowledge_is_told_exactly_in_a_whole_tree_with_hidden_plays() -> None:
    """Keys at every history; the strings, which are slow, at one in thirty."""
    game, rng = HIDING.game(), Random(1)
    info, string = make_verb(game.rules, "info_key"), game.views.string
    keys, views = (Matching.empty(), Matching.empty()), (Groups(), Groups())
    deciding: tuple[set[int], set[int]] = (set(), set())
    for twin, words in _words_of_tree(HIDING):
        told = rng.random() < 1 / 30
        for player in (0, 1):
            seen = " ".join(twin.observations(player))
            keys[player].add(seen, int(info(words, player)))
            if told:
                views[player].add(seen, string(words, player, public=True, private=True))
        if twin.player >= 0:
            deciding[twin.player].add(int(info(words, twin.player)))
    for player in (0, 1):
        keys[player].assert_one_to_one()
        views[player].assert_function()
    assert [*map(len, deciding)] == [15362, 14712]


@pytest.mark.parametrize(
    "variant",
    [REEMITTING, SHORT, NARROW, THREE, THREE_REEMITTING, FOUR_FULL],
    ids=str,
)
def test_knowledge_is_told_exactly_in_random_games(variant: Variant) -> None:
    nodes = random_nodes(variant, ["hiding", "reemitting"])
    assert_tells_the_same(nodes)
    assert_hides(nodes[::3])


def test_nothing_changes_for_a_player_while_others_draw() -> None:
    draws = 0
    for variant in (REEMITTING, THREE, FOUR_FULL):
        nodes = list(line(root(variant), "hiding", Random(4)))
        eyes = Eyes(nodes[0][1])
        for (_, before), (twin, after) in pairwise(nodes):
            if not twin.events[-1].is_draw:
                continue
            drawer = twin.events[-1].player
            for player in variant.players:
                assert eyes.see("public", before, player) == eyes.see("public", after, player)
                for told in (key_of, OpenSpielState.information_state_string):
                    was: Any = told(before, player)
                    now: Any = told(after, player)
                    assert (was == now) == (player != drawer)
            draws += 1
    assert draws > 2 * 10 + 3 * 10 + 4 * 2


BLOCKS = {
    "quarks": (2, 3, 3),
    "owners": (4, 12),
    "blocked": (12,),
    "face_down": (12,),
    "face_up": (6, 12),
    "shown": (4, 6),
    "points": (4,),
    "hand_sizes": (4,),
    "deck_sizes": (4,),
    "tokens": (4, 4),
    "locked": (4,),
    "passed": (4,),
    "played": (4, 2),
    "first": (4,),
    "next": (4,),
    "phase": (3,),
    "round": (1,),
    "final_round": (1,),
    "hand": (6,),
    "own_face_down": (6, 12),
}


def test_blocks_of_an_observation_tell_the_state() -> None:
    for variant in (DEFAULT, NARROW, THREE, FOUR_FULL):
        observer = make_observation(root(variant)[1].get_game(), kinds()["both"])
        assert {name: block.shape for name, block in observer.dict.items()} == BLOCKS
        for twin, state in line(root(variant), "hiding", Random(6)):
            for player in variant.players:
                observer.set_from(state, player)
                own = {name: observer.dict[name] for name in ("hand", "own_face_down")}
                _assert_own_blocks(own, twin, player)
                if twin.player >= 0:
                    _assert_field(observer.dict, twin)
                    _assert_counts(observer.dict, twin)
                    _assert_turn(observer.dict, twin)


Blocks = dict[str, np.ndarray[Any, Any]]


def _ones(block: np.ndarray[Any, Any]) -> set[tuple[int, ...]]:
    """Where a block has a 1; it has nothing else."""
    assert set(block.ravel().tolist()) <= {0.0, 1.0}
    return {tuple(map(int, at)) for at in np.argwhere(block)}


def _assert_own_blocks(blocks: Blocks, twin: Twin, player: int) -> None:
    assert blocks["hand"].tolist() == [twin.hands[player].count(pair) for pair in PAIRS]
    assert _ones(blocks["own_face_down"]) == {
        (PAIRS.index(gluon.pair), AREAS.index(area))
        for area, gluon in twin.gluons(player).items()
        if not gluon.face_up
    }


def _assert_field(blocks: Blocks, twin: Twin) -> None:
    assert _ones(blocks["quarks"]) == {
        ("AB".index(vertex[0]), "123".index(vertex[1]), "RGB".index(colour))
        for vertex, colour in twin.quarks.items()
    }
    owners = {area: gluon.owner for area, gluon in twin.areas.items()} | dict(twin.blockers)
    assert _ones(blocks["owners"]) == {(who, AREAS.index(area)) for area, who in owners.items()}
    assert _ones(blocks["blocked"]) == {(AREAS.index(area),) for area in twin.blockers}
    down = {area for area, gluon in twin.areas.items() if not gluon.face_up}
    assert _ones(blocks["face_down"]) == {(AREAS.index(area),) for area in down}
    assert _ones(blocks["face_up"]) == {
        (PAIRS.index(gluon.pair), AREAS.index(area))
        for area, gluon in twin.areas.items()
        if area not in down
    }


def _padded(numbers: Iterable[float]) -> list[float]:
    """A number a seat, of four seats whoever plays."""
    return ([*map(float, numbers)] + [0.0] * 4)[:4]


def _shown(twin: Twin, player: int) -> list[float]:
    """The cards of a player that all have seen, by pair."""
    up = [gluon.pair for gluon in twin.gluons(player).values() if gluon.face_up]
    cards = [*up, *twin.kept[player], *twin.discards[player]]
    return [float(cards.count(pair)) for pair in PAIRS]


def _assert_counts(blocks: Blocks, twin: Twin) -> None:
    everyone = range(twin.parameters.players)
    assert blocks["points"].tolist() == _padded(map(twin.points, everyone))
    assert blocks["hand_sizes"].tolist() == _padded(map(len, twin.hands))
    assert blocks["deck_sizes"].tolist() == _padded(map(len, twin.decks))
    for player in everyone:
        assert blocks["shown"][player].tolist() == _shown(twin, player)
        planning = twin.phase == "planning" and player not in twin.passed
        own = twin.gluons(player).values() if planning else ()
        assert blocks["played"][player].tolist() == [len(own), any(g.face_up for g in own)]


def _assert_turn(blocks: Blocks, twin: Twin) -> None:
    taken = {(number - 1, who) for number, who in twin.tokens.items()}
    assert _ones(blocks["tokens"]) == taken
    planning = twin.phase == "planning"
    assert _ones(blocks["locked"]) == {(n - 1,) for n in twin.locked if planning}
    assert _ones(blocks["passed"]) == {(who,) for who in twin.passed if planning}
    assert _ones(blocks["first"]) == {(twin.first,)}
    assert _ones(blocks["next"]) == {(twin.turn,)}
    assert _ones(blocks["phase"]) == {(["blocking", "planning", "activation"].index(twin.phase),)}
    assert blocks["round"].tolist() == [twin.round]
    assert blocks["final_round"].tolist() == [twin.is_final]


def test_strings_of_a_known_state() -> None:
    actions = (
        *("draw:RG", "draw:RG", "draw:GR", "draw:GB", "draw:GR", "draw:GR"),
        *("RG@A12", "GR@A23", "RG?A13", "pass", "GR@A21", "pass", "!A23"),
    )
    variant = Variant.of(hand=3, pairs="RG-GR-GB")
    state = replayed(root(variant), actions)[1]
    table = (
        "RGB A12:RG/0 A13:[??/0] A21:GR/0 0:0,0,3,RG-GR,0 1:0,2,3,GR,0"
        " round 1 first 0 tokens 10 0 activates"
    )
    eyes = Eyes(state)
    assert eyes.see("public", state, 0)[1] == table
    assert eyes.see("private", state, 0)[1] == "hand - A13:RG"
    assert eyes.see("private", state, 1)[1] == "hand GR-GB"
    assert eyes.see("both", state, 1)[1] == f"{table} hand GR-GB"
    assert state.observation_string(0) == f"{table} hand - A13:RG"
    assert state.information_state_string(1).startswith(f"player 1: {table} hand GR-GB #")


def test_recalling_observers_hide_what_they_should() -> None:
    """They tell how many actions there were, draws included, and what follows from it."""
    nodes = list(tree(root(FOUR_HANDS)))
    game = nodes[0][1].get_game()
    table = make_observation(game, pyspiel.IIGObservationType(True, True, PRIVATE.NONE))
    own = make_observation(game, pyspiel.IIGObservationType(False, True, PRIVATE.SINGLE_PLAYER))
    for player in (0, 3):
        on_table, in_hand = Groups(), Groups()
        for twin, state in nodes[:: len(nodes) // 150]:
            length = len(twin.events)
            on_table.add((public_part(twin), length), table.string_from(state, player))
            in_hand.add((twin.observations(player), length), own.string_from(state, player))
        on_table.assert_function()
        in_hand.assert_function()
