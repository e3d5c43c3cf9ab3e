"""The agents: what they promise, on Particles, in every variant."""

import random
from typing import Any

import numpy as np
import pyspiel
import pytest

import cardcommons
from agents import AGENTS, make_agent
from agents.expectimax import ExpectimaxOptions
from agents.ismcts import ISMCTSOptions
from agents.mcts import MCTSAgent, MCTSOptions
from agents.minimax import MinimaxOptions
from agents.openspiel import MadeBotOptions, OpenSpielMCTSOptions
from agents.policy import PolicyOptions
from cardcommons import State
from experiments.signature import signature
from tests.particles.endings import exact_value, late_states
from tests.twins.particles import Twin, solve

VARIANTS = [
    {"tutorial": tutorial, "torus": torus} for tutorial in (False, True) for torus in (False, True)
]
# How many cards in the two hands a full search by the slow twin can stand, by ``tutorial``.
LEFT = {False: 9, True: 12}
NATIVE = ["random", "greedy", "mcts:sims=50", "minimax:depth=1"]


def twin_value(state: State) -> float:
    """The exact value for the player to move, by full search in the slow twin."""
    params = state.game.parameters
    twin = Twin.start(params["tutorial"], params["torus"], state.position)
    return solve(twin) * (1 if state.player == 0 else -1)


@pytest.mark.parametrize("params", VARIANTS)
def test_minimax_finds_what_full_search_finds(params: dict[str, bool]) -> None:
    values = []
    for state in late_states(params, 12, left=LEFT[params["tutorial"]], seed=11):
        agent = make_agent("minimax:depth=60", state.game)
        agent.restart(0)
        decision = agent.decide(state)
        assert decision.proven
        assert decision.value == twin_value(state)
        after = state.copy()
        for action in decision.principal_variation:
            after.apply(action)
        values.append(decision.value)
    assert {-1.0, 1.0} == set(values)


@pytest.mark.parametrize("params", VARIANTS)
def test_expectimax_agrees_for_either_player(params: dict[str, bool]) -> None:
    movers = set()
    for state in late_states(params, 12, left=6, seed=15):
        agent = make_agent("expectimax:depth=60", state.game)
        decision = agent.decide(state)
        assert decision.value == twin_value(state)
        movers.add(state.player)
    assert movers == {0, 1}


@pytest.mark.parametrize("params", VARIANTS)
def test_a_forced_win_is_played_out(params: dict[str, bool]) -> None:
    won = [
        s
        for s in late_states(params, 10, left=LEFT[params["tutorial"]], seed=12)
        if twin_value(s) == 1.0
    ]
    assert won
    for state in won[:3]:
        winner = state.player
        agent = make_agent("minimax:depth=60", state.game)
        agent.restart(0)
        rng = random.Random(5)
        while not state.is_terminal:
            mine = state.player == winner
            state.apply(agent.decide(state).action if mine else rng.choice(state.legal_actions()))
        assert state.returns()[winner] == 1.0


@pytest.mark.parametrize("params", VARIANTS)
def test_mcts_proves_the_same_values(params: dict[str, bool]) -> None:
    proven = 0
    for state in late_states(params, 8, left=LEFT[params["tutorial"]] - 3, seed=13):
        agent = make_agent("mcts:sims=30000", state.game)
        agent.restart(1)
        decision = agent.decide(state)
        if decision.proven:
            proven += 1
            assert decision.value == twin_value(state)
        for candidate in decision.candidates:
            if candidate.bound == "exact":
                after = state.copy()
                mover = state.player
                after.apply(candidate.action)
                assert candidate.value == exact_value(after, mover)
    assert proven >= 6


@pytest.mark.parametrize("params", VARIANTS)
@pytest.mark.parametrize("spec", NATIVE)
def test_whole_games_are_legal_and_reproducible(spec: str, params: dict[str, bool]) -> None:
    game = cardcommons.load("particles", **params)

    def play(seed: int) -> list[int]:
        state, actions = State(game), []
        agents = [make_agent(spec, game), make_agent(spec, game)]
        for seat, agent in enumerate(agents):
            agent.restart(seed + seat)
        while not state.is_terminal:
            before = state.words.copy()
            decision = agents[state.player].decide(state)
            assert np.array_equal(before, state.words)
            state.apply(decision.action)
            actions.append(decision.action)
            for agent in agents:
                agent.inform(decision.action)
        return actions

    assert play(7) == play(7)
    if spec != "minimax:depth=1":
        assert play(7) != play(1007)


def test_a_search_without_time_still_compares() -> None:
    game = cardcommons.load("particles")
    for spec in ("minimax:time=1e-9", "mcts:time=1e-9", "ismcts:time=1e-9"):
        agent = make_agent(spec, game)
        agent.restart(0)
        decision = agent.decide(State(game))
        assert decision.action in {candidate.action for candidate in decision.candidates}


def test_expectimax_forgets_what_it_saw_deeper() -> None:
    game = cardcommons.load("rally", stages="2-2-1-2/1-0-0-1")
    used = make_agent("expectimax:depth=2", game)
    rng, compared = random.Random(2), 0
    for _ in range(6):
        state = State(game)
        while not state.is_terminal:
            if state.player == 0:
                used.restart(0)
                fresh = make_agent("expectimax:depth=2", game)
                decision = used.decide(state)
                assert decision == fresh.decide(state)
                compared += 1
            state.apply(rng.choice(state.legal_actions()))
    assert compared > 20


def test_restart_forgets_the_game_before() -> None:
    game = cardcommons.load("particles")
    for spec in NATIVE:
        agent = make_agent(spec, game)
        agent.restart(3)
        first = agent.decide(State(game))
        agent.inform(first.action)
        agent.restart(3)
        assert agent.decide(State(game)) == first


def test_mcts_keeps_its_tree_between_moves() -> None:
    game = cardcommons.load("particles")
    state = State(game)
    agent = make_agent("mcts:sims=4000", game)
    agent.restart(2)
    line = agent.decide(state).principal_variation
    for action in line[:2]:
        state.apply(action)
        agent.inform(action)
    kept = agent.decide(state)
    assert sum(c.visits for c in kept.candidates) > 4000
    fresh = make_agent("mcts:sims=4000,reuse=False", game)
    fresh.restart(2)
    fresh.decide(State(game))
    for action in line[:2]:
        fresh.inform(action)
    # Each simulation but the root's own first visits passes through one child.
    assert sum(c.visits for c in fresh.decide(state).candidates) == 4000


def test_mcts_is_not_misled_by_a_state_it_was_not_told_about() -> None:
    game = cardcommons.load("particles")
    agent, fresh = (make_agent("mcts:sims=300", game) for _ in range(2))
    agent.restart(4)
    agent.decide(State(game))
    agent.inform(State(game).legal_actions()[0])
    other = State(game)
    other.apply("5h@c3")
    other.apply("polarize:self")
    assert {c.action for c in agent.decide(other).candidates} == set(other.legal_actions())
    fresh.restart(4)
    assert fresh.decide(other).action in other.legal_actions()


def test_a_full_tree_stays_within_its_bound() -> None:
    game = cardcommons.load("particles")
    agent = make_agent("mcts:sims=20000,nodes=1000", game)
    agent.restart(1)
    decision = agent.decide(State(game))
    assert decision.work["nodes"] <= 1000
    assert sum(c.visits for c in decision.candidates) == 20000


def test_mcts_statistics_agree_with_each_other() -> None:
    game = cardcommons.load("particles", torus=True)
    agent = make_agent("mcts:sims=3000", game)
    assert isinstance(agent, MCTSAgent)
    agent.restart(9)
    agent.decide(State(game))
    tree = agent._searchers[0].tree
    for node in range(int(tree.used[0])):
        first, count = int(tree.first_child[node]), int(tree.num_children[node])
        if count and node:
            # Every visit but the first, which was a playout, went on to a child.
            assert tree.visits[first : first + count].sum() == tree.visits[node] - 1
            assert abs(tree.total[node]) <= tree.visits[node]


def winning_turns(state: State) -> list[list[int]]:
    """All ways to win at once: sequences of the mover's own actions that end the game."""
    found, player = [], state.player
    for action in state.legal_actions():
        after = state.copy()
        after.apply(action)
        if after.is_terminal:
            found += [[action]] if after.returns()[player] == 1.0 else []
        elif after.player == player:
            found += [[action, *rest] for rest in winning_turns(after)]
    return found


def test_greedy_sees_a_win_at_the_end_of_a_turn_of_several_actions() -> None:
    lengths = []
    for state in late_states({"tutorial": True, "torus": False}, 60, left=12, seed=14):
        wins = winning_turns(state)
        agent = make_agent("greedy", state.game)
        agent.restart(1)
        assert (agent.decide(state).value == 1.0) == bool(wins)
        if not wins:
            continue
        player = state.player
        lengths.append(min(map(len, wins)))
        while not state.is_terminal:
            assert state.player == player
            state.apply(agent.decide(state).action)
        assert state.returns()[player] == 1.0
    assert {1, 2} == set(lengths)


@pytest.mark.parametrize(
    "spec", [*NATIVE, "ismcts:sims=10", "expectimax", "openspiel_random", "openspiel_mcts:sims=2"]
)
def test_nothing_is_decided_where_there_is_no_choice(spec: str) -> None:
    game = cardcommons.load("particles")
    agent = make_agent(spec, game)
    agent.restart(1)
    over = State(game)
    for action in ("4h@b2", "pass", "pass"):
        played = over.string_to_action(action)
        over.apply(played)
        agent.inform(played)
    with pytest.raises(ValueError, match="nothing to decide: the game is over in"):
        agent.decide(over)
    with pytest.raises(ValueError, match="can't decide in a state of rally"):
        agent.decide(State(cardcommons.load("rally")))


def test_nobody_decides_for_chance() -> None:
    game = cardcommons.load("treasure")
    with pytest.raises(ValueError, match="nothing to decide: chance is to move"):
        make_agent("random", game).decide(State(game))


def test_agents_want_a_native_game() -> None:
    with pytest.raises(TypeError, match=r"agents play a cardcommons\.Game"):
        make_agent("random", pyspiel.load_game("cardcommons_particles"))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mtcs", "no agent is called 'mtcs'; did you mean 'mcts'"),
        ("mcts:simulations=5", "mcts has no option 'simulations'"),
        ("mcts:sims", "'sims' of mcts should read option=value"),
        ("mcts:sims=many", "'sims' of mcts must be a whole number, not 'many'"),
        ("mcts:sims=0", "'sims' of mcts must be positive, not 0"),
        ("mcts:time=-1", "'time' of mcts must be positive"),
        ("mcts:time=nan", "'time' of mcts must be positive"),
        ("mcts:sims=5,sims=6", "'sims' of mcts is given twice"),
        ("mcts:nodes=10", "'nodes' of mcts must be 1000 to 100000000, not 10"),
        ("mcts:c=-1", "'c' of mcts must be at least 0 and finite"),
        ("ismcts:c=inf", "'c' of ismcts must be at least 0 and finite, not inf"),
        ("mcts:reuse=maybe", "'reuse' of mcts must be True or False"),
        ("minimax:depth=1.5", "'depth' of minimax must be a whole number"),
        ("minimax:table=2", "'table' of minimax must be 4 to 28"),
        ("random:seed=1", "random has no option 'seed'"),
    ],
)
def test_bad_specs_are_explained(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec, cardcommons.load("particles"))


@pytest.mark.parametrize(
    ("options", "wrong", "message"),
    [
        (ISMCTSOptions, {"trust": "0.5"}, "'trust' of ismcts must be a number, not '0.5'"),
        (ISMCTSOptions, {"observer": 3}, "'observer' of ismcts must be a string, not 3"),
        (MCTSOptions, {"threads": 2.5}, "'threads' of mcts must be a whole number, not 2.5"),
        (MCTSOptions, {"tries": True}, "'tries' of mcts must be a whole number, not True"),
        (MCTSOptions, {"reuse": "no"}, "'reuse' of mcts must be True or False, not 'no'"),
        (MCTSOptions, {"temperature": None}, "'temperature' of mcts must be a number, not None"),
        (MinimaxOptions, {"time": "1"}, "'time' of minimax must be a number, not '1'"),
        (ExpectimaxOptions, {"cheat": 1}, "'cheat' of expectimax must be True or False, not 1"),
        (PolicyOptions, {"file": 5}, "'file' of policy must be a string, not 5"),
        (MadeBotOptions, {"make": min}, "'make' of bot must be a string, not <built-in"),
        (OpenSpielMCTSOptions, {"c": "2"}, "'c' of openspiel_mcts must be a number, not '2'"),
    ],
)
def test_options_of_a_wrong_type_are_explained(
    options: type[Any], wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        options(**wrong)


def test_numbers_of_numpy_are_numbers() -> None:
    given: dict[str, Any] = {"sims": np.int64(20), "c": np.float32(0.5), "threads": np.uint8(2)}
    options = MCTSOptions(**given)
    assert options == MCTSOptions(sims=20, c=0.5, threads=2)


def test_specs_round_trip() -> None:
    game = cardcommons.load("particles")
    for spec in ("random", "greedy", "mcts", "mcts:sims=5,c=0.5", "minimax:time=0.25,table=18"):
        assert make_agent(spec, game).spec == spec
    assert {"random", "greedy", "mcts", "minimax"} <= set(AGENTS)


def test_minimax_node_counts_do_not_change_unnoticed() -> None:
    """A signature of the search: any change of its behaviour shows here, and should be meant."""
    assert signature() == 59625
    assert signature("minimax:nodes=20000,multipv=3,table=10") == 186831
