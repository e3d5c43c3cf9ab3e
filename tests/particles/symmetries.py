"""Symmetries of the game, on states and on actions, and what they leave of a state."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from cardcommons import State
from tests.particles.walks import Pair
from tests.twins.particles import (
    CELLS,
    MIRROR,
    Permutation,
    Twin,
    charge_swapped,
    mirrored,
    mirrored_action,
    moved,
    parse_card,
    square_symmetries,
    swapped,
    torus_symmetries,
)


class Symmetry(NamedTuple):
    """A map of states, and the map of actions that goes with it."""

    name: str
    state: Callable[[Twin], Twin]
    action: Callable[[str], str]


def _swapped_action(action: str) -> str:
    sign, rest = ("-", action[1:]) if action.startswith("-") else ("", action)
    return f"{sign}{swapped(parse_card(rest[:2]))}{rest[2:]}"


def of_field(permutation: Permutation, name: str) -> Symmetry:
    """A symmetry of the field, for the tutorial game, in which no action names a direction."""
    return Symmetry(
        name,
        lambda twin: moved(twin, permutation),
        lambda action: action[:-2] + permutation.get(action[-2:], action[-2:]),
    )


MIRRORING = Symmetry("mirror", mirrored, mirrored_action)
SWAPPING = Symmetry("charge swap", charge_swapped, _swapped_action)


@cache
def field_maps(tutorial: bool, torus: bool) -> list[Permutation]:
    """The maps of a field with cards on it that leave the game alone."""
    if not tutorial:
        return [dict(zip(CELLS, CELLS, strict=True)), MIRROR]
    return torus_symmetries() if torus else square_symmetries()


@cache
def symmetries(tutorial: bool, torus: bool) -> list[Symmetry]:
    """What the rules name: the mirror; in the tutorial game the field's and the charge swap."""
    if not tutorial:
        return [MIRRORING]
    maps = field_maps(tutorial, torus)
    return [SWAPPING, *(of_field(each, f"field {i}") for i, each in enumerate(maps))]


def image_of(pair: Pair, symmetry: Symmetry) -> Pair:
    """The image of a position between turns, in both engines."""
    twin = symmetry.state(pair.twin)
    return Pair(State.from_string(pair.state.game, twin.position()), twin)


_CONTENTS: list[object] = [
    None,
    "face down",
    *(("face down", height) for height in (1, 2)),
    *((level, charge, height) for level in range(1, 7) for charge in "+-" for height in (1, 2)),
]
_PENDING = 64


@cache
def _orders(tutorial: bool, torus: bool) -> npt.NDArray[np.int64]:
    maps = field_maps(tutorial, torus)
    return np.array([[CELLS.index(each[cell]) for cell in CELLS] for each in maps])


def _least_image(twin: Twin) -> tuple[object, ...]:
    _, field, hands, turn, passes, choices = cast(tuple[Any, ...], twin.key())
    contents = dict(field)
    codes = np.array([_CONTENTS.index(contents.get(cell)) for cell in CELLS], dtype=np.uint8)
    for choice in choices:
        if choice.cell:
            codes[CELLS.index(choice.cell)] += _PENDING
    images = codes[_orders(twin.tutorial, twin.torus)]
    kinds = tuple(choice.kind for choice in choices)
    return (min(map(bytes, images)), *(tuple(sorted(hand)) for hand in hands), turn, passes, kinds)


def canonical(twin: Twin) -> tuple[object, ...]:
    """The same for two states of a variant exactly when one is an image of the other."""
    images = [twin, charge_swapped(twin)] if twin.tutorial else [twin]
    return min(_least_image(image) for image in images)
