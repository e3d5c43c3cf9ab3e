"""Redrawing what a player doesn't know: nothing known changes, and the chances are exact."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from itertools import permutations, product
from math import prod
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import chi2

from cardcommons import State
from cardcommons.games.gluons.rules import DECKS, HANDS, value_at
from cardcommons.rng import make_rng
from cardcommons.state import make_verb
from cardcommons.treaty import Words
from tests.gluons.posterior import (
    AREAS,
    Hidden,
    draw_record,
    hidden,
    moments,
    posterior,
    rebuilt_actions,
    shares,
)
from tests.gluons.walks import (
    DEFAULT,
    FOUR_FULL,
    NARROW,
    POLICIES,
    REEMITTING,
    SHORT,
    THREE,
    THREE_REEMITTING,
    Pair,
    Variant,
    cards,
    info_key,
    random_pair,
    walk,
)
from tests.twins.gluons import PAIRS, Cards, Twin, in_order


def resampled(state: State, player: int, seed: int) -> State:
    """A copy with all redrawn that the player doesn't know."""
    copy = state.copy()
    make_verb(state.game.rules, "resample")(copy.words, player, make_rng(seed))
    return copy


def observation(state: State, player: int) -> tuple[bytes, str]:
    """What a player sees of a state, as numbers and as a string."""
    views = state.game.views
    blocks = {spec.name: np.zeros(spec.shape, dtype=np.float32) for spec in views.tensors}
    views.write(state.words, player, blocks)
    tensor = b"".join(block.tobytes() for block in blocks.values())
    return tensor, views.string(state.words, player, public=True, private=True)


def assert_consistent(pair: Pair, player: int, seed: int) -> int:
    """Redraw once; how many of the others would see another history.

    A history with these draws and gluons must exist, and must end in exactly the redrawn state.
    """
    words = pair.state.words.copy()
    other = resampled(pair.state, player, seed)
    one, alike = (resampled(state, player, seed ^ 1) for state in (pair.state, other))
    assert np.array_equal(one.words, alike.words)  # by what is known and the seed alone
    assert np.array_equal(pair.state.words, words)
    assert info_key(other, player) == info_key(pair.state, player)
    assert observation(other, player) == observation(pair.state, player)
    assert other.player == pair.state.player
    if pair.twin.player == player:
        assert other.legal_actions() == pair.state.legal_actions()
    again = Pair(State(pair.state.game), Twin.begun(pair.twin.parameters))
    for action in rebuilt_actions(pair.twin, other.words):
        again.play(action)
    assert np.array_equal(again.state.words, other.words)
    assert again.twin.observations(player) == pair.twin.observations(player)
    _assert_conserved(other, again.twin)
    changed = 0
    for opponent in set(pair.players) - {player}:
        same = again.twin.observations(opponent) == pair.twin.observations(opponent)
        assert (info_key(other, opponent) == info_key(pair.state, opponent)) == same
        changed += not same
    return changed


def _assert_conserved(state: State, twin: Twin) -> None:
    """A whole deck for each player, wherever its cards are."""
    for player in range(twin.parameters.players):
        hand, deck = (cards(state.words[word], player) for word in (HANDS, DECKS))
        on_field = [PAIRS[int(value_at(state.words, AREAS.index(a)))] for a in twin.gluons(player)]
        gone = twin.kept[player] + twin.discards[player]
        assert in_order((*hand, *deck, *on_field, *gone)) == twin.parameters.deck


def test_what_a_player_knows_stays_along_whole_games(variant: Variant) -> None:
    changed = nodes = 0
    for policy in ("hiding", "reemitting"):
        rng = Random(f"resample {variant} {policy}")
        for pair, _ in walk(Pair.start(variant), POLICIES[policy], rng):
            for player in rng.sample(pair.players, len(pair.players) // 2):
                changed += assert_consistent(pair, player, rng.getrandbits(64))
                nodes += len(pair.players) - 1
    assert changed > nodes / 10


def test_a_redraw_follows_its_seed() -> None:
    pair = random_pair(DEFAULT, "hiding", 3, 16)
    first, again = (resampled(pair.state, 0, 5) for _ in range(2))
    assert np.array_equal(first.words, again.words)
    keys = {info_key(resampled(pair.state, 0, seed), 1) for seed in range(50)}
    assert len(keys) > 45


# The chances


def surprise(found: Counter[Any], expected: Mapping[Any, Fraction]) -> float:
    """The p-value of Pearson's test; rare cells are pooled, impossible findings have none."""
    if not found.keys() <= expected.keys():
        return 0.0
    n = found.total()
    cells = [(float(chance) * n, found[value]) for value, chance in expected.items()]
    rare = [cell for cell in cells if cell[0] < 5]
    pooled = [cell for cell in cells if cell[0] >= 5]
    pooled += [(sum(mean for mean, _ in rare), sum(seen for _, seen in rare))] if rare else []
    x = sum((seen - mean) ** 2 / mean for mean, seen in pooled)
    return float(chi2.sf(x, len(pooled) - 1)) if len(pooled) > 1 else 1.0


def redraws(state: State, player: int, size: int, seed: int) -> Iterator[tuple[Words, int]]:
    """Redraw a state many times; different outcomes, and how often each came out."""
    resample, rng = make_verb(state.game.rules, "resample"), make_rng(seed)
    found: Counter[bytes] = Counter()
    for _ in range(size):
        words = state.words.copy()
        resample(words, player, rng)
        found[words.tobytes()] += 1
    for packed, times in found.items():
        yield np.frombuffer(packed, dtype=np.uint64), times


def told(words: Words, twin: Twin, player: int) -> Hidden:
    """What a state has in place of what is hidden of a player."""
    down = tuple(
        (area, PAIRS[int(value_at(words, AREAS.index(area)))])
        for area, _ in hidden(twin, player).down
    )
    return Hidden(cards(words[HANDS], player), cards(words[DECKS], player), down)


Story = tuple[Cards, tuple[str, ...]]
"""The order in which a player drew, and the pairs that lie face down, by area."""


def stories(twin: Twin, player: int) -> dict[Story, Fraction]:
    """The exact chances of all that can have happened, by replaying whatever agrees.

    Each history has the chance of its draws; what players did counts as certain.
    """
    viewer = 1 - player
    events = [event.is_draw for event in twin.events if event.player == player]
    areas = [area for area, _ in hidden(twin, player).down]
    found: dict[Story, Fraction] = {}
    for order in sorted(set(permutations(twin.parameters.deck, sum(events)))):
        for down in product(twin.parameters.kinds, repeat=len(areas)):
            other = _retold(twin, player, order, dict(zip(areas, down, strict=True)))
            if other and other[0].observations(viewer) == twin.observations(viewer):
                found[order, down] = other[1]
    total = sum(found.values())
    return {story: chance / total for story, chance in found.items()}


def _retold(
    twin: Twin, player: int, order: Cards, down: Mapping[str, str]
) -> tuple[Twin, Fraction] | None:
    """The history with other draws and gluons of a player, and its chance; None if illegal."""
    draws, now, chance = iter(order), Twin.begun(twin.parameters), Fraction(1)
    last = {event.action[3:]: n for n, event in enumerate(twin.events) if "?" in event.action}
    for number, event in enumerate(twin.events):
        action = event.action
        if event.player == player and event.is_draw:
            action = f"draw:{next(draws)}"
        if event.player == player and "?" in action and last[action[3:]] == number:
            action = down.get(action[3:], action[:2]) + action[2:]
        chances = now.chance() or dict.fromkeys(now.legal(), Fraction(1))
        if action not in chances:
            return None
        chance *= chances[action]
        now = now.apply(action)
    return now, chance


FEW_CARDS = (
    Variant.of(hand=2, pairs="RG-GR", sides="12-21-23-32"),
    Variant.of(hand=3, pairs="RG-GR-RB", copies=2, max_rounds=2, reemission=True),
    Variant.of(hand=3, pairs="RG-GB-RB-BR", copies=1, reemission=True),
)
"""Decks of four and six cards."""
LEVEL = 1e-3
"""The chance that a right sampler would fail in a whole test, if its seeds were not fixed."""


def _few_cards(variant: Variant) -> Iterator[tuple[Pair, int, int]]:
    """Nodes of random games with something to redraw, the player looked at, and a seed."""
    found = seed = 0
    while found < 10:
        seed += 1
        rng = Random(f"{variant} {seed}")
        policy = rng.choice(["hiding", "reemitting", "uneven"])
        pair = random_pair(variant, policy, seed, rng.randrange(6, 40))
        player = rng.randrange(2)
        shown = sum(card is not None for card in moments(pair.twin, player))
        if shown and len(posterior(pair.twin, player)) > 1:
            found += 1
            yield pair, player, seed


@pytest.mark.parametrize("variant", FEW_CARDS, ids=str)
def test_redraws_have_the_exact_chances_of_all_histories(variant: Variant) -> None:
    """The histories are found by replaying all that can have happened in the slow twin."""
    for pair, player, seed in _few_cards(variant):
        exact = stories(pair.twin, player)
        found: Counter[Story] = Counter()
        of_hidden: Counter[Hidden] = Counter()
        for words, times in redraws(pair.state, 1 - player, 4000, seed):
            what = told(words, pair.twin, player)
            found[draw_record(words, player), tuple(card for _, card in what.down)] += times
            of_hidden[what] += times
        assert surprise(found, exact) > LEVEL / 60, pair.state.position
        assert surprise(of_hidden, posterior(pair.twin, player)) > LEVEL / 60
        assert _without_orders(pair.twin, player, exact) == posterior(pair.twin, player)


def _without_orders(
    twin: Twin, player: int, exact: Mapping[Story, Fraction]
) -> dict[Hidden, Fraction]:
    """The chances of what is hidden, from those of what can have happened."""
    shown = [card for card in moments(twin, player) if card]
    areas = [area for area, _ in hidden(twin, player).down]
    summed: dict[Hidden, Fraction] = {}
    for (order, down), chance in exact.items():
        hand = Counter(order) - Counter([*shown, *down])
        deck = Counter(twin.parameters.deck) - Counter(order)
        what = Hidden(
            in_order(hand.elements()),
            in_order(deck.elements()),
            tuple(zip(areas, down, strict=True)),
        )
        summed[what] = summed.get(what, Fraction(0)) + chance
    return summed


def careless(twin: Twin, player: int) -> dict[Hidden, Fraction]:
    """Wrong chances: all cards not shown yet are as likely in hand, face down or to come."""
    hand, deck, down = hidden(twin, player)
    unseen = Counter([*hand, *deck, *(pair for _, pair in down)])
    weights: Counter[Hidden] = Counter()
    for pairs in product(unseen, repeat=len(down)):
        rest = unseen - Counter(pairs)
        if Counter(pairs) <= unseen:
            ways = prod(_falling(unseen[kind], pairs.count(kind)) for kind in unseen)
            areas = tuple((area, pair) for (area, _), pair in zip(down, pairs, strict=True))
            for held, number in _hands(rest, len(hand)).items():
                to_come = in_order((rest - Counter(held)).elements())
                weights[Hidden(held, to_come, areas)] += ways * number
    return shares(weights)


def _falling(number: int, length: int) -> int:
    return prod(range(number - length + 1, number + 1))


def _hands(unseen: Counter[str], size: int) -> Counter[Cards]:
    """In how many ways so many of the unseen cards are which hand."""
    ways: Counter[Cards] = Counter({(): 1})
    for card in unseen.elements():
        for held, number in [*ways.items()]:
            if len(held) < size:
                ways[in_order((*held, card))] += number
    return Counter({held: n for held, n in ways.items() if len(held) == size})


class Case(NamedTuple):
    """A node at which redraws are counted, and the player looked at."""

    pair: Pair
    player: int
    seed: int


LATE = (REEMITTING, NARROW, SHORT, THREE, THREE_REEMITTING, FOUR_FULL)


def late_cases(variant: Variant, least: int) -> list[Case]:
    """Nodes after the first round, as many with gluons face down as without."""
    found: dict[bool, list[Case]] = {False: [], True: []}
    seed = 0
    while min(map(len, found.values())) < least:
        seed += 1
        rng = Random(f"late {variant} {seed}")
        policy = rng.choice(["hiding", "reemitting", "in turn"])
        length = rng.randrange(20, variant.game().rules.max_length * 3 // 4)
        case = Case(random_pair(variant, policy, seed, length), rng.choice(variant.players), seed)
        twin = case.pair.twin
        kind = bool(hidden(twin, case.player).down)
        if twin.round > 1 and len(found[kind]) < least and len(posterior(twin, case.player)) > 3:
            found[kind].append(case)
    return found[False] + found[True]


def test_redraws_have_the_exact_chances_late_in_games_and_the_test_would_tell() -> None:
    tested = [case for variant in LATE for case in late_cases(variant, 6)]
    limit = LEVEL / len(tested)
    rejected = 0
    for pair, player, seed in tested:
        right, wrong = posterior(pair.twin, player), careless(pair.twin, player)
        viewer = (player + 1) % len(pair.players)
        found: Counter[Hidden] = Counter()
        for words, times in redraws(pair.state, viewer, 3000, seed):
            found[told(words, pair.twin, player)] += times
        assert surprise(found, right) > limit, pair.state.position
        rejected += wrong != right and surprise(found, wrong) < limit
    assert rejected > len(tested) / 3


def test_what_is_redrawn_of_one_player_has_nothing_to_do_with_another() -> None:
    """The chances of both together are the products."""
    variant = Variant.of(players=3, hand=3, pairs="RG-GR-GB")
    pair = next(
        pair
        for pair in (random_pair(variant, "hiding", seed, 18) for seed in range(100))
        if all(hidden(pair.twin, player).down for player in (0, 2))
        and min(len(posterior(pair.twin, player)) for player in (0, 2)) > 2
    )
    each = [posterior(pair.twin, player) for player in (0, 2)]
    both: dict[Hashable, Fraction] = {
        (a, b): p * q for a, p in each[0].items() for b, q in each[1].items()
    }
    found: Counter[Hashable] = Counter()
    for words, times in redraws(pair.state, 1, 6000, 1):
        found[told(words, pair.twin, 0), told(words, pair.twin, 2)] += times
    assert len(both) > 20
    assert surprise(found, both) > LEVEL


FIRST_HANDS = (
    *("draw:RG", "draw:RG", "draw:RB", "draw:GR", "draw:GB"),
    *("draw:RG", "draw:RB", "draw:GR", "draw:GB", "draw:BR"),
)


def _chances(pair: Pair, player: int, pair_of: str, area: str = "") -> tuple[Fraction, float]:
    """Exactly, and as redrawn: that a pair is in hand, or lies on an area if one is given."""

    def holds(what: Hidden) -> bool:
        return (area, pair_of) in what.down if area else pair_of in what.hand

    exact = sum((p for what, p in posterior(pair.twin, player).items() if holds(what)), Fraction())
    size = 20_000
    redrawn = sum(
        times
        for words, times in redraws(pair.state, 1 - player, size, 9)
        if holds(told(words, pair.twin, player))
    )
    return exact, redrawn / size


def test_a_card_shown_early_makes_its_copy_less_likely_in_hand() -> None:
    """The more so as a hand with two of them would have had two ways to show one."""
    pair = Pair.start(DEFAULT).played([*FIRST_HANDS, "RG@A12"])
    exact, redrawn = _chances(pair, 0, "RG")
    one, two = 5 * 7, 10  # places of the two RG in the deck, with one or both of them in hand
    assert exact == Fraction(two, one + two)
    assert abs(redrawn - float(exact)) < 0.011  # 3 sigma
    assert abs(redrawn - 4 / 11) > 0.1  # what a careless sampler would have


def test_a_gluon_face_down_may_be_any_that_can_have_been_in_hand() -> None:
    """The second RG lies face down: given RG face up, it is less likely than any other pair."""
    pair = Pair.start(DEFAULT).played([*FIRST_HANDS, "RG@A12", "RG@A13", "RG?A21"])
    exact, redrawn = _chances(pair, 0, "RG", "A21")
    other, again = _chances(pair, 0, "GB", "A21")
    assert exact < other
    assert sum(_chances(pair, 0, kind, "A21")[0] for kind in PAIRS) == 1
    assert abs(redrawn - float(exact)) < 0.011
    assert abs(again - float(other)) < 0.011


def test_a_card_discarded_for_a_reemission_was_in_hand_all_the_time() -> None:
    """RG on R to B, helped by GB: GB was in the first hand, and its copy hardly is."""
    pair = Pair.start(REEMITTING).played(
        [*FIRST_HANDS, "RG@A13", "RG@A12", "pass", "pass", "!A12", "!A13"]
    )
    assert pair.twin.points(1) == 1
    with_it = Pair.start(REEMITTING).played(
        [*FIRST_HANDS, "RG@A13", "RB@A12", "pass", "pass", "!A12", "!A13+GB"]
    )
    assert with_it.twin.discards[0] == ("GB",)
    exact, redrawn = _chances(with_it, 0, "GB")
    plain, _ = _chances(pair, 0, "GB")
    assert exact < plain
    assert abs(redrawn - float(exact)) < 0.011
