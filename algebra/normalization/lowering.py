r"""Linear normalization networks as multi-layer linear ones: all engines can solve them.

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
from functools import lru_cache
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.networks.base import Network
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.normalization import NormNet
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import GenericRank, network_rank


def lowered_network(network: NormNet) -> LinearFeedForward:
    """The multi-layer linear network of the augmented matrices.

    Examples
    --------
    >>> lowered_network(NormNet.square(2, 1, 4, 3, "linear")).shapes
    {'W4': (2, 3), 'W3': (3, 5), 'W2': (5, 5), 'W1': (5, 3)}
    """
    if not network.is_linear:
        raise InputError(
            "a network with ReLU units is not polynomial in its scales: its equations hold for "
            "one activation pattern at a time"
        )
    inner = [size + 1 for size in network.layer_sizes[1:] for _ in range(2)]
    return LinearFeedForward(q=network.q + 1, widths=tuple(inner[:-1]), d=network.d, m=network.m)


def lowered_support(
    network: NormNet, support: Mapping[str, np.ndarray] | None = None
) -> dict[str, np.ndarray]:
    """The cells of the augmented matrices that are not structural zeros, as masks."""
    ones = {name: np.ones(shape, np.int8) for name, shape in network.shapes.items()}
    masks = {**ones, **{name: np.asarray(mask) for name, mask in (support or {}).items()}}
    return {name: (matrix != 0).astype(np.int8) for name, matrix in augmented(masks, 1).items()}


def augmented(weights: Mapping[str, np.ndarray], one: Any) -> dict[str, np.ndarray]:
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


def lowered_cell(network: NormNet, cell: Cell) -> Cell:
    """Where a weight stands in the augmented matrices."""
    name, i, j = cell
    layer = int(name[1:])
    if name[0] == "W":
        return (f"W{2 * layer - 1}", i, j)
    column = i if name[0] == "g" else network.layer_sizes[layer]
    return (f"W{2 * layer}", i, column)


def lowered_allocation(allocation: Allocation) -> Allocation:
    """The same learnable weights in the lowered network."""
    network = allocation.network
    assert isinstance(network, NormNet)
    cells = [lowered_cell(network, cell) for cell in allocation.cells]
    return Allocation.from_cells(lowered_network(network), cells)


def lowered_problem(problem: Problem, allocation: Allocation | None = None) -> Problem:
    """The lowered problem of a fixed allocation: the problem's own unless one is given."""
    network = problem.network
    assert isinstance(network, NormNet)
    return Problem.of(
        lowered_allocation(problem.allocation if allocation is None else allocation),
        support=lowered_support(network, problem.support),
        distribution=problem.distribution,
    )


def solvable(problem: Problem) -> Problem:
    """The problem whose equations the engines solve: itself, or the lowered one."""
    network: Network = problem.network
    return lowered_problem(problem) if isinstance(network, NormNet) else problem


@lru_cache(maxsize=64)
def target_rank(network: NormNet, seed: int = 0) -> GenericRank:
    """Dimension of the variety of the teacher's labels, all its hidden units active.

    For a linear net the labels themselves; with ReLU those of the linear piece on which no
    unit is silent, which has positive probability.

    Examples
    --------
    >>> target_rank(NormNet.square(2, 1, 4, 5)).rank
    6
    """
    widths = [n + 1 for n in network.widths]
    dense = LinearFeedForward(q=widths[0], widths=tuple(widths[1:-1]), d=network.d, m=network.m)
    support = {}
    for k in range(1, network.depth + 1):
        mask = np.ones(dense.shapes[f"W{k}"], np.int8)
        if k < network.depth:
            mask[-1, :-1] = 0
        support[f"W{k}"] = mask
    return network_rank(dense, support, seed)
