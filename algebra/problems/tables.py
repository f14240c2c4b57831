"""Matrices and edge lists in text files: the forms that spreadsheets and NumPy write.

A matrix is one line a row, its entries between commas, semicolons, tabs or blanks (`np.savetxt`);
a first line of column names and a first column of row names are left out.  An edge list has a
header with the columns ``pre`` and ``post`` and, of costs, ``cost``: the synapse from unit `pre`
onto unit `post` is row `post`, column `pre`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from algebra.errors import InputError, one_line, shown

_PRE, _POST, _COST = "pre", "post", "cost"


@dataclass(frozen=True)
class Edges:
    """An edge list.

    Attributes
    ----------
    values : mapping of (int, int) to str
        By row (`post`) and column (`pre`); "" where the file has no third column.
    """

    values: Mapping[tuple[int, int], str]

    def mask(self, shape: tuple[int, int]) -> list[list[int]]:
        """1 for each edge, 0 elsewhere.

        Raises
        ------
        InputError
            Where an edge lies outside.
        """
        self.check(shape)
        out = [[0] * shape[1] for _ in range(shape[0])]
        for i, j in self.values:
            out[i][j] = 1
        return out

    def check(self, shape: tuple[int, int]) -> None:
        """Refuse edges outside a matrix of this shape.

        Raises
        ------
        InputError
        """
        for i, j in self.values:
            if i >= shape[0] or j >= shape[1]:
                raise InputError(
                    f"the edge from {j} onto {i} is outside the {shape[0]}×{shape[1]} matrix: "
                    f"`pre` is a column, 0 to {shape[1] - 1}, `post` a row, 0 to {shape[0] - 1}"
                )


def read_rows(path: Path) -> list[list[str]] | Edges:
    """The entries of a matrix, or an edge list, as text.

    Parameters
    ----------
    path : Path
        UTF-8, with or without a byte order mark.

    Raises
    ------
    InputError
        Where it is neither; OSError and UnicodeDecodeError are the caller's.
    """
    return parse_rows(path.read_text(encoding="utf-8-sig"))


def parse_rows(text: str) -> list[list[str]] | Edges:
    """The same of a text.

    Examples
    --------
    >>> parse_rows(";a;b\\nx;0;1\\ny;1;0\\n")
    [['0', '1'], ['1', '0']]
    >>> parse_rows("1.0e+00 0.0e+00\\n")
    [['1.0e+00', '0.0e+00']]
    >>> parse_rows("pre,post\\n0,1\\n").mask((2, 2))
    [[0, 0], [1, 0]]
    """
    if "\0" in text:
        raise InputError("it holds NUL characters: it is no text")
    # np.savetxt's comments.
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise InputError("it is empty")
    rows = _split(lines)
    header = [cell.lower() for cell in rows[0]]
    if _PRE in header or _POST in header:
        return _edges(header, rows[1:])
    if rows[0][0] == "" and len(rows) > 1:
        # pandas: a corner without a name, numbers of columns and of rows.
        return [row[1:] for row in rows[1:]]
    is_header = len(rows) > 1 and not any(map(_is_number, rows[0]))
    if is_header and all(any(map(_is_number, row)) for row in rows[1:]):
        rows = rows[1:]
    is_named = len({len(row) for row in rows}) == 1 and len(rows[0]) > 1
    if is_named and not any(_is_number(row[0]) for row in rows):
        numbers = [row[1:] for row in rows]
        if all(_is_number(cell) for row in numbers for cell in row):
            return numbers
    return rows


def check_shape(rows: Sequence[Sequence[str]], shape: tuple[int, int], matrix: str) -> None:
    """Refuse a table whose shape is not the matrix's.

    Raises
    ------
    InputError
    """
    lengths = sorted({len(row) for row in rows})
    if len(lengths) != 1:
        raise InputError(f"its rows have different lengths: {shown(lengths)}")
    if (len(rows), lengths[0]) != shape:
        raise InputError(
            f"it is {len(rows)}×{lengths[0]}, but {matrix} is {shape[0]}×{shape[1]}: give an entry "
            "for each weight, or an edge list with the header pre,post,cost"
        )


def _split(lines: Sequence[str]) -> list[list[str]]:
    """Cells, by the first separator that the first line has."""
    first = lines[0]
    mark = next((mark for mark in (",", ";", "\t") if any(mark in line for line in lines[:2])), "")
    if not mark and len(first.split()) > 1:
        return [line.split() for line in lines]
    reader = csv.reader(io.StringIO("\n".join(lines)), delimiter=mark or ",")
    try:
        return [[cell.strip() for cell in row] for row in reader if row]
    except csv.Error as error:
        raise InputError(one_line(error)) from None


def number(text: str) -> Decimal | None:
    """The decimal number of a cell, exactly as it stands; None where there is none.

    Examples
    --------
    >>> number(" 1e-3 "), number("W")
    (Decimal('0.001'), None)
    """
    try:
        found = Decimal(text.strip())
    except InvalidOperation:
        return None
    return None if found.is_snan() else found


def _is_number(text: str) -> bool:
    top, _, bottom = text.partition("/")
    return number(top) is not None and number(bottom or "1") is not None


def _edges(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Edges:
    for name in (_PRE, _POST):
        if header.count(name) != 1:
            raise InputError(
                f"an edge list has one column `{name}`; the header is {shown(list(header))}"
            )
    others = [k for k, name in enumerate(header) if name not in (_PRE, _POST)]
    if [header[k] for k in others] not in ([], [_COST]):
        raise InputError(
            f"an edge list has the columns pre, post and, of costs, cost; not {shown(list(header))}"
        )
    values: dict[tuple[int, int], str] = {}
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise InputError(f"edge {number} has {len(row)} entries, the header {len(header)}")
        ends = []
        for name in (_POST, _PRE):
            text = row[header.index(name)]
            if not (text.isascii() and text.isdigit()):
                raise InputError(
                    f"edge {number}: `{name}` ({shown(text)}) must be the number of a unit, from 0"
                )
            ends.append(int(text))
        at = (ends[0], ends[1])
        if at in values:
            raise InputError(f"edge {number}, from {at[1]} onto {at[0]}, is given twice")
        values[at] = row[others[0]] if others else ""
    return Edges(values)
