"""Conditions of matches: certain bounds compared with singular values and definitions."""

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.networks.rnn import RNN
from algebra.plugins.normalization.network import NormNet
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.problem import Problem
from numeric.matches.conditions import conditions, rational_jacobian, smallest_singular_value
from numeric.trials.instances import draw_instance, to_rational
from tests.samples import many

PROBLEMS = (
    Problem(LinearRNN(n=3, T=3, b=1, d=1, m=3), {"W": np.eye(3, dtype=int)}),
    Problem(LinearRNN(n=3, T=2, b=2, d=2, m=2), {"B": np.ones((3, 2), int)}),
    # More weights than labels, and fewer weights than labels.
    Problem(LinearFeedForward(q=2, widths=(3,), d=1, m=2), {"W1": np.ones((3, 2), int)}),
    Problem(LinearFeedForward(q=2, widths=(3,), d=2, m=3), {"W2": [[1, 0, 1], [0, 1, 0]]}),
    Problem(ShallowReLU(q=3, n=4, d=2, m=3), {"W1": [[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]]}),
    Problem(ShallowReLU(q=3, n=4, d=2, m=3), {"W2": np.ones((2, 4), int)}),
    Problem(
        FeedForward(2, (3,), 1, 3, activation={"polynomial": [0, "1/3", 1]}, biases=True),
        {"W1": [[1, 0], [1, 0], [0, 0]], "c1": [[1], [0], [0]]},
    ),
    Problem(RNN(2, 2, 1, 1, 2, activation={"polynomial": [0, 1, "1/4"]}), {"W": [[1, 0], [0, 1]]}),
    Problem(
        NormNet(widths=(2, 2), hidden=(3,), m=3, activation="linear"),
        {"g1": np.ones((3, 1), int), "b2": np.ones((2, 1), int)},
    ),
)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_bounds_hold_the_singular_value_of_difference_quotients(problem):
    """The least singular value of the difference quotients lies between the bounds."""
    found = 0
    for k in range(16):
        instance = draw_instance(problem, 2, k)
        w = np.random.default_rng(k).standard_normal(problem.allocation.size)

        def labels(w, instance=instance):
            return problem.network.forward(instance.with_weights(w), instance.X).ravel()

        h = 1e-6
        J = np.array([(labels(w + h * e) - labels(w - h * e)) / (2 * h) for e in np.eye(len(w))]).T
        exact = rational_jacobian(instance, list(to_rational(w)))
        ours = np.array([[float(x) for x in row] for row in exact.tolist()])
        np.testing.assert_allclose(ours, J, rtol=1e-6, atol=1e-6)
        values = np.linalg.svd(ours, compute_uv=False)
        smallest, condition = conditions(instance, w)
        if values[-1] < 1e-10 * values[0]:
            assert smallest is None
            assert condition is None
            continue
        found += 1
        assert values[-1] == pytest.approx(smallest.low, rel=0.005)
        assert smallest.low <= values[-1] * (1 + 1e-9)
        assert values[-1] * (1 - 1e-9) <= smallest.high <= 1.01 * smallest.low
        relative = np.linalg.norm(instance.labels) / np.linalg.norm(w) / values[-1]
        assert condition.low <= relative * (1 + 1e-9)
        assert relative * (1 - 1e-9) <= condition.high
    assert found


@settings(max_examples=many(40), deadline=None)
@given(
    exponents=st.lists(st.integers(-40, 40), min_size=1, max_size=5),
    rows=st.integers(0, 2),
    seed=st.integers(0, 1000),
)
def test_known_singular_values_lie_between_the_bounds(exponents, rows, seed):
    """Orthogonal rational matrices around a diagonal: its least entry lies between the bounds."""
    size = len(exponents)
    rng = np.random.default_rng(seed)
    # Cayley: (I - A)(I + A)^-1 is orthogonal for antisymmetric A.
    A = fmpq_mat(size, size)
    for i in range(size):
        for j in range(i):
            A[i, j] = fmpq(int(rng.integers(-9, 10)), 8)
            A[j, i] = -A[i, j]
    one = fmpq_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
    Q = (one - A) * (one + A).inv()
    D = fmpq_mat(size + rows, size)
    for i, e in enumerate(exponents):
        D[i, i] = fmpq(2) ** e
    found = smallest_singular_value(D * Q)
    least = 2.0 ** min(exponents)
    assert least in found
    assert found.high < 1.01 * found.low
    again = smallest_singular_value((D * Q).transpose())
    assert least in again


def test_a_singular_jacobian_has_no_condition():
    """A rank deficit or no learnable weight gives None, never a number."""
    assert smallest_singular_value(fmpq_mat(2, 2, [1, 2, 2, 4])) is None
    assert smallest_singular_value(fmpq_mat(3, 0)) is None


def test_labels_that_move_move_the_match_no_further():
    """If labels change by δ, the match moves by about δ/σ at most, and can move that far."""
    problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]})
    instance = draw_instance(problem, 0, 1)
    w = np.array([0.3, -0.7])
    smallest, _ = conditions(instance, w)
    J = rational_jacobian(instance, list(to_rational(w)))
    J = np.array([[float(x) for x in row] for row in J.tolist()])
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(2000):
        delta = rng.standard_normal(2)
        moved = np.linalg.solve(J, delta)
        worst = max(worst, np.linalg.norm(moved) / np.linalg.norm(delta))
    assert 0.9 / smallest.high < worst <= 1 / smallest.low


@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "softplus", "erf"])
def test_analytic_labels_have_conditions(activation):
    """Bounds from balls hold singular values of difference quotients."""
    net = RNN(2, 2, 1, 1, 3, activation=activation, biases=True)
    problem = Problem(net, {"W": [[1, 1], [0, 0]], "c": [[1], [0]]})
    for k in range(3):
        instance = draw_instance(problem, 0, k)
        w = np.random.default_rng(k).standard_normal(3)

        def labels(w, instance=instance):
            return net.forward(instance.with_weights(w), instance.X).ravel()

        h = 1e-5
        J = np.array([(labels(w + h * e) - labels(w - h * e)) / (2 * h) for e in np.eye(3)]).T
        least = np.linalg.svd(J, compute_uv=False)[-1]
        smallest, condition = conditions(instance, w)
        assert smallest.low * (1 - 1e-4) - 1e-8 <= least <= smallest.high * (1 + 1e-4) + 1e-8
        ratio = np.linalg.norm(instance.labels) / np.linalg.norm(w) / smallest.low
        assert condition.low <= ratio * 1.01
        assert condition.high >= ratio / 1.02
