"""Arrays from files of NumPy and SciPy: everything that a file says is checked before it is used.

An ``.npy`` file says its type, its order and its shape in a header; an ``.npz`` file is a zip
archive of such files; a sparse matrix of SciPy is an archive with the parts of its format.  Here
they are read without `numpy.load` and `scipy.sparse.load_npz`, which believe what they read: an
index outside the shape makes SciPy's compiled code write outside its arrays.

Checked are: the length of an archive's members before they are inflated, and that no more comes out
of them; types (integers, Booleans, real numbers of up to 64 bits); that sizes are not negative and
fit the bytes that are there; that indices lie in the shape, and that the pointers to the rows of a
compressed matrix begin at 0, never decrease, and end at the number of entries.

A sparse matrix becomes one of SciPy in the coordinate format, in which none of this can go wrong;
so does a sparse matrix that a caller gives (`coordinates_of`).
"""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from algebra.errors import InputError, one_line, shown
from algebra.files.opening import FILE_LIMITS, read_bytes
from algebra.time_limits import check_time

# Members of an archive.
_MOST_MEMBERS = 10_000
# Bytes of a header, and levels of a shape.
_MOST_HEADER = 10_000
_MOST_AXES = 8
_PART = 1 << 22
# NumPy's letters for Booleans, signed and unsigned integers, and floating-point numbers.
_NUMBERS, _WHOLE = "biuf", "iu"


def read_array(path: Path, most: int = FILE_LIMITS.array) -> np.ndarray:
    """The array of an ``.npy`` file of at most this number of bytes.

    Raises
    ------
    InputError
        If it is damaged, or holds anything but numbers.
    OSError
    """
    return _array(read_bytes(path, most, is_named_inside=True))


def read_arrays(path: Path, most: int = FILE_LIMITS.array) -> dict[str, np.ndarray]:
    """The arrays of an ``.npz`` archive by their names, of at most this number of bytes.

    Raises
    ------
    InputError
        If it is damaged, too large, or holds anything but numbers.
    OSError
    """
    return _members(path, _array, most)


def read_sparse(path: Path) -> Any:
    """The sparse matrix of an ``.npz`` archive, as a `scipy.sparse.coo_array`.

    Raises
    ------
    InputError
        If it is damaged, too large, or no sparse matrix of numbers.
    OSError
    """
    # The name of the format is a text, and everything else numbers.
    members = _members(path, _word_or_array, FILE_LIMITS.array)
    if "format" not in members:
        raise InputError(
            f"it holds {shown(', '.join(members))}, not the parts of a sparse matrix as "
            "`scipy.sparse.save_npz` writes them; an array of NumPy belongs into an .npy file"
        )
    word, parts = members.pop("format"), {k: v for k, v in members.items() if k != "_is_array"}
    if not isinstance(word, str) or word not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise InputError(f"a sparse matrix of the format {shown(word)}; read are {known}")
    names, expand = _FORMATS[word]
    for name in ("shape", *names):
        if name not in parts:
            raise InputError(f"a sparse matrix of the format {word} without its `{name}`")
    shape = _whole(parts["shape"], "shape", 1)
    if shape.shape != (2,) or (shape < 0).any():
        raise InputError(f"the shape of a matrix is two sizes, not {shown(shape.tolist())}")
    rows, columns = (int(size) for size in shape)
    return _coordinates(*expand(parts, rows, columns), (rows, columns))


def coordinates_of(matrix: Any) -> Any:
    """A sparse matrix of SciPy in the coordinate format, once its indices were checked.

    Parameters
    ----------
    matrix : sparse matrix or array of SciPy
        As a caller gave it; its own conversion would believe its indices.

    Raises
    ------
    InputError
    """
    try:
        word = str(matrix.format)
        if word in _FORMATS and len(matrix.shape) == 2:
            if word == "coo":
                parts = {"data": matrix.data, "row": matrix.row, "col": matrix.col}
            else:
                parts = {name: getattr(matrix, name) for name in _FORMATS[word][0]}
            parts = {name: np.asarray(part) for name, part in parts.items()}
            rows, columns = map(int, matrix.shape)
            return _coordinates(*_FORMATS[word][1](parts, rows, columns), (rows, columns))
        # Dictionaries and lists of Python are no arrays that could be overrun.
        return matrix.tocoo()
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"it is no sparse matrix of SciPy ({one_line(error)})") from None


# -- archives and headers -----------------------------------------------------------------------


def _members(path: Path, read: Callable[[bytes], Any], most: int) -> dict[str, Any]:
    """The members of an archive, each inflated to the length that it announces and no further."""
    content = read_bytes(path, most, is_named_inside=True)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            listed = archive.infolist()
            if len(listed) > _MOST_MEMBERS:
                raise InputError(f"an archive of {len(listed):,} files; up to 10,000 are read")
            whole = sum(member.file_size for member in listed)
            if whole > most:
                raise InputError(
                    f"an archive that inflates to {whole >> 20:,} MiB; up to "
                    f"{most >> 20} MiB are read"
                )
            found: dict[str, Any] = {}
            for member in listed:
                name = member.filename.removesuffix(".npy")
                if name in found:
                    raise InputError(f"an archive with two arrays `{one_line(name)}`")
                data = _inflated(archive, member)
                try:
                    found[name] = read(data)
                except InputError as error:
                    raise InputError(f"`{one_line(name)}`: {error}") from None
            return found
    except InputError:
        raise
    except Exception as error:
        # Besides BadZipFile: NotImplementedError, RuntimeError (a password), zlib.error, …
        raise InputError(f"it is no whole .npz archive ({one_line(error)})") from None


def _inflated(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    parts, left = list[bytes](), member.file_size
    with archive.open(member) as stream:
        while left > 0:
            check_time()
            part = stream.read(min(left, _PART))
            if not part:
                raise InputError(f"`{one_line(member.filename)}` is shorter than it says")
            parts.append(part)
            left -= len(part)
        if stream.read(1):
            raise InputError(f"`{one_line(member.filename)}` is longer than it says")
    return b"".join(parts)


def _header(data: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, order, type and start of the entries, checked against the bytes that follow."""
    formats, stream = np.lib.format, io.BytesIO(data[: 2 * _MOST_HEADER])
    try:
        # Old forms of types warn; they are refused below.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            version = formats.read_magic(stream)
            if version not in ((1, 0), (2, 0)):
                raise InputError(f"an .npy file of version {version}; 1.0 and 2.0 are read")
            read = (formats.read_array_header_1_0, formats.read_array_header_2_0)[version[0] - 1]
            shape, is_fortran, dtype = read(stream, max_header_size=_MOST_HEADER)
    except InputError:
        raise
    except Exception as error:
        # A damaged header raises exceptions of many classes: SyntaxError, TypeError, MemoryError.
        raise InputError(f"no whole .npy file ({one_line(error)})") from None
    if len(shape) > _MOST_AXES or any(type(size) is not int or size < 0 for size in shape):
        raise InputError(f"the shape {shown(shape)} is none of an array with up to 8 axes")
    if dtype.hasobject or dtype.subdtype is not None or dtype.names is not None:
        raise InputError(f"its entries are no numbers but {shown(dtype)}")
    start = stream.tell()
    there, needed = len(data) - start, prod(shape) * dtype.itemsize
    if there != needed:
        raise InputError(
            f"an array of the shape {shown(shape)} has {needed:,} bytes, and {there:,} are there"
        )
    return shape, bool(is_fortran), dtype, start


def _array(data: bytes) -> np.ndarray:
    shape, is_fortran, dtype, start = _header(data)
    if dtype.kind not in _NUMBERS or dtype.itemsize > 8:
        raise InputError(f"its entries are no numbers of up to 64 bits but {dtype}")
    flat = np.frombuffer(data, dtype, offset=start) if prod(shape) else np.zeros(0, dtype)
    made = flat.reshape(shape[::-1]).T if is_fortran else flat.reshape(shape)
    # In the machine's order of bytes, as other code expects it.
    return np.array(made, dtype=dtype.newbyteorder("="), order="C")


def _word_or_array(data: bytes) -> Any:
    shape, _, dtype, start = _header(data)
    if dtype.kind in "SU" and shape == () and 0 < dtype.itemsize <= 64:
        word = np.frombuffer(data, dtype, offset=start)[0]
        return word.decode("ascii", "replace") if isinstance(word, bytes) else str(word)
    return _array(data)


# -- formats of sparse matrices -----------------------------------------------------------------

Parts = Mapping[str, np.ndarray]
Entries = tuple[np.ndarray, np.ndarray, np.ndarray]


def _whole(array: np.ndarray, name: str, axes: int) -> np.ndarray:
    """An array of integers with this number of axes, as 64-bit integers."""
    if array.dtype.kind not in _WHOLE or array.ndim != axes:
        raise InputError(f"`{name}` is no list of integers but {array.dtype}, {array.ndim} axes")
    if array.size and array.dtype.kind == "u" and int(array.max()) >> 63:
        raise InputError(f"`{name}` holds {int(array.max())}, which is no index")
    return array.astype(np.int64)


def dense(matrix: Any) -> np.ndarray:
    """A matrix as an array; a sparse one is written out if it is not too large.

    Raises
    ------
    InputError
    """
    if not hasattr(matrix, "tocoo"):
        return np.asarray(matrix)
    rows, columns = matrix.shape
    if max(rows, 1) * max(columns, 1) > FILE_LIMITS.array // 8:
        raise InputError(f"it is {rows:,}×{columns:,}, with zeros more than is written out")
    written: np.ndarray = coordinates_of(matrix).toarray()
    return written


def _numbers(array: np.ndarray, axes: int) -> np.ndarray:
    if array.dtype.kind not in _NUMBERS or array.dtype.itemsize > 8:
        raise InputError(f"its entries are no numbers of up to 64 bits but {array.dtype}")
    if array.ndim != axes:
        raise InputError(f"its entries have {array.ndim} axes, not {axes}")
    return array


def _checked_indices(indices: np.ndarray, size: int, name: str) -> np.ndarray:
    if indices.size and not (indices.min() >= 0 and indices.max() < size):
        bad = indices[(indices < 0) | (indices >= size)][0]
        raise InputError(f"`{name}` holds {bad}, and its axis has {size} places")
    return indices


def _pointers(parts: Parts, lines: int, entries: int) -> np.ndarray:
    """For each entry of a compressed matrix its line."""
    pointers = _whole(parts["indptr"], "indptr", 1)
    if len(pointers) != lines + 1:
        raise InputError(f"`indptr` has {len(pointers)} numbers for {lines} lines, not {lines + 1}")
    steps = np.diff(pointers)
    if pointers[0] != 0 or pointers[-1] != entries or (steps < 0).any():
        raise InputError(f"`indptr` does not rise from 0 to the number of entries, {entries}")
    return np.repeat(np.arange(lines, dtype=np.int64), steps)


def _compressed(parts: Parts, lines: int, places: int) -> Entries:
    """Lines, places and values of rows (or columns) that are compressed."""
    data, indices = _numbers(parts["data"], 1), _whole(parts["indices"], "indices", 1)
    if len(data) != len(indices):
        raise InputError(f"{len(data)} entries have {len(indices)} `indices`")
    line = _pointers(parts, lines, len(indices))
    return line, _checked_indices(indices, places, "indices"), data


def _by_rows(parts: Parts, rows: int, columns: int) -> Entries:
    return _compressed(parts, rows, columns)


def _by_columns(parts: Parts, rows: int, columns: int) -> Entries:
    column, row, data = _compressed(parts, columns, rows)
    return row, column, data


def _by_blocks(parts: Parts, rows: int, columns: int) -> Entries:
    data, indices = _numbers(parts["data"], 3), _whole(parts["indices"], "indices", 1)
    count, down, across = data.shape
    if not down or not across or rows % down or columns % across or count != len(indices):
        raise InputError(
            f"blocks of {down}×{across} do not fill {rows}×{columns}, or {count} blocks have "
            f"{len(indices)} `indices`"
        )
    line = _pointers(parts, rows // down, count)
    place = _checked_indices(indices, columns // across, "indices")
    row = line[:, None, None] * down + np.arange(down)[:, None] + np.zeros((1, 1, across), np.int64)
    column = place[:, None, None] * across + np.arange(across) + np.zeros((1, down, 1), np.int64)
    return row.ravel(), column.ravel(), data.ravel()


def _listed(parts: Parts, rows: int, columns: int) -> Entries:
    data = _numbers(parts["data"], 1)
    row, column = _whole(parts["row"], "row", 1), _whole(parts["col"], "col", 1)
    if not len(row) == len(column) == len(data):
        raise InputError(f"{len(data)} entries have {len(row)} rows and {len(column)} columns")
    return _checked_indices(row, rows, "row"), _checked_indices(column, columns, "col"), data


def _by_diagonals(parts: Parts, rows: int, columns: int) -> Entries:
    data, offsets = _numbers(parts["data"], 2), _whole(parts["offsets"], "offsets", 1)
    count, length = data.shape
    if count != len(offsets) or len(set(offsets.tolist())) != count:
        raise InputError(f"{count} diagonals have the `offsets` {shown(offsets.tolist())}")
    if count and not (offsets.min() > -rows and offsets.max() < columns):
        raise InputError(f"`offsets` {shown(offsets.tolist())} lead outside of {rows}×{columns}")
    # Entry j of a diagonal is in column j.
    column = np.broadcast_to(np.arange(length, dtype=np.int64), (count, length))
    row = column - offsets[:, None]
    inside = (row >= 0) & (row < rows) & (column < columns)
    return row[inside], column[inside], data[inside]


# For each format the arrays that it needs, and their entries.
_FORMATS: dict[str, tuple[tuple[str, ...], Callable[[Parts, int, int], Entries]]] = {
    "csr": (("data", "indices", "indptr"), _by_rows),
    "csc": (("data", "indices", "indptr"), _by_columns),
    "bsr": (("data", "indices", "indptr"), _by_blocks),
    "coo": (("data", "row", "col"), _listed),
    "dia": (("data", "offsets"), _by_diagonals),
}


def _coordinates(
    row: np.ndarray, column: np.ndarray, data: np.ndarray, shape: tuple[int, int]
) -> Any:
    from scipy.sparse import coo_array

    # SciPy computes with 32 or 64 bits of the machine's order.
    kept = data.astype(np.float32) if data.dtype == np.float16 else data
    return coo_array((kept.astype(kept.dtype.newbyteorder("=")), (row, column)), shape=shape)
