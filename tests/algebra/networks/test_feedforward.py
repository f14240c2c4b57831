"""Multi-layer linear networks: sizes, names and the map."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.problems.allocation import Allocation
from algebra.ranks.generic_rank import allocation_rank, network_rank
from tests.refusals import refuses
from tests.samples import many

NET = LinearFeedForward(q=3, widths=[2, 4], d=1, m=5)


def test_matrices_are_named_from_the_samples():
    """W1 takes the samples, the last one gives the labels; widths may be any list."""
    assert NET.layers == 3
    assert NET.shapes == {"W3": (1, 4), "W2": (4, 2), "W1": (2, 3)}
    assert (NET.widths, NET.input_shape) == ((2, 4), (3, 5))
    assert LinearFeedForward(q=3, widths=(2, 4), d=1, m=5) == NET


def test_the_map_is_the_product():
    """Without hidden layers too."""
    rng = np.random.default_rng(1)
    for net in (NET, LinearFeedForward(q=2, widths=(), d=2, m=2)):
        weights = {name: rng.integers(-5, 6, shape) for name, shape in net.shapes.items()}
        X = rng.integers(-5, 6, net.input_shape)
        product = X
        for layer in range(1, net.layers + 1):
            product = weights[f"W{layer}"] @ product
        assert np.array_equal(net.forward(weights, X), product)


def test_each_hidden_layer_has_its_own_renamings():
    """Outputs, hidden layers from the last, inputs."""
    assert [(axis.name, axis.size) for axis in NET.axes()] == [
        ("outputs", 1), ("hidden layer 2", 4), ("hidden layer 1", 2), ("inputs", 3),
    ]  # fmt: skip


@pytest.mark.parametrize("widths", [3, "34", [0], [2, -1], [1.5]])
def test_bad_widths_are_named(widths):
    """The argument and the value."""
    refuses("widths", LinearFeedForward, q=3, widths=widths, d=1, m=5)


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
