"""Reference engine ('twin') of Treasure: slow, readable and independent of the fast engine.

It is written from the rules page of the game alone. Where a docstring names a section, such as
"Play 2" or "Notation", it means that section (and numbered item) of the rules page.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import NamedTuple, TypeAlias, TypeVar

from tests.twins.trees import at_random

Cell: TypeAlias = str  # a column and a row, such as "e1"
Rank: TypeAlias = str  # one sign of RANKS
Cards: TypeAlias = tuple[Rank, ...]  # a multiset of cards, always in the order of RANKS

CHANCE = -1  # the player number while a card is drawn
TERMINAL = -4  # the player number of a finished game

COLUMNS = "abcdefghi"
FIRST_COLUMN = "e"
RANKS = "$23456789TJQKA"  # Notation; Material: from the lowest to the highest
TREASURE = "$"

# ------------------------------------------------------------------------- the material


@dataclass(frozen=True)
class Parameters:
    """One value for each parameter of the page (Parameters)."""

    rows: int
    columns: int
    ranks: int
    copies: int
    treasure: bool
    hand: int
    utility: str

    @property
    def deck(self) -> Cards:
        """Return a whole deck (Material): the lowest ranks from 2 up, and the Treasure."""
        plain = [rank for rank in RANKS[1 : 1 + self.ranks] for _ in range(self.copies)]
        return (TREASURE, *plain) if self.treasure else tuple(plain)

    def home(self, player: int) -> str:
        """Return a player's home row (Material): row 1 for player 0, the last for player 1."""
        return "1" if player == 0 else str(self.rows)


LIMITS: Mapping[str, tuple[int, int]] = {
    "rows": (2, 5),
    "columns": (1, 5),
    "ranks": (1, 13),
    "copies": (1, 2),
    "hand": (1, 3),
}
UTILITIES = ("win", "margin")


def check_parameters(given: Parameters) -> None:
    """Raise a ValueError that names the first parameter out of its range (Parameters)."""
    for name, (lowest, highest) in LIMITS.items():
        value = getattr(given, name)
        if type(value) is not int or not lowest <= value <= highest:
            raise ValueError(f"{name} must be a number from {lowest} to {highest}, not {value!r}")
    if type(given.treasure) is not bool:
        raise ValueError(f"treasure must be True or False, not {given.treasure!r}")
    if given.utility not in UTILITIES:
        raise ValueError(f"utility must be one of {UTILITIES}, not {given.utility!r}")


def is_higher(rank: Rank, other: Rank) -> bool:
    """Tell whether a card may cover another (Play 3): only a strictly lower one."""
    return RANKS.index(rank) > RANKS.index(other)


def in_order(cards: Iterable[Rank]) -> Cards:
    """Arrange cards from the lowest rank to the highest."""
    return tuple(sorted(cards, key=RANKS.index))


def without(cards: Cards, rank: Rank) -> Cards:
    """Take one card of a rank away."""
    place = cards.index(rank)
    return cards[:place] + cards[place + 1 :]


@cache
def beside(cell: Cell, rows: int) -> frozenset[Cell]:
    """Return the orthogonal neighbours of a space among all nine possible columns."""
    column, row = COLUMNS.index(cell[0]), int(cell[1])
    around = [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
    return frozenset(
        f"{COLUMNS[there]}{line}"
        for there, line in around
        if there in range(len(COLUMNS)) and line in range(1, rows + 1)
    )


# ------------------------------------------------------------------------------ the game


class Card(NamedTuple):
    """A card on the board, and the player who put it there."""

    owner: int
    rank: Rank

    def __str__(self) -> str:
        """Write the card with its player's number, such as `0:7`."""
        return f"{self.owner}:{self.rank}"


class Event(NamedTuple):
    """A step of the game: a play or a discard and its player, or a draw and whose it was."""

    player: int
    action: str

    @property
    def is_draw(self) -> bool:
        """Tell a draw from what players choose (Notation)."""
        return self.action.startswith("draw:")


Pair: TypeAlias = tuple[int, int]
Piles: TypeAlias = Mapping[Cell, tuple[Card, ...]]  # from the bottom card to the top card


@dataclass(frozen=True)
class Twin:
    """A state of the game. Nothing in it ever changes; `apply` builds the next state.

    It keeps more than the future needs: covered cards, and all that has happened. `key` leaves
    those out.
    """

    parameters: Parameters
    piles: Piles = field(hash=False)  # empty spaces are missing
    hands: tuple[Cards, Cards]
    decks: tuple[Cards, Cards]
    turn: int  # who chooses next, once pending draws are made
    pending: Pair  # cards each player is still to draw; player 0 draws first
    one_hand_used: bool  # whether one player has emptied this hand, and the other has not yet
    owes_first: tuple[bool, bool]  # who has still to play a first card, in column e
    events: tuple[Event, ...] = ()

    @staticmethod
    def start(
        rows: int = 5,
        columns: int = 5,
        ranks: int = 13,
        copies: int = 2,
        treasure: bool = True,
        hand: int = 3,
        utility: str = "win",
    ) -> "Twin":
        """Return the start of a game, before any card is drawn; ValueError for bad parameters."""
        parameters = Parameters(rows, columns, ranks, copies, treasure, hand, utility)
        check_parameters(parameters)
        return Twin.begun(parameters)

    @staticmethod
    def begun(parameters: Parameters) -> "Twin":
        """Play 1: two full decks, and two hands to be drawn; a short deck makes a short hand."""
        deck = parameters.deck
        size = min(parameters.hand, len(deck))
        return Twin(parameters, {}, ((), ()), (deck, deck), 0, (size, size), False, (True, True))

    # What a player of the game asks for

    @property
    def player(self) -> int:
        """Return the player to act, CHANCE while a card is drawn, or TERMINAL (Play 8)."""
        if any(self.pending):
            return CHANCE
        return self.turn if any(self.hands) else TERMINAL

    def legal(self) -> list[str]:
        """Return the legal actions, sorted as strings; none unless a player is to act."""
        return list(self._legal)

    @cached_property
    def _legal(self) -> tuple[str, ...]:
        if self.player not in (0, 1):
            return ()
        hand = set(self.hands[self.turn])
        discards = {f"-{rank}" for rank in hand}
        reachable = self.reachable(self.turn)
        plays = {f"{rank}@{cell}" for rank in hand for cell in reachable if self._fits(rank, cell)}
        return tuple(sorted(discards | plays))

    def chance(self) -> dict[str, Fraction]:
        """Return the outcomes of the draw with their probabilities; none if there is no draw.

        Notation: one card at a time, with identical cards as one outcome.
        """
        if self.player != CHANCE:
            return {}
        deck = self.decks[self.drawer]
        return {f"draw:{rank}": Fraction(n, len(deck)) for rank, n in Counter(deck).items()}

    @property
    def drawer(self) -> int:
        """Return who draws next at a chance node (Notation: player 0 first at the start)."""
        return 0 if self.pending[0] else 1

    def apply(self, action: str) -> "Twin":
        """Return the state after a legal action or a possible draw; ValueError otherwise."""
        if self.player == TERMINAL:
            raise ValueError(f"action {action!r} is illegal: the game is over")
        possible = list(self.chance()) if self.player == CHANCE else self.legal()
        if action not in possible:
            raise ValueError(f"action {action!r} is illegal here: expected one of {possible}")
        if self.player == CHANCE:
            return self._drawn(action)
        rank, _, cell = action.partition("@")
        after = self._laid(rank, cell) if cell else self
        return after._turn_ended(action, rank.lstrip("-"))

    def returns(self) -> tuple[float, float]:
        """Return both players' utilities, zeros before the end (Parameters: utility)."""
        if self.player != TERMINAL:
            return (0.0, 0.0)
        points = self.points(0) - self.points(1)
        if self.parameters.utility == "win":
            # Score: on equal points, fewer unconnected cards win.
            lead = points or len(self.unconnected(1)) - len(self.unconnected(0))
            points = (lead > 0) - (lead < 0)
        return (float(points), float(-points))

    # What a player knows

    @property
    def history(self) -> tuple[str, ...]:
        """Return all actions since the start, draws included."""
        return tuple(event.action for event in self.events)

    def exact_returns(self) -> tuple[Fraction, ...]:
        """Return the same as fractions."""
        return tuple(map(Fraction, self.returns()))

    def observations(self, player: int) -> tuple[str, ...]:
        """Return what a player has seen, in order (Utilities and knowledge).

        These are all plays and discards, each with the number of its player, and the player's own
        draws. A player can't tell two histories apart exactly when these are equal.

        Whose choice comes next follows from them: seats take turns by the number of choices made
        alone. That a choice is due at all doesn't: an opponent's draws leave no trace, so the
        nodes at which the opponent draws share the observations with the node after the last of
        these draws. That is a choice (the player's or the opponent's), or, in the first deal seen
        by player 1, the player's own first draw.
        """
        return tuple(
            event.action if event.is_draw else f"{event.player}:{event.action}"
            for event in self.events
            if event.player == player or not event.is_draw
        )

    # The board

    def top(self, cell: Cell) -> Card | None:
        """Return the top card of a space, None if it is empty."""
        return self.piles[cell][-1] if cell in self.piles else None

    @property
    def columns_in_play(self) -> frozenset[str]:
        """Return the columns that hold a card; once they do, they always will."""
        return frozenset(cell[0] for cell in self.piles)

    def owned(self, player: int) -> frozenset[Cell]:
        """Return the spaces whose top card is the player's (Play 4)."""
        return frozenset(cell for cell, pile in self.piles.items() if pile[-1].owner == player)

    def connected(self, player: int) -> frozenset[Cell]:
        """Return the player's spaces with a path of own spaces to the home row (Play 4)."""
        owned = self.owned(player)
        reached = frozenset(cell for cell in owned if cell[1] == self.parameters.home(player))
        while grown := (self._around(reached) & owned) - reached:
            reached |= grown
        return reached

    def unconnected(self, player: int) -> frozenset[Cell]:
        """Return the player's spaces that are cut off from the home row."""
        return self.owned(player) - self.connected(player)

    def points(self, player: int) -> int:
        """Score: 1 for each top card, connected or not, and 3 for a Treasure."""
        tops = (pile[-1] for pile in self.piles.values())
        return sum(3 if top.rank == TREASURE else 1 for top in tops if top.owner == player)

    def _around(self, cells: Iterable[Cell]) -> frozenset[Cell]:
        rows = self.parameters.rows
        return frozenset(near for cell in cells for near in beside(cell, rows))

    # What can be done

    def reachable(self, player: int) -> frozenset[Cell]:
        """Return where a player may play, as far as the place goes (Play 4, 5 and 6)."""
        home = self.parameters.home(player)
        if self.owes_first[player]:
            return frozenset({FIRST_COLUMN + home})
        home_row = frozenset(column + home for column in self.columns_in_play)
        connected = self.connected(player)
        anywhere = home_row | connected | self._around(connected)
        return frozenset(cell for cell in anywhere if self._column_open(cell[0]))

    def _column_open(self, column: str) -> bool:
        """Play 5: a new column may come into play while there are too few."""
        in_play = self.columns_in_play
        return column in in_play or len(in_play) < self.parameters.columns

    def _fits(self, rank: Rank, cell: Cell) -> bool:
        """Play 3: on an empty space or a lower card; nothing is lower than a Treasure."""
        top = self.top(cell)
        return top is None or is_higher(rank, top.rank)

    # What it leads to

    def _drawn(self, action: str) -> "Twin":
        """Play 7: one card goes from the deck to the hand."""
        who, rank = self.drawer, action.removeprefix("draw:")
        return replace(
            self,
            hands=put(self.hands, who, in_order((*self.hands[who], rank))),
            decks=put(self.decks, who, without(self.decks[who], rank)),
            pending=put(self.pending, who, self.pending[who] - 1),
            events=(*self.events, Event(who, action)),
        )

    def _laid(self, rank: Rank, cell: Cell) -> "Twin":
        """Play 3: the card becomes the top card of the space. Play 6: nothing is owed now."""
        pile = (*self.piles.get(cell, ()), Card(self.turn, rank))
        owes_first = put(self.owes_first, self.turn, False)
        return replace(self, piles={**self.piles, cell: pile}, owes_first=owes_first)

    def _turn_ended(self, action: str, rank: Rank) -> "Twin":
        """Play 2: the card leaves the hand, and the other player is next."""
        after = replace(
            self,
            hands=put(self.hands, self.turn, without(self.hands[self.turn], rank)),
            turn=1 - self.turn,
            events=(*self.events, Event(self.turn, action)),
        )
        return after if after.hands[self.turn] else after._hand_used(self.turn)

    def _hand_used(self, who: int) -> "Twin":
        """Play 7: draw a new hand at once; who is second to need one takes the next turn too."""
        size = min(self.parameters.hand, len(self.decks[who]))
        return replace(
            self,
            pending=put(self.pending, who, size),
            turn=who if self.one_hand_used else 1 - who,
            one_hand_used=not self.one_hand_used,
        )

    # Descriptions

    def key(self) -> Hashable:
        """Return all that the rest of the game depends on, and nothing else.

        Covered cards are gone for good, and the columns in play show in the top cards. Columns
        keep their names, since actions name them.
        """
        tops = frozenset((cell, pile[-1]) for cell, pile in self.piles.items())
        draws = (self.turn, self.pending, self.one_hand_used)
        return (self.parameters, tops, self.hands, self.decks, draws, self.owes_first)

    def position(self) -> str:
        """Describe the whole state for a reader, hidden cards and covered cards included.

        Each pile is written from its top card down; cut-off top cards are marked with `!`.
        """
        rows = range(self.parameters.rows, 0, -1)
        lines = [" ".join([str(row), *self._row_texts(str(row))]) for row in rows]
        lines.append("  " + " ".join(column.ljust(11) for column in sorted(self.columns_in_play)))
        lines += [self._player_text(player) for player in (0, 1)]
        return "\n".join([*lines, f"player {self.player}, turn {self.turn}"])

    def _row_texts(self, row: str) -> list[str]:
        return [self._cell_text(column + row) for column in sorted(self.columns_in_play)]

    def _cell_text(self, cell: Cell) -> str:
        pile = self.piles.get(cell)
        if pile is None:
            return ".".ljust(11)
        cut_off = cell in self.unconnected(pile[-1].owner)
        return (">".join(str(card) for card in reversed(pile)) + "!" * cut_off).ljust(11)

    def _player_text(self, player: int) -> str:
        hand = "".join(self.hands[player]) or "empty"
        deck = " ".join(f"{rank}x{n}" for rank, n in Counter(self.decks[player]).items())
        owed = ", owes the first card" if self.owes_first[player] else ""
        draws = f", draws {self.pending[player]}" if self.pending[player] else ""
        return f"player {player}: hand {hand}, deck {deck or 'empty'}{owed}{draws}"


T = TypeVar("T")


def put(pair: tuple[T, T], player: int, value: T) -> tuple[T, T]:
    """Replace one player's half of a pair."""
    return (value, pair[1]) if player == 0 else (pair[0], value)


# ----------------------------------------------------------------------- hidden knowledge

Hidden: TypeAlias = tuple[Cards, Cards]  # the opponent's hand and deck, as multisets


def posterior(twin: Twin, player: int) -> dict[Hidden, Fraction]:
    """Return the exact chances of the opponent's hand and deck given a player's observations.

    Every order of the opponent's deck is equally likely, those that contradict the observations
    drop out, and the rest are weighed alike: nothing is concluded from how an opponent would
    choose. The player's own deck needs no enumeration, since its multiset is known and each of
    its orders is as likely as another.

    How many cards the opponent has drawn is taken from the state. That matters only while the
    opponent draws, when the observations alone leave it open.
    """
    drawn = sum(event.is_draw and event.player != player for event in twin.events)
    orders = Counter(order[:drawn] for order in distinct_orders(twin.parameters.deck))
    weights: Counter[Hidden] = Counter()
    for order, number in orders.items():
        other = redealt(twin, 1 - player, order)
        if other is not None:
            weights[other.hands[1 - player], other.decks[1 - player]] += number
    return {hidden: Fraction(n, weights.total()) for hidden, n in weights.items()}


def distinct_orders(cards: Cards) -> Iterator[Cards]:
    """List each order of the cards once.

    Identical cards are not told apart, which hides equally many shuffles behind every order.
    """
    if not cards:
        yield ()
    for rank in dict.fromkeys(cards):
        for rest in distinct_orders(without(cards, rank)):
            yield (rank, *rest)


def redealt(twin: Twin, owner: int, order: Cards) -> Twin | None:
    """Repeat the game with another order of one deck; None if what was seen can't happen then."""
    again, cards = Twin.begun(twin.parameters), iter(order)
    for event in twin.events:
        swapped = event.is_draw and event.player == owner
        action = f"draw:{next(cards)}" if swapped else event.action
        if action not in at_random(again):
            return None
        again = again.apply(action)
    return again
