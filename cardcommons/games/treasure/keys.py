"""Treasure: which states have the same future, and which a player can't tell apart or sees alike.

Once both players have played a card, columns matter only by their order: boards shifted sideways
have the same future.  Boards mirrored left to right always do, e being the middle.
"""

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import ZERO, lowest, mix
from cardcommons.games.treasure.rules import (
    BLACK,
    DECKS,
    DRAWN,
    HANDS,
    META,
    PLAYED_SHIFT,
    RANK,
    SEEN,
    TAKEN,
    WIDTH,
    cards_of,
    columns_of,
)

_BOTH_PLAYED = np.uint64(3) << PLAYED_SHIFT
_WEST_COLUMN = np.uint64(sum(1 << (WIDTH * row) for row in range(5)))


@register_jitable
def _mirrored(x):
    """A plane with its nine columns in reverse order."""
    image = ZERO
    for column in range(WIDTH):
        near, far = np.uint64(column), np.uint64(WIDTH - 1 - column)
        image |= ((x >> near) & _WEST_COLUMN) << far
    return image


@register_jitable
def _board_hash(s, mirror, named):
    """A hash of the board, or of its mirror image.

    Unless columns go by their names, it is moved as far west as the rules don't care.
    """
    taken = _mirrored(s[TAKEN]) if mirror else s[TAKEN]
    shift = ZERO
    if not named and s[META] & _BOTH_PLAYED == _BOTH_PLAYED:
        shift = np.uint64(lowest(columns_of(taken)))
    digest = mix(taken >> shift)
    for word in (RANK, RANK + 1, RANK + 2, RANK + 3, BLACK):
        plane = _mirrored(s[word]) if mirror else s[word]
        digest = mix(digest ^ (plane >> shift))
    return digest


@register_jitable
def state_key(s):
    """Equal exactly when the board, up to the symmetries above, and all cards are the same."""
    board = min(_board_hash(s, False, False), _board_hash(s, True, False))
    return mix(mix(mix(board ^ s[HANDS]) ^ s[DECKS]) ^ s[META])


@register_jitable
def info_key(s, player):
    """Equal exactly when a player has seen the same plays and discards, and drawn the same cards.

    The draws are in their order; where among the plays they came, the plays tell.
    """
    own = DRAWN + 2 * player
    return mix(mix(mix(s[SEEN] ^ np.uint64(player)) ^ s[own]) ^ s[own + 1])


@register_jitable
def view_key(s, player, hand):
    """Equal exactly when a player sees the same tops and turns, and the same cards are to come.

    The cards to come are those in hand or deck; ``hand`` says whether it counts which of their own
    are in hand.  Who still owes a first card is part of the turns; in which order cards were drawn
    or played is not in it.
    """
    digest = mix(_board_hash(s, False, True) ^ s[META])
    digest = mix(digest ^ (s[HANDS] + s[DECKS]))
    return mix(digest ^ ~cards_of(s[HANDS], player)) if hand else digest
