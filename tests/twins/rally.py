"""Reference engine ('twin') of Rally: slow, readable and independent of the fast engine.

It is written from the rules page of the game alone. Where a docstring names a section, such as
"Play 2" or "Chance", it means that section (and numbered item) of the rules page.

Cards come in two ways. `Twin` has chance nodes with the probabilities of exchangeable cards.
`ShuffledRally` and `deals` lay out real cards, at random or all possible ones, and let them answer
the chance nodes, so that the one can be checked against the other.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import factorial, isfinite, prod
from random import Random
from typing import NamedTuple, TypeAlias

Gear: TypeAlias = str  # one of GEARS
Value: TypeAlias = int  # the number of a card, 1 (an Ace) to 10
Values: TypeAlias = tuple[Value, ...]
PerGear: TypeAlias = tuple[int, ...]  # a number for each gear, in the order of GEARS

DRIVER = 0  # the player number of the only player
CHANCE = -1  # the player number while a card is turned up
TERMINAL = -4  # the player number of a finished game

GEARS: Mapping[Gear, range] = {"1st": range(1, 4), "2nd": range(4, 7), "3rd": range(7, 11)}
COPIES = 4  # Material: cards of each value
CLOCK = 16  # End: bonuses count up to here, and this many penalties disqualify

# ------------------------------------------------------------------------- the material


class Stage(NamedTuple):
    """What is laid out for a stage (Material)."""

    sectors: PerGear
    boosts: int  # Queens, and just as many Jacks


@dataclass(frozen=True)
class Parameters:
    """One value for each parameter of the page (Parameters)."""

    stages: tuple[Stage, ...]
    jokers: int
    utility: str
    loss_utility: float


STAGE_FORM = re.compile("-".join(["(0|[1-9][0-9]*)"] * 4))
UTILITIES = ("score", "win")
MOST_BOOSTS = 4


def gear_size(gear: Gear) -> int:
    """Return how many cards a whole gear has (Material): 12, 12 or 16."""
    return COPIES * len(GEARS[gear])


def gear_of(value: Value) -> Gear:
    """Return the gear that holds the cards of a value (Material)."""
    return next(gear for gear, values in GEARS.items() if value in values)


def parse_stages(text: str) -> tuple[Stage, ...]:
    """Read the `stages` parameter; ValueError if it is malformed or asks for too many cards."""
    if not isinstance(text, str):
        raise ValueError(f"stages must be a text such as '2-3-5-2', not {text!r}")
    return tuple(parse_stage(part) for part in text.split("/"))


def parse_stage(text: str) -> Stage:
    """Read one stage: its sectors from each gear, and its Boosts."""
    match = STAGE_FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"stages: {text!r} must be four numbers such as 2-3-5-2")
    *sectors, boosts = map(int, match.groups())
    for gear, number in zip(GEARS, sectors, strict=True):
        if number > gear_size(gear):
            raise ValueError(f"stages: {text!r} takes over {gear_size(gear)} cards of {gear} gear")
    if boosts > MOST_BOOSTS:
        raise ValueError(f"stages: {text!r} has over {MOST_BOOSTS} Boosts")
    if not any(sectors):
        raise ValueError(f"stages: {text!r} needs at least one sector")
    return Stage(tuple(sectors), boosts)


def check_numbers(jokers: int, utility: str, loss_utility: float) -> None:
    """Raise a ValueError that names the first parameter out of its range (Parameters)."""
    if type(jokers) is not int or jokers < 0:
        raise ValueError(f"jokers must be a number from 0 up, not {jokers!r}")
    if utility not in UTILITIES:
        raise ValueError(f"utility must be one of {UTILITIES}, not {utility!r}")
    if type(loss_utility) not in (int, float) or not isfinite(loss_utility):
        raise ValueError(f"loss_utility must be a finite number, not {loss_utility!r}")


# ------------------------------------------------------------------------------ the game


@dataclass(frozen=True)
class Twin:
    """A state of the game. Nothing in it ever changes; `apply` builds the next state.

    The player sees all of it: where the unseen cards lie is not in here.
    """

    parameters: Parameters
    stage: int  # from 1; in the end, the stage in which the rally ended
    hidden_counts: PerGear  # sectors that are still face down
    unseen_counts: tuple[int, ...]  # for the values 1 to 10: cards in piles and hidden sectors
    queens: int
    jacks: int
    number: int = 0  # N, the sector in play; 0 while one is to be turned up
    total: int = 0  # T
    cards: int = 0  # gear cards and Queens played on the sector
    drawing: Gear | None = None  # the gear whose top card is being taken
    jokers_down: int = 0
    bonuses: int = 0
    penalties: int = 0
    ending: str = ""  # "finished", "DSQ" or "DNF" once the rally is over

    @staticmethod
    def start(
        stages: str = "2-4-8-4/2-4-6-3/2-3-5-2",
        jokers: int = 2,
        utility: str = "score",
        loss_utility: float = -16.0,
    ) -> "Twin":
        """Return the start, before a sector is turned up; ValueError for bad parameters."""
        check_numbers(jokers, utility, loss_utility)
        parameters = Parameters(parse_stages(stages), jokers, utility, float(loss_utility))
        first = parameters.stages[0]
        return Twin(parameters, 1, first.sectors, WHOLE_GEARS, first.boosts, first.boosts)

    # What a player of the game asks for

    @property
    def player(self) -> int:
        """Return DRIVER, CHANCE while a card is turned up, or TERMINAL."""
        if self.ending:
            return TERMINAL
        return CHANCE if self.number == 0 or self.drawing else DRIVER

    def legal(self) -> list[str]:
        """Return the legal actions, sorted as strings; none unless the player is to choose."""
        return list(self._legal)

    @cached_property
    def _legal(self) -> tuple[str, ...]:
        if self.player != DRIVER:
            return ()
        if self.total > self.number:
            return ("brake", "bust")  # Play 4; what can't be braked never waits for a choice
        gears = [gear for gear, size in self.piles.items() if size]
        return tuple(sorted([*gears, *["boost"] * (self.queens > 0), "next"]))  # Play 1

    def chance(self) -> dict[str, Fraction]:
        """Return what may be turned up, by value, with its chances; empty at other nodes."""
        return dict(self._chance)

    @cached_property
    def _chance(self) -> Mapping[str, Fraction]:
        if self.player != CHANCE:
            return {}
        if self.drawing:
            return {f"card:{value}": p for value, p in self._within(self.drawing).items()}
        sectors = sum(self.hidden_counts)
        return {
            f"sector:{value}": Fraction(number, sectors) * p
            for gear, number in self.hidden.items()
            if number
            for value, p in self._within(gear).items()
        }

    def _within(self, gear: Gear) -> dict[Value, Fraction]:
        """Chance: any unseen card of a gear is as likely as another, wherever it lies."""
        unseen = {value: n for value, n in self.unseen.items() if value in GEARS[gear] and n}
        all_unseen = sum(unseen.values())
        return {value: Fraction(n, all_unseen) for value, n in unseen.items()}

    def apply(self, action: str) -> "Twin":
        """Return the state after a legal action or a possible card; ValueError otherwise."""
        if self.player == TERMINAL:
            raise ValueError(f"action {action!r} is illegal: the rally is over")
        possible = list(self._chance) if self.player == CHANCE else self.legal()
        if action not in possible:
            raise ValueError(f"action {action!r} is illegal here: expected one of {possible}")
        if self.player == CHANCE:
            return self._turned_up(int(action.partition(":")[2]))
        return replace(self, drawing=action) if action in GEARS else self._chosen(action)

    def returns(self) -> tuple[float]:
        """Return the utility, zero before the end (Parameters: utility and loss_utility)."""
        if self.player != TERMINAL:
            return (0.0,)
        if self.parameters.utility == "win":
            return (float(self.outcome == "win"),)
        finished = self.ending == "finished"
        return (float(self.score) if finished else self.parameters.loss_utility,)

    # What there is to see

    @property
    def hidden(self) -> dict[Gear, int]:
        """Return the number of hidden sectors of each gear."""
        return dict(zip(GEARS, self.hidden_counts, strict=True))

    @property
    def unseen(self) -> dict[Value, int]:
        """Return how many cards of each value are unseen in this stage."""
        return dict(enumerate(self.unseen_counts, start=1))

    @property
    def piles(self) -> dict[Gear, int]:
        """Return the size of each gear's pile (Chance): unseen cards that are no sectors."""
        unseen, hidden = self.unseen, self.hidden
        return {
            gear: sum(unseen[value] for value in values) - hidden[gear]
            for gear, values in GEARS.items()
        }

    @property
    def score(self) -> int:
        """End: bonuses minus penalties."""
        return self.bonuses - self.penalties

    @property
    def outcome(self) -> str | None:
        """Return the band: win, podium, pack, back, DSQ or DNF; None before the end (End)."""
        if self.ending != "finished":
            return self.ending or None
        bands = {"win": 1, "podium": -2, "pack": -6}
        return next((band for band, least in bands.items() if self.score >= least), "back")

    # What it leads to

    def _turned_up(self, value: Value) -> "Twin":
        """Take a card out of the unseen ones: onto the sector, or as the next sector."""
        seen = replace(self, unseen_counts=less_one(self.unseen_counts, value - 1))
        if self.drawing:
            return replace(seen, drawing=None)._played(value)
        place = list(GEARS).index(gear_of(value))
        hidden = less_one(self.hidden_counts, place)
        return replace(seen, hidden_counts=hidden, number=value)._settled()

    def _chosen(self, action: str) -> "Twin":
        """Play 1, 3 and 4: do what the player chose, other than taking a gear card."""
        if action == "boost":
            return replace(self, queens=self.queens - 1)._played(1)
        if action == "next":
            return self._left()
        if action == "brake":
            excess = self.total - self.number
            return replace(self, jacks=self.jacks - excess)._sector_ended()
        return self._busted()

    def _played(self, worth: int) -> "Twin":
        return replace(self, total=self.total + worth, cards=self.cards + 1)._settled()

    def _settled(self) -> "Twin":
        """Do what happens by itself on this sector (Play 2, 4 and 5)."""
        if self.total == self.number:
            return self._reached()
        if self.total > self.number:
            return self if self.jacks >= self.total - self.number else self._busted()
        return self if self.queens or any(self.piles.values()) else self._left()

    def _reached(self) -> "Twin":
        """Play 2: a bonus for exactly one card, a lone Queen included; End: at most 16 count."""
        bonuses = min(CLOCK, self.bonuses + (self.cards == 1))
        return replace(self, bonuses=bonuses)._sector_ended()

    def _left(self) -> "Twin":
        """Play 3: a penalty for each point that is missing."""
        return self._penalised(self.number - self.total)._sector_ended()

    def _busted(self) -> "Twin":
        """Play 4: a penalty and a Joker. End: with none left to turn, DNF, but DSQ goes first."""
        undamaged = self.jokers_down < self.parameters.jokers
        after = replace(self._penalised(1), jokers_down=self.jokers_down + undamaged)
        if not after.ending and not undamaged:
            return replace(after, ending="DNF")
        return after._sector_ended()

    def _penalised(self, points: int) -> "Twin":
        """End: the 16th penalty disqualifies at once, and none is counted after it."""
        penalties = min(CLOCK, self.penalties + points)
        return replace(self, penalties=penalties, ending="DSQ" if penalties == CLOCK else "")

    def _sector_ended(self) -> "Twin":
        """Go on to the next sector or stage, or finish; a rally that is over stays as it is."""
        if self.ending:
            return self
        if any(self.hidden_counts):
            return replace(self, number=0, total=0, cards=0)
        if self.stage < len(self.parameters.stages):
            return self._next_stage()
        return replace(self, ending="finished")

    def _next_stage(self) -> "Twin":
        """Play 6: the gears are whole again. Material: Queens and Jacks are replaced."""
        stage = self.parameters.stages[self.stage]
        return Twin(
            self.parameters,
            self.stage + 1,
            stage.sectors,
            WHOLE_GEARS,
            stage.boosts,
            stage.boosts,
            jokers_down=self.jokers_down,
            bonuses=self.bonuses,
            penalties=self.penalties,
        )

    # Descriptions

    def key(self) -> Hashable:
        """Return what the rest of the game depends on: states with equal keys have one future.

        Of a sector in play, only the distance of the total from the number counts, and whether
        a card lies on it already.
        """
        clock = (self.bonuses, self.penalties)
        if self.ending:
            return (self.parameters, clock, self.ending)
        cards = (self.stage, self.hidden_counts, self.unseen_counts, self.queens, self.jacks)
        sector = (self.number - self.total, self.cards > 0, self.drawing)
        return (self.parameters, clock, self.jokers_down, cards, sector)

    def position(self) -> str:
        """Describe the state for a reader."""
        unseen = " ".join(f"{value}x{n}" for value, n in self.unseen.items() if n)
        hidden, piles = (
            " ".join(f"{gear} {n}" for gear, n in by_gear.items())
            for by_gear in (self.hidden, self.piles)
        )
        state = self.outcome or (f"drawing from {self.drawing}" if self.drawing else "")
        return "\n".join(
            [
                f"stage {self.stage} of {len(self.parameters.stages)} {state}".rstrip(),
                f"sector {self.number or '?'}: total {self.total} with {self.cards} cards",
                f"hidden sectors: {hidden}; piles: {piles}; unseen: {unseen or 'none'}",
                f"Queens {self.queens}, Jacks {self.jacks}, Jokers face down {self.jokers_down}",
                f"bonuses {self.bonuses}, penalties {self.penalties}",
            ]
        )


WHOLE_GEARS = tuple(COPIES for values in GEARS.values() for _ in values)


def less_one(counts: tuple[int, ...], place: int) -> tuple[int, ...]:
    """Lower one of the counts by one."""
    return (*counts[:place], counts[place] - 1, *counts[place + 1 :])


# --------------------------------------------------------------------------- whole trees


class Statistics(NamedTuple):
    """What is known of a tree of histories."""

    histories: int  # nodes, the root, the chance nodes and the terminal ones included
    decisions: int  # nodes at which the player chooses
    value: Fraction  # the expected utility of best play


def statistics(twin: Twin) -> Statistics:
    """Count the histories that start here, each path for itself, and value best play."""
    return _statistics(twin, {})


def _statistics(twin: Twin, known: dict[Hashable, Statistics]) -> Statistics:
    """Count with what is known by key: states with equal keys have the same future."""
    key = twin.key()
    if key not in known:
        known[key] = _statistics_of_children(twin, known)
    return known[key]


def _statistics_of_children(twin: Twin, known: dict[Hashable, Statistics]) -> Statistics:
    if twin.player == TERMINAL:
        return Statistics(1, 0, Fraction(twin.returns()[0]))
    chances = twin.chance()
    children = [_statistics(twin.apply(action), known) for action in chances or twin.legal()]
    values = [child.value for child in children]
    return Statistics(
        1 + sum(child.histories for child in children),
        (twin.player == DRIVER) + sum(child.decisions for child in children),
        dot(chances.values(), values) if chances else max(values),
    )


def dot(weights: Iterable[Fraction], values: Iterable[Fraction]) -> Fraction:
    """Return the weighted sum of values."""
    return sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0))


# ------------------------------------------------------------------------ real cards

Policy: TypeAlias = Callable[[Twin], str]  # chooses a legal action from what the player sees
Result: TypeAlias = tuple[int, int, str]  # bonuses, penalties and outcome of a rally


class Deal(NamedTuple):
    """The cards of a stage as they lie: the row of sectors, and each gear's pile, top first.

    Piles may be cut off below the cards of interest.
    """

    row: Values
    piles: tuple[Values, ...]


class Table:
    """The cards that are still face down in a stage, taken away as they are turned up."""

    def __init__(self, deal: Deal) -> None:
        self.row = list(deal.row)
        self.piles = {gear: list(pile) for gear, pile in zip(GEARS, deal.piles, strict=True)}

    def turn_up(self, twin: Twin) -> str:
        """Return, at a chance node, the action of the card that really comes next."""
        cards = self.piles[twin.drawing] if twin.drawing else self.row
        if not cards:
            raise ValueError(f"the deal has no card left for {twin.drawing or 'the sector'}")
        return f"{'card' if twin.drawing else 'sector'}:{cards.pop(0)}"


def drive_stage(twin: Twin, table: Table, policy: Policy) -> Twin:
    """Play a policy to the end of the stage, or of the rally, with the cards on the table."""
    stage = twin.stage
    while twin.stage == stage and twin.player != TERMINAL:
        twin = twin.apply(table.turn_up(twin) if twin.player == CHANCE else policy(twin))
    return twin


def result(twin: Twin) -> Result:
    """Return how a rally ended; ValueError before the end."""
    if twin.outcome is None:
        raise ValueError("the rally is not over yet")
    return twin.bonuses, twin.penalties, twin.outcome


class ShuffledRally:
    """Rallies with shuffled cards (Material; Play 6): no probability is ever worked out."""

    def __init__(self, start: Twin, rng: Random) -> None:
        self.start = start
        self.rng = rng

    def play(self, policy: Policy) -> Twin:
        """Play a rally, shuffled afresh for every stage, and return its end."""
        twin = self.start
        while twin.player != TERMINAL:
            stage = twin.parameters.stages[twin.stage - 1]
            twin = drive_stage(twin, Table(self.deal(stage)), policy)
        return twin

    def deal(self, stage: Stage) -> Deal:
        """Shuffle each gear, take the sectors off the top, and shuffle them together."""
        gears = [self._shuffled(whole_gear(gear)) for gear in GEARS]
        taken = [(gear[:n], gear[n:]) for gear, n in zip(gears, stage.sectors, strict=True)]
        row = self._shuffled(tuple(card for sectors, _ in taken for card in sectors))
        return Deal(row, tuple(pile for _, pile in taken))

    def _shuffled(self, cards: Values) -> Values:
        return tuple(self.rng.sample(cards, len(cards)))


def whole_gear(gear: Gear) -> Values:
    """Return all cards of a gear (Material)."""
    return tuple(value for value in GEARS[gear] for _ in range(COPIES))


# ------------------------------------------------------------------------ all the deals


def deals(stage: Stage, tops: PerGear) -> Iterator[tuple[Deal, Fraction]]:
    """List every deal of a stage with its share of all shuffles, identical cards merged.

    Only the top cards of each pile are told apart, as many as `tops` says for each gear: three
    whole gears have over 10 ** 16 orders. A `tops` beyond a pile gives the whole pile.
    """
    parts = [gear_deals(*part) for part in zip(GEARS, stage.sectors, tops, strict=True)]
    for combination in product(*(part.items() for part in parts)):
        piles = tuple(pile for (_, pile), _ in combination)
        share = prod((share for _, share in combination), start=Fraction(1))
        sectors = [card for (sectors, _), _ in combination for card in sectors]
        rows = list(orders(sectors, len(sectors)))
        for row in rows:
            yield Deal(row, piles), share / len(rows)


def gear_deals(gear: Gear, sectors: int, top: int) -> dict[tuple[Values, Values], Fraction]:
    """Return the shares of shuffles of a gear that make certain sectors and a certain pile.

    The first cards become sectors, whose order is lost in the row, and the next ones are the top
    of the pile. The orders that the cards below can have are counted, not listed.
    """
    whole = whole_gear(gear)
    numbers: Counter[tuple[Values, Values]] = Counter()
    for first in orders(whole, min(sectors + top, len(whole))):
        rest = Counter(whole) - Counter(first)
        numbers[tuple(sorted(first[:sectors])), first[sectors:]] += order_count(rest)
    return {part: Fraction(n, order_count(Counter(whole))) for part, n in numbers.items()}


def orders(cards: Iterable[Value], length: int) -> Iterator[Values]:
    """List once each way to lay some of the cards in a row."""
    if length == 0:
        yield ()
        return
    supply = Counter(cards)
    for card in supply:
        for rest in orders((supply - Counter([card])).elements(), length - 1):
            yield (card, *rest)


def order_count(cards: Counter[Value]) -> int:
    """Return in how many ways cards, some of them identical, can be laid in a row."""
    return factorial(cards.total()) // prod(factorial(n) for n in cards.values())


def results_by_chance(start: Twin, policy: Policy) -> dict[Result, Fraction]:
    """Return the exact distribution of results over the chance nodes of the twin.

    The policy must be a plain function of the state.
    """
    return _results_by_chance(start, policy, {})


def _results_by_chance(
    twin: Twin, policy: Policy, known: dict[Twin, dict[Result, Fraction]]
) -> dict[Result, Fraction]:
    if twin.player == TERMINAL:
        return {result(twin): Fraction(1)}
    if twin not in known:
        steps = twin.chance() or {policy(twin): Fraction(1)}
        known[twin] = mixed(
            (p, _results_by_chance(twin.apply(action), policy, known))
            for action, p in steps.items()
        )
    return known[twin]


def mixed(parts: Iterable[tuple[Fraction, Mapping[Result, Fraction]]]) -> dict[Result, Fraction]:
    """Return the mixture of distributions with the given weights."""
    mixture: dict[Result, Fraction] = {}
    for weight, distribution in parts:
        for key, p in distribution.items():
            mixture[key] = mixture.get(key, Fraction(0)) + weight * p
    return mixture


def results_by_deals(start: Twin, policy: Policy, tops: PerGear) -> dict[Result, Fraction]:
    """Return the exact distribution of results over all shuffles, by going through every deal.

    The policy must be a plain function of the state, and never take more than `tops` cards of a
    gear in a stage (see `deals`): a ValueError says so.
    """
    states = {start: Fraction(1)}
    for stage in start.parameters.stages:
        states = _states_after(stage, states, policy, tops)
    return mixed((p, {result(twin): Fraction(1)}) for twin, p in states.items())


def _states_after(
    stage: Stage, before: Mapping[Twin, Fraction], policy: Policy, tops: PerGear
) -> dict[Twin, Fraction]:
    """Play a stage with every deal from each state; rallies that are over stay as they are."""
    after: dict[Twin, Fraction] = {}
    stage_deals = list(deals(stage, tops))
    for twin, p in before.items():
        for deal, share in stage_deals if twin.player != TERMINAL else [(None, Fraction(1))]:
            end = drive_stage(twin, Table(deal), policy) if deal else twin
            after[end] = after.get(end, Fraction(0)) + p * share
    return after
