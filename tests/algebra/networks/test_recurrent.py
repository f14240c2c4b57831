"""The linear recurrent network: its recursion, and that the labels do not know the basis."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.networks.recurrent import LinearRNN

SIZES = st.builds(
    LinearRNN, n=st.integers(1, 3), T=st.integers(1, 3), b=st.integers(1, 2), d=st.integers(1, 2),
    m=st.integers(1, 3),
)  # fmt: skip


def drawn(net, seed):
    """Rational weights and samples, as lists of rows."""
    rng = np.random.default_rng(seed)

    def rows(shape):
        return [[Fraction(int(v), 3) for v in row] for row in rng.integers(-6, 7, shape)]

    return {name: rows(shape) for name, shape in net.shapes.items()}, rows(net.input_shape)


def times(A, v):
    """A matrix times a vector."""
    return [sum(a * x for a, x in zip(row, v, strict=True)) for row in A]


def arrays(weights):
    """As arrays of fractions."""
    return {name: np.array(rows, object) for name, rows in weights.items()}


@given(SIZES, st.integers(0, 10**6))
def test_the_recursion_one_sample_at_a_time(net, seed):
    """h_t = W h_{t-1} + B x_t from h_0 = 0; y = D W h_T."""
    weights, X = drawn(net, seed)
    Y = net.forward(arrays(weights), np.array(X, object))
    every = net.read_at_every_step.forward(arrays(weights), np.array(X, object))
    for sample in range(net.m):
        h = [Fraction(0)] * net.n
        for t in range(net.T):
            x = [X[t * net.b + k][sample] for k in range(net.b)]
            pairs = zip(times(weights["W"], h), times(weights["B"], x), strict=True)
            h = [a + c for a, c in pairs]
            y = times(weights["D"], times(weights["W"], h))
            assert list(every[:, t * net.m + sample]) == y
        assert list(Y[:, sample]) == y


@given(SIZES, st.integers(0, 10**6))
def test_the_basis_of_the_hidden_units_does_not_matter(net, seed):
    """D P⁻¹, P W P⁻¹, P B give the same labels, here with P of an elementary operation."""
    weights, X = drawn(net, seed)
    own = arrays(weights)
    P = np.array([[Fraction(int(i == j)) for j in range(net.n)] for i in range(net.n)], object)
    back = P.copy()
    P[0, -1] += 3
    if net.n > 1:
        back[0, -1] -= 3
    else:
        back[0, 0] = 1 / P[0, 0]
    moved = {"D": own["D"] @ back, "W": P @ own["W"] @ back, "B": P @ own["B"]}
    X = np.array(X, object)
    assert (net.forward(moved, X) == net.forward(own, X)).all()


@pytest.mark.parametrize("T", [1, 2, 4])
def test_impulses_show_powers(T):
    """With unit vectors as samples the labels are D W^{T-t+1} B."""
    net = LinearRNN(n=2, T=T, b=1, d=1, m=T)
    weights = {"D": [[1, 2]], "W": [[1, 1], [3, 0]], "B": [[1], [4]]}
    weights = {name: np.array(value, object) for name, value in weights.items()}
    Y = net.forward(weights, np.eye(T, dtype=int).astype(object))
    for t in range(T):
        power = weights["B"]
        for _ in range(T - t):
            power = weights["W"] @ power
        assert Y[0, t] == (weights["D"] @ power)[0, 0]


def test_each_matrix_has_one_role():
    """Decoder, recurrent matrix and encoder."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    roles = net.roles()
    assert sorted(name for names in roles.values() for name in names) == sorted(net.shapes)
