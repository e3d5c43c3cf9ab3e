"""Monte Carlo tree search: UCT or PUCT with proven values.

Winands, Björnsson and Saito, "Monte-Carlo tree search solver", CG 2008 (proven values), extended
here from wins to any utility and to chance; Chaslot, Winands and van den Herik, "Parallel
Monte-Carlo tree search", CG 2008 (a tree for each thread, roots added up); Lanctot et al.,
"Monte Carlo tree search with heuristic evaluations using implicit minimax backups", CIG 2014 (a
trap shows in the minimax of the estimates long before it shows in a mean).  The backup of results
is max^n, so any number of players may take part.  How children are picked: see
:mod:`agents.selection`; how paths to one state share what is learned there:
:mod:`agents.transpositions`.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import types
from numba.extending import register_jitable

from agents.base import Decision
from agents.budget import Budget, check_hidden
from agents.judging import LEARNED, Learned, make_foresee, make_rollout
from agents.root_parallel import RootParallelAgent
from agents.selection import (
    SELECTION,
    Selection,
    TreeOptions,
    effort_of,
    level_of,
    prior_of,
    shuffle,
    spread_of,
)
from agents.tally import Found, Tally
from agents.transpositions import (
    TRANSPOSITIONS,
    enter_state,
    forget,
    make_transpositions,
    translated,
    with_room,
)
from agents.tree import TREE, make_keep, make_tree, plant
from cardcommons import Game, State
from cardcommons.compiled import compiled
from cardcommons.keytable import NOT_THERE, find_row, seated
from cardcommons.rng import make_rng, weighted
from cardcommons.state import make_verb
from cardcommons.treaty import (
    CHANCE,
    SCRATCH,
    TERMINAL,
    Kernel,
    Rules,
    Words,
    copy_words,
    make_scratch,
)

_IMPLICIT = 0.5
"""The weight that PUCT gives to the minimax of estimates unless told otherwise."""


@register_jitable
def _draw_child(tree, node, rng):
    """A child of a chance node, by weight."""
    first = tree.first_child[node]
    last = first + tree.num_children[node]
    return first + weighted(rng, tree.weight[first:last], last - first)


@register_jitable
def _sum_children(tree, node):
    """(visits, total) of all children together."""
    first = tree.first_child[node]
    visits = 0
    total = 0.0
    for child in range(first, first + tree.num_children[node]):
        visits += tree.visits[child]
        total += tree.total[child]
    return visits, total


@register_jitable
def _rate(tree, node, how):
    """Bring a node's part of its bound up to date.

    A child of known value needs no exploring, and one of the highest utility no comparing.
    """
    if tree.exact[node]:
        value = tree.value[node]
        tree.level[node] = value if value < how.highest else np.inf
        tree.spread[node] = 0.0
        return
    visits, prior = tree.visits[node], tree.prior[node]
    tree.level[node] = level_of(how, visits, tree.total[node], prior, tree.value[node])
    tree.spread[node] = spread_of(how, visits, prior)


@register_jitable
def _share_out(tree, first, last):
    """Make the priors of siblings add up to 1."""
    priors = 0.0
    for child in range(first, last):
        priors += tree.prior[child]
    for child in range(first, last):
        tree.prior[child] /= priors


@register_jitable
def _select(tree, node, how):
    """The child with the highest upper confidence bound.

    To children that are shared, more simulations came than to this parent.
    """
    visits, total = tree.visits[node], 0.0
    if how.compares or tree.row[node] >= 0:
        visits, total = _sum_children(tree, node)
    effort = effort_of(how, visits)
    mean = (1.0 - how.implicit) * total / max(visits, 1)
    first = tree.first_child[node]
    best = first
    best_bound = -np.inf
    for child in range(first, first + tree.num_children[node]):
        bound = tree.level[child] + tree.spread[child] * effort
        if how.compares and tree.visits[child] == 0 and not tree.exact[child]:
            bound += mean
        if bound > best_bound:
            if bound == np.inf:
                return child
            best, best_bound = child, bound
    return best


@cache
def make_simulate(rules: Rules, shares: bool) -> Kernel:
    """Compile ``(tree, states, root, n, how, rng, scratch, learned, path, result) -> done``.

    Runs up to ``n`` simulations, fewer if the root gets solved.  ``tree`` grows in place, as do its
    ``states``, the :class:`Transpositions`; ``root`` holds the words of node 0; ``how`` is a
    :class:`Selection`; ``scratch`` has two rows; ``learned`` is :class:`agents.judging.Learned`;
    ``path`` is ``int64[max_length + 1]`` and ``result`` ``float64[num_players]``.  ``shares`` says
    whether there is to be anything in ``states``, which is compiled in.
    """
    to_move, legal, chance, apply = rules.to_move, rules.legal, rules.chance, rules.apply
    payoff, state_key = rules.payoff, rules.state_key
    rollout, foresee = make_rollout(rules), make_foresee(rules)
    num_words, num_players = rules.num_words, rules.num_players
    opposed = rules.opposed

    @register_jitable
    def inform(tree, node, s, how, ahead):
        """Give the children of a decision their priors; those that end the game, their values."""
        player = np.int64(tree.player[node])
        first = tree.first_child[node]
        for child in range(first, first + tree.num_children[node]):
            over, value = foresee(s, np.int64(tree.action[child]), player, ahead)
            tree.prior[child] = prior_of(how, value)
            tree.exact[child] = over
            tree.value[child] = value
        if how.puct:
            _share_out(tree, first, first + tree.num_children[node])

    @register_jitable
    def grow(tree, node, s, how, rng, scratch):
        """Give ``node`` children of its own, in random order, if there is room."""
        moves, weight = scratch.moves[0], scratch.weight
        player = tree.player[node]
        if player == CHANCE:
            n = chance(s, moves, weight)
        else:
            n = legal(s, moves)
            shuffle(moves, n, rng)
        begin = tree.used[0]
        if begin + n > tree.action.size:
            return
        mover = tree.mover[node] if player == CHANCE else player
        for i in range(n):
            plant(tree, begin + i, moves[i], weight[i] if player == CHANCE else 1, mover)
            tree.value[begin + i] = tree.value[node]
        tree.first_child[node] = begin
        tree.num_children[node] = n
        tree.used[0] = begin + n
        if how.informed and player != CHANCE:
            inform(tree, node, s, how, scratch.words[1])
        for child in range(begin, begin + n):
            _rate(tree, child, how)

    if shares:

        @register_jitable
        def identify(tree, states, node, s):
            """Note by what to find the node's state.

            Its statistics are of use only to nodes with the same mover.
            """
            tree.key[node] = seated(state_key(s), np.int64(tree.mover[node]))

        @register_jitable
        def take(tree, states, node, s):
            """Let ``node`` share the children of its state, if it has any; says whether it has.

            The words to go on from are then those that the children were listed for.
            """
            row = find_row(states.table, tree.key[node])
            if row < 0:
                return False
            tree.first_child[node] = states.first_child[row]
            tree.num_children[node] = states.num_children[row]
            tree.row[node] = row
            copy_words(s, states.words[row], num_words)
            return True

        @register_jitable
        def give(tree, states, node, s):
            """Let other nodes share the children of this one."""
            if tree.num_children[node]:
                first, count = tree.first_child[node], tree.num_children[node]
                tree.row[node] = enter_state(states, tree.key[node], first, count)
                if tree.row[node] >= 0:
                    copy_words(states.words[tree.row[node]], s, num_words)

        @register_jitable
        def go(tree, states, child, s):
            """Move ``s`` on to a child, in the words in which its state is known, if it is."""
            row = np.int64(tree.row[child])
            if row >= 0:
                copy_words(s, states.words[row], num_words)
            else:
                apply(s, np.int64(tree.action[child]))

    else:

        @register_jitable
        def identify(tree, states, node, s):
            """Nothing is looked up."""

        @register_jitable
        def take(tree, states, node, s):
            return False

        @register_jitable
        def give(tree, states, node, s):
            """Nothing is shared."""

        @register_jitable
        def go(tree, states, child, s):
            apply(s, np.int64(tree.action[child]))

    @register_jitable
    def expand(tree, states, node, s, how, rng, scratch):
        """Give ``node`` its children: those of its state, or new ones if there is room."""
        if not take(tree, states, node, s):
            grow(tree, node, s, how, rng, scratch)
            give(tree, states, node, s)

    @register_jitable
    def arrive(tree, states, node, s):
        """Look at a state to which this path leads for the first time."""
        tree.player[node] = to_move(s)
        if tree.player[node] == TERMINAL:
            tree.exact[node] = True
            tree.value[node] = payoff(s, tree.mover[node])
        else:
            identify(tree, states, node, s)
            take(tree, states, node, s)

    @register_jitable
    def in_eyes_of(value, player, other):
        return value if player == other else -value

    @register_jitable
    def back_up(tree, node, how):
        """Bring the value of ``node`` up to date; says whether its parent's may change by that.

        A decision is settled by one child of the highest utility, or by all its children;
        chance by all its outcomes.
        """
        player, before = tree.player[node], tree.value[node]
        first = tree.first_child[node]
        best = -np.inf
        mean = 0.0
        weights = 0.0
        settled = True
        won = False
        for child in range(first, first + tree.num_children[node]):
            value = tree.value[child]
            best = max(best, value)
            mean += tree.weight[child] * value
            weights += tree.weight[child]
            settled &= tree.exact[child]
            won |= tree.exact[child] and value >= how.highest
        if player == CHANCE:
            tree.value[node] = mean / weights
        else:
            settled |= won
            tree.value[node] = in_eyes_of(best, player, tree.mover[node])
        tree.exact[node] = settled and how.solve
        return tree.exact[node] or (how.implicit > 0.0 and tree.value[node] != before)

    @register_jitable
    def descend(tree, states, s, path, how, rng, scratch):
        """Walk ``s`` from the root to a leaf, growing the tree by a node; returns its depth."""
        depth = 0
        node = 0
        while not tree.exact[node]:
            if tree.first_child[node] == 0:
                if node != 0 and tree.visits[node] == 0:
                    break
                expand(tree, states, node, s, how, rng, scratch)
                if tree.first_child[node] == 0:
                    break
            if tree.player[node] == CHANCE:
                child = _draw_child(tree, node, rng)
            else:
                child = _select(tree, node, how)
            go(tree, states, child, s)
            depth += 1
            path[depth] = child
            node = child
            if tree.visits[node] == 0:
                arrive(tree, states, node, s)
        return depth

    @register_jitable
    def evaluate(tree, node, s, how, learned, result, rng, scratch):
        """Write a utility for each player: the known one, or that of a playout."""
        if tree.exact[node] and tree.player[node] != TERMINAL:
            for player in range(num_players):
                result[player] = in_eyes_of(tree.value[node], tree.mover[node], player)
            return
        rollout(s, how.cutoff, how.tries, rng, scratch, learned, result)

    @compiled(
        rules.name,
        types.int64(
            TREE,
            TRANSPOSITIONS,
            types.uint64[::1],
            types.int64,
            SELECTION,
            types.uint64[::1],
            SCRATCH,
            LEARNED,
            types.int64[::1],
            types.float64[::1],
        ),
    )
    def simulate(tree, states, root, n, how, rng, scratch, learned, path, result):
        s = scratch.words[0]
        done = 0
        if tree.first_child[0] == 0:
            identify(tree, states, 0, root)
        while done < n and not tree.exact[0]:
            copy_words(s, root, num_words)
            depth = descend(tree, states, s, path, how, rng, scratch)
            known = how.solve and tree.exact[path[depth]]
            changed = opposed and (known or how.implicit > 0.0)
            evaluate(tree, path[depth], s, how, learned, result, rng, scratch)
            for i in range(depth, -1, -1):
                node = path[i]
                tree.visits[node] += 1
                tree.total[node] += result[tree.mover[node]]
                if changed and i < depth:
                    # What is shared may have changed along other paths.
                    changed = back_up(tree, node, how) or shares
                _rate(tree, node, how)
            done += 1
        return done

    return simulate


class _Searcher:
    """A tree with all that it takes to grow it: what each thread has for itself."""

    CHUNK = 64

    def __init__(self, game: Game, options: "MCTSOptions") -> None:
        rules = game.rules
        self.game = game
        self.how = Selection.of(
            options, rules, not options.determinizations, options.minimax_weight(game)
        )
        self.simulate = make_simulate(rules, options.transpositions)
        self.keep = make_keep(game.name)
        self.tree = make_tree(options.nodes)
        self.most_states = options.nodes // 4 if options.transpositions else 0
        self.states = make_transpositions(0, rules.num_words)
        self.place, self.work = np.empty((2, options.nodes), dtype=np.int32)
        self.rng = make_rng(0)
        self.scratch = make_scratch(rules, 2)
        self.learned = Learned.of(game)
        self.path = np.zeros(rules.max_length + 1, dtype=np.int64)
        self.result = np.zeros(rules.num_players, dtype=np.float64)
        self.root: Words = game.start
        self.known: Words = game.start
        """The root as the tree knows it: where paths share states, that can be an image of it."""

    def begin(self, state: State) -> None:
        """Begin a new tree at a state."""
        self.tree.used[0] = 1
        plant(self.tree, 0, -1, 1, state.player)
        self.tree.player[0] = state.player
        forget(self.states)
        self.root = self.known = state.words.copy()

    def actions(self, node: int, known: Words, seen: Words) -> list[int]:
        """The actions that lead to the children of a node, as its state ``seen`` has them.

        ``known`` is the same state as the tree has it.
        """
        first, count = int(self.tree.first_child[node]), int(self.tree.num_children[node])
        actions: list[int] = self.tree.action[first : first + count].tolist()
        return translated(self.game, known, actions, seen)

    def child(
        self, node: int, known: Words, seen: Words, action: int
    ) -> tuple[int, Words, Words] | None:
        """Where an action of ``seen`` leads: the node, and its state as known and as seen."""
        actions = self.actions(node, known, seen)
        if action not in actions:
            return None
        child = int(self.tree.first_child[node]) + actions.index(action)
        seen, row = self._after(seen, action), int(self.tree.row[child])
        if row != NOT_THERE:
            return child, self.states.words[row].copy(), seen
        return child, self._after(known, int(self.tree.action[child])), seen

    def _after(self, words: Words, action: int) -> Words:
        after = words.copy()
        make_verb(self.game.rules, "apply")(after, action)
        return after

    def follow(self, played: list[int], wanted: State) -> bool:
        """Move the root along what was ``played``; whether that leads to ``wanted``.

        A reused root was seen by the player who moved into it; now it is seen by its own.
        """
        tree, node, known, seen = self.tree, 0, self.known, self.root
        for action in played:
            found = self.child(node, known, seen, action)
            if found is None:
                return False
            node, known, seen = found
        if not np.array_equal(seen, wanted.words) or tree.visits[node] == 0:
            return False
        self.keep(tree, self.states, node, self.place, self.work)
        self.root, self.known = seen, known
        if tree.mover[0] != wanted.player:
            tree.value[0] = -tree.value[0]
        tree.player[0] = tree.mover[0] = wanted.player
        return True

    def search(self, budget: Budget) -> Tally:
        """Grow the tree for as long as the budget allows."""
        done = 0
        while chunk := budget.chunk(done, self.CHUNK):
            # A simulation can enter several states, but seldom does it enter one.
            self.states = with_room(self.states, 2 * chunk, self.most_states)
            done += self.simulate(
                self.tree,
                self.states,
                self.known,
                chunk,
                self.how,
                self.rng,
                self.scratch,
                self.learned,
                self.path,
                self.result,
            )
            if self.tree.exact[0]:
                break
        return self.tally(0, self.known, self.root, done)

    def tally(self, node: int, known: Words, seen: Words, done: int) -> Tally:
        """What was found of the actions at a node; see :meth:`actions`."""
        tree = self.tree
        actions = {
            action: Found(
                int(tree.visits[child]),
                float(tree.total[child]),
                float(tree.value[child]) if tree.exact[child] else None,
            )
            for child, action in enumerate(
                self.actions(node, known, seen), int(tree.first_child[node])
            )
        }
        return Tally(actions, bool(tree.exact[node]), done, int(tree.used[0]))

    def line(self, action: int) -> tuple[int, ...]:
        """What is expected after ``action`` at the root."""
        tree, line, node, known, seen = self.tree, [action], 0, self.known, self.root
        while found := self.child(node, known, seen, line[-1]):
            node, known, seen = found
            if tree.player[node] < 0 or not tree.num_children[node]:
                break
            best, told = self.tally(node, known, seen, 0).ranked(self.game.rules)[0]
            if not told.visits and told.exact is None:
                break
            line.append(best)
        return tuple(line[1:])


@dataclass(frozen=True)
class MCTSOptions(TreeOptions):
    """How much and how to search; see also :class:`agents.selection.TreeOptions`.

    Attributes:
        determinizations: with hidden information, how many times to redraw all that is hidden and
            search as if it were known; the visits of all searches are added up. Redraws for
            which there is no time left are left out.
        cheat: with hidden information, look at all that is hidden.
        implicit: the weight that the minimax of the estimates below has in what a child is worth
            to the selection, beside the mean of its simulations. If nothing is said, PUCT takes
            0.5 where two players oppose each other without chance, and otherwise it is 0, as it
            always is where one player's loss is not the other's gain.
        transpositions: with perfect information, let all paths to states of the same future, such
            as mirror images, share what is learned there.
    """

    agent = "mcts"

    determinizations: int = 0
    cheat: bool = False
    implicit: float | None = None
    transpositions: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_hidden("mcts", self.determinizations, self.cheat)
        self.require(
            "implicit", self.implicit is None or 0 <= self.implicit < 1, "0 to less than 1"
        )

    def minimax_weight(self, game: Game) -> float:
        """The weight of the minimax of estimates in a game."""
        if not game.rules.opposed:
            return 0.0
        if self.implicit is not None:
            return self.implicit
        suits = self.selection == "puct" and game.rules.num_players == 2 and not game.has_chance
        return _IMPLICIT if suits else 0.0


class MCTSAgent(RootParallelAgent):
    """UCT or PUCT; chooses the most visited action, or a proven one."""

    name = "mcts"
    Options = MCTSOptions

    def __init__(self, game: Game, options: MCTSOptions | None = None) -> None:
        super().__init__(game, options)
        self.options: MCTSOptions
        options = self.options
        if game.has_hidden_information and not (options.cheat or options.determinizations):
            raise ValueError(
                f"mcts needs perfect information, and {game.name} has hidden information"
            )
        if game.has_hidden_information and options.transpositions:
            raise ValueError(
                "mcts with transpositions=True needs perfect information, and "
                f"{game.name} has hidden information"
            )
        self._searchers = [_Searcher(game, options) for _ in range(options.threads)]
        self._may_follow = False
        self._played: list[int] = []

    @property
    def searchers(self) -> list[_Searcher]:
        return self._searchers

    def restart(self, seed: int) -> None:
        super().restart(seed)
        self._may_follow = False
        self._played = []

    def inform(self, action: int) -> None:
        self._played.append(action)

    def choose(self, state: State) -> Decision:
        decision = super().choose(state)
        self._may_follow = self.options.reuse
        self._played = []
        return decision

    def line(self, action: int) -> tuple[int, ...]:
        return () if self.options.determinizations else self._searchers[0].line(action)

    def search(self, state: State, part: int, budget: Budget) -> Tally:
        if self.options.determinizations:
            return self._vote(state, part, budget)
        searcher = self._searchers[part]
        if not (self._may_follow and searcher.follow(self._played, state)):
            searcher.begin(state)
        return searcher.search(budget)

    def _vote(self, state: State, part: int, whole: Budget) -> Tally:
        """Search what is redrawn, in one thread, as often as it is its turn and there is time."""
        searcher, rules, total = self._searchers[part], self.game.rules, Tally({}, False, 0, 0)
        redraw, times = make_verb(rules, "resample"), self.options.determinizations
        turns = range(part, times, len(self._searchers))
        for turn, number in enumerate(turns):
            left = whole.left
            if turn and left is not None and left <= 0:
                break
            share = None if left is None else left / (len(turns) - turn)
            budget = Budget(self.options.budget(number, times).steps, share)
            words = state.words.copy()
            redraw(words, state.player, searcher.rng)
            searcher.begin(State(self.game, words))
            total.add(searcher.search(budget).unproven())
        return total
