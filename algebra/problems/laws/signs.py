"""Signs of weights: by units, by columns of a matrix, or by weight.

The signs of columns are one row, held once and named for each row, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from algebra.errors import InputError, one_line, shown
from algebra.given import given_rows
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import Axis, Network
from algebra.networks.masks import LARGE
from algebra.problems.populations import populations

# Words for signs.
SIGN_VALUES = {"1": 1, "+1": 1, "+": 1, "-1": -1, "-": -1, "0": 0}
# Signs of a matrix.
Rows = tuple[tuple[int, ...], ...]


def sign_matrices(signs: Any, network: Network) -> dict[str, Rows]:
    """A matrix of signs for each matrix that has signs.

    Parameters
    ----------
    signs : mapping or sequence
        As for `algebra.problems.laws.distribution.Distribution`.
    network : Network

    Raises
    ------
    InputError
        Where signs do not fit the network.
    """
    given = signs if isinstance(signs, Mapping) else {"neurons": signs}
    named = set(given) <= set(network.shapes)
    units = {} if named else populations(network)
    found: dict[str, Rows] = {}
    for key, value in sorted(given.items(), key=lambda item: item[0] not in units):
        where = f"distribution.signs.{one_line(key)}"
        if key in network.shapes:
            found[key] = _sign_matrix(value, where, network.shapes[key])
            continue
        if key not in units:
            known = [*(k for k, axis in units.items() if _sends(axis)), *network.shapes]
            raise InputError(f"`{where}`: a {network.title} network has " + ", ".join(known))
        line = _sign_line(value, where, units[key].size)
        for matrix, axis in units[key].places:
            if axis == 1:
                found[matrix] = (line,) * network.shapes[matrix][0]
    return {
        name: found[name]
        for name in network.shapes
        if name in found and any(map(any, _different(found[name])))
    }


def as_array(rows: Rows) -> np.ndarray:
    """Rows of signs as an array, of which the same rows may share memory."""
    if _is_by_columns(rows):
        return np.broadcast_to(np.array(rows[:1], np.int8), (len(rows), len(rows[0])))
    return np.array(rows, np.int8)


def with_signs(matrices: Mapping[str, Any], masks: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Weights, in arrays or sparse matrices, with their signs: ±|w| where there is one."""
    out = dict(matrices)
    for name, signs in masks.items():
        own = out.get(name)
        if isinstance(own, SparseMatrix):
            of = np.broadcast_to(signs, own.shape)[own.rows, own.columns]
            out[name] = own.with_values(np.where(of == 0, own.values, abs(own.values) * of))
        elif own is not None:
            out[name] = np.where(signs == 0, own, abs(own) * signs)
    return out


def _sends(axis: Axis) -> bool:
    return any(side == 1 for _, side in axis.places)


def _different(rows: Rows) -> Rows:
    """The rows, but one that is named for all rows only once."""
    return rows[:1] if _is_by_columns(rows) else rows


def _is_by_columns(rows: Any) -> bool:
    """Whether the same row is named for all rows."""
    return isinstance(rows, tuple) and bool(rows) and all(row is rows[0] for row in rows)


def plain_rows(rows: Any) -> Any:
    """Rows of signs; of a large matrix with signs by columns one row."""
    if not isinstance(rows, Sequence) or not len(rows) or not isinstance(rows[0], Sequence):
        return rows
    if _is_by_columns(rows) and len(rows) * len(rows[0]) > LARGE:
        return list(rows[0])
    return [list(row) for row in rows]


def _sign_line(value: Any, where: str, size: int, what: str = "units") -> tuple[int, ...]:
    line = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(line, Sequence) or isinstance(line, str):
        raise InputError(f"`{where}` ({shown(value)}) must be a list of signs, one for each unit")
    if len(line) != size:
        raise InputError(f"`{where}` has {len(line)} signs for {size} {what}")
    return tuple(sign_of(entry, f"`{where}[{k}]`") for k, entry in enumerate(line))


def _sign_matrix(value: Any, where: str, shape: tuple[int, int]) -> Rows:
    is_line = isinstance(value, list) and value and not isinstance(value[0], (list, np.ndarray))
    if is_line or (_is_by_columns(value) and len(value) == shape[0]):
        line = _sign_line(value if is_line else value[0], where, shape[1], "columns")
        return (line,) * shape[0]
    return tuple(
        tuple(sign_of(entry, f"`{where}[{i}][{j}]`") for j, entry in enumerate(row))
        for i, row in enumerate(given_rows(value, where, "rows of signs, or an edge list", shape))
    )


def sign_of(entry: Any, where: str) -> int:
    """The sign that a number or a word names; `where` is its place, for an error."""
    if isinstance(entry, str) and entry in SIGN_VALUES:
        return SIGN_VALUES[entry]
    number = isinstance(entry, Real) and not isinstance(entry, bool)
    if not number or entry not in (-1, 0, 1):
        raise InputError(f"{where} is {shown(entry)}: a sign is 1, -1 or 0 (free)")
    return int(entry)
