"""Printed results: width of the output, long lines folded with their indent, long reports cut."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from algebra.problems.names import Names

# Width of piped text, which has none of its own: rich's 80 columns would fold tables.
_PIPED = 110
_NARROWEST = 20
_WIDEST = 1000
# Additional indent of the continuation of a folded line.
_HANGING = 2
# Lines of a report without --all.
MOST_LINES = 50
# Lines that are left of an object that is cut; names that are left of a list of more.
_FEWEST = 6
_MOST_NAMES = 12
_ITEM = r"[^\s,\[\]*]+\[[^\[\]\s]+\]"
_LIST = re.compile(rf"(?<![^\s,\[\]*]){_ITEM}(?:,? {_ITEM}){{{_MOST_NAMES + 3},}}")


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
    most : int, optional
        Lines of the whole report, which is written by `close`; by default everything is written
        when it is printed.
    """

    def __init__(self, names: Names | None = None, most: int | None = None) -> None:
        super().__init__(highlight=False, width=page_width())
        self.names = names or None
        self.most = most
        # The lines of each printed object.
        self._held: list[list[str]] = []

    @property
    def printed(self) -> int:
        """Number of objects that are printed and not yet written."""
        return len(self._held)

    def worded(self, text: str) -> str:
        """A text with the names of units, long lists of weights cut.

        Examples
        --------
        >>> Page(most=50).worded(" ".join(f"W[0,{j}]" for j in range(99))).partition("W[0,10]")[2]
        ' W[0,11] and 87 more'
        """
        if self.most is not None:
            text = _LIST.sub(_first, text)
        return self.names.annotate(text) if self.names else text

    def close(self, report: int) -> None:
        """Write what is printed; the first `report` objects are cut to the lines that are left."""
        held, self._held = self._held, []
        if self.most is None or not held:
            return
        left = self.most - sum(map(len, held[report:]))
        written = (*_cut(held[:report], left), *held[report:])
        # At once: where it cannot be written, stderr gets the whole.
        self.file.write("".join(f"{line}\n" for lines in written for line in lines))
        self.file.flush()

    def print(self, *objects: Any, **options: Any) -> None:
        """As `rich.console.Console.print`; a single text is folded under its own indent."""
        objects = tuple(_changed(item, self.worded) for item in objects)
        if len(objects) == 1 and isinstance(objects[0], (str, Text)):
            whole = objects[0]
            if isinstance(whole, str):
                whole = (
                    Text(whole)
                    if options.get("markup") is False
                    else self.render_str(whole, emoji=False, highlight=False)
                )
            objects = (self._folded(whole),)
        if self.most is None:
            super().print(*objects, **options)
            return
        with self.capture() as held:
            super().print(*objects, **options)
        self._held.append(held.get().splitlines())

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


def _changed(item: Any, change: Callable[[str], str]) -> Any:
    """A text, or the texts of a table, changed."""
    if isinstance(item, str):
        return change(item)
    if isinstance(item, Text):
        text = change(item.plain)
        return item if text == item.plain else Text(text, style=item.style)
    if isinstance(item, Table):
        for column in item.columns:
            column._cells = [_changed(cell, change) for cell in column._cells]
    return item


def _first(found: re.Match[str]) -> str:
    """The first weights of a list, and the number of the others."""
    items = found[0].split()
    return " ".join(items[:_MOST_NAMES]).rstrip(",") + f" and {len(items) - _MOST_NAMES} more"


def _cut(parts: Sequence[list[str]], limit: int) -> list[list[str]]:
    """Objects in at most `limit` lines: the longest is cut, then the next, then the end.

    Examples
    --------
    >>> _cut([["title"], [f"  row {k}" for k in range(40)], ["total"]], 10)[1][-2:]
    ['  row 6', '  … 33 more: --all']
    """
    whole, excess = [line for lines in parts for line in lines], sum(map(len, parts)) - limit
    if excess <= 0:
        return list(parts)
    left = [len(lines) for lines in parts]
    while excess > 0 and (most := max(left)) > _FEWEST:
        k = left.index(most)
        # One line says how many are left out.
        left[k] = max(most - excess, _FEWEST)
        excess -= most - left[k]
    if excess > 0:
        return [_shortened(whole, max(limit, 2))]
    return [_shortened(lines, most) for lines, most in zip(parts, left, strict=True)]


def _shortened(lines: list[str], most: int) -> list[str]:
    if len(lines) <= most:
        return lines
    indent = " " * (len(lines[1]) - len(lines[1].lstrip(" ")))
    return [*lines[: most - 1], f"{indent}… {len(lines) - most + 1} more: --all"]


def _set_in(line: Text, indent: int) -> Text:
    return Text(" " * indent).append_text(line) if indent else line


def _after(plain: str, first: str) -> int:
    """Start of the second line: after the first one and the blanks at the break."""
    position = len(first.rstrip(" "))
    return position + len(plain[position:]) - len(plain[position:].lstrip(" "))
