"""Keys tell states apart exactly when their futures, or what a player sees, differ."""

from collections import defaultdict
from dataclasses import replace
from functools import cache
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from cardcommons import State
from cardcommons.perft import perft
from cardcommons.state import make_verb
from tests.particles.symmetries import canonical, image_of, symmetries
from tests.particles.walks import (
    POLICIES,
    STANDARD,
    TUTORIAL,
    Pair,
    Variant,
    choose,
    is_late,
    scattered,
    turns,
    walk,
)
from tests.twins.particles import Card, Pile, Twin, solve

MOST = 2500
"""How many states of a variant are compared with one another."""


def _children(pair: Pair) -> list[Pair]:
    children = []
    for action in pair.twin.legal():
        child = pair.copy()
        child.play(action)
        children.append(child)
    return children


def _around(pair: Pair, most: int) -> list[Pair]:
    """All that a few actions can lead to, breadth first: full of transpositions."""
    found = [pair]
    for each in found:
        if len(found) >= most:
            break
        found += _children(each)
    return found[:most]


def _late(variant: Variant, seed: int) -> Pair:
    """A position with about a dozen actions to come."""
    rng = Random(seed)
    policy = POLICIES[("lasting", "moving", "inverting")[seed % 3]]
    path = [now.copy() for now, _ in walk(Pair.start(variant), policy, rng)]
    return path[max(1, len(path) - 10)]


@cache
def corpus(variant: Variant) -> list[Pair]:
    """States that resemble one another: first moves, all around late positions, and images."""
    found = _around(Pair.start(variant), MOST // 5)
    for seed in range(6):
        found += _around(_late(variant, seed), MOST // 10)
    for seed in range(MOST // 10):
        pair = Pair.start(variant, scattered(variant, Random(f"{variant.name} {seed % 50}")))
        if not pair.is_over:
            pair.play(choose(pair.twin, POLICIES["inverting"], Random(seed)))
        found.append(pair)
    return found + _images(variant, found[:: MOST // 400])


def _images(variant: Variant, some: list[Pair]) -> list[Pair]:
    """A random image of each position between turns that has one."""
    rng = Random(variant.name)
    known = symmetries(variant.tutorial, variant.torus)
    return [
        image_of(pair, rng.choice(known)) for pair in some if pair.between_turns and pair.twin.piles
    ]


def info_key(state: State, player: int) -> int:
    """The information key of a player."""
    return int(make_verb(state.game.rules, "info_key")(state.words, player))


def test_equal_state_keys_mean_states_that_are_images_of_one_another(variant: Variant) -> None:
    images: dict[int, set[object]] = defaultdict(set)
    keys: dict[object, set[int]] = defaultdict(set)
    exact = set()
    for pair in corpus(variant):
        key, image = pair.state.state_key(), canonical(pair.twin)
        images[key].add(image)
        keys[image].add(key)
        exact.add(pair.twin.key())
    assert [found for found in images.values() if len(found) > 1] == []
    assert [found for found in keys.values() if len(found) > 1] == []
    assert len(corpus(variant)) > len(exact) > len(images) > MOST // 10


def test_equal_state_keys_mean_equal_futures(variant: Variant) -> None:
    alike: dict[int, dict[object, Pair]] = defaultdict(dict)
    for pair in corpus(variant):
        alike[pair.state.state_key()].setdefault(pair.twin.key(), pair)
    groups = [list(group.values()) for group in alike.values() if len(group) > 1]
    assert len(groups) > 100
    game = variant.game()
    for first, *others in groups:
        for depth in (1, 2, 3):
            counts = {perft(game, depth, pair.state) for pair in (first, *others)}
            assert len(counts) == 1, [pair.state.position for pair in (first, *others)]
        assert {pair.state.player for pair in others} == {first.state.player}
        assert {tuple(pair.state.returns()) for pair in others} == {tuple(first.state.returns())}


def test_equal_state_keys_mean_equal_values(variant: Variant) -> None:
    values: dict[int, float] = {}
    solved = shared = 0
    for pair in corpus(variant)[MOST // 5 :: 3]:
        if not is_late(pair):
            continue
        key, value = pair.state.state_key(), solve(pair.twin)
        shared += key in values
        solved += 1
        assert values.setdefault(key, value) == value, pair.state.position
    assert solved > 100
    assert shared > 10
    assert set(values.values()) == {1.0, -1.0}


def test_info_keys_are_equal_exactly_when_the_positions_matter_the_same(variant: Variant) -> None:
    contents: dict[int, set[object]] = defaultdict(set)
    keys: dict[object, set[int]] = defaultdict(set)
    for pair in corpus(variant):
        key = info_key(pair.state, 0)
        assert info_key(pair.state, 1) == key
        contents[key].add(pair.twin.key())
        keys[pair.twin.key()].add(key)
    assert [found for found in contents.values() if len(found) > 1] == []
    assert [found for found in keys.values() if len(found) > 1] == []
    assert len(keys) < len(corpus(variant))


OTHER_OWNER = {"h": "d", "d": "h", "s": "c", "c": "s"}


def _relabelled(twin: Twin, rng: Random) -> Twin:
    """Exchange cards on the field for the other player's like them, where those are free."""
    held = {card for hand in twin.hands for card in hand}
    used = {card for pile in twin.piles.values() for card in pile.cards}

    def other(card: Card) -> Card:
        twin_card = Card(card.level, OTHER_OWNER[card.suit])
        if twin_card in held or twin_card in used or rng.random() < 0.3:
            return card
        used.add(twin_card)
        return twin_card

    piles = {
        cell: Pile(other(pile.top), pile.covered and other(pile.covered), pile.face_down)
        for cell, pile in twin.piles.items()
    }
    return replace(twin, piles=piles)


@given(turns(), st.integers(0, 2**32))
def test_owners_on_the_field_never_change_a_key(pair: Pair, seed: int) -> None:
    twin = _relabelled(pair.twin, Random(seed))
    state = State.from_string(pair.state.game, twin.position())
    assert state.state_key() == pair.state.state_key()
    assert info_key(state, 0) == info_key(pair.state, 0)
    assert state.legal_actions() == pair.state.legal_actions()


def test_owners_differ_in_the_text_alone() -> None:
    hands = "Ah6h Ad6d 0 0"
    mine, theirs = (
        State.from_string(STANDARD.game(), f"..../.{card}../..../.... {hands}")
        for card in ("3h", "3d")
    )
    assert mine.position != theirs.position
    assert mine.state_key() == theirs.state_key()


def test_a_hidden_face_never_changes_a_key() -> None:
    hidden = [
        State.from_string(STANDARD.game(), f"..../.{card}*../..../.... Ah6h Ad6d 0 0")
        for card in ("3h", "5c", "As")
    ]
    assert len({state.state_key() for state in hidden}) == 1
    assert len({info_key(state, 0) for state in hidden}) == 1


def test_the_height_of_a_hidden_pile_counts_where_cards_are_counted() -> None:
    single, stack = (f"..../.{pile}../..../.... Ah6h Ad6d 0 0" for pile in ("5h*", "5h*+5c"))
    for variant, same in ((STANDARD, False), (TUTORIAL, True)):
        game = variant.game()
        keys = {State.from_string(game, position).state_key() for position in (single, stack)}
        assert (len(keys) == 1) == same


def test_the_player_to_move_and_the_passes_change_the_key() -> None:
    told = "..../.3h../..../.... Ah6h Ad6d"
    game = STANDARD.game()
    keys = {
        State.from_string(game, f"{told} {player} {passes}").state_key()
        for player in (0, 1)
        for passes in (0, 1)
    }
    assert len(keys) == 4
