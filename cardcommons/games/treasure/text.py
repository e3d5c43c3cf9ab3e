"""Treasure: actions and states as strings, and drawings.  Never compiled."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cardcommons.games.treasure.rules import (
    DECKS,
    DISCARDS,
    HANDS,
    META,
    NUM_ACTIONS,
    NUM_CELLS,
    NUM_RANKS,
    RANK,
    TAKEN,
    WIDTH,
    connected,
    own_tops,
    points,
    rows_of,
    to_move,
)
from cardcommons.treaty import CHANCE, TERMINAL, Words

RANKS = "$23456789TJQKA"
_COLUMNS = "abcdefghi"
NAMES = ("Red", "Black")


class Top(NamedTuple):
    """A top card."""

    rank: str
    owner: int
    connected: bool


# Actions


def _cell_name(cell: int) -> str:
    return f"{_COLUMNS[cell % WIDTH]}{cell // WIDTH + 1}"


def action_to_string(player: int, action: int) -> str:
    """The notation of an action, or of an outcome if ``player`` is CHANCE."""
    if player == CHANCE and 0 <= action < NUM_RANKS:
        return f"draw:{RANKS[action]}"
    if player != CHANCE and 0 <= action < DISCARDS:
        return f"{RANKS[action // NUM_CELLS]}@{_cell_name(action % NUM_CELLS)}"
    if player != CHANCE and DISCARDS <= action < NUM_ACTIONS:
        return f"-{RANKS[action - DISCARDS]}"
    what, last = ("outcome", NUM_RANKS - 1) if player == CHANCE else ("action", NUM_ACTIONS - 1)
    raise ValueError(f"{what} {action} is not in 0 .. {last}")


def _texts(player: int) -> dict[str, int]:
    last = NUM_RANKS if player == CHANCE else NUM_ACTIONS
    return {action_to_string(player, action): action for action in range(last)}


_ACTIONS, _OUTCOMES = _texts(0), _texts(CHANCE)


def string_to_action(player: int, text: str) -> int:
    """The id of an action, or of an outcome if ``player`` is CHANCE; ``ValueError`` if neither."""
    if player == CHANCE:
        if text not in _OUTCOMES:
            raise ValueError(f"{text!r} is no draw of Treasure: expected draw: and one of {RANKS}")
        return _OUTCOMES[text]
    if text not in _ACTIONS:
        raise ValueError(
            f"{text!r} is no action of Treasure: expected a play (7@e1) or a discard (-7), "
            f"with a rank of {RANKS}, a column a to i and a row 1 to 5"
        )
    return _ACTIONS[text]


# Reading a state


def tops(words: Words) -> list[Top | None]:
    """The top cards of the cells a1, b1, ... i1, a2, ... of the game's rows."""
    with np.errstate(over="ignore"):
        owned = [int(own_tops(words, player)) for player in (0, 1)]
        joined = [int(connected(words, player)) for player in (0, 1)]
    return [_top(words, cell, owned, joined) for cell in range(WIDTH * rows_of(words[META]))]


def _top(words: Words, cell: int, owned: list[int], joined: list[int]) -> Top | None:
    if not int(words[TAKEN]) >> cell & 1:
        return None
    rank = sum((int(words[RANK + i]) >> cell & 1) << i for i in range(4))
    owner = owned[1] >> cell & 1
    return Top(RANKS[rank], owner, bool(joined[owner] >> cell & 1))


def counts(word: int | np.uint64, player: int) -> list[int]:
    """How many cards of each rank a player's part of HANDS or DECKS holds."""
    own = int(word) >> (0, 28)[player]
    return [own >> 2 * rank & 3 for rank in range(NUM_RANKS)]


def cards(word: int | np.uint64, player: int) -> str:
    """The same as a string of ranks, ``-`` if there are none."""
    return "".join(RANKS[rank] * n for rank, n in enumerate(counts(word, player))) or "-"


def hand(words: Words, player: int) -> str:
    """A player's hand as a string of ranks, lowest first; ``-`` if empty."""
    return cards(words[HANDS], player)


def public_board(words: Words) -> str:
    """The board on one line, the last row first: ``7r`` is Red's 7, ``.`` a space."""
    found = [f"{top.rank}{'rb'[top.owner]}" if top else "." for top in tops(words)]
    rows = [found[i : i + WIDTH] for i in range(0, len(found), WIDTH)]
    return "/".join("".join(row) for row in reversed(rows))


def position(words: Words) -> str:
    """The state on one line, hidden cards included: board, hands, decks, and who acts next."""
    hands = " ".join(f"{NAMES[p].lower()}:{hand(words, p)}" for p in (0, 1))
    decks = " ".join(cards(words[DECKS], p) for p in (0, 1))
    return f"{public_board(words)} {hands} decks: {decks} {_to_act(words)}"


def _to_act(words: Words) -> str:
    player = to_move(words)
    if player in (CHANCE, TERMINAL):
        return "draw" if player == CHANCE else "over"
    return f"{player}"


def parse(text: str) -> Words:
    """Refused: a game of Treasure begins with a shuffle, and no notation tells a state of it."""
    raise ValueError(f"Treasure has no position strings, so {text!r} can't be read")


def fields(words: Words) -> dict[str, Any]:
    """The state as JSON values, hidden cards included."""
    return {
        "position": position(words),
        "board": {
            _cell_name(cell): f"{top.rank}{'rb'[top.owner]}"
            for cell, top in enumerate(tops(words))
            if top
        },
        "hands": [hand(words, 0), hand(words, 1)],
        "points": [_points(words, 0), _points(words, 1)],
    }


# Drawings


def _shown_columns(found: list[Top | None]) -> range:
    """The columns in use, and one more on each side."""
    used = [cell % WIDTH for cell, top in enumerate(found) if top] or [4]
    return range(max(min(used) - 1, 0), min(max(used) + 2, WIDTH))


def _rows_from_top(found: list[Top | None]) -> Iterator[tuple[int, list[Top | None]]]:
    shown = _shown_columns(found)
    for row in reversed(range(len(found) // WIDTH)):
        yield row, [found[WIDTH * row + column] for column in shown]


def _drawn_top(top: Top | None) -> str:
    if top is None:
        return ""
    name = f"{top.rank}{'rb'[top.owner]}"
    return name if top.connected else f"({name})"


def _home_of(words: Words, row: int) -> str:
    if row == 0:
        return "  home of Red (player 0)"
    return "  home of Black (player 1)" if row == rows_of(words[META]) - 1 else ""


def _points(words: Words, player: int) -> int:
    with np.errstate(over="ignore"):
        return int(points(words, player))


def _hand_line(words: Words, player: int, viewer: int | None) -> str:
    seen = viewer is None or viewer == player
    held = hand(words, player)
    told = held if seen else f"{len(held.replace('-', ''))} hidden"
    return f"{NAMES[player]}: {_points(words, player)} points, hand {told}"


def board(words: Words, viewer: int | None = None) -> str:
    """The board for a terminal: ``7r`` is Red's, ``7b`` Black's, ``(7r)`` is cut off.

    With a ``viewer``, the other player's hand is hidden.
    """
    found = tops(words)
    shown = _shown_columns(found)
    rule = "   +" + "------+" * len(shown)
    lines = [rule]
    for row, line in _rows_from_top(found):
        drawn = "|".join(f"{_drawn_top(top):^6}" for top in line)
        lines += [f" {row + 1} |{drawn}|{_home_of(words, row)}", rule]
    lines.append("   " + "".join(f"   {_COLUMNS[column]}   " for column in shown))
    return "\n".join(lines + [_hand_line(words, player, viewer) for player in (1, 0)])


_SIZE = 56
_INK = ("#c0392b", "#2c3e50")


def _svg_top(top: Top, x: int, y: int) -> str:
    dashes = "" if top.connected else ' stroke-dasharray="4 3" fill-opacity="0.5"'
    symbol = "★" if top.rank == "$" else top.rank
    ink = _INK[top.owner]
    return (
        f'<rect x="{x + 8}" y="{y + 5}" width="40" height="46" rx="5" fill="#ffffff" '
        f'stroke="{ink}"{dashes}/><text x="{x + 28}" y="{y + 36}" fill="{ink}" '
        f'text-anchor="middle">{symbol}</text>'
    )


def svg(words: Words, viewer: int | None = None) -> str:
    """The board as an SVG document; cut-off cards are dashed."""
    found = tops(words)
    shown = _shown_columns(found)
    height = len(found) // WIDTH
    parts = []
    for i, (row, line) in enumerate(_rows_from_top(found)):
        tint = "#eef1f5" if row == height - 1 else "#fbeeee" if row == 0 else "#ffffff"
        y = 28 + _SIZE * i
        parts.append(f'<text x="8" y="{y + 33}" font-size="12">{row + 1}</text>')
        for j, top in enumerate(line):
            x = 24 + _SIZE * j
            parts.append(
                f'<rect x="{x}" y="{y}" width="{_SIZE}" height="{_SIZE}" fill="{tint}" '
                'stroke="#9aa5b1"/>' + (_svg_top(top, x, y) if top else "")
            )
    bottom = 28 + _SIZE * height
    for j, column in enumerate(shown):
        parts.append(
            f'<text x="{48 + _SIZE * j}" y="{bottom + 16}" font-size="12">{_COLUMNS[column]}</text>'
        )
    for player, y in ((1, 18), (0, bottom + 38)):
        told = _hand_line(words, player, viewer)
        parts.append(f'<text x="24" y="{y}" font-size="13" fill="{_INK[player]}">{told}</text>')
    width = max(48 + _SIZE * len(shown), 260)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 48}" '
        f'viewBox="0 0 {width} {bottom + 48}" font-family="sans-serif" font-size="20">'
        f"{''.join(parts)}</svg>"
    )
