"""Gluons: actions and states as strings, and drawings.  Never compiled."""

from typing import Any, NamedTuple

import numpy as np

from cardcommons.games.gluons.params import PAIRS, SIDES
from cardcommons.games.gluons.rules import (
    ACTIVATE,
    ACTIVATION,
    BLOCK,
    COUNTS,
    DECKS,
    DOWN,
    FINAL,
    HANDS,
    META,
    NUM_ACTIONS,
    NUM_AREAS,
    NUM_PAIRS,
    PASS,
    PLANNING,
    REEMIT,
    ROUND_SHIFT,
    blocked,
    deck_size,
    existing,
    face_down,
    first_player,
    hand_size,
    holder,
    owned,
    phase,
    players_of,
    points,
    quarks_at,
    second_of,
    to_move,
    tokens_locked,
    tokens_taken,
    value_at,
)
from cardcommons.treaty import CHANCE, TERMINAL, Words

COLOURS = "RGB"
AREAS = tuple(f"{nucleon}{side}" for nucleon in "AB" for side in SIDES)
"""The areas' names by number."""


class Spot(NamedTuple):
    """What lies on an area."""

    area: str
    owner: int
    """Whose it is; -1 if the area is empty."""
    pair: str
    """The pair of a gluon, ``""`` for a blocker or an empty area."""
    down: bool
    blocked: bool

    def told(self, viewer: int | None) -> str:
        """In a few characters: ``RG/0`` is player 0's, in brackets if it lies face down."""
        if self.owner < 0:
            return "."
        if self.blocked:
            return f"#/{self.owner}"
        seen = not self.down or viewer in (None, self.owner)
        pair = self.pair if seen else "??"
        return f"[{pair}/{self.owner}]" if self.down else f"{pair}/{self.owner}"


# Actions


def action_to_string(player: int, action: int) -> str:
    """The notation of an action, or of an outcome if ``player`` is CHANCE."""
    last = NUM_PAIRS if player == CHANCE else NUM_ACTIONS
    if not 0 <= action < last:
        what = "outcome" if player == CHANCE else "action"
        raise ValueError(f"{what} {action} is not in 0 .. {last - 1}")
    return f"draw:{PAIRS[action]}" if player == CHANCE else _of_player(action)


def _of_player(action: int) -> str:
    if action < PASS:
        pair, area = divmod(action % DOWN, NUM_AREAS)
        return f"{PAIRS[pair]}{'?' if action >= DOWN else '@'}{AREAS[area]}"
    if action == PASS:
        return "pass"
    if action < ACTIVATE:
        return f"block@{AREAS[action - BLOCK]}"
    if action < REEMIT:
        return f"!{AREAS[action - ACTIVATE]}"
    area, pair = divmod(action - REEMIT, NUM_PAIRS)
    return f"!{AREAS[area]}+{PAIRS[pair]}"


_ACTIONS = {action_to_string(0, action): action for action in range(NUM_ACTIONS)}
_OUTCOMES = {action_to_string(CHANCE, pair): pair for pair in range(NUM_PAIRS)}


def string_to_action(player: int, text: str) -> int:
    """The id of an action, or of an outcome if ``player`` is CHANCE; ``ValueError`` if neither."""
    if player == CHANCE:
        if text not in _OUTCOMES:
            raise ValueError(
                f"{text!r} is no draw of Gluons: expected draw: and one of {' '.join(PAIRS)}"
            )
        return _OUTCOMES[text]
    if text not in _ACTIONS:
        raise ValueError(
            f"{text!r} is no action of Gluons: expected a play face up (RG@A12) or down (RG?A12), "
            "pass, block@A12, or an activation (!A12, !A12+GB), with a gluon of "
            f"{' '.join(PAIRS)}, a nucleon A or B and two of the vertices 1 2 3"
        )
    return _ACTIONS[text]


# Reading a state


def spots(words: Words) -> list[Spot]:
    """What lies on the areas that exist, by number."""
    there = int(existing(words))
    return [_spot(words, area) for area in range(NUM_AREAS) if there >> area & 1]


def _spot(words: Words, area: int) -> Spot:
    owners = [p for p in range(players(words)) if int(owned(words, p)) >> area & 1]
    pair = int(value_at(words, area))
    return Spot(
        area=AREAS[area],
        owner=owners[0] if owners else -1,
        pair=PAIRS[pair] if pair >= 0 else "",
        down=bool(int(face_down(words)) >> area & 1),
        blocked=bool(int(blocked(words)) >> area & 1),
    )


def players(words: Words) -> int:
    """How many play."""
    return int(players_of(words[META]))


def quarks(words: Words) -> list[str]:
    """The colours on the vertices 1, 2, 3 of each nucleon."""
    return [_quarks_of(words, nucleon) for nucleon in range(1 if players(words) == 2 else 2)]


def _quarks_of(words: Words, nucleon: int) -> str:
    first, last = (int(quarks_at(words[COUNTS], 6 * nucleon + side)) for side in (0, 5))
    one, two, three = first >> 1, int(second_of(first)), last >> 1
    return "".join(COLOURS[colour] for colour in (one, two, three))


def counts(word: int | np.uint64, player: int) -> list[int]:
    """How many cards of each pair a player's part of HANDS or DECKS holds."""
    own = int(word) >> 12 * player
    return [own >> 2 * pair & 3 for pair in range(NUM_PAIRS)]


def listed(cards: list[int]) -> str:
    """Cards, counted by pair, as a list such as ``RG-RG-BR``; ``-`` if there are none."""
    return "-".join(PAIRS[pair] for pair, count in enumerate(cards) for _ in range(count)) or "-"


def tokens(words: Words) -> str:
    """Who holds the tokens taken, lowest first; ``|`` stands behind those that are locked."""
    meta = words[META]
    held = [str(int(holder(meta, token))) for token in range(int(tokens_taken(meta)))]
    held.insert(int(tokens_locked(meta)), "|")
    return "".join(held).removesuffix("|").removeprefix("|") or "-"


def next_to_act(words: Words) -> str:
    """``draw``, ``over``, or what the player to act does: ``0 blocks``."""
    player = to_move(words)
    if player in (CHANCE, TERMINAL):
        return "draw" if player == CHANCE else "over"
    now = phase(words[META])
    act = "plans" if now == PLANNING else "activates" if now == ACTIVATION else "blocks"
    return f"{player} {act}"


def public_field(words: Words, viewer: int | None) -> str:
    """Quarks and what lies on the areas in use, on one line."""
    lying = [f"{spot.area}:{spot.told(viewer)}" for spot in spots(words) if spot.owner >= 0]
    return " ".join([*quarks(words), *lying])


def position(words: Words) -> str:
    """The state on one line, hidden cards included."""
    cards = [
        f"{p}:{int(points(words, p))},{listed(counts(words[HANDS], p))}"
        f",{listed(counts(words[DECKS], p))}"
        for p in range(players(words))
    ]
    return f"{public_field(words, None)} {' '.join(cards)} {turn(words)}"


def turn(words: Words) -> str:
    """Round, first player, tokens and who acts next, on one line."""
    meta = words[META]
    number = int(meta) >> int(ROUND_SHIFT) & 15
    final = " final" if int(meta) & int(FINAL) else ""
    return (
        f"round {number}{final} first {int(first_player(meta))} tokens {tokens(words)} "
        f"{next_to_act(words)}"
    )


def parse(text: str) -> Words:
    """Refused: a game of Gluons begins with a shuffle, and no notation tells a state of it."""
    raise ValueError(f"Gluons has no position strings, so {text!r} can't be read")


def fields(words: Words) -> dict[str, Any]:
    """The state as JSON values, hidden cards included."""
    everyone = range(players(words))
    return {
        "position": position(words),
        "quarks": quarks(words),
        "areas": {spot.area: spot.told(None) for spot in spots(words) if spot.owner >= 0},
        "hands": [listed(counts(words[HANDS], p)) for p in everyone],
        "decks": [listed(counts(words[DECKS], p)) for p in everyone],
        "points": [int(points(words, p)) for p in everyone],
        "first_player": int(first_player(words[META])),
        "tokens": tokens(words),
    }


# Drawings

_ROWS = (("12", "13"), ("21", "31"), ("23", "32"))
"""The areas of a nucleon as they lie: 1 on top, 2 on the left, 3 on the right."""


def _nucleon_lines(name: str, colours: str, lying: dict[str, str]) -> list[str]:
    """A triangle: each area near its emitting vertex, on the side of the receiving one."""

    def at(side: str) -> str:
        return f"{lying.get(name + side, ''):^8}"

    one, two, three = (f"{vertex}:{colour}" for vertex, colour in zip("123", colours, strict=True))
    return [
        f"{name:<4}{one:^34}".rstrip(),
        f"{'':9}{at('12')}{'':6}{at('13')}".rstrip(),
        f"{'':4}{at('21')}{'':16}{at('31')}".rstrip(),
        f" {two} {at('23')}{'':14}{at('32')} {three}".rstrip(),
    ]


def _player_line(words: Words, player: int, viewer: int | None) -> str:
    seen = viewer in (None, player)
    hand = listed(counts(words[HANDS], player)) if seen else f"{int(hand_size(words, player))}"
    meta = words[META]
    taken = [int(holder(meta, token)) for token in range(int(tokens_taken(meta)))]
    parts = [f"player {player}: {int(points(words, player))} points", f"hand {hand}"]
    parts.append(f"deck {int(deck_size(words, player))}")
    if player == first_player(meta):
        parts.append("first player")
    if player in taken:
        token = taken.index(player)
        parts.append(f"token {token + 1}{' locked' if token < tokens_locked(meta) else ''}")
    return ", ".join(parts)


def board(words: Words, viewer: int | None = None) -> str:
    """The nucleons, tokens and hands for a terminal.

    Each area stands near its emitting vertex: ``RG/0`` is player 0's gluon, ``[RG/0]`` lies face
    down, ``#/0`` is a blocker.  With a ``viewer``, what that player can't see is left out.
    """
    lying = {spot.area: spot.told(viewer) for spot in spots(words)}
    lines = []
    for name, colours in zip("AB", quarks(words), strict=False):
        lines += [*_nucleon_lines(name, colours, lying), ""]
    lines += [_player_line(words, player, viewer) for player in range(players(words))]
    return "\n".join([*lines, turn(words)])


_PAINT = {"R": "#c0392b", "G": "#27ae60", "B": "#2e6fb7"}
_SEATS = ("#2c3e50", "#8e44ad", "#b9770e", "#117a65")
_CORNERS = ((130, 40), (30, 210), (230, 210))
_WIDTH, _HEIGHT = 260, 250


def _svg_quark(colour: str, x: int, y: int, vertex: int) -> str:
    return (
        f'<circle cx="{x}" cy="{y}" r="17" fill="{_PAINT[colour]}"/>'
        f'<text x="{x}" y="{y + 5}" fill="#ffffff" text-anchor="middle">{colour}{vertex}</text>'
    )


def _svg_spot(spot: Spot, viewer: int | None, left: int) -> str:
    """An area, a third of the way from its emitting to its receiving vertex."""
    (ex, ey), (rx, ry) = (_CORNERS[int(vertex) - 1] for vertex in spot.area[1:])
    x, y = left + (2 * ex + rx) // 3, (2 * ey + ry) // 3
    ink = _SEATS[spot.owner] if spot.owner >= 0 else "#bdc3c7"
    fill = "#e5e8e8" if spot.down else "#ffffff"
    told = "" if spot.owner < 0 else spot.told(viewer)
    return (
        f'<rect x="{x - 25}" y="{y - 12}" width="50" height="24" rx="6" fill="{fill}" '
        f'stroke="{ink}" stroke-width="1.5"/><text x="{x}" y="{y + 4}" fill="{ink}" '
        f'font-size="12" text-anchor="middle">{told}</text>'
    )


def _svg_nucleon(name: str, colours: str, lying: list[Spot], viewer: int | None) -> str:
    left = _WIDTH * "AB".index(name)
    corners = " ".join(f"{left + x},{y}" for x, y in _CORNERS)
    parts = [f'<polygon points="{corners}" fill="none" stroke="#d0d3d4" stroke-width="3"/>']
    parts.append(f'<text x="{left + 16}" y="30" font-weight="bold">{name}</text>')
    parts += [_svg_spot(spot, viewer, left) for spot in lying if spot.area[0] == name]
    parts += [
        _svg_quark(colour, left + x, y, vertex)
        for vertex, (colour, (x, y)) in enumerate(zip(colours, _CORNERS, strict=True), 1)
    ]
    return "".join(parts)


def svg(words: Words, viewer: int | None = None) -> str:
    """The nucleons, hands and tokens as an SVG document."""
    lying, colours = spots(words), quarks(words)
    parts = [
        _svg_nucleon(name, own, lying, viewer) for name, own in zip("AB", colours, strict=False)
    ]
    lines = [_player_line(words, player, viewer) for player in range(players(words))]
    for i, line in enumerate([*lines, turn(words)]):
        ink = _SEATS[i] if i < len(lines) else "#2c3e50"
        parts.append(
            f'<text x="12" y="{_HEIGHT + 14 + 18 * i}" font-size="12" fill="{ink}">{line}</text>'
        )
    width, height = 2 * _WIDTH, _HEIGHT + 18 * (len(lines) + 1) + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="15">'
        f"{''.join(parts)}</svg>"
    )
