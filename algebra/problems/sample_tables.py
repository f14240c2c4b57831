"""Tables of samples: a row of numbers for each sample, perhaps below a header.

``inputs = "x.csv"`` reads all columns; ``labels = { file = "data.csv", columns = ["height"] }``
reads some of a table with a header, so that one file may hold inputs and labels.  What cannot be
read is named by its row, counted from 1 as in editors, and its column.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from algebra.errors import InputError, one_line, shown
from algebra.files.arrays import read_array
from algebra.files.opening import path_text
from algebra.linalg.numbers import exact_number
from algebra.problems.laws.data import MOST_NUMBERS
from algebra.problems.sheets import TextTable, ending, is_number, table_of_file
from algebra.time_limits import checked


def read_samples(path: Path, columns: Sequence[str] | None = None) -> list[list[Any]]:
    """The rows of a table of samples, exact.

    Parameters
    ----------
    path : Path
        A table of text, a workbook, a Feather or Parquet file, or an array (.npy).
    columns : sequence of str, optional
        Words of the header, in this order; all columns by default.

    Raises
    ------
    InputError
        It begins with the name of the file.
    """
    where = path_text(path)
    try:
        if ending(path) == ".npy":
            return _of_array(path, columns)
        return _of_table(table_of_file(path, _is_header), columns)
    except FileNotFoundError:
        raise InputError(f"{where} does not exist") from None
    except OSError as error:
        raise InputError(f"{where} cannot be read: {one_line(error.strerror)}") from None
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _is_header(words: Sequence[str]) -> bool:
    return bool(words) and not any(map(is_number, words))


def _of_array(path: Path, columns: Sequence[str] | None) -> list[list[Any]]:
    if columns is not None:
        raise InputError("an array has no header, so no `columns` can be chosen by name")
    found = read_array(path)
    if found.ndim != 2:
        raise InputError(f"it has {found.ndim} axes; samples are rows of numbers, with 2")
    if found.size > MOST_NUMBERS:
        raise InputError(f"it has {found.size:,} numbers; at most {MOST_NUMBERS:,} are read")
    rows: list[list[Any]] = found.tolist()
    return rows


def _of_table(table: TextTable, columns: Sequence[str] | None) -> list[list[Any]]:
    rows, places = table.rows, table.places
    header: Sequence[str] = table.above
    if _is_header(rows[0]) and len(rows) > 1:
        header, rows, places = rows[0], rows[1:], places[1:]
    width = len(rows[0]) if columns is None or not header else len(header)
    at = list(range(width))
    if columns is not None:
        at = [_column(name, header) for name in columns]
    if len(rows) * len(at) > MOST_NUMBERS:
        raise InputError(f"it has {len(rows)}×{len(at)} numbers; at most {MOST_NUMBERS:,} are read")
    found = []
    for row, place in checked(list(zip(rows, places, strict=True))):
        if len(row) != width:
            raise InputError(f"{place} has {len(row)} columns, {places[0]} has {width}")
        found.append([_number(table, row[k], place, k, header) for k in at])
    return found


def _column(name: str, header: Sequence[str]) -> int:
    at = [k for k, word in enumerate(header) if word.lower() == name.strip().lower()]
    if len(at) == 1:
        return at[0]
    if not header:
        raise InputError(f"it has no header, so there is no column {shown(name)}")
    many = "several columns are" if at else "no column is"
    raise InputError(f"{many} named {shown(name)}; the header is {shown(','.join(header))}")


def _number(table: TextTable, cell: str, place: str, column: int, header: Sequence[str]) -> str:
    """The text of a cell, if it is an exact number."""
    text = table.number(cell)
    try:
        exact_number(text)
    except InputError:
        name = f" ({one_line(header[column])})" if column < len(header) else ""
        what = "is empty" if not cell else f"is {shown(cell)}, which is no number"
        raise InputError(f"{place}, column {column + 1}{name} {what}") from None
    return text
