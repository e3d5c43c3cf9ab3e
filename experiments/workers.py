"""Games of a schedule played by several processes, and handed out in the schedule's order."""

import os
import signal
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Thread

from joblib import Parallel, delayed

from agents import Agent, make_agent
from cardcommons import Game, load
from experiments.match import Played, play, random_opening
from experiments.schedule import Fixture

Params = tuple[tuple[str, bool | int | float | str], ...]
"""The parameters of a game as sorted pairs of name and value, hashable."""


@dataclass(frozen=True)
class Setting:
    """What is played: as plain values, for other processes.

    Attributes:
        game: the short name of the game.
        params: its parameters.
        opening: how many choices of the players are drawn at random at the start.
    """

    game: str
    params: Params
    opening: int


def play_all(
    setting: Setting, fixtures: Sequence[Fixture], workers: int
) -> Generator[Played, None, None]:
    """Play the fixtures in ``workers`` processes; the games come in order, each when it is over.

    With one worker, or one fixture, everything happens in this process.
    """
    workers = min(workers, len(fixtures))
    if workers <= 1:
        return (play_fixture(setting, fixture) for fixture in fixtures)
    parallel = Parallel(n_jobs=workers, backend="loky", return_as="generator")
    games: Generator[Played, None, None] = parallel(
        delayed(_play)(os.getpid(), setting, fixture) for fixture in fixtures
    )
    return games


def _play(parent: int, setting: Setting, fixture: Fixture) -> Played:
    """A worker's task."""
    _settle_in(parent)
    return play_fixture(setting, fixture)


@cache
def _settle_in(parent: int) -> None:
    """Once a worker: leave Ctrl-C, which reaches it too, to the parent, and don't outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    """End this process when its parent is gone; one that was killed can't say goodbye."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def play_fixture(setting: Setting, fixture: Fixture) -> Played:
    """Play one game of a schedule in this process.

    Raises:
        RuntimeError: an agent failed; the message names the game.
    """
    game = _game(setting.game, setting.params)
    agents = [_agent(game, spec, seat) for seat, spec in enumerate(fixture.agents)]
    opening = random_opening(game, fixture.opening_seed, setting.opening)
    try:
        return play(game, agents, fixture.seed, opening)
    except Exception as error:
        raise RuntimeError(f"{game.spec} broke off in {fixture}: {error}") from error


def prepare(setting: Setting, specs: Sequence[str]) -> None:
    """Have everything compiled that the games need, so that workers find it in the cache.

    Raises:
        ValueError: a spec names no agent that can play the game.
    """
    game = _game(setting.game, setting.params)
    for spec in specs:
        make_agent(spec, game)
    play(game, [make_agent("random", game) for _ in range(game.rules.num_players)], seed=0)


@cache
def _game(name: str, params: Params) -> Game:
    return load(name, **dict(params))


@cache
def _agent(game: Game, spec: str, seat: int) -> Agent:
    """An agent of this process; a match has it forget the games before."""
    return make_agent(spec, game)
