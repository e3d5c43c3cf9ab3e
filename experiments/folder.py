"""The folder of a run: its lock, its configuration and its log, so that it can be continued."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from cardcommons import load
from experiments.record import FORMAT, GameRecord, mend_tail, read_log
from experiments.schedule import Fixture

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class Settings:
    """All that decides which games a tournament consists of.

    Attributes:
        fingerprints: by agent, where there are any; see :attr:`agents.Agent.fingerprint`.
    """

    game: str
    params: dict[str, Any]
    agents: list[str]
    pairs: int
    seed: int
    opening: int
    format: int = FORMAT
    fingerprints: dict[str, str] | None = None

    @property
    def game_spec(self) -> str:
        """The game and its parameters as text."""
        return load(self.game, **self.params).spec


class RunFolder:
    """Where a run writes; made if it is not there.

    Attributes:
        log: ``games.jsonl``, one game a line, or what else the run logs.
        settings: ``run.json``, the :class:`Settings`, or another dataclass that tells all.
        torn: ``torn.txt``, what was left of lines whose writing was cut short.
    """

    def __init__(self, path: Path, log: str = "games.jsonl") -> None:
        self.path = path
        self.log = path / log
        self.settings = path / "run.json"
        self.torn = path / "torn.txt"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep the folder for this process; ``ValueError`` if another one is using it.

        The system frees the lock when the process ends, however it ends.
        """
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{self.path} is not a folder")
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.path / "run.lock", timeout=0):
                yield
        except Timeout:
            raise ValueError(f"another run is using {self.path}") from None

    def begin(self, settings: "DataclassInstance") -> None:
        """Write the settings, or make sure that they are those of the run in the folder.

        Raises:
            ValueError: the folder holds another run; the settings that differ are named.
        """
        if self.settings.exists():
            self._compare(settings)
        elif self.log.exists():
            raise ValueError(f"{self.log} is there, but not the run.json that it belongs to")
        else:
            self.write(self.settings.name, json.dumps(asdict(settings), indent=2) + "\n")

    def _compare(self, settings: "DataclassInstance") -> None:
        try:
            known = json.loads(self.settings.read_bytes())
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{self.settings} is damaged: {error}") from None
        if not isinstance(known, dict):
            raise ValueError(f"{self.settings} is damaged: not a JSON object")
        asked = asdict(settings)
        differing = [
            f"{name} was {json.dumps(known.get(name))}, now {json.dumps(asked.get(name))}"
            for name in {**known, **asked}
            if known.get(name) != asked.get(name)
        ]
        if differing:
            raise ValueError(f"{self.path} holds another run: {'; '.join(differing)}")

    def mend(self) -> bool:
        """Move a last line that was cut short to :attr:`torn`; says whether there was one."""
        return mend_tail(self.log, self.torn)

    def played(self, settings: Settings, schedule: Sequence[Fixture]) -> list[GameRecord]:
        """The games in the log, which are the first ones of the schedule.

        Raises:
            ValueError: a line is damaged or is not the game that the schedule has there.
        """
        records = read_log(self.log) if self.log.exists() else []
        if len(records) > len(schedule):
            raise ValueError(f"{self.log} holds more games than the {len(schedule)} of its run")
        for number, (record, fixture) in enumerate(zip(records, schedule, strict=False), start=1):
            if not _belongs(record, settings, fixture):
                raise ValueError(
                    f"{self.log}, line {number} is not game {fixture.index} of this run"
                )
        return records

    def write(self, name: str, content: str) -> None:
        """Write a file of the folder so that it is there as a whole or not at all."""
        draft = self.path / f"{name}.part"
        with draft.open("w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path / name)


def _belongs(record: GameRecord, settings: Settings, fixture: Fixture) -> bool:
    """Whether the record is of this game of the schedule."""
    asked = (settings.game, settings.params, fixture.index, fixture.pair, fixture.seed)
    told = (record.game, record.params, record.index, record.pair, record.seed)
    return told == asked and tuple(record.agents) == fixture.agents
