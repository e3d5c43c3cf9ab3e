"""The options of the tree search: how it selects, judges, keeps its tree and uses threads."""

from dataclasses import replace

import numpy as np
import pytest
from numba.extending import register_jitable

import cardcommons
from agents import Decision, make_agent
from agents.mcts import MCTSAgent
from agents.selection import Selection, TreeOptions, effort_of, level_of, prior_of, spread_of
from agents.transpositions import make_transpositions
from agents.tree import Tree, make_keep, make_tree, plant
from cardcommons import State
from tests.particles.endings import exact_value, late_states
from tests.toy import RACE, RaceParams

UCT = "selection=uct,cutoff=-1"


def decide(spec: str, state: State, seed: int = 1) -> Decision:
    agent = make_agent(spec, state.game)
    agent.restart(seed)
    return agent.decide(state)


@pytest.mark.parametrize(
    "options", [UCT, "selection=uct,bias=0.5", "cutoff=-1", "cutoff=3,fpu=0", "temperature=1,c=3"]
)
def test_every_way_to_select_proves_the_same_values(options: str) -> None:
    proven = 0
    for state in late_states({"tutorial": False, "torus": True}, 6, left=6, seed=13):
        decision = decide(f"mcts:sims=20000,{options}", state)
        if decision.proven:
            proven += 1
            assert decision.value == exact_value(state, state.player)
    assert proven >= 5


@pytest.mark.parametrize("options", [UCT, "cutoff=0", "selection=uct,bias=1,cutoff=2"])
def test_each_simulation_visits_one_action(options: str) -> None:
    state = State(cardcommons.load("particles"))
    decision = decide(f"mcts:sims=700,{options}", state)
    assert sum(candidate.visits for candidate in decision.candidates) == 700
    assert {candidate.action for candidate in decision.candidates} == set(state.legal_actions())


def test_an_early_cut_off_judges_by_the_estimate() -> None:
    """After a single visit a child is worth what the game's estimate says of it."""
    state = State(cardcommons.load("particles"))
    state.apply("5h@c3")
    state.apply("polarize:self")
    decision = decide("mcts:sims=100,selection=uct,fpu=inf,cutoff=0,c=0", state)
    compared = 0
    for candidate in decision.candidates:
        after = state.copy()
        after.apply(candidate.action)
        if candidate.visits == 1 and state.game.rules.settled(after.words):
            assert candidate.value == pytest.approx(after.estimate(state.player), abs=1e-12)
            compared += 1
    assert compared > 5


@register_jitable
def _small_steps(s, player):
    """Likes a low count, whoever asks."""
    return -0.01 * s[0]


def test_playouts_take_the_best_of_the_actions_they_try() -> None:
    """With all tried, everyone adds 1 for as long as adding 2 doesn't win."""
    game = RACE.make(RaceParams(goal=8))
    state = State(replace(game, rules=game.rules._replace(estimate=_small_steps)))
    found = {}
    for tries in (1, 2, 50):
        decisions = [
            decide(f"mcts:sims=2,selection=uct,cutoff=-1,tries={tries}", state, seed)
            for seed in range(40)
        ]
        found[tries] = [{c.action: c.value for c in d.candidates} for d in decisions]
    # Whoever finds a count of 6 wins: after 1, player 0, and after 2, player 1.
    assert found[2] == found[50] == [{0: 1.0, 1: -1.0}] * 40
    assert {values[0] for values in found[1]} == {values[1] for values in found[1]} == {-1.0, 1.0}


def test_an_untried_action_can_wait() -> None:
    state = State(cardcommons.load("particles"))
    legal = len(state.legal_actions())
    eager, reluctant = (
        decide(f"mcts:sims={legal},fpu={fpu},temperature=0.05", state) for fpu in ("inf", -1)
    )
    assert [candidate.visits for candidate in eager.candidates] == [1] * legal
    assert max(candidate.visits for candidate in reluctant.candidates) > 1


def bound_of(
    how: Selection,
    visits: int,
    total: float,
    prior: float,
    effort: float,
    mean: float,
    backed_up: float = 0.0,
) -> float:
    bound = level_of(how, visits, total, prior, backed_up) + effort * spread_of(how, visits, prior)
    return float(bound if visits else (1 - how.implicit) * mean + bound)


def test_bounds() -> None:
    rules = cardcommons.load("particles").rules
    uct = Selection.of(options(selection="uct", c=2.0, fpu=0.5, bias=0.3), rules, solve=True)
    assert bound_of(uct, 4, 2.0, prior_of(uct, 0.5), effort_of(uct, 9), 0.1) == pytest.approx(
        0.5 + 2 * np.sqrt(np.log(10) / 4) + 0.3 * 0.5 / 5
    )
    assert bound_of(uct, 0, 0.0, prior_of(uct, 0.5), effort_of(uct, 9), 0.1) == pytest.approx(
        0.1 + 0.5 + 0.15
    )
    puct = Selection.of(options(selection="puct", c=2.0, temperature=0.5), rules, solve=True)
    share = prior_of(puct, 0.5) / (prior_of(puct, 0.5) + prior_of(puct, -0.5))
    assert share == pytest.approx(1 / (1 + np.exp(-2)))
    assert bound_of(puct, 4, 2.0, share, effort_of(puct, 8), 0.1) == pytest.approx(
        0.5 + 2 * share * 3 / 5
    )
    assert bound_of(puct, 0, 0.0, share, effort_of(puct, 8), 0.1) == pytest.approx(
        0.1 - 0.3 + 2 * share * 3
    )
    mixed = Selection.of(options(c=2.0, temperature=0.5), rules, solve=True, implicit=0.25)
    assert bound_of(mixed, 4, 2.0, share, effort_of(mixed, 8), 0.1, 0.7) == pytest.approx(
        0.75 * 0.5 + 0.25 * 0.7 + 2 * share * 3 / 5
    )
    assert bound_of(mixed, 0, 0.0, share, effort_of(mixed, 8), 0.1, 0.7) == pytest.approx(
        0.75 * (0.1 - 0.3) + 0.25 * 0.7 + 2 * share * 3
    )


@pytest.mark.parametrize("spec", ["selection=uct,bias=0.2,fpu=0.1", "temperature=0.5", UCT])
def test_bounds_kept_in_the_tree_are_up_to_date(spec: str) -> None:
    state = State(cardcommons.load("particles"))
    agent = make_agent(f"mcts:sims=500,{spec}", state.game)
    assert isinstance(agent, MCTSAgent)
    agent.restart(1)
    agent.decide(state)
    tree, how, fresh = agent._searchers[0].tree, agent._searchers[0].how, 0
    for child in range(1, int(tree.used[0])):
        if not tree.exact[child]:
            visits, effort = int(tree.visits[child]), effort_of(how, 20)
            bound = tree.level[child] + tree.spread[child] * effort
            assert bound == pytest.approx(
                bound_of(
                    how,
                    visits,
                    tree.total[child],
                    tree.prior[child],
                    effort,
                    0.0,
                    tree.value[child],
                )
            )
            fresh += visits == 0
    assert fresh > 0
    first, count = int(tree.first_child[0]), int(tree.num_children[0])
    if how.puct:
        assert tree.prior[first : first + count].sum() == pytest.approx(1.0)


def minimax_below(tree: Tree, node: int, state: State, mover: int) -> float:
    """What the states in a tree are worth to ``mover`` by minimax of the estimates at its leaves.

    Checks on the way that each node of the tree holds that value.
    """
    first, count = int(tree.first_child[node]), int(tree.num_children[node])
    if state.is_terminal:
        value = state.returns()[mover]
    elif not count:
        value = tree.value[node] if state.is_chance else state.estimate(mover)
    else:
        chooser = mover if state.is_chance else state.player
        values = []
        for child in range(first, first + count):
            after = state.copy()
            after.apply(int(tree.action[child]))
            if state.is_chance and not tree.num_children[child]:
                values.append(float(tree.value[child]))
            else:
                values.append(minimax_below(tree, child, after, chooser))
        if state.is_chance:
            value = float(np.average(values, weights=tree.weight[first : first + count]))
        else:
            value = max(values) if chooser == mover else -max(values)
    if node:
        assert tree.value[node] == pytest.approx(value, abs=1e-9)
    return float(value)


@pytest.mark.parametrize("spec", ["particles", "particles:tutorial=True", "rally"])
def test_estimates_are_backed_up_by_minimax(spec: str) -> None:
    state = State(cardcommons.parse_game(spec))
    while state.is_chance:
        state.apply(state.legal_actions()[0])
    agent = make_agent("mcts:sims=400,implicit=0.3", state.game)
    assert isinstance(agent, MCTSAgent)
    agent.restart(1)
    agent.decide(state)
    tree = agent._searchers[0].tree
    value = minimax_below(tree, 0, state, state.player)
    first, count = int(tree.first_child[0]), int(tree.num_children[0])
    assert value == pytest.approx(tree.value[first : first + count].max())
    assert (tree.num_children[first : first + count] > 0).any()


def test_minimax_of_estimates_is_for_opposites() -> None:
    """Of more players each would have to be told a value of their own."""
    duel, table = cardcommons.load("particles"), cardcommons.load("gluons", players=3)
    for spec, game, weight in (
        ("mcts", duel, 0.5),
        ("mcts:selection=uct", duel, 0.0),
        ("mcts:selection=uct,implicit=0.2", duel, 0.2),
        ("mcts:implicit=0", duel, 0.0),
        ("mcts", cardcommons.load("rally"), 0.0),
        ("mcts:cheat=True", cardcommons.load("treasure"), 0.0),
        ("mcts:implicit=0.4", cardcommons.load("rally"), 0.4),
        ("mcts:cheat=True,implicit=0.4", table, 0.0),
    ):
        agent = make_agent(spec, game)
        assert isinstance(agent, MCTSAgent)
        assert agent._searchers[0].how.implicit == weight


def options(**changed: float | str) -> TreeOptions:
    class Options(TreeOptions):
        agent = "test"

    return Options(**changed)  # type: ignore[arg-type]


def test_threads_share_the_simulations_and_add_up() -> None:
    state = State(cardcommons.load("particles"))
    for threads in (1, 2, 3):
        decision = decide(f"mcts:sims=1000,threads={threads}", state)
        assert decision.work["simulations"] == 1000
        assert sum(candidate.visits for candidate in decision.candidates) == 1000
    assert decide("mcts:sims=999,threads=3", state) == decide("mcts:sims=999,threads=3", state)
    trees = make_agent("mcts:sims=1000,threads=2", state.game)
    assert isinstance(trees, MCTSAgent)
    trees.restart(1)
    trees.decide(state)
    first, second = (searcher.tree for searcher in trees._searchers)
    assert first.visits[0] == second.visits[0] == 500
    assert not np.array_equal(first.action[: first.used[0]], second.action[: second.used[0]])


def test_the_first_thread_searches_as_one_alone_does() -> None:
    """What one thread finds with a seed doesn't depend on the others."""
    state = State(cardcommons.load("particles"))
    pair = make_agent("mcts:sims=1000,threads=2", state.game)
    alone = make_agent("mcts:sims=500", state.game)
    assert isinstance(pair, MCTSAgent)
    assert isinstance(alone, MCTSAgent)
    for agent in (pair, alone):
        agent.restart(4)
        agent.decide(state)
    one, other = pair._searchers[0].tree, alone._searchers[0].tree
    assert np.array_equal(one.visits[: one.used[0]], other.visits[: other.used[0]])


def grown() -> Tree:
    """A tree with two levels; the second child was expanded before the first one."""
    tree = make_tree(20)
    parents = {0: [1, 2, 3], 2: [4, 5], 1: [6, 7, 8], 5: [9]}
    for node in range(10):
        plant(tree, node, 100 + node, 1, node % 2)
        tree.visits[node] = 1000 + node
    for node, children in parents.items():
        tree.first_child[node], tree.num_children[node] = children[0], len(children)
    tree.used[0] = 10
    return tree


@pytest.mark.parametrize(
    ("root", "kept"),
    [
        (0, [100, [101, [106], [107], [108]], [102, [104], [105, [109]]], [103]]),
        (1, [101, [106], [107], [108]]),
        (2, [102, [104], [105, [109]]]),
        (3, [103]),
    ],
)
def test_a_subtree_moves_to_the_front(root: int, kept: list[object]) -> None:
    tree = grown()
    place, work = np.empty((2, 20), dtype=np.int32)
    make_keep("test")(tree, make_transpositions(0, 1), root, place, work)

    def told(node: int) -> list[object]:
        assert tree.visits[node] == 900 + tree.action[node]
        first = int(tree.first_child[node])
        children = range(first, first + int(tree.num_children[node]))
        return [int(tree.action[node]), *(told(child) for child in children)]

    assert told(0) == kept
    assert tree.used[0] == str(kept).count("[")


def test_hidden_information_is_searched_only_if_asked_for() -> None:
    game = cardcommons.load("treasure")
    with pytest.raises(ValueError, match="mcts needs perfect information, and treasure has hidden"):
        make_agent("mcts", game)
    with pytest.raises(ValueError, match="cheat=True or determinizations, not both"):
        make_agent("mcts:cheat=True,determinizations=3", game)


def dealt_treasure() -> State:
    """Treasure, when the first hands are drawn."""
    state = State(cardcommons.load("treasure"))
    while state.is_chance:
        state.apply(state.legal_actions()[0])
    return state


def test_determinizations_share_the_simulations() -> None:
    state = dealt_treasure()
    for threads in (1, 2):
        decision = decide(f"mcts:sims=1000,determinizations=7,threads={threads}", state)
        assert decision.work["simulations"] == 1000
        assert not decision.proven
        assert {candidate.bound for candidate in decision.candidates} == {"mean"}


def test_redraws_without_time_are_left_out() -> None:
    state = dealt_treasure()
    once = decide("mcts:sims=64,determinizations=1", state)
    hurried = decide("mcts:time=1e-9,determinizations=300", state)
    assert hurried == once
    assert hurried.work["simulations"] == 64


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mcts:selection=ucb", "'selection' of mcts must be uct or puct, not ucb"),
        ("mcts:bias=1", "'bias' of mcts must be 0 with selection=puct, not 1.0"),
        ("mcts:selection=uct,bias=-1", "'bias' of mcts must be at least 0 and finite, not -1.0"),
        ("mcts:fpu=nan", "'fpu' of mcts must be a number or inf, not nan"),
        ("mcts:temperature=0", "'temperature' of mcts must be at least 0.02 and finite, not 0.0"),
        ("mcts:cutoff=-2", "'cutoff' of mcts must be -1 to 1000000, not -2"),
        ("mcts:tries=0", "'tries' of mcts must be 1 to 1000000, not 0"),
        ("ismcts:tries=99999999999999999999", "'tries' of ismcts must be 1 to 1000000, not 9999"),
        ("mcts:implicit=1", "'implicit' of mcts must be 0 to less than 1, not 1.0"),
        ("mcts:threads=0", "'threads' of mcts must be 1 to 256, not 0"),
        ("mcts:determinizations=-1", "'determinizations' of mcts must be at least 0, not -1"),
        ("ismcts:observer=two", "'observer' of ismcts must be single, many or table, not two"),
    ],
)
def test_bad_options_are_explained(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec, cardcommons.load("particles"))
