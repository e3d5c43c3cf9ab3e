"""Games for one player as Gymnasium environments."""

import subprocess
import sys
import warnings
from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FlattenObservation

from cardcommons import State, load
from cardcommons.gymnasium import IDS, SoloEnv

RALLY = "cardcommons/Rally-v0"
NO_DECISION = "12-12-16-0"
"""A stage without piles and Boosts plays itself."""


def episode(env: SoloEnv, seed: int | None) -> list[tuple[Any, ...]]:
    """An episode of random legal actions: what each call returned."""
    told: list[tuple[Any, ...]] = [env.reset(seed=seed)]
    rng = np.random.default_rng(1)
    while told[-1][-1]["action_mask"].any():
        action = rng.choice(np.flatnonzero(told[-1][-1]["action_mask"]))
        told.append(env.step(action))
    return told


def plain(told: list[tuple[Any, ...]]) -> str:
    """What calls returned as text, to be compared."""
    return repr(told)


def test_ids() -> None:
    assert IDS == (RALLY,)
    env = gymnasium.make("cardcommons.gymnasium:cardcommons/Rally-v0", jokers=7).unwrapped
    assert isinstance(env, SoloEnv)
    assert env.game.spec == "rally:jokers=7"


@pytest.mark.parametrize(
    "params", [{}, {"jokers": 30}, {"stages": "0-1-0-1", "utility": "win"}, {"stages": "1-0-0-0"}]
)
def test_gymnasium_finds_nothing_wrong(params: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(RALLY, **params).unwrapped)


def test_spaces() -> None:
    env = SoloEnv("rally")
    assert env.action_space.n == 7
    assert isinstance(env.observation_space, gymnasium.spaces.Dict)
    shapes = {name: space.shape for name, space in env.observation_space.items()}
    assert shapes == {tensor.name: tensor.shape for tensor in env.game.views.tensors}
    observation, info = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert (info["action_mask"].dtype, info["action_mask"].shape) == (np.int8, (7,))
    flat, _ = FlattenObservation(env).reset(seed=1)
    assert (flat.shape, flat.dtype) == ((31,), np.float32)


def test_episode_agrees_with_the_game() -> None:
    """Every mask, observation and reward is that of the position the environment stands in."""
    env = SoloEnv("rally", jokers=30)
    env.action_space.seed(1)
    observation, info = env.reset(seed=3)
    ended, length = False, 0
    while not ended:
        assert env.state.player == 0
        assert np.flatnonzero(info["action_mask"]).tolist() == env.state.legal_actions()
        fields = env.state.fields()
        for name in ("unseen", "piles", "sector", "total", "queens", "jacks", "penalties"):
            assert observation[name].tolist() == np.ravel(fields[name]).tolist()
        action = env.action_space.sample(info["action_mask"])
        observation, reward, ended, truncated, info = env.step(action)
        assert not truncated
        assert reward == (env.state.returns()[0] if ended else 0)
        length += 1
    assert length > 5
    assert reward < 0
    assert not info["action_mask"].any()
    assert env.state.is_terminal


def test_same_seed_same_episode() -> None:
    env, other = SoloEnv("rally"), SoloEnv("rally")
    assert plain(episode(env, 5)) == plain(episode(other, 5))
    following = plain(episode(env, None))
    assert following == plain(episode(other, None))
    assert following != plain(episode(env, 5))
    assert plain(episode(env, 6)) != plain(episode(env, 5))


def test_chance_keeps_to_the_weights() -> None:
    env = SoloEnv("rally")
    env.reset(seed=2)
    weights = dict(State(load("rally")).chance_weights())
    numbers = Counter(int(env.reset()[0]["sector"][0]) for _ in range(3000))
    assert sum(numbers.values()) == 3000
    for outcome, weight in weights.items():
        share = weight / sum(weights.values())
        error = (share * (1 - share) / 3000) ** 0.5
        assert abs(numbers[outcome + 1] / 3000 - share) < 4 * error


@pytest.mark.parametrize(
    ("action", "complaint"),
    [
        (5, "5 is not legal in stage 1 .*; legal: 1st 2nd 3rd boost next"),
        (7, "an action is a whole number from 0 to 6, not 7"),
        (-1, "from 0 to 6, not -1"),
        (1.0, "from 0 to 6, not 1.0"),
        ("1st", "from 0 to 6, not '1st'"),
    ],
)
def test_illegal_action_changes_nothing(action: Any, complaint: str) -> None:
    env, other = SoloEnv("rally"), SoloEnv("rally")
    env.reset(seed=4)
    other.reset(seed=4)
    with pytest.raises(ValueError, match=complaint):
        env.step(action)
    assert env.action_space.legal.tolist() == [1, 1, 1, 1, 1, 0, 0]
    assert plain([env.step(1)]) == plain([other.step(1)])


def test_steps_need_an_episode() -> None:
    env = SoloEnv("rally", stages="1-0-0-0")
    with pytest.raises(ValueError, match="call reset first"):
        env.step(0)
    env.reset(seed=1)
    assert env.step(4)[2]  # ``next`` leaves the one sector that there is
    with pytest.raises(ValueError, match="call reset first"):
        env.step(4)


def test_reward_is_the_utility() -> None:
    env = SoloEnv("rally", stages="0-0-1-0")
    observation, _ = env.reset(seed=1)
    _, reward, ended, _, _ = env.step(4)
    assert ended
    assert reward == -float(observation["sector"][0])
    win = SoloEnv("rally", stages="1-0-0-1", utility="win")
    rewards = set()
    for seed in range(20):
        observation, _ = win.reset(seed=seed)
        reward = win.step(3 if observation["sector"][0] == 1 else 4)[1]
        assert reward == (observation["sector"][0] == 1)
        rewards.add(reward)
    assert rewards == {0.0, 1.0}


def test_deal_that_plays_itself_ends_at_the_first_step() -> None:
    env = SoloEnv("rally", stages=NO_DECISION)
    _, info = env.reset(seed=1)
    assert not info["action_mask"].any()
    _, reward, ended, _, _ = env.step(env.action_space.sample())
    assert ended
    assert reward == -16
    with pytest.raises(ValueError, match="call reset first"):
        env.step(0)


def test_samples_are_legal_unless_told_otherwise() -> None:
    env = SoloEnv("rally")
    env.action_space.seed(1)
    env.reset(seed=1)
    assert {int(env.action_space.sample()) for _ in range(200)} == {0, 1, 2, 3, 4}
    only = np.array([0, 0, 0, 0, 0, 0, 1], dtype=np.int8)
    assert env.action_space.sample(only) == 6
    assert env.action_space.sample(mask=only) == 6


def test_mask_is_the_callers_own() -> None:
    env = SoloEnv("rally")
    _, info = env.reset(seed=1)
    info["action_mask"][:] = 0
    assert env.action_space.legal.any()


def test_render() -> None:
    env = gymnasium.make(RALLY, render_mode="ansi")
    env.reset(seed=3)
    drawn = env.render()
    assert isinstance(drawn, str)
    assert drawn.startswith("stage 1 hidden ")
    assert "1st gear: " in drawn
    assert SoloEnv("rally").render() is None


@pytest.mark.parametrize(
    ("told", "complaint"),
    [
        ({"name": "particles"}, "one player is needed, and particles has 2"),
        ({"name": "raly"}, "did you mean 'rally'?"),
        ({"name": "rally", "joker": 3}, "did you mean 'jokers'?"),
        ({"name": "rally", "render_mode": "human"}, "must be 'ansi' or None, not 'human'"),
    ],
)
def test_environments_that_cannot_be(told: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint.replace("?", r"\?")):
        SoloEnv(**told)


def test_options_are_refused() -> None:
    with pytest.raises(ValueError, match=r"there are no options, so .*stage"):
        SoloEnv("rally").reset(options={"stage": 2})


def test_package_does_not_need_gymnasium() -> None:
    script = "import sys, cardcommons; sys.exit('gymnasium' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_seeded_sample_does_not_depend_on_where_an_episode_was() -> None:
    samples = []
    for action in (None, 2):
        env = SoloEnv("rally")
        env.reset(seed=1)
        if action is not None:
            env.step(action)
            assert env.action_space.legal.tolist() == [0, 0, 0, 0, 0, 1, 1]
        env.action_space.seed(123)
        samples.append([int(env.action_space.sample()) for _ in range(20)])
    assert samples[0] == samples[1]
    assert set(samples[0]) <= {0, 1, 2, 3, 4}
