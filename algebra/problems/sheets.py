"""Tables of texts as they are published: separators, encodings, comments, workbooks, compression.

A table is read as cells of text; what they mean is decided in `algebra.problems.tables`.  Text is
UTF-8, or UTF-16 or UTF-32 with a byte order mark; other encodings are refused with the first byte
that does not fit, since a name that is read in the wrong encoding is another name.  The separator
is the one of tabulators, semicolons, commas, bars and blanks with which all lines have equally many
cells; blanks and tabulators may be mixed.  A comment (``#`` or ``%``) that stands directly above
the data and has as many words as a line is kept: it may be the header.  So is a list of columns in
a comment (``# columns = ["i", "j", "weight", "delay"]``, as PyNN writes it; i is presynaptic).

Sizes are bounded before anything is expanded: of text after decompression, of a workbook before its
parts are inflated, of a MATLAB variable by its declared shape.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from numbers import Real
from pathlib import Path
from typing import Any

from algebra.errors import InputError, one_line, shown
from algebra.files.opening import FILE_LIMITS, read_bytes, read_parts, within_time
from algebra.installing import missing
from algebra.problems.arrow_tables import ArrowTable
from algebra.problems.file_entries import ARROW_TABLES, POST, PRE
from algebra.time_limits import check_time, checked

# Cells of a sheet, and entries of a matrix of MATLAB.
MOST_CELLS = 25_000_000
# Bytes of a compressed file that are unpacked at once.
_UNPACKED = 1 << 22

_MARKS = ("\t", ";", ",", "|", " ")
_SAMPLE = 60
_COMMENTS = ("#", "%")
# A comment that lists the columns, as PyNN writes it, and its words for the sides of a synapse.
_COLUMNS = re.compile(r"\s*columns\s*=\s*[\[(](.*)[\])]\s*$")
_PYNN = {"i": PRE, "j": POST, "presynaptic_index": PRE, "postsynaptic_index": POST}
_WORDS = re.compile(r'"[^"]*"|\S+')
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([.,]\d{3})+")
_BYTE_ORDER = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# The beginning of a file of Matrix Market.
MATRIX_MARKET = b"%%MatrixMarket"
_SIGNATURES = (
    (b"PK\x03\x04", "a zip archive or a workbook: name it .xlsx if it is one"),
    (b"\x1f\x8b", "compressed by gzip: let its name end in .gz"),
    (b"\xd0\xcf\x11\xe0", "an old workbook (.xls): save it as .xlsx or .csv"),
    (b"BZh", "compressed by bzip2: decompress it"),
    (b"\xfd7zXZ", "compressed by xz: decompress it"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd: decompress it"),
    (b"PAR1", "a Parquet file: let its name end in .parquet"),
    (b"ARROW1", "a Feather file: let its name end in .feather"),
    (b"\x89HDF", "an HDF5 file: save its matrix as .npz or .csv"),
    (MATRIX_MARKET, "a matrix of Matrix Market, which has no names or columns"),
)


@dataclass
class TextTable:
    """The cells of a table of texts, without blanks around them.

    Attributes
    ----------
    rows : list of list of str
        Lines without any entry are left out.
    places : list of str
        "row 3", counted from 1 as in editors and spreadsheets.
    mark : str
        The separator; "" for the cells of a workbook.
    above : sequence of str
        The words of a comment directly above the first row.
    quoted : bool
        Whether the first cell of each line but the first stands in quotation marks.
    """

    rows: list[list[str]]
    places: list[str]
    mark: str = ""
    above: Sequence[str] = ()
    quoted: bool = False
    _commas: bool | None = field(default=None, repr=False)

    def number(self, text: str) -> str:
        """The text of a number with a decimal point.

        A decimal comma is recognized where commas do not separate cells.  It is left as it is, and
        so refused later, where it may group thousands: "1,234" in a table without semicolons, or in
        one that groups thousands with points.
        """
        if "," not in text or self.mark in (",", "") or not _DECIMAL_COMMA.fullmatch(text):
            return text
        if self._commas is None:
            cells = [cell for row in self.rows for cell in row]
            pattern = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?")
            points = self.mark == ";" and any(map(pattern.fullmatch, cells))
            commas = [cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)]
            thousands = self.mark != ";" and all(map(_THOUSANDS.fullmatch, commas))
            self._commas = not (points or thousands)
        return text.replace(",", ".") if self._commas else text


def ending(path: Path) -> str:
    """The ending of a file's name, with what is compressed: ".csv", ".csv.gz".

    Examples
    --------
    >>> ending(Path("a.b/worm.csv.gz")), ending(Path("worm.v2.csv"))
    ('.csv.gz', '.csv')
    """
    return path.with_suffix("").suffix + path.suffix if path.suffix == ".gz" else path.suffix


def bytes_of(path: Path) -> bytes:
    """The contents of a file, decompressed if its name ends in .gz.

    Raises
    ------
    InputError
        If it is no regular file, is damaged, or has more than `FILE_LIMITS.table`.
    """
    data = read_bytes(path, FILE_LIMITS.table, is_named_inside=True)
    if path.suffix == ".gz":
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                data = packed.read(FILE_LIMITS.table + 1)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"it is no complete gzip file: {one_line(error)}") from None
    if len(data) > FILE_LIMITS.table:
        raise InputError(
            f"it has more than {FILE_LIMITS.table >> 20} MiB of text: keep the lines between the "
            "units of the circuit, or give a sparse matrix (.npz)"
        )
    return data


def texts_of(path: Path) -> Iterator[str]:
    """The text of a file in UTF-8 in parts, decompressed if its name ends in .gz.

    It ends with a NUL character if it is no such text, for a reader that leaves it to others.
    """
    decode = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        for part in _unpacked(path) if path.suffix == ".gz" else read_parts(path):
            yield decode.decode(part)
        yield decode.decode(b"", True)
    except (UnicodeDecodeError, zlib.error):
        yield "\0"


def _unpacked(path: Path) -> Iterator[bytes]:
    """The content of a gzip file, in parts."""
    member = zlib.decompressobj(wbits=31)
    for part in read_parts(path):
        rest = part
        while rest:
            check_time()
            yield member.decompress(rest, _UNPACKED)
            rest = member.unconsumed_tail
            if member.eof:
                rest, member = member.unused_data, zlib.decompressobj(wbits=31)


def wanted_rows(
    header: Sequence[str], where: Mapping[str, Any]
) -> dict[int, frozenset[str]]:  # fmt: skip
    """The columns, and their words, of the lines that count.

    Parameters
    ----------
    header : sequence of str
    where : mapping of str to value or sequence of values
        By the header of a column; a value is a text, a number or a truth value.

    Raises
    ------
    InputError
    """
    found = {}
    for name, value in where.items():
        at = [k for k, word in enumerate(header) if word.lower() == str(name).strip().lower()]
        if len(at) != 1:
            many = "several columns are" if at else "no column is"
            raise InputError(
                f"`where`: {many} named {shown(name)}; the header is {shown(','.join(header))}"
            )
        values = value if isinstance(value, (list, tuple)) else [value]
        if not values or not all(isinstance(v, (str, Real)) for v in values):
            raise InputError(f"`where.{one_line(name)}` ({shown(value)}) must be a word or words")
        found[at[0]] = frozenset(
            str(v).lower() if isinstance(v, bool) else str(v).strip() for v in values
        )
    return found


def text_of(data: bytes) -> str:
    """The text of a file's contents; see the module.

    Raises
    ------
    InputError

    Examples
    --------
    >>> text_of("Müller".encode("utf-16"))
    'Müller'
    """
    for signature, what in _SIGNATURES:
        if data.startswith(signature):
            raise InputError(f"it is no text but {what}")
    name = next((name for mark, name in _BYTE_ORDER if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(name)
    except UnicodeDecodeError as error:
        if name != "utf-8":
            raise InputError(
                f"it begins as {name.upper()} and does not go on so: {error.reason}"
            ) from None
        if b"\0" in data:
            raise _with_nul(data) from None
        start = data.rfind(b"\n", 0, error.start) + 1
        line = data[start:].split(b"\n", 1)[0][:60].decode("latin-1").strip()
        raise InputError(
            f"row {data.count(bytes([10]), 0, start) + 1} is not UTF-8 (byte "
            f"{data[error.start]:02x}); as Latin-1 it reads {shown(line)}: save the file as UTF-8"
        ) from None
    if "\0" in text:
        raise _with_nul(data)
    return text


def _with_nul(data: bytes) -> InputError:
    """The error of a file that holds NUL characters."""
    start = data[:2000]
    if max(start[::2].count(0), start[1::2].count(0)) > len(start) // 4:
        return InputError(
            "it is UTF-16 without a byte order mark: save it as UTF-8, or with the mark"
        )
    return InputError("it holds NUL characters: it is no text")


def table_of_file(
    path: Path,
    is_header: Callable[[Sequence[str]], bool] = lambda words: False,
    *,
    sheet: str = "",
    width: int = 0,
) -> TextTable:
    """The cells of a text, a workbook, or a Feather or Parquet file.

    Parameters
    ----------
    path : Path
    is_header, width
        As of `table_of_text`.
    sheet : str, optional
        As of `tables_of_workbook`.

    Raises
    ------
    InputError
    """
    if ending(path) == ".xlsx":
        return tables_of_workbook(path, sheet)
    if ending(path) in ARROW_TABLES:
        return table_of_arrow(ArrowTable(path))
    return table_of_text(text_of(bytes_of(path)), is_header, width)


def table_of_text(
    text: str, is_header: Callable[[Sequence[str]], bool] = lambda words: False, width: int = 0
) -> TextTable:
    """The cells of a text.

    Parameters
    ----------
    text : str
    is_header : callable, optional
        Whether words are the header that the reader hopes for; it decides between separators.
    width : int, optional
        The number of cells of a line, if it is known.

    Raises
    ------
    InputError
        If it is empty, or its quotation marks cannot be read.
    """
    if "\0" in text:
        raise InputError("it holds NUL characters: it is no text")
    # Form feeds and the like are no ends of lines.
    numbered = enumerate(re.split(r"\r\n|\r|\n", text), 1)
    lines: list[tuple[int, str]] = []
    above = ""
    for k, line in numbered:
        if line.startswith(_COMMENTS):
            if not lines and not _COLUMNS.match(above):
                above = line.lstrip("".join(_COMMENTS))
        elif line.strip():
            lines.append((k, line))
    if not lines:
        raise InputError("it is empty")
    listed = _COLUMNS.match(above)
    mark = separator(lines[:_SAMPLE], "" if listed else above, is_header, width)
    rows, places = separated(lines, mark)
    words = separated([(0, above)], mark)[0] if above.strip() else []
    table = TextTable(rows, places, mark, words[0] if words else ())
    if listed:
        named = [word.strip(" \"'") for word in listed[1].split(",")]
        table.above = [_PYNN.get(word, word) for word in named]
    table.quoted = len(lines) > 1 and all(line.lstrip().startswith('"') for _, line in lines[1:])
    return table


def separator(
    sample: Sequence[tuple[int, str]],
    above: str,
    is_header: Callable[[Sequence[str]], bool],
    width: int,
) -> str:
    """The separator of the first lines."""
    best, chosen = (0, 0, 0, 0), ","
    for mark in _MARKS:
        if not any(mark in line or (mark == " " and "\t" in line) for _, line in sample):
            continue
        try:
            rows = separated(sample, mark)[0]
            head = separated([(0, above)], mark)[0]
        except InputError:
            continue
        sizes = [len(row) for row in rows]
        if max(sizes) < 2:
            continue
        body = [cell for row in rows[1:] for cell in row[1:]]
        score = (
            int(any(map(is_header, [*rows[:1], *head]))),
            int(min(sizes) == max(sizes) and width in (0, sizes[0])),
            int(min(sizes) > 1),
            int(all(not cell or is_number(cell.replace(",", ".")) for cell in body)),
        )
        if score > best:
            best, chosen = score, mark
    return chosen


def separated(lines: Sequence[tuple[int, str]], mark: str) -> tuple[list[list[str]], list[str]]:
    """The cells of numbered lines, and the place of each row."""
    if mark == " ":
        rows = [[word.strip('"') for word in _WORDS.findall(line)] for _, line in checked(lines)]
        return rows, [f"row {k}" for k, _ in lines]
    rows, places = [], []
    reader = csv.reader((line + "\n" for _, line in lines), delimiter=mark, skipinitialspace=True)
    try:
        for row in checked(reader):
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append(cells)
                places.append(f"row {lines[reader.line_num - 1][0]}")
    except csv.Error as error:
        raise InputError(f"row {lines[reader.line_num - 1][0]}: {one_line(error)}") from None
    return rows, places


def tables_of_workbook(path: Path, sheet: str = "") -> TextTable:
    """The cells of a sheet of a workbook (.xlsx).

    Parameters
    ----------
    path : Path
    sheet : str, optional
        Its name; it may be left out if only one sheet has cells.

    Raises
    ------
    InputError
        If openpyxl is not installed, or the sheet is not there, too large, or one of several.
    """
    try:
        import openpyxl
    except ImportError:
        raise InputError(
            missing("a workbook needs", "openpyxl", "workbooks") + ", or save the sheet as .csv"
        ) from None
    content = io.BytesIO(read_bytes(path, FILE_LIMITS.table, is_named_inside=True))
    try:
        with zipfile.ZipFile(content) as parts:
            size = sum(part.file_size for part in parts.infolist())
    except zipfile.BadZipFile:
        raise InputError("it is no workbook of the form .xlsx") from None
    if size > 4 * FILE_LIMITS.table:
        raise InputError(
            f"its parts have {size >> 20} MiB, more than {4 * FILE_LIMITS.table >> 20}: save the "
            "sheet as .csv"
        )
    with warnings.catch_warnings():
        # Styles and the like that openpyxl does not know.
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(content, read_only=True, data_only=True, keep_links=False)
        try:
            sheets = {found.title: found for found in book.worksheets}
            if sheet and sheet not in sheets:
                raise InputError(
                    f"`sheet` ({shown(sheet)}) is none of its sheets: {', '.join(sheets)}"
                )
            wanted = [sheet] if sheet else list(sheets)
            filled = [title for title in wanted if any(_rows_of(sheets[title]))]
            if len(filled) > 1:
                raise InputError(
                    f"it has the sheets {', '.join(filled)}: choose one, as in "
                    f'{{ edges = "…", sheet = "{filled[0]}" }}'
                )
            if not filled:
                raise InputError(f"the sheet {sheet!r} is empty" if sheet else "it is empty")
            return _sheet(sheets[filled[0]])
        finally:
            book.close()


def table_of_arrow(table: ArrowTable) -> TextTable:
    """The cells of a Feather or Parquet file.

    Raises
    ------
    InputError
        If it is damaged, empty or too large.
    """
    header, rows = table.header, list[list[str]]()
    for part in table.parts(range(len(header))):
        if (len(rows) + len(part[0].codes)) * len(header) > MOST_CELLS:
            raise InputError(
                f"it has more than {MOST_CELLS} cells: keep the lines and columns that count"
            )
        columns = [[own.words[k] for k in own.codes.tolist()] for own in part]
        rows += map(list, zip(*columns, strict=True))
    if not rows:
        raise InputError("it is empty")
    places = [f"row {k}" for k in range(1, len(rows) + 1)]
    return TextTable([header, *rows], ["its header", *places])


def _rows_of(sheet: Any) -> Iterator[list[str]]:
    """The texts of each row of a sheet, without the empty ones at its end."""
    size = 0
    for line in checked(sheet.iter_rows(values_only=True)):
        size += len(line)
        if size > MOST_CELLS:
            raise InputError(f"it has more than {MOST_CELLS} cells: save the table as .csv")
        cells = [_cell(value) for value in line]
        while cells and not cells[-1]:
            del cells[-1]
        yield cells


def _sheet(sheet: Any) -> TextTable:
    """The cells of a sheet that has some."""
    rows, places = [], []
    for k, cells in enumerate(_rows_of(sheet), 1):
        if cells:
            rows.append(cells)
            places.append(f"row {k}")
    columns = max(map(len, rows))
    for row in rows:
        row += [""] * (columns - len(row))
    return TextTable(rows, places)


def _cell(value: Any) -> str:
    """The text of a cell of a workbook; a whole number has no decimal point."""
    if value is None:
        return ""
    if not isinstance(value, str) and not isinstance(value, bool):
        text = str(value)
        return text.removesuffix(".0")
    return str(value).strip()


def matrix_of_market(data: bytes) -> Any:
    """The matrix of a Matrix Market file, whose indices count from 1; symmetric ones are completed.

    Returns
    -------
    ndarray or sparse matrix of SciPy

    Raises
    ------
    InputError
        If it is damaged, or its size line announces more than the file can hold.
    """
    from scipy.io import mminfo, mmread

    try:
        rows, columns, entries, form, *_ = mminfo(io.BytesIO(data))
        # An entry takes at least two bytes, and one of a sparse matrix four.
        if (rows * columns if form == "array" else 2 * entries) > len(data):
            raise InputError(
                f"it announces {entries:,} entries of {rows:,}×{columns:,}, more than it holds"
            )
        return within_time(lambda: mmread(io.BytesIO(data), spmatrix=False))
    except ValueError as error:
        raise InputError(f"it is no matrix of Matrix Market: {one_line(error)}") from None


def matrix_of_matlab(path: Path, variable: str = "") -> tuple[Any, list[str]]:
    """A matrix of a MATLAB file (.mat), and the names of its rows and columns if there are any.

    Parameters
    ----------
    path : Path
    variable : str, optional
        It may be left out if the file has only one matrix of numbers.

    Returns
    -------
    (ndarray or sparse matrix of SciPy, list of str)
        Names are those of the only cell array of distinct texts of a square matrix's size.

    Raises
    ------
    InputError
        If it is no such file, the variable is not there or too large, or several could be meant.
    """
    from scipy.io import loadmat, whosmat

    content = io.BytesIO(read_bytes(path, FILE_LIMITS.table, is_named_inside=True))
    if b"MATLAB 7.3" in content.getvalue()[:128]:
        raise InputError("it is of MATLAB's format 7.3: save it with -v7, or as .csv")
    listed = whosmat(content)
    sizes = {name: shape for name, shape, _ in listed}
    matrices = [
        name
        for name, shape, kind in listed
        if len(shape) == 2 and min(shape) > 1 and kind not in ("cell", "struct", "char", "object")
    ]
    if variable and variable not in sizes:
        raise InputError(
            f"`variable` ({shown(variable)}) is none of its variables: {', '.join(sizes)}"
        )
    if not variable and len(matrices) != 1:
        raise InputError(
            f"it has the matrices {', '.join(matrices)}: choose one, as in "
            f'{{ edges = "…", variable = "{matrices[0]}" }}'
            if matrices
            else f"it has no matrix of numbers, only {shown(', '.join(sizes))}"
        )
    chosen = variable or matrices[0]
    shape = sizes[chosen]
    cells = [name for name, size, kind in listed if kind == "cell" and max(size) == shape[0]]
    for name in (chosen, *cells):
        count = 1
        for length in sizes[name]:
            count *= length
        if count > MOST_CELLS:
            raise InputError(f"{name} has more than {MOST_CELLS} entries: save it as .npz")
    content.seek(0)
    found = loadmat(content, variable_names=[chosen, *cells], spmatrix=False)
    named = [texts for name in cells if (texts := _texts(found[name], shape[0]))]
    return found[chosen], named[0] if len(named) == 1 and shape[0] == shape[1] else []


def _texts(array: Any, size: int) -> list[str]:
    """The texts of a cell array; empty if it holds anything else, or a text twice."""
    listed = [getattr(cell, "flat", [""])[0] if cell.size else "" for cell in array.flat]
    words = [str(word).strip() for word in listed if isinstance(word, str)]
    return words if len(words) == size == len(set(words)) and all(words) else []


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


def is_number(text: str) -> bool:
    """Whether a cell is a decimal number, or a fraction."""
    top, _, bottom = text.partition("/")
    return decimal_of(top) is not None and decimal_of(bottom or "1") is not None
