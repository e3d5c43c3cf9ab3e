"""Strategies of an unrolled game: a probability for each slot of its tree.

A strategy is ``float64[S]``, all players in one; see :class:`cardcommons.tree.InfoSets` for the
slots.  It sums to 1 in each information set.
"""

import numpy as np
import numpy.typing as npt

from cardcommons.tree import GameTree

Strategy = npt.NDArray[np.float64]

_SLACK = 1e-6


def uniform(tree: GameTree) -> Strategy:
    """Every action of an information set with the same probability."""
    return normalized(tree.info_sets.first_slot, np.zeros(tree.num_slots))


def normalized(first_slot: npt.NDArray[np.int64], weights: Strategy) -> Strategy:
    """Probabilities in proportion to weights; uniform in information sets without any.

    Args:
        first_slot: ``int64[I + 1]``: where the slots of each information set begin.
        weights: of all slots, at least 0.
    """
    sizes = np.diff(first_slot)
    totals = np.repeat(np.add.reduceat(weights, first_slot[:-1]), sizes)
    even = np.repeat(1.0 / sizes, sizes)
    np.divide(weights, totals, out=even, where=totals > 0)
    return even


def random_strategy(tree: GameTree, rng: np.random.Generator) -> Strategy:
    """Uniformly from the simplex of each information set."""
    return normalized(tree.info_sets.first_slot, rng.exponential(size=tree.num_slots))


def check_strategy(tree: GameTree, strategy: Strategy) -> None:
    """Raise ``ValueError`` unless it is a strategy of the tree."""
    if strategy.shape != (tree.num_slots,):
        raise ValueError(
            f"a strategy of {tree.game} has {tree.num_slots} probabilities, not {strategy.shape}"
        )
    sums = np.add.reduceat(strategy, tree.info_sets.first_slot[:-1])
    wrong = np.flatnonzero(~(np.abs(sums - 1) <= _SLACK))
    if wrong.size or not np.all(strategy >= 0):
        where = int(wrong[0]) if wrong.size else int(np.argmin(strategy))
        raise ValueError(
            f"probabilities must be at least 0 and add up to 1 in each information set of "
            f"{tree.game}; they don't at {where}"
        )
