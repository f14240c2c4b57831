"""Tables: rows of numbers, read and written.

A row is a mapping from the names of columns; all rows of a table have the same.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from algebra.errors import InputError
from algebra.files.opening import read_text
from matchprob.io import files

Row = Mapping[str, Any]
Rows = Sequence[Row]
Tables = Mapping[str, Rows]


class _Row(dict[str, Any]):
    """A row of a file: the error about a missing column names the file."""

    def __init__(self, cells: Mapping[str, Any], path: Path) -> None:
        super().__init__(cells)
        self.path = path

    def __missing__(self, key: str) -> Any:
        raise InputError(f"{self.path}: no column {key!r}; was it written by another figure?")


def write_table(path: Path, rows: Rows) -> None:
    """Write rows as CSV with a header, atomically; without rows the file is empty.

    Raises
    ------
    InputError
    """
    lines = io.StringIO()
    if rows:
        writer = csv.DictWriter(lines, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    files.write_text(path, lines.getvalue())


def read_table(path: Path) -> Rows:
    """The rows of a CSV file; texts of numbers become numbers.

    Raises
    ------
    InputError
        If the file is missing, or is not a table.
    """
    try:
        text = read_text(path, is_named_inside=True)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: no text") from None
    reader = csv.reader(io.StringIO(text))
    try:
        header, *lines = list(reader) or [[]]
    except csv.Error as error:
        raise InputError(f"{path}: {error}") from None
    out = []
    for number, line in enumerate(lines, 2):
        if len(line) != len(header):
            raise InputError(f"{path}, line {number}: {len(line)} cells under {len(header)} names")
        out.append(_Row(dict(zip(header, map(_value, line), strict=True)), path))
    if not out:
        raise InputError(f"{path}: holds no rows")
    return out


def _value(cell: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def cell_number(row: Row, key: str) -> float:
    """A cell that must be a number.

    Raises
    ------
    InputError
    """
    value = row[key]
    if isinstance(value, str):
        where = f"{row.path}: " if isinstance(row, _Row) else ""
        raise InputError(f"{where}{value!r} in column {key!r} is no number")
    return float(value)


def rounded(value: float) -> float:
    """Four digits of a number of any size."""
    return float(f"{value:.4g}")


def groups(rows: Rows, key: str) -> dict[str, list[Row]]:
    """Rows grouped by the text of a column, in the order of first occurrence."""
    out: dict[str, list[Row]] = {}
    for row in rows:
        out.setdefault(str(row[key]), []).append(row)
    return out


def markdown_report(title: str, lines: Iterable[str], rows: Rows) -> str:
    """A text in Markdown: a title, lines, and a table below them."""
    return "\n".join([f"# {title}", "", *lines, "", markdown_table(rows), ""])


def markdown_table(rows: Rows) -> str:
    """Rows as a Markdown table."""
    return "\n".join(_markdown(rows))


def _markdown(rows: Rows) -> Iterator[str]:
    if rows:
        yield "| " + " | ".join(rows[0]) + " |"
        yield "|" + "---|" * len(rows[0])
    for row in rows:
        yield "| " + " | ".join(map(str, row.values())) + " |"
