"""Rally: what the driver knows: everything but the order of the hidden cards."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from cardcommons.games.rally.text import fields, position
from cardcommons.treaty import TensorSpec, Words

_COUNTS = {
    "hidden_sectors": 3,
    "piles": 3,
    "unseen": 10,
    "queens": 1,
    "jacks": 1,
    "jokers": 1,
    "bonuses": 1,
    "penalties": 1,
    "stage": 1,
    "sector": 1,
    "total": 1,
    "cards_on_it": 1,
    "drawing": 3,
    "ended": 3,
}
_GEARS = ("1st", "2nd", "3rd")
_LOSSES = ("DSQ", "DNF")

tensors = tuple(TensorSpec(name, (size,)) for name, size in _COUNTS.items())
"""Plain counts; ``unseen`` is indexed [value - 1], ``hidden_sectors`` and ``piles`` [gear].

``drawing`` has a 1 for the gear being drawn from, ``ended`` for a finish, a disqualification or a
retirement.
"""


def write(words: Words, player: int, into: Mapping[str, npt.NDArray[np.float32]]) -> None:
    """Fill the arrays named in ``into``."""
    told = fields(words)
    ended = told["result"]
    told["drawing"] = [told["drawing"] == gear for gear in _GEARS]
    told["ended"] = [ended not in ("", *_LOSSES), *(ended == loss for loss in _LOSSES)]
    for name, block in into.items():
        block[:] = told[name]


def string(words: Words, player: int, *, public: bool, private: bool) -> str:
    """The position, if public information is asked for; there is no other."""
    return position(words) if public else ""
