"""Equal state keys go with equal futures, whatever vertices, nucleons and colours are called.

Equal view keys go with equal views, as they are: all have their names.
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from fractions import Fraction
from itertools import islice, permutations
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardcommons import State
from cardcommons.games.gluons.rules import COUNTS, DECKS, HANDS, META, OWN, VALUE
from cardcommons.perft import perft
from tests.gluons.test_resample import resampled
from tests.gluons.walks import (
    DEFAULT,
    FOUR,
    FOUR_REEMITTING,
    HIDING,
    OPEN,
    POLICIES,
    REEMITTING,
    SHORT,
    THREE,
    THREE_REEMITTING,
    TINY,
    Pair,
    Variant,
    drawing_chances,
    info_key,
    pairs,
    played_round,
    view_key,
    walk,
    whole_tree,
)
from tests.one_to_one import assert_one_to_one
from tests.twins.gluons import (
    ACTIVATION,
    PAIRS,
    PLANNING,
    SIDES,
    Area,
    Gluon,
    Twin,
    in_order,
)
from tests.twins.trees import at_random

TWO_ROUNDS = Variant.of(copies=1, hand=1, pairs="RG-GR", sides="12-21-13-23")
TWO_NUCLEONS = Variant.of(players=4, copies=1, hand=1, max_rounds=2, pairs="RG-GR", sides="12-21")
COLOURS = "RGB"


class Naming(NamedTuple):
    """Other names for colours, vertices and nucleons."""

    colours: str
    """What takes the place of R, G and B."""
    vertices: tuple[str, str]
    """For each nucleon what takes the place of 1, 2 and 3."""
    swaps: bool
    """Whether nucleons A and B change places."""

    def pair(self, pair: str) -> str:
        """A gluon's new name."""
        return "".join(self.colours[COLOURS.index(colour)] for colour in pair)

    def area(self, area: Area) -> Area:
        """An area's new name."""
        vertices = self.vertices["AB".index(area[0])]
        side = "".join(vertices["123".index(vertex)] for vertex in area[1:])
        return ("BA" if self.swaps else "AB")["AB".index(area[0])] + side

    def action(self, action: str) -> str:
        """The same action in new names."""
        if action == "pass":
            return action
        if action[:5] == "draw:":
            return f"draw:{self.pair(action[5:])}"
        if action[:5] == "block":
            return f"block@{self.area(action[6:])}"
        if action[0] == "!":
            area, plus, card = action[1:].partition("+")
            return f"!{self.area(area)}{plus}{self.pair(card)}"
        return self.pair(action[:2]) + action[2] + self.area(action[3:])


def namings_of_games(variant: Variant) -> list[Naming]:
    """Those that turn a whole game into another one, which begins alike."""
    twin = variant.twin()
    found = []
    for colours in map("".join, permutations(COLOURS)):
        vertices = "".join("123"[COLOURS.index(colour)] for colour in colours)
        for swaps in (False, True)[: len(twin.parameters.nucleons)]:
            naming = Naming(colours, (vertices, vertices), swaps)
            same_areas = {*map(naming.area, twin.parameters.areas)} == twin.parameters.areas
            if same_areas and {*map(naming.pair, twin.parameters.kinds)} == {
                *twin.parameters.kinds
            }:
                found.append(naming)
    return found


@st.composite
def namings(draw: st.DrawFn) -> Naming:
    """Any names, each nucleon's vertices for themselves."""
    colours = "".join(draw(st.permutations(COLOURS)))
    vertices = ["".join(draw(st.permutations("123"))) for _ in "AB"]
    return Naming(colours, (vertices[0], vertices[1]), draw(st.booleans()))


AREAS = [nucleon + side for nucleon in "AB" for side in SIDES]


def _moved_bits(word: int, places: Iterable[tuple[int, int]], width: int) -> int:
    """Fields of so many bits, moved each from one place to another."""
    mask = (1 << width) - 1
    return sum((word >> width * old & mask) << width * new for old, new in places)


def renamed(state: State, naming: Naming) -> State:
    """The state in which everything has its new name."""
    words = [int(word) for word in state.words]
    areas = [(AREAS.index(area), AREAS.index(naming.area(area))) for area in AREAS]
    kinds = [(PAIRS.index(pair), PAIRS.index(naming.pair(pair))) for pair in PAIRS]
    players, low = len(state.returns()), (1 << 48) - 1

    def plane(word: int) -> int:
        return _moved_bits(word, areas, 1)

    def hand_or_deck(word: int) -> int:
        each = (_moved_bits(word >> 12 * player, kinds, 2) for player in range(players))
        return sum(cards << 12 * player for player, cards in enumerate(each))

    own = sum(plane(words[OWN] >> 12 * i & 0xFFF) << 12 * i for i in range(5))
    nibbles = [0, *(1 + new for _, new in sorted(kinds))]
    value = (
        sum(nibbles[words[VALUE] >> 4 * old & 15] << 4 * new for old, new in areas)
        | plane(words[VALUE] >> 48) << 48
    )
    after = state.copy()
    after.words[OWN], after.words[VALUE] = np.uint64(own), np.uint64(value)
    after.words[HANDS] = np.uint64(hand_or_deck(words[HANDS]))
    decks = hand_or_deck(words[DECKS]) | plane(words[DECKS] >> 48) << 48
    after.words[DECKS] = np.uint64(decks)
    after.words[COUNTS] = np.uint64(words[COUNTS] & low | _renamed_quarks(words, naming) << 48)
    return after


def _renamed_quarks(words: list[int], naming: Naming) -> int:
    quarks = 0
    for i in range(6):
        nucleon, vertex = "AB"[i // 3], "123"[i % 3]
        colour = naming.colours[words[COUNTS] >> 48 + 2 * i & 3]
        area = naming.area(f"{nucleon}{vertex}{'2' if vertex != '2' else '1'}")
        place = 3 * "AB".index(area[0]) + "123".index(area[1])
        quarks |= COLOURS.index(colour) << 2 * place
    return quarks


def canonical(twin: Twin) -> Hashable:
    """All that the future depends on, but for names that make no difference."""
    forms = [_in_colours(twin, "".join(colours)) for colours in permutations(COLOURS)]
    planning, acting = twin.phase == PLANNING, twin.phase in (PLANNING, ACTIVATION)
    round_number = twin.round if twin.parameters.max_rounds else 0
    turn = (twin.phase, round_number, twin.first, twin.player, twin.pending)
    duty = [
        planning and player not in twin.passed and any(g.face_up for g in _gluons(twin, player))
        for player in range(twin.parameters.players)
    ]
    held = (_still_in_order(twin) if acting else (), len(twin.locked) if planning else 0)
    return (twin.parameters, min(forms), turn, held, tuple(duty), tuple(map(len, twin.kept)))


def _gluons(twin: Twin, player: int) -> list[Gluon]:
    return [gluon for gluon in twin.areas.values() if gluon.owner == player]


def _still_in_order(twin: Twin) -> tuple[int, ...]:
    """The order of the tokens; in activation of those who have gluons, from the one who acts."""
    if twin.phase == PLANNING:
        return twin.order
    begin = twin.order.index(twin.player)
    turns = twin.order[begin:] + twin.order[:begin]
    return tuple(player for player in turns if _gluons(twin, player))


def _in_colours(twin: Twin, colours: str) -> tuple[Any, ...]:
    """The nucleons without their names, and the cards, in other colours."""
    pair = Naming(colours, ("123", "123"), False).pair

    def content(area: Area) -> str:
        gluon = twin.areas.get(area)
        if gluon:
            return f"{gluon.owner}{pair(gluon.pair)}"
        return "#" * (area in twin.blockers)

    nucleons = sorted(
        tuple(
            sorted(
                (pair(twin.emitting(area) + twin.receiving(area)), content(area))
                for area in twin.parameters.areas
                if area[0] == name
            )
        )
        for name in twin.parameters.nucleons
    )
    piles = [tuple(in_order(map(pair, cards)) for cards in own) for own in (twin.hands, twin.decks)]
    return (tuple(nucleons), *piles)


def assert_keys_are_canonical(found: Iterable[Pair]) -> int:
    """States have equal keys exactly when they are the same; how many kinds there are."""
    return assert_one_to_one((canonical(pair.twin), pair.state.state_key()) for pair in found)


@pytest.mark.parametrize("variant", [TINY, TWO_ROUNDS, TWO_NUCLEONS], ids=str)
def test_keys_group_all_histories_as_the_rules_do(variant: Variant) -> None:
    found = list(islice(whole_tree(Pair.start(variant)), 6000))
    exact = {pair.twin.key() for pair in found}
    kinds = assert_keys_are_canonical(found)
    assert kinds < len(exact) < len(found)


def _around(pair: Pair, most: int) -> list[Pair]:
    """All that a few actions can lead to, breadth first: full of transpositions."""
    found = [pair]
    for each in found:
        if len(found) >= most:
            break
        found += [each.played([action]) for action in at_random(each.twin)]
    return found[:most]


def test_keys_group_what_follows_from_positions_of_random_games(variant: Variant) -> None:
    found = []
    for policy in ("hiding", "in turn"):
        rng = Random(f"{variant} {policy}")
        line = [now.copy() for now, _ in walk(Pair.start(variant), POLICIES[policy], rng)]
        for pair in rng.sample(line, 3):
            found += _around(pair, 100)
    assert assert_keys_are_canonical(found) > 100


@given(
    st.sampled_from((DEFAULT, REEMITTING, OPEN, SHORT, THREE, THREE_REEMITTING, FOUR_REEMITTING)),
    st.sampled_from(sorted(POLICIES)),
    st.integers(0, 2**32),
    st.data(),
)
def test_a_game_in_other_names_has_the_same_keys_all_along(
    variant: Variant, policy: str, seed: int, data: st.DataObject
) -> None:
    naming = data.draw(st.sampled_from(namings_of_games(variant)[1:]))
    image, rng = Pair.start(variant), Random(seed)
    game = variant.game()
    for pair, action in walk(Pair.start(variant), POLICIES[policy], rng):
        assert sorted(map(naming.action, at_random(pair.twin))) == sorted(at_random(image.twin))
        assert image.state.state_key() == pair.state.state_key()
        if rng.random() < 0.05:
            assert perft(game, 2, image.state) == perft(game, 2, pair.state)
        image.play(naming.action(action))
    assert image.state.returns() == pair.state.returns()


def test_whole_games_have_as_many_other_names_as_colours_and_nucleons() -> None:
    assert [len(namings_of_games(variant)) for variant in (DEFAULT, THREE, FOUR)] == [6, 12, 12]
    assert [len(namings_of_games(variant)) for variant in (TWO_ROUNDS, HIDING)] == [2, 1]


@given(pairs(), namings(), st.integers(0, 2**32))
def test_a_state_in_other_names_has_the_same_key_and_future(
    pair: Pair, naming: Naming, seed: int
) -> None:
    if pair.players == range(2):
        naming = naming._replace(swaps=False)
    other, state, rng = renamed(pair.state, naming), pair.state.copy(), Random(seed)
    assert perft(state.game, 2, other) == perft(state.game, 2, state)
    for _ in range(25):
        assert other.state_key() == state.state_key()
        legal = [*map(state.action_to_string, state.legal_actions())]
        assert {*map(naming.action, legal)} == {*map(other.action_to_string, other.legal_actions())}
        if not legal:
            break
        action = rng.choice(legal)
        state.apply(action)
        other.apply(naming.action(action))
    assert other.returns() == state.returns()


def viewed(twin: Twin, player: int, hand: bool) -> Hashable:
    """What a player sees of a state."""
    field = frozenset(
        (area, gluon.owner, gluon.face_up, _read_by(player, gluon))
        for area, gluon in twin.areas.items()
    )
    planning, acting = twin.phase == PLANNING, twin.phase in (PLANNING, ACTIVATION)
    rounds = (twin.round if twin.parameters.max_rounds else 0, twin.is_final)
    turn = (twin.phase, twin.first, twin.player, twin.pending)
    order = (_still_in_order(twin) if acting else (), len(twin.locked) if planning else 0)
    sizes = tuple((*map(len, own),) for own in (twin.hands, twin.decks, twin.kept))
    quarks, blockers = frozenset(twin.quarks.items()), frozenset(twin.blockers.items())
    never_shown = tuple(_never_shown(twin, who) for who in range(twin.parameters.players))
    own_hand = hand and twin.hands[player]
    return (field, blockers, quarks, rounds, turn, order, sizes, never_shown, own_hand)


def _read_by(player: int, gluon: Gluon) -> str:
    return gluon.pair if gluon.face_up or gluon.owner == player else "?"


def _never_shown(twin: Twin, player: int) -> tuple[str, ...]:
    """What of a deck the others have not seen."""
    face_down = (gluon.pair for gluon in _gluons(twin, player) if not gluon.face_up)
    return in_order((*twin.hands[player], *twin.decks[player], *face_down))


def assert_views_are_told_apart(found: Iterable[Pair], player: int, hand: bool) -> int:
    """States have equal keys exactly when they look the same; how many kinds there are."""
    return assert_one_to_one(
        (viewed(pair.twin, player, hand), view_key(pair.state, player, hand))
        for pair in found
        if not pair.is_over
    )


@pytest.mark.parametrize("variant", [TINY, TWO_ROUNDS, TWO_NUCLEONS, HIDING], ids=str)
def test_view_keys_group_histories_by_what_is_seen(variant: Variant) -> None:
    found = list(islice(whole_tree(Pair.start(variant)), 6000))
    for player in variant.players:
        without = assert_views_are_told_apart(found, player, hand=False)
        assert without <= assert_views_are_told_apart(found, player, hand=True)
        assert without < len({info_key(pair.state, player) for pair in found})


def test_view_keys_group_what_follows_from_positions_of_random_games(variant: Variant) -> None:
    found = []
    for policy in ("hiding", "in turn"):
        rng = Random(f"{variant} views {policy}")
        line = [now.copy() for now, _ in walk(Pair.start(variant), POLICIES[policy], rng)]
        found += [near for pair in rng.sample(line, 3) for near in _around(pair, 80)]
    for player in variant.players:
        for hand in (False, True):
            assert assert_views_are_told_apart(found, player, hand) > 50


@given(pairs(), st.integers(0, 2**64 - 1))
def test_the_view_is_of_nothing_that_is_hidden(pair: Pair, seed: int) -> None:
    state = pair.state
    for player in pair.players:
        other = resampled(state, player, seed)
        for hand in (False, True):
            assert view_key(other, player, hand) == view_key(state, player, hand)


def test_gluons_face_down_are_in_the_view_of_their_owner_alone() -> None:
    start = Pair.start(DEFAULT).played(DEAL)
    told = ["RG?A21 RG@A31 RB?A23 RB@A32 GR@A12", "RB?A21 RG@A31 RG?A23 RB@A32 GR@A12"]
    one, other = (start.played(actions.split()).state for actions in told)
    assert view_key(one, 0, False) != view_key(other, 0, False)
    assert view_key(one, 1, False) == view_key(other, 1, False)


def test_the_order_of_draws_and_plays_is_in_no_view() -> None:
    deals = [DEAL, DEAL[4::-1] + DEAL[5:]]
    one, other = (
        Pair.start(DEFAULT).played(deal + plays.split())
        for deal, plays in zip(deals, ["RG@A21 RB@A32 GR@A12", "GR@A12 RB@A32 RG@A21"], strict=True)
    )
    for player in (0, 1):
        assert view_key(one.state, player, True) == view_key(other.state, player, True)
        assert info_key(one.state, player) != info_key(other.state, player)


class Worth(NamedTuple):
    """What the future of a state comes to."""

    histories: int
    at_random: Fraction
    """Player 0's expectation if both play uniformly at random."""
    best: Fraction
    """The same if both play to win, with all cards open."""


def worth(state: State, known: dict[bytes, Worth]) -> Worth:
    """Search to the end; states with equal words are searched once."""
    name = state.words.tobytes()
    if name not in known:
        known[name] = _worth(state, known)
    return known[name]


def _worth(state: State, known: dict[bytes, Worth]) -> Worth:
    if state.is_terminal:
        value = Fraction(state.returns()[0])
        return Worth(1, value, value)
    children, chances = [], [*drawing_chances(state).values()]
    for action in state.legal_actions():
        child = state.copy()
        child.apply(action)
        children.append(worth(child, known))
    shares = chances or [Fraction(1, len(children))] * len(children)
    mean = sum((p * c.at_random for p, c in zip(shares, children, strict=True)), Fraction(0))
    expected = sum((p * c.best for p, c in zip(shares, children, strict=True)), Fraction(0))
    best = expected if chances else (max, min)[state.player](child.best for child in children)
    return Worth(1 + sum(child.histories for child in children), mean, best)


@pytest.mark.parametrize("variant", [TINY, TWO_ROUNDS], ids=str)
def test_equal_keys_have_equal_values_in_a_whole_tree(variant: Variant) -> None:
    known: dict[bytes, Worth] = {}
    by_key: dict[int, set[Worth]] = {}
    for pair in whole_tree(Pair.start(variant)):
        by_key.setdefault(pair.state.state_key(), set()).add(worth(pair.state, known))
    assert all(len(values) == 1 for values in by_key.values())
    assert len(by_key) < len(known)


DEAL = [f"draw:{pair}" for pair in ("RG", "RG", "RB", "RB", "GR")] * 2


def _two_ways(variant: Variant) -> list[Pair]:
    """The same cards gone and drawn, in two rounds and in four."""
    start = Pair.start(variant).played(DEAL)
    rounds = {"RG@A21": "RG@A31", "RB@A23": "RB@A32"}
    fast = slow = start
    for drawn in ("GB GB", "BR BR"):
        fast = played_round(fast, [" ".join(rounds), " ".join(rounds.values())], [drawn] * 2)
        for own, other in rounds.items():
            slow = played_round(slow, [own, other], [drawn[:2]] * 2)
    return [fast, slow]


def test_the_round_matters_only_if_their_number_is_limited() -> None:
    fast, slow = _two_ways(DEFAULT)
    assert (fast.twin.round, slow.twin.round) == (3, 5)
    assert fast.twin.hands == slow.twin.hands
    assert fast.state.state_key() == slow.state.state_key()
    assert info_key(fast.state, 0) != info_key(slow.state, 0)
    fast, slow = _two_ways(Variant.of(max_rounds=9))
    assert fast.state.state_key() != slow.state.state_key()


def test_whatever_else_differs_makes_another_key() -> None:
    """Histories of one round that differ in one thing alone."""
    start = Pair.start(REEMITTING).played(DEAL)
    told = {
        "as it was": "RG@A21 RG@A31 RB@A23 RB@A32",
        "another area": "RG@A13 RG@A31 RB@A23 RB@A32",
        "another gluon": "RG@A21 RG@A31 RG@A23 RB@A32",
        "owners exchanged": "RG@A31 RG@A21 RB@A23 RB@A32",
        "nothing face up": "RG?A21 RG@A31 RB?A23 RB@A32",
        "one has passed": "RG@A21 RG@A31 RB@A23 RB@A32 pass",
        "both have passed": "RG@A21 RG@A31 RB@A23 RB@A32 pass pass",
        "locked": "RG@A21 RG@A31 pass RB@A23",
        "not locked": "RG@A21 RG@A31 RB@A23 pass",
        "quarks have moved": "RG@A12 RG@A31 RB@A23 RB@A32 pass pass !A31 !A12",
        "quarks are as before": "RG@A21 RG@A31 RB@A23 RB@A32 pass pass !A31 !A21",
    }
    found = [start.played(actions.split()) for actions in told.values()]
    assert assert_keys_are_canonical(found) == len(told)


def test_which_gluons_lie_face_down_makes_no_key() -> None:
    start = Pair.start(DEFAULT).played(DEAL)
    told = ["RG@A21 RG@A31 RB?A23 RB@A32", "RG?A21 RG?A31 RB@A23 RB@A32"]
    one, other = (start.played(actions.split()) for actions in told)
    assert one.state.state_key() == other.state.state_key()
    assert info_key(one.state, 1) != info_key(other.state, 1)


def _with_places_exchanged(state: State, one: int, other: int) -> State:
    """The state in which the holders of two tokens have exchanged them."""
    after, meta = state.copy(), int(state.words[META])
    for begin, width in ((20, 2), (28, 1)):  # who holds a token, and whether they are out
        shifts = [begin + width * one, begin + width * other]
        difference = (meta >> shifts[0] ^ meta >> shifts[1]) & ((1 << width) - 1)
        for shift in shifts:
            meta ^= difference << shift
    after.words[META] = np.uint64(meta)
    return after


def test_the_place_of_a_player_without_gluons_makes_no_key() -> None:
    met = Counter[bool]()
    for seed in range(40):
        for pair, _ in walk(Pair.start(FOUR), POLICIES["in turn"], Random(seed)):
            twin, state = pair.twin, pair.state
            if twin.phase != ACTIVATION or seed % 4 != len(twin.history) % 4:
                continue
            acting = twin.order.index(twin.player)
            one, other = (acting + 1) % 4, (acting + 2) % 4
            exchanged = _with_places_exchanged(state, one, other)
            matters = all(_gluons(twin, twin.order[place]) for place in (one, other))
            assert (exchanged.state_key() != state.state_key()) == matters
            if not matters:
                assert perft(state.game, 3, exchanged) == perft(state.game, 3, state)
            met[matters] += 1
    assert min(met[True], met[False]) > 50
