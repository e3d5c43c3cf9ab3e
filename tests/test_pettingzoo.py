"""Every game as a PettingZoo environment."""

import copy
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import fields
from textwrap import dedent
from typing import Any

import numpy as np
import pettingzoo
import pyspiel
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils import random_demo
from pettingzoo.utils.wrappers import OrderEnforcingWrapper, TerminateIllegalWrapper

import cardcommons.pettingzoo
from cardcommons import GAMES, Game, load
from cardcommons.games import FAMILIES
from cardcommons.openspiel import OpenSpielObserver
from cardcommons.pettingzoo import IDS, GameEnv, env, raw_env
from cardcommons.rng import make_rng
from cardcommons.state import make_verb
from tests import kuhn

PARAMS: dict[str, list[dict[str, Any]]] = {
    "particles": [{"tutorial": True, "torus": True}],
    "treasure": [{"rows": 3, "columns": 3, "ranks": 4, "hand": 2, "utility": "margin"}],
    "rally": [{"stages": "0-1-0-1", "utility": "win"}],
}
"""Parameters that are tried, besides the defaults and every number of players."""


def variants(name: str) -> list[dict[str, Any]]:
    """Parameters of a family that its environments are tested with."""
    known = {field.name for field in fields(FAMILIES[name].params)}
    seats = [{"players": n} for n in (2, 3, 4)] if "players" in known else []
    return [*(seats or [{}]), *PARAMS.get(name, [])]


def make_kuhn(players: int, rake: int = 0) -> Game:
    """Kuhn poker, which is not in the catalogue."""
    return kuhn.make(kuhn.KuhnParams(players=players, rake=rake))


GAMES_TO_TEST = [
    *(load(name, **params) for name in FAMILIES for params in variants(name)),
    *(make_kuhn(players, rake=players - 2) for players in (2, 3, 4)),
]
PLAYS_ITSELF = load("rally", stages="12-12-16-0")
"""A stage without piles and Boosts asks for no decision."""

every_game = pytest.mark.parametrize("game", GAMES_TO_TEST, ids=repr)


def walk(table: GameEnv, seed: int | None) -> Iterator[tuple[Any, ...]]:
    """An episode of random legal actions: before each, the agent and what it is told.

    Each agent's leave, by the action ``None``, is part of it.
    """
    rng = np.random.default_rng(1)
    table.reset(seed=seed)
    for agent in table.agent_iter():
        observation, *others = table.last()
        yield agent, observation, *others
        legal = np.flatnonzero(observation["action_mask"])
        table.step(None if table.terminations[agent] else rng.choice(legal))


@pytest.mark.parametrize("game", [*GAMES_TO_TEST, PLAYS_ITSELF], ids=repr)
def test_pettingzoo_finds_nothing_wrong(game: Game) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # PettingZoo's documentation asks for a dict where there is a mask, and its test warns of
        # any dict but those of its own games, which it knows by name.
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        warnings.filterwarnings("ignore", "Observation space for each agent probably should be")
        # An agent that takes leave has no legal action.
        warnings.filterwarnings("ignore", "Action mask numpy array is all zeros")
        api_test(OrderEnforcingWrapper(GameEnv(game)))
        seed_test(lambda: OrderEnforcingWrapper(GameEnv(game)))


@every_game
def test_episode_agrees_with_the_game(game: Game) -> None:
    """Masks and rewards are those of the position, observations those that OpenSpiel gets."""
    table = GameEnv(game)
    observer = OpenSpielObserver(game, pyspiel.IIGObservationType(perfect_recall=False))
    agents = [f"player_{seat}" for seat in range(game.rules.num_players)]
    assert table.possible_agents == agents
    taken_leave = []
    for agent, observation, reward, terminated, truncated, info in walk(table, seed=3):
        state = table.episode.state
        assert (terminated, truncated, info) == (state.is_terminal, False, {})
        assert reward == state.returns()[agents.index(agent)]
        if terminated:
            taken_leave.append(agent)
        else:
            assert agent == agents[state.player]
        legal = [] if terminated else state.legal_actions()
        assert np.flatnonzero(observation["action_mask"]).tolist() == legal
        for seat, viewer in enumerate(agents):
            seen = table.observe(viewer)
            assert table.observation_space(viewer).contains(seen)
            assert viewer == agent or not seen["action_mask"].any()
            observer.set_from(state, seat)  # type: ignore[arg-type]  # it has the words
            assert observer.tensor is not None
            assert np.array_equal(seen["observation"], observer.tensor)
    assert taken_leave == agents
    assert table.agents == []


@pytest.mark.parametrize(
    "game", [game for game in GAMES_TO_TEST if game.has_hidden_information], ids=repr
)
def test_observations_tell_nothing_hidden(game: Game) -> None:
    """What an agent observes stays the same when all that it doesn't know is dealt anew."""
    table, rng = GameEnv(game), make_rng(5)
    told_others = 0
    for agent, *_ in walk(table, seed=2):
        state = table.episode.state
        dealt, legal = state.words.copy(), state.legal_actions()
        seen = [table.observe(viewer) for viewer in table.possible_agents]
        for seat, viewer in enumerate(table.possible_agents):
            make_verb(game.rules, "resample")(state.words, seat, rng)
            now = [table.observe(other) for other in table.possible_agents]
            assert data_equivalence(now[seat], seen[seat])
            assert viewer != agent or state.legal_actions() == legal
            told_others += not data_equivalence(now, seen)
            state.words[:] = dealt
    assert told_others > 0


def test_all_get_their_utility_at_the_end() -> None:
    """A bet that nobody calls wins one ante from each of the others, whatever the cards."""
    table = GameEnv(make_kuhn(3))
    table.reset(seed=1)
    for action in (kuhn.PASS, kuhn.BET, kuhn.PASS):
        table.step(action)
        assert table.rewards == {"player_0": 0, "player_1": 0, "player_2": 0}
        assert not any(table.terminations.values())
    table.step(kuhn.PASS)
    assert table.rewards == {"player_0": -1, "player_1": 2, "player_2": -1}
    assert table.terminations == {"player_0": True, "player_1": True, "player_2": True}
    told = {}
    for agent in table.agent_iter():
        _, told[agent], terminated, truncated, _ = table.last()
        assert (terminated, truncated) == (True, False)
        table.step(None)
    assert told == {"player_0": -1, "player_1": 2, "player_2": -1}


def test_an_agent_sees_its_own_card_and_the_betting() -> None:
    table = GameEnv(make_kuhn(3))
    table.reset(seed=1)
    table.step(kuhn.BET)
    cards = [int(card) for card in table.episode.state.position.split()[0]]
    assert len(set(cards)) == 3
    for agent, card in zip(table.possible_agents, cards, strict=True):
        seen = table.observe(agent)
        assert [part.dtype for part in seen.values()] == [np.float32, np.int8]
        blocks: Any = spaces.unflatten(table.blocks, seen["observation"])
        assert blocks["card"].tolist() == [float(card == held) for held in range(4)]
        assert blocks["line"].tolist() == [[0, 1], [0, 0], [0, 0], [0, 0], [0, 0]]
        assert seen["action_mask"].tolist() == [int(agent == "player_1")] * 2


def test_same_seed_same_episode() -> None:
    table, other = raw_env("treasure"), raw_env("treasure")
    first = list(walk(table, 5))
    assert data_equivalence(first, list(walk(other, 5)))
    following = list(walk(table, None))
    assert data_equivalence(following, list(walk(other, None)))
    assert not data_equivalence(following[0], first[0])
    assert data_equivalence(first[0], next(walk(table, 5)))
    assert not data_equivalence(first[0], next(walk(table, 6)))


def test_without_a_seed_environments_differ() -> None:
    deals = set()
    for _ in range(4):
        table = raw_env("treasure")
        table.reset()
        deals.add(table.episode.state.position)
    assert len(deals) > 1


def test_every_deal_occurs() -> None:
    table = GameEnv(make_kuhn(3))
    deals = set()
    for seed in range(400):
        table.reset(seed=seed)
        deals.add(table.episode.state.position.split()[0])
    assert len(deals) == 4 * 3 * 2


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_an_episode_can_be_left(steps: int) -> None:
    """Before its end, at it, and between the leaves of its agents."""
    table, other = GameEnv(make_kuhn(2)), GameEnv(make_kuhn(2))
    table.reset(seed=1)
    for action in (kuhn.PASS, kuhn.PASS, None)[:steps]:
        table.step(action)
    assert data_equivalence(list(walk(table, 2)), list(walk(other, 2)))


@pytest.mark.parametrize(
    "twin_of", [lambda table: pickle.loads(pickle.dumps(table)), copy.deepcopy]
)
def test_a_copy_goes_on_where_the_environment_was(twin_of: Any) -> None:
    table = env("treasure", rows=3, columns=3, ranks=4)
    table.reset(seed=1)
    twin = twin_of(table)
    for action in (None, *range(6)):
        if action is not None:
            for one in (twin, table):
                one.step(np.flatnonzero(one.last()[0]["action_mask"])[0])
        assert data_equivalence(twin.last(), table.last())
    assert twin.unwrapped.episode.state.position == table.unwrapped.episode.state.position
    twin.reset()
    table.reset()
    assert data_equivalence(twin.last(), table.last())


@pytest.mark.parametrize(
    ("action", "complaint"),
    [
        (5, "5 is not legal in stage 1 .*; legal: 1st 2nd 3rd boost next"),
        (7, "an action is a whole number from 0 to 6, not 7"),
        (-1, "from 0 to 6, not -1"),
        (1.0, "from 0 to 6, not 1.0"),
        (None, "from 0 to 6, not None"),
    ],
)
def test_illegal_action_changes_nothing(action: Any, complaint: str) -> None:
    table, other = env("rally"), env("rally")
    table.reset(seed=4)
    other.reset(seed=4)
    with pytest.raises(ValueError, match=complaint):
        table.step(action)
    assert data_equivalence(table.last(), other.last())
    table.step(1)
    other.step(1)
    assert data_equivalence(table.last(), other.last())


def test_illegal_action_ends_the_episode_if_so_wrapped() -> None:
    table = TerminateIllegalWrapper(raw_env("treasure"), illegal_reward=-1)
    table.reset(seed=1)
    mover = table.agent_selection
    table.step(np.flatnonzero(table.observe(mover)["action_mask"] == 0)[0])
    for agent in table.agent_iter():
        observation, reward, terminated, _, _ = table.last()
        assert terminated
        assert reward == (-1 if agent == mover else 0)
        assert not observation["action_mask"].any()
        table.step(None)
    table.reset(seed=1)
    assert not table.last()[2]


def test_steps_need_an_episode() -> None:
    table = GameEnv(make_kuhn(2))
    with pytest.raises(ValueError, match="call reset first"):
        table.step(kuhn.PASS)
    table.reset(seed=1)
    table.step(kuhn.PASS)
    table.step(kuhn.PASS)
    with pytest.raises(ValueError, match="the only valid action is None"):
        table.step(kuhn.PASS)
    table.step(None)
    table.step(None)
    with pytest.raises(ValueError, match="call reset first"):
        table.step(kuhn.PASS)


def test_wrong_order_is_told_as_pettingzoo_tells_it() -> None:
    table = env("treasure")
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before step"):
        table.step(0)
    with pytest.raises(AttributeError, match="agents cannot be accessed before reset"):
        print(table.agents)


@pytest.mark.parametrize("call", ["observe", "observation_space", "action_space"])
def test_unknown_agents_are_named(call: str) -> None:
    table = raw_env("treasure")
    table.reset(seed=1)
    with pytest.raises(
        ValueError, match=r"no agent is called 'player_2' \(agents: player_0, player_1\)"
    ):
        getattr(table, call)("player_2")


def test_episode_that_plays_itself_ends_at_the_first_step() -> None:
    table = GameEnv(PLAYS_ITSELF)
    for action in (0, 6):
        table.reset(seed=1)
        observation, reward, terminated, _, _ = table.last()
        assert (reward, terminated) == (0, False)
        assert observation["action_mask"].tolist() == [1] * 7
        table.step(action)
        observation, reward, terminated, _, _ = table.last()
        assert (reward, terminated) == (-16, True)
        assert not observation["action_mask"].any()
    assert random_demo(table, render=False) == -16


def test_observations_are_the_callers_own() -> None:
    table = raw_env("treasure")
    table.reset(seed=1)
    seen = table.last()[0]
    before = copy.deepcopy(seen)
    seen["action_mask"][:] = 0
    seen["observation"][:] = 7
    assert data_equivalence(table.last()[0], before)


def test_render() -> None:
    table = env("treasure", render_mode="ansi", rows=3, columns=3)
    table.reset(seed=1)
    assert table.render() == str(table.unwrapped.episode.state)
    silent = raw_env("treasure")
    silent.reset(seed=1)
    assert silent.render() is None


def test_ids() -> None:
    assert list(IDS) == [f"cardcommons/{name}-v0" for name in GAMES]
    for name, known_as in zip(GAMES, IDS, strict=True):
        assert pettingzoo.make("aec", known_as).unwrapped.game.spec == name
    table = pettingzoo.make("aec", "cardcommons/treasure-v0", render_mode="ansi", hand=2)
    assert isinstance(table, OrderEnforcingWrapper)
    assert table.unwrapped.game.spec == "treasure:hand=2"
    assert (table.unwrapped.render_mode, str(table)) == ("ansi", "treasure_v0")


@pytest.mark.parametrize(
    ("told", "complaint"),
    [
        ({"name": "raly"}, "did you mean 'rally'?"),
        ({"name": "rally", "joker": 3}, "did you mean 'jokers'?"),
        ({"name": "rally", "render_mode": "human"}, "must be 'ansi' or None, not 'human'"),
    ],
)
def test_environments_that_cannot_be(told: dict[str, Any], complaint: str) -> None:
    for make in (env, raw_env):
        with pytest.raises(ValueError, match=complaint.replace("?", r"\?")):
            make(**told)


def test_the_docstrings_snippet_runs() -> None:
    lines = str(cardcommons.pettingzoo.__doc__).splitlines(keepends=True)
    snippet = dedent("".join(line for line in lines if line.startswith("    ")))
    names: dict[str, Any] = {"env": env}
    exec(compile(snippet, "docstring", "exec"), names)
    assert names["table"].agents == []
    assert names["terminated"]
    assert names["table"].unwrapped.episode.state.is_terminal


def test_package_does_not_need_pettingzoo() -> None:
    script = "import sys, cardcommons; sys.exit('pettingzoo' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)
