"""Command lines: user errors in one line on ``stderr``, without a traceback."""

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated

from cyclopts import App, CycloptsError, Parameter, Token
from rich.console import Console

USER_ERROR = 2
"""The exit code when the command can't be carried out as it was given."""

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""

_WIDEST = 200


def _whole(kind: object, tokens: Sequence[Token]) -> int:
    """Read an integer strictly, where cyclopts would round ``2.5``."""
    told = tokens[0].value
    try:
        return int(told)
    except ValueError:
        raise ValueError(f"expected a whole number, not {told!r}") from None


Whole = Annotated[int, Parameter(converter=_whole)]
"""An option that takes a whole number."""


def run(app: App, arguments: Sequence[str]) -> int:
    """Run a command; its exit code.

    What the command raises as ``ValueError`` or ``OSError`` is taken for an error of its user.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a log may hold what a terminal can't show
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # who reads stdout has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (CycloptsError, ValueError, OSError, MemoryError) as error:
        say(f"error: {explain(error)}")
        return USER_ERROR
    return code if isinstance(code, int) else 0


def explain(error: Exception) -> str:
    """The message of an error on one line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


def console() -> Console:
    """``stdout``; a file, which doesn't say how wide it may be, is wide enough for any table."""
    terminal = Console()
    return terminal if terminal.is_terminal else Console(width=_WIDEST)


def say(message: str) -> None:
    """Write a line to ``stderr``."""
    print(message, file=sys.stderr, flush=True)
