"""The fast engine against its slow twin, and both against games of independent engines.

``CARDCOMMONS_LOCKSTEP_GAMES`` sets the number of random games a variant, and
``CARDCOMMONS_LOCKSTEP_SEED`` another seed, for longer runs.
"""

import gzip
import json
import os
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.particles.situations import ending, expected, situations
from tests.particles.walks import POLICIES, VARIANTS, Pair, Variant, scattered, walk

GAMES = int(os.environ.get("CARDCOMMONS_LOCKSTEP_GAMES", "1000"))
SEED = os.environ.get("CARDCOMMONS_LOCKSTEP_SEED", "1")
RECORDED = Path(__file__).parent.parent / "data" / "particles.jsonl.gz"


def _play(pair: Pair, policy: str, rng: Random) -> Counter[str]:
    met: Counter[str] = Counter()
    for now, action in walk(pair, POLICIES[policy], rng):
        now.check()
        met.update(situations(now.twin, action))
    pair.check()
    met.update(ending(pair.twin))
    return met


def test_engines_agree_on_random_games_that_reach_every_rule(variant: Variant) -> None:
    met: Counter[str] = Counter()
    for i in range(GAMES):
        policy = sorted(POLICIES)[i % len(POLICIES)]
        met += _play(Pair.start(variant), policy, Random(f"{SEED} {variant.name} {i}"))
    wanted = expected(variant.tutorial, variant.torus)
    assert wanted <= met.keys(), f"never met: {sorted(wanted - met.keys())}; met: {met}"


def test_engines_agree_on_games_from_scattered_positions(variant: Variant) -> None:
    for i in range(GAMES // 2):
        rng = Random(f"{SEED} {variant.name} scattered {i}")
        policy = sorted(POLICIES)[i % len(POLICIES)]
        _play(Pair.start(variant, scattered(variant, rng)), policy, rng)


def _recorded() -> list[dict[str, Any]]:
    with gzip.open(RECORDED, "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("record", _recorded(), ids=lambda record: "game")
def test_both_engines_replay_the_recorded_games(record: dict[str, Any]) -> None:
    assert record["game"] == "particles"
    params = record["params"]
    variant = Variant("recorded", params["tutorial"], params["torus"])
    pair = Pair.start(variant)
    for step in record["steps"]:
        pair.check()
        assert pair.state.player == step["player"]
        assert pair.twin.legal() == step["legal"], pair.twin.position()
        pair.play(step["action"])
    pair.check()
    assert pair.is_over
    assert pair.state.returns() == record["returns"]


def test_the_recorded_games_cover_all_variants() -> None:
    played = {(record["params"]["tutorial"], record["params"]["torus"]) for record in _recorded()}
    assert played == {(variant.tutorial, variant.torus) for variant in VARIANTS}
