"""The fast engine against its slow twin, and both against games of independent engines.

``CARDCOMMONS_LOCKSTEP_GAMES`` sets the number of random games a variant, and
``CARDCOMMONS_LOCKSTEP_SEED`` another seed, for longer runs.
"""

import gzip
import json
import os
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.gluons.situations import EXPECTED, ending, situations
from tests.gluons.walks import POLICIES, VARIANTS, Pair, Variant, drawing_chances, walk

GAMES = int(os.environ.get("CARDCOMMONS_LOCKSTEP_GAMES", "16"))
SEED = os.environ.get("CARDCOMMONS_LOCKSTEP_SEED", "1")
RECORDED = Path(__file__).parent.parent / "data" / "gluons.jsonl.gz"


def _play(pair: Pair, policy: str, rng: Random) -> Counter[str]:
    """Play a game in both engines; what was met in it."""
    met: Counter[str] = Counter()
    most = 0
    for now, action in walk(pair, POLICIES[policy], rng):
        now.check()
        met.update(situations(now.twin, action))
        most = max(most, len(now.state.legal_actions()))
    pair.check()
    assert most <= pair.state.game.rules.max_legal
    return met + Counter(ending(pair.twin))


def _play_all(variant: Variant) -> Counter[str]:
    met: Counter[str] = Counter()
    for i in range(GAMES):
        policy = sorted(POLICIES)[i % len(POLICIES)]
        met += _play(Pair.start(variant), policy, Random(f"{SEED} {variant} {i}"))
    return met


def test_engines_agree_on_random_games_that_reach_every_rule() -> None:
    met = sum((_play_all(variant) for variant in VARIANTS), Counter[str]())
    assert met.keys() >= EXPECTED, f"never met: {sorted(EXPECTED - met.keys())}; met: {met}"


def _recorded() -> list[dict[str, Any]]:
    with gzip.open(RECORDED, "rt") as lines:
        return [json.loads(line) for line in lines]


RECORDS = _recorded()


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: "game")
def test_both_engines_replay_the_recorded_games(record: dict[str, Any]) -> None:
    assert record["game"] == "gluons"
    pair = Pair.start(Variant.of(**record["params"]))
    for step in record["steps"]:
        pair.check()
        assert pair.state.player == step["player"]
        told = {action: Fraction(chance) for action, chance in step.get("chance", {}).items()}
        assert drawing_chances(pair.state) == pair.twin.chance() == told
        assert pair.twin.legal() == step.get("legal", [])
        pair.play(step["action"])
    pair.check()
    assert pair.is_over
    assert pair.state.returns() == record["returns"]


def test_the_recorded_games_cover_several_sets_of_parameters() -> None:
    played = Counter(json.dumps(record["params"]) for record in RECORDS)
    assert set(played.values()) == {12}
    assert len(played) == 15
    for players in (2, 3, 4):
        assert sum(f'"players": {players}' in params for params in played) >= 4
