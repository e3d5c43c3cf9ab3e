"""How long a new process takes to its first move when its code is cached already."""

import subprocess
import sys
from statistics import median

from cardcommons import Game
from experiments.bench.measure import Duration

_TARGET = 2.0
_SCRIPT = """
import sys, time
import cardcommons
from agents import make_agent
began = time.perf_counter()
game = cardcommons.parse_game(sys.argv[1])
agent = make_agent(sys.argv[2], game)
agent.restart(1)
state = cardcommons.State(game)
while state.is_chance:
    state.apply(state.legal_actions()[0])
agent.decide(state)
print(time.perf_counter() - began)
"""


def first_move(game: Game, rounds: int) -> Duration:
    """From the end of the imports to the first decision of a search, in a process of its own."""
    agent = "ismcts" if game.has_hidden_information else "mcts"

    def seconds() -> float:
        command = [sys.executable, "-c", _SCRIPT, game.spec, f"{agent}:sims=100"]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    times = [seconds() for _ in range(rounds + 1)][1:]  # the first one may compile
    return Duration(f"first {agent} move, beside imports", game.spec, median(times), _TARGET)
