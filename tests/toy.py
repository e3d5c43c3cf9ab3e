"""A small game added the way CONTRIBUTING describes: Race.

Two players add 1 or 2 to a count in turn, and before each turn chance adds 0 (weight 3) or 1
(weight 1).  Who brings the count to ``goal`` or beyond wins ``1``; if chance does, it is a draw.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from cardcommons.bits import ONE, mix
from cardcommons.treaty import (
    CHANCE,
    TERMINAL,
    Family,
    Game,
    Rules,
    TensorSpec,
    Words,
    no_chance,
    nothing_hidden,
)

# word 0: the count; word 1: the goal; word 2: the player to move, or CHANCE_NEXT + that player,
# or OVER; word 3: the winner + 1, or 0 for a draw.
_CHANCE_NEXT, _OVER = np.uint64(2), np.uint64(4)


@register_jitable
def to_move(s):
    if s[2] == _OVER:
        return TERMINAL
    return CHANCE if s[2] >= _CHANCE_NEXT else np.int64(s[2])


@register_jitable
def legal(s, out):
    if to_move(s) < 0:
        return 0
    out[0], out[1] = 0, 1
    return 2


@register_jitable
def chance(s, out, weight):
    out[0], out[1] = 0, 1
    weight[0], weight[1] = 3, 1
    return 2


@register_jitable
def apply(s, a):
    if s[2] >= _CHANCE_NEXT:
        s[0] += np.uint64(a)
        s[2] -= _CHANCE_NEXT
        if s[0] >= s[1]:
            s[2] = _OVER
        return
    s[0] += np.uint64(a) + ONE
    if s[0] >= s[1]:
        s[3] = s[2] + ONE
        s[2] = _OVER
    else:
        s[2] = (ONE - s[2]) + (_CHANCE_NEXT if s[1] & ONE else np.uint64(0))


@register_jitable
def payoff(s, player):
    winner = np.int64(s[3]) - 1
    if winner < 0:
        return 0.0
    return 1.0 if winner == player else -1.0


@register_jitable
def state_key(s):
    return mix(s[0] * np.uint64(64) + s[2] * np.uint64(8) + s[3]) ^ s[1]


@register_jitable
def info_key(s, player):
    return state_key(s)


@register_jitable
def estimate(s, player):
    return 0.0


@dataclass(frozen=True)
class RaceParams:
    """``goal``: the count to reach, 1 to 20; an odd one brings chance into the game."""

    goal: int = 7

    def __post_init__(self) -> None:
        if not 1 <= self.goal <= 20:
            raise ValueError(f"parameter 'goal' must be 1 to 20, not {self.goal}")


def _action_to_string(player: int, action: int) -> str:
    return f"bump:{action}" if player == CHANCE else f"add:{action + 1}"


def _string_to_action(player: int, text: str) -> int:
    for action in (0, 1):
        if text == _action_to_string(player, action):
            return action
    raise ValueError(f"{text!r} is no action of Race: expected add:1 or add:2, or bump:0 or bump:1")


def _position(words: Words) -> str:
    return " ".join(str(int(word)) for word in words)


def _parse(position: str) -> Words:
    return np.array([int(part) for part in position.split()], dtype=np.uint64)


def _board(words: Words, viewer: int | None = None) -> str:
    return f"{int(words[0])} of {int(words[1])}"


def _write(words: Words, player: int, into: Mapping[str, npt.NDArray[np.float32]]) -> None:
    if "count" in into:
        into["count"][min(int(words[0]), 21)] = 1


def _string(words: Words, player: int, *, public: bool, private: bool) -> str:
    return _position(words) if public else ""


TEXT = SimpleNamespace(
    action_to_string=_action_to_string,
    string_to_action=_string_to_action,
    position=_position,
    parse=_parse,
    board=_board,
    svg=_board,
    fields=lambda words: {"position": _position(words)},
    story=None,
)
VIEWS = SimpleNamespace(tensors=(TensorSpec("count", (22,)),), write=_write, string=_string)


def make(params: RaceParams) -> Game:
    with_chance = params.goal % 2 == 1
    return Game(
        long_name="Race",
        params=params,
        rules=Rules(
            name="race",
            num_players=2,
            num_words=4,
            num_actions=2,
            max_legal=2,
            max_length=2 * params.goal,
            min_utility=-1.0,
            max_utility=1.0,
            zero_sum=True,
            to_move=to_move,
            legal=legal,
            apply=apply,
            payoff=payoff,
            state_key=state_key,
            estimate=estimate,
            chance=chance if with_chance else no_chance,
            info_key=info_key,
            resample=nothing_hidden,
        ),
        text=TEXT,
        views=VIEWS,
        start=np.array([0, params.goal, 0, 0], dtype=np.uint64),
        max_decisions=params.goal,
        has_chance=with_chance,
        max_chance_outcomes=2 if with_chance else 0,
        max_chance_nodes=params.goal - 1 if with_chance else 0,
    )


RACE = Family("race", RaceParams, make)


def exact_values(count: int, goal: int, player: int, chance_next: bool = False) -> float:
    """The value for player 0, by plain recursion."""
    if chance_next:
        bumped = 0.0 if count + 1 >= goal else exact_values(count + 1, goal, player)
        return 0.75 * exact_values(count, goal, player) + 0.25 * bumped
    sign = 1.0 if player == 0 else -1.0
    found: list[Any] = []
    for added in (1, 2):
        if count + added >= goal:
            found.append(sign)
        else:
            found.append(exact_values(count + added, goal, 1 - player, goal % 2 == 1))
    return float(max(found) if player == 0 else min(found))
