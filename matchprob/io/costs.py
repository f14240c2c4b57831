"""Costs and marks of weights, from tables of the matrices' shapes or edge lists."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from algebra.errors import ErrorsAt, InputError
from algebra.problems.allocation import Cell
from algebra.problems.edges import Edges
from algebra.problems.names import Names
from algebra.problems.tables import Rows, check_shape, read_rows
from algebra.questions.design.demand import exact_price


def _entries(
    entries: Sequence[str], option: str, names: Names
) -> list[tuple[Cell, str, str, bool]]:
    """Cell, text, place and whether an edge list contains it, of ``MATRIX=FILE`` entries."""
    out, shapes = [], names.network.shapes
    for entry in entries:
        name, equals, file = entry.partition("=")
        if not equals:
            raise InputError(f"{option} {entry!r}: give MATRIX=FILE, as in W={option[2:]}.csv")
        if name not in shapes:
            raise InputError(
                f"{option} {entry!r}: there is no matrix {name!r}; there are " + ", ".join(shapes)
            )
        path = Path(file)
        try:
            rows = read_rows(path)
            if isinstance(rows, Edges):
                # A weight or a sign is not a cost.
                out += [
                    (
                        (name, i, j),
                        text if rows.column == "cost" else "",
                        f"{option} {path}: edge from {j} onto {i}",
                        True,
                    )
                    for (i, j), text in rows.cells(names, name).items()
                    if rows.is_there(text)
                ]
                continue
            check_shape(rows, shapes[name], name)
            rows = Rows(rows.arranged(names, name))
        except (OSError, UnicodeDecodeError, InputError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"{option} {path}: {reason}") from None
        out += [
            ((name, i, j), text, f"{option} {path}: row {i}, column {j}", False)
            for i, row in enumerate(rows)
            for j, text in enumerate(row)
        ]
    return out


def read_costs(entries: Sequence[str], names: Names) -> dict[Cell, Fraction]:
    """Costs of ``MATRIX=FILE`` entries: numbers in the matrix's shape, or an edge list.

    Raises
    ------
    InputError
        If a table's shape is not the matrix's: a weight without a cost is an error.
    """
    costs = {}
    for cell, text, place, is_edge in _entries(entries, "--costs", names):
        if is_edge and not text:
            raise InputError(f"{place}: an edge list of costs needs a column `cost`")
        with ErrorsAt(place):
            costs[cell] = exact_price(text)
    return costs


def read_cells(entries: Sequence[str], names: Names, option: str = "--must") -> list[Cell]:
    """Weights marked 1 in ``MATRIX=FILE`` entries, or listed as edges."""
    cells: list[Cell] = []
    for cell, text, place, is_edge in _entries(entries, option, names):
        if not is_edge and text not in ("0", "1"):
            raise InputError(f"{place}: {text!r} is not 0 or 1")
        if is_edge or text == "1":
            cells.append(cell)
    return cells
