"""The condensed simplex, compared with SciPy's linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog

from numeric.plugins.relu.simplex import primal_simplex


@pytest.mark.parametrize("seed", range(20))
def test_condensed_simplex_agrees_with_scipy(seed):
    """From a feasible basis it reaches the optimum of SciPy."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 6)), int(rng.integers(6, 14))
    A = rng.normal(size=(rows, columns))
    basic, other = np.arange(rows), np.arange(rows, columns)
    b = A[:, basic] @ rng.random(rows)
    costs = 0.5 + rng.random(columns)
    inverse = np.linalg.inv(A[:, basic])
    T, beta = np.ascontiguousarray(inverse @ A[:, other]), inverse @ b
    cost = costs[other] - costs[basic] @ T
    primal_simplex(T, beta, cost, basic, other, columns - rows, 1000)
    assert (beta >= -1e-8).all()
    peer = linprog(costs, A_eq=A, b_eq=b)
    assert costs[basic] @ beta == pytest.approx(peer.fun, rel=1e-6)
