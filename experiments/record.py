"""The game log: one JSON object a line, with everything that it takes to replay a game."""

import json
import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType, UnionType
from typing import Any, NamedTuple, Self, get_args, get_origin, get_type_hints

_LARGEST = 2.0**53
"""No count or time of a game is as large; what is not a number is not smaller either."""

FORMAT = 2
"""The version of the format; a reader refuses any other."""


@dataclass(frozen=True)
class GameRecord:
    """One line of a log.

    Attributes:
        format: :data:`FORMAT`.
        index: the game's place in its tournament, from 0.
        pair: which pair of games of these two agents it belongs to, or in other numbers which
            deal it is of, from 0.
        game: the short name of the game.
        params: all of its parameters.
        agents: the agents' specs, by seat.
        seed: what chance and the agents were seeded with.
        opening: how many leading actions were drawn at random, not decided by agents.
        actions: the notation of every action in order, chance outcomes included.
        returns: the utility of each seat.
        result: the game's own word for how it ended; empty if it has none.
        moves: how many decisions each seat made.
        seconds: the time that each seat took for them.
        started: when, as an ISO 8601 time in UTC.
        versions: of the software, by name; the commit is null outside a checkout.
    """

    format: int
    index: int
    pair: int
    game: str
    params: dict[str, Any]
    agents: list[str]
    seed: int
    opening: int
    actions: list[str]
    returns: list[float]
    result: str
    moves: list[int]
    seconds: list[float]
    started: str
    versions: dict[str, str | None]

    def to_line(self) -> bytes:
        """The record as a line, its end included."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """The record that a line holds; keys that this version does not know are passed over.

        Raises:
            ValueError: it is no JSON object, or one with a key missing or of the wrong kind.
        """
        told = _read_object(line)
        hints = get_type_hints(cls)
        if (version := told.get("format", FORMAT)) != FORMAT:
            raise ValueError(f"format {version!r} is not known here, only {FORMAT}")
        for key, hint in hints.items():
            if key not in told:
                raise ValueError(f"key {key!r} is missing")
            if not _fits(told[key], hint):
                raise ValueError(f"key {key!r} can't be {json.dumps(told[key])[:60]}")
        record = cls(**{key: told[key] for key in hints})
        record.check_seats()
        return record

    def check_seats(self) -> None:
        """Raise ``ValueError`` unless what is told by seat is told of every seat, in numbers."""
        for key, most in (("returns", math.inf), ("moves", _LARGEST), ("seconds", _LARGEST)):
            told = getattr(self, key)
            if len(told) != len(self.agents):
                raise ValueError(f"key {key!r} has {len(told)} seats, not {len(self.agents)}")
            if not all(abs(number) < most for number in told):
                raise ValueError(f"key {key!r} can't be {told}")


def _read_object(line: bytes) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(told, dict):
        raise ValueError(f"not a JSON object but {json.dumps(told)[:60]}")
    return told


def _fits(value: object, hint: Any) -> bool:
    """Whether a JSON value is of the kind that a type hint asks for."""
    kind, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if kind is UnionType:
        return any(_fits(value, one) for one in inner)
    if kind is list:
        return isinstance(value, list) and all(_fits(item, inner[0]) for item in value)
    if kind is dict:
        return isinstance(value, dict) and all(_fits(item, inner[1]) for item in value.values())
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, int | float) if hint is float else isinstance(value, hint)


class Line(NamedTuple):
    """A line of a log: its number, from 1, and the record, or why it holds none."""

    number: int
    record: GameRecord | None
    damage: str


def read_lines(path: Path) -> Iterator[Line]:
    """Every line of a log, the damaged ones too."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield Line(number, GameRecord.from_line(line), "")
            except ValueError as error:
                yield Line(number, None, str(error))


def read_log(path: Path) -> list[GameRecord]:
    """All records of a log; ``ValueError`` names the first line that is damaged."""
    records = []
    for number, record, damage in read_lines(path):
        if record is None:
            raise ValueError(f"{path}, line {number} is damaged: {damage}")
        records.append(record)
    return records


class LogWriter:
    """Appends to a log, each record at once and to the disk."""

    def __init__(self, path: Path) -> None:
        # Unbuffered, so that a line is one system call, which no signal handler can cut short.
        self._file = path.open("ab", buffering=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def append(self, record: GameRecord) -> None:
        """Write a record; ``OSError`` if it can't be written whole."""
        line = record.to_line()
        if self._file.write(line) != len(line):
            raise OSError(f"only part of a line could be written to {self._file.name}")
        os.fsync(self._file.fileno())


def mend_tail(path: Path, aside: Path) -> bool:
    """Make a log that a kill may have cut short end with a whole line.

    A last line without its end is completed if only the end is missing; otherwise it is moved to
    the end of the file ``aside``.  Says whether one was moved.
    """
    content = path.read_bytes() if path.exists() else b""
    tail = content[content.rfind(b"\n") + 1 :]
    if not tail:
        return False
    try:
        GameRecord.from_line(tail)
    except ValueError:
        _append_durably(aside, tail + b"\n")
        os.truncate(path, len(content) - len(tail))
        return True
    _append_durably(path, b"\n")
    return False


def _append_durably(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
