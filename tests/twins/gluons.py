"""Reference engine ('twin') of Gluons: slow, readable and independent of the fast engine.

It is written from the rules page of the game alone. Where a docstring names a section, such as
"Planning" or "Notation", it means that section of the rules page.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias, TypeVar

Pair: TypeAlias = str  # a gluon's colour and anticolour, such as "RG"
Area: TypeAlias = str  # nucleon, emitting and receiving vertex, such as "A12"
Vertex: TypeAlias = str  # nucleon and vertex, such as "A1"
Cards: TypeAlias = tuple[Pair, ...]  # a multiset of gluons, always in the order of PAIRS

CHANCE = -1  # the player number while a gluon is drawn
TERMINAL = -4  # the player number of a finished game

PAIRS = ("RG", "RB", "GR", "GB", "BR", "BG")  # Material: an own deck
SIDES = ("12", "13", "21", "23", "31", "32")  # Material: the areas of a nucleon
NUCLEONS = "AB"
START = {"1": "R", "2": "G", "3": "B"}  # Material: the quark on each vertex

DEAL, BLOCKING, PLANNING = "deal", "blocking", "planning"
ACTIVATION, RECHARGE, OVER = "activation", "recharge", "over"

# ------------------------------------------------------------------------- the material


@dataclass(frozen=True)
class Parameters:
    """One value for each parameter of the page (Parameters)."""

    players: int
    face_up: bool
    reemission: bool
    copies: int
    hand: int
    utility: str
    max_rounds: int
    pairs: str
    sides: str

    @property
    def deck(self) -> Cards:
        """Return a whole deck (Material): some copies of each pair."""
        return in_order(self.kinds * self.copies)

    @property
    def kinds(self) -> Cards:
        """Return the pairs in the decks; all six if none are named."""
        return tuple(self.pairs.split("-")) if self.pairs else PAIRS

    @property
    def nucleons(self) -> str:
        """Return the names of the nucleons (Material): one with 2 players, else two."""
        return NUCLEONS[:1] if self.players == 2 else NUCLEONS

    @property
    def areas(self) -> frozenset[Area]:
        """Return the interaction areas (Material), those of all six sides if none are named."""
        sides = self.sides.split("-") if self.sides else SIDES
        return frozenset(nucleon + side for nucleon in self.nucleons for side in sides)

    @property
    def has_blockers(self) -> bool:
        """Tell whether players place blockers (Planning): with 3 players only."""
        return self.players == 3


LIMITS: Mapping[str, tuple[int, int]] = {"players": (2, 4), "copies": (1, 2), "hand": (1, 5)}
UTILITIES = ("win", "points")


def check_parameters(given: Parameters) -> None:
    """Raise a ValueError that names the first parameter that doesn't fit (Parameters)."""
    for name, (lowest, highest) in LIMITS.items():
        value = getattr(given, name)
        if type(value) is not int or not lowest <= value <= highest:
            raise ValueError(f"{name} must be a number from {lowest} to {highest}, not {value!r}")
    if type(given.max_rounds) is not int or given.max_rounds < 0:
        raise ValueError(f"max_rounds must be 0 or a number of rounds, not {given.max_rounds!r}")
    for name in ("face_up", "reemission"):
        if type(getattr(given, name)) is not bool:
            raise ValueError(f"{name} must be True or False, not {getattr(given, name)!r}")
    if given.utility not in UTILITIES:
        raise ValueError(f"utility must be one of {UTILITIES}, not {given.utility!r}")
    check_names("pairs", given.pairs, PAIRS)
    check_names("sides", given.sides, SIDES)
    check_sizes(given)


def check_names(parameter: str, text: str, names: tuple[str, ...]) -> None:
    """Raise a ValueError unless a text joins some of the names by hyphens, each at most once."""
    parts = text.split("-") if text else []
    if len(set(parts)) < len(parts) or not set(parts) <= set(names):
        raise ValueError(f"{parameter} must join different ones of {names} by '-', not {text!r}")


def check_sizes(given: Parameters) -> None:
    """Raise a ValueError if the decks are too small for the hands, or the areas too few."""
    spare = len(given.deck) - given.hand
    if spare < 0 or (spare == 0 and given.max_rounds != 1):
        raise ValueError(f"hand must leave cards in a deck of {len(given.deck)}, not {given.hand}")
    needed = given.players * (min(3, given.hand) + given.has_blockers)
    if len(given.areas) < needed:
        raise ValueError(f"sides must give {needed} areas or more, not {len(given.areas)}")


def in_order(cards: Iterable[Pair]) -> Cards:
    """Arrange gluons in the order of the page."""
    return tuple(sorted(cards, key=PAIRS.index))


def without(cards: Cards, pair: Pair) -> Cards:
    """Take one gluon away."""
    place = cards.index(pair)
    return cards[:place] + cards[place + 1 :]


T = TypeVar("T")


def put(values: tuple[T, ...], player: int, value: T) -> tuple[T, ...]:
    """Replace one player's part of what all players have."""
    return (*values[:player], value, *values[player + 1 :])


# ------------------------------------------------------------------------------ the game


class Gluon(NamedTuple):
    """A gluon on an area."""

    owner: int
    pair: Pair
    face_up: bool

    def __str__(self) -> str:
        """Write the gluon with its player's number, such as `0:RG` or, face down, `0:RG?`."""
        return f"{self.owner}:{self.pair}" + "?" * (not self.face_up)


class Event(NamedTuple):
    """A step of the game: an action, who took it (or drew), and what the other players see.

    Nothing is seen of another player's draw, not even that it happens: how many cards are drawn,
    and when, follows from what all can see.
    """

    player: int
    action: str
    shown: str | None

    @property
    def is_draw(self) -> bool:
        """Tell a draw from what players choose (Notation)."""
        return self.action.startswith("draw:")

    @property
    def is_private(self) -> bool:
        """Tell whether the player knows more of it than the others: a draw, a face-down play."""
        return self.is_draw or "?" in self.action

    def seen_by(self, player: int) -> str | None:
        """Return what a player sees of the event, None if nothing."""
        text = self.action if player == self.player and self.is_private else self.shown
        return None if text is None else f"{self.player}:{text}"


@dataclass(frozen=True)
class Twin:
    """A state of the game. Nothing in it ever changes; `apply` builds the next state.

    It keeps more than the future needs: which gluons scored or were discarded, and all that has
    happened. `key` leaves those out.
    """

    parameters: Parameters
    hands: tuple[Cards, ...]
    decks: tuple[Cards, ...]
    pending: tuple[int, ...]  # how many cards each player is still to draw
    quarks: Mapping[Vertex, str] = field(hash=False)  # the colour on each vertex
    kept: tuple[Cards, ...]  # the gluons that count as points, in the order they were won
    discards: tuple[Cards, ...]  # each player's, in the order they were discarded
    phase: str = DEAL
    round: int = 1  # the deal belongs to the first round, a recharge to the round it ends
    first: int = 0  # the holder of the first-player token
    turn: int = 0  # who chooses next, if anyone does
    areas: Mapping[Area, Gluon] = field(default_factory=dict, hash=False)  # only filled ones
    blockers: Mapping[Area, int] = field(default_factory=dict, hash=False)  # and who placed them
    tokens: Mapping[int, int] = field(default_factory=dict, hash=False)  # holders; not the middle
    locked: frozenset[int] = frozenset()  # tokens; they stay so up to the next planning phase
    events: tuple[Event, ...] = ()

    @staticmethod
    def start(
        players: int = 2,
        face_up: bool = False,
        reemission: bool = False,
        copies: int = 2,
        hand: int = 5,
        utility: str = "win",
        max_rounds: int = 0,
        pairs: str = "",
        sides: str = "",
    ) -> "Twin":
        """Return the start of a game, before any card is drawn; ValueError for bad parameters."""
        parameters = Parameters(
            players, face_up, reemission, copies, hand, utility, max_rounds, pairs, sides
        )
        check_parameters(parameters)
        return Twin.begun(parameters)

    @staticmethod
    def begun(parameters: Parameters) -> "Twin":
        """Material: full decks, hands to be drawn, quarks at their start."""
        players = parameters.players
        nothing: tuple[Cards, ...] = ((),) * players
        return Twin(
            parameters,
            hands=nothing,
            decks=(parameters.deck,) * players,
            pending=(parameters.hand,) * players,
            quarks={
                name + vertex: START[vertex] for name in parameters.nucleons for vertex in START
            },
            kept=nothing,
            discards=nothing,
        )

    # What a player of the game asks for

    @property
    def player(self) -> int:
        """Return the player to act, CHANCE while a card is drawn, or TERMINAL."""
        if any(self.pending):
            return CHANCE
        return TERMINAL if self.phase == OVER else self.turn

    def legal(self) -> list[str]:
        """Return the legal actions, sorted as strings; none unless a player is to act."""
        return list(self._legal)

    @cached_property
    def _legal(self) -> tuple[str, ...]:
        choices: dict[str, Callable[[], set[str]]] = {
            BLOCKING: self._blocks,
            PLANNING: self._plans,
            ACTIVATION: self._activations,
        }
        return tuple(sorted(choices[self.phase]())) if self.phase in choices else ()

    def chance(self) -> dict[str, Fraction]:
        """Return the outcomes of the draw with their probabilities; none if there is no draw.

        Notation: one card at a time, with identical cards as one outcome.
        """
        if self.player != CHANCE:
            return {}
        deck = self.decks[self.drawer]
        return {f"draw:{pair}": Fraction(n, len(deck)) for pair, n in Counter(deck).items()}

    @property
    def drawer(self) -> int:
        """Return who draws next at a chance node (Recharge): clockwise from the first player."""
        return next(player for player in self.seats if self.pending[player])

    def apply(self, action: str) -> "Twin":
        """Return the state after a legal action or a possible draw; ValueError otherwise."""
        if self.player == TERMINAL:
            raise ValueError(f"action {action!r} is illegal: the game is over")
        possible = list(self.chance()) if self.player == CHANCE else self.legal()
        if action not in possible:
            raise ValueError(f"action {action!r} is illegal here: expected one of {possible}")
        if self.player == CHANCE:
            return self._drawn(action)
        if self.phase == BLOCKING:
            return self._blocked(action)
        if self.phase == ACTIVATION:
            return self._activated(action)
        return self._passed() if action == "pass" else self._played(action)

    def returns(self) -> tuple[float, ...]:
        """Return all players' utilities, zeros before the end."""
        return tuple(float(value) for value in self.exact_returns())

    def exact_returns(self) -> tuple[Fraction, ...]:
        """Return the utilities (Parameters: utility) as fractions, zeros before the end."""
        players = range(self.parameters.players)
        if self.player != TERMINAL:
            return tuple(Fraction(0) for _ in players)
        if self.parameters.utility == "win":
            winner, loss = self.winner(), Fraction(-1, len(players) - 1)
            return tuple(Fraction(1) if player == winner else loss for player in players)
        points = [self.points(player) for player in players]
        return tuple(own - Fraction(sum(points), len(points)) for own in points)

    # What a player knows

    @property
    def history(self) -> tuple[str, ...]:
        """Return all actions since the start, draws included."""
        return tuple(event.action for event in self.events)

    def observations(self, player: int) -> tuple[str, ...]:
        """Return what a player has seen, in order (Utilities and knowledge).

        Each text begins with the number of the acting player. Of other players' face-down plays
        only the area is seen, and of their draws nothing: the sequence doesn't change while an
        opponent draws. An activation shows the gluon to all, such as `0:!A12=RG`. A player can't
        tell two histories apart exactly when these are equal.

        Whose choice comes next, and that one is due at all unless opponents are still drawing,
        follows from them.
        """
        seen = (event.seen_by(player) for event in self.events)
        return tuple(text for text in seen if text is not None)

    # Seats and turns

    @property
    def seats(self) -> tuple[int, ...]:
        """Return all players clockwise, the holder of the first-player token leading."""
        players = self.parameters.players
        return tuple((self.first + step) % players for step in range(players))

    def seat_after(self, player: int) -> int:
        """Return the next player clockwise."""
        return (player + 1) % self.parameters.players

    @property
    def passed(self) -> frozenset[int]:
        """Return who has passed in this round: whoever holds a token."""
        return frozenset(self.tokens.values())

    @property
    def is_final(self) -> bool:
        """Tell whether the round in progress is the last one (Recharge; Parameters: max_rounds).

        No deck changes between the draws before a round and the end of the round.
        """
        return self.round == self.parameters.max_rounds or not all(self.decks)

    # Planning

    @property
    def empty_areas(self) -> frozenset[Area]:
        """Return the areas that take a gluon or a blocker."""
        return self.parameters.areas - self.areas.keys() - self.blockers.keys()

    def gluons(self, player: int) -> dict[Area, Gluon]:
        """Return a player's gluons on the areas: during planning, all played in this round."""
        return {area: gluon for area, gluon in self.areas.items() if gluon.owner == player}

    def _blocks(self) -> set[str]:
        return {f"block@{area}" for area in self.empty_areas}

    def _plans(self) -> set[str]:
        hand, empty = set(self.hands[self.turn]), self.empty_areas
        played = self.gluons(self.turn).values()
        if len(played) == 3 or not hand:
            return {"pass"}
        signs = "@?" if self._may_hide() else "@"
        plays = {f"{pair}{sign}{area}" for pair in hand for sign in signs for area in empty}
        return plays | {"pass"} if any(gluon.face_up for gluon in played) else plays

    def _may_hide(self) -> bool:
        """Planning: the duty of a face-up gluon is met or can still be met after the play."""
        if self.parameters.face_up:
            return False
        played = self.gluons(self.turn).values()
        if any(gluon.face_up for gluon in played):
            return True
        return len(played) + 1 < 3 and len(self.hands[self.turn]) - 1 > 0

    def _blocked(self, action: str) -> "Twin":
        area = action.removeprefix("block@")
        after = replace(
            self,
            blockers={**self.blockers, area: self.turn},
            turn=self.seat_after(self.turn),
            events=(*self.events, Event(self.turn, action, action)),
        )
        done = len(after.blockers) == self.parameters.players
        return replace(after, phase=PLANNING) if done else after

    def _played(self, action: str) -> "Twin":
        pair, sign, area = action[:2], action[2], action[3:]
        shown = action if sign == "@" else f"?{area}"
        after = replace(
            self,
            hands=put(self.hands, self.turn, without(self.hands[self.turn], pair)),
            areas={**self.areas, area: Gluon(self.turn, pair, sign == "@")},
            events=(*self.events, Event(self.turn, action, shown)),
        )
        return after._turn_ended()

    def _passed(self) -> "Twin":
        """Planning: the lowest available token changes hands; who loses it takes the next one."""
        tokens, taker = dict(self.tokens), self.turn
        for number in range(1, self.parameters.players + 1):
            if number in self.locked:
                continue
            loser = self.tokens.get(number)
            tokens[number] = taker
            if loser is None:
                break
            taker = loser
        events = (*self.events, Event(self.turn, "pass", "pass"))
        return replace(self, tokens=tokens, events=events)._turn_ended()

    def _turn_ended(self) -> "Twin":
        """Planning: the turn comes round, past those who have passed, until all have.

        Whenever it reaches the first player, the tokens in hands are locked.
        """
        if len(self.passed) == self.parameters.players:
            return self._activation_begun()
        seat = self.seat_after(self.turn)
        locked = frozenset(self.tokens) if seat == self.first else self.locked
        after = replace(self, turn=seat, locked=locked)
        return after._turn_ended() if seat in self.passed else after

    # Activation

    @property
    def order(self) -> tuple[int, ...]:
        """Return the players who have passed in the order of their tokens."""
        return tuple(self.tokens[number] for number in sorted(self.tokens))

    def emitting(self, area: Area) -> str:
        """Return the colour of an area's emitting quark, as the quarks lie now."""
        return self.quarks[area[0] + area[1]]

    def receiving(self, area: Area) -> str:
        """Return the colour of an area's receiving quark, as the quarks lie now."""
        return self.quarks[area[0] + area[2]]

    def remedy(self, area: Area) -> Pair | None:
        """Return the gluon whose discard makes the one on an area valid (Modes: reemission)."""
        pair = self.areas[area].pair
        colour, anticolour = pair[0], pair[1]
        if colour != self.emitting(area) or anticolour == self.receiving(area):
            return None
        return anticolour + self.receiving(area)

    def _activations(self) -> set[str]:
        own = self.gluons(self.turn)
        plain = {f"!{area}" for area in own}
        if not self.parameters.reemission:
            return plain
        remedies = {area: self.remedy(area) for area in own}
        hand = self.hands[self.turn]
        return plain | {f"!{area}+{card}" for area, card in remedies.items() if card in hand}

    def _activation_begun(self) -> "Twin":
        """Activation: as if the last in order had just activated a gluon."""
        return replace(self, phase=ACTIVATION, turn=self.order[-1])._next_activation()

    def _activated(self, action: str) -> "Twin":
        area, _, card = action.removeprefix("!").partition("+")
        event = Event(self.turn, action, f"{action}={self.areas[area].pair}")
        before = replace(self, events=(*self.events, event))
        if card:
            hand = without(self.hands[self.turn], card)
            before = replace(before, hands=put(self.hands, self.turn, hand))._discarded(card)
        is_valid = self.areas[area].pair == self.emitting(area) + self.receiving(area)
        after = before._scored(area) if card or is_valid else before._failed(area)
        return after._next_activation()

    def _scored(self, area: Area) -> "Twin":
        """Activation: a point, and the quarks of the side swap."""
        emitting, receiving = area[0] + area[1], area[0] + area[2]
        swapped = {emitting: self.quarks[receiving], receiving: self.quarks[emitting]}
        kept = put(self.kept, self.turn, (*self.kept[self.turn], self.areas[area].pair))
        return replace(self, kept=kept, quarks={**self.quarks, **swapped})._cleared(area)

    def _failed(self, area: Area) -> "Twin":
        return self._discarded(self.areas[area].pair)._cleared(area)

    def _discarded(self, pair: Pair) -> "Twin":
        discards = put(self.discards, self.turn, (*self.discards[self.turn], pair))
        return replace(self, discards=discards)

    def _cleared(self, area: Area) -> "Twin":
        rest = {other: gluon for other, gluon in self.areas.items() if other != area}
        return replace(self, areas=rest)

    def _next_activation(self) -> "Twin":
        """Activation: again and again in the order of the tokens, without those done."""
        if not self.areas:
            return self._round_ended()
        place = self.order.index(self.turn) + 1
        coming = self.order[place:] + self.order[:place]
        return replace(self, turn=next(player for player in coming if self.gluons(player)))

    # Recharge

    def _round_ended(self) -> "Twin":
        """Recharge: after the final round nothing moves and nobody draws."""
        if self.is_final:
            return replace(self, phase=OVER, blockers={})
        pending = tuple(
            min(2, len(deck), self.parameters.hand - len(hand))
            for deck, hand in zip(self.decks, self.hands, strict=True)
        )
        first = self.seat_after(self.first)
        return replace(self, phase=RECHARGE, blockers={}, first=first, turn=first, pending=pending)

    def _drawn(self, action: str) -> "Twin":
        """Notation: one card goes from the deck to the hand; after the last, planning begins."""
        who, pair = self.drawer, action.removeprefix("draw:")
        after = replace(
            self,
            hands=put(self.hands, who, in_order((*self.hands[who], pair))),
            decks=put(self.decks, who, without(self.decks[who], pair)),
            pending=put(self.pending, who, self.pending[who] - 1),
            events=(*self.events, Event(who, action, None)),
        )
        return after if any(after.pending) else after._planning_begun()

    def _planning_begun(self) -> "Twin":
        """Planning: all tokens are in the middle, unlocked."""
        return replace(
            self,
            phase=BLOCKING if self.parameters.has_blockers else PLANNING,
            round=self.round + (self.phase == RECHARGE),
            tokens={},
            locked=frozenset(),
        )

    # Score

    def points(self, player: int) -> int:
        """Score: a point for each kept gluon."""
        return len(self.kept[player])

    def winner(self) -> int:
        """Score: most points; then an empty deck; then most cards in hand; then the seat."""
        tied = self.seats
        for merit in (self.points, self._has_empty_deck, self._hand_size):
            best = max(merit(player) for player in tied)
            tied = tuple(player for player in tied if merit(player) == best)
        return tied[0]

    def _has_empty_deck(self, player: int) -> int:
        return int(not self.decks[player])

    def _hand_size(self, player: int) -> int:
        return len(self.hands[player])

    # Descriptions

    def key(self) -> Hashable:
        """Return all that the rest of the game depends on, and nothing else.

        The round matters only if their number is limited, locks only while tokens are taken, and
        a gluon's face only as long as its player may still play.
        """
        planning = self.phase == PLANNING
        gluons = frozenset(
            (area, gluon.owner, gluon.pair, gluon.face_up and planning)
            for area, gluon in self.areas.items()
        )
        scores = tuple(len(kept) for kept in self.kept)
        round_number = self.round if self.parameters.max_rounds else 0
        tokens = self.order if self.phase in (PLANNING, ACTIVATION) else ()
        locked = self.locked if planning else frozenset()
        return (
            *(self.parameters, self.phase, round_number, self.first, self.player),
            *(frozenset(self.quarks.items()), gluons, frozenset(self.blockers)),
            *(self.hands, self.decks, self.pending, scores, tokens, locked),
        )

    def position(self) -> str:
        """Describe the whole state for a reader, hidden cards included."""
        quarks = " ".join(f"{vertex}={colour}" for vertex, colour in sorted(self.quarks.items()))
        head = f"round {self.round}, {self.phase}, first {self.first}, player {self.player}"
        areas = " ".join(
            f"{area}={self._area_text(area)}" for area in sorted(self.parameters.areas)
        )
        players = [self._player_text(player) for player in range(self.parameters.players)]
        return "\n".join([head, quarks, areas, *players])

    def _area_text(self, area: Area) -> str:
        if area in self.blockers:
            return f"{self.blockers[area]}:block"
        return str(self.areas.get(area, "-"))

    def _player_text(self, player: int) -> str:
        token = next((number for number, who in self.tokens.items() if who == player), None)
        held = f", token {token}{'!' * (token in self.locked)}" if token else ""
        hand, deck = (" ".join(cards[player]) or "empty" for cards in (self.hands, self.decks))
        return f"player {player}: {self.points(player)} points, hand {hand}, deck {deck}{held}"
