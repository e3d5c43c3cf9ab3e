"""A game with hidden actions under the treaty: Hide.

Player 1 leaves, for a sure 0.4, or stays.  If she stays, player 0 pays her 0.5, or hides a coin as
heads or tails; then she guesses, and wins 1 or loses 1.  Optimal play: leave; hide, either way with
the same chance.  Who thinks that she will see the coin stays; who thinks that she sees it pays.

    word 0  bits 0-1  actions so far
            bits 2-3  player 0's action plus 1: 1 pays, 2 is heads, 3 is tails
            bit  4    player 1 left
            bit  5    the guess: 1 is tails
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

_NO_SHIFT, _S2, _S4, _S5 = (np.uint64(n) for n in (0, 2, 4, 5))
_PAIR = np.uint64(3)


@dataclass(frozen=True)
class HideParams:
    """Nothing to choose."""


@register_jitable
def _acted(s):
    return field(s[0], _NO_SHIFT, _PAIR)


@register_jitable
def _hidden(s):
    """Player 0's action plus 1, or 0."""
    return field(s[0], _S2, _PAIR)


@register_jitable
def to_move(s):
    acted = _acted(s)
    if acted == 3 or field(s[0], _S4, ONE) or _hidden(s) == 1:
        return TERMINAL
    return 0 if acted == 1 else 1


@register_jitable
def legal(s, out):
    n = 3 if to_move(s) == 0 else 2
    for action in range(n):
        out[action] = action
    return n


@register_jitable
def apply(s, a):
    acted = _acted(s)
    if acted == 0:
        s[0] |= np.uint64(a == LEAVE) << _S4
    elif acted == 1:
        s[0] |= np.uint64(a + 1) << _S2
    else:
        s[0] |= np.uint64(a) << _S5
    s[0] += ONE


@register_jitable
def payoff(s, player):
    if field(s[0], _S4, ONE):
        won = 0.4
    elif _hidden(s) == 1:
        won = 0.5
    else:
        won = 1.0 if _hidden(s) == 2 + field(s[0], _S5, ONE) else -1.0
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
    if player == 1 and to_move(s) == 1 and _hidden(s) > 1:
        seen &= ~(_PAIR << _S2)
    return mix(seen)


@register_jitable
def resample(s, player, rng):
    if player == 1 and to_move(s) == 1 and _hidden(s) > 1:
        s[0] = (s[0] & ~(_PAIR << _S2)) | np.uint64(2 + below(rng, 2)) << _S2


def make() -> Game:
    """The game."""
    start = np.zeros(1, dtype=np.uint64)
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
    )
    text = SimpleNamespace(  # as much of it as the tests need
        action_to_string=lambda player, action: str(action),
        string_to_action=lambda player, told: int(told),
        position=lambda words: str(words[0]),
    )
    return Game(
        long_name="Hide",
        params=HideParams(),
        rules=rules,
        text=text,
        views=SimpleNamespace(tensors=()),
        start=start,
        max_decisions=3,
        has_hidden_information=True,
    )
