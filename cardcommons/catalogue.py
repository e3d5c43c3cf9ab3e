"""Games by name: from Python values, and from text such as ``particles:tutorial=True``."""

from typing import Any

from cardcommons.games import FAMILIES
from cardcommons.spec import check_names, read_options, split_spec, suggestion
from cardcommons.treaty import Family, Game

GAMES: tuple[str, ...] = tuple(FAMILIES)
"""The short names of the games."""


def load(name: str, /, **params: Any) -> Game:
    """The game called ``name``, with parameters; those not given keep their defaults.

    Raises:
        ValueError: no such game or parameter, or a value that the game refuses.
    """
    family = _family(name)
    check_names(family.params, name, list(params), "parameter")
    return family.make(family.params(**params))


def parse_game(text: str) -> Game:
    """The game that a text names: ``name`` or ``name:param=value,param=value``.

    Raises:
        ValueError: as for :func:`load`, or a value that does not parse.
    """
    name, listed = split_spec(text)
    family = _family(name)
    return family.make(read_options(family.params, name, listed, "parameter"))


def _family(name: str) -> Family:
    if name not in FAMILIES:
        raise ValueError(f"no game is called {name!r}{suggestion(name, list(FAMILIES))}")
    return FAMILIES[name]
