"""Particles: actions and positions as strings, and drawings.  Never compiled."""

import re
from typing import Any, NamedTuple

import numpy as np

from cardcommons.games.particles.rules import (
    BANS_HIGH,
    BANS_LOW,
    CELL_SHIFT,
    DECLINE,
    DISCARD,
    DISCARDS,
    META,
    MOVER_SHIFT,
    NUM_WORDS,
    OVER,
    OWNERS,
    PASS,
    PASSES_SHIFT,
    PHASE_SHIFT,
    PLACE,
    POLARIZE_SELF,
    POLARIZES,
    REPEL,
    REPELS,
    TORUS,
    TUTORIAL,
    UNSEEN,
    can_place,
    card_planes,
)
from cardcommons.treaty import Words

_LEVELS = "A23456"
_SUITS = ("hs", "dc")
"""The red and the black suit of each player."""
_RED = "hd"
_DIRECTIONS = "nesw"
_CELL_NAMES = [column + row for row in "1234" for column in "abcd"]
_CARD = rf"[{_LEVELS}][hsdc]"
_CELL = re.compile(rf"\.|(?P<top>{_CARD})(?P<down>\*?)(\+(?P<covered>{_CARD})(?P<dark>\*?))?")
_PLACEMENT = re.compile(rf"(?P<card>{_CARD})(?P<how>[@x])(?P<cell>[a-d][1-4])")
_FULL_HANDS = "Ah2h3h4h5h6hAs2s3s4s5s6s Ad2d3d4d5d6dAc2c3c4c5c6c"
START = f"..../..../..../.... {_FULL_HANDS} 0 0"
_SHAPE = "four rows, two hands, the player to move (0 or 1) and the passes (0 or 1)"


class Pile(NamedTuple):
    """What lies on a cell."""

    top: str
    face_down: bool = False
    covered: str = ""

    def __str__(self) -> str:
        mark = "*" if self.face_down else ""
        return f"{self.top}{mark}+{self.covered}" if self.covered else f"{self.top}{mark}"


def _check_player(player: int) -> None:
    if player not in (0, 1):
        raise ValueError(f"only players 0 and 1 have cards to play, not {player}")


def card_name(player: int, card: int) -> str:
    """The name of a player's card 0 to 11, such as ``3h``."""
    _check_player(player)
    return _LEVELS[card % 6] + _SUITS[player][card // 6]


def _card_owner(name: str) -> int:
    return 0 if name[1] in _SUITS[0] else 1


def _card_number(name: str) -> int:
    return _LEVELS.index(name[0]) + (0 if name[1] in _RED else 6)


def _own_card(player: int, name: str) -> int:
    _check_player(player)
    if not re.fullmatch(_CARD, name):
        raise ValueError(f"{name!r} is no card: a card is one of {_LEVELS} and one of h s d c")
    if _card_owner(name) != player:
        raise ValueError(
            f"{name} is not a card of player {player}, who has the suits "
            f"{_SUITS[player][0]} and {_SUITS[player][1]}"
        )
    return _card_number(name)


# Actions


def _choice_strings() -> dict[int, str]:
    names = {DECLINE: "decline", PASS: "pass", POLARIZE_SELF: "polarize:self"}
    for i, direction in enumerate(_DIRECTIONS):
        names[REPELS + i] = f"repel:{direction}"
        names[POLARIZES + i] = f"polarize:{direction}"
    return names


_CHOICES = _choice_strings()
_CHOICE_IDS = {text: action for action, text in _CHOICES.items()}


def action_to_string(player: int, action: int) -> str:
    """The notation of an action of ``player``; ``ValueError`` if the id means nothing."""
    if 0 <= action < DISCARDS:
        how = "x" if action & 16 else "@"
        return f"{card_name(player, action >> 5)}{how}{_CELL_NAMES[action & 15]}"
    if DISCARDS <= action < REPELS:
        return f"-{card_name(player, action - DISCARDS)}"
    if action in _CHOICES:
        return _CHOICES[action]
    raise ValueError(f"action {action} is not in 0 .. {PASS}")


def string_to_action(player: int, text: str) -> int:
    """The id of an action of ``player``; ``ValueError`` says what an action looks like."""
    if text in _CHOICE_IDS:
        return _CHOICE_IDS[text]
    if text.startswith("-"):
        return DISCARDS + _own_card(player, text[1:])
    match = _PLACEMENT.fullmatch(text)
    if not match:
        raise ValueError(
            f"{text!r} is no action of Particles: expected a placement (3h@b2), an invert (4sxb2), "
            "a discard (-Ah), repel:n|e|s|w, polarize:self|n|e|s|w, decline or pass"
        )
    invert = 16 if match["how"] == "x" else 0
    return _own_card(player, match["card"]) * 32 + invert + _CELL_NAMES.index(match["cell"])


# Reading a state


def _bit(word: np.uint64 | int, place: int) -> int:
    return int(word) >> place & 1


def _level(words: Words, cell: int) -> int:
    """Level (1 to 6) of the top card of a taken cell; see the layout in ``rules.py``."""
    bans = [_bit(words[BANS_LOW], cell + 16 * i) for i in range(4)]
    bans += [_bit(words[BANS_HIGH], cell + 16 * i) for i in range(2)]
    if not any(bans):
        return sum(_bit(words[UNSEEN], cell + 16 * i) << i for i in range(3))
    return sum(bans) if _bit(words[BANS_HIGH], cell + 32) else 7 - sum(bans)


def _pile(words: Words, cell: int) -> Pile | None:
    if not _bit(words[BANS_HIGH], cell + 48):
        return None
    red, level = _bit(words[BANS_HIGH], cell + 32), _LEVELS[_level(words, cell) - 1]
    face_down = not (_bit(words[BANS_LOW], cell) or _bit(words[BANS_HIGH], cell + 16))
    top = level + _SUITS[_bit(words[OWNERS], cell)][1 - red]
    covered = level + _SUITS[_bit(words[OWNERS], cell + 16)][red]
    return Pile(top, face_down, covered if _bit(words[META], cell) else "")


def piles(words: Words) -> list[Pile | None]:
    """What lies on the cells a1, b1, ... d4."""
    return [_pile(words, cell) for cell in range(16)]


def hand_bits(words: Words, player: int) -> list[int]:
    """Which of the 12 cards a player holds: red A to 6, then black A to 6."""
    return [_bit(words[META], (16, 28)[player] + card) for card in range(12)]


def hand(words: Words, player: int) -> list[str]:
    """The cards in a player's hand, in the order of the notation."""
    return [card_name(player, card) for card, held in enumerate(hand_bits(words, player)) if held]


def _pending(words: Words) -> str:
    """What the player to move must settle in the middle of a turn; empty between turns."""
    meta = int(words[META])
    phase = meta >> int(PHASE_SHIFT) & 7
    if phase in (PLACE, OVER):
        return ""
    if phase == DISCARD:
        return "discard"
    cell = _CELL_NAMES[meta >> int(CELL_SHIFT) & 15]
    return f"{'repel' if phase == REPEL else 'polarize'} {cell}"


def position(words: Words) -> str:
    """The position string, with ``then:`` and the pending choice in the middle of a turn."""
    cells = [str(pile) if pile else "." for pile in piles(words)]
    field = "/".join("".join(cells[4 * row : 4 * row + 4]) for row in (3, 2, 1, 0))
    hands = " ".join("".join(hand(words, player)) or "-" for player in (0, 1))
    meta = int(words[META])
    passes = meta >> int(PASSES_SHIFT) & 3
    told = f"{field} {hands} {meta >> int(MOVER_SHIFT) & 1} {passes}"
    return f"{told} then: {_pending(words)}" if _pending(words) else told


def fields(words: Words) -> dict[str, Any]:
    """The position as JSON values; ``position`` alone tells it all between turns."""
    meta = int(words[META])
    return {
        "position": position(words),
        "field": {_CELL_NAMES[i]: str(pile) for i, pile in enumerate(piles(words)) if pile},
        "hands": [hand(words, 0), hand(words, 1)],
        "passes": meta >> int(PASSES_SHIFT) & 3,
        "pending": _pending(words),
    }


# Parsing a position


def _refuse(why: str) -> ValueError:
    return ValueError(f"position refused: {why}")


def _parse_row(row: str, number: int) -> list[Pile | None]:
    found: list[Pile | None] = []
    at = 0
    while at < len(row):
        match = _CELL.match(row, at)
        if not match:
            raise _refuse(
                f"row {number} ({row!r}) has no cell at {row[at:]!r}; a cell is '.', a "
                "card such as 3h, a face-down card 3h*, or a stack 4s+4d"
            )
        if match["dark"]:
            raise _refuse(f"the covered card of {match[0]} can't be face down")
        top = match["top"]
        found.append(Pile(top, bool(match["down"]), match["covered"] or "") if top else None)
        at = match.end()
    if len(found) != 4:
        raise _refuse(f"row {number} ({row!r}) has {len(found)} cells, not 4")
    return found


def _check_stack(pile: Pile) -> None:
    top, covered = pile.top, pile.covered
    if covered and (top[0] != covered[0] or (top[1] in _RED) == (covered[1] in _RED)):
        raise _refuse(f"the stack {pile} must be two cards of one level and opposite charges")


def _parse_field(text: str) -> list[Pile | None]:
    rows = text.split("/")
    if len(rows) != 4:
        raise _refuse(f"the field {text!r} has {len(rows)} rows, not 4 separated by '/'")
    field = [pile for i in (3, 2, 1, 0) for pile in _parse_row(rows[i], 4 - i)]
    for pile in field:
        if pile:
            _check_stack(pile)
    return field


def _parse_hand(text: str, player: int) -> list[str]:
    if text == "-":
        return []
    cards = re.findall("..", text)
    if not cards or "".join(cards) != text or not all(re.fullmatch(_CARD, card) for card in cards):
        raise _refuse(
            f"the hand {text!r} of player {player} must list cards such as Ah2h, or be '-'"
        )
    for card in cards:
        if _card_owner(card) != player:
            raise _refuse(f"{card} can't be in the hand of player {player}")
    if cards != sorted(set(cards), key=_card_number):
        raise _refuse(
            f"the hand {text!r} of player {player} must list each card once, in the order "
            f"of {_FULL_HANDS.split()[player]}"
        )
    return cards


def _check_once(field: list[Pile | None], hands: list[list[str]]) -> None:
    cards = [card for held in hands for card in held]
    for pile in field:
        cards += [pile.top, pile.covered] if pile and pile.covered else [pile.top] if pile else []
    twice = sorted({card for card in cards if cards.count(card) > 1})
    if twice:
        raise _refuse(f"{', '.join(twice)} appear{'s' if len(twice) == 1 else ''} more than once")


def _check_turn(
    field: list[Pile | None], hands: list[list[str]], player: int, passes: int, tutorial: bool
) -> None:
    if tutorial and passes:
        raise _refuse("there is no passing in the tutorial game, so passes must be 0")
    if any(field):
        return
    if player != 0 or passes != 0:
        raise _refuse("with an empty field it is player 0's turn, with 0 passes")
    if not any(card[0] in "2345" for card in hands[0]):
        raise _refuse("with an empty field player 0 needs a card of level 2 to 5 to open with")


def _build(
    field: list[Pile | None], hands: list[list[str]], player: int, passes: int, flags: int
) -> Words:
    meta = flags | player << int(MOVER_SHIFT) | passes << int(PASSES_SHIFT)
    for owner in (0, 1):
        meta |= sum(1 << (16, 28)[owner] + _card_number(card) for card in hands[owner])
    low = high = owners = unseen = 0
    for cell, pile in enumerate(field):
        if not pile:
            continue
        number = _card_number(pile.top)
        shown_low, shown_high = card_planes(number, pile.face_down)
        low |= shown_low << cell
        high |= shown_high << cell
        owners |= _card_owner(pile.top) << cell
        if pile.covered:
            meta |= 1 << cell
            owners |= _card_owner(pile.covered) << cell + 16
        if pile.face_down:
            unseen |= sum((number % 6 + 1 >> i & 1) << cell + 16 * i for i in range(3))
    words = np.zeros(NUM_WORDS, dtype=np.uint64)
    words[[BANS_LOW, BANS_HIGH, META, OWNERS, UNSEEN]] = [low, high, meta, owners, unseen]
    return words


def parse(text: str, tutorial: bool, torus: bool) -> Words:
    """The state that a position string tells; ``ValueError`` says why one is refused."""
    if " then: " in text:
        raise _refuse("it tells the middle of a turn; only positions between turns are accepted")
    parts = text.split(" ")
    if len(parts) != 5:
        raise _refuse(f"{text!r} should be {_SHAPE}, separated by single spaces")
    field = _parse_field(parts[0])
    hands = [_parse_hand(parts[1], 0), _parse_hand(parts[2], 1)]
    if parts[3] not in ("0", "1"):
        raise _refuse(f"the player to move is {parts[3]!r}, not 0 or 1")
    if parts[4] not in ("0", "1"):
        raise _refuse(f"the number of passes is {parts[4]!r}, not 0 or 1")
    player, passes = int(parts[3]), int(parts[4])
    _check_once(field, hands)
    _check_turn(field, hands, player, passes, tutorial)
    flags = (int(TUTORIAL) if tutorial else 0) | (int(TORUS) if torus else 0)
    return _settled(_build(field, hands, player, passes, flags), opened=any(field))


def _settled(words: Words, opened: bool) -> Words:
    """A tutorial position whose player is stuck is over already."""
    with np.errstate(over="ignore"):
        if opened and words[META] & TUTORIAL and not can_place(words):
            words[META] |= np.uint64(OVER) << PHASE_SHIFT
    return words


# Drawings

_SYMBOLS = {"h": "♥", "d": "♦", "s": "♠", "c": "♣"}


def board(words: Words, viewer: int | None = None) -> str:
    """The field for a terminal, seen by player 0; ``*`` is face down, ``+`` covers.

    Everything is public, so ``viewer`` makes no difference.
    """
    cells = [str(pile) if pile else "" for pile in piles(words)]
    rule = "   +" + "--------+" * 4
    lines = [rule]
    for row in (3, 2, 1, 0):
        drawn = "|".join(f"{cell:^8}" for cell in cells[4 * row : 4 * row + 4])
        side = f"  side of player {0 if row > 1 else 1}" if row in (3, 0) else ""
        lines += [f" {row + 1} |{drawn}|{side}", rule]
    lines.append("   " + "".join(f"    {column}    " for column in "abcd"))
    lines += [f"player {p}: {' '.join(hand(words, p)) or '-'}" for p in (0, 1)]
    return "\n".join(lines)


_SIZE = 64
_RED_INK, _BLACK_INK = "#c0392b", "#2c3e50"


def _svg_card(name: str, x: float, y: float, face_down: bool = False) -> str:
    ink = _RED_INK if name[1] in _RED else _BLACK_INK
    fill, opacity = ("#b8bcc4", 0.45) if face_down else ("#ffffff", 1.0)
    return (
        f'<rect x="{x}" y="{y}" width="44" height="50" rx="5" fill="{fill}" stroke="{ink}"/>'
        f'<text x="{x + 22}" y="{y + 32}" fill="{ink}" fill-opacity="{opacity}" '
        f'text-anchor="middle">{name[0]}{_SYMBOLS[name[1]]}</text>'
    )


def _svg_pile(pile: Pile, x: float, y: float) -> str:
    covered = _svg_card(pile.covered, x + 14, y + 9) if pile.covered else ""
    return covered + _svg_card(pile.top, x + 7, y + 5, pile.face_down)


def _svg_hand(words: Words, player: int, y: float) -> str:
    shown = [
        f'<tspan fill="{_RED_INK if name[1] in _RED else _BLACK_INK}">'
        f"{name[0]}{_SYMBOLS[name[1]]} </tspan>"
        for name in hand(words, player)
    ]
    return f'<text x="24" y="{y}" font-size="13">{player}: {"".join(shown) or "-"}</text>'


def svg(words: Words, viewer: int | None = None) -> str:
    """The field as an SVG document: player 0 sits below; each side in its own tint."""
    parts = []
    for cell, pile in enumerate(piles(words)):
        x, y = 24 + _SIZE * (cell % 4), 28 + _SIZE * (3 - cell // 4)
        tint = "#eaf2fb" if cell >= 8 else "#fbf3e4"
        parts.append(
            f'<rect x="{x}" y="{y}" width="{_SIZE}" height="{_SIZE}" fill="{tint}" '
            'stroke="#9aa5b1"/>'
        )
        if pile:
            parts.append(_svg_pile(pile, x, y))
    for i in range(4):
        parts.append(f'<text x="{50 + _SIZE * i}" y="302" font-size="12">{"abcd"[i]}</text>')
        parts.append(f'<text x="8" y="{64 + _SIZE * i}" font-size="12">{4 - i}</text>')
    parts += [_svg_hand(words, 1, 18), _svg_hand(words, 0, 326)]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="304" height="336" viewBox="0 0 304 336" '
        f'font-family="sans-serif" font-size="20">{"".join(parts)}</svg>'
    )
