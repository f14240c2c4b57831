"""The least loss of an instance, compared with closed forms."""

import numpy as np
import pytest

from matchprob import Constraints, LinearEstimator, Problem, draw_instance
from numeric.programs.least_loss import least_loss


def test_least_loss_of_a_linear_estimator():
    """If the labels are affine in the learnable weights the least loss is that of least squares."""
    problem = Problem(LinearEstimator(q=2, d=1, m=3), {"W": [[1, 0]]})
    instance = draw_instance(problem, 0, 3)
    X, w = instance.X, instance.weights["W"][0]
    rest = instance.labels[0] - w[1] * X[1]
    fit = rest - X[0] * (rest @ X[0]) / (X[0] @ X[0])
    assert least_loss(instance) == pytest.approx((fit**2).mean())


def test_least_loss_under_constraints():
    """Under a bound the least loss is that of the best weights within it."""
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
