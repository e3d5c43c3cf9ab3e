"""Reference engine ('twin') of Particles: slow, readable and independent of the fast engine.

It is written from the rules page of the game alone. Where a docstring names a section, such as
"Play 2" or "Notation", it means that section (and numbered item) of the rules page.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import TypeAlias

# ---------------------------------------------------------------------------- the field

Cell: TypeAlias = str  # a column and a row, such as "b3"
Offset: TypeAlias = tuple[int, int]  # columns eastward, rows northward
Permutation: TypeAlias = Mapping[Cell, Cell]  # where each cell goes

TERMINAL = -4  # the player number of a finished game

COLUMNS = "abcd"
ROWS = "1234"
CELLS: tuple[Cell, ...] = tuple(column + row for row in ROWS for column in COLUMNS)
CENTRE: frozenset[Cell] = frozenset({"b2", "b3", "c2", "c3"})
CORNERS: frozenset[Cell] = frozenset({"a1", "a4", "d1", "d4"})

# Material: a player's own side is the half furthest from them.
SIDES: tuple[frozenset[Cell], frozenset[Cell]] = (
    frozenset(cell for cell in CELLS if cell[1] in "34"),
    frozenset(cell for cell in CELLS if cell[1] in "12"),
)

DIRECTIONS: dict[str, Offset] = {"n": (0, 1), "e": (1, 0), "s": (0, -1), "w": (-1, 0)}
DIAGONALS: tuple[Offset, ...] = ((1, 1), (1, -1), (-1, 1), (-1, -1))


@cache
def step(cell: Cell, offset: Offset, torus: bool) -> Cell | None:
    """Return the cell reached from `cell`, or None off the field (Variants: a torus wraps)."""
    column = COLUMNS.index(cell[0]) + offset[0]
    row = ROWS.index(cell[1]) + offset[1]
    if torus:
        column, row = column % 4, row % 4
    if column not in range(4) or row not in range(4):
        return None
    return COLUMNS[column] + ROWS[row]


def compass(cell: Cell, torus: bool) -> dict[str, Cell]:
    """Return the orthogonal neighbours of a cell by direction, without those off the field."""
    around = {way: step(cell, offset, torus) for way, offset in DIRECTIONS.items()}
    return {way: there for way, there in around.items() if there is not None}


@cache
def neighbours(cell: Cell, torus: bool) -> frozenset[Cell]:
    """Return the orthogonal neighbours of a cell."""
    return frozenset(compass(cell, torus).values())


@cache
def diagonals(cell: Cell, torus: bool) -> frozenset[Cell]:
    """Return the diagonal neighbours of a cell."""
    corners = (step(cell, offset, torus) for offset in DIAGONALS)
    return frozenset(there for there in corners if there is not None)


# ---------------------------------------------------------------------------- the cards

LEVELS = "A23456"  # the signs of levels 1 to 6
SUITS = ("hs", "dc")  # Material: player 0's suits, then player 1's, as a hand lists them
RED = "hd"


@dataclass(frozen=True)
class Card:
    """One of the 24 cards (Material)."""

    level: int
    suit: str

    @property
    def charge(self) -> str:
        """Return `+` for a red card, `-` for a black one."""
        return "+" if self.suit in RED else "-"

    def __str__(self) -> str:
        """Write the card as actions and positions do (Notation)."""
        return LEVELS[self.level - 1] + self.suit


Hand: TypeAlias = frozenset[Card]
Hands: TypeAlias = tuple[Hand, Hand]

# Each player's twelve cards in the order in which a position lists a hand.
DECKS: tuple[tuple[Card, ...], tuple[Card, ...]] = (
    tuple(Card(level, suit) for suit in SUITS[0] for level in range(1, 7)),
    tuple(Card(level, suit) for suit in SUITS[1] for level in range(1, 7)),
)
OPENING_LEVELS = range(2, 6)


@dataclass(frozen=True)
class Pile:
    """What an occupied cell holds: one card, or a stack of two of which the top counts."""

    top: Card
    covered: Card | None = None
    face_down: bool = False

    @property
    def cards(self) -> tuple[Card, ...]:
        """Return the one or two cards, top first."""
        return (self.top,) if self.covered is None else (self.top, self.covered)

    def allows_beside(self, card: Card) -> bool:
        """Play 2: lower than a black top, higher than a red one; a face-down top is neutral."""
        if self.face_down:
            return True
        if self.top.charge == "-":
            return card.level < self.top.level
        return card.level > self.top.level

    def invertible_by(self, card: Card) -> bool:
        """Play 4: only a single face-up card of the same level and the opposite charge."""
        return self.covered is None and not self.face_down and opposite(card, self.top)

    def __str__(self) -> str:
        """Write the cell as a position does, such as `4s+4d` or `5c*` (Notation)."""
        covered = "" if self.covered is None else f"+{self.covered}"
        return f"{self.top}{'*' if self.face_down else ''}{covered}"


def opposite(one: Card, other: Card) -> bool:
    """Tell whether two cards share a level and differ in charge."""
    return one.level == other.level and one.charge != other.charge


# ----------------------------------------------------------------------------- the game


@dataclass(frozen=True)
class Choice:
    """A choice still owed by the player in the middle of a turn: a discard or an ability."""

    kind: str  # "discard", "repel" or "polarize"
    cell: Cell = ""  # where the 3 or the 5 was placed; a discard has no cell

    def __str__(self) -> str:
        """Write the choice as a position in mid-turn does (Notation)."""
        return f"{self.kind} {self.cell}".rstrip()


DISCARD = Choice("discard")

# What each legal action's text does. The texts and the effects are made together, so the list of
# legal actions can't disagree with what `apply` accepts.
Steps: TypeAlias = Mapping[str, Callable[[], "Twin"]]


@dataclass(frozen=True)
class Twin:
    """A state of the game. Nothing in it ever changes; `apply` builds the next state."""

    piles: Mapping[Cell, Pile] = field(hash=False)  # empty cells are missing
    hands: Hands
    turn: int  # whose turn it is, also when the game is over
    passes: int  # passes just made in a row
    choices: tuple[Choice, ...]  # owed before the turn ends, in this order
    tutorial: bool
    torus: bool

    @staticmethod
    def start(tutorial: bool = False, torus: bool = False, position: str = "") -> "Twin":
        """Return the start of a game, or the given position; ValueError if it is refused."""
        if position:
            return parse_position(position, tutorial, torus)
        hands = (frozenset(DECKS[0]), frozenset(DECKS[1]))
        return Twin({}, hands, 0, 0, (), tutorial, torus)

    # What a player of the game asks for

    @property
    def player(self) -> int:
        """Return the player to act, or TERMINAL."""
        return TERMINAL if self.is_over else self.turn

    @cached_property
    def is_over(self) -> bool:
        """Play 5: two passes end the game. Variants: in the tutorial, being stuck does."""
        if self.tutorial:
            return not self.choices and not self._placements()
        return self.passes == 2

    def legal(self) -> list[str]:
        """Return the legal actions, sorted as strings; none when the game is over."""
        return sorted(self._steps)

    def apply(self, action: str) -> "Twin":
        """Return the state after a legal action; ValueError for any other text."""
        if self.is_over:
            raise ValueError(f"action {action!r} is illegal: the game is over")
        if action not in self._steps:
            raise ValueError(f"action {action!r} is illegal here: expected one of {self.legal()}")
        return self._steps[action]()

    def returns(self) -> tuple[float, float]:
        """Return +1 for the winner and -1 for the loser, zeros before the end."""
        if not self.is_over:
            return (0.0, 0.0)
        return (1.0, -1.0) if self._winner() == 0 else (-1.0, 1.0)

    def position(self) -> str:
        """Write the first line of the state (Notation), also in mid-turn and at the end."""
        rows = ("".join(self._cell_text(column + row) for column in COLUMNS) for row in "4321")
        hands = (hand_text(self.hands[owner], owner) for owner in (0, 1))
        line = " ".join(["/".join(rows), *hands, str(self.turn), str(self.passes)])
        return f"{line} then: {self.choices[0]}" if self.choices else line

    def key(self) -> Hashable:
        """Return all that the rest of the game depends on, and nothing else (Symmetries)."""
        field_content = frozenset((cell, self._what_matters(cell)) for cell in self.piles)
        hands = tuple(frozenset((card.level, card.charge) for card in h) for h in self.hands)
        variant = (self.tutorial, self.torus)
        return (variant, field_content, hands, self.turn, self.passes, self.choices)

    # What can be done

    @cached_property
    def _steps(self) -> Steps:
        """Map the text of each legal action to the function that carries it out."""
        if self.is_over:
            return {}
        if self.choices:
            return self._choice_steps(self.choices[0])
        if self.tutorial or not self.piles:
            return self._placements()
        return {**self._placements(), "pass": self._passed}

    def _choice_steps(self, choice: Choice) -> Steps:
        """Notation: the actions in the middle of a turn."""
        if choice == DISCARD:
            return {f"-{card}": partial(self._discarded, card) for card in self.hands[self.turn]}
        if choice.kind == "repel":
            targets = slides(self.piles, choice.cell, self.torus)
            ability = {f"repel:{way}": partial(self._slid, *targets[way]) for way in targets}
        else:
            turnable = self._turnable(choice.cell)
            ability = {f"polarize:{way}": partial(self._hid, turnable[way]) for way in turnable}
        return {**ability, "decline": self._choice_made}

    def _placements(self) -> Steps:
        """Play 1, 3 and 4: every card of the hand on every cell that takes it."""
        return {
            f"{card}{'x' if cell in self.piles else '@'}{cell}": partial(self._placed, card, cell)
            for card in self.hands[self.turn]
            for cell in CELLS
            if self._can_place(card, cell)
        }

    def _can_place(self, card: Card, cell: Cell) -> bool:
        """Tell whether a card may be placed on a cell, whichever kind of placement that is."""
        if not self.piles:
            return card.level in OPENING_LEVELS and cell in CENTRE
        reachable = self._can_invert(card, cell) if cell in self.piles else self._near(card, cell)
        return reachable and self._is_lawful(card, cell)

    def _near(self, card: Card, cell: Cell) -> bool:
        """Play 3: a channel needs a particle beside it. Abilities 2: a diagonal one will do."""
        near = neighbours(cell, self.torus)
        if card.level == 2 and not self.tutorial:
            near = near | diagonals(cell, self.torus)
        return not near.isdisjoint(self.piles)

    def _can_invert(self, card: Card, cell: Cell) -> bool:
        """Play 4: the card below must fit, and another card be left to discard."""
        return self.piles[cell].invertible_by(card) and len(self.hands[self.turn]) > 1

    def _is_lawful(self, card: Card, cell: Cell) -> bool:
        """Play 2, and Abilities 4: an Anchor on a corner may ignore one breach.

        Variants: on the torus it may ignore one ordinary and one wrapped neighbour.
        """
        occupied = neighbours(cell, self.torus) & self.piles.keys()
        breaches = {there for there in occupied if not self.piles[there].allows_beside(card)}
        if card.level != 4 or cell not in CORNERS or self.tutorial:
            return not breaches
        ordinary = breaches & neighbours(cell, torus=False)
        return len(ordinary) <= 1 and len(breaches - ordinary) <= 1

    def _turnable(self, cell: Cell) -> dict[str, Cell]:
        """Abilities 5: by direction, the cells whose top the 5 on `cell` may turn face down."""
        return {"self": cell} | {
            way: there
            for way, there in compass(cell, self.torus).items()
            if there in self.piles and not self.piles[there].face_down
        }

    # What it leads to

    def _placed(self, card: Card, cell: Cell) -> "Twin":
        """Play 1, 3 and 4: lay the card down, then owe whatever that placement asks for."""
        below = self.piles.get(cell)
        piles = {**self.piles, cell: Pile(card, below.top if below else None)}
        owed = [DISCARD] if below else []
        if not self.tutorial:
            owed += ability_choices(card, cell, piles, self.torus)
        hands = without(self.hands, self.turn, card)
        after = replace(self, piles=piles, hands=hands, passes=0, choices=tuple(owed))
        return after if owed else after._turn_ended()

    def _discarded(self, card: Card) -> "Twin":
        """Play 4: the card goes out of the game."""
        return replace(self, hands=without(self.hands, self.turn, card))._choice_made()

    def _slid(self, origin: Cell, target: Cell) -> "Twin":
        """Abilities 3: a whole cell's content moves."""
        rest = {cell: pile for cell, pile in self.piles.items() if cell != origin}
        return replace(self, piles={**rest, target: self.piles[origin]})._choice_made()

    def _hid(self, cell: Cell) -> "Twin":
        """Abilities 5: the top card of a cell turns face down."""
        hidden = replace(self.piles[cell], face_down=True)
        return replace(self, piles={**self.piles, cell: hidden})._choice_made()

    def _choice_made(self) -> "Twin":
        """Strike off the choice just made; after the last one the turn ends."""
        after = replace(self, choices=self.choices[1:])
        return after if after.choices else after._turn_ended()

    def _passed(self) -> "Twin":
        """Play 5."""
        return replace(self, passes=self.passes + 1)._turn_ended()

    def _turn_ended(self) -> "Twin":
        """Play 1: turns alternate."""
        return replace(self, turn=1 - self.turn)

    # The end

    def _winner(self) -> int:
        """End and score; Variants: the tutorial game is lost by the player who is stuck."""
        if self.tutorial:
            return 1 - self.turn
        return 0 if self._merit(0) >= self._merit(1) else 1

    def _merit(self, player: int) -> tuple[int, int]:
        """End and score: more empty cells of one's own side first, then fewer cards there."""
        occupied = SIDES[player] & self.piles.keys()
        cards = sum(len(self.piles[cell].cards) for cell in occupied)
        return (len(SIDES[player]) - len(occupied), -cards)

    # Descriptions

    def _cell_text(self, cell: Cell) -> str:
        return str(self.piles[cell]) if cell in self.piles else "."

    def _what_matters(self, cell: Cell) -> Hashable:
        """Return what the future can see of a cell: never owners, never a hidden face.

        How many cards lie there does matter: it settles inverts while the top is face up, and
        the second tie-break of the standard game always.
        """
        pile = self.piles[cell]
        if pile.face_down:
            return "face down" if self.tutorial else ("face down", len(pile.cards))
        return (pile.top.level, pile.top.charge, len(pile.cards))


def without(hands: Hands, player: int, card: Card) -> Hands:
    """Take a card out of a player's hand."""
    return (hands[0] - {card}, hands[1]) if player == 0 else (hands[0], hands[1] - {card})


def ability_choices(
    card: Card, cell: Cell, piles: Mapping[Cell, Pile], torus: bool
) -> list[Choice]:
    """Abilities: a 3 that can slide something owes a choice, and so does every 5."""
    if card.level == 3 and slides(piles, cell, torus):
        return [Choice("repel", cell)]
    return [Choice("polarize", cell)] if card.level == 5 else []


def slides(piles: Mapping[Cell, Pile], cell: Cell, torus: bool) -> dict[str, tuple[Cell, Cell]]:
    """Abilities 3: by direction, from where to where the 3 on `cell` can slide a neighbour."""
    found = {}
    for way, origin in compass(cell, torus).items():
        target = step(origin, DIRECTIONS[way], torus)
        if origin in piles and target is not None and target not in piles:
            found[way] = (origin, target)
    return found


# ---------------------------------------------------------------------------- positions

CARD_PATTERN = "[A23456][hsdc]"
CELL_PATTERN = rf"\.|{CARD_PATTERN}\*?(?:\+{CARD_PATTERN}\*?)?"


def parse_position(text: str, tutorial: bool, torus: bool) -> Twin:
    """Read a position between turns (Notation); ValueError says why one is refused."""
    parts = text.split(" ")
    if len(parts) != 5:
        raise refusal("expected field, two hands, player and passes, with single spaces between")
    rows, first, second, turn, passes = parts
    if turn not in ("0", "1"):
        raise refusal(f"the player to move must be 0 or 1, not {turn!r}")
    if passes not in ("0", "1"):
        raise refusal(f"the number of passes must be 0 or 1, not {passes!r}")
    hands = (parse_hand(first, 0), parse_hand(second, 1))
    twin = Twin(parse_field(rows), hands, int(turn), int(passes), (), tutorial, torus)
    check_position(twin)
    return twin


def refusal(reason: str) -> ValueError:
    """Build the error for a refused position."""
    return ValueError(f"position refused: {reason}")


def hand_text(hand: Hand, owner: int) -> str:
    """Write a hand in its fixed order, `-` if it is empty (Notation)."""
    return "".join(str(card) for card in DECKS[owner] if card in hand) or "-"


def parse_card(text: str) -> Card:
    """Read a card that is known to be well written."""
    return Card(LEVELS.index(text[0]) + 1, text[1])


def parse_hand(text: str, owner: int) -> Hand:
    """Read a hand; refuse foreign cards, a card listed twice, and a wrong order."""
    if text == "-":
        return frozenset()
    if not re.fullmatch(f"(?:{CARD_PATTERN})+", text):
        raise refusal(f"player {owner}'s hand {text!r} is not a list of cards (or - for none)")
    cards = [parse_card(card) for card in re.findall(CARD_PATTERN, text)]
    refuse_repeats(cards)
    for card in cards:
        if card not in DECKS[owner]:
            raise refusal(f"{card} can't be in player {owner}'s hand, which takes {SUITS[owner]}")
    ordered = hand_text(frozenset(cards), owner)
    if text != ordered:
        raise refusal(f"player {owner}'s hand {text!r} is out of order: expected {ordered!r}")
    return frozenset(cards)


def parse_field(text: str) -> dict[Cell, Pile]:
    """Read the four rows, row 4 first."""
    rows = text.split("/")
    if len(rows) != 4:
        raise refusal(f"the field {text!r} must have 4 rows separated by /")
    piles = {}
    for row, row_text in zip("4321", rows, strict=True):
        for column, cell_text in zip(COLUMNS, split_row(row_text), strict=True):
            if cell_text != ".":
                piles[column + row] = parse_pile(cell_text)
    return piles


def split_row(text: str) -> list[str]:
    """Part a row into the texts of its four cells."""
    if not re.fullmatch(f"(?:{CELL_PATTERN}){{4}}", text):
        raise refusal(f"row {text!r} must have 4 cells, each `.`, a card or a stack as top+bottom")
    return re.findall(CELL_PATTERN, text)


def parse_pile(text: str) -> Pile:
    """Read an occupied cell; refuse a stack that no invert could have made."""
    top, _, covered = text.partition("+")
    face_down = top.endswith("*")
    if not covered:
        return Pile(parse_card(top), None, face_down)
    if covered.endswith("*"):
        raise refusal(f"the covered card of the stack {text} can't be face down")
    pile = Pile(parse_card(top), parse_card(covered), face_down)
    if not opposite(*pile.cards):
        raise refusal(f"the stack {text} needs two cards of the same level and opposite charge")
    return pile


def check_position(twin: Twin) -> None:
    """Refuse what only shows when the position is seen as a whole (Notation)."""
    on_field = [card for pile in twin.piles.values() for card in pile.cards]
    refuse_repeats([*on_field, *twin.hands[0], *twin.hands[1]])
    if twin.tutorial and twin.passes:
        raise refusal("there is no passing in the tutorial game, so passes must be 0")
    if twin.piles:
        return
    if twin.turn or twin.passes:
        raise refusal("on an empty field it must be player 0's turn, with no passes")
    if all(card.level not in OPENING_LEVELS for card in twin.hands[0]):
        raise refusal("on an empty field player 0 needs a card of level 2 to 5 to open with")


def refuse_repeats(cards: Iterable[Card]) -> None:
    """Refuse a card that appears twice."""
    seen: set[Card] = set()
    for card in cards:
        if card in seen:
            raise refusal(f"{card} appears twice")
        seen.add(card)


# ------------------------------------------------------------------- counting and solving


def perft(twin: Twin, depth: int) -> int:
    """Count the sequences of exactly `depth` actions from here."""
    if depth == 0:
        return 1
    if depth == 1:
        return len(twin.legal())
    return sum(perft(twin.apply(action), depth - 1) for action in twin.legal())


def solve(twin: Twin) -> float:
    """Return player 0's return under best play. Searches to the end: for late positions."""
    return _solve(twin, {})


def _solve(twin: Twin, known: dict[Hashable, float]) -> float:
    if twin.is_over:
        return twin.returns()[0]
    key = twin.key()
    if key not in known:
        # There are no draws, so the first winning action settles a state.
        win = 1.0 if twin.turn == 0 else -1.0
        wins = any(_solve(twin.apply(action), known) == win for action in twin.legal())
        known[key] = win if wins else -win
    return known[key]


# --------------------------------------------------------------------------- symmetries

MIRROR: dict[Cell, Cell] = {cell: COLUMNS[3 - COLUMNS.index(cell[0])] + cell[1] for cell in CELLS}
OTHER_CHARGE = {"h": "s", "s": "h", "d": "c", "c": "d"}  # the same owner's other suit


def mirrored(twin: Twin) -> Twin:
    """Swap left and right, which changes nothing in any variant (Symmetries)."""
    return moved(twin, MIRROR)


def mirrored_action(text: str) -> str:
    """Return the action that does in the mirrored state what this one does here."""
    if text.endswith(":e"):
        return text[:-1] + "w"
    if text.endswith(":w"):
        return text[:-1] + "e"
    head, cell = text[:-2], text[-2:]
    return head + MIRROR.get(cell, cell)  # discards, passes and the like name no cell


def charge_swapped(twin: Twin) -> Twin:
    """Swap the charges and turn level L into 7 - L: the same tutorial game (Symmetries).

    Cards stay with their owners, so hearts and spades trade places, and diamonds and clubs.
    """
    refuse_standard(twin)
    piles = {
        cell: Pile(swapped(pile.top), pile.covered and swapped(pile.covered), pile.face_down)
        for cell, pile in twin.piles.items()
    }
    first, second = (frozenset(swapped(card) for card in hand) for hand in twin.hands)
    return replace(twin, piles=piles, hands=(first, second))


def swapped(card: Card) -> Card:
    """Return a card's counterpart under the swap of charges."""
    return Card(7 - card.level, OTHER_CHARGE[card.suit])


def square_symmetries() -> list[Permutation]:
    """Return the 8 symmetries of the square field, as maps from cell to cell."""
    return neighbour_keeping(torus=False)


def torus_symmetries() -> list[Permutation]:
    """Return the 384 symmetries of the torus, as maps from cell to cell.

    They keep neighbours but not the centre, so they count from the opening on (Symmetries).
    """
    return neighbour_keeping(torus=True)


def permuted(twin: Twin, permutation: Permutation) -> Twin:
    """Move the field of a tutorial game by a symmetry of its field, pending cells included."""
    refuse_standard(twin)
    if not keeps_neighbours(permutation, twin.torus):
        raise ValueError("the permutation must be a symmetry of the field of this variant")
    return moved(twin, permutation)


def moved(twin: Twin, permutation: Permutation) -> Twin:
    """Move every particle, and the cell of a pending ability."""
    piles = {permutation[cell]: pile for cell, pile in twin.piles.items()}
    choices = (Choice(owed.kind, permutation.get(owed.cell, "")) for owed in twin.choices)
    return replace(twin, piles=piles, choices=tuple(choices))


def refuse_standard(twin: Twin) -> None:
    """Sides and abilities break all symmetries but the mirror in the standard game."""
    if not twin.tutorial:
        raise ValueError("this is a symmetry of the tutorial game only")


def keeps_neighbours(permutation: Permutation, torus: bool) -> bool:
    """Tell whether a map of the cells sends neighbours to neighbours, one to one."""
    if not set(permutation) == set(permutation.values()) == set(CELLS):
        return False
    return all(
        {permutation[near] for near in neighbours(cell, torus)}
        == neighbours(permutation[cell], torus)
        for cell in CELLS
    )


def neighbour_keeping(torus: bool) -> list[Permutation]:
    """Find every map of the cells that keeps neighbours, by settling one cell after another."""
    partial_maps: list[dict[Cell, Cell]] = [{}]
    for cell in CELLS:
        partial_maps = [
            {**known, cell: image}
            for known in partial_maps
            for image in CELLS
            if image not in known.values() and image_fits(known, cell, image, torus)
        ]
    return list(partial_maps)


def image_fits(known: Permutation, cell: Cell, image: Cell, torus: bool) -> bool:
    """Tell whether sending `cell` to `image` agrees with the cells settled before."""
    return all(
        (other in neighbours(cell, torus)) == (known[other] in neighbours(image, torus))
        for other in known
    )
