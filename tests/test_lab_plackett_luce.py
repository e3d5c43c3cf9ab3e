"""Ratings of several players against closed forms, brute force and simulated tournaments."""

import math
import random
from itertools import combinations, permutations, product

import numpy as np
import pytest

from experiments import ratings
from experiments.plackett_luce import Outcome, rate
from experiments.ratings import ELO, NORMAL_95, Array

NO_PRIOR = 1e-9
"""Virtual draws too few to be seen."""


def ranking(agents: str) -> Outcome:
    """``"0 12"``: agent 0 before 1 and 2, who tie."""
    return tuple(tuple(map(int, group)) for group in agents.split())


def each(**times: int) -> list[list[Outcome]]:
    """Deals of one game: ``_0_12=5`` for five of them."""
    return [
        [ranking(name[1:].replace("_", " "))] for name, count in times.items() for _ in range(count)
    ]


def ratios(elo: Array) -> Array:
    """Strengths, that of the last agent being 1."""
    strengths: Array = np.exp((elo - elo[-1]) / ELO)
    return strengths


@pytest.mark.parametrize(("wins", "losses"), [(1, 1), (7, 3), (30, 0)])
def test_two_agents_are_rated_as_by_bradley_and_terry(wins: int, losses: int) -> None:
    score = np.array([[0, wins], [losses, 0]], dtype=np.float64)
    games = np.full((2, 2), wins + losses) - np.diag([wins + losses] * 2)
    wanted = ratings.rate(score, games.astype(np.float64), virtual_draws=2)
    found = rate(2, each(_0_1=2 * wins, _1_0=2 * losses), virtual_draws=2)
    assert found.elo == pytest.approx(wanted.elo, abs=1e-6)
    chance = (2 * wins + 1) / (2 * (wins + losses) + 2)
    assert found.elo[0] - found.elo[1] == pytest.approx(ELO * math.log(chance / (1 - chance)))


@pytest.mark.parametrize(("wins", "losses"), [(6, 6), (7, 3), (10, 0)])
def test_errors_of_two_agents_by_hand(wins: int, losses: int) -> None:
    """A game won asks for ``1 - p`` more, a game lost for ``p`` less; halves of each are virtual.

    The information is that of all games, ``p (1 - p)`` each; a rating is half the difference.
    """
    n = wins + losses
    p = (wins + 0.5) / (n + 1)
    scatter = (wins * (1 - p) ** 2 + losses * p**2) * n / (n - 1) + ((1 - p) ** 2 + p**2) / 2
    expected = ELO * NORMAL_95 * math.sqrt(scatter) / ((n + 1) * p * (1 - p)) / 2
    error = rate(2, each(_0_1=wins, _1_0=losses)).error
    assert error == pytest.approx([expected] * 2, rel=1e-6)


def test_known_strengths_are_found_where_counts_are_as_they_ask() -> None:
    """With strengths 4, 2, 1 the order 012 has probability 4/7 2/3, and so on; 105 games in all."""
    counts = {"_0_1_2": 40, "_0_2_1": 20, "_1_0_2": 24, "_1_2_0": 6, "_2_0_1": 10, "_2_1_0": 5}
    assert ratios(rate(3, each(**counts), NO_PRIOR).elo) == pytest.approx([4, 2, 1], rel=1e-6)


def test_winners_alone_are_rated_by_their_odds_of_winning() -> None:
    found = rate(3, each(_0_12=50, _1_02=30, _2_01=20), NO_PRIOR)
    assert ratios(found.elo) == pytest.approx([2.5, 1.5, 1], rel=1e-6)
    assert found.elo.sum() == pytest.approx(0, abs=1e-9)


def test_agent_in_two_seats() -> None:
    """Agent 1 wins a share of ``b / (2 a + b)``, here a half: it is twice as strong."""
    assert ratios(rate(2, each(_0_01=8, _1_00=8), NO_PRIOR).elo) == pytest.approx([0.5, 1])


def test_tie_for_first_place() -> None:
    """Agents 0 and 1 tie before 2 three times, and behind 2 seven times.

    Be their strength 1 and that of 2 be c.  The likelihood has the factors
    ``(1 / (2 + c) 1 / (1 + c))**3`` and ``(c / (2 + c))**7``, and its logarithm the slope
    ``7 / c - 10 / (2 + c) - 3 / (1 + c)``, which is 0 at c = 2.
    """
    assert ratios(rate(3, each(_01_2=3, _2_01=7), NO_PRIOR).elo) == pytest.approx([0.5, 0.5, 1])


def test_games_that_all_tie_say_nothing() -> None:
    plain = each(_0_1_2=3, _2_0_1=1)
    assert rate(3, [*plain, *each(_012=50)]).elo == pytest.approx(rate(3, plain).elo, abs=1e-9)
    assert rate(3, each(_012=2)).elo == pytest.approx([0, 0, 0], abs=1e-9)


def test_games_of_a_deal_that_repeat_one_another_do_not_lessen_errors() -> None:
    once = each(_0_1_2=9, _2_0_1=4, _1_0_2=5)
    thrice = [deal * 3 for deal in once]
    found = rate(3, once, NO_PRIOR)
    assert found.error is not None
    assert rate(3, thrice, NO_PRIOR).elo == pytest.approx(found.elo, abs=1e-6)
    assert rate(3, thrice, NO_PRIOR).error == pytest.approx(found.error, rel=1e-6)
    apart = rate(3, [game for game in once for _ in range(3)], NO_PRIOR).error
    assert apart is not None
    assert apart == pytest.approx(found.error / math.sqrt(3), rel=0.03)


def test_one_deal_has_no_errors() -> None:
    found = rate(2, [[ranking("0 1"), ranking("0 1"), ranking("1 0")]])
    assert found.error is None
    assert ratios(found.elo) == pytest.approx([2.5 / 1.5, 1])


def test_agents_always_in_the_same_order_are_rated_in_it() -> None:
    field = range(8)
    deal = [tuple((agent,) for agent in group) for group in combinations(field, 4)] * 4
    found = rate(8, [deal] * 100)
    assert all(np.diff(found.elo) < -100)
    assert found.error is not None
    assert np.isfinite(found.error).all()
    assert min(found.error) > 50


def test_what_can_not_be_rated() -> None:
    with pytest.raises(ValueError, match="virtual draws must be above 0, not 0"):
        rate(2, each(_0_1=1), virtual_draws=0)
    with pytest.raises(ValueError, match="agent 2 has met no other"):
        rate(4, each(_0_1=1, _2_2=1, _3_0=1))


def likelihood(strength: Array, outcome: Outcome) -> float:
    """The probability of an outcome, from every order of its seats."""
    odds, total = np.exp(strength), 0.0
    for order in product(*(permutations(group) for group in outcome)):
        seats = [agent for group in order for agent in group]
        total += math.prod(odds[seat] / odds[seats[i:]].sum() for i, seat in enumerate(seats))
    return total


def any_outcome(rng: random.Random, agents: int) -> Outcome:
    """Two to four seats in an order with ties."""
    seats = [str(rng.randrange(agents)) for _ in range(rng.randint(2, 4))]
    return ranking("".join(seat + rng.choice(["", " "]) for seat in seats))


@pytest.mark.parametrize("seed", range(8))
def test_nothing_near_is_likelier(seed: int) -> None:
    rng, noise = random.Random(seed), np.random.default_rng(seed)
    duels = [ranking(f"{one} {other}") for one, other in permutations(range(4), 2)]
    outcomes = [*duels, *(any_outcome(rng, 4) for _ in range(30))]
    best = rate(4, [outcomes], NO_PRIOR).elo / ELO

    def log_likelihood(strength: Array) -> float:
        return sum(math.log(likelihood(strength, outcome)) for outcome in outcomes)

    highest = log_likelihood(best)
    for _ in range(20):
        assert log_likelihood(best + noise.normal(0, 0.01, 4)) < highest


def simulate(strength: Array, deals: int, winner_only: bool, seed: int) -> list[list[Outcome]]:
    """Every three agents meet three times a deal; places by the Gumbel trick."""
    rng = np.random.default_rng(seed)
    groups = [list(group) for group in combinations(range(len(strength)), 3)] * 3
    played = []
    for _ in range(deals):
        keys = strength[groups] + rng.gumbel(size=(len(groups), 3))
        orders = np.take_along_axis(np.array(groups), np.argsort(-keys, axis=1), axis=1).tolist()
        played.append([_outcome(order, winner_only) for order in orders])
    return played


def _outcome(order: list[int], winner_only: bool) -> Outcome:
    return ((order[0],), tuple(order[1:])) if winner_only else tuple((agent,) for agent in order)


@pytest.mark.parametrize("winner_only", [False, True])
def test_known_strengths_are_found_and_errors_hold_95_percent(winner_only: bool) -> None:
    elo = np.array([150.0, 30.0, -20.0, -160.0])
    within = []
    for seed in range(150):
        found = rate(4, simulate(elo / ELO, 40, winner_only, seed))
        within += list(np.abs(found.elo - elo) < found.error)
    assert 0.92 < np.mean(within) < 0.98
    many = rate(4, simulate(elo / ELO, 10_000, winner_only, seed=1))
    assert many.elo == pytest.approx(elo, abs=5)
