"""Large matrices of proof files in sparse form: the entries that differ from the most frequent one.

A mask of 302 × 302 with 3,600 ones takes 270,000 characters as rows of 0 and 1, and 20,000 as::

    {"shape": [302, 302], "rest": 0, "value": 1, "columns": [[3, 17], [], [0, 4, 9], …]}

`columns` holds for each row the columns whose entries are not `rest`; all of these are `value`, or
they are in `values`, one list for each list of columns.  Matrices of at most `MOST_ENTRIES`
entries, and those for which this is not shorter, remain lists of rows; readers accept both forms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from algebra.checker.checks import CheckFailed
from algebra.checker.fields import entries_by_row, items
from algebra.checker.records import Context, Converted, Counts, Record, reader_of
from algebra.declarations import Count
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.masks import LARGE

# Integers in this range are stored in 64 bits.
_LONG = 1 << 62


def _items(value: Any, place: str, context: Context) -> list[Any]:
    return items(value, place)


@dataclass(frozen=True)
class SparseTable(Record):
    """A matrix in sparse form; `value` or `values` are there."""

    shape: tuple[Count, Count]
    rest: Any
    columns: Annotated[list[Any], Converted(tuple[Counts, ...], _items, list)]
    value: Any = None
    values: Annotated[list[Any], Converted(tuple[tuple[Any, ...], ...], _items, list)] | None = None

    def check(self, place: str, context: Context) -> None:
        """There is one of both."""
        if self.value is not None and self.values is not None:
            raise CheckFailed(f"{place}.value", "does not belong beside `values`")


def as_compact(data: Any) -> Any:
    """`algebra.checker.compact.compact`, which a check does not load."""
    from algebra.checker.compact import compact

    return compact(data)


def has_sparse_form(value: Any) -> bool:
    """Whether a field has the sparse form, which `entries` checks."""
    return isinstance(value, Mapping) and "columns" in value


def entries(
    value: Any, place: str, shape: tuple[int, int], check: Callable[[Any, str], Any],
    sparse: bool = False,
) -> Any:  # fmt: skip
    """The checked entries of a matrix of a file, given by its rows or in sparse form.

    Parameters
    ----------
    value : object
        As read from the file.
    place : str
    shape : (int, int)
        The required shape.
    check : callable
        Makes the value of an entry, from the entry and its place.
    sparse : bool, optional
        Whether integers of a large matrix of which most are 0 are held by their places.

    Returns
    -------
    ndarray or SparseMatrix
        An array of int64, or of objects if not all entries are integers of 63 bits.

    Raises
    ------
    CheckFailed
        If the shape or the form is wrong, or `check` refuses an entry.
    """
    if not has_sparse_form(value):
        rows = entries_by_row(value, place, shape, check)
        return _array([entry for row in rows for entry in row]).reshape(shape)
    given = SparseTable.from_dict(value, place)
    if given.shape != shape:
        raise CheckFailed(f"{place}.shape", f"is not that of a matrix of {shape[0]}×{shape[1]}")
    rest, columns, values = check(given.rest, f"{place}.rest"), given.columns, given.values
    if len(columns) != shape[0]:
        raise CheckFailed(f"{place}.columns", f"has {len(columns)} rows, not {shape[0]}")
    if values is not None and len(values) != len(columns):
        raise CheckFailed(f"{place}.values", f"has {len(values)} rows, not {shape[0]}")
    one = check(given.value, f"{place}.value") if values is None else None
    places: list[tuple[int, int]] = []
    found: list[Any] = []
    for i in range(shape[0]):
        own = _increasing(columns[i], f"{place}.columns[{i}]", shape[1])
        places += [(i, j) for j in own]
        if values is not None:
            at = f"{place}.values[{i}]"
            row = items(values[i], at)
            if len(row) != len(own):
                raise CheckFailed(at, f"has {len(row)} entries for {len(own)} columns")
            found += [check(v, f"{at}[{k}]") for k, v in enumerate(row)]
    kinds = _array([rest, *([one] if values is None else found)])
    down, across = np.array(places, np.int64).reshape(-1, 2).T
    if sparse and not rest and kinds.dtype != object and shape[0] * shape[1] > LARGE:
        numbers = np.broadcast_to(kinds[1:], len(places)).copy()
        return SparseMatrix(down, across, numbers, shape).without_zeros()
    out = np.full(shape, kinds[0], kinds.dtype)
    out[down, across] = kinds[1] if values is None else kinds[1:]
    return out


def entries_of(entry: Any, sparse: bool = False) -> Converted:
    """A matrix of the context's shape with entries of a form, as rows or in sparse form."""
    rows: Any = tuple[tuple[entry, ...], ...]

    def read(value: Any, place: str, context: Context) -> Any:
        return entries(value, place, context["shape"], reader_of(entry, context), sparse)

    return Converted(rows | SparseTable, read, lambda array: as_compact(array.tolist()))


def _increasing(value: Any, place: str, below: int) -> list[int]:
    """Columns in increasing order."""
    found = items(value, place)
    for j in found:
        if type(j) is not int or not 0 <= j < below:
            raise CheckFailed(place, f"has entries other than columns 0 to {below - 1}")
    if any(one >= other for one, other in pairwise(found)):
        raise CheckFailed(place, "is not increasing")
    return found


def _array(values: list[Any]) -> np.ndarray:
    is_short = all(type(v) is int and -_LONG < v < _LONG for v in values)
    return np.array(values, np.int64 if is_short else object)
