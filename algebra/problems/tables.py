"""Matrices and edge lists in text files: the forms that spreadsheets and NumPy write.

A matrix has one line for each row, with commas, semicolons, tabs or blanks between the entries
(`np.savetxt`); a first line of column names and a first column of row names are recognized.  An
edge list has a header with the columns ``pre`` and ``post`` (or synonyms, see
`algebra.problems.edges`); units are numbers, or names of the problem's [names].  Blanks around
entries are ignored.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from algebra.declarations import Keyword
from algebra.errors import ErrorsAt, InputError, one_line, shown
from algebra.problems.allocation import Cell
from algebra.problems.edges import (
    ALL_TYPES,
    CHEMICAL,
    ELECTRICAL,
    REFUSE,
    UNKNOWN,
    Edges,
    edges_of_graphml,
    edges_of_lines,
    edges_of_matrix,
    meaning_of,
)
from algebra.problems.names import Names

# First words of the header above names of units.
_NAME_HEADERS = ("name", "neuron", "neurons", "cell", "bodyid", "root_id", "pt_root_id")


class Rows(list[list[str]]):
    """The entries of a matrix as text, and the names of its rows and columns if the file has them.

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
            If the file and the problem name different units: any order would be a guess.
        """
        down = _order(self.row_names, names.rows(matrix), "rows", matrix)
        across = _order(self.column_names, names.columns(matrix), "columns", matrix)
        rows: list[list[str]] = list(self)
        if down is not None and len(down) == len(rows):
            rows = [rows[k] for k in down]
        if across is not None and all(len(row) == len(across) for row in rows):
            rows = [[row[k] for k in across] for row in rows]
        return rows

    def in_order(self, names: Sequence[str] | None, units: str) -> list[list[str]]:
        """The lines in the order of given unit names.

        Raises
        ------
        InputError
            If the file names other units.
        """
        order = _order(self.row_names, names, "lines", units)
        return list(self) if order is None else [self[k] for k in order]


def _order(
    given: Sequence[str], names: Sequence[str] | None, what: str, matrix: str
) -> list[int] | None:
    """The position of each named unit in the file; None without names on either side."""
    if not given or names is None:
        return None
    if all(text.isdigit() for text in given) and not set(given) & set(names):
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
        If it is neither; OSError and UnicodeDecodeError are left to the caller.
    """
    return parse_rows(path.read_text(encoding="utf-8-sig"))


def _read_array(path: Path) -> np.ndarray:
    with path.open("rb") as binary:
        found: np.ndarray = np.lib.format.read_array(binary, allow_pickle=False)
    return found


def _read_sparse(path: Path) -> Any:
    from scipy.sparse import load_npz

    return load_npz(path)


# Reader for each ending of a file name.
FORMATS: dict[str, Callable[[Path], Any]] = {
    ".csv": read_rows,
    ".tsv": read_rows,
    ".npy": _read_array,
    ".npz": _read_sparse,
    ".graphml": edges_of_graphml,
}

# Files of names of units.
NAME_FORMATS = (".csv", ".tsv", ".txt", ".graphml")


def endings(*suffixes: str) -> Keyword:
    """The keyword of JSON Schema for names of files with these endings."""
    return Keyword("pattern", rf"\.({'|'.join(suffix.removeprefix('.') for suffix in suffixes)})$")


FileName = Annotated[str, endings(*FORMATS), "a file beside this one"]


@dataclass(frozen=True)
class EdgesTable:
    """A file of synapses with options: see `read_edges`."""

    edges: FileName
    type: Annotated[
        str,
        f"the type of synapse that counts: {CHEMICAL}, {ELECTRICAL}, {ALL_TYPES}, or a word of the "
        "file's column `type`",
    ] = ""
    unknown: Annotated[
        str, Keyword("enum", UNKNOWN), "treatment of edges with units that have no name here"
    ] = REFUSE
    rows: Annotated[str, Keyword("enum", ("pre", "post")), "of a matrix: what its rows are"] = ""


EdgesFile = Annotated[
    EdgesTable, "what counts of an edge list, a graph or a matrix of synapse counts"
]


def read_matrix_file(path: Path) -> Any:
    """The contents of a file.

    Returns
    -------
    Rows, Edges, ndarray or sparse matrix of SciPy

    Raises
    ------
    InputError
        If it is missing or cannot be read.
    """
    where = path_text(path)
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise InputError("it is no regular file")
        return FORMATS[path.suffix](path)
    except FileNotFoundError:
        raise InputError(f"{where} does not exist") from None
    except Exception as error:
        # A damaged .npy header raises exceptions of many classes: SyntaxError, TypeError,
        # MemoryError, …
        reason = error.strerror if isinstance(error, OSError) else str(error).partition("\n")[0]
        raise InputError(f"{where} cannot be read as a matrix: {one_line(reason)}") from None


def read_edges(path: str | Path, *, type: str = "", unknown: str = REFUSE, rows: str = "") -> Edges:
    """The synapses listed in a file.

    Parameters
    ----------
    path : str or Path
        An edge list or a matrix of synapse counts (.csv, .tsv), a graph (.graphml), a matrix of
        NumPy (.npy) or a sparse one of SciPy (.npz).
    type : str, optional
        The type of synapse that counts, if the list has a column `type`: "chemical", "electrical"
        (without direction), a word of that column, or "all".  Required if the list has several
        types.
    unknown : str, optional
        Edges with units that have no name in the problem are refused ("refuse") or left out
        ("skip").
    rows : str, optional
        Required for a matrix: whether a row is "pre" or "post".

    Returns
    -------
    Edges
        It serves as a mask of a `Problem`; its `cells` are the numbers of synapses.

    Raises
    ------
    InputError
        If the file cannot be read, or a required option is missing.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise InputError(f"{path_text(path)}: its ending must be one of " + ", ".join(FORMATS))
    found = read_matrix_file(path)
    with ErrorsAt(path_text(path)):
        if not isinstance(found, Edges):
            sides = (found.row_names, found.column_names) if isinstance(found, Rows) else ()
            found = edges_of_matrix(found, rows, *sides)
        elif rows:
            raise InputError(
                f"`rows` ({shown(rows)}): a list of edges has columns `pre` and `post`: "
                "leave `rows` out"
            )
        return replace(found, type=type, unknown=unknown)


def path_text(path: Path) -> str:
    """A path in a message: complete, on one line."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(path))


def read_names(path: Path) -> list[str]:
    """Names of units, one for each line; a header ``name`` and further columns are ignored.

    If the file is an edge list: its units, in the order of the list.

    Raises
    ------
    InputError
        If there are no names, or one is given twice; OSError and UnicodeDecodeError are left to the
        caller.
    """
    if path.suffix == ".graphml":
        return list(edges_of_graphml(path).units)
    table = _Table(path.read_text(encoding="utf-8-sig"))
    if (edges := table.edges()) is not None:
        return list(edges.units)
    listed = [(place, row[0]) for place, row in zip(table.places, table.rows, strict=True)]
    if listed and listed[0][1].lower() in _NAME_HEADERS:
        listed = listed[1:]
    if not listed:
        raise InputError("it is empty")
    first: dict[str, str] = {}
    for place, name in listed:
        if first.setdefault(name, place) != place:
            raise InputError(f"{place} has {shown(name)} again, after {first[name]}")
    return list(first)


def read_types(path: Path, units: Sequence[str] | None) -> list[str]:
    """Types of units: a type for each line, or a unit's name and its type, in any order.

    Parameters
    ----------
    path : Path
        A header ``type``, or ``name,type``, is ignored.
    units : sequence of str or None
        The units' names.

    Raises
    ------
    InputError
        If a line is wrong; the message names it.  OSError and UnicodeDecodeError are left to the
        caller.
    """
    table = _Table(path.read_text(encoding="utf-8-sig"))
    listed = list(zip(table.places, table.rows, strict=True))
    if listed and listed[0][1][-1].lower() == "type":
        listed = listed[1:]
    if all(len(row) == 1 for _, row in listed):
        return [row[0] for _, row in listed]
    found: dict[str, tuple[str, str]] = {}
    for place, row in listed:
        if len(row) != 2:
            raise InputError(f"{place} ({shown(','.join(row))}) must be a name and a type")
        name, kind = row
        if units is None:
            raise InputError(f"{place} names {shown(name)}, but these units have no [names]")
        if name not in units:
            raise InputError(f"{place} names {shown(name)}, which is none of the [names]")
        if name in found:
            raise InputError(f"{place} has {shown(name)} again, after {found[name][0]}")
        found[name] = place, kind
    missing = [name for name in units or () if name not in found]
    if missing:
        raise InputError(f"{shown(missing[0])} has no type")
    return [found[name][1] for name in units or ()]


def edge_list(names: Names, cells: Mapping[Cell, str], column: str = "cost") -> str:
    """An edge list of some weights, as text: pre, post and a third column.

    Parameters
    ----------
    names : Names
    cells : mapping of cell to str
        The text of the third column.  If the weights belong to several matrices, a first column
        names the matrix.
    column : str, optional
    """
    many = len({name for name, _, _ in cells}) > 1
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    more = [column] if column else []
    writer.writerow([*(["matrix"] if many else []), "pre", "post", *more])
    for (name, i, j), text in cells.items():
        post, pre = names.unit(name, 0, i), names.unit(name, 1, j)
        writer.writerow([*([name] if many else []), pre, post, *([text] if column else [])])
    return out.getvalue()


def parse_rows(text: str) -> Rows | Edges:
    """The entries of a matrix, or an edge list, of a text (see `read_rows`).

    Examples
    --------
    >>> parse_rows(";a;b\\nx;0;1\\ny;1;0\\n")
    [['0', '1'], ['1', '0']]
    >>> parse_rows("1.0e+00 0.0e+00\\n")
    [['1.0e+00', '0.0e+00']]
    >>> [edge] = parse_rows("pre,post\\nPV,SST\\n").edges
    >>> edge.post, edge.pre, edge.place
    ('SST', 'PV', 'row 2')
    """
    table = _Table(text)
    if (edges := table.edges()) is not None:
        return edges
    rows = table.rows
    if rows[0][0] == "" and len(rows) > 1:
        # pandas: a corner without a name, numbers as names of columns and rows.
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
    """Raise InputError unless a table has the matrix's shape.

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


class _Table:
    """The entries of a text, and the row of the file of each line.

    Attributes
    ----------
    rows : list of list of str
    places : list of str
        "row 3", counted from 1 as in editors and spreadsheets.
    """

    def __init__(self, text: str) -> None:
        if "\0" in text:
            raise InputError("it holds NUL characters: it is no text")
        # Comments of np.savetxt.
        lines = [
            (k, line)
            for k, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.startswith("#")
        ]
        if not lines:
            raise InputError("it is empty")
        # The first separator that the first lines contain.
        first = [line for _, line in lines[:2]]
        mark = next((mark for mark in (",", ";", "\t") if any(mark in line for line in first)), "")
        self.rows: list[list[str]] = []
        self.places: list[str] = []
        if not mark and len(first[0].split()) > 1:
            self.rows = [line.split() for _, line in lines]
            self.places = [f"row {k}" for k, _ in lines]
            return
        reader = csv.reader((line + "\n" for _, line in lines), delimiter=mark or ",")
        try:
            for row in reader:
                if row:
                    self.rows.append([cell.strip() for cell in row])
                    self.places.append(f"row {lines[reader.line_num - 1][0]}")
        except csv.Error as error:
            raise InputError(one_line(error)) from None

    def edges(self) -> Edges | None:
        """The text as an edge list; None if no header names `pre` and `post`."""
        header, ends = self.rows[0], {"pre", "post"}
        # A column `source` without `target` has another meaning.
        if not ends <= set(map(meaning_of, header)) and not ends & {w.lower() for w in header}:
            return None
        return edges_of_lines(header, zip(self.places[1:], self.rows[1:], strict=True))


def decimal_of(text: str) -> Decimal | None:
    """The decimal number of a cell, exactly; None if there is none.

    Examples
    --------
    >>> decimal_of(" 1e-3 "), decimal_of("W")
    (Decimal('0.001'), None)
    """
    try:
        found = Decimal(text.strip())
    except InvalidOperation:
        return None
    return None if found.is_snan() else found


def _is_number(text: str) -> bool:
    top, _, bottom = text.partition("/")
    return decimal_of(top) is not None and decimal_of(bottom or "1") is not None
