"""The table [values] of a problem file, read: numbers of measured weights, and their jitter."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

from algebra.errors import ErrorsAt, InputError, one_line, shown
from algebra.given import given_rows
from algebra.linalg.numbers import exact_number
from algebra.networks.base import Cell, Network

JITTER, RELATIVE = "jitter", "relative"


def read_values(data: Any, network: Network) -> tuple[dict[Cell, Fraction], Fraction, bool]:
    """The fields of `algebra.problems.laws.values.Values`, as for its `read`."""
    if not isinstance(data, Mapping):
        raise InputError(
            f"`values` ({shown(data)}) must map the names of matrices to their numbers, such "
            'as {"W": [["1/2", -1], [0.25, 3]]}'
        )
    jitter, relative = data.get(JITTER, 0), False
    if isinstance(jitter, Mapping):
        if set(jitter) != {RELATIVE}:
            raise InputError(
                f"`values.jitter` ({shown(dict(jitter))}) must be a number, or "
                "{ relative = number }"
            )
        jitter, relative = jitter[RELATIVE], True
    size = _number(jitter, "`values.jitter`")
    if size is None or size < 0:
        raise InputError(f"`values.jitter` ({shown(jitter)}) must be a number, at least 0")
    numbers: dict[Cell, Fraction] = {}
    for name, rows in data.items():
        if name == JITTER:
            continue
        if name not in network.shapes:
            raise InputError(
                f"[values] names `{one_line(name)}`, but a {network.title} has "
                + ", ".join(network.shapes)
            )
        numbers |= _matrix(rows, name, network.shapes[name])
    return numbers, size, relative and size != 0


def _matrix(rows: Any, name: str, shape: tuple[int, int]) -> dict[Cell, Fraction]:
    where, found = f"values.{name}", {}
    for i, row in enumerate(given_rows(rows, where, "rows of numbers, or an edge list", shape)):
        for j, entry in enumerate(row):
            value = _number(entry, f"`{where}[{i}][{j}]`")
            if value is not None:
                found[name, i, j] = value
    return found


def _number(entry: Any, where: str) -> Fraction | None:
    """An exact number; None for a missing entry."""
    if entry is None or (isinstance(entry, str) and entry.strip().lower() in ("", "nan")):
        return None
    # NaN differs from itself.
    if isinstance(entry, Real) and entry != entry:
        return None
    entry = str(entry) if isinstance(entry, Decimal) else entry
    with ErrorsAt(where):
        return exact_number(entry)
