"""Which code made a result: versions and commit."""

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import cardcommons

_CHECKOUT = Path(__file__).resolve().parents[1]


def versions() -> dict[str, str | None]:
    """The versions of this project, of Python and of the libraries that the results rest on."""
    return {
        "cardcommons": cardcommons.__version__,
        "commit": commit(_CHECKOUT),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "open_spiel": version("open_spiel"),
    }


def commit(checkout: Path) -> str | None:
    """The commit checked out in a folder, with ``+changes`` if tracked files differ from it.

    ``None`` if the folder is not the top of a git checkout, has no commit or git is not there.
    """
    top = _git(checkout, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != checkout.resolve():
        return None
    head = _git(checkout, "rev-parse", "--verify", "HEAD")
    changed = _git(checkout, "status", "--porcelain", "--untracked-files=no")
    return f"{head}+changes" if head and changed else head


def _git(folder: Path, *arguments: str) -> str | None:
    """What git answers, or ``None`` if it fails."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
