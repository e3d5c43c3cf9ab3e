"""Things named by text, ``name:option=value,option=value``, and read into a dataclass.

A game's options are its parameters; messages call them as the ``noun`` says.
"""

from dataclasses import fields
from difflib import get_close_matches
from numbers import Integral, Real
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

T = TypeVar("T")


def split_spec(text: str) -> tuple[str, str]:
    """The name and the options of a spec; the options are empty if there are none."""
    name, _, options = text.partition(":")
    return name, options


def read_options(kind: type[T], owner: str, listed: str, noun: str = "option") -> T:
    """An instance of the dataclass ``kind`` from ``option=value,option=value``.

    Values are read by the type of the field: bool (``True``, ``False``), int, float or str.

    Raises:
        ValueError: an option is unknown, given twice or does not parse; ``owner`` is named.
    """
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for item in listed.split(",") if listed else []:
        option, equals, value = item.partition("=")
        if not equals:
            raise ValueError(f"{item!r} of {owner} should read {noun}=value")
        check_names(kind, owner, [option], noun)
        if option in values:
            raise ValueError(f"{noun} {option!r} of {owner} is given twice")
        values[option] = _read(f"{noun} {option!r} of {owner}", value, hints[option])
    return kind(**values)


def check_names(kind: type[Any], owner: str, given: list[str], noun: str = "option") -> None:
    """Raise ``ValueError`` if a name is no field of the dataclass ``kind``."""
    known = [field.name for field in fields(kind)]
    for name in given:
        if name not in known:
            raise ValueError(f"{owner} has no {noun} {name!r}{suggestion(name, known)}")


def suggestion(wrong: str, known: list[str]) -> str:
    """What to say after an unknown name: the closest known one, and all of them."""
    close = get_close_matches(wrong, known, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ""
    return f"{guess} (known: {', '.join(known) or 'none'})"


def write_options(options: Any) -> str:
    """The options that are not at their defaults, in the notation that is read above."""
    changed = [
        f"{field.name}={value}"
        for field in fields(options)
        if (value := getattr(options, field.name)) != field.default
    ]
    return ",".join(changed)


def check_types(options: Any, owner: str) -> None:
    """Raise ``ValueError`` if an option is of no type that its field may have; ``owner`` is named.

    For those that were not read from a text: a dataclass takes anything.
    """
    hints = get_type_hints(type(options))
    for option in fields(options):
        value, hint = getattr(options, option.name), hints[option.name]
        kind = _kind_of(hint)
        if value is None and isinstance(hint, UnionType):
            continue
        wanted, name = _ACCEPTED[kind]
        if not isinstance(value, wanted) or (kind is not bool and isinstance(value, bool)):
            raise ValueError(f"option {option.name!r} of {owner} must be {name}, not {value!r}")


_ACCEPTED: dict[type[Any], tuple[type[Any], str]] = {
    bool: (bool, "True or False"),
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str, "a string"),
}
"""By the type of a field: what it may hold, and what that is called."""


def _kind_of(hint: Any) -> Any:
    """The type of a field that is not ``None``."""
    if isinstance(hint, UnionType):
        return next(arg for arg in get_args(hint) if arg is not type(None))
    return hint


def _read(what: str, value: str, hint: Any) -> Any:
    kind = _kind_of(hint)
    if kind is bool:
        if value.lower() not in ("true", "false"):
            raise ValueError(f"{what} must be {_ACCEPTED[bool][1]}, not {value!r}")
        return value.lower() == "true"
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{what} must be {_ACCEPTED[kind][1]}, not {value!r}") from None
