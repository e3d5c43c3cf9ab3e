"""Particles: two players, perfect information, no chance, no draws.  Where the parts meet."""

from functools import partial

from cardcommons.games.particles import estimate, keys, rules, text, views
from cardcommons.games.particles.params import ParticlesParams
from cardcommons.treaty import (
    Family,
    Game,
    Rules,
    no_chance,
    nothing_hidden,
    seeing,
    speaking,
)

# From the bound in the rules: at most 20 placements, 4 discards, 8 ability choices, and 20 passes.
_LONGEST = 52
_LONGEST_TUTORIAL = 24


_RULES = Rules(
    name="particles",
    num_players=2,
    num_words=rules.NUM_WORDS,
    num_actions=rules.NUM_ACTIONS,
    max_legal=rules.MAX_LEGAL,
    max_length=_LONGEST,
    min_utility=-1.0,
    max_utility=1.0,
    zero_sum=True,
    to_move=rules.to_move,
    legal=rules.legal,
    apply=rules.apply,
    payoff=rules.payoff,
    state_key=keys.state_key,
    estimate=estimate.estimate,
    chance=no_chance,
    info_key=keys.info_key,
    resample=nothing_hidden,
    settled=rules.settled,
)
"""One set of rules for all variants: a state knows its own."""


def make(params: ParticlesParams) -> Game:
    """The game with its parameters fixed; ``ValueError`` if the position is refused."""
    parse = partial(text.parse, tutorial=params.tutorial, torus=params.torus)
    start = parse(params.position or text.START)
    start.flags.writeable = False
    return Game(
        long_name="Particles",
        params=params,
        rules=_RULES,
        text=speaking(text, parse),
        views=seeing(views),
        start=start,
        max_decisions=_LONGEST_TUTORIAL if params.tutorial else _LONGEST,
    )


GAME = Family("particles", ParticlesParams, make)
