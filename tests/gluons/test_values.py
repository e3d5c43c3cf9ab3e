"""Values of a reduced game under optimal play, by linear programming.

The sequence form of Koller, Megiddo and von Stengel, "Fast algorithms for finding randomized
strategies in game trees", STOC 1994: a player's plan is a weight for each sequence of own choices.
"""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import block_array, coo_array

from cardcommons import State
from tests.gluons.walks import TINY, Variant, drawing_chances, info_key

Sequence = tuple[int, int] | None
"""The last own choice, by information key and action; None before the first."""


@dataclass
class SequenceForm:
    """The constraints of two players' plans, and player 0's expectations."""

    numbers: list[dict[Sequence, int]] = field(default_factory=lambda: [{None: 0}, {None: 0}])
    parents: list[dict[int, int]] = field(default_factory=lambda: [{}, {}])
    """The number of the sequence that leads to an information set."""
    gains: dict[tuple[int, int], float] = field(default_factory=lambda: defaultdict(float))

    def add(self, state: State, last: tuple[int, int], chance: float) -> None:
        """Add all histories from here on; ``last`` are the sequences that lead here."""
        if state.is_terminal:
            self.gains[last] += chance * state.returns()[0]
        elif state.is_chance:
            for action, share in drawing_chances(state).items():
                self.add(_after(state, action), last, chance * float(share))
        else:
            self._choose(state, last, chance)

    def _choose(self, state: State, last: tuple[int, int], chance: float) -> None:
        player = state.player
        key, numbers = info_key(state, player), self.numbers[player]
        assert self.parents[player].setdefault(key, last[player]) == last[player]
        for action in state.legal_actions():
            number = numbers.setdefault((key, action), len(numbers))
            after = (number, last[1]) if player == 0 else (last[0], number)
            self.add(_after(state, action), after, chance)

    def plans(self, player: int) -> coo_array:
        """The constraints: at each information set the choices share what leads to it."""
        rows = {key: row for row, key in enumerate(self.parents[player], 1)}
        entries = [(0, 0, 1.0)]
        entries += [(rows[key], parent, -1.0) for key, parent in self.parents[player].items()]
        entries += [(rows[s[0]], number, 1.0) for s, number in self.numbers[player].items() if s]
        row, column, value = zip(*entries, strict=True)
        return coo_array((value, (row, column)), (len(rows) + 1, len(self.numbers[player])))

    def value(self) -> float:
        """What player 0 can be sure of: the most that a plan leaves for the best answer.

        The variables are player 0's plan, and what the answer loses at each information set.
        """
        own, other = self.plans(0), self.plans(1)
        row, column = zip(*self.gains, strict=True)
        gains = coo_array(([*self.gains.values()], (column, row)), (other.shape[1], own.shape[1]))
        answers = block_array([[-gains, other.T]])
        plans = block_array([[own, coo_array((own.shape[0], other.shape[0]))]])
        found = linprog(
            c=-np.eye(1, answers.shape[1], own.shape[1])[0],
            A_ub=answers,
            b_ub=np.zeros(answers.shape[0]),
            A_eq=plans,
            b_eq=np.eye(1, own.shape[0])[0],
            bounds=[(0, None)] * own.shape[1] + [(None, None)] * other.shape[0],
        )
        assert found.status == 0
        return -float(found.fun)


def _after(state: State, action: int | str) -> State:
    child = state.copy()
    child.apply(action)
    return child


@pytest.mark.parametrize(("utility", "value"), [("win", 0.0), ("points", -0.25)])
def test_the_value_of_the_smallest_game(utility: str, value: float) -> None:
    form = SequenceForm()
    form.add(State(Variant.of(**dict(TINY.params), utility=utility).game()), (0, 0), 1.0)
    assert [*map(len, form.parents)] == [2166, 2376]
    assert form.value() == pytest.approx(value, abs=1e-9)
