"""Kuhn poker under the treaty: chance, hidden cards, any number of players, a general sum.

A game for tests, chosen because OpenSpiel has it too.  Each of ``n`` players gets one of ``n + 1``
cards; a rake, which OpenSpiel's game does not have, is taken from the winner.

    word 0  bits 0-31   a nibble a player: the card plus one, 0 before it is dealt
            bits 32-35  the number of players
            bits 36-39  the rake
    word 1  bits 0-7    the number of actions so far
            bits 8-     a bit for each of them: 1 is a bet
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from cardcommons.bits import ONE, field, mix
from cardcommons.rng import below
from cardcommons.treaty import CHANCE, TERMINAL, Family, Game, Rules, TensorSpec, Words

_S4, _S8, _S16, _S32, _S36 = (np.uint64(n) for n in (4, 8, 16, 32, 36))
_NIBBLE, _BYTE = np.uint64(15), np.uint64(255)
PASS, BET = 0, 1
_ACTIONS = ("pass", "bet")


@dataclass(frozen=True)
class KuhnParams:
    """How many play, and what the winner pays for it."""

    players: int = 2
    rake: int = 0


@register_jitable
def _card(s: Words, player: int) -> int:
    return field(s[0], np.uint64(4 * player), _NIBBLE)  # type: ignore[no-any-return]


@register_jitable
def _players(s: Words) -> int:
    return field(s[0], _S32, _NIBBLE)  # type: ignore[no-any-return]


@register_jitable
def _dealt(s: Words) -> int:
    count = 0
    while count < 8 and _card(s, count) > 0:
        count += 1
    return count


@register_jitable
def _acted(s: Words) -> int:
    return field(s[1], np.uint64(0), _BYTE)  # type: ignore[no-any-return]


@register_jitable
def _bets(s: Words, turn: int) -> int:
    return field(s[1], np.uint64(8 + turn), ONE)  # type: ignore[no-any-return]


@register_jitable
def _over(s: Words) -> bool:
    for turn in range(_acted(s)):
        if _bets(s, turn):
            return _acted(s) == turn + _players(s)
    return _acted(s) == _players(s)


@register_jitable
def to_move(s: Words) -> int:
    if _dealt(s) < _players(s):
        return CHANCE
    return TERMINAL if _over(s) else _acted(s) % _players(s)


@register_jitable
def legal(s: Words, out: npt.NDArray[np.int64]) -> int:
    out[0], out[1] = PASS, BET
    return 2


@register_jitable
def chance(s: Words, out: npt.NDArray[np.int64], weight: npt.NDArray[np.int64]) -> int:
    n = 0
    for card in range(_players(s) + 1):
        free = True
        for player in range(_players(s)):
            free = free and _card(s, player) != card + 1
        if free:
            out[n], weight[n] = card, 3  # any equal weights
            n += 1
    return n


@register_jitable
def apply(s: Words, a: int) -> None:
    dealt = _dealt(s)
    if dealt < _players(s):
        s[0] |= np.uint64(a + 1) << np.uint64(4 * dealt)
    else:
        s[1] |= np.uint64(a) << np.uint64(8 + _acted(s))
        s[1] += ONE


@register_jitable
def _has_bet(s: Words, player: int) -> int:
    for turn in range(player, _acted(s), _players(s)):
        if _bets(s, turn):
            return 1
    return 0


@register_jitable
def payoff(s: Words, player: int) -> float:
    pot, bettors = 0, 0
    for other in range(_players(s)):
        pot += 1 + _has_bet(s, other)
        bettors += _has_bet(s, other)
    winner = -1
    for other in range(_players(s)):
        stays = bettors == 0 or _has_bet(s, other)
        if stays and (winner < 0 or _card(s, other) > _card(s, winner)):
            winner = other
    won = pot - field(s[0], _S36, _NIBBLE) if winner == player else 0
    return np.float64(won - 1 - _has_bet(s, player))


@register_jitable
def state_key(s: Words) -> int:
    return mix(mix(s[0]) ^ s[1])  # type: ignore[no-any-return]


@register_jitable
def estimate(s: Words, player: int) -> float:
    return 0.0


@register_jitable
def info_key(s: Words, player: int) -> int:
    known = (np.uint64(_dealt(s)) << _S4) | np.uint64(_card(s, player))
    return mix((s[1] << _S16) | known)  # type: ignore[no-any-return]


@register_jitable
def resample(s: Words, player: int, rng: npt.NDArray[np.uint64]) -> None:
    dealt = _dealt(s)
    own = np.uint64(_card(s, player)) << np.uint64(4 * player)
    s[0] = ((s[0] >> _S32) << _S32) | own
    for other in range(dealt):
        while _card(s, other) == 0:
            card = below(rng, _players(s) + 1) + 1
            free = True
            for holder in range(_players(s)):
                free = free and _card(s, holder) != card
            if free:
                s[0] |= np.uint64(card) << np.uint64(4 * other)


def action_to_string(player: int, action: int) -> str:
    if player == CHANCE:
        return f"deal:{action}"
    if action not in (PASS, BET):
        raise ValueError(f"action {action} is not 0 or 1")
    return _ACTIONS[action]


def string_to_action(player: int, text: str) -> int:
    if player == CHANCE and text.startswith("deal:"):
        return int(text[5:])
    if text not in _ACTIONS:
        raise ValueError(f"{text!r} is no action of Kuhn poker: expected pass or bet")
    return _ACTIONS.index(text)


def _cards(words: Words) -> str:
    return "".join(str(_card(words, player) - 1) for player in range(_dealt(words))) or "-"


def _line(words: Words) -> str:
    return "".join("pb"[_bets(words, turn)] for turn in range(_acted(words))) or "-"


def position(words: Words) -> str:
    return f"{_cards(words)} {_line(words)}"


def fields(words: Words) -> dict[str, object]:
    return {"position": position(words), "cards": _cards(words), "line": _line(words)}


class KuhnViews:
    """The own card is private, the betting is public."""

    def __init__(self, players: int) -> None:
        self.tensors = (
            TensorSpec("line", (2 * players - 1, 2)),
            TensorSpec("card", (players + 1,), private=True),
        )

    def write(self, words: Words, player: int, into: Mapping[str, npt.NDArray[np.float32]]) -> None:
        if "line" in into:
            for turn in range(_acted(words)):
                into["line"][turn, _bets(words, turn)] = 1
        if "card" in into and _card(words, player):
            into["card"][_card(words, player) - 1] = 1

    def string(self, words: Words, player: int, *, public: bool, private: bool) -> str:
        seen = [f"{_dealt(words)} dealt, {_line(words)}"] if public else []
        if private and _card(words, player):
            seen.append(f"card {_card(words, player) - 1}")
        return "; ".join(seen)


def _parse(start: Words, told: str) -> Words:
    words = start.copy()
    cards, line = told.split(" ")
    for card in cards.strip("-"):
        apply(words, int(card))
    for action in line.strip("-"):
        apply(words, "pb".index(action))
    return words


def make(params: KuhnParams) -> Game:
    """Kuhn poker for the players given."""
    n = params.players
    if not 2 <= n <= 8:
        raise ValueError(f"parameter 'players' must be 2 to 8, not {n}")
    start = np.array([n << 32 | params.rake << 36, 0], dtype=np.uint64)
    start.flags.writeable = False
    rules = Rules(
        name="kuhn",
        num_players=n,
        num_words=2,
        num_actions=2,
        max_legal=n + 1,
        max_length=3 * n - 1,
        min_utility=-2.0,
        max_utility=2.0 * (n - 1) - params.rake,
        zero_sum=params.rake == 0,
        to_move=to_move,
        legal=legal,
        apply=apply,
        payoff=payoff,
        state_key=state_key,
        estimate=estimate,
        chance=chance,
        info_key=info_key,
        resample=resample,
    )
    return Game(
        long_name="Kuhn poker",
        params=params,
        rules=rules,
        text=SimpleNamespace(
            action_to_string=action_to_string,
            string_to_action=string_to_action,
            position=position,
            parse=lambda told: _parse(start, told),
            board=lambda words, viewer=None: "",
            svg=lambda words, viewer=None: "<svg/>",
            fields=fields,
            story=None,
        ),
        views=KuhnViews(n),
        start=start,
        max_decisions=2 * n - 1,
        has_chance=True,
        has_hidden_information=True,
        max_chance_outcomes=n + 1,
        max_chance_nodes=n,
    )


FAMILY = Family("kuhn", KuhnParams, make, players=(2, 8))
