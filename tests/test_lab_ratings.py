"""Ratings against closed forms, and against tournaments simulated with known strengths."""

import math

import numpy as np
import pytest

from experiments.ratings import ELO, Array, rate

NORMAL_95 = 1.959963984540054


def elo_of_score(score: float) -> float:
    return 400 * math.log10(score / (1 - score))


def matrices(agents: int, **results: tuple[float, float]) -> tuple[Array, Array]:
    """Score and games from ``_01=(score of 0 in the first seat, games)``."""
    score, games = np.zeros((agents, agents)), np.zeros((agents, agents))
    for seats, (scored, played) in results.items():
        first, second = int(seats[1]), int(seats[2])
        score[first, second], games[first, second] = scored, played
    return score, games


@pytest.mark.parametrize("score", [0.5, 0.6, 0.75, 0.99])
def test_two_agents_without_seat_effect(score: float) -> None:
    ratings = rate(*matrices(2, _01=(100 * score, 100), _10=(100 - 100 * score, 100)), 0)
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(elo_of_score(score), abs=1e-6)
    assert ratings.elo.sum() == pytest.approx(0, abs=1e-9)
    assert ratings.advantage == pytest.approx(0, abs=1e-6)


def test_seat_effect_is_told_from_strength() -> None:
    ratings = rate(*matrices(2, _01=(8, 10), _10=(6, 10)), 0)
    seat0, seat1 = elo_of_score(0.8), elo_of_score(0.6)
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx((seat0 - seat1) / 2, abs=1e-6)
    assert ratings.advantage == pytest.approx((seat0 + seat1) / 2, abs=1e-6)


def test_strengths_add_up_along_a_chain() -> None:
    results = matrices(3, _01=(3, 4), _10=(1, 4), _12=(3, 4), _21=(1, 4))
    step = elo_of_score(0.75)  # 190.85
    assert rate(*results, 0).elo == pytest.approx([step, 0, -step], abs=1e-6)


def test_errors_of_even_agents() -> None:
    """The information about a difference is a quarter a game; half the difference is a rating."""
    ratings = rate(*matrices(2, _01=(50, 100), _10=(50, 100)), 0)
    expected = ELO * NORMAL_95 * math.sqrt(4 / 200)
    assert ratings.error == pytest.approx([expected / 2] * 2, rel=1e-9)
    assert ratings.advantage_error == pytest.approx(expected, rel=1e-9)


def test_virtual_draws_keep_a_perfect_score_finite() -> None:
    results = matrices(2, _01=(5, 5), _10=(0, 5))
    ratings = rate(*results, virtual_draws=1)
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(elo_of_score(5.25 / 5.5), abs=1e-6)
    with pytest.raises(ValueError, match="no finite rating without virtual draws"):
        rate(*results, virtual_draws=0)


def simulate(strength: Array, advantage: float, games: int, seed: int) -> tuple[Array, Array]:
    """A round robin with ``games`` in each seating."""
    rng = np.random.default_rng(seed)
    gap = strength[:, None] - strength[None, :] + advantage
    wins = 1 / (1 + 10 ** (-gap / 400))
    np.fill_diagonal(wins, 0)
    count = np.full(wins.shape, games) - games * np.eye(len(strength), dtype=int)
    return rng.binomial(count, wins).astype(float), count.astype(float)


def test_known_strengths_are_found_and_errors_hold_95_percent() -> None:
    strength, advantage = np.array([150.0, 30.0, -20.0, -160.0]), 40.0
    within = []
    for seed in range(200):
        ratings = rate(*simulate(strength, advantage, 60, seed))
        within += list(np.abs(ratings.elo - strength) < ratings.error)
        within.append(abs(ratings.advantage - advantage) < ratings.advantage_error)
    assert 0.93 < np.mean(within) < 0.97
    many = rate(*simulate(strength, advantage, 100_000, seed=1))
    assert many.elo == pytest.approx(strength, abs=3)
    assert many.advantage == pytest.approx(advantage, abs=3)
