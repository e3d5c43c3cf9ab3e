"""Treasure: who knows what.

Both see the board, all plays and discards, how many cards each player holds and has to come, and
who has played a card and may leave the middle.
A player's own hand is theirs alone.  Nobody sees the other one draw: what is public is told as
if draws that are due had been made.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from cardcommons.games.treasure.rules import (
    DEALING,
    DECKS,
    HANDS,
    META,
    NUM_RANKS,
    WIDTH,
    drawer,
    draws_to_come,
    has_played,
    held,
)
from cardcommons.games.treasure.text import NAMES, RANKS, counts, hand, public_board, tops
from cardcommons.treaty import TensorSpec, Words

tensors = (
    TensorSpec("tops", (2, NUM_RANKS, 5, WIDTH)),
    TensorSpec("connected", (2, 5, WIDTH)),
    TensorSpec("unseen", (2, NUM_RANKS)),
    TensorSpec("hand_sizes", (2,)),
    TensorSpec("played", (2,)),
    TensorSpec("next", (2,)),
    TensorSpec("hand", (NUM_RANKS,), private=True),
)
"""``tops`` and ``connected`` are indexed [owner, (rank,) row - 1, column]; ``unseen`` counts the
cards of each rank that a player has not shown yet, in hand or deck; ``played`` says who has played
a card at all, though it may have been covered since."""


def _hand_sizes(words: Words) -> list[int]:
    """Cards in the hands once the draws that are due are made."""
    meta = words[META]
    sizes = [int(held(meta, player)) for player in (0, 1)]
    sizes[drawer(meta)] += int(draws_to_come(meta))
    if int(meta) & int(DEALING):
        sizes[1] = sizes[0]  # both decks are the same
    return sizes


def _played(words: Words) -> list[int]:
    """Who has played a card: 1, or else 0."""
    return [int(has_played(words[META], player)) for player in (0, 1)]


def _unseen(words: Words, player: int) -> list[int]:
    pairs = zip(counts(words[HANDS], player), counts(words[DECKS], player), strict=True)
    return [in_hand + in_deck for in_hand, in_deck in pairs]


def _write_board(words: Words, into: Mapping[str, npt.NDArray[np.float32]]) -> None:
    for cell, top in enumerate(tops(words)):
        if top:
            at = divmod(cell, WIDTH)
            into["tops"][(top.owner, RANKS.index(top.rank), *at)] = 1
            into["connected"][(top.owner, *at)] = top.connected


def write(words: Words, player: int, into: Mapping[str, npt.NDArray[np.float32]]) -> None:
    """Fill those of ``tensors`` that are named in ``into``: all public ones, or none of them."""
    if "tops" in into:
        _write_board(words, into)
        into["unseen"][:] = [_unseen(words, owner) for owner in (0, 1)]
        into["hand_sizes"][:] = _hand_sizes(words)
        into["played"][:] = _played(words)
        into["next"][int(words[META]) & 1] = 1
    if "hand" in into:
        into["hand"][:] = counts(words[HANDS], player)


def string(words: Words, player: int, *, public: bool, private: bool) -> str:
    """The board, cards not shown, hand sizes, who has played and who acts next; the own hand."""
    parts = []
    if public:
        unseen = [
            "".join(RANKS[rank] * n for rank, n in enumerate(_unseen(words, owner))) or "-"
            for owner in (0, 1)
        ]
        sizes, played = _hand_sizes(words), _played(words)
        parts.append(
            f"{public_board(words)} unseen: {unseen[0]} {unseen[1]} "
            f"hands: {sizes[0]} {sizes[1]} played: {played[0]} {played[1]} "
            f"next: {int(words[META]) & 1}"
        )
    if private:
        parts.append(f"{NAMES[player]}: {hand(words, player)}")
    return " ".join(parts)
