"""Matrices and edge lists in files: the forms that spreadsheets, NumPy and MATLAB write.

A matrix has one line for each row (`np.savetxt`); a first line of column names and a first column
of row names are recognized, also below and beside lines that group the units.  An edge list has a
header with the columns ``pre`` and ``post`` (or synonyms, see `algebra.problems.headers`), in its
first line or in the comment above it; units are numbers, or names of the problem's [names].
Separators, encodings and compression are in `algebra.problems.sheets`.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from algebra.errors import ErrorsAt, InputError, NoEdges, one_line, shown
from algebra.files.arrays import read_array, read_sparse
from algebra.files.opening import path_text
from algebra.given import given_mapping
from algebra.problems.allocation import Cell
from algebra.problems.arrow_tables import ArrowTable
from algebra.problems.edge_columns import edges_by_columns, edges_of_arrow
from algebra.problems.edges import (
    Edges,
    check_units,
    edges_of_graph_file,
    edges_of_lines,
    edges_of_matrix,
)
from algebra.problems.file_entries import (
    ARROW_TABLES,
    ENDINGS,
    GRAPHS,
    POST,
    PRE,
    REFUSE,
)
from algebra.problems.headers import (
    NAME_HEADERS,
    VALUES,
    chosen_columns,
    columns_of,
    is_header,
    meaning_of,
)
from algebra.problems.names import Names
from algebra.problems.sheets import (
    MATRIX_MARKET,
    TextTable,
    bytes_of,
    ending,
    is_number,
    matrix_of_market,
    matrix_of_matlab,
    table_of_arrow,
    table_of_file,
    table_of_text,
    tables_of_workbook,
    text_of,
    texts_of,
    wanted_rows,
)
from algebra.problems.unit_tables import has_roles, of_role, words_of_units
from algebra.time_limits import checked


class Rows(list[list[str]]):
    """The entries of a matrix as text, and the names of its rows and columns if the file has them.

    Parameters
    ----------
    rows : iterable of list of str
    row_names, column_names : sequence of str, optional

    Attributes
    ----------
    has_words : bool
        Whether some entry is no number: it is no matrix, and most likely an edge list.
    header : str
        What an edge list lacks here, for messages; "" if the table cannot be one.
    """

    has_words = False
    header = ""

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
        # The positions that pandas and spreadsheets count.
        first = int(given[0])
        if first in (0, 1) and list(given) == [str(first + k) for k in range(len(given))]:
            return None
    if sorted(given) != sorted(names):
        raise InputError(
            f"its {what} are named {shown(', '.join(given))}, those of {matrix} in [names] "
            f"{shown(', '.join(names))}: give the same names, or none"
        )
    place = {name: k for k, name in enumerate(given)}
    return [place[name] for name in names]


def read_rows(path: Path, sheet: str = "", where: Mapping[str, Any] | None = None) -> Any:
    """The entries of a matrix, or an edge list, as text.

    Parameters
    ----------
    path : Path
        A file of text (see `algebra.problems.sheets`) or a workbook.
    sheet : str, optional
        Of a workbook that has several.
    where : mapping, optional
        As of `read_edges`.

    Returns
    -------
    Rows, Edges, or the matrix of a Matrix Market file

    Raises
    ------
    InputError
        If it is neither; OSError is left to the caller.
    """
    found = _list_or_table(path, sheet, where)
    return rows_of_table(found, where) if isinstance(found, TextTable) else found


def _list_or_table(path: Path, sheet: str = "", where: Mapping[str, Any] | None = None) -> Any:
    """A long edge list in the plain form that programs write, or the table of another file.

    A Matrix Market file is a matrix.
    """
    if ending(path) == ".xlsx":
        return tables_of_workbook(path, sheet)
    if ending(path) in ARROW_TABLES:
        table = ArrowTable(path)
        found = edges_of_arrow(table, where)
        return table_of_arrow(table) if found is None else found
    if (plain := edges_by_columns(texts_of(path), where)) is not None:
        return plain
    data = bytes_of(path)
    if data.startswith(MATRIX_MARKET):
        return matrix_of_market(data)
    return table_of_text(text_of(data), is_header)


def _read_graph(path: Path) -> Edges:
    return edges_of_graph_file(bytes_of(path), ending(path).removesuffix(".gz"))


def _read_matlab(path: Path, variable: str = "") -> Any:
    """A matrix of a MATLAB file, with the names of its units if the file has them."""
    matrix, names = matrix_of_matlab(path, variable)
    if not names:
        return matrix
    texts = [["0"] * matrix.shape[1] for _ in range(matrix.shape[0])]
    for edge in edges_of_matrix(matrix, PRE).edges:
        texts[int(edge.pre)][int(edge.post)] = edge.value
    return Rows(texts, names, names)


_TEXTS = (".csv", ".tsv", ".txt", ".mtx", ".xlsx", *ARROW_TABLES)
_OTHERS = {
    ".npy": read_array,
    ".npz": read_sparse,
    ".mat": _read_matlab,
    **dict.fromkeys(GRAPHS, _read_graph),
}
# Reader for each ending of a file name.
FORMATS: dict[str, Callable[[Path], Any]] = {
    ending: _OTHERS.get(ending.removesuffix(".gz"), read_rows) for ending in ENDINGS
}


def read_matrix_file(path: Path, read: Callable[[Path], Any] | None = None) -> Any:
    """The contents of a file.

    Parameters
    ----------
    path : Path
    read : callable, optional
        In place of the reader for the ending of the file's name.

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
        found = (read or FORMATS[ending(path)])(path)
        if isinstance(found, Edges) and not found.edges:
            warnings.warn(f"{where} names no edge", NoEdges, stacklevel=2)
        return found
    except FileNotFoundError:
        raise InputError(f"{where} does not exist") from None
    except InputError as error:
        raise InputError(f"{where} cannot be read as a matrix: {error}") from None
    except Exception as error:
        # A damaged .npy header raises exceptions of many classes: SyntaxError, TypeError,
        # MemoryError, …
        reason = error.strerror if isinstance(error, OSError) else str(error).partition("\n")[0]
        raise InputError(f"{where} cannot be read as a matrix: {one_line(reason)}") from None


def read_edges(
    path: str | Path,
    *,
    type: str = "",
    unknown: str = REFUSE,
    rows: str = "",
    columns: str | Mapping[str, str] = "",
    repeated: str = "",
    at_least: Any = 0,
    where: Mapping[str, Any] | None = None,
    label: str = "",
    sheet: str = "",
    variable: str = "",
) -> Edges:
    """The synapses listed in a file.

    Parameters
    ----------
    path : str or Path
        An edge list or a matrix of synapse counts (.csv, .tsv, .txt, .xlsx), an edge list of
        Parquet or Feather (.parquet, .feather, .arrow), a graph (.graphml, .gml, .gexf), a matrix
        of NumPy (.npy) or MATLAB (.mat) or a sparse one of SciPy (.npz); files of text and graphs
        may be compressed (.csv.gz).
    type : str, optional
        The type of synapse that counts, if the list has a column `type`: "chemical", "electrical"
        (without direction), a word of that column, or "all".  Required if the list has several
        types.
    unknown : str, optional
        Edges with units that have no name in the problem are refused ("refuse") or left out
        ("skip").
    rows : str, optional
        Required for a matrix: whether a row is "pre" or "post".
    columns : str or mapping of str to str, optional
        For an edge list whose header does not say which columns are `pre` and `post`: the columns
        in their order ("pre post weight", any other word for a column that does not count), or the
        header's own words, ``{"pre": "Neuron 1", "post": "Neuron 2"}``.
    repeated : str, optional
        Lines that repeat a pair are refused, or added up ("sum"; in a list without a column of
        numbers each line is one synapse), or the first one counts ("first").
    at_least : number, optional
        Pairs of fewer synapses are left out.
    where : mapping, optional
        Lines of an edge list count only if a column has a value, or one of several:
        ``{"neuropil": ["ME_L", "LO_L"]}``.
    label : str, optional
        The attribute of the nodes of a graph that names them; required if several could.
    sheet, variable : str, optional
        The sheet of a workbook, and the matrix of a MATLAB file; required if there are several.

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
    kind = ending(path).removesuffix(".gz")
    if ending(path) not in FORMATS:
        old = " (save an old workbook as .xlsx)" if path.suffix == ".xls" else ""
        known = ", ".join(FORMATS)
        raise InputError(f"{path_text(path)}: its ending must be one of {known}{old}")
    where = dict(given_mapping(where, "where", '{"neuropil": "ME_L"}'))
    given = {
        "columns": columns, "where": where, "label": label, "sheet": sheet, "variable": variable
    }  # fmt: skip
    about = {
        "columns": (_TEXTS, "edge lists"), "where": (_TEXTS, "edge lists"),
        "label": (GRAPHS, f"graphs ({', '.join(GRAPHS)})"),
        "sheet": ((".xlsx",), "workbooks (.xlsx)"), "variable": ((".mat",), "MATLAB files (.mat)"),
    }  # fmt: skip
    for option, value in given.items():
        endings_of, what = about[option]
        if value and kind not in endings_of:
            raise InputError(f"{path_text(path)}: `{option}` ({shown(value)}) is about {what}")
        if option not in ("columns", "where") and not isinstance(value, str):
            raise InputError(f"`{option}` ({shown(value)}) must be a word")

    def read(path: Path) -> Any:
        if kind == ".mat":
            return _read_matlab(path, variable)
        if kind not in _TEXTS:
            return FORMATS[kind](path)
        if not columns:
            return read_rows(path, sheet, where)
        width = len(columns.replace(",", " ").split()) if isinstance(columns, str) else 0
        return _edges_of(table_of_file(path, is_header, sheet=sheet, width=width), columns, where)

    found = read_matrix_file(path, read)
    with ErrorsAt(path_text(path)):
        if not isinstance(found, Edges):
            if isinstance(found, Rows) and found.header and (found.has_words or not rows):
                if found.has_words:
                    raise InputError(found.header)
                with ErrorsAt(f"if it is an edge list, {found.header}; if it is a matrix"):
                    edges_of_matrix(found, rows)
            sides = (found.row_names, found.column_names) if isinstance(found, Rows) else ()
            found = edges_of_matrix(found, rows, *sides)
        elif rows:
            raise InputError(
                f"`rows` ({shown(rows)}): a list of edges has columns `pre` and `post`: "
                "leave `rows` out"
            )
        if label:
            found = found.by_label(label)
        return replace(found, type=type, unknown=unknown, repeated=repeated, at_least=at_least)


def read_names(path: Path, units: str = "neurons") -> list[str]:
    """Names of units, one for each line; a header ``name`` and further columns are ignored.

    If the file is an edge list: its units, in the order of the list.  If it has a column ``role``:
    the lines of the population `units`.

    Raises
    ------
    InputError
        If there are no names, or one is given twice; OSError is left to the caller.
    """
    if ending(path).removesuffix(".gz") in GRAPHS:
        return list(_read_graph(path).units)
    table = _list_or_table(path)
    if not isinstance(table, (Edges, TextTable)):
        raise InputError("it is a matrix of Matrix Market, which has no names")
    if isinstance(table, Edges):
        return list(table.units)
    if (edges := _listed_edges(table)) is not None:
        return list(edges.units)
    if has_roles(table):
        return [name for _, name, _ in of_role(path, units)]
    listed = [(place, row[0]) for place, row in zip(table.places, table.rows, strict=True)]
    if listed and listed[0][1].lower() in NAME_HEADERS:
        listed = listed[1:]
    if not listed:
        raise InputError("it is empty")
    first: dict[str, str] = {}
    for place, name in listed:
        if first.setdefault(name, place) != place:
            raise InputError(f"{place} has {shown(name)} again, after {first[name]}")
    check_units(first, first.__getitem__)
    return list(first)


def read_types(path: Path, units: Sequence[str] | None, population: str = "neurons") -> list[str]:
    """Types of units: a type for each line, or a unit's name and its type, in any order.

    Parameters
    ----------
    path : Path
        A header ``type``, or ``name,type``, is ignored.  Of a table with columns ``name``,
        ``role`` and ``type`` the lines of the population count.
    units : sequence of str or None
        The units' names.
    population : str, optional

    Raises
    ------
    InputError
        If a line is wrong; the message names it.  OSError is left to the caller.
    """
    table = table_of_file(path, is_header)
    listed = list(zip(table.places, table.rows, strict=True))
    if has_roles(table):
        words = words_of_units(of_role(path, population, "type"), units, REFUSE)
        if "" in words:
            raise InputError(f"{shown((units or ())[words.index('')])} has no type")
        return words
    if listed and listed[0][1][-1].lower() == "type":
        listed = listed[1:]
    if all(len(row) == 1 for _, row in listed):
        return [row[0] for _, row in listed]
    known = frozenset(units or ())
    found: dict[str, tuple[str, str]] = {}
    for place, row in listed:
        if len(row) != 2:
            raise InputError(f"{place} ({shown(','.join(row))}) must be a name and a type")
        name, kind = row
        if units is None:
            raise InputError(f"{place} names {shown(name)}, but these units have no [names]")
        if name not in known:
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
    return rows_of_table(table_of_text(text, is_header))


def rows_of_table(table: TextTable, where: Mapping[str, Any] | None = None) -> Rows | Edges:
    """A table as an edge list if its header says so, else as the entries of a matrix."""
    if (edges := _listed_edges(table, where)) is not None:
        return edges
    if where:
        raise InputError("`where` chooses lines of an edge list, and its header names none")
    found = _matrix_rows([[table.number(cell) for cell in row] for row in checked(table.rows)])
    # Most entries of a mask have the same text.
    texts = {cell for row in checked(found) for cell in row}
    found.has_words = any(cell and not is_number(cell) for cell in checked(texts))
    if found.has_words or not found.row_names:
        found.header = _missing_header(table, found.has_words)
    return found


def _matrix_rows(rows: list[list[str]]) -> Rows:
    """The entries of a matrix, without the names of its rows and columns."""
    if rows[0][0] == "" and len(rows) > 1:
        # pandas: a corner without a name, numbers as names of columns and rows.
        if all(rows[0][1:]) and all(row[0] for row in rows[1:]):
            return Rows((row[1:] for row in rows[1:]), [row[0] for row in rows[1:]], rows[0][1:])
        if (framed := _below_groups(rows)) is not None:
            return framed
    has_header = len(rows) > 1 and not any(map(is_number, rows[0]))
    names: list[str] = []
    if has_header and all(any(map(is_number, row)) for row in checked(rows[1:])):
        names, rows = rows[0], rows[1:]
    is_named = len({len(row) for row in rows}) == 1 and len(rows[0]) > 1
    if is_named and not any(is_number(row[0]) for row in rows):
        numbers = [row[1:] for row in rows]
        if all(is_number(cell) for row in checked(numbers) for cell in row):
            return Rows(numbers, [row[0] for row in rows], names[1:])
    return Rows(rows, (), names)


def _below_groups(rows: list[list[str]]) -> Rows | None:
    """A matrix below and beside lines that group its units, as published workbooks have them.

    The names are the row and the column with most words; lines without a name are no units', and
    empty cells are 0.  None if there is no such matrix.
    """
    width = max(map(len, rows))
    full = [row + [""] * (width - len(row)) for row in rows]

    def words(line: Sequence[str]) -> int:
        return len({cell for cell in line if cell and not is_number(cell)})

    top = max(range(len(full)), key=lambda i: (words(full[i]), -i))
    columns = list(zip(*full, strict=True))
    left = max(range(width), key=lambda j: (words(columns[j]), -j))
    down = [i for i in range(top + 1, len(full)) if full[i][left]]
    across = [j for j in range(left + 1, width) if full[top][j]]
    cells = [[full[i][j] for j in across] for i in down]
    if not cells or not cells[0] or any(c and not is_number(c) for row in cells for c in row):
        return None
    sides = [full[i][left] for i in down], [full[top][j] for j in across]
    for side in sides:
        twice = next((name for name, count in Counter(side).items() if count > 1), None)
        if twice is not None:
            raise InputError(f"two rows or columns of its matrix are named {shown(twice)}")
    return Rows([[cell or "0" for cell in row] for row in cells], *sides)


def _missing_header(table: TextTable, has_words: bool) -> str:
    """What an edge list lacks in a table; "" if it can only be a matrix."""
    first, width = table.rows[0], max(map(len, table.rows))
    if width < 2 or (width > 8 and not has_words):
        return ""
    sides = {meaning_of(word) for word in first} & {PRE, POST}
    text = f"its first row ({shown(','.join(first))}) "
    if len(sides) == 1:
        (missing,) = {PRE, POST} - sides
        return f"{text}is no header of an edge list: it names no column `{missing}`"
    third = [table.number(row[2]) for row in table.rows[1:] or table.rows if len(row) > 2]
    order = "pre post weight" if third and all(map(is_number, third)) else ""
    return (
        f"{text}is no header that names `pre` and `post`: begin an edge list with pre,post, or say "
        f'which its columns are, {{ edges = "…", columns = "{order or "pre post"}" }} (or, if it '
        'has another header, columns = { pre = "…", post = "…" })'
    )


def check_shape(rows: Sequence[Sequence[str]], shape: tuple[int, int], matrix: str) -> None:
    """Raise InputError unless a table has the matrix's shape.

    Raises
    ------
    InputError
    """
    lengths = sorted({len(row) for row in rows})
    # A table of the matrix's shape is meant as that matrix; a word in it is no number.
    is_matrix = (len(rows), *lengths) == shape
    if isinstance(rows, Rows) and rows.has_words and rows.header and not is_matrix:
        raise InputError(rows.header)
    if len(lengths) != 1:
        raise InputError(f"its rows have different lengths: {shown(lengths)}")
    if (len(rows), lengths[0]) != shape:
        raise InputError(
            f"it is {len(rows)}×{lengths[0]}, but {matrix} is {shape[0]}×{shape[1]}: give an entry "
            "for each weight, or an edge list with the header pre,post,cost"
        )


def _listed_edges(table: TextTable, where: Mapping[str, Any] | None = None) -> Edges | None:
    """A table as an edge list; None if no header names `pre` and `post`."""
    header, ends = table.rows[0], {PRE, POST}
    if not is_header(header) and len(table.above) == len(header) and is_header(table.above):
        return _edges_at(table, columns_of(table.above), table.above, 0, where)
    # A column `source` without `target` has another meaning.
    words = {word.lower() for word in header if word}
    if not is_header(header) and (not ends & words or len(words) == 1 < len(header)):
        return None
    while header and not header[-1]:
        header = header[:-1]
    return _edges_at(table, columns_of(header), header, 1, where)


def _edges_of(
    table: TextTable, columns: str | Mapping[str, str], where: Mapping[str, Any] | None = None
) -> Edges:  # fmt: skip
    """A table as an edge list whose columns the user names."""
    first = table.rows[0]
    at, has_header = chosen_columns(columns, first)
    number = next((at[name] for name in VALUES if name in at), None)
    if number is not None and not has_header and len(table.rows) > 1:
        # A header of other words.
        texts = [table.number(row[number]) for row in table.rows[:2] if number < len(row)]
        has_header = [is_number(text) for text in texts] == [False, True]
    header = columns.replace(",", " ").split() if isinstance(columns, str) else first
    header = [*header, *first[len(header) :]]
    return _edges_at(table, at, header, int(has_header), where)


def _edges_at(
    table: TextTable, at: Mapping[str, int], header: Sequence[str], start: int,
    where: Mapping[str, Any] | None = None,
) -> Edges:  # fmt: skip
    """The edges of the rows from `start` on, of those that `where` chooses."""
    rows, places, width = table.rows[start:], table.places[start:], len(header)
    if start and rows and all(len(row) == width + 1 for row in rows) and _are_numbered(table, at):
        rows = [row[1:] for row in rows]
    lines: Iterable[tuple[str, list[str]]] = zip(places, rows, strict=True)
    for k, words in wanted_rows(header, where or {}).items():
        # A line that is too short is refused later.
        lines = [(p, row) for p, row in lines if len(row) <= k or row[k] in words]
    return edges_of_lines(at, lines, width, table.number)


def _are_numbered(table: TextTable, at: Mapping[str, int]) -> bool:
    """Whether lines begin with the names of rows that R writes, for which the header has no word.

    They are 1, 2, 3, …, and quoted, or beside units that are no numbers: the first unit of a line
    is never taken for the name of its row.
    """
    rows = table.rows[1:]
    if [row[0] for row in rows] != [str(k) for k in range(1, len(rows) + 1)]:
        return False
    units = [row[1 + at[side]] for row in rows for side in (PRE, POST)]
    return table.quoted or not any(unit.isdigit() for unit in units)
