"""Equal state keys go with equal futures, equal information keys with equal positions."""

from collections.abc import Hashable, Iterator
from dataclasses import replace

import pytest

from cardcommons import State, load
from cardcommons.state import make_verb
from tests.one_to_one import assert_one_to_one
from tests.rally import trees
from tests.rally.walks import SETS, Pair, random_walks
from tests.twins.rally import Statistics, Twin


def info_key(state: State) -> int:
    """What stands for the driver's knowledge."""
    return int(make_verb(state.game.rules, "info_key")(state.words, 0))


def seen(twin: Twin) -> Hashable:
    """All of the position, with more cards than one on the sector counted alike."""
    return replace(twin, cards=min(twin.cards, 2))


@pytest.mark.parametrize("name", SETS)
def test_keys_group_random_rallies_as_the_rules_do(name: str) -> None:
    pairs = [now.played() for now, _ in random_walks(name, 14)]
    kinds = assert_one_to_one([(now.state.state_key(), now.twin.key()) for now in pairs])
    positions = assert_one_to_one([(info_key(now.state), seen(now.twin)) for now in pairs])
    assert 1 < kinds <= positions


def whole_tree(pair: Pair, known: set[Twin]) -> Iterator[Pair]:
    """All states that can be reached from here, those that are over left out."""
    if pair.is_over or pair.twin in known:
        return
    known.add(pair.twin)
    yield pair
    for action in pair.twin.chance() or pair.twin.legal():
        yield from whole_tree(pair.played(action), known)


@pytest.mark.parametrize("stages", ["2-0-0-1", "0-1-0-1", "1-0-0-1/1-0-0-1"])
def test_keys_group_all_states_as_the_rules_do_and_futures_agree(stages: str) -> None:
    pairs = list(whole_tree(Pair.start(stages=stages), set()))
    kinds = assert_one_to_one([(now.state.state_key(), now.twin.key()) for now in pairs])
    assert (kinds < len(pairs)) == (stages == "2-0-0-1")
    known: dict[bytes, Statistics] = {}
    futures: dict[int, set[Statistics]] = {}
    for now in pairs:
        future = trees.statistics(now.state, known)
        futures.setdefault(now.state.state_key(), set()).add(future)
    assert all(len(same) == 1 for same in futures.values())


def test_totals_at_the_same_distance_from_the_number_are_the_same() -> None:
    start = Pair.start(stages="2-0-0-2").played("sector:2", "next")
    near = start.played("sector:2", "boost").state
    far = start.played("sector:3", "boost").state
    assert near.state_key() != far.state_key()
    swapped = [
        Pair.start(stages="0-2-0-0").played(*drive).state
        for drive in (
            ("sector:6", "1st", "card:1", "1st", "card:3", "next", "sector:5", "1st", "card:2"),
            ("sector:5", "1st", "card:1", "1st", "card:2", "next", "sector:6", "1st", "card:3"),
        )
    ]
    assert swapped[0].position != swapped[1].position
    assert swapped[0].state_key() == swapped[1].state_key()
    assert info_key(swapped[0]) != info_key(swapped[1])


def test_what_is_to_come_is_part_of_the_key() -> None:
    keys = {
        State(load("rally", **params)).state_key()
        for params in (
            {},
            {"utility": "win"},
            {"loss_utility": -15.0},
            {"jokers": 3},
            {"stages": "2-4-8-4/2-4-6-3/2-3-5-1"},
            {"stages": "2-4-8-4/2-4-6-3"},
            {"stages": "2-4-8-4/2-4-6-3/2-3-5-2/1-0-0-0"},
        )
    }
    assert len(keys) == 7
