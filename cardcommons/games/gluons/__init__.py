"""Gluons: two to four players, hidden hands and gluons, chance.  Where the parts meet."""

import numpy as np

from cardcommons.games.gluons import estimate, keys, resample, rules, text, views
from cardcommons.games.gluons.params import PAIRS, SIDES, GluonsParams
from cardcommons.treaty import Family, Game, Rules, Words, seeing, speaking

_QUARKS = 0b10_01_00
"""R on 1, G on 2, B on 3."""


def _bounds(params: GluonsParams) -> tuple[float, float]:
    """The lowest and the highest utility."""
    others = params.players - 1
    if params.utility == "win":
        return -1.0 / others, 1.0
    share = params.most_played / params.players
    return -share * others, share * others


def _rules(params: GluonsParams) -> Rules:
    lowest, highest = _bounds(params)
    return Rules(
        name="gluons",
        num_players=params.players,
        num_words=rules.num_words(params.players),
        num_actions=rules.NUM_ACTIONS,
        max_legal=rules.MAX_LEGAL,
        max_length=_max_decisions(params) + _max_draws(params),
        min_utility=lowest,
        max_utility=highest,
        zero_sum=True,
        to_move=rules.to_move,
        legal=rules.legal,
        apply=rules.apply,
        payoff=rules.payoff,
        state_key=keys.state_key,
        estimate=estimate.estimate,
        chance=rules.chance,
        info_key=keys.info_key,
        view_key=keys.view_key,
        hidden_actions=rules.hidden_actions,
        resample=resample.resample,
    )


def _max_decisions(params: GluonsParams) -> int:
    """Each card is played and activated; in each round everybody passes, and three players block.

    A gluon discarded for a reemission is one that is not played.
    """
    a_round = params.players + params.blockers
    return 2 * params.players * params.most_played + a_round * params.most_rounds


def _max_draws(params: GluonsParams) -> int:
    return params.players * params.most_drawn


def _start(params: GluonsParams) -> Words:
    everyone = range(params.players)
    cards = sum(params.copies << 2 * PAIRS.index(pair) for pair in params.listed_pairs)
    sides = sum(1 << SIDES.index(side) for side in params.listed_sides)
    words = np.zeros(rules.num_words(params.players), dtype=np.uint64)
    words[rules.DECKS] = sum(cards << 12 * player for player in everyone)
    for nucleon in range(params.nucleons):
        words[rules.DECKS] |= np.uint64(sides << 48 + 6 * nucleon)
    words[rules.COUNTS] = (_QUARKS | _QUARKS << 6) << 48
    for player in everyone:
        words[rules.COUNTS] |= np.uint64(params.deck << 32 + 4 * player)
    words[rules.META] = _meta(params)
    rules.begin_draws(words, 0)
    words.flags.writeable = False
    return words


def _meta(params: GluonsParams) -> int:
    meta = params.max_rounds << int(rules.MAX_ROUNDS_SHIFT)
    meta |= params.hand << int(rules.HAND_SHIFT) | params.players << int(rules.PLAYERS_SHIFT)
    meta |= int(rules.FACE_UP) if params.face_up else 0
    meta |= int(rules.REEMISSION) if params.reemission else 0
    return meta | (int(rules.POINTS) if params.utility == "points" else 0)


def make(params: GluonsParams) -> Game:
    """The game with its parameters fixed."""
    return Game(
        long_name="Gluons",
        params=params,
        rules=_rules(params),
        text=speaking(text, text.parse),
        views=seeing(views),
        start=_start(params),
        max_decisions=_max_decisions(params),
        has_chance=True,
        has_hidden_information=True,
        max_chance_outcomes=rules.NUM_PAIRS,
        max_chance_nodes=_max_draws(params),
    )


GAME = Family("gluons", GluonsParams, make, players=(2, 4))
