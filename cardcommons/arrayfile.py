"""Files of named arrays and a few words about them: numpy's ``.npz`` with a JSON entry."""

import contextlib
import glob
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_TOLD = "told"
_DAMAGED = (ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
_STALE_SECONDS = 60.0
"""A draft that nobody wrote to for so long was left by a process that was killed."""

Arrays = Mapping[str, npt.NDArray[Any]]

Notes = Mapping[str, Any]
"""Plain JSON values that are kept with something else."""


def write_arrays(
    path: Path, told: Mapping[str, Any], arrays: Arrays, *, compress: bool = False
) -> None:
    """Write a file, so that it is there as a whole or not at all; folders are made.

    Args:
        path: where to; the name is taken as it is.
        told: plain JSON values.
        arrays: by name; numbers only.
        compress: whether to spend time on a smaller file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    words = np.frombuffer(json.dumps(told).encode(), np.uint8)
    save: Any = np.savez_compressed if compress else np.savez
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            save(file, **{_TOLD: words}, **arrays)
        _remove_stale_drafts(path, draft.stat().st_mtime)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _remove_stale_drafts(path: Path, now: float) -> None:
    """Remove what killed processes left beside a file; ``now`` is by the clock of its folder."""
    for draft in path.parent.glob(f"{glob.escape(path.name)}.*.part"):
        with contextlib.suppress(FileNotFoundError):  # another process may be tidying too
            if now - draft.stat().st_mtime > _STALE_SECONDS:
                draft.unlink()


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """What was told, and the arrays.

    Raises:
        OSError: the file can't be opened.
        ValueError: it is damaged, or is no such file.
    """
    try:
        arrays = _entries(path)
        told = json.loads(arrays.pop(_TOLD).tobytes())
    except _DAMAGED as error:
        raise ValueError(f"{path} is damaged, or was not written by cardcommons: {error}") from None
    if not isinstance(told, dict):
        raise ValueError(f"{path} is damaged: no JSON object")
    return told, arrays


def _entries(path: Path) -> dict[str, npt.NDArray[Any]]:
    loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        raise ValueError("it holds a single array")
    with loaded:
        entries = {name: loaded[name] for name in loaded.files}
    for name, entry in entries.items():
        if not isinstance(entry, np.ndarray):
            raise ValueError(f"{name} is no array")
    return entries
