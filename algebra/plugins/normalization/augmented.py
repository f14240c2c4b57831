r"""Linear normalization networks as products of augmented matrices.

If σ is the identity, a `NormNet` (`algebra.plugins.normalization.network`) is a product of
matrices.  In homogeneous coordinates (a last row of ones) scales and shifts of a layer are a
further matrix,

.. math:: \tilde W_j = \begin{pmatrix} W_j & 0 \\ 0 & 1 \end{pmatrix}, \quad
          \tilde G_j = \begin{pmatrix} \mathrm{diag}(g_j) & b_j \\ 0 & 1 \end{pmatrix}, \quad
          \tilde X = \begin{pmatrix} X \\ 1 \cdots 1 \end{pmatrix},

and Y = [g_L b_L]~ \tilde W_L ⋯ \tilde G_1 \tilde W_1 \tilde X: a `LinearFeedForward` with 2L
matrices, structural zeros, and cells that are constants.  The same weights learn, in other cells.

**Generic statements are preserved.**  Generic ranks and root counts are computed with *random*
values in place of the constants 1.  Let c_j be those of the corners and x the last row of the
samples.  Dividing the sample columns by x divides the label columns by x, and the corners' factors
are absorbed into the shifts, b_j ↦ c_j ⋯ c_1 b_j up to such products: these are invertible changes
of fixed quantities and of unknowns, after which the constants are 1.  Ranks and the numbers of
complex and real solutions do not change, so a verdict on the lowered problem is one on the
original. The corners count as weights in the rank of the whole network, but add nothing to it:
changing c_j changes the labels in the span of the shifts after it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from algebra.networks.base import Cell, Network, Support
from algebra.plugins.normalization.network import NormNet
from algebra.problems.allocation import Allocation
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.problems.reduction import CONSTRAINED, DRAWN, Lowered, Matrices, covering


@dataclass(frozen=True)
class Augmented(Lowered):
    """The augmented matrices of a linear normalization network.

    Examples
    --------
    >>> net = NormNet.square(2, 1, 4, 3, "linear")
    >>> found = Augmented(Problem(net, {"g1": [[1], [0], [1], [0]]}))
    >>> found.problem.network.shapes
    {'W4': (2, 3), 'W3': (3, 5), 'W2': (5, 5), 'W1': (5, 3)}
    >>> found.problem.allocation
    Allocation(W2[0,0] W2[2,2])
    """

    premises = covering(
        "augmented matrices",
        (DRAWN - {Feature.OTHER_TEACHER}) | CONSTRAINED | {Feature.ZEROS, Feature.DENSE_TARGET},
        "labels are the same at the augmented matrices and samples",
    )

    @property
    def _net(self) -> NormNet:
        assert isinstance(self.original.network, NormNet)
        return self.original.network

    @cached_property
    def problem(self) -> Problem:
        """The problem of the augmented matrices, without constraints."""
        original = self.original
        cells = () if original.is_random else original.allocation.cells
        allocation = Allocation.from_cells(self.network, map(self.cell, cells))
        # Instances are drawn for the original network, whose matrices have other names.
        laws = replace(original.distribution, scale=None)
        return Problem.of(allocation, support=self._support(), distribution=laws)

    def _support(self) -> Support:
        """The cells that are not structural zeros; constants are not among them."""
        network = self.original.network
        masks = {name: np.ones(shape, np.int8) for name, shape in network.shapes.items()}
        masks |= {name: np.asarray(mask) for name, mask in self.original.support.items()}
        found = self.weights(masks, 1)
        return {name: (matrix != 0).astype(np.int8) for name, matrix in found.items()}

    @property
    def labels(self) -> tuple[Network, Support]:
        """The dense target."""
        return self._net.target()

    def cell(self, cell: Cell) -> Cell:
        """The cell of a weight in the augmented matrices."""
        name, i, j = cell
        layer = int(name[1:])
        if name[0] == "W":
            return (f"W{2 * layer - 1}", i, j)
        column = i if name[0] == "g" else self._net.layer_sizes[layer]
        return (f"W{2 * layer}", i, column)

    def weights(self, weights: Matrices, one: Any) -> Matrices:
        """The augmented matrices of given weights; `one` is the unit of their ring."""
        layers = len(weights) // 3
        zero = one - one
        out: dict[str, np.ndarray] = {}
        for j in range(1, layers + 1):
            W, g, b = (np.asarray(weights[f"{letter}{j}"]) for letter in "Wgb")
            rows, columns = W.shape
            frame = np.full((rows + 1, columns + 1), zero, dtype=W.dtype)
            frame[:rows, :columns] = W
            frame[rows, columns] = one
            out[f"W{2 * j - 1}"] = frame
            square = np.full((rows + 1, rows + 1), zero, dtype=W.dtype)
            square[np.arange(rows), np.arange(rows)] = g[:, 0]
            square[:rows, rows] = b[:, 0]
            square[rows, rows] = one
            out[f"W{2 * j}"] = square[:rows] if j == layers else square
        return out

    def teacher(self, teacher: Matrices, one: Any) -> Matrices:
        """Augmented student weights whose blocks are the target's layers, if they fit.

        If a hidden width is below both neighbouring widths, they are a submatrix of the layers.
        """
        out: dict[str, np.ndarray] = {}
        net = self._net
        for k, (block, inner) in enumerate(zip(net.blocks, net.inner, strict=True), start=1):
            T, t = np.asarray(teacher[f"T{k}"]), np.asarray(teacher[f"t{k}"])
            n, before = T.shape
            sizes = (before, *inner, n)
            # The layer of the target; the units before it copy the inputs, those after it outputs.
            place = next((i for i, size in enumerate(inner) if size < before), len(inner))
            for i, j in enumerate(block):
                rows, columns = sizes[i + 1], sizes[i]
                W = _eye(rows, columns, one)
                if i == place:
                    W[:] = one - one
                    W[: min(rows, n), :before] = T[: min(rows, n)]
                out |= {f"W{j}": W, f"g{j}": np.full((rows, 1), one)}
                out[f"b{j}"] = np.full((rows, 1), one - one)
            out[f"b{block[-1]}"] = t
        return self.weights(out, one)

    def samples(self, X: np.ndarray, one: Any) -> np.ndarray:
        """The samples above a row of ones."""
        return np.concatenate([X, np.full((1, X.shape[1]), one, dtype=X.dtype)])


def _eye(rows: int, columns: int, one: Any) -> np.ndarray:
    """A matrix with ones on the diagonal."""
    out = np.full((rows, columns), one - one)
    np.fill_diagonal(out, one)
    return out
