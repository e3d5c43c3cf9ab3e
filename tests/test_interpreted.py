"""The same code gives the same results with and without compilation."""

import os
import subprocess
import sys

SCRIPT = """
from cardcommons import State, load
from cardcommons.perft import divide, perft
from cardcommons.playout import playouts
from cardcommons.state import make_verb

for params in ({}, {"torus": True}, {"tutorial": True}, {"tutorial": True, "torus": True}):
    game = load("particles", **params)
    print(game.spec, perft(game, 2), playouts(game, 3, seed=5))
    state = State(game)
    print(divide(game, 2, state))
    step = 0
    while not state.is_terminal:
        legal = state.legal_actions()
        told = [state.action_to_string(action) for action in legal]
        keys = [make_verb(game.rules, "info_key")(state.words, player) for player in (0, 1)]
        print(state.position, told, state.state_key(), *map(int, keys), state.estimate(0).hex())
        quiet = [a for a, text in zip(legal, told) if text not in ("pass", "decline")]
        choices = [a for a in quiet if a & 16 and a < 384] or quiet or legal
        state.apply(choices[step * 7 % len(choices)])
        step += 1
    print(state.position, state.returns())
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
    assert (compiled.stderr, interpreted.stderr) == ("", "")
