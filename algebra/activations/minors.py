r"""A regular minor of the Jacobian at a rational point, in ball arithmetic.

A ρ×ρ minor that is not 0 at one point shows generic rank at least ρ, for every analytic
activation and without any theorem on its values.  Rows and columns are those that elimination
modulo a prime finds independent; the point has small rational weights and samples.  The minor is
not 0 where the matrix of balls can be inverted: python-flint's ``arb_mat.inv`` raises where some
matrix in the balls is singular.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from algebra.linalg.modular import echelon, random_prime
from algebra.networks.activated import ActivatedNetwork
from algebra.problems.allocation import Cell
from algebra.ranks.jacobian import columns_at, random_point
from algebra.results import named
from algebra.time_limits import check_time

# Minors of more rows are not looked for: products of balls take many seconds there.
LARGEST = 256
# Numbers of the point are multiples of 1/16 of modulus below 2: sums stay where φ is curved.
_GRID, _REACH = 16, 31
_PRECISIONS = (64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class Minor:
    """Rows (labels) and columns (weights) of a minor, and the number of its point.

    Attributes
    ----------
    number : int
        The rational point follows from it.
    rows : tuple of int
        Label k·m + c is Y[k, c].
    columns : tuple of cells
    """

    number: int
    rows: tuple[int, ...]
    columns: tuple[Cell, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the certificate."""
        return named(self, "number", "rows", "columns")


def find_minor(
    network: ActivatedNetwork,
    cells: Sequence[Cell],
    rank: int,
    support: Mapping[str, np.ndarray],
    seed: int,
    attempts: int = 3,
) -> Minor | None:
    """A minor of this size that balls prove regular; None where none was found."""
    if not 0 < rank <= LARGEST:
        return None
    rng = random.Random(f"minor/{seed}")
    for _ in range(attempts):
        check_time()
        p = random_prime(rng)
        J = columns_at(network, random_point(network, p, rng.randrange(1 << 32), support), cells)
        columns = echelon(J, p)[1]
        rows = echelon(J[:, columns].T.copy(), p)[1]
        if len(columns) < rank:
            continue
        chosen = tuple(cells[k] for k in columns[:rank])
        minor = Minor(rng.randrange(1 << 32), tuple(map(int, rows[:rank])), chosen)
        if is_regular(network, minor, support):
            return minor
    return None


def is_regular(
    network: ActivatedNetwork,
    minor: Minor,
    support: Mapping[str, np.ndarray],
    precisions: Sequence[int] = _PRECISIONS,
) -> bool:
    """Whether balls of one of these precisions (in bits) prove that the minor is not 0."""
    weights, X = rational_point(network, minor.number, support)
    before = ctx.prec
    try:
        for bits in precisions:
            check_time()
            ctx.prec = bits
            try:
                _entries(network, minor, weights, X).inv()
            except ZeroDivisionError:
                continue
            return True
    finally:
        ctx.prec = before
    return False


def rational_point(
    network: ActivatedNetwork, number: int, support: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Weights and samples on a grid of sixteenths, zero outside the support."""
    rng = random.Random(f"rational/{number}")

    def drawn(shape: tuple[int, int]) -> np.ndarray:
        out = np.empty(shape, dtype=object)
        for cell in np.ndindex(shape):
            out[cell] = fmpq(rng.randint(-_REACH, _REACH), _GRID)
        return out

    weights = {name: drawn(shape) for name, shape in network.shapes.items()}
    for name, mask in support.items():
        weights[name][np.asarray(mask) == 0] = fmpq(0)
    return weights, drawn(network.input_shape)


def _entries(
    network: ActivatedNetwork, minor: Minor, weights: Mapping[str, np.ndarray], X: np.ndarray
) -> arb_mat:
    """The minor as a matrix of balls."""
    balls = {name: as_balls(value) for name, value in weights.items()}
    J = network.jacobian(balls, as_balls(X), minor.columns, ball_product)[list(minor.rows)]
    return arb_mat(J.tolist())


def as_balls(array: np.ndarray) -> np.ndarray:
    """The entries as balls: rationals and doubles exactly as far as the precision goes."""
    return np.frompyfunc(arb, 1, 1)(array)


def ball_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product by python-flint, much faster than entry by entry."""
    left, right = (arb_mat(x.shape[0], x.shape[1], [arb(v) for v in x.flat]) for x in (a, b))
    out = np.empty(a.shape[0] * b.shape[1], dtype=object)
    out[:] = (left * right).entries()
    return out.reshape(a.shape[0], b.shape[1])
