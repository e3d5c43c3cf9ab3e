"""The budget of a search: what it promises about steps and about the clock."""

from collections.abc import Callable

import pytest

from agents import budget
from agents.budget import Budget, Lateness


class Clock:
    """A clock that moves only when it is told to."""

    now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    told = Clock()
    monkeypatch.setattr(budget, "time", told)
    return told


def spend(clock: Clock, limit: Budget, seconds_a_step: Callable[[int], float], size: int) -> int:
    """Take the steps that a budget grants, each in its time; how many they were."""
    done = 0
    while chunk := limit.chunk(done, size):
        assert chunk > 0
        clock.now += chunk * seconds_a_step(done)
        done += chunk
    return done


@pytest.mark.parametrize("seconds", [0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("speed", [1e4, 1e5, 1e7])
def test_the_deadline_is_met_within_five_percent(
    clock: Clock, seconds: float, speed: float
) -> None:
    begun = clock.now
    done = spend(clock, Budget(None, seconds), lambda _: 1 / speed, 16)
    assert seconds <= clock.now - begun <= 1.05 * seconds
    assert done == pytest.approx(speed * seconds, rel=0.05)


def test_it_is_met_where_the_speed_halves_and_doubles_on_the_way(clock: Clock) -> None:
    begun = clock.now
    spend(clock, Budget(None, 0.1), lambda done: (2e-6, 1e-6, 4e-6)[done // 20_000 % 3], 100)
    assert 0.1 <= clock.now - begun <= 0.105


def test_a_limit_of_steps_is_met_exactly_in_slices_of_some_milliseconds(clock: Clock) -> None:
    limit = Budget(1000, None)
    assert limit.chunk(0, 300) == 300
    clock.now += 0.003
    assert limit.chunk(300, 300) == pytest.approx(400, abs=1)
    clock.now += 0.008
    assert limit.chunk(700, 200) == pytest.approx(254, abs=1)
    assert limit.chunk(960, 300) == 40
    assert [limit.chunk(done, 300) for done in (1000, 1200)] == [0, 0]


def test_whichever_limit_comes_first_ends_it(clock: Clock) -> None:
    assert spend(clock, Budget(500, 1.0), lambda _: 1e-6, 64) == 500
    begun = clock.now
    assert spend(clock, Budget(10**9, 0.01), lambda _: 1e-6, 64) < 10_500
    assert clock.now - begun <= 0.0105


def test_there_is_a_first_chunk_however_little_time_there_is(clock: Clock) -> None:
    limit = Budget(None, 1e-9)
    clock.now += 1.0
    assert limit.chunk(0, 64) == 64
    assert limit.chunk(64, 64) == 0


def decide(clock: Clock, late: Lateness, search: float, after: float) -> float:
    """Make a decision in 0.1 s, with a search that would take so long; when it is made."""
    begun = clock.now
    whole = Budget(None, 0.1)
    clock.now += min(search, 0.1 - late.seconds) + after
    late.learn(whole)
    return clock.now - begun


def test_what_comes_after_the_search_is_learned_and_allowed_for(clock: Clock) -> None:
    late = Lateness()
    assert decide(clock, late, 9.0, 0.004) == pytest.approx(0.104)
    assert late.seconds == pytest.approx(0.001)
    assert decide(clock, late, 9.0, 0.004) == pytest.approx(0.103)
    for _ in range(30):
        decide(clock, late, 9.0, 0.004)
    assert late.seconds == pytest.approx(0.004, rel=1e-3)
    # A decision that needs no search to the end says nothing of it.
    decide(clock, late, 0.01, 0.004)
    assert late.seconds == pytest.approx(0.004, rel=1e-3)
    # What takes less time by and by is unlearned.
    for _ in range(30):
        decide(clock, late, 9.0, 0.001)
    assert late.seconds == pytest.approx(0.001, rel=1e-2)


def test_a_search_gets_most_of_the_time_whatever_comes_after_it(clock: Clock) -> None:
    late = Lateness()
    for _ in range(30):
        decide(clock, late, 9.0, 1.0)
    assert late.seconds == pytest.approx(0.01)


def test_without_a_limit_of_time_nothing_is_late(clock: Clock) -> None:
    late, whole = Lateness(), Budget(10, None)
    clock.now += 1.0
    late.learn(whole)
    assert late.seconds == 0.0
