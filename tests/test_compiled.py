"""Compiled code on disk: reused by the next process, never stale, never shared between games."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

TOY_PIECE = """
    import numpy as np

    STEP = np.uint64({step})


    def unused():
        return {unused}
"""

TOY_RULES = """
    import numpy as np
    from numba.extending import register_jitable

    from piece import STEP
    from cardcommons.treaty import TERMINAL, Rules, no_chance, nothing_hidden

    LIMIT = np.uint64(6)


    @register_jitable
    def to_move(s):
        return TERMINAL if s[0] >= LIMIT else 0


    @register_jitable
    def legal(s, out):
        if s[0] >= LIMIT:
            return 0
        out[0], out[1] = 0, 1
        return 2


    @register_jitable
    def apply(s, a):
        s[0] += STEP + np.uint64(a)


    @register_jitable
    def payoff(s, player):
        return np.float64(s[0])


    @register_jitable
    def key(s, player=0):
        return s[0]


    def rules(name):
        return Rules(name, 1, 1, 2, 2, 8, 0.0, 9.0, False, to_move, legal, apply, payoff, key,
                     payoff, no_chance, key, nothing_hidden)
"""

COUNT = """
    import sys
    import numpy as np
    from cardcommons.perft import make_perft
    from cardcommons.treaty import make_scratch
    from toy import rules

    for name in sys.argv[1:]:
        toy = rules(name)
        scratch, left = make_scratch(toy, 4), np.zeros(4, dtype=np.int64)
        print(make_perft(toy)(np.zeros(1, dtype=np.uint64), 4, scratch, left))
"""

FACTORY = """


def rules(name):
    # Kernels that a factory makes: same names, same code, other constants.
    step = STEP if name == "toy" else STEP + STEP

    @register_jitable
    def advance(s, a):
        s[0] += step + np.uint64(a)

    return Rules(name, 1, 1, 2, 2, 8, 0.0, 9.0, False, to_move, legal, advance, payoff, key,
                 payoff, no_chance, key, nothing_hidden)
"""


class Workshop:
    """A folder with a toy game in two files and a script that runs perft on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bytecode = False
        self.write_piece(step=1)
        self.write("toy.py", TOY_RULES)
        self.write("count.py", COUNT)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(textwrap.dedent(text))

    def write_piece(self, step: int, unused: int = 0) -> None:
        """Write the constant that the rules import; same size and time stamp every time."""
        self.write("piece.py", TOY_PIECE.format(step=step, unused=unused))
        os.utime(self.folder / "piece.py", (1_700_000_000, 1_700_000_000))

    def count(self, *names: str) -> tuple[list[int], int]:
        """The perft of each named copy of the toy, and how many compiles it took."""
        env = {**os.environ, "NUMBA_CACHE_DIR": str(self.folder / "cache")}
        env["PYTHONDONTWRITEBYTECODE"] = "" if self.bytecode else "1"
        env.pop("CARDCOMMONS_QUIET", None)
        done = subprocess.run(
            [sys.executable, "count.py", *names],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        return [int(line) for line in done.stdout.split()], done.stderr.count("compiling")


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


# From 0, each action adds STEP or STEP + 1 until the sum is 6 or more.  With STEP 1, of the
# sequences of four actions only 2-2-2 ends early; with STEP 2, sums of three 2s or 3s reach 6.
PERFT_STEP_1 = 14
PERFT_STEP_2 = 0


def test_a_second_process_compiles_nothing(workshop: Workshop) -> None:
    assert workshop.count("toy") == ([PERFT_STEP_1], 1)
    assert workshop.count("toy") == ([PERFT_STEP_1], 0)


def test_a_process_that_reads_bytecode_finds_what_one_that_read_source_left(
    workshop: Workshop,
) -> None:
    workshop.bytecode = True
    workshop.write("toy.py", textwrap.dedent(TOY_RULES) + textwrap.dedent(FACTORY))
    assert workshop.count("toy") == ([PERFT_STEP_1], 1)
    assert list(workshop.folder.rglob("toy.*.pyc"))
    assert workshop.count("toy") == ([PERFT_STEP_1], 0)


def test_an_edit_of_what_the_rules_import_is_never_missed(workshop: Workshop) -> None:
    assert workshop.count("toy") == ([PERFT_STEP_1], 1)
    workshop.write_piece(step=2)
    assert workshop.count("toy") == ([PERFT_STEP_2], 1)
    workshop.write_piece(step=1)
    assert workshop.count("toy") == ([PERFT_STEP_1], 0)


def test_an_edit_of_the_rules_is_never_missed(workshop: Workshop) -> None:
    assert workshop.count("toy") == ([PERFT_STEP_1], 1)
    workshop.write("toy.py", TOY_RULES.replace("uint64(6)", "uint64(9)"))
    assert workshop.count("toy") == ([16], 1)


def test_code_that_the_kernels_cannot_reach_does_not_matter(workshop: Workshop) -> None:
    assert workshop.count("toy") == ([PERFT_STEP_1], 1)
    workshop.write_piece(step=1, unused=5)
    assert workshop.count("toy") == ([PERFT_STEP_1], 0)


def test_two_games_never_share_an_entry(workshop: Workshop) -> None:
    assert workshop.count("toy", "twin") == ([PERFT_STEP_1, PERFT_STEP_1], 2)
    entries = sorted(path.name for path in (workshop.folder / "cache").rglob("*.nbc"))
    assert len(entries) == 2
    assert [".toy." in entries[0], ".twin." in entries[1]] == [True, True]


def test_cached_kernels_of_one_factory_are_told_apart(workshop: Workshop) -> None:
    """Cached by two processes, loaded by a third: each keeps its own constants."""
    workshop.write("toy.py", textwrap.dedent(TOY_RULES) + textwrap.dedent(FACTORY))
    assert workshop.count("toy") == ([PERFT_STEP_1], 1)
    assert workshop.count("other") == ([PERFT_STEP_2], 1)
    assert workshop.count("toy", "other") == ([PERFT_STEP_1, PERFT_STEP_2], 0)
    assert workshop.count("other", "toy") == ([PERFT_STEP_2, PERFT_STEP_1], 0)


def test_cached_searches_of_two_games_are_told_apart(tmp_path: Path) -> None:
    """The same, for the functions that a search's own factory makes."""
    script = textwrap.dedent("""
        import sys
        from agents import make_agent
        from cardcommons import State, load
        from tests.toy import RACE, RaceParams
        for name in sys.argv[1:]:
            game = load(name) if name == "particles" else RACE.make(RaceParams(goal=6))
            agent = make_agent("greedy", game)
            agent.restart(1)
            print(agent.decide(State(game)).value)
    """)

    def values(*names: str) -> list[str]:
        env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", script, *names],
            capture_output=True, text=True, check=True, env=env,
        )  # fmt: skip
        return done.stdout.split()

    particles, race = values("particles"), values("race")
    assert values("particles", "race") == particles + race
    assert values("race", "particles") == race + particles


def test_without_a_place_to_write_it_still_runs_and_says_so(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import warnings
        from numba.core import caching
        caching.CacheImpl._locator_classes = []
        from cardcommons.compiled import compiled
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            double = compiled("toy", "int64(int64)")(lambda x: 2 * x)
        print(double(21), "NUMBA_CACHE_DIR" in str(caught[-1].message))
    """)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == ["42", "True"]


def test_particles_compiles_nothing_in_a_second_process() -> None:
    script = textwrap.dedent("""
        import cardcommons
        from agents import make_agent
        game = cardcommons.load("particles")
        for spec in ("greedy", "mcts:sims=10", "minimax:depth=1"):
            agent = make_agent(spec, game)
            agent.restart(1)
            agent.decide(cardcommons.State(game))
        cardcommons.perft.perft(game, 1)
        cardcommons.playout.playouts(game, 1, 1)
    """)
    env = {name: value for name, value in os.environ.items() if name != "CARDCOMMONS_QUIET"}
    runs = [
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env
        )
        for _ in range(2)
    ]
    assert runs[1].stderr == ""
