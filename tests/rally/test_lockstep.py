"""The fast engine against its slow twin, and both against games of independent engines.

``CARDCOMMONS_LOCKSTEP_GAMES`` sets the number of random rallies a set of parameters, and
``CARDCOMMONS_LOCKSTEP_SEED`` another seed, for longer runs.
"""

import gzip
import json
import os
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.rally.situations import EXPECTED, situations
from tests.rally.walks import SETS, Pair, chances, random_walks

GAMES = int(os.environ.get("CARDCOMMONS_LOCKSTEP_GAMES", "28"))
SEED = os.environ.get("CARDCOMMONS_LOCKSTEP_SEED", "1")
RECORDED = Path(__file__).parent.parent / "data" / "rally.jsonl.gz"


def _drive(name: str) -> Counter[str]:
    """Drive random rallies in both engines; what was met in them."""
    met: Counter[str] = Counter()
    for pair, action in random_walks(name, GAMES, SEED):
        pair.check()
        after = pair.played(action)
        met.update(situations(pair.twin, action, after.twin))
        if after.is_over:
            after.check()
            met["rallies"] += 1
    return met


def test_engines_agree_on_random_rallies_that_reach_every_rule() -> None:
    met = sum(map(_drive, SETS), Counter[str]())
    assert met["rallies"] == GAMES * len(SETS)
    assert met.keys() >= EXPECTED, f"never met: {sorted(EXPECTED - met.keys())}; met: {met}"


def _recorded() -> list[dict[str, Any]]:
    with gzip.open(RECORDED, "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("record", _recorded(), ids=lambda record: "game")
def test_both_engines_replay_the_recorded_games(record: dict[str, Any]) -> None:
    assert record["game"] == "rally"
    pair = Pair.start(**record["params"])
    for step in record["steps"]:
        pair.check()
        assert pair.state.player == step["player"]
        told = {action: Fraction(chance) for action, chance in step.get("chance", {}).items()}
        assert chances(pair.state) == pair.twin.chance() == told
        assert pair.twin.legal() == step.get("legal", [])
        pair.play(step["action"])
    pair.check()
    assert pair.is_over
    assert pair.state.returns() == record["returns"]


def test_the_recorded_games_cover_several_sets_of_parameters() -> None:
    played = Counter(json.dumps(record["params"]) for record in _recorded())
    assert len(played) > 2
    assert played["{}"] > 10
