"""The sequence form of an unrolled game: what is left of it once histories are summed up.

Koller, Megiddo and von Stengel, "Fast algorithms for finding randomized strategies in game
trees", STOC 1994.  A *sequence* of a player is an information set and an action there, with all
that the player did before, which perfect recall makes certain; or the empty sequence, before the
first decision.  A game is then a list of *leaves*: which sequences, one of each player, end a
history, and what that is worth.  Leaves that differ in chance alone are one.  An expectation, a
counterfactual value or a best response takes a pass over leaves and sequences, of which there are
far fewer than histories.

Sequence ``p`` is the empty one of player ``p``, and slot ``i`` of the tree is the sequence
``num_players + i``.  A *plan* (``float64[sequences]``) holds the product of a player's own
probabilities along each sequence.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from cardcommons.compiled import compiled
from cardcommons.treaty import Kernel
from cardcommons.tree import NOWHERE, GameTree, make_nodes

_SOUND = -1
"""In place of an information set: none breaks perfect recall."""


class Leaves(NamedTuple):
    """Sequences and leaves as compiled code has them: P players, I information sets, Q sequences.

    There is a list of leaves for each player, ordered by the player's sequence; those that are
    worth nothing to the player are left out.  L is the number of leaves in all lists.
    """

    first_set: npt.NDArray[np.int64]
    """``[P + 1]``: the sets of player p are ``first_set[p]`` to ``first_set[p + 1] - 1``"""
    first_slot: npt.NDArray[np.int64]
    """``[I + 1]``: as the tree has it"""
    parent: npt.NDArray[np.int64]
    """``[I]``: the player's sequence that leads to an information set"""
    first_leaf: npt.NDArray[np.int64]
    """``[Q + 1]``: the leaves at the end of sequence q, in the list of the player whose it is"""
    others: npt.NDArray[np.int32]
    """``[L, P - 1]``: the sequences of the other players, by ascending player"""
    worth: npt.NDArray[np.float64]
    """``[L]``: utility to the player whose list it is, times the probability of chance"""


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """A game for solvers.

    Attributes:
        tree: the tree it is made of.
        leaves: its sequences and leaves.
    """

    tree: GameTree
    leaves: Leaves

    @cached_property
    def digest(self) -> str:
        """A hash of all sequences and leaves: another for any other game."""
        digest = blake2b(digest_size=8)
        for array in self.leaves:
            digest.update(array.tobytes())
        return digest.hexdigest()

    @property
    def num_players(self) -> int:
        """How many play."""
        return self.tree.num_players

    @property
    def num_sequences(self) -> int:
        """How many sequences there are, the empty ones included."""
        return self.num_players + self.tree.num_slots


def no_leaves(players: int) -> Leaves:
    """Leaves to tell the numba type of those of a game for so many players."""
    whole = np.zeros(1, dtype=np.int64)
    others = np.zeros((1, players - 1), dtype=np.int32)
    return Leaves(whole, whole, whole, whole, others, np.zeros(1))


@cache
def make_trace() -> Kernel:
    """Compile ``(nodes, first_slot, chance, sequence, parent) -> info_set``.

    Writes, for each node, the probability of chance on the way there (``float64[N]``) and the
    last sequence of each player (``int32[N, P]``), and the sequence that leads to each
    information set (``int64[I]``, ``NOWHERE`` at the start).  Returns an information set to which
    several sequences lead, or -1.
    """

    @register_jitable
    def step(nodes, first_slot, node, child, chance, sequence):
        players = sequence.shape[1]
        chance[child] = chance[node] * nodes.prob[child]
        for player in range(players):
            sequence[child, player] = sequence[node, player]
        mover = nodes.player[node]
        if mover >= 0:
            slot = first_slot[nodes.place[node]] + child - nodes.first_child[node]
            sequence[child, mover] = players + slot

    @compiled(
        "tree",
        types.int64(
            numba.typeof(make_nodes(1, 1, 1)),
            types.int64[::1],
            types.float64[::1],
            types.int32[:, ::1],
            types.int64[::1],
        ),
    )
    def trace(nodes, first_slot, chance, sequence, parent):
        chance[0] = 1.0
        for player in range(sequence.shape[1]):
            sequence[0, player] = player
        for node in range(nodes.player.size):
            mover = nodes.player[node]
            if mover >= 0:
                place = nodes.place[node]
                if parent[place] == NOWHERE:
                    parent[place] = sequence[node, mover]
                elif parent[place] != sequence[node, mover]:
                    return place
            for child in range(nodes.first_child[node], nodes.first_child[node + 1]):
                step(nodes, first_slot, node, np.int64(child), chance, sequence)
        return np.int32(_SOUND)

    return trace


def sequence_form(tree: GameTree) -> SequenceForm:
    """The sequence form of a tree.

    Raises:
        ValueError: a player forgets in it: an information set can be reached after different
            actions of that player.
    """
    sets = tree.info_sets
    parent, ends = _traced(tree)
    sequences, worths = _merged(*ends)
    first_set = np.searchsorted(sets.player, np.arange(tree.num_players + 1)).astype(np.int64)
    lists = _lists(sequences, worths, tree.num_players + tree.num_slots)
    return SequenceForm(tree, Leaves(first_set, sets.first_slot, parent, *lists))


def bytes_to_form(nodes: int, terminals: int, players: int) -> int:
    """About how much memory it takes to make the sequence form of a tree, beside the tree."""
    return nodes * (8 + 4 * players) + terminals * (32 + 40 * players)


_Ends = tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]
"""Sequences ``[ends, P]`` and, for each player, utility times probability ``[ends, P]``."""


def _traced(tree: GameTree) -> tuple[npt.NDArray[np.int64], _Ends]:
    """The sequence that leads to each information set, and the ends of the game."""
    nodes, sets = tree.nodes, tree.info_sets
    chance = np.empty(tree.num_nodes)
    sequence = np.empty((tree.num_nodes, tree.num_players), dtype=np.int32)
    parent = np.full(tree.num_info_sets, NOWHERE, dtype=np.int64)
    forgetful = make_trace()(nodes, sets.first_slot, chance, sequence, parent)
    if forgetful != _SOUND:
        raise ValueError(
            f"{tree.game} lacks perfect recall: player {sets.player[forgetful]} can come to "
            f"information set {forgetful} by different actions of their own"
        )
    ends = np.flatnonzero(nodes.first_child[1:] == nodes.first_child[:-1])
    return parent, (sequence[ends], nodes.utility[nodes.place[ends]] * chance[ends, None])


def _merged(sequences: npt.NDArray[np.int32], worths: npt.NDArray[np.float64]) -> _Ends:
    """The ends with those of the same sequences added up."""
    order = np.lexsort(sequences.T[::-1])
    sequences = sequences[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = np.any(sequences[1:] != sequences[:-1], axis=1)
    begins = np.flatnonzero(new)
    return sequences[begins], np.add.reduceat(worths[order], begins, axis=0)


def _lists(
    sequences: npt.NDArray[np.int32], worths: npt.NDArray[np.float64], num_sequences: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """The last three arrays of :class:`Leaves`."""
    own, others, worth = [], [], []
    for player in range(sequences.shape[1]):
        kept = np.flatnonzero(worths[:, player])
        kept = kept[np.argsort(sequences[kept, player], kind="stable")]
        own.append(sequences[kept, player])
        others.append(np.delete(sequences[kept], player, axis=1))
        worth.append(worths[kept, player])
    whose = np.concatenate(own)
    order = np.argsort(whose, kind="stable")  # the empty sequences come first
    first = np.zeros(num_sequences + 1, dtype=np.int64)
    np.cumsum(np.bincount(whose, minlength=num_sequences), out=first[1:])
    return (
        first,
        np.ascontiguousarray(np.concatenate(others)[order]),
        np.concatenate(worth)[order],
    )


@register_jitable
def write_plan(leaves, player, strategy, plan):
    """Fill a player's part of ``plan`` from the probabilities of the slots."""
    players = leaves.first_set.size - 1
    plan[player] = 1.0
    for info_set in range(leaves.first_set[player], leaves.first_set[player + 1]):
        reach = plan[leaves.parent[info_set]]
        for slot in range(leaves.first_slot[info_set], leaves.first_slot[info_set + 1]):
            plan[players + slot] = reach * strategy[slot]


def make_gradient(players: int) -> Kernel:
    """The jittable ``(leaves, player, plan, gradient)``: what each sequence of a player earns.

    Fills the player's part of ``gradient`` (``float64[Q]``) with the expected utility of the
    leaves at the very end of each sequence, the player's own probabilities left out; what comes
    after it is not counted.
    """

    @register_jitable
    def earn(leaves, plan, sequence):
        total = 0.0
        for leaf in range(leaves.first_leaf[sequence], leaves.first_leaf[sequence + 1]):
            worth = leaves.worth[leaf]
            for other in range(players - 1):
                worth *= plan[leaves.others[leaf, other]]
            total += worth
        return total

    @register_jitable
    def write_gradient(leaves, player, plan, gradient):
        gradient[player] = earn(leaves, plan, player)
        begin = players + leaves.first_slot[leaves.first_set[player]]
        end = players + leaves.first_slot[leaves.first_set[player + 1]]
        for sequence in range(begin, end):
            gradient[sequence] = earn(leaves, plan, sequence)

    return write_gradient
