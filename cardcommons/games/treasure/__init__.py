"""Treasure: two players, hidden hands, chance.  Where the parts meet."""

import numpy as np

from cardcommons.games.treasure import estimate, keys, resample, rules, text, views
from cardcommons.games.treasure.params import TreasureParams
from cardcommons.treaty import Family, Game, Rules, Words, seeing, speaking

_TREASURE_POINTS = 3


def _rules(most: float) -> Rules:
    return Rules(
        name="treasure",
        num_players=2,
        num_words=rules.NUM_WORDS,
        num_actions=rules.NUM_ACTIONS,
        max_legal=rules.MAX_LEGAL,
        max_length=rules.MAX_LENGTH,
        min_utility=-most,
        max_utility=most,
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
        resample=resample.resample,
    )


def _most_points(params: TreasureParams) -> int:
    """All spaces that the own cards can fill, the Treasure among them."""
    return min(params.rows * params.columns, params.deck) + (
        _TREASURE_POINTS - 1 if params.treasure else 0
    )


def _start(params: TreasureParams) -> Words:
    deck = int(params.treasure) | sum(params.copies << 2 * rank for rank in _ranks(params))
    words = np.zeros(rules.NUM_WORDS, dtype=np.uint64)
    words[rules.DECKS] = deck | deck << int(rules.cards_shift(1))
    meta = params.rows << int(rules.ROWS_SHIFT) | params.columns << int(rules.COLUMNS_SHIFT)
    meta |= params.hand << int(rules.HAND_SHIFT) | params.deck << int(rules.DECK_SHIFT)
    meta |= int(rules.DEALING) | (int(rules.MARGIN) if params.utility == "margin" else 0)
    words[rules.META] = rules.begin_draw(np.uint64(meta), 0)
    words.flags.writeable = False
    return words


def _ranks(params: TreasureParams) -> range:
    return range(1, params.ranks + 1)


def make(params: TreasureParams) -> Game:
    """The game with its parameters fixed."""
    return Game(
        long_name="Treasure",
        params=params,
        rules=_rules(float(_most_points(params)) if params.utility == "margin" else 1.0),
        text=speaking(text, text.parse),
        views=seeing(views),
        start=_start(params),
        max_decisions=2 * params.deck,
        has_chance=True,
        has_hidden_information=True,
        max_chance_outcomes=params.ranks + 1,  # OpenSpiel wants all outcome ids to be below this
        max_chance_nodes=2 * params.deck,
    )


GAME = Family("treasure", TreasureParams, make)
