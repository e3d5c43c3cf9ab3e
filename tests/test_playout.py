"""Batches of random games: counts, seeds, and the generator in step with plain Python."""

from collections import Counter

import pytest
from numba.extending import register_jitable

from cardcommons import TERMINAL, Game, State, load, playout
from cardcommons.playout import playouts
from cardcommons.treaty import Rules, Words, no_chance, nothing_hidden
from tests.plain_random import PlainRandom

PARTICLES = load("particles")


def _plain(game: Game, n: int, seed: int) -> tuple[int, Counter[tuple[float, ...]]]:
    rng = PlainRandom(seed)
    actions = 0
    outcomes: Counter[tuple[float, ...]] = Counter()
    for _ in range(n):
        state = State(game)
        while not state.is_terminal:
            legal = state.legal_actions()
            state.apply(legal[rng.below(len(legal))])
            actions += 1
        outcomes[tuple(state.returns())] += 1
    return actions, outcomes


@pytest.mark.parametrize("params", [{}, {"torus": True}, {"tutorial": True}])
def test_playouts_are_the_games_that_plain_python_plays(params: dict[str, bool]) -> None:
    game = load("particles", **params)
    actions, outcomes = _plain(game, 60, seed=11)
    counts = playouts(game, 60, seed=11)
    assert (counts.games, counts.actions, counts.outcomes) == (60, actions, dict(outcomes))


def test_counts_add_up() -> None:
    counts = playouts(PARTICLES, 2000, seed=1)
    assert counts.games == 2000 == sum(counts.outcomes.values())
    assert set(counts.outcomes) == {(1.0, -1.0), (-1.0, 1.0)}
    assert 3 * 2000 < counts.actions <= PARTICLES.rules.max_length * 2000
    lead = counts.outcomes[1.0, -1.0] - counts.outcomes[-1.0, 1.0]
    assert counts.mean_returns == pytest.approx((lead / 2000, -lead / 2000))
    assert list(counts.outcomes.values()) == sorted(counts.outcomes.values(), reverse=True)


def test_a_seed_fixes_the_games() -> None:
    assert playouts(PARTICLES, 500, seed=4) == playouts(PARTICLES, 500, seed=4)
    assert playouts(PARTICLES, 500, seed=4) != playouts(PARTICLES, 500, seed=5)


def test_playouts_from_a_state_leave_it_alone() -> None:
    state = State.from_string(PARTICLES, ".3h../..../..../.... - - 0 1")
    before = state.position
    counts = playouts(PARTICLES, 10, seed=1, state=state)
    assert (counts.actions, counts.outcomes) == (10, {(-1.0, 1.0): 10})
    assert state.position == before
    state.apply("pass")
    assert playouts(PARTICLES, 10, seed=1, state=state).actions == 0


@pytest.mark.parametrize("n", [0, -3])
def test_no_games_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match=f"n must be at least 1, not {n}"):
        playouts(PARTICLES, n, seed=1)


def test_a_small_table_of_outcomes_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = playouts(PARTICLES, 300, seed=2)
    monkeypatch.setattr(playout, "_FIRST_CAPACITY", 2)
    assert playouts(PARTICLES, 300, seed=2) == usual


# A game of one choice among many, each of which pays differently.

CHOICES = 700


def _to_move(s: Words) -> int:
    return TERMINAL if s[0] else 0


def _legal(s: Words, out: Words) -> int:
    for i in range(CHOICES):
        out[i] = i
    return CHOICES


def _apply(s: Words, a: int) -> None:
    s[0] = a + 1


def _payoff(s: Words, player: int) -> float:
    return float(s[0]) - 1.0


def _no_key(s: Words, player: int) -> float:
    return 0.0


def _lottery() -> Game:
    kernels = [register_jitable(kernel) for kernel in (_to_move, _legal, _apply, _payoff)]
    to_move, legal, apply, payoff = kernels
    rules = Rules(
        name="lottery",
        num_players=1,
        num_words=1,
        num_actions=CHOICES,
        max_legal=CHOICES,
        max_length=1,
        min_utility=0.0,
        max_utility=CHOICES - 1.0,
        zero_sum=False,
        to_move=to_move,
        legal=legal,
        apply=apply,
        payoff=payoff,
        state_key=_no_key,
        estimate=_no_key,
        chance=no_chance,
        info_key=_no_key,
        resample=nothing_hidden,
    )
    return Game("Lottery", None, rules, PARTICLES.text, PARTICLES.views, PARTICLES.start[:1] * 0, 1)


def test_many_outcomes_are_all_counted() -> None:
    counts = playouts(_lottery(), 3000, seed=7)
    rng = PlainRandom(7)
    drawn = Counter((float(rng.below(CHOICES)),) for _ in range(3000))
    assert len(drawn) > 650
    assert counts.outcomes == dict(drawn)
    assert counts.actions == 3000
