"""Allocations: which cells of which weight matrices may learn.

An `Allocation` is an immutable set of cells ``(matrix, row, column)`` over the weight
matrices of a network.  It holds neither weights nor probabilities.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from numbers import Real
from typing import Any

import numpy as np

from algebra.errors import InputError, need_shape, one_line, shown
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import Cell as Cell
from algebra.networks.base import Network
from algebra.time_limits import checked


def as_mask(value: Any, shape: tuple[int, int], name: str) -> Any:
    """Check a 0/1 matrix of the given shape, and return it as int8.

    A matrix by its entries remains one.

    Parameters
    ----------
    value : array_like
        Rows of 0 and 1.
    shape : (int, int)
        The required shape.
    name : str
        The name used in messages, such as ``learnable.W``.

    Raises
    ------
    InputError
        If the shape differs or an entry is neither 0 nor 1.
    """
    if isinstance(value, SparseMatrix):
        need_shape(value.shape, f"`{name}`", shape)
        others = np.flatnonzero((value.values != 0) & (value.values != 1))
        if len(others):
            k = others[0]
            raise InputError(
                f"`{name}[{value.rows[k]}][{value.columns[k]}]` is "
                f"{shown(value.values[k].item())}: a mask contains only 0 and 1"
            )
        kept = value.values != 0
        ones = np.ones(int(kept.sum()), np.int8)
        return SparseMatrix(value.rows[kept], value.columns[kept], ones, value.shape)
    array: np.ndarray
    try:
        array = value if isinstance(value, np.ndarray) else np.array(value, dtype=object)
    except ValueError as error:
        raise InputError(f"`{name}` is not a matrix: {one_line(error)}") from None
    if array.ndim != 2:
        if isinstance(value, (str, bytes)):
            what = f"it is {shown(value)}"
        elif array.ndim == 1 and (lengths := _row_lengths(value)):
            what = f"its rows have lengths {shown(lengths)}"
        else:
            what = f"it has {array.ndim} dimension{'s' * (array.ndim != 1)}"
        raise InputError(f"`{name}` must be a {shape[0]}×{shape[1]} matrix of 0 and 1; {what}")
    need_shape(array.shape, f"`{name}`", shape)
    if array.dtype.kind in "biuf":
        bad = np.argwhere((array != 0) & (array != 1))
        wrong = None if not bad.size else (int(bad[0][0]), int(bad[0][1]))
    else:
        rows = enumerate(checked(array))
        wrong = next(
            ((i, j) for i, row in rows for j, entry in enumerate(row) if not _is_bit(entry)), None
        )
    if wrong is not None:
        entry = array[wrong]
        if isinstance(entry, np.generic) and not isinstance(entry, np.timedelta64):
            entry = entry.item()
        raise InputError(
            f"`{name}[{wrong[0]}][{wrong[1]}]` is {shown(entry)}: a mask contains only 0 and 1"
        )
    return array.astype(np.int8)


def _row_lengths(value: Any) -> list[int]:
    """Lengths of the rows of a list of lists; empty if `value` is none."""
    if not isinstance(value, (list, tuple)):
        return []
    return [len(row) for row in value] if all(isinstance(r, (list, tuple)) for r in value) else []


def _is_bit(entry: Any) -> bool:
    # isinstance(timedelta64, numbers.Integral) is true.
    number = isinstance(entry, (Real, np.bool_)) and not isinstance(entry, np.timedelta64)
    return number and bool(entry == 0 or entry == 1)


@dataclass(frozen=True)
class Allocation:
    """The learnable cells of a network.

    Create one with `from_masks`, `from_cells`, `rows` or `columns`.

    Attributes
    ----------
    network : Network
    cells : tuple of (str, int, int)
        Matrix, row and column of each learnable weight; sorted by matrix (in the order
        of ``network.shapes``), row, column; 0-based.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> Allocation.from_masks(net, W=[[1, 0], [0, 1]])
    Allocation(W[0,0] W[1,1])
    """

    network: Network
    cells: tuple[Cell, ...]

    def __post_init__(self) -> None:
        shapes = self.network.shapes
        order = {name: k for k, name in enumerate(shapes)}
        seen: set[Cell] = set()
        for cell in _tuple(self.cells, "cells"):
            try:
                name, i, j = cell
                i, j = operator.index(i), operator.index(j)
            except (TypeError, ValueError):
                raise InputError(f"{shown(cell)} is not a cell (matrix, row, column)") from None
            try:
                rows, columns = shapes[name]
            except (KeyError, TypeError):
                rows, columns = self.network.shape_of(name)
            if not (0 <= i < rows and 0 <= j < columns):
                raise InputError(
                    f"cell {name}[{shown(i)}, {shown(j)}] is outside {name} "
                    f"({rows}×{columns}, 0-based)"
                )
            if (name, i, j) in seen:
                raise InputError(f"cell {name}[{i}, {j}] is given twice")
            seen.add((name, i, j))
        cells = sorted(seen, key=lambda c: (order[c[0]], c[1], c[2]))
        object.__setattr__(self, "cells", tuple(cells))

    @classmethod
    def from_masks(
        cls, network: Network, masks: Mapping[str, Any] | None = None, **more: Any
    ) -> Allocation:
        """Allocation from 0/1 matrices, by mapping or by keyword."""
        if masks is not None and not isinstance(masks, Mapping):
            raise InputError(
                f"`masks` ({shown(masks)}) must map the names of matrices to masks, "
                'such as {"W": [[1, 0], [0, 1]]}'
            )
        given = {
            name: as_mask(value, network.shape_of(name), name)
            for name, value in {**(masks or {}), **more}.items()
        }
        # The cells are sorted, distinct and inside their matrices: no check, since there may be
        # millions.
        cells: list[Cell] = []
        for name in network.shapes:
            if name in given:
                mask = given[name]
                i, j = (
                    (mask.rows, mask.columns)
                    if isinstance(mask, SparseMatrix)
                    else np.nonzero(mask)
                )
                cells += zip(repeat(name), i.tolist(), j.tolist(), strict=False)
        made = object.__new__(cls)
        object.__setattr__(made, "network", network)
        object.__setattr__(made, "cells", tuple(cells))
        return made

    @classmethod
    def from_cells(cls, network: Network, cells: Iterable[Cell]) -> Allocation:
        """Allocation from an iterable of (matrix, row, column)."""
        return cls(network, _tuple(cells, "cells"))

    @classmethod
    def rows(cls, network: Network, name: str, rows: Iterable[int]) -> Allocation:
        """Allocation of whole rows of one matrix."""
        columns = network.shape_of(name)[1]
        chosen = _tuple(rows, "rows")
        return cls(network, tuple((name, i, j) for i in chosen for j in range(columns)))

    @classmethod
    def columns(cls, network: Network, name: str, columns: Iterable[int]) -> Allocation:
        """Allocation of whole columns of one matrix."""
        rows = network.shape_of(name)[0]
        chosen = _tuple(columns, "columns")
        return cls(network, tuple((name, i, j) for j in chosen for i in range(rows)))

    @cached_property
    def masks(self) -> dict[str, np.ndarray]:
        """A 0/1 matrix (int8) for every matrix of the network."""
        masks = {name: np.zeros(shape, np.int8) for name, shape in self.network.shapes.items()}
        for name, i, j in self.cells:
            masks[name][i, j] = 1
        return masks

    def entries(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The rows and the columns of the learnable weights of a matrix."""
        return self._entries[name]

    @cached_property
    def _entries(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        places: dict[str, list[tuple[int, int]]] = {name: [] for name in self.network.shapes}
        for name, i, j in self.cells:
            places[name].append((i, j))
        found = {name: np.array(own, np.int64).reshape(-1, 2).T for name, own in places.items()}
        return {name: (rows, columns) for name, (rows, columns) in found.items()}

    @property
    def size(self) -> int:
        """Number r of learnable weights."""
        return len(self.cells)

    @cached_property
    def matrices(self) -> tuple[str, ...]:
        """Names of the matrices with learnable weights."""
        used = {cell[0] for cell in self.cells}
        return tuple(name for name in self.network.shapes if name in used)

    def blocks(self, name: str) -> list[tuple[int, int, int, int]]:
        """The learnable weights of a matrix as rectangles: first and last row, and column.

        A rectangle joins runs of neighbouring cells in consecutive rows, where these have the same
        columns.

        Examples
        --------
        >>> from algebra.networks.feedforward import LinearEstimator
        >>> net = LinearEstimator(q=3, d=3, m=1)
        >>> Allocation.from_masks(net, W=[[1, 1, 0], [1, 1, 0], [1, 0, 1]]).blocks("W")
        [(0, 1, 0, 1), (2, 2, 0, 0), (2, 2, 2, 2)]
        """
        from algebra.problems.cells import rectangles

        return sorted(map(tuple, rectangles(*self.entries(name)).tolist()))

    def row_counts(self, name: str) -> list[int]:
        """Number of learnable weights in each row of a matrix."""
        return np.bincount(self.entries(name)[0], minlength=self.network.shapes[name][0]).tolist()

    def column_counts(self, name: str) -> list[int]:
        """Number of learnable weights in each column of a matrix."""
        return np.bincount(self.entries(name)[1], minlength=self.network.shapes[name][1]).tolist()

    def without(self, cells: Iterable[Cell]) -> Allocation:
        """The allocation without some of its cells."""
        gone = set(cells)
        return Allocation(self.network, tuple(c for c in self.cells if c not in gone))

    def __len__(self) -> int:
        return len(self.cells)

    def __str__(self) -> str:
        return " ".join(f"{name}[{i},{j}]" for name, i, j in self.cells) or "(nothing)"

    def __repr__(self) -> str:
        return f"Allocation({self})"


def _tuple(values: Any, name: str) -> tuple[Any, ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(f"`{name}` ({shown(values)}) must be a list")
    return tuple(values)
