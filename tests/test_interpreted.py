"""The same code gives the same results with and without compilation."""

import os
import subprocess
import sys

SCRIPT = """
from agents.best_response import nash_conv
from agents.cfr import CFRSolver
from agents import make_agent
from agents.expectimax import TO_THE_END, Search
from agents.local_best_response import lower_bound
from agents.mccfr import GameMCCFR, TreeMCCFR
from cardcommons import State, load
from cardcommons.perft import divide, perft
from cardcommons.playout import playouts
from cardcommons.rng import make_rng
from cardcommons.sequence_form import sequence_form
from cardcommons.state import make_verb
from cardcommons.tree import count_tree, unroll

def tell(state):
    rules, options = state.game.rules, state.legal_actions()
    told = [state.action_to_string(action) for action in options]
    players = range(rules.num_players)
    keys = [make_verb(rules, "info_key")(state.words, player) for player in players]
    print(state.position, told, state.state_key(), *map(int, keys), state.chance_weights())
    print(*(state.estimate(player).hex() for player in players))
    return options, told

for params in ({}, {"torus": True}, {"tutorial": True}, {"tutorial": True, "torus": True}):
    game = load("particles", **params)
    print(game.spec, perft(game, 2), playouts(game, 3, seed=5))
    state = State(game)
    print(divide(game, 2, state))
    step = 0
    while not state.is_terminal:
        legal, told = tell(state)
        quiet = [a for a, text in zip(legal, told) if text not in ("pass", "decline")]
        choices = [a for a in quiet if a & 16 and a < 384] or quiet or legal
        state.apply(choices[step * 7 % len(choices)])
        step += 1
    print(state.position, state.returns())

position = ".3sAd6c/5h2h4s3c+3d/.4c+4d5s./..As. Ah3h4h6h2s6s 5dAc2c5c 0 0"
searched = load("particles", position=position)
print("minimax:", make_agent("minimax:depth=2,multipv=2,table=6", searched).decide(State(searched)))

symmetric = load("particles", tutorial=True, torus=True)
state, agent = State(symmetric), make_agent("mcts:sims=60,transpositions=True", symmetric)
for _ in range(3):
    decision = agent.decide(state)
    print("mcts:", decision)
    state.apply(decision.action)
    agent.inform(decision.action)

for params in ({}, {"rows": 3, "columns": 3, "ranks": 4, "hand": 2, "utility": "margin"}):
    game = load("treasure", **params)
    print(game.spec, perft(game, 2), playouts(game, 3, seed=5))
    state, rng, step = State(game), make_rng(1), 0
    while not state.is_terminal:
        options, told = tell(state)
        for player in (0, 1):
            other = state.copy()
            make_verb(game.rules, "resample")(other.words, player, rng)
            print("redrawn:", *map(int, other.words))
        plays = [a for a, text in zip(options, told) if "@" in text] or options
        state.apply(plays[step * 7 % len(plays)])
        step += 1
    print(state.position, state.returns())

for params in ({"reemission": True}, {"players": 3, "max_rounds": 2, "utility": "points"}):
    game = load("gluons", **params)
    print(game.spec, perft(game, 2), playouts(game, 1, seed=5))
    state, rng, step = State(game), make_rng(1), 0
    while not state.is_terminal:
        options, told = tell(state)
        other = state.copy()
        make_verb(game.rules, "resample")(other.words, step % game.rules.num_players, rng)
        print("dealt anew:", *map(int, other.words))
        wanted = [a for a, text in zip(options, told) if "?" in text or "+" in text] or options
        state.apply(wanted[step * 7 % len(wanted)])
        step += 1
    print(state.position, state.returns())

for params in ({"jokers": 30}, {"stages": "1-2-1-2/2-1-2-1", "utility": "win", "jokers": 9}):
    game = load("rally", **params)
    print(game.spec, perft(game, 3), playouts(game, 3, seed=5))
    state, step = State(game), 0
    while not state.is_terminal:
        options, told = tell(state)
        state.apply(options[step * 7 % len(options)])
        step += 1
    print(state.position, state.returns(), "steps:", step)

small = load("treasure", rows=2, columns=2, ranks=2, copies=1, treasure=False, hand=1)
form = sequence_form(unroll(small))
print(count_tree(small), form.digest)
for algorithm in ("dcfr", "pcfr+", "cfr-simultaneous"):
    solver = CFRSolver(form, algorithm)
    solver.run(3)
    print(algorithm, nash_conv(form, solver.average_strategy()).hex())
for sampling in ("external", "outcome"):
    sampler, on_tree = GameMCCFR(small, sampling, seed=1), TreeMCCFR(form, sampling, seed=1)
    sampler.run(8)
    on_tree.run(8)
    policy = sampler.policy()
    for strategy in (policy.strategy(form.tree), on_tree.average_strategy()):
        print(sampling, nash_conv(form, strategy).hex())
print(lower_bound(small, policy, games=3, samples=2, seed=1))

for stages in ("1-0-0-1", "1-0-0-0/1-0-0-1"):
    search = Search(load("rally", stages=stages), 4, most_entries=1000)
    for depth in (1, TO_THE_END):
        print("value:", search.value(State(search.game), depth).hex(), search.nodes)
"""


def _run(disable_jit: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"NUMBA_DISABLE_JIT": disable_jit, "CARDCOMMONS_QUIET": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )


def test_interpreted_and_compiled_code_agree_and_neither_warns() -> None:
    compiled, interpreted = _run("0"), _run("1")
    assert interpreted.stdout == compiled.stdout
    assert compiled.stdout.count("then: discard") >= 4
    assert compiled.stdout.count("redrawn:") == 2 * (4 * 27 + 4 * 9)
    assert compiled.stdout.count("dealt anew:") > 100
    assert compiled.stdout.count("steps:") == 2
    assert compiled.stdout.count("value:") == 4
    assert compiled.stdout.count("0x1.") > 10
    assert compiled.stdout.count("minimax:") == 1
    assert compiled.stdout.count("mcts:") == 3
    assert (compiled.stderr, interpreted.stderr) == ("", "")
