"""Rally: what a rally is worth between two sectors, as learned by playing it.

One small network for each number of sectors still to come: counts in, one hidden layer, one
number out.  The weights are data (``values-win.npz`` and ``values-score.npz``, made by
``python -m experiments.fit_rally``),
not code; they are for the usual stages, and anywhere else the estimate stands in.
"""

import numpy as np
from numba.extending import register_jitable

from cardcommons.games.rally.estimate import estimate, sectors_to_come
from cardcommons.games.rally.rules import (
    META,
    WIN,
    hidden,
    jacks,
    jokers,
    loss_utility,
    penalties,
    queens,
    score,
    unseen,
)

SECTORS = 36
"""Of the usual stages; there is a network for each number of sectors to come, 1 to 36."""
INPUTS = 30
"""How many numbers a network sees."""
HIDDEN = 48
"""How many units it has between them and its output."""
SIZE = (INPUTS + 2) * HIDDEN + 1
"""Weights of one network: the biases of the hidden units, a row of weights for each input, the
output's weights, and the output's bias."""

_WEIGHTS = SECTORS * SIZE


@register_jitable
def _at_least(number, bound):
    return np.float32(1.0) if number >= bound else np.float32(0.0)


@register_jitable
def inputs(s):
    """What the networks see: 30 numbers of about one; steps where a single one matters."""
    meta = s[META]
    lead = score(s)
    return (
        np.float32(hidden(meta, 0)) * np.float32(0.5),
        np.float32(hidden(meta, 1)) * np.float32(0.25),
        np.float32(hidden(meta, 2)) * np.float32(0.125),
        np.float32(unseen(s, 1) - 2),
        np.float32(unseen(s, 2) - 2),
        np.float32(unseen(s, 3) - 2),
        np.float32(unseen(s, 4) - 2),
        np.float32(unseen(s, 5) - 2),
        np.float32(unseen(s, 6) - 2),
        np.float32(unseen(s, 7) - 2),
        np.float32(unseen(s, 8) - 2),
        np.float32(unseen(s, 9) - 2),
        np.float32(unseen(s, 10) - 2),
        np.float32(queens(meta)) * np.float32(0.5),
        np.float32(jacks(meta)) * np.float32(0.5),
        np.float32(min(jokers(s), 3)),
        np.float32(penalties(meta)) * np.float32(0.25),
        np.float32(lead) * np.float32(0.5),
        _at_least(queens(meta), 1),
        _at_least(queens(meta), 2),
        _at_least(jacks(meta), 1),
        _at_least(jacks(meta), 2),
        _at_least(jokers(s), 1),
        _at_least(jokers(s), 2),
        _at_least(lead, -1),
        _at_least(lead, 0),
        _at_least(lead, 1),
        _at_least(lead, 2),
        _at_least(lead, 3),
        _at_least(penalties(meta), 15),
    )


@register_jitable
def network(s, weights, work, sectors):
    """The output of the network for this many sectors to come; ``work`` is overwritten."""
    seen = inputs(s)
    at = (sectors - 1) * SIZE
    for unit in range(HIDDEN):
        work[unit] = weights[at + unit]
    for i in range(INPUTS):
        at += HIDDEN
        if seen[i] != np.float32(0.0):
            for unit in range(HIDDEN):
                work[unit] += weights[at + unit] * seen[i]
    at += HIDDEN
    out = weights[at + HIDDEN]
    for unit in range(HIDDEN):
        out += weights[at + unit] * max(work[unit], np.float32(0.0))
    return np.float64(out)


@register_jitable
def value(s, player, weights, work):
    """The expected utility of good play from a state without a sector turned up.

    ``weights`` is ``float32[36 * SIZE]``, or empty to have the estimate; ``work`` is a buffer of
    at least ``HIDDEN`` numbers.
    """
    sectors = sectors_to_come(s)
    if weights.size != _WEIGHTS or sectors > SECTORS or sectors < 1:
        return estimate(s, player)
    learned = network(s, weights, work, sectors)
    if s[META] & WIN:
        return 1.0 / (1.0 + np.exp(-learned))
    return max(score(s) + learned, min(loss_utility(s), -16.0))
