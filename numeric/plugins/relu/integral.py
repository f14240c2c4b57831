r"""The size of the labels of a ReLU layer on Gaussian samples, in balls.

For standard normal x, E|V relu(U x)|² = Σ (V^T V)_{ij} k(u_i, u_j) over the rows of U, with [1]_

.. math:: k(u, v) = E\,relu(u^T x)\,relu(v^T x) = (s + (π - θ)\, u^T v) / 2π,

s = |u| |v| sin θ the root of the sum of the squares of all 2×2 minors of (u, v), θ their angle.

References
----------
.. [1] Y. Cho, L. Saul, "Kernel methods for deep learning", NIPS 2009.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from flint import arb

from algebra.programs.balls import ball_product

Balls = Mapping[str, np.ndarray]


def relu_error(teacher: Balls, student: Balls) -> arb:
    """E|f(x) − f*(x)|² / E|f*(x)|² of two shallow ReLU networks, for standard normal x.

    Their difference is a network with the units of both.
    """
    units = np.vstack([student["W1"], teacher["W1"]])
    signs = np.hstack([student["W2"], -teacher["W2"]])
    return relu_size(units, signs) / relu_size(teacher["W1"], teacher["W2"])


def relu_labels(weights: Balls, X: np.ndarray) -> np.ndarray:
    """The labels of some samples."""
    hidden = ball_product(weights["W1"], X)
    return ball_product(weights["W2"], np.vectorize(_active, otypes=[object])(hidden))


def _active(x: arb) -> arb:
    """The larger of a ball and 0."""
    return x if x >= 0 else arb(0) if x <= 0 else (x + abs(x)) / 2


def square_sum(values: np.ndarray) -> arb:
    """The sum of squares of balls, at least 0."""
    sizes = [abs(v) for v in values.ravel()]
    return sum((size * size for size in sizes), arb(0))


def relu_size(units: np.ndarray, outputs: np.ndarray) -> arb:
    """E|V relu(U x)|² for standard normal x."""
    gram = ball_product(outputs.T.copy(), outputs)
    total = arb(0)
    for i in range(len(units)):
        total += gram[i, i] * square_sum(units[i]) / 2
        for j in range(i):
            total += 2 * gram[i, j] * _kernel(units[i], units[j])
    return total


def _kernel(u: np.ndarray, v: np.ndarray) -> arb:
    """E relu(u·x) relu(v·x) for standard normal x."""
    inner: Any = sum((a * b for a, b in zip(u, v, strict=True)), arb(0))
    minors = [u[i] * v[j] - u[j] * v[i] for i, j in combinations(range(len(u)), 2)]
    area = square_sum(np.array(minors, object))
    # A sum of squares: its root is real where the ball reaches below 0.
    sine = area.sqrt() if area > 0 else arb(0).union(arb(area.upper()).sqrt())
    if inner > 0:
        angle = arb.pi() - arb.atan2(sine, inner)
    elif inner < 0:
        angle = arb.atan2(sine, -inner)
    elif sine > 0:
        angle = arb.pi() / 2 + (inner / sine).atan()
    else:
        # Between the kernel's least value 0 and its largest, |u| |v| / 2.
        most = (square_sum(u) * square_sum(v)).sqrt() / 2
        return arb(0).union(arb(most.upper()))
    return (sine + angle * inner) / (2 * arb.pi())
