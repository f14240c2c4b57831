"""Matrices of proof files as NumPy's arrays of objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from algebra.checker.records import Context, Converted, for_each_matrix, rows

Shape = tuple[int, int]


def matrix(shape: Callable[[Context], Shape], entry: Any) -> Converted:
    """An array in files as the list of its rows.

    Parameters
    ----------
    shape, entry
        As for `algebra.checker.records.rows`.
    """
    own = rows(shape, entry)

    def read(value: Any, place: str, context: Context) -> np.ndarray:
        out = np.empty(shape(context), dtype=object)
        for i, row in enumerate(own.read(value, place, context)):
            out[i] = row
        return out

    return Converted(own.form, read, lambda value: own.write(value.tolist()))


def matrices(entry: Any) -> Converted:
    """An array for each matrix of the context's network, in files a table of them."""
    return for_each_matrix(matrix(lambda context: context["shape"], entry))
