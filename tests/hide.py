"""A game with hidden actions under the treaty: Hide.

Player 1 leaves, for a sure 0.4, or stays.  If she stays, player 0 pays her 0.5, or hides a coin as
heads or tails; then she guesses, and wins 1 or loses 1.  Optimal play: leave; hide, either way with
the same chance.  Who thinks that she will see the coin stays; who thinks that she sees it pays.

Or he hides the coin first and guesses last himself, and she loses 1 if he is right, which he is
unless he forgets what he hid; to leave in between costs her 0.5.

    word 0  bits 0-1  actions so far
            bits 2-3  player 0's action plus 1: 1 pays, 2 is heads, 3 is tails
            bit  4    player 1 left
            bit  5    the guess: 1 is tails
            bit  6    he begins, and guesses himself
"""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import ONE, field, mix
from cardcommons.rng import below
from cardcommons.treaty import TERMINAL, Game, Rules, no_chance

LEAVE, STAY = 0, 1
PAY, HEADS, TAILS = 0, 1, 2

_NO_SHIFT, _S2, _S4, _S5, _S6 = (np.uint64(n) for n in (0, 2, 4, 5, 6))
_PAIR = np.uint64(3)


@dataclass(frozen=True)
class HideParams:
    """Who guesses."""

    himself: bool = False


@register_jitable
def _acted(s):
    return field(s[0], _NO_SHIFT, _PAIR)


@register_jitable
def _hidden(s):
    """Player 0's action plus 1, or 0."""
    return field(s[0], _S2, _PAIR)


@register_jitable
def _himself(s):
    return field(s[0], _S6, ONE)


@register_jitable
def _is_hiding(s):
    return _acted(s) == 1 - _himself(s)


@register_jitable
def _is_guessing(s):
    return _acted(s) == 2


@register_jitable
def to_move(s):
    acted = _acted(s)
    if acted == 3 or field(s[0], _S4, ONE) or _hidden(s) == 1:
        return TERMINAL
    return acted & 1 if _himself(s) else 1 - (acted & 1)


@register_jitable
def _unseen(s, player):
    """Whether the coin is hidden from a player."""
    return player == 1 and to_move(s) != TERMINAL and _hidden(s) > 1


@register_jitable
def legal(s, out):
    least = HEADS if _is_hiding(s) and _himself(s) else 0
    n = 3 - least if _is_hiding(s) else 2
    for i in range(n):
        out[i] = least + i
    return n


@register_jitable
def apply(s, a):
    if _is_hiding(s):
        s[0] |= np.uint64(a + 1) << _S2
    elif _is_guessing(s):
        s[0] |= np.uint64(a) << _S5
    else:
        s[0] |= np.uint64(a == LEAVE) << _S4
    s[0] += ONE


@register_jitable
def payoff(s, player):
    if field(s[0], _S4, ONE):
        won = -0.5 if _himself(s) else 0.4
    elif _hidden(s) == 1:
        won = 0.5
    else:
        right = _hidden(s) == 2 + field(s[0], _S5, ONE)
        won = 1.0 if right != _himself(s) else -1.0
    return won if player == 1 else -won


@register_jitable
def state_key(s):
    return mix(s[0])


@register_jitable
def estimate(s, player):
    return 0.0


@register_jitable
def info_key(s, player):
    seen = s[0]
    if _unseen(s, player):
        seen &= ~(_PAIR << _S2)
    return mix(seen)


@register_jitable
def resample(s, player, rng):
    if _unseen(s, player):
        s[0] = (s[0] & ~(_PAIR << _S2)) | np.uint64(2 + below(rng, 2)) << _S2


@register_jitable
def hidden_actions(s, player, out):
    if not _unseen(s, 1 - player):
        return 0
    out[0] = _hidden(s) - 1
    return 1


def make(himself: bool = False) -> Game:
    """The game."""
    start = np.full(1, np.uint64(himself) << _S6, dtype=np.uint64)
    start.flags.writeable = False
    rules = Rules(
        name="hide",
        num_players=2,
        num_words=1,
        num_actions=3,
        max_legal=3,
        max_length=3,
        min_utility=-1.0,
        max_utility=1.0,
        zero_sum=True,
        to_move=to_move,
        legal=legal,
        apply=apply,
        payoff=payoff,
        state_key=state_key,
        estimate=estimate,
        chance=no_chance,
        info_key=info_key,
        resample=resample,
        hidden_actions=hidden_actions,
    )
    text = SimpleNamespace(  # as much of it as the tests need
        action_to_string=lambda player, action: str(action),
        string_to_action=lambda player, told: int(told),
        position=lambda words: str(words[0]),
    )
    return Game(
        long_name="Hide",
        params=HideParams(himself),
        rules=rules,
        text=text,
        views=SimpleNamespace(tensors=()),
        start=start,
        max_decisions=3,
        has_hidden_information=True,
    )
