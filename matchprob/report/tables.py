"""Parts shared by reports: tables, and the styles of tones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.table import Table

STYLES = {
    "maximal": "bold green",
    "minimal": "bold red",
    "intermediate": "bold yellow",
    "undecided": "bold magenta",
    "strong": "bold",
    "quiet": "dim",
    "good": "green",
    "bad": "bold red",
    "open": "yellow",
}
# Largest width of text columns, folded on narrow pages, and the smallest.
_WRAPPED, _LEAST = ("note", "what"), 16


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """A plain table; the columns named in `right` are right-aligned."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in right else "left"
        least = _LEAST if column in _WRAPPED else None
        wraps = column in (*_WRAPPED, "")
        made.add_column(column, justify=justify, no_wrap=not wraps, min_width=least)
    return made
