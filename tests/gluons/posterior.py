"""What a player may take the others' cards to be, exactly, from the slow twin's history alone."""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import factorial, prod
from typing import NamedTuple, TypeVar

from cardcommons.games.gluons.rules import RECORDS, drawn, value_at
from cardcommons.treaty import Words
from tests.twins.gluons import PAIRS, SIDES, Area, Cards, Event, Pair, Twin, in_order

T = TypeVar("T")

AREAS = [nucleon + side for nucleon in "AB" for side in SIDES]


class Hidden(NamedTuple):
    """What one doesn't know of another player."""

    hand: Cards
    deck: Cards
    down: tuple[tuple[Area, Pair], ...]
    """The gluons that lie face down, by area."""


def hidden(twin: Twin, player: int) -> Hidden:
    """What it is."""
    down = sorted((a, g.pair) for a, g in twin.gluons(player).items() if not g.face_up)
    return Hidden(twin.hands[player], twin.decks[player], tuple(down))


def moments(twin: Twin, player: int) -> Iterator[Pair | None]:
    """A player's draws, as None, and the cards that the others got to see of them, in order."""
    down: set[Area] = set()
    for event in twin.events:
        if event.player != player or event.action == "pass" or event.action[:5] == "block":
            continue
        if event.is_draw:
            yield None
        elif event.action[0] == "!":
            yield from _activated(event, down)
        elif "?" in event.action:
            down.add(event.action[3:])
        else:
            yield event.action[:2]


def _activated(event: Event, down: set[Area]) -> Iterator[Pair]:
    area, _, discarded = event.action.removeprefix("!").partition("+")
    if area in down:
        assert event.shown is not None
        yield event.shown[-2:]
        down.discard(area)
    if discarded:
        yield discarded


Drawn = tuple[Pair, ...]
"""The cards drawn so far, in the order of the page."""


def _ways(twin: Twin, player: int) -> dict[Drawn, int]:
    """In how many orders a player can have drawn which cards, given what was seen of them."""
    deck, shown = Counter(twin.parameters.deck), Counter[Pair]()
    ways: dict[Drawn, int] = {(): 1}
    for pair in moments(twin, player):
        if pair is None:
            following: Counter[Drawn] = Counter()
            for cards, number in ways.items():
                for kind in deck:
                    if cards.count(kind) < deck[kind]:
                        following[in_order((*cards, kind))] += number
            ways = dict(following)
        else:
            shown[pair] += 1
            ways = {cards: n for cards, n in ways.items() if shown <= Counter(cards)}
    return ways


def _orders(cards: Counter[Pair]) -> int:
    """In how many orders cards can be drawn."""
    return factorial(cards.total()) // prod(map(factorial, cards.values()))


def posterior(twin: Twin, player: int) -> dict[Hidden, Fraction]:
    """The chances of what is hidden of a player from all others.

    Every order of the deck and every choice of the cards that lie face down weighs the same, as
    far as it agrees with what was seen.
    """
    deck = Counter(twin.parameters.deck)
    shown = Counter(pair for pair in moments(twin, player) if pair)
    areas = [area for area, _ in hidden(twin, player).down]
    weights: dict[Hidden, int] = {}
    for cards, number in _ways(twin, player).items():
        rest = deck - Counter(cards)
        for down in product(deck, repeat=len(areas)):
            gone = shown + Counter(down)
            if gone <= Counter(cards):
                hand = in_order((Counter(cards) - gone).elements())
                told = Hidden(hand, in_order(rest.elements()), (*zip(areas, down, strict=True),))
                weights[told] = number * _orders(rest)
    return shares(weights)


def shares(weights: Mapping[T, int]) -> dict[T, Fraction]:
    """Weights as chances."""
    total = sum(weights.values())
    return {value: Fraction(weight, total) for value, weight in weights.items()}


def draw_record(words: Words, player: int) -> Cards:
    """The cards that a player drew, in order, as the state has it."""
    record = int(words[RECORDS + 2 * player])
    return tuple(PAIRS[(record >> 4 * i & 15) - 1] for i in range(drawn(words, player)))


def rebuilt_actions(twin: Twin, words: Words) -> list[str]:
    """A twin's history with the draws and the gluons face down that a state has in their place."""
    records = [iter(draw_record(words, player)) for player in range(twin.parameters.players)]
    hiding = set(_still_hidden(twin))
    actions = []
    for number, event in enumerate(twin.events):
        if event.is_draw:
            actions.append(f"draw:{next(records[event.player])}")
        elif number in hiding:
            area = event.action[3:]
            actions.append(f"{PAIRS[int(value_at(words, AREAS.index(area)))]}?{area}")
        else:
            actions.append(event.action)
    assert [next(record, None) for record in records] == [None] * len(records)
    return actions


def _still_hidden(twin: Twin) -> Iterator[int]:
    """The numbers of the events that laid the gluons that still lie face down."""
    down = {area for area, gluon in twin.areas.items() if not gluon.face_up}
    for number in reversed(range(len(twin.events))):
        action = twin.events[number].action
        if action[2:3] == "?" and action[3:] in down:
            down.remove(action[3:])
            yield number
