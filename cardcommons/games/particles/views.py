"""Particles: who knows what.  Everything is public, and both players see the same."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from cardcommons.games.particles.rules import (
    CELL_SHIFT,
    META,
    MOVER_SHIFT,
    PASSES_SHIFT,
    PHASE_SHIFT,
    PLACE,
)
from cardcommons.games.particles.text import hand_bits, piles, position
from cardcommons.treaty import TensorSpec, Words

tensors = (
    TensorSpec("red", (6, 4, 4)),
    TensorSpec("black", (6, 4, 4)),
    TensorSpec("face_down", (4, 4)),
    TensorSpec("stacked", (4, 4)),
    TensorSpec("pending_cell", (4, 4)),
    TensorSpec("hands", (2, 2, 6)),
    TensorSpec("to_move", (2,)),
    TensorSpec("passes", (3,)),
    TensorSpec("phase", (5,)),
)
"""Planes are indexed [level - 1, row - 1, column]; hands [player, red or black, level - 1]."""


def _write_field(words: Words, into: Mapping[str, npt.NDArray[np.float32]]) -> None:
    for cell, pile in enumerate(piles(words)):
        if pile is None:
            continue
        at = divmod(cell, 4)
        if pile.covered:
            into["stacked"][at] = 1
        if pile.face_down:
            into["face_down"][at] = 1
        else:
            colour = "red" if pile.top[1] in "hd" else "black"
            into[colour][("A23456".index(pile.top[0]), *at)] = 1


def write(words: Words, player: int, into: Mapping[str, npt.NDArray[np.float32]]) -> None:
    """Fill the arrays of ``tensors``, which hold zeros; the same for both players."""
    _write_field(words, into)
    meta = int(words[META])
    for owner in (0, 1):
        into["hands"][owner].flat = hand_bits(words, owner)
    into["to_move"][meta >> int(MOVER_SHIFT) & 1] = 1
    into["passes"][meta >> int(PASSES_SHIFT) & 3] = 1
    phase = meta >> int(PHASE_SHIFT) & 7
    into["phase"][phase] = 1
    if phase != PLACE:
        into["pending_cell"].flat[meta >> int(CELL_SHIFT) & 15] = 1


def string(words: Words, player: int, *, public: bool, private: bool) -> str:
    """The position string, if public information is asked for; there is no other."""
    return position(words) if public else ""
