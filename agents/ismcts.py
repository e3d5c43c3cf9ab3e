"""Information-set Monte Carlo tree search, for games with hidden cards.

Cowling, Powley and Whitehouse, "Information set Monte Carlo tree search", IEEE Transactions on
Computational Intelligence and AI in Games 4(2), 2012: the single-observer variant.  One tree is
kept for the player who searches.  Each simulation first redraws what that player doesn't know,
then walks the tree by the actions that are legal in the redrawn state; an action's bound counts
how often it was available.  Chance makes a branch of the tree where the player sees its outcome,
and none where not.  Hidden cards themselves are never looked at.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import register_jitable

from agents.base import Agent, Candidate, Decision
from agents.budget import Budget, check_budget, check_exploration, check_nodes
from cardcommons import Game, State
from cardcommons.compiled import compiled
from cardcommons.playout import make_playout
from cardcommons.rng import below, weighted
from cardcommons.treaty import CHANCE, SCRATCH, TERMINAL, Kernel, Rules, make_scratch

_NONE = 0
"""No node: the root is nobody's child."""


class Tree(NamedTuple):
    """The searching player's tree as a struct of arrays of shape ``(capacity,)``; 0 is the root.

    A node's children are a linked list, since redrawn states bring ever new actions.
    """

    first_child: npt.NDArray[np.int32]
    next_sibling: npt.NDArray[np.int32]
    action: npt.NDArray[np.int32]
    """The action or outcome that leads here."""
    mover: npt.NDArray[np.int8]
    """Whose choice that was, or CHANCE."""
    visits: npt.NDArray[np.int32]
    available: npt.NDArray[np.int32]
    """In how many simulations the action could have been chosen."""
    total: npt.NDArray[np.float64]
    """The sum of the mover's utilities over the visits."""
    used: npt.NDArray[np.int64]
    """Shape ``(1,)``: how many nodes are in use."""


class Marks(NamedTuple):
    """Which actions are legal, and which have a node, at the decision looked at last."""

    legal: npt.NDArray[np.int64]
    """Shape ``(num_actions,)``: the number of the last decision at which it was."""
    found: npt.NDArray[np.int64]
    """Likewise."""
    decisions: npt.NDArray[np.int64]
    """Shape ``(1,)``: how many decisions were looked at."""


def make_tree(capacity: int) -> Tree:
    """An empty tree; memory is touched only as nodes come into use."""
    return Tree(
        first_child=np.empty(capacity, dtype=np.int32),
        next_sibling=np.empty(capacity, dtype=np.int32),
        action=np.empty(capacity, dtype=np.int32),
        mover=np.empty(capacity, dtype=np.int8),
        visits=np.empty(capacity, dtype=np.int32),
        available=np.empty(capacity, dtype=np.int32),
        total=np.empty(capacity, dtype=np.float64),
        used=np.zeros(1, dtype=np.int64),
    )


def make_marks(num_actions: int) -> Marks:
    """Marks of no decision yet."""
    return Marks(
        legal=np.zeros(num_actions, dtype=np.int64),
        found=np.zeros(num_actions, dtype=np.int64),
        decisions=np.zeros(1, dtype=np.int64),
    )


@register_jitable
def _plant(tree, parent, action, mover):
    """Add a child to ``parent``; returns it, or no node if there is no room."""
    node = tree.used[0]
    if node >= tree.action.size:
        return _NONE
    tree.used[0] = node + 1
    tree.first_child[node] = _NONE
    tree.next_sibling[node] = tree.first_child[parent] if node else _NONE
    tree.action[node] = action
    tree.mover[node] = mover
    tree.visits[node] = 0
    tree.available[node] = 0
    tree.total[node] = 0.0
    if node:
        tree.first_child[parent] = node
    return node


@register_jitable
def _seen_outcome(tree, node, outcome):
    """The child of ``node`` by an outcome of chance, or no node."""
    child = tree.first_child[node]
    while child != _NONE and (tree.action[child] != outcome or tree.mover[child] != CHANCE):
        child = tree.next_sibling[child]
    return child


@register_jitable
def _best_available(tree, node, marks, exploration):
    """The child with the highest bound among those that are legal now, and how many are.

    Counts them as available and marks them as found.
    """
    now = marks.decisions[0]
    best = _NONE
    best_bound = -np.inf
    count = 0
    child = tree.first_child[node]
    while child != _NONE:
        action = tree.action[child]
        if marks.legal[action] == now:
            marks.found[action] = now
            count += 1
            tree.available[child] += 1
            visits = tree.visits[child]
            spread = math.sqrt(math.log(tree.available[child]) / visits)
            bound = tree.total[child] / visits + exploration * spread
            if bound > best_bound:
                best, best_bound = child, bound
        child = tree.next_sibling[child]
    return best, count


@register_jitable
def _unfound(moves, n, marks, missing, rng):
    """A random one of the ``missing`` legal moves that have no node yet."""
    now = marks.decisions[0]
    skip = below(rng, missing)
    for i in range(n):
        if marks.found[moves[i]] != now:
            if skip == 0:
                return moves[i]
            skip -= 1
    return moves[0]


@cache
def make_simulate(rules: Rules) -> Kernel:
    """Compile ``(tree, root, n, exploration, rng, scratch, marks, path, result)``.

    Runs ``n`` simulations for the player to move in ``root``; ``path`` is
    ``int64[max_length + 1]`` and ``result`` ``float64[num_players]``.
    """
    to_move, legal, chance, apply = rules.to_move, rules.legal, rules.chance, rules.apply
    payoff, info_key, resample = rules.payoff, rules.info_key, rules.resample
    playout = make_playout(rules)
    num_words, num_players = rules.num_words, rules.num_players

    @register_jitable
    def draw(tree, node, s, me, rng, scratch):
        """Let chance move; the node it leads to: ``node`` itself if the player sees nothing."""
        moves = scratch.moves[0]
        outcome = moves[weighted(rng, scratch.weight, chance(s, moves, scratch.weight))]
        before = info_key(s, me)
        apply(s, outcome)
        if info_key(s, me) == before:
            return node
        child = _seen_outcome(tree, node, outcome)
        return child if child != _NONE else _plant(tree, node, outcome, CHANCE)

    @register_jitable
    def choose(tree, node, s, player, exploration, rng, moves, marks):
        """Let a player move; the node it leads to, or no node without room for a new one."""
        n = legal(s, moves)
        marks.decisions[0] += 1
        for i in range(n):
            marks.legal[moves[i]] = marks.decisions[0]
        child, count = _best_available(tree, node, marks, exploration)
        if count < n:
            action = _unfound(moves, n, marks, n - count, rng)
            child = _plant(tree, node, action, player)
            if child != _NONE:
                tree.available[child] = 1
            apply(s, action)
        else:
            apply(s, np.int64(tree.action[child]))
        return child

    @register_jitable
    def descend(tree, s, me, exploration, rng, scratch, marks, path):
        """Walk ``s`` to a leaf, new in the tree by one decision at most; returns its depth."""
        depth = 0
        node = 0
        player = to_move(s)
        while player != TERMINAL:
            if player == CHANCE:
                child = draw(tree, node, s, me, rng, scratch)
            else:
                child = choose(tree, node, s, player, exploration, rng, scratch.moves[0], marks)
            if child == _NONE:
                return depth
            if child != node:
                depth += 1
                path[depth] = child
                node = child
            if player != CHANCE and tree.visits[node] == 0:
                return depth
            player = to_move(s)
        return depth

    @compiled(
        rules.name,
        types.void(
            numba.typeof(make_tree(1)),
            types.uint64[::1],
            types.int64,
            types.float64,
            types.uint64[::1],
            SCRATCH,
            numba.typeof(make_marks(1)),
            types.int64[::1],
            types.float64[::1],
        ),
    )
    def simulate(tree, root, n, exploration, rng, scratch, marks, path, result):
        s = scratch.words[0]
        me = to_move(root)
        for _ in range(n):
            for i in range(num_words):
                s[i] = root[i]
            resample(s, me, rng)
            depth = descend(tree, s, me, exploration, rng, scratch, marks, path)
            playout(s, rng, scratch.moves[0], scratch.weight)
            for player in range(num_players):
                result[player] = payoff(s, player)
            for i in range(depth + 1):
                node = path[i]
                tree.visits[node] += 1
                if tree.mover[node] >= 0:
                    tree.total[node] += result[tree.mover[node]]

    return simulate


@dataclass(frozen=True)
class ISMCTSOptions:
    """How much and how to search.

    Attributes:
        sims: simulations a move, or ``None`` for no such limit.
        time: seconds a move, or ``None``; with neither, 1000 simulations.
        c: exploration, in units of half the range of utilities.
        nodes: the most nodes a tree may hold; a full tree still learns, but grows no more.
    """

    sims: int | None = None
    time: float | None = None
    c: float = 1.0
    nodes: int = 1_000_000

    def __post_init__(self) -> None:
        check_budget("ismcts", sims=self.sims, time=self.time)
        check_exploration("ismcts", self.c)
        check_nodes("ismcts", self.nodes)


class ISMCTSAgent(Agent):
    """Plays the most visited action."""

    name = "ismcts"
    Options = ISMCTSOptions
    _CHUNK = 64

    def __init__(self, game: Game, options: ISMCTSOptions | None = None) -> None:
        super().__init__(game, options)
        self.options: ISMCTSOptions
        rules = game.rules
        self._simulate = make_simulate(rules)
        self._tree = make_tree(self.options.nodes)
        self._scratch = make_scratch(rules)
        self._path = np.zeros(rules.max_length + 1, dtype=np.int64)
        self._result = np.zeros(rules.num_players, dtype=np.float64)

    def choose(self, state: State) -> Decision:
        rules = self.game.rules
        exploration = self.options.c * (rules.max_utility - rules.min_utility) / 2
        marks = make_marks(rules.num_actions)
        self._tree.used[0] = 0
        _plant(self._tree, 0, -1, CHANCE)
        budget = Budget.of_simulations(self.options.sims, self.options.time)
        done = 0
        while chunk := budget.chunk(done, self._CHUNK):
            self._simulate(
                self._tree,
                state.words,
                chunk,
                exploration,
                self.rng,
                self._scratch,
                marks,
                self._path,
                self._result,
            )
            done += chunk
        return self._decision(done)

    def _ranked(self) -> list[int]:
        """The children of the root, the most visited first."""
        tree, children = self._tree, []
        child = int(tree.first_child[0])
        while child != _NONE:
            children.append(child)
            child = int(tree.next_sibling[child])
        return sorted(children, key=lambda child: (-int(tree.visits[child]), child))

    def _value(self, node: int) -> float:
        visits = int(self._tree.visits[node])
        return float(self._tree.total[node]) / visits if visits else 0.0

    def _decision(self, done: int) -> Decision:
        tree = self._tree
        order = self._ranked()
        return Decision(
            action=int(tree.action[order[0]]),
            value=self._value(order[0]),
            principal_variation=(int(tree.action[order[0]]),),
            candidates=tuple(
                Candidate(
                    int(tree.action[child]), self._value(child), int(tree.visits[child]), "mean"
                )
                for child in order
            ),
            work={"simulations": done, "nodes": int(tree.used[0])},
        )
