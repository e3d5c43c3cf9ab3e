"""Strategies of an unrolled game as OpenSpiel's policies, and the other way round."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyspiel

from agents.strategy import Strategy, check_strategy
from cardcommons.openspiel import OpenSpielGame
from cardcommons.tree import GameTree


def _states(tree: GameTree, game: pyspiel.Game) -> Iterator[tuple[pyspiel.State, slice]]:
    """A state of each information set, and the slots of the set."""
    told = game.native_game.spec if isinstance(game, OpenSpielGame) else str(game)
    if tree.game not in (told, str(game)):
        raise ValueError(f"the tree is of {tree.game}, not of {told}")
    sets = tree.info_sets
    for node, first, end in zip(sets.node, sets.first_slot, sets.first_slot[1:], strict=False):
        state = game.new_initial_state()
        for action in tree.history(int(node)):
            state.apply_action(action)
        yield state, slice(int(first), int(end))


def to_openspiel(tree: GameTree, strategy: Strategy, game: pyspiel.Game) -> pyspiel.TabularPolicy:
    """A strategy as a ``pyspiel.TabularPolicy``.

    Args:
        tree: what the strategy is for.
        strategy: a probability for each slot.
        game: the game of the tree in OpenSpiel.

    Raises:
        ValueError: it is no strategy of the tree, or the tree is of another game.
    """
    check_strategy(tree, strategy)
    return pyspiel.TabularPolicy(
        {
            state.information_state_string(): list(
                zip(tree.info_sets.action[slots].tolist(), strategy[slots].tolist(), strict=True)
            )
            for state, slots in _states(tree, game)
        }
    )


def from_openspiel(tree: GameTree, policy: Any, game: pyspiel.Game) -> Strategy:
    """The strategy that a policy of OpenSpiel's, in C++ or in Python, follows.

    Args:
        tree: what the strategy is for.
        policy: a ``pyspiel.Policy``, or ``open_spiel.python.policy.Policy``.
        game: the game of the tree in OpenSpiel.

    Raises:
        ValueError: the policy says nothing of an information state, or no probabilities, or plays
            what is illegal there; or the tree is of another game.
    """
    strategy = np.zeros(tree.num_slots)
    for state, slots in _states(tree, game):
        told = _told(policy, state)
        actions = tree.info_sets.action[slots].tolist()
        for action in told.keys() - actions:
            if told[action] != 0:
                raise ValueError(
                    f"the policy plays action {action} in the information state "
                    f"{state.information_state_string()!r}, where only {actions} are legal"
                )
        strategy[slots] = [told.get(action, 0.0) for action in actions]
    check_strategy(tree, strategy)
    return strategy


def _told(policy: Any, state: pyspiel.State) -> dict[int, float]:
    """What a policy says of a state; ``ValueError`` if it says nothing."""
    try:
        told = {int(a): float(p) for a, p in policy.action_probabilities(state).items()}
    except KeyError:  # from tables in Python; those in C++ answer with nothing
        told = {}
    if not told:
        label = state.information_state_string()
        raise ValueError(f"the policy says nothing of the information state {label!r}")
    return told
