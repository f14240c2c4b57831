"""A target of one layer and low rank as two layers, which four frozen layers realize."""

from __future__ import annotations

import numpy as np
from flint import fmpq, fmpq_mat

from algebra.errors import InputError, whole_number
from algebra.plugins.normalization.dense import DenseNet, norm_bound, rational_array
from numeric.trials.instances import to_double


def factored(net: DenseNet, rank: int, radius: fmpq, exact: bool) -> tuple[DenseNet, fmpq]:
    """A target of one layer as two layers with `rank` hidden units (Corollary 1).

    W = C R with r rows of R; on the ball R x + c > 0 for c_i = radius·‖R_i‖ + 1, so that ReLU
    changes nothing and the layers are (R, c) and (C, b − C c).

    Parameters
    ----------
    net : DenseNet
        One layer.
    rank : int
    radius : fmpq
    exact : bool
        R is then W's echelon form, and C its pivot columns; otherwise C and R are the nearest
        ones by singular values, rounded to doubles.

    Returns
    -------
    target : DenseNet
        Of two layers; without `exact` its entries are doubles.
    gap : fmpq
        A bound of its distance from the given one on the ball: 0 with `exact`.

    Raises
    ------
    InputError
        If the target has other than one layer; if `rank` exceeds its sides; with `exact`, if its
        rank is larger.
    """
    if len(net.weights) > 1:
        raise InputError(
            f"`rank` ({rank}) factors a target of one layer; this one has {len(net.weights)}"
        )
    (W,), (b,) = net.weights, net.shifts
    rank = whole_number(rank, "rank", 1, min(W.shape))
    if exact:
        reduced, found = fmpq_mat(W.tolist()).rref()
        if found > rank:
            raise InputError(
                f"`rank` ({rank}): the target has rank {found}, so no product of that rank equals "
                f"it; give {found}, or leave out `exact` for the nearest one"
            )
        rows = np.array(reduced.tolist(), dtype=object)
        pivots = [next(j for j, entry in enumerate(row) if entry) for row in rows[:found]]
        R, C = rows[:rank], np.full((len(W), rank), fmpq(0), dtype=object)
        C[:, :found] = W[:, pivots]
    else:
        left, values, right = np.linalg.svd(to_double(W), full_matrices=False)
        root = np.sqrt(values[:rank])
        C = rational_array(left[:, :rank] * root, "C")
        R = rational_array(root[:, None] * right[:rank], "R")
    c = np.array([radius * norm_bound(row) + 1 for row in R], dtype=object)
    second = b - C @ c
    if not exact:
        c, second = (rational_array(to_double(v), "shifts", 1) for v in (c, second))
    # Its resolution is absolute: errors of roundings are measured in units of 2^-60.
    far, near = (norm_bound(v * 2**60) / 2**60 for v in ((C @ R - W).ravel(), C @ c + second - b))
    return DenseNet((R, C), (c, second)), radius * far + near
