"""Matrices and edge lists in text files: the forms that spreadsheets and NumPy write.

A matrix is one line a row, its entries between commas, semicolons, tabs or blanks (`np.savetxt`);
a first line of column names and a first column of row names are left out.  An edge list has a
header with the columns ``pre`` and ``post`` and, if any, ``cost``, ``weight`` or ``sign``: the
synapse from unit `pre`
onto unit `post` is row `post`, column `pre`; units are numbers, or names of the problem's [names].
Where edges are all that is asked for, the third column is not looked at, but for a weight of 0,
which is no synapse.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from algebra.errors import InputError, one_line, shown
from algebra.problems.allocation import Cell
from algebra.problems.names import Names

_PRE, _POST, _COST = "pre", "post", "cost"
# What the third column of an edge list may be.
_THIRD = (_COST, "weight", "sign")


@dataclass(frozen=True)
class Edges:
    """An edge list.

    Attributes
    ----------
    edges : tuple of (str, str, str)
        `post` and `pre`, each a name or a number, and the cost; "" where the file has no third
        column.
    column : str
        What the third column is: cost, weight or sign; "" where there is none.
    """

    edges: tuple[tuple[str, str, str], ...]
    column: str = ""

    def cells(self, names: Names, matrix: str) -> dict[tuple[int, int], str]:
        """The third column by row (`post`) and column (`pre`).

        Raises
        ------
        InputError
            Where a unit is none of the matrix's, or an edge is given twice.
        """
        found: dict[tuple[int, int], str] = {}
        for number, (post, pre, text) in enumerate(self.edges, 1):
            try:
                at = names.index(matrix, 0, post), names.index(matrix, 1, pre)
            except InputError as error:
                raise InputError(f"edge {number}, from {pre} onto {post}: {error}") from None
            if at in found:
                raise InputError(f"edge {number}, from {pre} onto {post}, is given twice")
            found[at] = text
        return found

    def mask(self, names: Names, matrix: str) -> list[list[int]]:
        """1 for each edge, 0 elsewhere; see `cells`."""
        rows, columns = names.network.shapes[matrix]
        out = [[0] * columns for _ in range(rows)]
        for (i, j), text in self.cells(names, matrix).items():
            out[i][j] = int(self.is_there(text))
        return out

    def is_there(self, text: str) -> bool:
        """Whether an edge with this third column is a synapse: a weight of 0 is none."""
        return self.column != "weight" or number(text) != 0


class Rows(list[list[str]]):
    """The entries of a matrix as text, and the names of its lines where the file has them.

    Parameters
    ----------
    rows : iterable of list of str
    row_names, column_names : sequence of str, optional
    """

    def __init__(
        self,
        rows: Iterable[list[str]],
        row_names: Sequence[str] = (),
        column_names: Sequence[str] = (),
    ) -> None:
        super().__init__(rows)
        self.row_names = tuple(row_names)
        self.column_names = tuple(column_names)

    def arranged(self, names: Names, matrix: str) -> list[list[str]]:
        """The entries in the order of the units' names.

        Raises
        ------
        InputError
            Where the file names other units than the problem: its order would be a guess.
        """
        down = _order(self.row_names, names.rows(matrix), "rows", matrix)
        across = _order(self.column_names, names.columns(matrix), "columns", matrix)
        rows: list[list[str]] = list(self)
        if down is not None and len(down) == len(rows):
            rows = [rows[k] for k in down]
        if across is not None and all(len(row) == len(across) for row in rows):
            rows = [[row[k] for k in across] for row in rows]
        return rows


def _order(
    given: Sequence[str], names: Sequence[str] | None, what: str, matrix: str
) -> list[int] | None:
    """Where each named unit stands in the file; None where there is nothing to go by."""
    if not given or names is None or all(text.isdigit() for text in given):
        return None
    if sorted(given) != sorted(names):
        raise InputError(
            f"its {what} are named {shown(', '.join(given))}, those of {matrix} in [names] "
            f"{shown(', '.join(names))}: give the same names, or none"
        )
    return [list(given).index(name) for name in names]


def read_rows(path: Path) -> Rows | Edges:
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


def read_names(path: Path) -> list[str]:
    """Names of units, one a line; a header ``name`` and further columns are left out.

    Raises
    ------
    InputError
        Where there are none; OSError and UnicodeDecodeError are the caller's.
    """
    rows = _split(
        [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    )
    listed = [row[0] for row in rows if row]
    if listed and listed[0].lower() == "name":
        listed = listed[1:]
    if not listed:
        raise InputError("it is empty")
    return listed


def edge_list(names: Names, cells: Mapping[Cell, str], column: str = _COST) -> str:
    """An edge list of some weights, as text: pre, post and a third column.

    Parameters
    ----------
    names : Names
    cells : mapping of cell to str
        With what stands in the third column.  Where the weights are of several matrices a first
        column names these.
    column : str, optional
    """
    many = len({name for name, _, _ in cells}) > 1
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    more = [column] if column else []
    writer.writerow([*(["matrix"] if many else []), _PRE, _POST, *more])
    for (name, i, j), text in cells.items():
        post, pre = names.unit(name, 0, i), names.unit(name, 1, j)
        writer.writerow([*([name] if many else []), pre, post, *([text] if column else [])])
    return out.getvalue()


def parse_rows(text: str) -> Rows | Edges:
    """The same of a text.

    Examples
    --------
    >>> parse_rows(";a;b\\nx;0;1\\ny;1;0\\n")
    [['0', '1'], ['1', '0']]
    >>> parse_rows("1.0e+00 0.0e+00\\n")
    [['1.0e+00', '0.0e+00']]
    >>> parse_rows("pre,post\\nPV,SST\\n").edges
    (('SST', 'PV', ''),)
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
        return Rows((row[1:] for row in rows[1:]), [row[0] for row in rows[1:]], rows[0][1:])
    is_header = len(rows) > 1 and not any(map(_is_number, rows[0]))
    names: list[str] = []
    if is_header and all(any(map(_is_number, row)) for row in rows[1:]):
        names, rows = rows[0], rows[1:]
    is_named = len({len(row) for row in rows}) == 1 and len(rows[0]) > 1
    if is_named and not any(_is_number(row[0]) for row in rows):
        numbers = [row[1:] for row in rows]
        if all(_is_number(cell) for row in numbers for cell in row):
            return Rows(numbers, [row[0] for row in rows], names[1:])
    return Rows(rows, (), names)


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
    if len(others) > 1 or any(header[k] not in _THIRD for k in others):
        raise InputError(
            "an edge list has the columns pre, post and at most one of "
            f"{', '.join(_THIRD)}; not {shown(list(header))}"
        )
    edges = []
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise InputError(f"edge {number} has {len(row)} entries, the header {len(header)}")
        post, pre = row[header.index(_POST)], row[header.index(_PRE)]
        if not post or not pre:
            raise InputError(f"edge {number} lacks `{_PRE if not pre else _POST}`")
        edges.append((post, pre, row[others[0]] if others else ""))
    return Edges(tuple(edges), header[others[0]] if others else "")
