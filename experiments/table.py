"""Tables of results, for the terminal and as Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

_NAMES = ("agent", "less")
"""Heads of the columns that hold agents: on the left, and folded where there is little room."""

_NAME_WIDTH = 12


@dataclass(frozen=True)
class Sheet:
    """A table as text.

    Attributes:
        heads: of the columns.
        rows: a cell for each head.
        note: what stands below.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str


class Standings(Protocol):
    """The outcome of a tournament."""

    def sheets(self) -> list[Sheet]:
        """The outcome as tables."""

    def to_json(self) -> dict[str, Any]:
        """The outcome as plain JSON values."""


def speed_cell(moves_per_second: float | None) -> str:
    """A speed as text."""
    if moves_per_second is None:
        return "–"
    return f"{moves_per_second:,.0f}" if moves_per_second >= 10 else f"{moves_per_second:.2g}"


def to_rich(sheet: Sheet, title: str | None = None) -> Table:
    """The table for a terminal; where that is narrow, the agents' names are folded."""
    drawn = Table(
        title=title,
        caption=sheet.note,
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
    )
    for head in sheet.heads:
        if head in _NAMES:
            drawn.add_column(head, overflow="fold", min_width=_NAME_WIDTH)
        else:
            drawn.add_column(head, justify="right", no_wrap=True)
    for row in sheet.rows:
        drawn.add_row(*map(escape, row))
    return drawn


def to_markdown(sheets: Iterable[Sheet], title: str) -> str:
    """The tables as a Markdown document."""
    lines = [f"# {title}", ""]
    for sheet in sheets:
        rule = ["---" if head in _NAMES else "---:" for head in sheet.heads]
        lines += ["| " + " | ".join(row) + " |" for row in (sheet.heads, rule, *sheet.rows)]
        lines += ["", sheet.note, ""]
    return "\n".join(lines)
