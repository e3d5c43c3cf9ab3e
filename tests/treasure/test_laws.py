"""Laws of the game that hold in every position."""

from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from cardcommons.games.treasure.text import tops
from tests.treasure.walks import (
    DEFAULT,
    POLICIES,
    VARIANTS,
    Pair,
    Variant,
    conserved,
    pairs,
    public_part,
    walk,
)
from tests.twins.treasure import COLUMNS, TERMINAL, is_higher

COUNTED = "$23456789TJQKA"


def _shown(pair: Pair, player: int) -> list[str]:
    """The cards that a player has played or discarded."""
    public = public_part(pair.twin.events)
    return [event.action.lstrip("-")[0] for event in public if event.player == player]


@given(pairs())
def test_every_card_is_shown_or_in_hand_or_to_come(pair: Pair) -> None:
    told = pair.state.fields()
    decks = pair.state.position.split("decks: ")[1].split()
    for player in (0, 1):
        left = (told["hands"][player] + decks[player]).replace("-", "")
        found = sorted([*_shown(pair, player), *left], key=COUNTED.index)
        assert found == list(pair.twin.parameters.deck)
        assert conserved(pair.twin, player) == found


@given(pairs())
def test_cards_are_connected_as_the_twin_says(pair: Pair) -> None:
    found = tops(pair.state.words)
    cells = [f"{column}{row}" for row in range(1, 6) for column in COLUMNS]
    joined = pair.twin.connected(0) | pair.twin.connected(1)
    told = {cell: top.connected for cell, top in zip(cells, found, strict=False) if top}
    assert told == {cell: cell in joined for cell in pair.twin.piles}


@given(pairs())
def test_columns_are_neighbours_and_never_too_many(pair: Pair) -> None:
    used = sorted(COLUMNS.index(cell[0]) for cell in pair.state.fields()["board"])
    columns = sorted(set(used))
    assert len(columns) <= pair.twin.parameters.columns
    if columns:
        assert columns == list(range(columns[0], columns[-1] + 1))
        assert COLUMNS.index("e") in columns


@given(pairs())
def test_whatever_may_be_played_fits_its_place(pair: Pair) -> None:
    twin = pair.twin
    assume(twin.player in (0, 1))
    texts = [pair.state.action_to_string(action) for action in pair.state.legal_actions()]
    hand = set(twin.hands[twin.turn])
    assert {text[1] for text in texts if text[0] == "-"} == hand
    for text in texts:
        if text[0] == "-":
            continue
        assert text[0] in hand
        top = twin.top(text[2:])
        assert top is None or is_higher(text[0], top.rank)
        assert text[2:] not in twin.unconnected(twin.turn)


@given(st.sampled_from(VARIANTS), st.sampled_from(sorted(POLICIES)), st.integers(0, 2**32))
def test_turns_alternate_and_hands_are_used_up_together(
    variant: Variant, policy: str, seed: int
) -> None:
    """Each round of hands is played from full to empty by both, beginning with one in turn."""
    game, order, draws = variant.game(), [], 0
    for pair, _ in walk(Pair.start(variant), POLICIES[policy], Random(seed)):
        if pair.state.is_chance:
            draws += 1
        else:
            order.append(pair.state.player)
    full, deck = game.params.hand, game.params.deck
    expected = []
    for number, begun in enumerate(range(0, deck, full)):
        size = min(full, deck - begun)
        expected += [number % 2, 1 - number % 2] * size
    assert order == expected
    assert len(order) == game.max_decisions == 2 * deck
    assert draws == game.max_chance_nodes == 2 * deck
    assert pair.state.player == TERMINAL


def test_returns_are_zero_until_the_end_and_sum_to_zero() -> None:
    for seed in range(20):
        for pair, _ in walk(Pair.start(DEFAULT), POLICIES["playing"], Random(seed)):
            assert pair.state.returns() == [0.0, 0.0]
        assert pair.is_over
        assert sum(pair.state.returns()) == 0
