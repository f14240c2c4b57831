"""The forward maps compared with the papers' formulas, over several rings; invalid sizes."""

import dataclasses
import operator
import random

import numpy as np
import pytest
import sympy
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from algebra.linalg.modular import matmul
from algebra.linalg.primes import random_prime
from algebra.networks.base import MAX_CELLS, STATES, TRACES, Point
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.kinds import KINDS
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.plugins.relu.network import ShallowReLU
from algebra.ranks.derivatives import DualMatrix
from algebra.ranks.jacobian import random_point
from tests.algebra.residues import power
from tests.refusals import refuses
from tests.samples import NET, filled

SIZE = st.integers(1, 4)
PRIME = 2**31 - 1


def integers(network, seed):
    """Random integer weights and samples (object arrays)."""
    rng = random.Random(seed)

    def draw(shape):
        return filled(shape, lambda: rng.randint(-9, 9))

    return {k: draw(s) for k, s in network.shapes.items()}, draw(network.input_shape)


def equation_3_3(network, weights, X):
    """Y = D Σ_t W^{T−t+1} B X_t with t = 1, …, T, as the paper prints it."""
    total = 0
    for t in range(1, network.T + 1):
        X_t = X[(t - 1) * network.b : t * network.b]
        total = total + power(weights["W"], network.T - t + 1) @ weights["B"] @ X_t
    return weights["D"] @ total


def by_loops(network, weights, X):
    """The recurrence, entry by entry, with plain Python numbers."""
    n, b, d, m = network.n, network.b, network.d, network.m
    W, B, D = (weights[k].tolist() for k in "WBD")
    Y = [[0] * m for _ in range(d)]
    for c in range(m):
        h = [0] * n
        for t in range(network.T):
            x = [X[t * b + k][c] for k in range(b)]
            h = [
                sum(W[i][j] * h[j] for j in range(n)) + sum(B[i][k] * x[k] for k in range(b))
                for i in range(n)
            ]
        last = [sum(W[i][j] * h[j] for j in range(n)) for i in range(n)]
        for i in range(d):
            Y[i][c] = sum(D[i][j] * last[j] for j in range(n))
    return Y


@given(SIZE, SIZE, SIZE, SIZE, SIZE, st.integers(0, 9))
def test_the_recurrent_net_is_equation_3_3(n, T, b, d, m, seed):
    """Over the integers the forward map is Eq. 3.3 and the recurrence, entry by entry."""
    network = LinearRNN(n=n, T=T, b=b, d=d, m=m)
    weights, X = integers(network, seed)
    Y = network.forward(weights, X)
    assert Y.shape == (d, m)
    assert (equation_3_3(network, weights, X) == Y).all()
    assert Y.tolist() == by_loops(network, weights, X.tolist())


@given(SIZE, SIZE, SIZE, SIZE, SIZE, st.integers(0, 9))
def test_states_obey_the_recurrence(n, T, b, d, m, seed):
    """h_t = W h_{t−1} + B x_t with h_0 = 0; one more product with W follows."""
    network = LinearRNN(n=n, T=T, b=b, d=d, m=m)
    weights, X = integers(network, seed)
    states = network.states(weights, X)
    assert len(states) == T + 1
    before = np.zeros((n, m), dtype=object)
    for t in range(T):
        before = weights["W"] @ before + weights["B"] @ X[t * b : (t + 1) * b]
        assert (states[t] == before).all()
    assert (states[T] == weights["W"] @ before).all()


@given(SIZE, st.lists(SIZE, max_size=3), SIZE, SIZE, st.integers(0, 9))
def test_layers_multiply_from_the_left(q, widths, d, m, seed):
    """Y = W_L … W_1 X, the product taken from the other side."""
    network = LinearFeedForward(q=q, widths=widths, d=d, m=m)
    weights, X = integers(network, seed)
    product = weights[f"W{network.layers}"]
    for layer in range(network.layers - 1, 0, -1):
        product = product @ weights[f"W{layer}"]
    assert (network.forward(weights, X) == product @ X).all()


@given(SIZE, SIZE, SIZE, st.integers(0, 9))
def test_the_estimator_is_one_product(q, d, m, seed):
    """Y = W X."""
    network = LinearEstimator(q=q, d=d, m=m)
    weights, X = integers(network, seed)
    assert (network.forward(weights, X) == weights["W"] @ X).all()


@given(SIZE, SIZE, SIZE, SIZE, st.integers(0, 9))
def test_relu_cuts_negative_values(q, n, d, m, seed):
    """Y = W2 max(W1 X, 0), the maximum taken entry by entry; exact for rationals too."""
    network = ShallowReLU(q=q, n=n, d=d, m=m)
    weights, X = integers(network, seed)
    hidden = (weights["W1"] @ X).tolist()
    kept = np.array([[max(h, 0) for h in row] for row in hidden], dtype=object)
    expected = weights["W2"] @ kept
    assert (network.forward(weights, X) == expected).all()
    exact = np.vectorize(lambda v: fmpq(int(v), 7), otypes=[object])
    halves = {k: exact(v) for k, v in weights.items()}
    Y = network.forward(halves, exact(X))
    assert (expected * fmpq(1, 343) == Y).all()


def test_symbols_go_through():
    """With SymPy symbols the labels of B.1.1 are the expected polynomials."""

    def symbols(name, shape):
        return np.array(sympy.symarray(name, shape))

    weights = {k: symbols(k, s) for k, s in NET.shapes.items()}
    X = symbols("X", NET.input_shape)
    D, W, B = (sympy.Matrix(weights[k]) for k in "DWB")
    expected = D * W**2 * B * sympy.Matrix(X[:1]) + D * W * B * sympy.Matrix(X[1:])
    Y = NET.forward(weights, X)
    assert all(sympy.expand(a - b) == 0 for a, b in zip(Y.ravel(), list(expected), strict=True))


def test_smallest_networks():
    """With every size 1 the maps are products of numbers."""
    one = np.array([[3]], dtype=object)
    net = LinearRNN(n=1, T=1, b=1, d=1, m=1)
    weights = {"D": one, "W": one * 2, "B": one * 5}
    assert net.forward(weights, one).tolist() == [[3 * 6 * 15 * 3]]
    deep = LinearFeedForward(q=1, widths=[], d=1, m=1)
    assert deep.layers == 1
    assert deep.forward({"W1": one}, one).tolist() == [[9]]


@pytest.mark.parametrize(
    ("network", "shapes", "inputs", "parameters"),
    [
        (LinearEstimator(q=3, d=2, m=4), {"W": (2, 3)}, (3, 4), 6),
        (
            LinearRNN(n=5, T=3, b=2, d=4, m=7),
            {"D": (4, 5), "W": (5, 5), "B": (5, 2)},
            (6, 7),
            20 + 25 + 10,
        ),
        (
            LinearFeedForward(q=2, widths=(3, 5), d=4, m=7),
            {"W3": (4, 5), "W2": (5, 3), "W1": (3, 2)},
            (2, 7),
            20 + 15 + 6,
        ),
        (ShallowReLU(q=2, n=3, d=4, m=7), {"W2": (4, 3), "W1": (3, 2)}, (2, 7), 18),
    ],
)
def test_shapes(network, shapes, inputs, parameters):
    """Matrices are listed from the last to the first, with the shapes of the papers."""
    assert network.shapes == shapes
    assert list(network.shapes) == list(shapes)
    assert network.input_shape == inputs
    assert network.parameters == parameters
    assert network.outputs == network.d * network.m
    assert network == type(network)(**network.sizes)
    assert KINDS[network.kind] is type(network)
    assert all(f"{name} = " in str(network) for name in network.sizes)


@pytest.mark.parametrize(
    "bad",
    [0, -1, 2.0, 2.5, "2", True, None, [2], float("nan"), pytest.param(10**5000, id="huge")],
)
@pytest.mark.parametrize("name", ["n", "T", "b", "d", "m"])
def test_wrong_sizes_are_named(name, bad):
    """A size that is not a positive integer is an input error of one line that names it."""
    sizes = {"n": 2, "T": 2, "b": 1, "d": 1, "m": 2, name: bad}
    refuses(f"`{name}`", LinearRNN, **sizes)


@pytest.mark.parametrize(
    ("widths", "named"),
    [
        (3, "`widths`"),
        ("33", "`widths`"),
        ({"a": 1}, "`widths`"),
        (None, "`widths`"),
        ([2, 0], r"`widths\[1\]`"),
        ([2, "3"], r"`widths\[1\]`"),
        ([[2]], r"`widths\[0\]`"),
    ],
)
def test_wrong_widths_are_named(widths, named):
    """The same holds for a width."""
    refuses(named, LinearFeedForward, q=2, widths=widths, d=2, m=2)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: LinearRNN(n=10**6, T=1, b=1, d=1, m=1), "W would be 1000000×1000000"),
        (lambda: LinearRNN(n=1, T=10**5, b=1, d=1, m=10**5), "samples X"),
        (lambda: LinearEstimator(q=1, d=10**5, m=10**5), "labels Y"),
        (lambda: LinearEstimator(q=MAX_CELLS + 1, d=1, m=1), "`q`"),
    ],
)
def test_sizes_beyond_one_machine_are_refused(make, named):
    """A network too large for the memory is refused before anything is allocated."""
    refuses(named, make)


def test_sizes_of_numpy_become_python_integers():
    """NumPy's integers are accepted and become Python's integers in problem files."""
    net = LinearFeedForward(q=np.int64(2), widths=np.array([3, 4]), d=np.int32(1), m=2)
    assert net == LinearFeedForward(q=2, widths=(3, 4), d=1, m=2)
    assert all(type(v) is int for v in (net.q, net.d, *net.widths))


def test_networks_are_values():
    """Equal sizes make equal, hashable networks that cannot be changed."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    assert {net: 1}[LinearRNN(n=2, T=2, b=1, d=1, m=2)] == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        net.n = 3


def test_the_product_handed_in_is_the_only_one_used():
    """Every product of the forward map goes through `matmul`."""
    net = LinearRNN(n=2, T=3, b=2, d=1, m=2)
    weights, X = integers(net, 0)
    calls = []

    def product(a, b):
        calls.append((a.shape, b.shape))
        return operator.matmul(a, b)

    net.forward(weights, X, product)
    # T products with B, T − 1 with W, one more with W, one with D.
    assert len(calls) == 3 + 2 + 1 + 1


def plain(matrix, p):
    """Dual numbers with zero tangents."""
    return DualMatrix(matrix % p, np.zeros_like(matrix), p)


def test_states_and_traces_are_those_of_the_recurrence():
    """h_t = W h_{t-1} + B x_t, W h_T, and D W h_t, computed one step after another."""
    for network in (LinearRNN(3, 3, 2, 2, 4), SequenceRNN(3, 3, 2, 2, 4)):
        p = random_prime(random.Random(2))
        point = random_point(network, p, 0)
        W, B, D = (point.weights[name] for name in "WBD")

        weights = {name: plain(matrix, p) for name, matrix in point.weights.items()}
        h, states, traces = None, [], []
        for t in range(3):
            x = matmul(B, point.X[2 * t : 2 * t + 2], p)
            h = x if h is None else (matmul(W, h, p) + x) % p
            states.append(h)
            traces.append(matmul(D, matmul(W, h, p), p))
        states.append(matmul(W, h, p))
        for what, wanted in ((STATES, states), (TRACES, traces)):
            found = network.modular_values(what, Point(p, 0, weights, plain(point.X, p)))
            assert all(np.array_equal(f.value, w) for f, w in zip(found, wanted, strict=True))
