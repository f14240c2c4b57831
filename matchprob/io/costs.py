"""Costs and marks of weights, from CSV tables of the matrices' shapes."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from algebra.design.demand import exact_price
from algebra.errors import InputError
from algebra.problems.allocation import Cell
from algebra.problems.files import csv_rows


def read_table(entries: Sequence[str], option: str) -> list[tuple[str, Path, list[list[str]]]]:
    """The CSV tables of ``MATRIX=FILE`` entries."""
    out = []
    for entry in entries:
        name, equals, file = entry.partition("=")
        if not equals:
            raise InputError(f"{option} {entry!r}: give MATRIX=FILE, as in W={option[2:]}.csv")
        path = Path(file)
        try:
            out.append((name, path, csv_rows(path)))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{option} {path}: {error}") from None
    return out


def read_costs(entries: Sequence[str]) -> dict[Cell, Fraction]:
    """Costs of ``MATRIX=FILE`` entries: a CSV of numbers in the matrix's shape."""
    costs = {}
    for name, path, rows in read_table(entries, "--costs"):
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                try:
                    costs[name, i, j] = exact_price(text)
                except InputError as error:
                    raise InputError(f"--costs {path}: row {i}, column {j}: {error}") from None
    return costs


def read_cells(entries: Sequence[str], option: str = "--must") -> list[Cell]:
    """Weights marked 1 in ``MATRIX=FILE`` entries."""
    cells: list[Cell] = []
    for name, path, rows in read_table(entries, option):
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                if text not in ("0", "1"):
                    raise InputError(
                        f"{option} {path}: row {i}, column {j}: {text!r} is not 0 or 1"
                    )
                if text == "1":
                    cells.append((name, i, j))
    return cells
