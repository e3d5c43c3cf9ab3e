"""Rally: what a rally is worth between two sectors, as learned by playing it.

One small network for each number of sectors still to come: counts in, one hidden layer, one
number out, by the row of output weights for the score (where a win counts) or for the penalties
(where the score does): a single point there changes what all else is worth.  The weights are data
(``values-win.npz`` and ``values-score.npz``, made by ``python -m experiments.fit_rally``), not
code; they are for the usual stages, and anywhere else the estimate stands in.
"""

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import ONE, ZERO
from cardcommons.games.rally.estimate import estimate, sectors_to_come
from cardcommons.games.rally.rules import (
    ALL_UNSEEN,
    FIRST_VALUE,
    META,
    UNSEEN,
    WIN,
    hidden,
    jacks,
    jokers,
    loss_utility,
    penalties,
    queens,
    score,
    unseen,
    unseen_in,
)
from cardcommons.games.rally.rules import settled as between_sectors

SECTORS = 36
"""Of the usual stages; there is a network for each number of sectors to come, 1 to 36."""
INPUTS = 64
"""How many numbers a network sees; a multiple of 4."""
HIDDEN = 64
"""How many units it has between them and its output; a power of 2."""
ROWS = 24
"""How many rows of output weights it has."""
SIZE = (INPUTS + 1) * HIDDEN + ROWS * (HIDDEN + 1)
"""Weights of one network: the biases of the hidden units, a row of weights for each input, the
rows of output weights, and a bias for each of them."""
POINTS = 4.0
"""What one is worth in the output of a network for the score, which is what is yet to be scored."""

_WEIGHTS = SECTORS * SIZE
_ONE, _ZERO, _TWO = np.float32(1.0), np.float32(0.0), np.float32(2.0)
_HALF, _QUARTER = np.float32(0.5), np.float32(0.25)
_SECTORS_SCALE = np.array([0.5, 0.25, 0.125], dtype=np.float32)
# Unsigned indices, which numba need not check for a wrap to the end of the array: see `network`.
_INPUTS, _HIDDEN, _SIZE = np.uint64(INPUTS), np.uint64(HIDDEN), np.uint64(SIZE)
_FOUR = np.uint64(4)


@register_jitable
def settled(s):
    """Whether a search may stop and ask for a value: no sector is turned up, and the stage is not
    about to end.

    Where its last sector is to come, values are sharp, and what follows is quickly searched.
    """
    meta = s[META]
    if not between_sectors(s):
        return False
    to_come = hidden(meta, 0) + hidden(meta, 1) + hidden(meta, 2)
    return to_come > 1 or s[UNSEEN] & ALL_UNSEEN == ALL_UNSEEN


@register_jitable
def _if(condition):
    return _ONE if condition else _ZERO


@register_jitable
def _write_gear(s, gear, into, at):
    """What a gear has left: by card, the odds of drawing it and of a sector being it."""
    cards, sectors = unseen_in(s, gear), hidden(s[META], gear)
    pile = cards - sectors
    share = _ONE / np.float32(max(cards, 1))
    share_of_others = _ONE / np.float32(max(cards - 1, 1))
    match = _ZERO
    for card in range(FIRST_VALUE[gear], FIRST_VALUE[gear + 1]):
        count = np.float32(unseen(s, card))
        odds = count * share
        into[at + card - 1] = count - _TWO
        into[at + card + 9] = odds * _TWO
        into[at + card + 19] = odds * np.float32(sectors)
        match += odds * max(count - _ONE, _ZERO) * share_of_others
    into[at + 30 + gear] = np.float32(sectors) * _SECTORS_SCALE[gear]
    into[at + 33 + gear] = np.float32(pile) * _QUARTER
    into[at + 36 + gear] = _if(pile > 0)
    into[at + 39 + gear] = match * _TWO * _if(pile > 0)
    into[at + 42 + gear] = match * np.float32(sectors)


@register_jitable
def write_inputs(s, into, at):
    """Write what the networks see to ``into`` (``float32``) from index ``at`` on.

    That is 64 numbers of about one; steps where a single one matters.
    """
    for gear in range(3):
        _write_gear(s, gear, into, at)
    meta = s[META]
    lead, lost = score(s), penalties(meta)
    into[at + 45] = np.float32(queens(meta)) * _HALF
    into[at + 46] = np.float32(jacks(meta)) * _HALF
    for i in range(3):
        into[at + 47 + i] = _if(queens(meta) > i)
        into[at + 50 + i] = _if(jacks(meta) > i)
        into[at + 55 + i] = _if(lost > 12 + i)
    into[at + 53] = _if(jokers(s) > 0)
    into[at + 54] = _if(jokers(s) > 1)
    into[at + 58] = np.float32(lost) * _QUARTER
    into[at + 59] = np.float32(lead) * _QUARTER
    for i in range(4):
        into[at + 60 + i] = _if(lead >= i - 1)


@register_jitable
def output_row(s):
    """Which row of output weights speaks: by the score if a win counts, else by the penalties."""
    if s[META] & WIN:
        return min(max(score(s) + ROWS // 2, 0), ROWS - 1)
    return penalties(s[META])


@register_jitable
def network(s, weights, work, sectors):
    """The output of the network for this many sectors to come; ``work`` is overwritten.

    Four inputs are taken at a time, over all units in a row: a loop that compilers make parallel.
    """
    write_inputs(s, work, HIDDEN)
    at = np.uint64(sectors - 1) * _SIZE
    for unit in range(_HIDDEN):
        work[unit] = weights[at + unit]
    at += _HIDDEN
    for i in range(_HIDDEN, _HIDDEN + _INPUTS, _FOUR):
        a, b, c, d = work[i], work[i + ONE], work[i + ONE + ONE], work[i + ONE + ONE + ONE]
        second, third = at + _HIDDEN, at + _HIDDEN + _HIDDEN
        fourth = third + _HIDDEN
        for unit in range(_HIDDEN):
            more = weights[at + unit] * a + weights[second + unit] * b
            work[unit] += more + (weights[third + unit] * c + weights[fourth + unit] * d)
        at = fourth + _HIDDEN
    row = at + np.uint64(output_row(s)) * (_HIDDEN + ONE)
    for unit in range(_HIDDEN):
        work[unit] = weights[row + unit] * max(work[unit], _ZERO)
    half = _HIDDEN >> ONE
    while half > ZERO:
        for unit in range(half):
            work[unit] += work[unit + half]
        half >>= ONE
    return np.float64(work[0] + weights[row + _HIDDEN])


@register_jitable
def value(s, player, weights, work):
    """The expected utility of good play from a state without a sector turned up.

    ``weights`` is ``float32[36 * SIZE]``, or empty to have the estimate; ``work`` is a buffer of
    at least ``HIDDEN + INPUTS`` numbers.
    """
    sectors = sectors_to_come(s)
    if weights.size != _WEIGHTS or sectors > SECTORS or sectors < 1:
        return estimate(s, player)
    learned = network(s, weights, work, sectors)
    if s[META] & WIN:
        return 1.0 / (1.0 + np.exp(-learned))
    return max(score(s) + POINTS * learned, min(loss_utility(s), -16.0))
