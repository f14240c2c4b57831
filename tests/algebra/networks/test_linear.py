"""The linear estimator: its map, and the rank of each allocation in closed form."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.networks.linear import LinearEstimator
from algebra.problems.allocation import Allocation
from algebra.ranks.generic_rank import allocation_rank, network_rank
from tests.samples import many

SIZES = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4))


@given(SIZES, st.integers(0, 10**6))
def test_labels_are_sums_of_products(sizes, seed):
    """Y[i, c] = Σ_j W[i, j] X[j, c], over the rationals."""
    q, d, m = sizes
    net = LinearEstimator(q=q, d=d, m=m)
    rng = np.random.default_rng(seed)
    W = [[Fraction(int(v), 7) for v in row] for row in rng.integers(-9, 9, (d, q))]
    X = [[Fraction(int(v), 5) for v in row] for row in rng.integers(-9, 9, (q, m))]
    Y = net.forward({"W": np.array(W, object)}, np.array(X, object))
    for i in range(d):
        for c in range(m):
            assert Y[i, c] == sum(W[i][j] * X[j][c] for j in range(q))


@given(SIZES, st.data())
@settings(max_examples=many(60), deadline=None)
def test_rows_are_independent(sizes, data):
    """Each row of W has m equations of its own: rank Σ_i min(cells of row i, m)."""
    q, d, m = sizes
    net = LinearEstimator(q=q, d=d, m=m)
    every = [("W", i, j) for i in range(d) for j in range(q)]
    cells = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    rank = sum(min(sum(row == i for _, row, _ in cells), m) for i in range(d))
    assert allocation_rank(Allocation.from_cells(net, cells)).rank == rank
    assert network_rank(net).rank == d * min(q, m)
