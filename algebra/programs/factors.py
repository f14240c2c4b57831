r"""The Jacobian of a program of matrices in factors.

The derivative of the labels by the cell (i, j) of a matrix is :math:`\sum_s L_s[:, i] ⊗ R_s[j, :]`,
with a term for each place s at which the matrix multiplies a value x_s: L_s is the derivative of
the labels by the product, R_s = x_s.  Reverse mode (`algebra.programs.jacobian`) computes both.  A
column that is added, a bias, has R_s = 1.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from algebra.programs.arrays import Array
from algebra.programs.jacobian import Sweep


def factors(sweep: Sweep, names: Collection[str]) -> dict[str, tuple[Array, Array]]:
    """The factors L and R of each matrix: see `algebra.networks.base.Network.modular_tangents`.

    Parameters
    ----------
    sweep : Sweep
        A sweep of a program in which matrices occur in ``contract("ij,j->i", matrix, value)``, and
        columns in a sum, as values of one axis.
    names : collection of str
        Matrices; those on which the differentiated value does not depend are omitted in the result.
    """
    found: dict[str, tuple[Array, Array]] = {}
    nodes, batch = sweep.program.nodes, sweep.batch
    columns = {k: node.inputs[0] for k, node in enumerate(nodes) if k in sweep.dense}
    for number, node in enumerate(nodes):
        if node.op != "block" or node.name not in names:
            continue
        pairs = [(pair.adjoint, pair.others[0][1]) for pair in sweep.pairs.get(number, ())]
        one = np.ones((1, batch), np.int64)
        pairs += [(sweep.dense[k], one) for k, of in columns.items() if of == number]
        if not pairs:
            continue
        wide = max(left.shape[-1] for left, _ in pairs)
        left = np.stack([_repeated(L, wide) for L, _ in pairs])
        right = np.stack([_repeated(R, batch) for _, R in pairs])
        found[node.name] = (left.swapaxes(2, 3) if wide > 1 else left[..., 0], right)
    return found


def _repeated(value: Array, batch: int) -> Array:
    """A value with a batch axis of this size."""
    if value.shape[-1] == batch:
        return value
    return np.broadcast_to(value, (*value.shape[:-1], batch))
