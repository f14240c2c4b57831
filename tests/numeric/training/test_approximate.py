"""The least loss found: zero if a match is known, the minimum if it is known otherwise."""

import numpy as np
import pytest

from algebra.networks.linear import LinearEstimator
from algebra.networks.relu import ShallowReLU
from algebra.networks.rnn import RNN
from algebra.problems.constraints import Constraints
from algebra.problems.problem import Problem
from numeric.instances import draw_instance
from numeric.training.approximate import _by_differences, _function, least_loss
from tests.samples import DIAGONAL

TANH = Problem(RNN(n=2, T=2, b=1, d=1, m=2, activation="tanh"), {"W": [[1, 0], [0, 1]]})
RELU = Problem(ShallowReLU(q=2, n=2, d=1, m=3), {"W2": [[1, 1]]})


@pytest.mark.parametrize("problem", [DIAGONAL, TANH, RELU], ids=["chain", "tanh", "relu"])
def test_derivatives_are_those_of_the_map(problem):
    """Residuals and Jacobians agree with differences of the network's own map."""
    instance = draw_instance(problem, 0, 1)
    points = np.random.default_rng(0).standard_normal((12, problem.allocation.size))
    f, J = _function(instance)(points, np.arange(12))
    g, H = _by_differences(instance)(points, np.arange(12))
    assert np.allclose(f.reshape(12, -1), g)
    assert np.allclose(J, H, atol=1e-4)


def test_least_squares():
    """If the labels are affine in the learnable weights the least loss is that of least squares."""
    problem = Problem(LinearEstimator(q=2, d=1, m=3), {"W": [[1, 0]]})
    instance = draw_instance(problem, 0, 3)
    X, w = instance.X, instance.weights["W"][0]
    rest = instance.labels[0] - w[1] * X[1]
    fit = rest - X[0] * (rest @ X[0]) / (X[0] @ X[0])
    assert least_loss(instance) == pytest.approx((fit**2).mean())


def test_the_box_is_not_left():
    """Under constraints the least loss is that of weights inside."""
    problem = Problem(LinearEstimator(q=1, d=1, m=1), {"W": [[1]]})
    inside = Problem(
        LinearEstimator(q=1, d=1, m=1), {"W": [[1]]}, constraints=Constraints(max_abs=0.01)
    )
    for index in range(4):
        instance = draw_instance(problem, 0, index)
        x, y = instance.X[0, 0], instance.labels[0, 0]
        w = np.clip(y / x, -0.01, 0.01)
        found = least_loss(draw_instance(inside, 0, index))
        assert found == pytest.approx((y - w * x) ** 2, rel=1e-6, abs=1e-20)
