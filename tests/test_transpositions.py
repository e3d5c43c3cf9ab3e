"""Searches whose paths share the states they meet: nothing is lost, mixed up or claimed falsely."""

import random
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from numba.extending import register_jitable

import cardcommons
from agents import make_agent
from agents.budget import Budget
from agents.expectimax import TO_THE_END, Search
from agents.mcts import MCTSAgent, _Searcher
from agents.transpositions import enter_state, make_transpositions, translated
from agents.tree import make_keep, make_tree, plant
from cardcommons import Game, State
from cardcommons.bits import mix
from cardcommons.keytable import NOT_THERE, find_row
from cardcommons.state import make_verb
from cardcommons.treaty import TERMINAL, Words
from tests.particles.endings import exact_value, late_states
from tests.toy import RACE, RaceParams, exact_values

UCT = "selection=uct,cutoff=-1"
TORUS = {"tutorial": True, "torus": True}


def race(goal: int) -> Game:
    return RACE.make(RaceParams(goal=goal))


# Three players count to GOAL.  Who adds 1 hands the turn to the next player, who adds 2 to the one
# after; who ends the game gets 1, the next player 0.25.  So a state can be left to a player by
# either of the others.  word 0: the count; word 1: the winner + 1, 0 before the end.
GOAL = np.uint64(9)
_ONE, _TWO, _THREE = (np.uint64(n) for n in (1, 2, 3))


@register_jitable
def _to_move(s):  # type: ignore[no-untyped-def]
    return TERMINAL if s[1] else np.int64(s[0] % _THREE)


@register_jitable
def _apply(s, a):  # type: ignore[no-untyped-def]
    mover = s[0] % _THREE
    s[0] += np.uint64(a) + _ONE
    if s[0] >= GOAL:
        s[1] = mover + _ONE


@register_jitable
def _payoff(s, player):  # type: ignore[no-untyped-def]
    return (1.0, 0.25, 0.0)[(player + 4 - np.int64(s[1])) % 3]


@register_jitable
def _state_key(s):  # type: ignore[no-untyped-def]
    return mix(s[0] * np.uint64(8) + s[1])


@register_jitable
def _legal(s, out):  # type: ignore[no-untyped-def]
    out[0], out[1] = 0, 1
    return 0 if s[1] else 2


@register_jitable
def _estimate(s, player):  # type: ignore[no-untyped-def]
    return 0.5


def three_in_a_row() -> Game:
    usual = race(8)
    rules = usual.rules._replace(
        name="three",
        num_players=3,
        num_words=2,
        max_length=int(GOAL),
        min_utility=0.0,
        zero_sum=False,
        to_move=_to_move,
        apply=_apply,
        payoff=_payoff,
        state_key=_state_key,
        legal=_legal,
        estimate=_estimate,
    )
    text = SimpleNamespace(position=lambda words: str(words))
    return Game("Three", usual.params, rules, text, usual.views, np.zeros(2, np.uint64), int(GOAL))


def best_for_all(state: State) -> list[float]:
    """The utilities under max^n, by plain recursion; no player's ties matter to another."""
    if state.is_terminal:
        return state.returns()
    found = []
    for action in state.legal_actions():
        after = state.copy()
        after.apply(action)
        found.append(best_for_all(after))
    return max(found, key=lambda utilities: utilities[state.player])


def make_searcher(spec: str, game: Game, seed: int = 1) -> tuple[MCTSAgent, _Searcher]:
    agent = make_agent(f"mcts:transpositions=True,{spec}", game)
    assert isinstance(agent, MCTSAgent)
    agent.restart(seed)
    return agent, agent._searchers[0]


def check_tree(searcher: _Searcher, fresh: bool, full: bool) -> int:
    """Assert all that holds of a tree with its states; returns how many paths share children."""
    tree, states = searcher.tree, searcher.states
    used, rows = int(tree.used[0]), int(states.used[0])
    assert rows <= states.key.size <= searcher.most_states
    expanded = np.flatnonzero(tree.num_children[:used])
    blocks = {int(tree.first_child[node]): int(tree.num_children[node]) for node in expanded}
    # Blocks fill the tree from end to end.
    assert sorted([1, *(first + n for first, n in blocks.items())]) == [*sorted(blocks), used]
    for node in expanded[tree.row[expanded] >= 0]:
        row = int(tree.row[node])
        assert states.first_child[row] == tree.first_child[node]
        assert states.num_children[row] == tree.num_children[node]
        assert states.key[row] == tree.key[node]
    assert len(set(states.key[:rows].tolist())) == rows == np.count_nonzero(states.table.key)
    for row in range(rows):
        check_state(searcher, row, expanded[tree.row[expanded] == row], fresh, full)
    return len(expanded) - len(blocks)


def check_state(
    searcher: _Searcher, row: int, paths: npt.NDArray[np.intp], fresh: bool, full: bool
) -> None:
    """Assert what holds of a state, to which the nodes ``paths`` lead."""
    tree, states = searcher.tree, searcher.states
    state = State(searcher.game, states.words[row])
    first = int(states.first_child[row])
    children = slice(first, first + int(states.num_children[row]))
    assert find_row(states.table, states.key[row]) == row
    assert sorted(tree.action[children].tolist()) == state.legal_actions()
    assert set(tree.player[paths].tolist()) == {state.player}
    movers = {state.player} if state.player >= 0 else set(tree.mover[paths].tolist())
    assert len(movers) == 1
    assert set(tree.mover[children].tolist()) == movers
    if not tree.exact[paths].any():
        # A path's first visit may have been a look at the state alone, like all in a full tree.
        visits, went_on = int(tree.visits[paths].sum()), int(tree.visits[children].sum())
        assert went_on >= visits - len(paths) or full
        assert went_on <= visits or not fresh


@pytest.mark.parametrize("options", ["sims=400", f"sims=400,{UCT}", "sims=400,nodes=1000"])
@pytest.mark.parametrize(
    "game",
    [
        cardcommons.load("particles"),
        cardcommons.load("particles", **TORUS),
        cardcommons.load("rally"),
        race(20),
        race(19),
        three_in_a_row(),
    ],
    ids=repr,
)
def test_the_tree_is_sound_throughout_a_game(game: Game, options: str) -> None:
    agent, searcher = make_searcher(options, game)
    state, rng, shared, moves = State(game), random.Random(3), 0, 0
    while not state.is_terminal and moves < 12:
        action = rng.choice(state.legal_actions())
        if not state.is_chance:
            decision = agent.decide(state)
            shared += check_tree(searcher, fresh=moves == 0, full="nodes" in options)
            assert {c.action for c in decision.candidates} == set(state.legal_actions())
            for candidate in decision.candidates:
                check_line(state, (candidate.action, *searcher.line(candidate.action)))
            action, moves = decision.action, moves + 1
        state.apply(action)
        agent.inform(action)
    assert shared > 0


def check_walks(searcher: _Searcher, rng: random.Random) -> None:
    """Assert that nodes have the legal actions of their states, along some ways down the tree."""
    tree = searcher.tree
    for _ in range(30):
        node, known, seen = 0, searcher.known, searcher.root
        while tree.num_children[node]:
            for words in (known, seen):
                actions = searcher.actions(node, known, words)
                assert sorted(actions) == State(searcher.game, words).legal_actions()
            found = searcher.child(node, known, seen, rng.choice(actions))
            assert found is not None
            node, known, seen = found


def check_line(state: State, line: tuple[int, ...]) -> None:
    """Play a principal variation; an action that isn't legal raises an error."""
    after = state.copy()
    for action in line:
        after.apply(action)


def test_paths_to_a_state_share_its_children() -> None:
    game = race(20)
    for options in ("sims=300", f"sims=300,{UCT}"):
        searchers = {}
        for shared in (True, False):
            agent = make_agent(f"mcts:{options},transpositions={shared}", game)
            assert isinstance(agent, MCTSAgent)
            agent.restart(2)
            agent.decide(State(game))
            searchers[shared] = agent._searchers[0]
        tree = searchers[True].tree
        blocks: dict[tuple[int, int], set[int]] = {}
        level = [(0, 0)]
        for depth in range(1, 6):
            level = [
                (int(child), count + int(tree.action[child]) + 1)
                for node, count in level
                for child in tree.first_child[node] + np.arange(tree.num_children[node])
            ]
            for node, count in level:
                if tree.num_children[node]:
                    blocks.setdefault((count, depth % 2), set()).add(int(tree.first_child[node]))
        assert all(len(block) == 1 for block in blocks.values())
        # 19 counts before the end, for either player to move.
        assert tree.used[0] <= 1 + 2 * 2 * 19 < searchers[False].tree.used[0]


@pytest.mark.parametrize("spec", ["rally:stages=1-1-0-1", "rally", "particles:tutorial=True"])
def test_values_on_the_way_take_in_what_other_paths_changed(spec: str) -> None:
    """After a simulation, each node that it passed has the minimax of its children's values."""
    state = State(cardcommons.parse_game(spec))
    while state.is_chance:
        state.apply(state.legal_actions()[0])
    _, searcher = make_searcher("implicit=0.5", state.game)
    searcher.begin(state)
    tree, compared = searcher.tree, 0
    for _ in range(150):
        searcher.path[1:] = NOT_THERE
        if not searcher.search(Budget(1, None)).simulations:
            break
        for node, child in pairwise([0, *searcher.path[1:]]):
            first = int(tree.first_child[node])
            last = first + int(tree.num_children[node])
            if child == NOT_THERE or tree.exact[node]:
                break
            values = tree.value[first:last]
            if tree.player[node] < 0:
                value = np.average(values, weights=tree.weight[first:last])
            else:
                value = values.max() * (1 if tree.player[node] == tree.mover[node] else -1)
            assert tree.value[node] == pytest.approx(value, abs=1e-12)
            compared += 1
    assert compared > 100


@pytest.mark.parametrize("params", [{}, {"tutorial": True}, TORUS], ids=str)
def test_fewer_nodes_hold_as_many_simulations(params: dict[str, bool]) -> None:
    state = State(cardcommons.load("particles", **params))
    state.apply("5h@c3")
    if not params:
        state.apply("decline")
    nodes = {}
    for shared in (False, True):
        agent = make_agent(f"mcts:sims=4000,implicit=0,transpositions={shared}", state.game)
        agent.restart(1)
        decision = agent.decide(state)
        assert sum(candidate.visits for candidate in decision.candidates) == 4000
        nodes[shared] = decision.work["nodes"]
    assert nodes[True] < nodes[False]


def test_symmetric_openings_are_one() -> None:
    """On the torus, all cells are the same before the first card."""
    game = cardcommons.load("particles", **TORUS)
    agent, searcher = make_searcher("sims=3000", game)
    agent.decide(State(game))
    tree, blocks = searcher.tree, set()
    opened = 1 + np.flatnonzero(tree.num_children[1 : 1 + tree.num_children[0]])
    keys = set()
    for child in opened:
        after = State(game)
        after.apply(int(tree.action[child]))
        keys.add(after.state_key())
        blocks.add(int(tree.first_child[child]))
    assert len(opened) > len(blocks) == len(keys)


def future(game: Game, words: Words, action: int) -> int:
    """The key of what an action leads to."""
    after = words.copy()
    make_verb(game.rules, "apply")(after, action)
    return int(make_verb(game.rules, "state_key")(after))


def test_a_root_known_by_an_image_of_it_tells_of_its_own_actions() -> None:
    game = cardcommons.load("particles", **TORUS)
    agent, searcher = make_searcher("sims=2000", game)
    images = 0
    for opening in State(game).legal_actions():
        agent.restart(1)
        agent.decide(State(game))
        after = State(game)
        after.apply(opening)
        agent.inform(opening)
        decision, tree = agent.decide(after), searcher.tree
        stored, actions = searcher.known, searcher.actions(0, searcher.known, after.words)
        images += not np.array_equal(stored, after.words)
        assert sorted(actions) == after.legal_actions()
        for child, action in enumerate(actions, int(tree.first_child[0])):
            known = future(game, stored, int(tree.action[child]))
            assert known == future(game, after.words, action)
        for candidate in decision.candidates:
            check_line(after, (candidate.action, *searcher.line(candidate.action)))
    assert images > 5


@pytest.mark.parametrize("params", [{}, {"torus": True}, {"tutorial": True}, TORUS], ids=str)
def test_what_is_proven_is_so(params: dict[str, bool]) -> None:
    """Also of moves that follow, in trees that are reused and know their root by an image."""
    proven = 0
    for seed, state in enumerate(late_states(params, 12, left=7, seed=31)):
        agent, _ = make_searcher("sims=600", state.game, seed)
        while not state.is_terminal:
            decision = agent.decide(state)
            for candidate in decision.candidates:
                if candidate.bound == "exact":
                    after = state.copy()
                    after.apply(candidate.action)
                    assert candidate.value == exact_value(after, state.player)
                    proven += 1
            if decision.proven:
                assert decision.value == exact_value(state, state.player)
            state.apply(decision.action)
            agent.inform(decision.action)
    assert proven > 50


@pytest.mark.parametrize("goal", [4, 5, 6, 7, 8, 9, 12, 13])
@pytest.mark.parametrize("options", ["sims=20000", "sims=20000,selection=uct,c=5"])
def test_chance_is_proven_along_all_paths(goal: int, options: str) -> None:
    game = race(goal)
    spent = {}
    for shared in (False, True):
        agent = make_agent(f"mcts:{options},transpositions={shared}", game)
        agent.restart(3)
        decision = agent.decide(State(game))
        spent[shared] = decision.work["simulations"]
    assert decision.proven
    assert decision.value == pytest.approx(exact_values(0, goal, 0), abs=1e-12)
    assert spent[True] < spent[False] or goal < 7


def test_a_player_alone_against_chance_proves_the_expectation() -> None:
    game = cardcommons.load("rally", stages="1-0-0-0/1-0-0-1")
    state = State(game)
    while state.is_chance:
        state.apply(state.legal_actions()[0])
    agent, searcher = make_searcher("sims=100000,c=10", game)
    decision = agent.decide(state)
    assert decision.proven
    wanted = Search(game, 4, most_entries=100_000).value(state, TO_THE_END)
    assert decision.value == pytest.approx(wanted, abs=1e-9)
    assert check_tree(searcher, fresh=True, full=False) > 0


def test_three_players_each_seek_their_own() -> None:
    """Whoever moved into a state, it is worth to each of them what max^n says."""
    game = three_in_a_row()
    state = State(game)
    for _ in range(4):
        agent, searcher = make_searcher(f"sims=3000,{UCT}", game)
        decision, player, best = agent.decide(state), state.player, best_for_all(state)
        state.apply(decision.action)
        assert best_for_all(state) == best
        assert decision.value == pytest.approx(best[player], abs=0.1)
        rows = searcher.states.words[: searcher.states.used[0], 0].tolist()
        assert len(rows) > len(set(rows))  # a state's two movers don't share


def test_actions_are_translated_into_those_of_an_image() -> None:
    game, rng = cardcommons.load("particles", **TORUS), random.Random(8)
    renumbered = 0
    for _ in range(10):
        here, there = State(game), State(game)
        while not here.is_terminal and not there.is_terminal:
            actions = here.legal_actions()
            rng.shuffle(actions)
            images = translated(game, here.words, actions, there.words)
            assert sorted(images) == there.legal_actions()
            for action, image in zip(actions, images, strict=True):
                assert future(game, here.words, action) == future(game, there.words, image)
                renumbered += action != image
            action = rng.choice(actions)
            wanted = future(game, here.words, action)
            twins = [a for a in there.legal_actions() if future(game, there.words, a) == wanted]
            here.apply(action)
            there.apply(rng.choice(twins))
        assert here.is_terminal == there.is_terminal
    assert renumbered > 100


def test_a_subtree_keeps_what_it_shares() -> None:
    """Nodes 1 and 4 share children that lie below both, and 2 and 8 some that lie between."""
    tree, states = make_tree(20), make_transpositions(5, 1)
    children = {0: [1, 2, 3], 3: [4], 2: [5, 6], 1: [7, 8], 4: [7, 8], 8: [5, 6]}
    for node in range(9):
        plant(tree, node, 100 + node, 1, 0)
    rows: dict[int, int] = {}
    for node, block in children.items():
        if block[0] not in rows:
            rows[block[0]] = enter_state(states, np.uint64(500 + block[0]), block[0], len(block))
            states.words[rows[block[0]], 0] = block[0]
        tree.first_child[node], tree.num_children[node] = block[0], len(block)
        tree.row[node] = rows[block[0]]
    tree.used[0] = 9
    place, work = np.empty((2, 20), dtype=np.int32)
    make_keep("test")(tree, states, 3, place, work)
    assert tree.action[: tree.used[0]].tolist() == [103, 104, 105, 106, 107, 108]
    assert tree.first_child[:6].tolist() == [1, 4, 0, 0, 0, 2]
    assert tree.num_children[:6].tolist() == [1, 2, 0, 0, 0, 2]
    assert states.used[0] == 3
    for node, first in ((0, 4), (1, 7), (5, 5)):
        row = find_row(states.table, np.uint64(500 + first))
        assert tree.row[node] == row
        assert states.first_child[row] == tree.first_child[node]
        assert states.words[row, 0] == first
    assert find_row(states.table, np.uint64(501)) == NOT_THERE


def test_the_same_seed_finds_the_same() -> None:
    game = cardcommons.load("particles", **TORUS)
    for threads in (1, 2):
        agent, _ = make_searcher(f"sims=800,threads={threads}", game, seed=4)
        first = agent.decide(State(game))
        assert first.work["simulations"] == 800
        agent.decide(State(game))
        agent.restart(4)
        assert agent.decide(State(game)) == first


def test_hidden_information_shares_nothing() -> None:
    game = cardcommons.load("treasure")
    for option in ("cheat=True", "determinizations=3"):
        with pytest.raises(ValueError, match="transpositions=True needs perfect information, and"):
            make_agent(f"mcts:transpositions=True,{option}", game)
