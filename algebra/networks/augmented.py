r"""Linear normalization networks as multi-layer linear ones, by augmented matrices.

With σ the identity a `NormNet` is a product of matrices.  In homogeneous coordinates (a last
row of ones) scales and shifts of a layer are one matrix more,

.. math:: \tilde W_j = \begin{pmatrix} W_j & 0 \\ 0 & 1 \end{pmatrix}, \quad
          \tilde G_j = \begin{pmatrix} \mathrm{diag}(g_j) & b_j \\ 0 & 1 \end{pmatrix}, \quad
          \tilde X = \begin{pmatrix} X \\ 1 \cdots 1 \end{pmatrix},

and Y = [g_2l b_2l]~ \tilde W_2l ⋯ \tilde G_1 \tilde W_1 \tilde X: a `LinearFeedForward` with 4l
matrices, structural zeros, and cells that are constants.  The same weights learn, at other
places.

**Generic statements carry over.**  Generic ranks and root counts are found with *random*
values in place of the constants 1.  Let c_j be those of the corners and x the last row of the
samples.  Dividing the sample columns by x divides the label columns by x, and the corners'
factors go into the shifts, b_j ↦ c_j ⋯ c_1 b_j up to such products: invertible changes of
fixed quantities and of unknowns, after which the constants are 1.  Ranks, numbers of
solutions and of real ones stay; so a verdict on the lowered problem is one on the original.
The corners count as weights in the rank of the whole network, where they add nothing: moving
c_j moves the labels along the shifts behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.networks.base import Cell, Lowering, Network, Support
from algebra.networks.feedforward import LinearFeedForward

if TYPE_CHECKING:
    from algebra.networks.normalization import NormNet


@dataclass(frozen=True)
class Augmented(Lowering):
    """The lowering of a linear normalization network (`algebra.networks.base.Lowering`).

    Parameters
    ----------
    original : NormNet

    Examples
    --------
    >>> from algebra.networks.normalization import NormNet
    >>> Augmented(NormNet.square(2, 1, 4, 3, "linear")).network.shapes
    {'W4': (2, 3), 'W3': (3, 5), 'W2': (5, 5), 'W1': (5, 3)}
    """

    original: NormNet

    @property
    def network(self) -> LinearFeedForward:
        """The multi-layer linear network of the augmented matrices."""
        net = self.original
        inner = [size + 1 for size in net.layer_sizes[1:] for _ in range(2)]
        return LinearFeedForward(q=net.q + 1, widths=tuple(inner[:-1]), d=net.d, m=net.m)

    @property
    def labels(self) -> tuple[Network, Support]:
        """The dense target."""
        return self.original.target()

    def cell(self, cell: Cell) -> Cell:
        """Where a weight stands in the augmented matrices."""
        name, i, j = cell
        layer = int(name[1:])
        if name[0] == "W":
            return (f"W{2 * layer - 1}", i, j)
        column = i if name[0] == "g" else self.original.layer_sizes[layer]
        return (f"W{2 * layer}", i, column)

    def weights(self, weights: Mapping[str, np.ndarray], one: Any) -> dict[str, np.ndarray]:
        """The augmented matrices of given weights, constants `one`, in the weights' own ring."""
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

    def teacher(self, teacher: Mapping[str, np.ndarray], one: Any) -> dict[str, np.ndarray]:
        """Augmented student weights whose blocks are the target's layers, where they fit.

        Where a hidden width is below both of its neighbours' they are a part of the layers.
        """
        out: dict[str, np.ndarray] = {}
        for k, w in enumerate(self.original.hidden, start=1):
            T, t = np.asarray(teacher[f"T{k}"]), np.asarray(teacher[f"t{k}"])
            n, before = T.shape
            first, second = _eye(w, before, one), _eye(n, w, one)
            if w >= before:
                second[:, :before] = T
                second[:, before:] = one - one
            else:
                size = min(w, n)
                first[:size] = T[:size]
                first[size:] = one - one
            out |= {f"W{2 * k - 1}": first, f"g{2 * k - 1}": np.full((w, 1), one)}
            out |= {f"W{2 * k}": second, f"g{2 * k}": np.full((n, 1), one)}
            out |= {f"b{2 * k - 1}": np.full((w, 1), one - one), f"b{2 * k}": t}
        return self.weights(out, one)

    def samples(self, X: np.ndarray, one: Any) -> np.ndarray:
        """The samples above a row of ones."""
        return np.concatenate([X, np.full((1, X.shape[1]), one, dtype=X.dtype)])


def _eye(rows: int, columns: int, one: Any) -> np.ndarray:
    """Ones on the diagonal."""
    out = np.full((rows, columns), one - one)
    np.fill_diagonal(out, one)
    return out
