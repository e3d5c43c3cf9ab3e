"""Rally: which states have the same future.  The driver sees all that matters but the order."""

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import mix
from cardcommons.games.rally.rules import (
    LOSS,
    META,
    PLAYED_SHIFT,
    SECTOR,
    STAGES,
    TOTAL_SHIFT,
    UNSEEN,
    number,
    played,
    total,
)

_FIVE = np.uint64(31)


@register_jitable
def _digest(s, meta):
    digest = mix(mix(mix(s[UNSEEN]) ^ meta) ^ s[LOSS])
    for i in range(STAGES, s.size):
        digest = mix(digest ^ s[i])
    return digest


@register_jitable
def state_key(s):
    """Equal exactly when counts, sector, stage, score and what is to come are the same.

    Of a sector, no more counts than how far the total is from its number, and whether a card
    lies on it.
    """
    meta = s[META]
    missing = np.uint64(number(meta) - total(meta)) & _FIVE
    sector = (missing << TOTAL_SHIFT) | (np.uint64(min(played(meta), 1)) << PLAYED_SHIFT)
    return _digest(s, (meta & ~SECTOR) | sector)


@register_jitable
def info_key(s, player):
    """Equal exactly when the positions are: nothing else is there to be known."""
    return _digest(s, s[META])
