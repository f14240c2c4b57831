"""Entries of [constraints]: their forms in files, and their checks.

The functions of this module know no `algebra.problems.constraints.Constraints`.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from math import inf, isinf, isnan
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np

from algebra.declarations import Keyword
from algebra.errors import InputError, need_shape, one_line, shown
from algebra.networks.base import Network
from algebra.problems.file_entries import EdgesFile, FileName

KEEP = "keep"
SIGNS = {"+": 1, "-": -1}
SIGN_WORDS = (KEEP, *SIGNS)

# What files may have: one for all matrices, or one for each.
_Bound = Annotated[float, Keyword("minimum", 0)]
_BoundEntry = _Bound | Literal["inf"] | list[list[_Bound]] | FileName
Bounds = _BoundEntry | dict[str, _BoundEntry]
_SignEntry = Annotated[str, Keyword("enum", SIGN_WORDS)] | list[list[Literal[-1, 0, 1]]] | FileName
SignWords = _SignEntry | dict[str, _SignEntry | EdgesFile]

# One number or word for a whole matrix, or rows of numbers.
Entry = float | int | str | tuple[tuple[float, ...], ...]


def entry_of(value: Any, key: str, where: str) -> Entry:
    """One value of the table, with the checks that need no network."""
    if isinstance(value, np.ndarray) or (
        isinstance(value, (list, tuple)) and not isinstance(value, str)
    ):
        return _rows(value, key, where)
    if key == "sign":
        if not isinstance(value, str) or value not in SIGN_WORDS:
            raise InputError(
                f'`{where}` ({shown(value)}) must be "keep", "+", "-", or a matrix of 1, -1 and 0'
            )
        return value
    return _bound(value, f"`{where}` ({shown(value)})")


def _rows(value: Any, key: str, where: str) -> tuple[tuple[float, ...], ...]:
    rows = value.tolist() if isinstance(value, np.ndarray) else list(value)
    if not rows or not all(isinstance(row, (list, tuple)) and row for row in rows):
        raise InputError(f"`{where}` ({shown(value)}) must be a matrix: a list of rows")
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise InputError(f"`{where}`: its rows have lengths {shown([len(r) for r in rows])}")
    out = []
    for i, row in enumerate(rows):
        line: list[float] = []
        for j, entry in enumerate(row):
            name = f"`{where}[{i}][{j}]`"
            if key == "sign":
                if not _is_number(entry) or entry not in (-1, 0, 1):
                    raise InputError(
                        f"{name} is {shown(entry)}: a matrix of signs holds only 1, -1 and 0"
                    )
                line.append(int(entry))
            else:
                line.append(_bound(entry, f"{name} ({shown(entry)})"))
        out.append(tuple(line))
    return tuple(out)


def _is_number(value: Any) -> bool:
    return isinstance(value, (Real, Decimal)) and not isinstance(
        value, (bool, np.bool_, np.timedelta64)
    )


def _bound(value: Any, name: str) -> float:
    if value == "inf":
        return inf
    if not _is_number(value) or value < 0:
        raise InputError(f"{name} must be a bound: a number, at least 0")
    try:
        bound = float(value)
    except OverflowError:
        raise InputError(f"{name} must be a bound that fits a double") from None
    if isinf(bound) and value != inf:
        raise InputError(f"{name} must be a bound that fits a double")
    if isnan(bound):
        raise InputError(f"{name} must be a bound: a number, at least 0")
    return bound


def check_table(
    network: Network,
    learning: Mapping[str, np.ndarray | None],
    fixed: bool,
    key: str,
    name: str,
    entry: Entry,
) -> None:
    where = f"constraints.{key}"
    if name not in network.shapes:
        raise InputError(
            f"`{where}` names `{one_line(name)}`, but a {network.title} has "
            + ", ".join(network.shapes)
        )
    if fixed and name not in learning:
        raise InputError(f"`{where}` names {name}, in which nothing learns")
    if not isinstance(entry, tuple):
        return
    need_shape((len(entry), len(entry[0])), f"`{where}.{name}`", network.shapes[name])
    mask = learning.get(name)
    if key != "sign" or mask is None:
        return
    for i, row in enumerate(entry):
        for j, sign in enumerate(row):
            if sign and not mask[i, j]:
                raise InputError(
                    f"`{where}.{name}[{i}][{j}]` is {sign}, but {name}[{i},{j}] does not learn: "
                    "write 0"
                )


def masked(entry: Entry, mask: np.ndarray) -> Entry:
    if not isinstance(entry, tuple):
        return entry
    return tuple(
        tuple(sign if mask[i, j] else 0 for j, sign in enumerate(row))
        for i, row in enumerate(entry)
    )
