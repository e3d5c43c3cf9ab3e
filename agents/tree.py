"""A search tree of perfect information in arrays, and keeping a part of it."""

from functools import cache
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from agents.transpositions import TRANSPOSITIONS, keep_states
from cardcommons.compiled import compiled
from cardcommons.keytable import NOT_THERE
from cardcommons.treaty import TERMINAL, Kernel


class Tree(NamedTuple):
    """A search tree as a struct of arrays; node 0 is the root, children lie side by side.

    Each array has shape ``(capacity,)``.  A node's ``total`` and ``value`` are in the eyes of its
    *mover*: the player whose choice led to it (through chance, if chance lies between).  Nodes
    whose states have the same future may share their children: see :mod:`agents.transpositions`.
    """

    first_child: npt.NDArray[np.int32]
    """0 before expansion."""
    num_children: npt.NDArray[np.int32]
    row: npt.NDArray[np.int32]
    """That of its state among the transpositions, or ``NOT_THERE``."""
    key: npt.NDArray[np.uint64]
    """By which to find that row; meaningless before the first visit, or if nothing is shared."""
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
    """If not exact, the minimax of the estimates below, where the selection takes an interest; of
    what paths share, as it was at the last visit."""
    used: npt.NDArray[np.int64]
    """Shape ``(1,)``: how many nodes are in use."""


def make_tree(capacity: int) -> Tree:
    """An empty tree; memory is touched only as nodes come into use."""
    return Tree(
        first_child=np.empty(capacity, dtype=np.int32),
        num_children=np.empty(capacity, dtype=np.int32),
        row=np.empty(capacity, dtype=np.int32),
        key=np.empty(capacity, dtype=np.uint64),
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
    tree.row[node] = NOT_THERE
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


@register_jitable
def _mark(tree, root, place, stack):
    """Write 0 to ``place`` for each node that stays, -1 for the others."""
    for node in range(tree.used[0]):
        place[node] = -1
    place[root] = 0
    stack[0] = root
    height = 1
    while height:
        height -= 1
        node = stack[height]
        first = tree.first_child[node]
        count = tree.num_children[node]
        if count == 0 or place[first] == 0:
            continue
        for child in range(first, first + count):
            place[child] = 0
            if tree.num_children[child]:
                stack[height] = child
                height += 1


@register_jitable
def _number(tree, root, place):
    """Number the marked nodes: the root is 0, the others keep their order; returns how many."""
    count = 1
    for node in range(tree.used[0]):
        if place[node] == 0 and node != root:
            place[node] = count
            count += 1
    return count


@register_jitable
def _move(tree, old, new, place, rows):
    """Move a node to its new number."""
    row = tree.row[old]
    tree.first_child[new] = place[tree.first_child[old]] if tree.num_children[old] else 0
    tree.num_children[new] = tree.num_children[old]
    tree.row[new] = row if row == NOT_THERE else rows[row]
    tree.key[new] = tree.key[old]
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


@cache
def make_keep(owner: str) -> Kernel:
    """Compile ``(tree, states, root, place, work)``: keep what is below ``root`` as a whole tree.

    Nodes move to lower numbers in their order, so no second tree is needed; the new root takes the
    place of the old one, to which nothing leads back.  ``place`` and ``work`` are
    ``int32[capacity]``; ``states`` are the transpositions of the tree.
    """

    @compiled(
        owner, types.void(TREE, TRANSPOSITIONS, types.int64, types.int32[::1], types.int32[::1])
    )
    def keep(tree, states, root, place, work):
        _mark(tree, root, place, work)
        count = _number(tree, root, place)
        keep_states(states, place, work)
        _move(tree, root, 0, place, work)
        for old in range(1, tree.used[0]):
            if place[old] > 0:
                _move(tree, old, place[old], place, work)
        tree.used[0] = count

    return keep
