"""Printed results: width of the output, and folding of long lines with their indent."""

from __future__ import annotations

import os
import sys
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from algebra.problems.names import Names

# Width of piped text, which has none of its own: rich's 80 columns would fold tables.
_PIPED = 110
_NARROWEST, _WIDEST = 20, 1000
# Additional indent of the continuation of a folded line.
_HANGING = 2


def page_width() -> int | None:
    """Columns of a page: COLUMNS if it is set; None for the terminal's width."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and int(given[:9]):
        return min(max(int(given[:9]), _NARROWEST), _WIDEST)
    return None if sys.stdout.isatty() else _PIPED


class Page(Console):
    """A console whose long lines keep their indent when they are folded.

    Parameters
    ----------
    names : Names, optional
        Names of units, which replace the indices of weights, rows and columns.
    """

    def __init__(self, names: Names | None = None) -> None:
        super().__init__(highlight=False, width=page_width())
        self.names = names or None

    def print(self, *objects: Any, **options: Any) -> None:
        """As `rich.console.Console.print`; a single text is folded under its own indent."""
        if self.names is not None:
            objects = tuple(_named(item, self.names) for item in objects)
        if len(objects) == 1 and isinstance(objects[0], (str, Text)):
            whole = objects[0]
            if isinstance(whole, str):
                whole = (
                    Text(whole)
                    if options.get("markup") is False
                    else self.render_str(whole, emoji=False, highlight=False)
                )
            objects = (self._folded(whole),)
        super().print(*objects, **options)

    def _folded(self, whole: Text) -> Text:
        lines: list[Text] = []
        for line in whole.split("\n", allow_blank=True):
            if line.cell_len <= self.width:
                lines.append(line)
                continue
            plain = line.plain
            indent = min(len(plain) - len(plain.lstrip(" ")), self.width // 2)
            first, *_ = parts = line[indent:].wrap(self, self.width - indent, no_wrap=False)
            lines.append(_set_in(first, indent))
            if len(parts) > 1:
                rest = line[indent + _after(plain[indent:], first.plain) :]
                hanging = indent + _HANGING
                for part in rest.wrap(self, self.width - hanging, no_wrap=False):
                    part.rstrip()
                    lines.append(_set_in(part, hanging))
        return Text("\n", style=whole.style).join(lines)


def _named(item: Any, names: Names) -> Any:
    """A text, or the texts of a table, with the names of units."""
    if isinstance(item, str):
        return names.annotate(item)
    if isinstance(item, Text):
        annotated = names.annotate(item.plain)
        return item if annotated == item.plain else Text(annotated, style=item.style)
    if isinstance(item, Table):
        for column in item.columns:
            column._cells = [_named(cell, names) for cell in column._cells]
    return item


def _set_in(line: Text, indent: int) -> Text:
    return Text(" " * indent).append_text(line) if indent else line


def _after(plain: str, first: str) -> int:
    """Start of the second line: after the first one and the blanks at the break."""
    position = len(first.rstrip(" "))
    return position + len(plain[position:]) - len(plain[position:].lstrip(" "))
