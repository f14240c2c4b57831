"""Forward-mode derivatives over GF(p): matrices of dual numbers value + ε·tangent, ε² = 0.

This computes the Jacobian independently: the network's own forward map is evaluated on dual
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algebra.linalg.modular import matmul
from algebra.linalg.residues import times
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import Network, Point
from algebra.networks.protocols import jacobian_of
from algebra.problems.allocation import Cell


def dual_derivative(
    network: Network, point: Point, cells: Sequence[Cell], step: np.ndarray
) -> np.ndarray:
    """Derivative of the labels along a direction, by forward-mode differentiation.

    Parameters
    ----------
    network : Network
    point : Point
    cells : sequence of cells
    step : ndarray of int64
        The direction: one residue for each cell.

    Returns
    -------
    ndarray of int64, shape (d, m)
    """
    return jacobian_of(network).modular_forward(dual_point(network, point, cells, step)).tangent


def dual_point(network: Network, point: Point, cells: Sequence[Cell], step: np.ndarray) -> Point:
    """The same point in dual numbers: with tangents `step` at these cells, and 0 elsewhere."""
    p = point.p
    places: dict[str, list[int]] = {name: [] for name in network.shapes}
    for k, cell in enumerate(cells):
        places[cell[0]].append(k)
    weights = {}
    for name, chosen in places.items():
        weight = point.weights[name]
        rows, columns = np.array([cells[k][1:] for k in chosen], np.int64).reshape(-1, 2).T
        if isinstance(weight, SparseMatrix):
            tangents = np.zeros_like(weight.values)
            tangents[weight.places(rows, columns)] = step[chosen]
            weights[name] = DualMatrix(weight, weight.with_values(tangents), p)
            continue
        tangents = np.zeros(weight.shape, np.int64)
        tangents[rows, columns] = step[chosen]
        weights[name] = DualMatrix(weight % p, tangents, p)
    X = DualMatrix(point.X % p, np.zeros_like(point.X), p)
    return Point(p, point.seed, weights, X, point.signs)


@dataclass(frozen=True)
class DualMatrix:
    """A matrix value + ε·tangent over GF(p), ε² = 0.

    Both parts may be given by their entries, at the same places: `entries` are then a column.
    """

    value: Any
    tangent: Any
    p: int

    @property
    def entries(self) -> DualMatrix:
        """The entries of a sparse matrix, as a column."""
        return DualMatrix(self.value.values[:, None], self.tangent.values[:, None], self.p)

    def with_entries(self, column: DualMatrix) -> DualMatrix:
        """Other entries at the same places."""
        value, tangent = column.value[:, 0], column.tangent[:, 0]
        return DualMatrix(self.value.with_values(value), self.value.with_values(tangent), self.p)

    def __matmul__(self, other: DualMatrix) -> DualMatrix:
        p = self.p
        tangent = matmul(self.value, other.tangent, p) + matmul(self.tangent, other.value, p)
        return DualMatrix(matmul(self.value, other.value, p), tangent % p, p)

    def __add__(self, other: DualMatrix | np.ndarray | int) -> DualMatrix:
        p = self.p
        if not isinstance(other, DualMatrix):
            return replace(self, value=(self.value + other) % p)
        return DualMatrix((self.value + other.value) % p, (self.tangent + other.tangent) % p, p)

    def __mul__(self, other: DualMatrix | int) -> DualMatrix:
        """Entrywise product."""
        p = self.p
        if isinstance(other, int):
            factor = np.array(other % p)
            return DualMatrix(times(self.value, factor, p), times(self.tangent, factor, p), p)
        tangent = times(self.value, other.tangent, p) + times(self.tangent, other.value, p)
        return DualMatrix(times(self.value, other.value, p), tangent % p, p)

    def __getitem__(self, key: Any) -> DualMatrix:
        return replace(self, value=self.value[key], tangent=self.tangent[key])

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        # NumPy's protocol for foreign array classes: `np.concatenate` of such matrices.
        if function is not np.concatenate:
            return NotImplemented
        [blocks] = args
        value, tangent = (
            np.concatenate([getattr(block, part) for block in blocks], **kwargs)
            for part in ("value", "tangent")
        )
        return DualMatrix(value, tangent, self.p)
