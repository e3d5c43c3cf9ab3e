"""Redrawing what a player doesn't know: nothing known changes, and the chances are exact."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from cardcommons import State
from cardcommons.games.treasure import text
from cardcommons.games.treasure.rules import DECKS, HANDS, META, drawn, get_drawn
from cardcommons.rng import make_rng
from cardcommons.state import make_verb
from cardcommons.treaty import Words
from tests.treasure.walks import (
    DEFAULT,
    POLICIES,
    Pair,
    Variant,
    info_key,
    random_pair,
    walk,
)
from tests.twins.treasure import (
    RANKS,
    Cards,
    Event,
    Hidden,
    Twin,
    distinct_orders,
    in_order,
    posterior,
    redealt,
)


def resampled(state: State, player: int, seed: int) -> State:
    """A copy with all redrawn that the player doesn't know."""
    copy = state.copy()
    make_verb(state.game.rules, "resample")(copy.words, player, make_rng(seed))
    return copy


def draw_record(words: Words, player: int) -> Cards:
    """The cards that a player drew, in order, as the state has it."""
    return tuple(RANKS[get_drawn(words, player, i)] for i in range(drawn(words[META], player)))


def cards(word: np.uint64, player: int) -> Cards:
    """A hand or a deck, as the twin has it."""
    return tuple(text.cards(word, player).replace("-", ""))


def seen(state: State, player: int) -> tuple[int, str, str]:
    """What a player has of a state: the key, the observation, and its public part."""
    string = state.game.views.string
    return (
        info_key(state, player),
        string(state.words, player, public=True, private=True),
        string(state.words, player, public=True, private=False),
    )


def rebuilt(twin: Twin, state: State) -> Pair:
    """The history with the draws that a state remembers and the plays and discards of a twin."""
    records = [iter(draw_record(state.words, player)) for player in (0, 1)]
    pair = Pair(State(state.game), Twin.begun(twin.parameters))
    for event in twin.events:
        pair.play(f"draw:{next(records[event.player])}" if event.is_draw else event.action)
    assert [next(record, None) for record in records] == [None, None]
    return pair


def assert_consistent(pair: Pair, player: int, seed: int) -> bool:
    """Redraw once; tells whether the opponent would see another history.

    A history with these draws must exist, and must end in exactly the redrawn state.
    """
    before, words = seen(pair.state, player), pair.state.words.copy()
    other = resampled(pair.state, player, seed)
    one, alike = (resampled(state, player, seed ^ 1) for state in (pair.state, other))
    assert np.array_equal(one.words, alike.words)  # by what is known and the seed alone
    assert np.array_equal(pair.state.words, words)
    assert seen(other, player) == before
    again = rebuilt(pair.twin, other)
    assert np.array_equal(again.state.words, other.words)
    assert again.twin.observations(player) == pair.twin.observations(player)
    assert again.twin.hands == tuple(cards(other.words[HANDS], owner) for owner in (0, 1))
    assert again.twin.decks == tuple(cards(other.words[DECKS], owner) for owner in (0, 1))
    opponent = 1 - player
    same = again.twin.observations(opponent) == pair.twin.observations(opponent)
    assert (info_key(other, opponent) == info_key(pair.state, opponent)) == same
    assert (again.twin.key() == pair.twin.key()) == (
        again.twin.hands == pair.twin.hands and again.twin.decks == pair.twin.decks
    )
    return not same


def test_what_a_player_knows_stays_at_every_node_of_whole_games(variant: Variant) -> None:
    games = 2 if variant.game().max_decisions > 20 else 8
    changed = nodes = 0
    for i in range(games):
        rng = Random(f"resample {variant} {i}")
        policy = sorted(POLICIES)[i * 4 % len(POLICIES)]
        for pair, _ in walk(Pair.start(variant), POLICIES[policy], rng):
            for player in (0, 1):
                changed += assert_consistent(pair, player, rng.getrandbits(64))
                nodes += 1
    assert nodes == games * 4 * variant.game().max_decisions
    assert changed > nodes / 10


def test_a_redraw_follows_its_seed() -> None:
    pair = random_pair(DEFAULT, "playing", 3, 40)
    first, again = (resampled(pair.state, 0, 5) for _ in range(2))
    assert np.array_equal(first.words, again.words)
    keys = {info_key(resampled(pair.state, 0, seed), 1) for seed in range(50)}
    assert len(keys) > 45


# The chances


def tail(x: float, freedom: int) -> float:
    """The chance that a chi-square variable of so many degrees of freedom exceeds ``x``.

    By the recurrence of the incomplete gamma function, from half or one degree of two.
    """
    half, shape = x / 2, 0.5 if freedom % 2 else 1.0
    total = math.erfc(math.sqrt(half)) if freedom % 2 else math.exp(-half)
    while shape < freedom / 2:
        total += math.exp(shape * math.log(half) - half - math.lgamma(shape + 1)) if half else 0.0
        shape += 1
    return total


@pytest.mark.parametrize(
    ("x", "freedom", "chance"),
    [(3.841459, 1, 0.05), (5.991465, 2, 0.05), (11.344867, 3, 0.01), (29.588298, 10, 0.001)],
)
def test_the_tail_of_the_chi_square_distribution(x: float, freedom: int, chance: float) -> None:
    assert tail(x, freedom) == pytest.approx(chance, rel=1e-5)


def surprise(found: Counter[Hashable], expected: Mapping[Any, Fraction]) -> float:
    """The p-value of Pearson's test; rare cells are pooled, impossible findings have none."""
    if not found.keys() <= expected.keys():
        return 0.0
    n = found.total()
    pooled: list[tuple[float, int]] = []
    rest = (0.0, 0)
    for value, chance in expected.items():
        cell = (float(chance) * n, found[value])
        if cell[0] >= 5:
            pooled.append(cell)
        else:
            rest = (rest[0] + cell[0], rest[1] + cell[1])
    pooled += [rest] if rest[0] else []
    x = sum((seen - mean) ** 2 / mean for mean, seen in pooled)
    return tail(x, len(pooled) - 1) if len(pooled) > 1 else 1.0


class Sample(NamedTuple):
    """Redraws of a state: how often each hand and deck, and each order of all draws, came out."""

    hidden: Counter[Hashable]
    orders: Counter[Hashable]


def sample(state: State, player: int, size: int, seed: int) -> Sample:
    """Redraw a state many times."""
    resample, rng = make_verb(state.game.rules, "resample"), make_rng(seed)
    found: Counter[bytes] = Counter()
    for _ in range(size):
        words = state.words.copy()
        resample(words, player, rng)
        found[words.tobytes()] += 1
    hidden: Counter[Hashable] = Counter()
    orders: Counter[Hashable] = Counter()
    other = 1 - player
    for packed, times in found.items():
        words = np.frombuffer(packed, dtype=np.uint64)
        hidden[cards(words[HANDS], other), cards(words[DECKS], other)] += times
        orders[draw_record(words, other)] += times
    return Sample(hidden, orders)


def orders_given_observations(twin: Twin, player: int) -> dict[Hashable, Fraction]:
    """The exact chances of the order in which the opponent drew."""
    number = sum(event.is_draw and event.player != player for event in twin.events)
    starts = Counter(order[:number] for order in distinct_orders(twin.parameters.deck))
    weights = {start: times for start, times in starts.items() if redealt(twin, 1 - player, start)}
    return {start: Fraction(n, sum(weights.values())) for start, n in weights.items()}


def unseen_alike(twin: Twin, player: int) -> dict[Hidden, Fraction]:
    """The wrong chances: any cards not shown yet are as likely in hand as any others."""
    other = 1 - player
    unseen = in_order(twin.hands[other] + twin.decks[other])
    weights: Counter[Hidden] = Counter()
    for places in combinations(range(len(unseen)), len(twin.hands[other])):
        hand = tuple(unseen[place] for place in places)
        deck = tuple(rank for place, rank in enumerate(unseen) if place not in places)
        weights[hand, deck] += 1
    return {hidden: Fraction(n, weights.total()) for hidden, n in weights.items()}


def one_of_two_shown(twin: Twin, player: int) -> bool:
    """Whether the opponent has shown one of two copies from the hand they are playing."""
    other = 1 - player
    since: list[Event] = []
    for event in twin.events:
        if event.player == other:
            since = [] if event.is_draw else [*since, event]
    shown = Counter(event.action.lstrip("-")[0] for event in since)
    unseen = twin.hands[other] + twin.decks[other]
    return bool(twin.hands[other]) and any(
        n == 1 and unseen.count(rank) == 1 for rank, n in shown.items()
    )


SMALL_DECKS = (
    Variant.of(rows=2, columns=2, ranks=2, copies=2, hand=2),
    Variant.of(rows=2, columns=2, ranks=2, copies=2, hand=3),
    Variant.of(rows=3, columns=2, ranks=3, copies=2, treasure=False, hand=3),
    Variant.of(rows=2, columns=3, ranks=3, copies=2, hand=2),
    Variant.of(rows=2, columns=3, ranks=3, copies=2, hand=3),
)
LEVEL = 1e-3
"""The chance that a right sampler would fail in the whole test, if its seeds were not fixed."""


class Case(NamedTuple):
    """A node at which redraws are counted."""

    pair: Pair
    player: int
    seed: int


def cases(variant: Variant, least: int) -> list[Case]:
    """Nodes of random games with something to redraw, as many in the middle of hands."""
    found: dict[bool, list[Case]] = {False: [], True: []}
    seed = 0
    while min(map(len, found.values())) < least:
        seed += 1
        rng = Random(f"{variant} {seed}")
        pair = random_pair(variant, rng.choice(["uniform", "playing"]), seed, rng.randrange(30))
        case = Case(pair, rng.randrange(2), seed)
        kind = one_of_two_shown(pair.twin, case.player)
        if len(found[kind]) < least and len(posterior(pair.twin, case.player)) > 1:
            found[kind].append(case)
    return found[False] + found[True]


@pytest.mark.parametrize("variant", SMALL_DECKS, ids=str)
def test_redraws_have_the_exact_chances_and_the_test_would_tell(variant: Variant) -> None:
    draws, tested = 4000, cases(variant, 8)
    limit = LEVEL / (2 * len(tested) * len(SMALL_DECKS))
    rejected = 0
    for pair, player, seed in tested:
        found = sample(pair.state, player, draws, seed)
        right = posterior(pair.twin, player)
        assert surprise(found.hidden, right) > limit, pair.state.position
        orders = orders_given_observations(pair.twin, player)
        assert surprise(found.orders, orders) > limit, pair.state.position
        wrong = unseen_alike(pair.twin, player)
        assert (wrong == right) != one_of_two_shown(pair.twin, player)
        if wrong != right:
            assert surprise(found.hidden, wrong) < limit
            rejected += 1
    assert rejected == 8


def test_a_hand_that_keeps_the_second_copy_weighs_half() -> None:
    """Of four cards, two 2s and two 3s, two were dealt, and one of them was a 2."""
    variant = Variant.of(rows=2, columns=1, ranks=2, copies=2, treasure=False, hand=2)
    pair = Pair.start(variant).played(["draw:2", "draw:3", "draw:3", "draw:2", "-2"])
    right = {hand: chance for (hand, _), chance in posterior(pair.twin, 1).items()}
    assert right == {("2",): Fraction(1, 5), ("3",): Fraction(4, 5)}
    found = sample(pair.state, 1, 10_000, 1).hidden
    assert 1900 < found[("2",), ("3", "3")] < 2100  # 2.5 sigma; if 2 weighed as 3 does: 3333
