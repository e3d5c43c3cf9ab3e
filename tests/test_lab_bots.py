"""OpenSpiel's bots as agents, and agents as OpenSpiel's bots."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import evaluate_bots
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

from agents import AGENTS, as_bot, make_agent
from agents import openspiel as bots
from agents.base import Candidate, Decision
from agents.openspiel import BotAgent, policy_of
from cardcommons import State, load
from cardcommons.rng import child_seed
from experiments.match import Played, play, random_opening
from tests.lab import Listener, games, run


class Notebook(pyspiel.Bot):  # type: ignore[misc]
    """Plays its last legal action, and notes what it is told and shown."""

    def __init__(self, player: int, seed: int) -> None:
        pyspiel.Bot.__init__(self)
        self.player = player
        self.seed = seed
        self.told: list[tuple[list[int], int, int]] = []
        self.forced: list[int] = []

    def inform_action(self, state: pyspiel.State, player: int, action: int) -> None:
        self.told.append((state.history(), player, action))

    def provides_force_action(self) -> bool:
        return True

    def force_action(self, state: pyspiel.State, action: int) -> None:
        self.forced.append(action)

    def step(self, state: pyspiel.State) -> int:
        assert state.current_player() == self.player
        action: int = state.legal_actions()[-1]
        state.apply_action(action)  # spoils nothing: the state is the bot's own
        return action


class Made:
    """The bots that :func:`make_notebook` made."""

    bots: list[Notebook] = []  # noqa: RUF012


def make_notebook(game: pyspiel.Game, player: int, seed: int) -> Notebook:
    assert game.get_type().short_name == "cardcommons_particles"
    Made.bots.append(Notebook(player, seed))
    return Made.bots[-1]


def make_cpp_mcts(game: pyspiel.Game, player: int, seed: int) -> pyspiel.Bot:
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed % 2**31)
    return pyspiel.MCTSBot(game, evaluator, 2.0, 10, 10, False, seed % 2**31, False)


def bout(first: str, second: str, seed: int = 4, decisions: int = 2) -> Played:
    game = load("particles", torus=True)
    opening = random_opening(game, seed, decisions)
    return play(game, [make_agent(first, game), make_agent(second, game)], seed, opening)


def test_bot_hears_all_that_others_do_and_what_it_is_forced_to() -> None:
    Made.bots.clear()
    specs = ("random", "bot:make=tests.test_lab_bots.make_notebook")
    played = bout(*specs, decisions=6)
    state = State(load("particles", torus=True))
    heard: list[tuple[list[int], int, int]] = []
    forced: list[int] = []
    history: list[int] = []
    for number, text in enumerate(played.actions):
        action = state.string_to_action(text)
        if state.player == 0:
            heard.append((history.copy(), 0, action))
        elif number < 6:
            forced.append(action)
        else:
            assert action == state.legal_actions()[-1]
        history.append(action)
        state.apply(action)
    (bot,) = Made.bots
    assert bot.told == heard
    assert bot.forced == forced
    assert forced
    assert bot.seed == child_seed(child_seed(4, "agent", *specs, 1), 1)


def test_bot_begins_each_game_anew() -> None:
    game = load("particles")
    agent = make_agent("bot:make=tests.test_lab_bots.make_notebook", game)
    other = make_agent("random", game)
    Made.bots.clear()
    one, two = play(game, [agent, other], seed=1), play(game, [other, agent], seed=2)
    assert play(game, [agent, other], seed=1).actions == one.actions
    assert two.actions != one.actions
    assert [bot.player for bot in Made.bots] == [0, 1, 0]


@pytest.mark.parametrize(
    "spec",
    ["openspiel_random", "openspiel_mcts:sims=4", "bot:make=tests.test_lab_bots.make_cpp_mcts"],
)
def test_bots_play_whole_games_by_their_seed(spec: str) -> None:
    one, again, other = (bout(spec, "random", seed) for seed in (1, 1, 2))
    assert sum(one.returns) == 0
    assert one.actions == again.actions
    assert one.actions != other.actions


def test_openspiel_mcts_wins_against_random() -> None:
    seats = [("openspiel_mcts:sims=40", "random"), ("random", "openspiel_mcts:sims=40")]
    won = [bout(*seating, seed).returns[seat] > 0
           for seed in range(3) for seat, seating in enumerate(seats)]  # fmt: skip
    assert sum(won) >= 5


@pytest.mark.parametrize(
    ("spec", "name", "params"),
    [
        ("openspiel_mcts:time=4.0", "particles", {}),
        ("openspiel_ismcts:time=4.0", "treasure", {"rows": 2, "columns": 2, "ranks": 2}),
    ],
)
def test_openspiel_search_spends_the_time_it_is_given(
    spec: str, name: str, params: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A playout takes 1/16 s: 20 of them on trial, 44 in the time that is left."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(bots, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    evaluate = RandomRolloutEvaluator.evaluate

    def timed(evaluator: RandomRolloutEvaluator, state: pyspiel.State) -> np.ndarray:
        clock.now += 0.0625
        values: np.ndarray = evaluate(evaluator, state)
        return values

    monkeypatch.setattr(RandomRolloutEvaluator, "evaluate", timed)
    game = load(name, **params)
    agent, state = make_agent(spec, game), State(game)
    agent.restart(1)
    while state.player < 0:
        action = state.chance_weights()[0][0]
        state.apply(action)
        agent.inform(action)
    assert agent.decide(state).action in state.legal_actions()
    assert clock.now == 4.0


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("openspiel_mcts:time=1e-9", "particles"),
        ("openspiel_ismcts:time=1e-9", "gluons"),
    ],
)
def test_openspiel_search_decides_even_without_time(spec: str, name: str) -> None:
    game = load(name)
    agent, state = make_agent(spec, game), State(game)
    agent.restart(1)
    while state.is_chance:
        action = state.legal_actions()[0]
        state.apply(action)
        agent.inform(action)
    assert agent.decide(state).action in state.legal_actions()


def test_bot_that_missed_an_action_says_so() -> None:
    game = load("particles")
    agent = make_agent("openspiel_random", game)
    assert isinstance(agent, BotAgent)
    state = State(game)
    state.apply("3h@b2")
    with pytest.raises(ValueError, match="openspiel_random has not heard of every action"):
        agent.decide(state)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("bot", "bot needs make=package.module.function"),
        ("bot:make=nothing", "bot needs make=package.module.function"),
        ("bot:make=no.such.thing", "no function 'no.such.thing'"),
        ("bot:make=math.no_such_thing", "no function 'math.no_such_thing'"),
        ("bot:make=math.pi", "'math.pi' is not a function"),
        ("openspiel_mcts:sims=0", "option 'sims' of openspiel_mcts must be positive"),
        ("openspiel_mcts:time=0", "option 'time' of openspiel_mcts must be positive"),
    ],
)
def test_specs_that_make_no_bot(spec: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make_agent(spec, load("particles"))


def test_bots_enter_tournaments(tmp_path: Path) -> None:
    field = ["random", "openspiel_random", "openspiel_mcts:sims=3"]
    assert run(tmp_path, agents=field, pairs=1) == 0
    assert [game["index"] for game in games(tmp_path)] == list(range(6))


def new_state() -> pyspiel.State:
    return pyspiel.load_game("cardcommons_particles").new_initial_state()


PLAYERS = [
    "random", "greedy", "mcts:sims=10", "ismcts:sims=10", "minimax:depth=1", "expectimax",
    "openspiel_random", "openspiel_mcts:sims=2",
]  # fmt: skip


def test_every_agent_is_tried_as_a_bot() -> None:
    elsewhere = {"bot", "policy", "openspiel_ismcts"}
    assert {spec.split(":")[0] for spec in PLAYERS} == set(AGENTS) - elsewhere


@pytest.mark.parametrize("spec", PLAYERS)
def test_agents_play_in_openspiel(spec: str) -> None:
    game = load("particles")
    bots = [as_bot(make_agent(spec, game), 0), as_bot(make_agent("random", game), 1)]
    in_cpp = pyspiel.evaluate_bots(new_state(), bots, 1)
    in_python = evaluate_bots.evaluate_bots(new_state(), bots, np.random.RandomState(1))
    assert sorted(in_cpp) == sorted(in_python) == [-1, 1]


@pytest.mark.parametrize("tell", [True, False])
def test_agent_as_bot_hears_everything_once(tell: bool) -> None:
    agent = Listener(load("particles"))
    bots = [as_bot(agent, 0), as_bot(make_agent("random", agent.game), 1, seed=9)]
    seeds = set()
    for _ in range(2):
        state = new_state()
        last_seen: list[int] = []
        while not state.is_terminal():
            player = state.current_player()
            action = bots[player].step(state)
            if player == 0:
                last_seen = state.history()
            if tell:
                bots[1 - player].inform_action(state, player, action)
            state.apply_action(action)
        assert agent.heard == last_seen
        seeds.add(agent.seed)
    assert len(seeds) == 2


def test_agent_as_bot_decides_as_in_a_match() -> None:
    """The same agent with the same seed chooses the same, up to its last choice."""
    game = load("particles")
    seed = 12
    agents = [make_agent("mcts:sims=30", game), Listener(game)]
    native = play(game, agents, seed)
    bot = as_bot(make_agent("mcts:sims=30", game), 0)
    bot.agent.restart(child_seed(seed, "agent", "mcts:sims=30", "listener", 0))
    state = new_state()
    for action in native.actions:
        if state.current_player() == 0:
            assert state.action_to_string(bot.step(state)) == action
        state.apply_action(state.string_to_action(action))
    assert state.is_terminal()


def test_policy_of_a_bot() -> None:
    bot = as_bot(make_agent("greedy", load("particles")), 0)
    state = new_state()
    assert bot.provides_policy()
    policy, action = bot.step_with_policy(state)
    assert [a for a, _ in policy] == state.legal_actions()
    assert [a for a, p in policy if p == 1] == [action]
    assert sum(p for _, p in bot.get_policy(state)) == 1


def test_policy_of_a_search_is_where_it_looked() -> None:
    game, seed = load("particles"), 6
    bot = as_bot(make_agent("mcts:sims=200", game), 0, seed)
    policy, action = bot.step_with_policy(new_state())
    agent = make_agent("mcts:sims=200", game)
    agent.restart(child_seed(seed, 0))
    decision = agent.decide(State(game))
    assert action == decision.action
    assert dict(policy) == {c.action: c.visits / 200 for c in decision.candidates}


def test_policy_of_a_proven_action_is_that_action() -> None:
    candidates = (Candidate(3, 1.0, 5, "exact"), Candidate(1, 0.5, 90, "mean"))
    assert policy_of(Decision(3, candidates=candidates), [1, 2, 3]) == [(1, 0), (2, 0), (3, 1)]
    assert policy_of(Decision(1, candidates=candidates), [1, 2, 3]) == [(1, 1), (2, 0), (3, 0)]
    assert policy_of(Decision(2), [1, 2]) == [(1, 0), (2, 1)]


def test_agent_as_bot_plays_on_after_it_was_forced() -> None:
    bot = as_bot(make_agent("mcts:sims=20", load("particles")), 0)
    assert bot.provides_force_action()
    state = new_state()
    while state.current_player() == 0:
        action = state.legal_actions()[0]
        bot.force_action(state, action)
        state.apply_action(action)
    while state.current_player() == 1:
        state.apply_action(state.legal_actions()[0])
    assert bot.step(state) in state.legal_actions()


SMALL = {"rows": 2, "columns": 2, "ranks": 2, "hand": 2}


def test_openspiel_ismcts_plays_where_something_is_hidden() -> None:
    game = load("treasure", **SMALL)
    seats = [make_agent(spec, game) for spec in ("openspiel_ismcts:sims=10", "random")]
    played = play(game, seats, seed=2)
    assert play(game, seats, seed=2).actions == played.actions
    assert play(game, seats, seed=3).actions != played.actions
    with pytest.raises(ValueError, match="openspiel_ismcts needs hidden information, and particl"):
        make_agent("openspiel_ismcts", load("particles"))


@pytest.mark.parametrize("spec", ["ismcts:sims=20", "openspiel_ismcts:sims=5"])
def test_agents_play_hidden_information_in_openspiel(spec: str) -> None:
    game = load("treasure", **SMALL)
    state = pyspiel.load_game("cardcommons_treasure", SMALL).new_initial_state()
    bots = [as_bot(make_agent(spec, game), 0), as_bot(make_agent("random", game), 1)]
    assert sum(pyspiel.evaluate_bots(state, bots, 1)) == 0


def test_bot_refuses_states_of_other_games() -> None:
    bot = as_bot(make_agent("random", load("particles")), 0)
    with pytest.raises(TypeError, match="cardcommons_"):
        bot.step(pyspiel.load_game("tic_tac_toe").new_initial_state())
