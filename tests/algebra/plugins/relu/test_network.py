"""The shallow ReLU network: its map, its scalings, and how many parameters its functions have."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matchprob as mp
from algebra.plugins.relu.network import ShallowReLU

SIZES = st.builds(
    ShallowReLU, q=st.integers(1, 3), n=st.integers(1, 3), d=st.integers(1, 2),
    m=st.integers(1, 3),
)  # fmt: skip


def drawn(net, seed):
    """Rational weights and samples."""
    rng = np.random.default_rng(seed)

    def matrix(shape):
        rows = rng.integers(-6, 7, shape)
        return np.array([[Fraction(int(v), 3) for v in row] for row in rows], object)

    return {name: matrix(shape) for name, shape in net.shapes.items()}, matrix(net.input_shape)


@given(SIZES, st.integers(0, 10**6))
def test_only_active_units_are_read(net, seed):
    """y_i = Σ_k W2[i, k] max(0, Σ_j W1[k, j] x_j)."""
    weights, X = drawn(net, seed)
    Y = net.forward(weights, X)
    for c in range(net.m):
        sums = [sum(weights["W1"][k, j] * X[j, c] for j in range(net.q)) for k in range(net.n)]
        for i in range(net.d):
            active = (k for k in range(net.n) if sums[k] > 0)
            assert Y[i, c] == sum(weights["W2"][i, k] * sums[k] for k in active)


@given(SIZES, st.integers(0, 10**6), st.integers(1, 9))
def test_a_unit_may_be_scaled_by_a_positive_number(net, seed, factor):
    """Input weights times c, output weights divided by c; with c = −1 the linear part differs."""
    weights, X = drawn(net, seed)
    moved = {name: value.copy() for name, value in weights.items()}
    moved["W1"][0] *= factor
    moved["W2"][:, 0] = moved["W2"][:, 0] / Fraction(factor)
    assert (net.forward(moved, X) == net.forward(weights, X)).all()
    turned = net.forward({"W1": -moved["W1"], "W2": -moved["W2"]}, X)
    assert (net.forward(moved, X) + turned == weights["W2"] @ weights["W1"] @ X).all()


@pytest.mark.parametrize(("q", "n", "d"), [(2, 3, 1), (3, 2, 2), (1, 2, 1), (3, 4, 2)])
def test_scalings_are_the_only_ones(q, n, d):
    """Differences of the labels at 60 random samples have the rank that `dimension` gives."""
    net = ShallowReLU(q=q, n=n, d=d, m=60)
    rng = np.random.default_rng(q + 10 * n + 100 * d)
    weights = {name: rng.normal(size=shape) for name, shape in net.shapes.items()}
    X = rng.normal(size=net.input_shape)
    columns = []
    for name, value in weights.items():
        for cell in np.ndindex(value.shape):
            # The labels are affine in each weight near the point.
            step = {own: v.copy() for own, v in weights.items()}
            step[name][cell] += 1e-6
            columns.append((net.forward(step, X) - net.forward(weights, X)).ravel() / 1e-6)
    assert np.linalg.matrix_rank(np.array(columns), tol=1e-5) == mp.dimension(net).dimension
