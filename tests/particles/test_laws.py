"""Laws of the game that hold in every position: of the cards, the text and the symmetries."""

from collections.abc import Iterator
from itertools import count, islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardcommons import State
from cardcommons.perft import perft
from tests.particles.symmetries import MIRRORING, Symmetry, image_of, symmetries
from tests.particles.walks import (
    POLICIES,
    TUTORIAL,
    TUTORIAL_TORUS,
    VARIANTS,
    Pair,
    Variant,
    choose,
    is_late,
    pairs,
    turns,
    walk,
)
from tests.twins.particles import CELLS, CORNERS, DECKS, Twin, neighbours, parse_card, solve

ALL_CARDS = sorted(str(card) for deck in DECKS for card in deck)


def _on_field(position: str) -> list[str]:
    letters = position.split(" ")[0]
    for sign in "./*+":
        letters = letters.replace(sign, "")
    return [letters[i : i + 2] for i in range(0, len(letters), 2)]


def _in_hands(position: str) -> list[str]:
    hands = "".join(position.split(" ")[1:3]).replace("-", "")
    return [hands[i : i + 2] for i in range(0, len(hands), 2)]


@given(st.sampled_from(VARIANTS), st.sampled_from(sorted(POLICIES)), st.integers(0, 2**32))
def test_every_card_stays_in_one_place(variant: Variant, policy: str, seed: int) -> None:
    discarded: list[str] = []
    inverts = actions = 0
    game = variant.game()
    for pair, action in walk(Pair.start(variant), POLICIES[policy], Random(seed)):
        position = pair.state.position
        assert sorted(_on_field(position) + _in_hands(position) + discarded) == ALL_CARDS
        discarded += [action[1:]] if action.startswith("-") else []
        inverts += action[2:3] == "x"
        actions += 1
    assert len(discarded) == inverts
    assert actions <= game.max_decisions


def _top(cell_text: str) -> tuple[int, bool] | None:
    """Level of a face-up top, and whether it is red; from the text of a cell."""
    top = cell_text.split("+")[0]
    return None if top == "." or top.endswith("*") else ("A23456".index(top[0]) + 1, top[1] in "hd")


def _cells(state: State) -> dict[str, str]:
    field: dict[str, str] = state.fields()["field"]
    return field


def _obeys(level: int, top: tuple[int, bool] | None) -> bool:
    if top is None:
        return True
    return level > top[0] if top[1] else level < top[0]


@given(pairs())
def test_the_law_holds_wherever_a_card_may_go(pair: Pair) -> None:
    field = _cells(pair.state)
    for text in map(pair.state.action_to_string, pair.state.legal_actions()):
        if text[1:2] == "" or text[2:3] not in "@x" or not field:
            continue
        card, cell = parse_card(text[:2]), text[-2:]
        broken = [
            near
            for near in neighbours(cell, pair.twin.torus)
            if not _obeys(card.level, _top(field.get(near, ".")))
        ]
        allowed = 0
        if card.level == 4 and cell in CORNERS and not pair.twin.tutorial:
            allowed = 2 if pair.twin.torus else 1
        assert len(broken) <= allowed, (pair.state.position, text)


@given(turns())
def test_a_position_between_turns_reads_back_as_it_was(pair: Pair) -> None:
    again = State.from_string(pair.state.game, pair.state.position)
    assert again.words.tolist() == pair.state.words.tolist()
    assert again.legal_actions() == pair.state.legal_actions()


@given(pairs())
def test_fields_tell_the_same_as_the_position(pair: Pair) -> None:
    fields, position = pair.state.fields(), pair.state.position
    assert fields["position"] == position
    assert fields["pending"] == position.partition(" then: ")[2]
    assert str(fields["passes"]) == position.split(" ")[4]
    assert [("".join(hand) or "-") for hand in fields["hands"]] == position.split(" ")[1:3]
    rows = [[fields["field"].get(column + row, ".") for column in "abcd"] for row in "4321"]
    assert "/".join("".join(row) for row in rows) == position.split(" ")[0]


@given(pairs())
def test_the_drawing_starts_with_the_position_and_shows_every_pile(pair: Pair) -> None:
    drawn = str(pair.state).splitlines()
    assert drawn[0] == pair.state.position
    cells = [cell.strip() for line in drawn if "|" in line for cell in line.split("|")[1:5]]
    by_row = [column + row for row in "4321" for column in "abcd"]
    field = _cells(pair.state)
    assert cells == [field.get(cell, "") for cell in by_row]
    assert set(by_row) == set(CELLS)


def _assert_alike(pair: Pair, image: Pair, symmetry: Symmetry) -> None:
    assert sorted(map(symmetry.action, pair.twin.legal())) == image.twin.legal()
    assert len(image.state.legal_actions()) == len(pair.state.legal_actions())
    assert image.state.state_key() == pair.state.state_key(), (symmetry.name, pair.state.position)
    assert image.state.returns() == pair.state.returns()
    assert image.state.player == pair.state.player


def _play_both(pair: Pair, image: Pair, symmetry: Symmetry, rng: Random) -> None:
    """Play a game and its image to the end; they must stay alike, in the middle of turns too."""
    _assert_alike(pair, image, symmetry)
    while not pair.is_over:
        action = choose(pair.twin, POLICIES["inverting"], rng)
        pair.play(action)
        image.play(symmetry.action(action))
        _assert_alike(pair, image, symmetry)


@given(turns(), st.data())
def test_a_symmetry_leaves_counts_keys_and_the_rest_of_the_game_alone(
    pair: Pair, data: st.DataObject
) -> None:
    known = symmetries(pair.twin.tutorial, pair.twin.torus)
    symmetry = data.draw(st.sampled_from(known))
    image = image_of(pair, symmetry)
    game = pair.state.game
    for depth in (1, 2):
        assert perft(game, depth, image.state) == perft(game, depth, pair.state)
    _play_both(pair, image, symmetry, Random(data.draw(st.integers(0, 2**32))))


@pytest.mark.parametrize("variant", [TUTORIAL, TUTORIAL_TORUS], ids=lambda v: v.name)
def test_all_symmetries_of_the_tutorial_field_leave_the_key_alone(variant: Variant) -> None:
    known = symmetries(variant.tutorial, variant.torus)
    assert len(known) == 1 + (384 if variant.torus else 8)
    for seed, length in enumerate((1, 2, 4, 6, 9)):
        pair = _some_turn(variant, length, Random(seed))
        image = pair
        for symmetry in known:
            image = image_of(pair, symmetry)
            _assert_alike(pair, image, symmetry)


def _some_turn(variant: Variant, length: int, rng: Random) -> Pair:
    pair = Pair.start(variant)
    while length > 0 or not pair.between_turns:
        pair.play(choose(pair.twin, POLICIES["inverting"], rng))
        length -= 1
    return pair


@given(turns())
def test_the_mirror_holds_in_every_variant(pair: Pair) -> None:
    _assert_alike(pair, image_of(pair, MIRRORING), MIRRORING)


def test_the_start_is_its_own_image_under_the_charge_swap() -> None:
    for variant in (TUTORIAL, TUTORIAL_TORUS):
        pair = Pair.start(variant)
        swap = symmetries(variant.tutorial, variant.torus)[0]
        assert image_of(pair, swap).twin == pair.twin
        keys = {_after(pair, action).state_key() for action in pair.twin.legal()}
        assert len(keys) == 4  # four levels and charges each; half of them by the charge swap


def _after(pair: Pair, action: str) -> State:
    child = pair.state.copy()
    child.apply(action)
    return child


def _late_positions(variant: Variant) -> Iterator[Twin]:
    """From random games, the first position between turns that a full search can manage."""
    for seed in count():
        for pair, _ in walk(Pair.start(variant), POLICIES["lasting"], Random(seed)):
            if pair.between_turns and is_late(pair):
                yield pair.twin
                break


def test_symmetries_leave_the_solved_value_alone(variant: Variant) -> None:
    values = set()
    known = symmetries(variant.tutorial, variant.torus)
    for seed, twin in enumerate(islice(_late_positions(variant), 12)):
        value = solve(twin)
        values.add(value)
        for symmetry in Random(seed).sample(known, min(3, len(known))):
            assert solve(symmetry.state(twin)) == value, (symmetry.name, twin.position())
    assert values == {1.0, -1.0}
