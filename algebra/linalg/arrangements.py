"""Arrangements of hyperplanes in the image of an affine map, over the rationals.

The functions h_s(w) = x_s·w + c_s, s < m, have a sign on each cell of the arrangement of the
hyperplanes h_s = 0 in R^ρ.  If the x_s span R^ρ, vertices of cells solve ρ equations h_s = 0,
and extreme rays ρ − 1 of the equations x_s·e = 0 (D. Avis, K. Fukuda, "Reverse search for
enumeration", Discrete Appl. Math. 65 (1996)).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from flint import fmpq

from algebra.linalg.rational import (
    array,
    column,
    rational_echelon,
    rational_kernel,
    rational_matrix,
)
from algebra.time_limits import check_time


def arrangement_size(rank: int, samples: int) -> int:
    """The largest number of vertices and rays of a unit with `rank` learnable weights.

    Examples
    --------
    >>> arrangement_size(2, 6)
    27
    """
    rank = min(rank, samples)
    return comb(samples, rank) + 2 * comb(samples, rank - 1)


def vertices_and_rays(
    own: Sequence[Sequence[Any]], constants: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray, int]:
    """The values h at vertices, the slopes along rays, and ρ, of h = Σ_j w_j own[j] + constants.

    Parameters
    ----------
    own : ρ×m of fmpq
        Dependent rows are omitted, since they do not change the set of inputs h.
    constants : m of fmpq

    Returns
    -------
    vertices : ndarray of fmpq, V×m
    rays : ndarray of fmpq, R×m
        Both directions of each line in which ρ − 1 independent functions are constant.
    rank : int
        ρ, the dimension of the set of values.

    Examples
    --------
    >>> one, two = fmpq(1), fmpq(2)
    >>> vertices_and_rays([[one, two]], [one, -one])[0]
    array([[0, -3],
           [3/2, 0]], dtype=object)
    """
    m = len(constants)
    reduced, pivots = rational_echelon(own, m)
    rank = len(pivots)
    if rank == 0:
        return np.array([list(constants)], dtype=object), np.empty((0, m), object), 0
    # The row space determines the possible inputs, so its reduced basis may be used.
    basis = [[reduced[i, s] for s in range(m)] for i in range(rank)]
    vertices: dict[tuple[Any, ...], None] = {}
    for subset in combinations(range(m), rank):
        check_time()
        square = rational_matrix([[row[s] for row in basis] for s in subset])
        try:
            w = square.solve(column([-constants[s] for s in subset])).entries()
        except ZeroDivisionError:
            continue
        vertices[tuple(_image(basis, w, constants, subset))] = None
    rays = []
    for subset in combinations(range(m), rank - 1):
        check_time()
        directions = rational_kernel([[row[s] for row in basis] for s in subset], rank)
        if len(directions) == 1:
            ray = _image(basis, directions[0], [fmpq(0)] * m, subset)
            rays += [ray, [-value for value in ray]]
    return array(vertices, m), array(rays, m), rank


def _image(
    basis: Any, w: Sequence[Any], constants: Sequence[Any], zero: Sequence[int]
) -> list[Any]:
    image = [
        sum((w[i] * basis[i][s] for i in range(len(w))), constants[s])
        for s in range(len(constants))
    ]
    for s in zero:
        image[s] = fmpq(0)
    return image
