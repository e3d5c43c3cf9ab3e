"""Exact best responses, and how far a strategy is from an equilibrium.

NashConv is what all players together would gain if each, alone, changed to a best response
(Lanctot et al., "A unified game-theoretic approach to multiagent reinforcement learning", 2017,
section 2); exploitability is NashConv per player, as OpenSpiel has it.
"""

from dataclasses import dataclass
from functools import cache

import numba
import numpy as np
from numba import types
from numba.extending import register_jitable

from agents.strategy import Strategy, check_strategy
from cardcommons.compiled import compiled
from cardcommons.sequence_form import SequenceForm, make_gradient, no_leaves, write_plan
from cardcommons.treaty import Kernel


@cache
def make_respond(players: int) -> Kernel:
    """Compile ``(leaves, strategy, plan, gradient, choice, values, best)``.

    Fills ``choice`` (``int64[I]``) with the slot that is best in each information set, the first
    of equals, and ``values`` and ``best`` (``float64[P]``) with what each player gets by the
    strategy, and by a best response to the others.
    """
    write_gradient = make_gradient(players)

    @register_jitable
    def expected(leaves, player, plan, gradient):
        total = gradient[player]
        begin = leaves.first_slot[leaves.first_set[player]]
        for slot in range(begin, leaves.first_slot[leaves.first_set[player + 1]]):
            total += plan[players + slot] * gradient[players + slot]
        return total

    @register_jitable
    def back_up(leaves, player, gradient, choice):
        begin, end = leaves.first_set[player], leaves.first_set[player + 1]
        for info_set in range(end - 1, begin - 1, -1):
            best = leaves.first_slot[info_set]
            for slot in range(best + 1, leaves.first_slot[info_set + 1]):
                if gradient[players + slot] > gradient[players + best]:
                    best = slot
            choice[info_set] = best
            gradient[leaves.parent[info_set]] += gradient[players + best]
        return gradient[player]

    floats, integers = types.float64[::1], types.int64[::1]

    @compiled(
        f"{players} players",
        types.void(
            numba.typeof(no_leaves(players)), floats, floats, floats, integers, floats, floats
        ),
    )
    def respond(leaves, strategy, plan, gradient, choice, values, best):
        for player in range(players):
            write_plan(leaves, player, strategy, plan)
        for player in range(players):
            write_gradient(leaves, player, plan, gradient)
            values[player] = expected(leaves, player, plan, gradient)
            best[player] = back_up(leaves, player, gradient, choice)

    return respond


@dataclass(frozen=True, eq=False)
class Responses:
    """What players get by a strategy, and what each alone could get instead.

    Attributes:
        values: expected utility of each player.
        best: expected utility of a best response of each player.
        choice: ``int64[I]``: the slot a best response chooses in each information set.
    """

    values: tuple[float, ...]
    best: tuple[float, ...]
    choice: np.ndarray[tuple[int], np.dtype[np.int64]]

    @property
    def nash_conv(self) -> float:
        """What all players together could gain; 0 in an equilibrium."""
        return sum(self.best) - sum(self.values)

    @property
    def exploitability(self) -> float:
        """NashConv per player."""
        return self.nash_conv / len(self.values)

    def strategy(self, num_slots: int) -> Strategy:
        """The best responses as a strategy of all players."""
        chosen = np.zeros(num_slots)
        chosen[self.choice] = 1.0
        return chosen


class Responder:
    """Best responses in one game, with the buffers they take."""

    def __init__(self, form: SequenceForm) -> None:
        self.form = form
        self._respond = make_respond(form.num_players)
        self._plan, self._gradient = np.zeros((2, form.num_sequences))

    def responses(self, strategy: Strategy) -> Responses:
        """Best responses to a strategy; it is trusted to be one."""
        choice = np.zeros(self.form.tree.num_info_sets, dtype=np.int64)
        values, best = np.zeros((2, self.form.num_players))
        self._respond(self.form.leaves, strategy, self._plan, self._gradient, choice, values, best)
        return Responses(tuple(values.tolist()), tuple(best.tolist()), choice)


def best_responses(form: SequenceForm, strategy: Strategy) -> Responses:
    """Best responses to a strategy; ``ValueError`` if it isn't one."""
    check_strategy(form.tree, strategy)
    return Responder(form).responses(np.ascontiguousarray(strategy, dtype=np.float64))


def nash_conv(form: SequenceForm, strategy: Strategy) -> float:
    """What all players together could gain by changing to best responses, each alone."""
    return best_responses(form, strategy).nash_conv


def exploitability(form: SequenceForm, strategy: Strategy) -> float:
    """NashConv per player."""
    return best_responses(form, strategy).exploitability
