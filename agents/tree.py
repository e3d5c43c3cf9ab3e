"""A search tree of perfect information in arrays, and keeping a part of it."""

from functools import cache
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from cardcommons.compiled import compiled
from cardcommons.treaty import TERMINAL, Kernel


class Tree(NamedTuple):
    """A search tree as a struct of arrays; node 0 is the root, children lie side by side.

    Each array has shape ``(capacity,)``.  A node's ``total`` and ``value`` are in the eyes of its
    *mover*: the player whose choice led to it (through chance, if chance lies between).  A child
    has a higher number than its parent.
    """

    first_child: npt.NDArray[np.int32]
    """0 before expansion."""
    num_children: npt.NDArray[np.int32]
    action: npt.NDArray[np.int32]
    """The action that leads here from the parent."""
    weight: npt.NDArray[np.int32]
    """The weight of that action if chance takes it."""
    player: npt.NDArray[np.int8]
    """Who is to move here; meaningless before the first visit."""
    mover: npt.NDArray[np.int8]
    visits: npt.NDArray[np.int32]
    total: npt.NDArray[np.float64]
    """The sum of the mover's utilities over the visits."""
    prior: npt.NDArray[np.float64]
    """What the selection makes of the estimate; 0 if it takes no interest."""
    level: npt.NDArray[np.float64]
    """The part of the bound that only visits of this node change."""
    spread: npt.NDArray[np.float64]
    """The part that grows with the visits of its siblings, before it is multiplied."""
    exact: npt.NDArray[np.bool_]
    """Whether ``value`` is known: the game is solved from here."""
    value: npt.NDArray[np.float64]
    used: npt.NDArray[np.int64]
    """Shape ``(1,)``: how many nodes are in use."""


def make_tree(capacity: int) -> Tree:
    """An empty tree; memory is touched only as nodes come into use."""
    return Tree(
        first_child=np.empty(capacity, dtype=np.int32),
        num_children=np.empty(capacity, dtype=np.int32),
        action=np.empty(capacity, dtype=np.int32),
        weight=np.empty(capacity, dtype=np.int32),
        player=np.empty(capacity, dtype=np.int8),
        mover=np.empty(capacity, dtype=np.int8),
        visits=np.empty(capacity, dtype=np.int32),
        total=np.empty(capacity, dtype=np.float64),
        prior=np.empty(capacity, dtype=np.float64),
        level=np.empty(capacity, dtype=np.float64),
        spread=np.empty(capacity, dtype=np.float64),
        exact=np.empty(capacity, dtype=np.bool_),
        value=np.empty(capacity, dtype=np.float64),
        used=np.zeros(1, dtype=np.int64),
    )


TREE = numba.typeof(make_tree(1))
"""The numba type of a :class:`Tree`, for signatures."""


@register_jitable
def plant(tree, node, action, weight, mover):
    """Make ``node`` a fresh leaf."""
    tree.first_child[node] = 0
    tree.num_children[node] = 0
    tree.action[node] = action
    tree.weight[node] = weight
    tree.player[node] = TERMINAL
    tree.mover[node] = mover
    tree.visits[node] = 0
    tree.total[node] = 0.0
    tree.prior[node] = 0.0
    tree.level[node] = 0.0
    tree.spread[node] = 0.0
    tree.exact[node] = False
    tree.value[node] = 0.0


@cache
def make_keep(owner: str) -> Kernel:
    """Compile ``(tree, root, place)``: keep the subtree under ``root`` alone, as a whole tree.

    Nodes move to lower numbers in their order, so no second tree is needed.  ``place`` is
    ``int32[capacity]``.
    """

    @register_jitable
    def number(tree, root, place):
        """Write to ``place`` the new number of each node that stays, -1 for the others."""
        used = tree.used[0]
        for node in range(root, used):
            place[node] = -1
        place[root] = 0
        count = 0
        for node in range(root, used):
            if place[node] >= 0:
                place[node] = count
                count += 1
                first = tree.first_child[node]
                for child in range(first, first + tree.num_children[node]):
                    place[child] = 0
        return count

    @compiled(owner, types.void(TREE, types.int64, types.int32[::1]))
    def keep(tree, root, place):
        count = number(tree, root, place)
        for old in range(root, tree.used[0]):
            new = place[old]
            if new < 0:
                continue
            parent = tree.num_children[old] > 0
            tree.first_child[new] = place[tree.first_child[old]] if parent else 0
            tree.num_children[new] = tree.num_children[old]
            tree.action[new] = tree.action[old]
            tree.weight[new] = tree.weight[old]
            tree.player[new] = tree.player[old]
            tree.mover[new] = tree.mover[old]
            tree.visits[new] = tree.visits[old]
            tree.total[new] = tree.total[old]
            tree.prior[new] = tree.prior[old]
            tree.level[new] = tree.level[old]
            tree.spread[new] = tree.spread[old]
            tree.exact[new] = tree.exact[old]
            tree.value[new] = tree.value[old]
        tree.used[0] = count

    return keep
