"""Files of named arrays and a few words about them: numpy's ``.npz`` with a JSON entry."""

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
_DAMAGED = (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)

Arrays = Mapping[str, npt.NDArray[Any]]


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
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """What was told, and the arrays.

    Raises:
        OSError: the file can't be opened.
        ValueError: it is damaged, or is no such file.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        told = json.loads(arrays.pop(_TOLD).tobytes())
    except _DAMAGED as error:
        raise ValueError(f"{path} is damaged, or was not written by cardcommons: {error}") from None
    if not isinstance(told, dict):
        raise ValueError(f"{path} is damaged: no JSON object")
    return told, arrays
