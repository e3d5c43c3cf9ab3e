"""Things named by text, ``name:option=value,option=value``, and read into a dataclass.

A game's options are its parameters; messages call them as the ``noun`` says.
"""

from dataclasses import fields
from difflib import get_close_matches
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


def _read(what: str, value: str, hint: Any) -> Any:
    kind = hint
    if isinstance(hint, UnionType):
        kind = next(arg for arg in get_args(hint) if arg is not type(None))
    if kind is bool:
        if value.lower() not in ("true", "false"):
            raise ValueError(f"{what} must be True or False, not {value!r}")
        return value.lower() == "true"
    try:
        return kind(value)
    except ValueError:
        number = "a whole number" if kind is int else "a number"
        raise ValueError(f"{what} must be {number}, not {value!r}") from None
