"""Fit the weights of a game's estimate to results: ``python -m experiments.fit_estimate --help``.

Games of self-play give positions and what came of them; the weights are chosen so that the
estimates of the positions miss the utilities at the end by the least mean square.  (So chess
programs are tuned since Osterlund's "Texel's tuning method", 2014; the principle is that of
Tesauro, "Comparison training of chess evaluation functions", 2001.)  One position has little to
say, but there are so many that this wants far fewer games than :mod:`experiments.tune`, which
goes by whole games; that a better guess is better play, only a match can show.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
from cyclopts import App, Parameter
from numba import types
from scipy.optimize import least_squares

from agents import Agent, make_agent
from cardcommons import Game, State
from cardcommons.compiled import compiled
from cardcommons.rng import child_seed, draw_below, make_rng
from cardcommons.treaty import Kernel
from experiments import command
from experiments.match import random_action, random_opening
from experiments.provenance import versions
from experiments.tune import (
    Duel,
    Proof,
    Weights,
    chosen,
    estimate_module,
    named,
    sizes_of,
    tunable_games,
    weights_from,
    weights_table,
)

app = App(
    name="python -m experiments.fit_estimate",
    help="Fit the weights of a game's estimate to the results of self-play, and prove it.",
    version_flags=[],
    result_action="return_value",
)

_BLUNDERS = 20
"""One decision in so many is made at random, so that no two games are the same."""


@app.default
def fit_estimate(
    *,
    game: Annotated[list[str], Parameter(consume_multiple=True, negative=())],
    agent: str,
    out: Path,
    only: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None,
    start: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None,
    games: command.Whole = 1000,
    opening: command.Whole = 6,
    proof: command.Whole = 200,
    proof_agent: str | None = None,
    seed: command.Whole = 0,
) -> int:
    """Play, fit, play the match that proves it, and write it all down.

    Parameters
    ----------
    game
        The game; or several with other parameters.
    agent
        Who plays against itself: minimax:nodes=3000. Without a limit of time, so that the seed
        alone decides.
    out
        The JSON file to write: weights before and after, and the proof.
    only
        The names of the weights to fit; by default all.
    start
        Weights to begin with, where not those of the game: reach=0.7 card=0.25.
    games
        How many games of self-play there are of each game.
    opening
        The most actions at random that begin a game; its number goes round from 0 to it.
    proof
        How many deals the match has in the end: pairs of games for two players.
    proof_agent
        Who plays it, if not the same agent.
    seed
        Any whole number; the same seed gives the same weights.
    """
    for name, value, least in (("games", games, 1), ("proof", proof, 2), ("opening", opening, 0)):
        if value < least:
            raise ValueError(f"--{name} must be at least {least}, not {value}")
    played = tunable_games(game)
    module = estimate_module(played[0])
    names, before = list(module.WEIGHTS._fields), weights_from(module, start)
    free = chosen(names, only)
    judge = Duel(played, proof_agent or agent, None)
    out.open("a").close()  # better to fail now than after the work
    words, utilities = harvest(played, agent, games, opening, child_seed(seed, "games"))
    command.say(f"{len(words):,} positions")
    after, misses = fitted(played[0], words, utilities, before, free)
    proven = Proof.by(judge, after, before, proof, child_seed(seed, "proof"))
    report = {
        "games": [one.spec for one in played],
        "agent": agent,
        "seed": seed,
        "self_play": games,
        "opening": opening,
        "positions": len(words),
        "versions": versions(),
        "before": named(names, before),
        "after": named(names, after),
        "mean_square": {"before": misses[0], "after": misses[1]},
        "proof": asdict(proven),
    }
    out.write_text(json.dumps(report, indent=2) + "\n")
    console = command.console()
    console.print(weights_table(names, before, after))
    console.print(str(proven), highlight=False)
    return 0


def harvest(
    games: Sequence[Game], agent: str, count: int, opening: int, seed: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]]:
    """Positions of self-play and what came of them.

    Returns:
        The words of the settled positions in which a player was to move, ``[positions, words]``;
        and the utility of each player at the end of their games, ``[positions, players]``.
    """
    found, ends = [], []
    for game in games:
        players = [make_agent(agent, game) for _ in range(game.rules.num_players)]
        for number in range(count):
            deal = child_seed(seed, game.spec, number)
            state = State(game)
            for action in random_opening(game, child_seed(deal, "opening"), number % (opening + 1)):
                state.apply(action)
            for seat, player in enumerate(players):
                player.restart(child_seed(deal, "agent", seat))
            words = [s.words for s in _play_on(state, players, deal) if game.rules.settled(s.words)]
            found += words
            ends += [state.returns()] * len(words)
    return np.array(found, dtype=np.uint64), np.array(ends, dtype=np.float64)


def _play_on(state: State, agents: Sequence[Agent], seed: int) -> Iterator[State]:
    """Play a game to its end, with a blunder here and there; the states in which players move."""
    rng = make_rng(child_seed(seed, "chance"))
    while not state.is_terminal:
        if state.is_chance:
            state.apply(random_action(state, rng))
            continue
        yield state.copy()
        if draw_below(rng, _BLUNDERS) == 0:
            state.apply(random_action(state, rng))
        else:
            state.apply(agents[state.player].decide(state).action)


@cache
def make_guess(owner: str, weighted: Kernel, players: int) -> Kernel:
    """Compile ``(words, weights, out)``: the estimates by some weights.

    ``words`` is ``uint64[positions, words]`` and ``out`` ``float64[positions, players]``.
    """

    @compiled(owner, types.void(types.uint64[:, ::1], types.float64[::1], types.float64[:, ::1]))
    def guess(words, weights, out):
        for i in range(words.shape[0]):
            for player in range(players):
                out[i, player] = weighted(words[i], player, weights)

    return guess


def fitted(
    game: Game,
    words: npt.NDArray[np.uint64],
    utilities: npt.NDArray[np.float64],
    before: Weights,
    free: npt.NDArray[np.bool_],
) -> tuple[Weights, tuple[float, float]]:
    """The weights whose estimates miss the utilities by the least mean square.

    Args:
        game: what the positions are of.
        words: ``[positions, words]``.
        utilities: ``[positions, players]``.
        before: the weights to begin with.
        free: which of them may change.

    Returns:
        The weights, and the mean squares before and after.
    """
    players = game.rules.num_players
    guess = make_guess(game.name, estimate_module(game).weighted, players)
    out = np.empty(utilities.shape)

    def misses(changed: Weights) -> Weights:
        weights = before.copy()
        weights[free] = changed
        guess(words, weights, out)
        return (out - utilities).ravel()

    sizes = sizes_of(before)[free]
    result = least_squares(misses, before[free], x_scale=sizes, diff_step=1e-4)
    after = before.copy()
    after[free] = result.x
    squares = [float(np.mean(misses(w[free]) ** 2)) for w in (before, after)]
    return after, (squares[0], squares[1])


def main(arguments: Sequence[str]) -> int:
    """Run the command with these arguments; its exit code."""
    return command.run(app, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
