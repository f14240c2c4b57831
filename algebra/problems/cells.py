"""Cells as data, as columns of a table, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from algebra.errors import InputError, shown
from algebra.networks.base import Cell, Network

# More cells, or rectangles of cells, are not listed one by one in JSON.
MOST_CELLS = 10_000


def cells_data(key: str, network: Network, cells: Sequence[Cell]) -> dict[str, Any]:
    """Weights as plain data: one by one, or, for very many, their numbers and rectangles.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> net = LinearEstimator(q=120, d=100, m=1)
    >>> cells_data("free", net, [("W", 0, 1)])
    {'free': [['W', 0, 1]]}
    >>> from algebra.problems.allocation import Allocation
    >>> cells_data("free", net, Allocation.rows(net, "W", range(100)).cells)
    {'free': None, 'free_in': {'W': 12000}, 'free_blocks': {'W': [[0, 99, 0, 119]]}}
    """
    if len(cells) <= MOST_CELLS:
        return {key: list(map(list, cells))}
    places: dict[str, list[tuple[int, int]]] = {name: [] for name in network.shapes}
    for name, i, j in cells:
        places[name].append((i, j))
    blocks, few = {}, 0
    for name, own in places.items():
        if own:
            rows, columns = np.array(sorted(own), np.int64).T
            blocks[name] = rectangles(rows, columns)
            few += len(blocks[name])
    return {
        key: None,
        f"{key}_in": {name: len(places[name]) for name in blocks},
        f"{key.removesuffix('s')}_blocks": {
            name: sorted(found.tolist()) for name, found in blocks.items()
        } if few <= MOST_CELLS else None,
    }  # fmt: skip


def rectangles(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Cells, sorted by row and column, as rectangles: first and last row, and column."""
    joined = (np.diff(rows) == 0) & (np.diff(columns) == 1)
    row, first = (of[np.append(True, ~joined)[: len(rows)]] for of in (rows, columns))
    last = columns[np.append(~joined, True)[: len(rows)]]
    # Sorted by columns, so that equal runs in neighbouring rows are adjacent.
    order = np.lexsort((row, last, first))
    row, first, last = row[order], first[order], last[order]
    same = (np.diff(row) == 1) & (np.diff(first) == 0) & (np.diff(last) == 0)
    starts = np.flatnonzero(np.append(True, ~same)[: len(row)])
    ends = np.append(starts[1:], len(row)) - 1 if len(starts) else starts
    return np.stack([row[starts], row[ends], first[starts], last[starts]], axis=1)


def check_cell(cell: Any, name: str) -> None:
    """Raise InputError unless `cell` is ``(matrix, row, column)``.

    Raises
    ------
    InputError
    """
    if (
        not isinstance(cell, (tuple, list))
        or len(cell) != 3
        or not isinstance(cell[0], str)
        or not all(isinstance(k, (int, np.integer)) for k in cell[1:])
    ):
        raise InputError(f'`{name}`: {shown(cell)} must be a weight, such as ("W", 0, 1)')


def cell_columns(cells: Sequence[Cell]) -> dict[str, list[Any]]:
    """Columns of a table with a row for each cell."""
    return {name: [cell[k] for cell in cells] for k, name in enumerate(("matrix", "row", "column"))}


def cells_text(cells: Sequence[Cell]) -> str:
    """Cells as one line of text.

    Examples
    --------
    >>> cells_text([("W", 0, 1), ("W", 1, 1)]), cells_text([])
    ('W[0,1] W[1,1]', 'none')
    """
    return " ".join(f"{name}[{i},{j}]" for name, i, j in cells) or "none"
