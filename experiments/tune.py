"""Tune the weights of a game's estimate by self-play: ``python -m experiments.tune --help``.

Simultaneous perturbation (Spall, "Multivariate stochastic approximation using a simultaneous
perturbation gradient approximation", IEEE Transactions on Automatic Control 37(3), 1992): every
weight is moved up or down at random at once, the two sets of weights that this gives play each
other, and all weights are moved towards the winner.  The result is the mean over the second half
of the way (Polyak and Juditsky, 1992), and has to prove itself in a match against the weights as
they were.

Weights that vary can't be constants of compiled code.  They are put into words of their own at
the end of the state, which no other kernel reads, so that one compile serves all of them.
"""

import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated

import numpy as np
import numpy.typing as npt
from cyclopts import App, Parameter
from numba.extending import register_jitable
from rich.box import SIMPLE_HEAD
from rich.table import Table

from agents import Agent, Decision, make_agent
from agents.openspiel import BotAgent
from cardcommons import Game, State, parse_game
from cardcommons.rng import child_seed, draw_below, make_rng
from cardcommons.treaty import Kernel, Rules
from experiments import command
from experiments.formats import format_of
from experiments.match import play, random_opening
from experiments.provenance import versions

app = App(
    name="python -m experiments.tune",
    help="Tune the weights of a game's estimate by self-play, and prove it in a match.",
    version_flags=[],
    result_action="return_value",
)

Weights = npt.NDArray[np.float64]

_REPORTS = 10
"""How often the way is reported on."""


def estimate_module(game: Game) -> ModuleType:
    """The ``estimate.py`` of a game; ``ValueError`` if it has no weights to tune."""
    module = import_module(f"cardcommons.games.{game.name}.estimate")
    if not hasattr(module, "WEIGHTS"):
        raise ValueError(f"the estimate of {game.name} has no weights to tune")
    return module


@cache
def _tunable_rules(rules: Rules, weighted: Kernel, count: int) -> Rules:
    first = rules.num_words

    @register_jitable
    def estimate(s, player):
        return weighted(s, player, s[first : first + count].view(np.float64))

    return rules._replace(num_words=first + count, estimate=estimate)


def tunable(game: Game) -> Game:
    """The game with the weights of its estimate in the last words of the state."""
    module = estimate_module(game)
    weights = np.array(module.WEIGHTS, dtype=np.float64)
    start = np.concatenate([game.start, weights.view(np.uint64)])
    return replace(
        game, rules=_tunable_rules(game.rules, module.weighted, weights.size), start=start
    )


class Weighing(Agent):
    """An agent that judges by weights of its own, in a tunable game."""

    name = "weighing"

    def __init__(self, agent: Agent, weights: Weights) -> None:
        super().__init__(agent.game, agent.options)
        self.agent = agent
        self.weights = weights

    @property
    def spec(self) -> str:
        """That of the agent, so that two of them share their seeds."""
        return self.agent.spec

    def restart(self, seed: int) -> None:
        self.agent.restart(seed)

    def inform(self, action: int) -> None:
        self.agent.inform(action)

    def choose(self, state: State) -> Decision:
        seen = state.copy()
        seen.words[-self.weights.size :] = self.weights.view(np.uint64)
        return self.agent.choose(seen)


def seatings(players: int) -> list[tuple[bool, ...]]:
    """Where the first of two sets of weights sits: alone in each seat, and all but alone.

    Over all of them both sets sit in every seat equally often; with two players they are the two
    games of a pair, and a single player plays once by each.
    """
    alone = [tuple(seat == lone for seat in range(players)) for lone in range(players)]
    return sorted({*alone, *(tuple(not first for first in seats) for seats in alone)})


class Duel:
    """Two sets of weights against each other.

    Attributes:
        games: the tunable games, which take turns.
        agent: the spec of who plays by the weights.
    """

    def __init__(self, games: Sequence[Game], agent: str, opening: int | None) -> None:
        self.games = games
        self._opening = opening
        players = games[0].rules.num_players
        # An agent for each seat and side: a table or tree must not see two sets of weights.
        self._seats = [
            [[make_agent(agent, game) for _ in range(players)] for _ in range(2)] for game in games
        ]
        self._seatings = seatings(players)
        self.agent = self._seats[0][0][0].spec
        if isinstance(self._seats[0][0][0], BotAgent):
            raise ValueError(f"{self.agent} does not play by the estimate")

    def gain(self, first: Weights, second: Weights, number: int, seed: int) -> float:
        """How much more the first weights win than the second, in one deal.

        Returns:
            The mean utility by the first weights less that by the second, over all seatings, in
            ranges of utilities: 1 if the first always win all, 0 if they are equals.
        """
        which = number % len(self.games)
        game = self.games[which]
        deal = child_seed(seed, number)
        decisions = format_of(game).opening if self._opening is None else self._opening
        opening = random_opening(game, child_seed(deal, "opening"), decisions)
        won: dict[bool, list[float]] = {True: [], False: []}
        for seating in self._seatings:
            agents = [
                Weighing(self._seats[which][by_first][seat], first if by_first else second)
                for seat, by_first in enumerate(seating)
            ]
            returns = play(game, agents, deal, opening).returns
            for by_first, utility in zip(seating, returns, strict=True):
                won[by_first].append(utility)
        spread = game.rules.max_utility - game.rules.min_utility
        return (float(np.mean(won[True])) - float(np.mean(won[False]))) / spread


@dataclass(frozen=True)
class Schedule:
    """How the weights are moved.

    Attributes:
        iterations: how often.
        deals: how many are played each time.
        nudge: how far the weights are moved to try them, in units of their sizes.
        rate: how far they are moved by a gain of 1 at first, in the same units.
    """

    iterations: int
    deals: int
    nudge: float
    rate: float

    def __post_init__(self) -> None:
        for name, least in (("iterations", 2), ("deals", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, not {getattr(self, name)}")
        for name in ("nudge", "rate"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")


def signs(count: int, rng: npt.NDArray[np.uint64]) -> Weights:
    """A random sign for each weight."""
    return np.array([2.0 * draw_below(rng, 2) - 1.0 for _ in range(count)])


def tune(
    gain: Callable[[Weights, Weights, int], float],
    before: Weights,
    sizes: Weights,
    schedule: Schedule,
    seed: int,
    told: Callable[[int, Weights], None],
) -> list[Weights]:
    """The weights after each iteration.

    Args:
        gain: ``(first, second, number) -> float``: how much the first win over the second in
            the deal of a number.
        before: the weights to begin with.
        sizes: what a large change of each weight is; 0 for those to be left alone.
        schedule: how to go about it.
        seed: of the directions to try.
        told: hears ``(iterations, weights)`` now and then.

    The nudge shrinks with the power 1/6 of the iterations, and the rate with their power 0.6, as
    Spall advises in "Implementation of the simultaneous perturbation algorithm for stochastic
    optimization", IEEE Transactions on Aerospace and Electronic Systems 34(3), 1998.
    """
    rng, weights, way = make_rng(seed), before.copy(), []
    for i in range(schedule.iterations):
        nudge = schedule.nudge / (i + 1) ** (1 / 6)
        rate = schedule.rate / (1 + i / (schedule.iterations / 10)) ** 0.6
        direction = signs(before.size, rng) * sizes
        up, down = weights + nudge * direction, weights - nudge * direction
        deals = range(i * schedule.deals, (i + 1) * schedule.deals)
        weights = weights + rate * float(np.mean([gain(up, down, k) for k in deals])) * direction
        way.append(weights)
        if (i + 1) % max(1, schedule.iterations // _REPORTS) == 0:
            told(i + 1, weights)
    return way


@dataclass(frozen=True)
class Proof:
    """A match of the tuned weights against those before.

    Attributes:
        agent: who played by them.
        deals: how many were played.
        gain: the mean gain of the tuned weights, as :meth:`Duel.gain` has it.
        error: half the width of its 95 % interval.
    """

    agent: str
    deals: int
    gain: float
    error: float

    @classmethod
    def by(cls, duel: Duel, after: Weights, before: Weights, deals: int, seed: int) -> "Proof":
        """Play the match."""
        gains = [duel.gain(after, before, k, seed) for k in range(deals)]
        error = 1.96 * float(np.std(gains, ddof=1)) / math.sqrt(deals)
        return cls(duel.agent, deals, float(np.mean(gains)), error)

    def __str__(self) -> str:
        told = f"{self.agent}, {self.deals} deals: gain {self.gain:+.3f} ± {self.error:.3f}"
        if self.gain > self.error:
            return f"{told}; the tuned weights are stronger"
        verdict = "weaker" if self.gain < -self.error else "not shown to be stronger or weaker"
        return f"{told}; the tuned weights are {verdict}"


@app.default
def command_line(
    *,
    game: Annotated[list[str], Parameter(consume_multiple=True, negative=())],
    agent: str,
    out: Path,
    only: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None,
    start: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None,
    iterations: command.Whole = 200,
    deals: command.Whole = 8,
    nudge: float = 0.3,
    rate: float = 0.4,
    proof: command.Whole = 200,
    proof_agent: str | None = None,
    opening: command.Whole | None = None,
    seed: command.Whole = 0,
) -> int:
    """Tune, play the match that proves it, and write it all down.

    Parameters
    ----------
    game
        The game; or several with other parameters, which take turns.
    agent
        Who plays, by the estimate: greedy, minimax:nodes=2000. Without a limit of time, so that
        the seed alone decides.
    out
        The JSON file to write: weights before and after, the way between, and the proof.
    only
        The names of the weights to tune; by default all.
    start
        Weights to begin with, where not those of the game: reach=0.7 card=0.25.
    iterations
        How often the weights are moved.
    deals
        How many deals are played each time: pairs of games for two players.
    nudge
        How far weights are moved to try them, as a share of their sizes.
    rate
        How fast they are moved.
    proof
        How many deals the match has in the end.
    proof_agent
        Who plays it, if not the same agent: a stronger one shows whether the gain lasts.
    opening
        How many actions at random begin each game; by default as in tournaments.
    seed
        Any whole number; the same seed gives the same weights.
    """
    schedule = Schedule(iterations, deals, nudge, rate)
    if proof < 2:
        raise ValueError(f"--proof must be at least 2, not {proof}")
    games = tunable_games(game)
    module = estimate_module(games[0])
    names, before = list(module.WEIGHTS._fields), weights_from(module, start)
    sizes = np.where(chosen(names, only), sizes_of(before), 0.0)
    duel = Duel(games, agent, opening)
    judge = Duel(games, proof_agent, opening) if proof_agent else duel
    out.open("a").close()  # better to fail now than after the work

    def gain(first: Weights, second: Weights, number: int) -> float:
        return duel.gain(first, second, number, child_seed(seed, "tune"))

    def tell(done: int, weights: Weights) -> None:
        command.say(f"{done} of {iterations}: {_written(names, weights)}")

    way = tune(gain, before, sizes, schedule, child_seed(seed, "directions"), tell)
    after = np.mean(way[len(way) // 2 :], axis=0)
    proven = Proof.by(judge, after, before, proof, child_seed(seed, "proof"))
    report = {
        "games": [played.spec for played in games],
        "agent": duel.agent,
        "opening": opening,
        "seed": seed,
        "schedule": asdict(schedule),
        "versions": versions(),
        "before": named(names, before),
        "after": named(names, after),
        "proof": asdict(proven),
        "way": [named(names, weights) for weights in way],
    }
    out.write_text(json.dumps(report, indent=2) + "\n")
    console = command.console()
    console.print(weights_table(names, before, after))
    console.print(str(proven), highlight=False)
    return 0


def tunable_games(specs: Sequence[str]) -> list[Game]:
    """The games in their tunable form; ``ValueError`` unless one agent could play them all."""
    if not specs:
        raise ValueError("--game needs at least one game, such as particles")
    games = [tunable(parse_game(spec)) for spec in specs]
    for game in games[1:]:
        if game.rules != games[0].rules:
            raise ValueError(f"{games[0].spec} and {game.spec} differ in more than a state tells")
    return games


def weights_from(module: ModuleType, told: Sequence[str] | None) -> Weights:
    """The weights of an estimate, but for those told as ``name=value``."""
    given: dict[str, float] = {}
    for item in told or []:
        name, _, value = item.partition("=")
        try:
            given[name] = float(value)
        except ValueError:
            raise ValueError(f"--start {item!r} should read weight=number") from None
    chosen(module.WEIGHTS._fields, list(given))
    return np.array(module.WEIGHTS._replace(**given), dtype=np.float64)


def chosen(names: Sequence[str], only: Sequence[str] | None) -> npt.NDArray[np.bool_]:
    """Which weights may change: all, or those named; ``ValueError`` for an unknown name."""
    unknown = sorted(set(only or names) - set(names))
    if unknown:
        raise ValueError(f"no weight is called {unknown[0]!r} (known: {', '.join(names)})")
    return np.array([name in (only or names) for name in names])


def sizes_of(weights: Weights) -> Weights:
    """What a large change of each weight is: its own size, or a typical one for a 0."""
    sizes = np.abs(weights)
    typical = float(np.median(sizes[sizes > 0])) if sizes.any() else 1.0
    return np.where(sizes > 0, sizes, typical)


def named(names: Sequence[str], weights: Weights) -> dict[str, float]:
    """Weights by name, as plain JSON values."""
    return {name: round(float(w), 6) for name, w in zip(names, weights, strict=True)}


def _written(names: Sequence[str], weights: Weights) -> str:
    return " ".join(f"{name}={w:.3g}" for name, w in zip(names, weights, strict=True))


def weights_table(names: Sequence[str], before: Weights, after: Weights) -> Table:
    """What has become of the weights."""
    table = Table("weight", box=SIMPLE_HEAD)
    table.add_column("before", justify="right")
    table.add_column("after", justify="right")
    for name, old, new in zip(names, before, after, strict=True):
        table.add_row(name, f"{old:.4g}", f"{new:.4g}")
    return table


def main(arguments: Sequence[str]) -> int:
    """Run the command with these arguments; its exit code."""
    return command.run(app, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
