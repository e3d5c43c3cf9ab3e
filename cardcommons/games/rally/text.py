"""Rally: actions and states as strings, and the road book.  Never compiled."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardcommons.games.rally.params import Stage
from cardcommons.games.rally.rules import (
    BOOST,
    BRAKE,
    BUST,
    DISQUALIFIED,
    FINISHED,
    META,
    NEXT,
    NUM_ACTIONS,
    NUM_OUTCOMES,
    RETIRED,
    apply,
    bonuses,
    drawing,
    hidden,
    jacks,
    jokers,
    number,
    penalties,
    pile,
    played,
    queens,
    score,
    stage,
    stage_word,
    status,
    to_move,
    total,
    unseen,
)
from cardcommons.treaty import CHANCE, Words

_ACTIONS = {
    0: "1st",
    1: "2nd",
    2: "3rd",
    BOOST: "boost",
    NEXT: "next",
    BRAKE: "brake",
    BUST: "bust",
}
_ACTION_IDS = {text: action for action, text in _ACTIONS.items()}
_OUTCOMES = [f"sector:{value}" for value in range(1, 11)]
_OUTCOMES += [f"card:{value}" for value in range(1, 11)]
_OUTCOME_IDS = {text: outcome for outcome, text in enumerate(_OUTCOMES)}
_LOSSES = {DISQUALIFIED: "DSQ", RETIRED: "DNF"}


# Actions


def action_to_string(player: int, action: int) -> str:
    """The notation of an action, or of an outcome if ``player`` is CHANCE."""
    if player == CHANCE:
        if not 0 <= action < NUM_OUTCOMES:
            raise ValueError(f"outcome {action} is not in 0 .. {NUM_OUTCOMES - 1}")
        return _OUTCOMES[action]
    if action not in _ACTIONS:
        raise ValueError(f"action {action} is not in 0 .. {NUM_ACTIONS - 1}")
    return _ACTIONS[action]


def string_to_action(player: int, text: str) -> int:
    """The id of an action, or of an outcome if ``player`` is CHANCE; ``ValueError`` if neither."""
    known = _OUTCOME_IDS if player == CHANCE else _ACTION_IDS
    if text not in known:
        what = "sector:1 to sector:10 or card:1 to card:10"
        if player != CHANCE:
            what = ", ".join(known)
        raise ValueError(f"{text!r} is nothing that can happen here in Rally: expected {what}")
    return known[text]


# Reading a state


def stage_at(words: Words, index: int) -> Stage | None:
    """The stage of this index, or nothing after the last one."""
    told = int(stage_word(words, index))
    if told & 0x7FFF == 0:
        return None
    return Stage(told & 31, told >> 5 & 31, told >> 10 & 31, told >> 15 & 7)


def stages(words: Words) -> list[Stage]:
    """All stages."""
    found: list[Stage] = []
    while here := stage_at(words, len(found)):
        found.append(here)
    return found


def result(words: Words) -> str:
    """How the rally ended: ``win``, ``podium``, ``middle``, ``back``, ``DSQ`` or ``DNF``.

    Empty while it goes on.
    """
    ended = int(status(words[META]))
    if ended != FINISHED:
        return _LOSSES.get(ended, "")
    points = int(score(words))
    return next(
        band
        for band, least in (("win", 1), ("podium", -2), ("middle", -6), ("back", -99))
        if points >= least
    )


def _reading(words: Words) -> dict[str, Any]:
    meta = words[META]
    return {
        "stage": int(stage(meta)) + 1,
        "hidden_sectors": [int(hidden(meta, gear)) for gear in range(3)],
        "unseen": [int(unseen(words, value)) for value in range(1, 11)],
        "piles": [int(pile(words, gear)) for gear in range(3)],
        "sector": int(number(meta)),
        "total": int(total(meta)),
        "cards_on_it": int(played(meta)),
        "drawing": _ACTIONS.get(int(drawing(meta)) - 1, ""),
        "queens": int(queens(meta)),
        "jacks": int(jacks(meta)),
        "jokers": int(jokers(words)),
        "bonuses": int(bonuses(meta)),
        "penalties": int(penalties(meta)),
        "result": result(words),
    }


def position(words: Words) -> str:
    """The position on one line: where the rally stands, and all that is left to it."""
    told = _reading(words)
    sectors = "-".join(map(str, told["hidden_sectors"]))
    unseen_counts = "".join(map(str, told["unseen"]))
    parts = [f"stage {told['stage']}", f"hidden {sectors}", f"unseen {unseen_counts}"]
    if told["sector"]:
        cards = ("no card", "one card", "more cards")[told["cards_on_it"]]
        parts.append(f"sector {told['sector']} total {told['total']} with {cards}")
    parts.append(f"Q{told['queens']} J{told['jacks']} jokers {told['jokers']}")
    parts.append(f"clock +{told['bonuses']} -{told['penalties']}")
    return " ".join([*parts, told["result"] or _next(words, told)])


def _next(words: Words, told: dict[str, Any]) -> str:
    if to_move(words) != CHANCE:
        return "to drive"
    if not told["sector"]:
        return "next sector"
    return f"draw {told['drawing']}"


def parse(text: str) -> Words:
    """Refused: the rules give no notation for a rally under way."""
    raise ValueError(f"Rally has no position strings, so {text!r} can't be read")


def fields(words: Words) -> dict[str, Any]:
    """The state as JSON values."""
    return {"position": position(words)} | _reading(words)


# Drawings


def board(words: Words, viewer: int | None = None) -> str:
    """The road ahead for a terminal: the sector, the gears, the reserves and the clock."""
    told = _reading(words)
    length = stages(words)[told["stage"] - 1]
    done = sum(length.sectors) - sum(told["hidden_sectors"]) - bool(told["sector"])
    ahead = sum(told["hidden_sectors"])
    here = f"[{told['total']}/{told['sector']}]" if told["sector"] else ""
    lines = [
        f"stage {told['stage']} of {len(stages(words))}: {'=' * done}{here}{'?' * ahead}",
        "sectors hidden by gear: " + " ".join(map(str, told["hidden_sectors"])),
    ]
    for gear, values in enumerate((range(1, 4), range(4, 7), range(7, 11))):
        counts = " ".join(f"{value}x{told['unseen'][value - 1]}" for value in values)
        lines.append(f"{_ACTIONS[gear]} gear: {told['piles'][gear]} in the pile; unseen {counts}")
    lines.append(f"Queens {told['queens']}  Jacks {told['jacks']}  Jokers {told['jokers']}")
    lines.append(f"clock: +{told['bonuses']} -{told['penalties']} = {int(score(words)):+d}")
    if told["result"]:
        lines.append(f"the rally is over: {told['result']}")
    return "\n".join(lines)


def svg(words: Words, viewer: int | None = None) -> str:
    """The same as an SVG document."""
    lines = board(words).split("\n")
    rows = "".join(
        f'<text x="12" y="{24 + 20 * i}" xml:space="preserve">{line}</text>'
        for i, line in enumerate(lines)
    )
    height = 20 * len(lines) + 16
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="460" height="{height}" '
        f'viewBox="0 0 460 {height}" font-family="monospace" font-size="13">'
        f'<rect width="460" height="{height}" rx="8" fill="#f7f7f2" stroke="#9aa5b1"/>{rows}</svg>'
    )


# The road book


class _Sector:
    """A sector while the road book is written."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.number = told["sector"]
        self.before = told
        self.cards: list[str] = []

    def line(self, last: str, after: dict[str, Any]) -> str:
        """What became of the sector: its number, the cards on it, the outcome and the clock."""
        cards = " ".join(self.cards) or "no card"
        clock = f"+{after['bonuses']} -{after['penalties']}"
        return f"  {self.number:>2}  {cards:<24} {self._outcome(last, after):<12} {clock}"

    def _outcome(self, last: str, after: dict[str, Any]) -> str:
        lost = after["penalties"] - self.before["penalties"]
        if last == _ACTIONS[BRAKE]:
            return "braked"
        if after["jokers"] < self.before["jokers"] or after["result"] == _LOSSES[RETIRED]:
            return "bust"
        if after["bonuses"] > self.before["bonuses"]:
            return "bonus"
        total_now = sum(map(_points, self.cards))
        if total_now > self.number:
            return "bust"
        return f"{lost} short" if lost else "exact"


def _points(card: str) -> int:
    """What a card of the road book counts: a Queen 1, ``2nd:5`` five."""
    return 1 if card == "Q" else int(card.partition(":")[2])


def story(words: Words, actions: Sequence[int]) -> str:
    """The road book of a rally that began at ``words``: a line for each sector, by stages.

    A gear's card reads ``2nd:5``, a Queen ``Q``; then come the outcome and the clock.
    """
    words = words.copy()
    lines: list[str] = []
    here: _Sector | None = None
    stage_now = 0
    for action in actions:
        before = _reading(words)
        text = action_to_string(to_move(words), action)
        with np.errstate(over="ignore"):
            apply(words, action)
        after = _reading(words)
        if text.startswith("sector:"):
            if before["stage"] != stage_now:
                stage_now = before["stage"]
                lines.append(f"stage {stage_now}")
            here = _Sector(before | {"sector": int(text.partition(":")[2])})
        elif here and text.startswith("card:"):
            here.cards.append(f"{before['drawing']}:{text.partition(':')[2]}")
        elif here and text == "boost":
            here.cards.append("Q")
        if here and (after["sector"] == 0 or after["result"]):
            lines.append(here.line(text, after))
            here = None
    ended = _reading(words)
    if ended["result"]:
        lines.append(f"{ended['result']}: {ended['bonuses'] - ended['penalties']:+d}")
    return "\n".join(lines)
