"""The batched derivatives of networks with activations."""

import random

import numpy as np
import pytest

from algebra.networks.ffn import FeedForward
from algebra.networks.rnn import RNN
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import all_cells
from numeric.activations.newton import FloatSystem
from numeric.instances import draw_instance


@pytest.mark.parametrize(
    "net",
    [
        RNN(3, 3, 2, 2, 2, activation="tanh", biases=True),
        FeedForward(2, (3, 2), 2, 2, activation="softplus", biases=True),
        FeedForward(2, (), 2, 2, activation="erf", biases=True),
        RNN(2, 1, 1, 1, 3, activation={"polynomial": [0, 1, 1]}),
    ],
    ids=str,
)
def test_jacobians_are_those_of_differences(net):
    """All weights at once, several points at once."""
    cells = random.Random(0).sample(all_cells(net), min(9, len(all_cells(net))))
    masks = Allocation.from_cells(net, cells).masks
    system = FloatSystem(draw_instance(Problem(net, masks), 0, 0))
    points = np.random.default_rng(0).standard_normal((3, len(cells)))
    f, J = system(points, np.arange(3))
    assert f.shape == (3, net.outputs)
    step = 1e-6
    for k in range(len(cells)):
        move = step * np.eye(len(cells))[k]
        up, down = (system(points + sign * move, np.arange(3))[0] for sign in (1, -1))
        np.testing.assert_allclose(J[:, :, k], (up - down) / (2 * step), rtol=1e-5, atol=1e-7)


def test_residuals_are_those_of_the_network():
    """Labels of the student minus the teacher's."""
    net = RNN(3, 2, 1, 1, 2, activation="sigmoid")
    instance = draw_instance(Problem(net, {"W": [[1, 1, 0], [0, 0, 0], [0, 0, 0]]}), 0, 3)
    f, _ = FloatSystem(instance)(np.array([[0.25, -1.5]]), np.arange(1))
    student = instance.with_weights([0.25, -1.5])
    np.testing.assert_allclose(
        f[0], (net.forward(student, instance.X) - instance.labels).ravel(), rtol=1e-12
    )
