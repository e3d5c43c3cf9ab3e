"""Monte Carlo tree search: UCT with proven values.

Kocsis and Szepesvári, "Bandit based Monte-Carlo planning", ECML 2006 (UCT); Winands, Björnsson and
Saito, "Monte-Carlo tree search solver", CG 2008 (proven values), extended here from wins to any
utility and to chance.  The backup is max^n, so any number of players may take part.
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
from cardcommons.state import make_verb
from cardcommons.treaty import CHANCE, SCRATCH, TERMINAL, Kernel, Rules, make_scratch


class Tree(NamedTuple):
    """A search tree as a struct of arrays; node 0 is the root, children lie side by side.

    Each array has shape ``(capacity,)``.  A node's ``total`` and ``value`` are in the eyes of its
    *mover*: the player whose choice led to it (through chance, if chance lies between).
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
        exact=np.empty(capacity, dtype=np.bool_),
        value=np.empty(capacity, dtype=np.float64),
        used=np.zeros(1, dtype=np.int64),
    )


_TREE = numba.typeof(make_tree(1))


@register_jitable
def _plant(tree, node, action, weight, mover):
    """Make ``node`` a fresh leaf."""
    tree.first_child[node] = 0
    tree.num_children[node] = 0
    tree.action[node] = action
    tree.weight[node] = weight
    tree.player[node] = TERMINAL
    tree.mover[node] = mover
    tree.visits[node] = 0
    tree.total[node] = 0.0
    tree.exact[node] = False
    tree.value[node] = 0.0


@register_jitable
def _shuffle(moves, n, rng):
    for i in range(n - 1, 0, -1):
        j = below(rng, i + 1)
        moves[i], moves[j] = moves[j], moves[i]


@register_jitable
def _draw_child(tree, node, rng):
    """A child of a chance node, by weight."""
    first = tree.first_child[node]
    last = first + tree.num_children[node]
    return first + weighted(rng, tree.weight[first:last], last - first)


@register_jitable
def _select(tree, node, exploration):
    """The child with the highest upper confidence bound; an unvisited one comes first.

    A child of known value needs no exploring.
    """
    first = tree.first_child[node]
    log_visits = math.log(tree.visits[node] + 1.0)
    best = first
    best_bound = -np.inf
    for child in range(first, first + tree.num_children[node]):
        visits = tree.visits[child]
        if tree.exact[child]:
            bound = tree.value[child]
        elif visits == 0:
            return child
        else:
            bound = tree.total[child] / visits + exploration * math.sqrt(log_visits / visits)
        if bound > best_bound:
            best, best_bound = child, bound
    return best


@cache
def make_simulate(rules: Rules) -> Kernel:
    """Compile ``(tree, root, n, exploration, rng, scratch, path, result) -> done``.

    Runs up to ``n`` simulations, fewer if the root gets solved.  ``tree`` grows in place; ``root``
    holds the words of node 0; ``exploration`` is in utilities; ``path`` is
    ``int64[max_length + 1]`` and ``result`` ``float64[num_players]``.
    """
    to_move, legal, chance, apply = rules.to_move, rules.legal, rules.chance, rules.apply
    payoff = rules.payoff
    playout = make_playout(rules)
    num_words, num_players, best_utility = rules.num_words, rules.num_players, rules.max_utility
    # Only what one player loses to the other tells a value from both sides.
    solvable = rules.num_players == 1 or (rules.num_players == 2 and rules.zero_sum)

    @register_jitable
    def expand(tree, node, s, moves, weight, rng):
        """Give ``node`` its children, in random order, if there is room."""
        player = tree.player[node]
        if player == CHANCE:
            n = chance(s, moves, weight)
        else:
            n = legal(s, moves)
            _shuffle(moves, n, rng)
        begin = tree.used[0]
        if begin + n > tree.action.size:
            return
        mover = tree.mover[node] if player == CHANCE else player
        for i in range(n):
            _plant(tree, begin + i, moves[i], weight[i] if player == CHANCE else 1, mover)
        tree.first_child[node] = begin
        tree.num_children[node] = n
        tree.used[0] = begin + n

    @register_jitable
    def in_eyes_of(value, player, other):
        return value if player == other else -value

    @register_jitable
    def prove(tree, node):
        """Settle ``node`` if its children settle it; says whether they do.

        A decision is settled by one child of the highest utility, or by all its children;
        chance by all its outcomes.
        """
        player = tree.player[node]
        first = tree.first_child[node]
        last = first + tree.num_children[node]
        best = -np.inf
        mean = 0.0
        weights = 0.0
        settled = True
        for child in range(first, last):
            if tree.exact[child]:
                best = max(best, tree.value[child])
                mean += tree.weight[child] * tree.value[child]
                weights += tree.weight[child]
            else:
                settled = False
        if player == CHANCE:
            if settled:
                tree.value[node] = mean / weights
        elif settled or best >= best_utility:
            settled = True
            tree.value[node] = in_eyes_of(best, player, tree.mover[node])
        tree.exact[node] = settled
        return settled

    @register_jitable
    def descend(tree, s, path, exploration, rng, moves, weight):
        """Walk ``s`` from the root to a leaf, growing the tree by a node; returns its depth."""
        depth = 0
        node = 0
        while not tree.exact[node]:
            if tree.first_child[node] == 0:
                if node != 0 and tree.visits[node] == 0:
                    break
                expand(tree, node, s, moves, weight, rng)
                if tree.first_child[node] == 0:
                    break
            if tree.player[node] == CHANCE:
                child = _draw_child(tree, node, rng)
            else:
                child = _select(tree, node, exploration)
            apply(s, np.int64(tree.action[child]))
            depth += 1
            path[depth] = child
            node = child
            if tree.visits[node] == 0:
                tree.player[node] = to_move(s)
                if tree.player[node] == TERMINAL:
                    tree.exact[node] = True
                    tree.value[node] = payoff(s, tree.mover[node])
        return depth

    @register_jitable
    def evaluate(tree, node, s, result, rng, moves, weight):
        """Write a utility for each player: the known one, or that of a random playout."""
        if tree.exact[node] and tree.player[node] != TERMINAL:
            for player in range(num_players):
                result[player] = in_eyes_of(tree.value[node], tree.mover[node], player)
            return
        playout(s, rng, moves, weight)
        for player in range(num_players):
            result[player] = payoff(s, player)

    @compiled(
        rules.name,
        types.int64(
            _TREE,
            types.uint64[::1],
            types.int64,
            types.float64,
            types.uint64[::1],
            SCRATCH,
            types.int64[::1],
            types.float64[::1],
        ),
    )
    def simulate(tree, root, n, exploration, rng, scratch, path, result):
        s, moves, weight = scratch.words[0], scratch.moves[0], scratch.weight
        done = 0
        while done < n and not tree.exact[0]:
            for i in range(num_words):
                s[i] = root[i]
            depth = descend(tree, s, path, exploration, rng, moves, weight)
            proven = solvable and tree.exact[path[depth]]
            evaluate(tree, path[depth], s, result, rng, moves, weight)
            for i in range(depth, -1, -1):
                node = path[i]
                tree.visits[node] += 1
                tree.total[node] += result[tree.mover[node]]
                if proven and i < depth:
                    proven = prove(tree, node)
            done += 1
        return done

    return simulate


@cache
def make_transplant(owner: str) -> Kernel:
    """Compile ``(tree, node, other, origin)``: copy the subtree under ``node`` to ``other``.

    What ``other`` held is lost; ``origin`` is ``int32[capacity]``.
    """

    @compiled(owner, types.void(_TREE, types.int64, _TREE, types.int32[::1]))
    def transplant(tree, node, other, origin):
        origin[0] = node
        used = 1
        copied = 0
        while copied < used:
            old = origin[copied]
            other.num_children[copied] = tree.num_children[old]
            other.action[copied] = tree.action[old]
            other.weight[copied] = tree.weight[old]
            other.player[copied] = tree.player[old]
            other.mover[copied] = tree.mover[old]
            other.visits[copied] = tree.visits[old]
            other.total[copied] = tree.total[old]
            other.exact[copied] = tree.exact[old]
            other.value[copied] = tree.value[old]
            other.first_child[copied] = used if tree.num_children[old] > 0 else 0
            for i in range(tree.num_children[old]):
                origin[used] = tree.first_child[old] + i
                used += 1
            copied += 1
        other.used[0] = used

    return transplant


@dataclass(frozen=True)
class MCTSOptions:
    """How much and how to search.

    Attributes:
        sims: simulations a move, or ``None`` for no such limit.
        time: seconds a move, or ``None``; with neither, 1000 simulations.
        c: exploration, in units of half the range of utilities.
        nodes: the most nodes a tree may hold; a full tree still learns, but grows no more.
        reuse: keep the part of the tree that the game has moved into.
    """

    sims: int | None = None
    time: float | None = None
    c: float = 1.0
    nodes: int = 1_000_000
    reuse: bool = True

    def __post_init__(self) -> None:
        check_budget("mcts", sims=self.sims, time=self.time)
        check_exploration("mcts", self.c)
        check_nodes("mcts", self.nodes)


class MCTSAgent(Agent):
    """UCT; chooses the most visited action, or a proven one."""

    name = "mcts"
    Options = MCTSOptions
    _CHUNK = 64

    def __init__(self, game: Game, options: MCTSOptions | None = None) -> None:
        super().__init__(game, options)
        self.options: MCTSOptions
        if game.has_hidden_information:
            raise ValueError(
                f"mcts needs perfect information, and {game.name} has hidden information"
            )
        self._simulate = make_simulate(game.rules)
        self._transplant = make_transplant(game.name)
        self._tree = make_tree(self.options.nodes)
        self._spare = make_tree(self.options.nodes)
        self._origin = np.empty(self.options.nodes, dtype=np.int32)
        self._scratch = make_scratch(game.rules)
        self._path = np.zeros(game.rules.max_length + 1, dtype=np.int64)
        self._result = np.zeros(game.rules.num_players, dtype=np.float64)
        self._root: State | None = None
        self._played: list[int] = []

    def restart(self, seed: int) -> None:
        super().restart(seed)
        self._root = None
        self._played = []

    def inform(self, action: int) -> None:
        self._played.append(action)

    def choose(self, state: State) -> Decision:
        self._move_root(state)
        done = self._search(state)
        self._root, self._played = state.copy(), []
        return self._decision(done)

    def _search(self, state: State) -> int:
        utilities = self.game.rules.max_utility - self.game.rules.min_utility
        exploration = self.options.c * utilities / 2
        budget = Budget.of_simulations(self.options.sims, self.options.time)
        done = 0
        while chunk := budget.chunk(done, self._CHUNK):
            done += self._simulate(
                self._tree,
                state.words,
                chunk,
                exploration,
                self.rng,
                self._scratch,
                self._path,
                self._result,
            )
            if self._tree.exact[0]:
                break
        return done

    def _move_root(self, state: State) -> None:
        """Make node 0 stand for ``state``: a node of the old tree if it is there, or a new one."""
        node = self._find(state) if self.options.reuse else None
        if node is None:
            self._tree.used[0] = 1
            _plant(self._tree, 0, -1, 1, state.player)
        elif node:
            self._transplant(self._tree, node, self._spare, self._origin)
            self._tree, self._spare = self._spare, self._tree
        self._see_root_as(state.player)

    def _see_root_as(self, player: int) -> None:
        """A reused root was seen by the player who moved into it; now it is seen by its own."""
        tree = self._tree
        if tree.mover[0] != player:
            tree.value[0] = -tree.value[0]
        tree.player[0] = tree.mover[0] = player

    def _find(self, state: State) -> int | None:
        """The node that the actions played since the last search lead to, if it is ``state``."""
        if self._root is None:
            return None
        node, seen = 0, self._root.words.copy()
        apply = make_verb(self.game.rules, "apply")
        for action in self._played:
            first, count = int(self._tree.first_child[node]), int(self._tree.num_children[node])
            found = np.flatnonzero(self._tree.action[first : first + count] == action)
            if found.size == 0:
                return None
            node = first + int(found[0])
            apply(seen, action)
        same = np.array_equal(seen, state.words) and self._tree.visits[node] > 0
        return node if same else None

    def _decision(self, done: int) -> Decision:
        tree = self._tree
        order = self._ranked(0)
        line, node = [], 0
        while tree.num_children[node] and tree.visits[node]:
            node = self._ranked(node)[0] if tree.player[node] != CHANCE else 0
            if node == 0 or not (tree.visits[node] or tree.exact[node]):
                break
            line.append(int(tree.action[node]))
        best = order[0]
        return Decision(
            action=int(tree.action[best]),
            value=self._value(best),
            principal_variation=tuple(line),
            candidates=tuple(
                Candidate(
                    int(tree.action[child]),
                    self._value(child),
                    int(tree.visits[child]),
                    "exact" if tree.exact[child] else "mean",
                )
                for child in order
            ),
            proven=bool(tree.exact[0]),
            work={"simulations": done, "nodes": int(tree.used[0])},
        )

    def _value(self, node: int) -> float:
        tree = self._tree
        if tree.exact[node]:
            return float(tree.value[node])
        return float(tree.total[node] / tree.visits[node]) if tree.visits[node] else 0.0

    def _ranked(self, node: int) -> list[int]:
        """The children, best first: a proven best, then by visits, proven losses last."""
        tree, rules = self._tree, self.game.rules

        def merit(child: int) -> tuple[float, float, float]:
            value = self._value(child)
            if tree.exact[child] and (value >= rules.max_utility or tree.exact[node]):
                return (1.0, value, 0.0)
            if tree.exact[child] and value <= rules.min_utility:
                return (-1.0, 0.0, 0.0)
            return (0.0, float(tree.visits[child]), value)

        first = int(tree.first_child[node])
        return sorted(range(first, first + int(tree.num_children[node])), key=merit, reverse=True)
