"""Errors, slopes and Jacobians of a batch, compared with the networks and with differences."""

import numpy as np
import pytest

from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.networks.rnn import RNN
from algebra.plugins.normalization.network import NormNet
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from numeric.programs.losses import Loss
from numeric.programs.students import Students, starts_of
from numeric.trials.instances import draw_instance

PROBLEMS = {
    "estimator": Problem(LinearEstimator(q=3, d=2, m=4), {"W": [[1, 0, 1], [0, 1, 0]]}),
    "recurrent": Problem(
        LinearRNN(n=3, T=3, b=2, d=2, m=4),
        {"W": [[1, 1, 0], [0, 0, 1], [1, 0, 0]], "B": [[1, 0], [0, 0], [0, 1]], "D": "all"},
    ),
    "one step": Problem(LinearRNN(n=2, T=1, b=2, d=2, m=2), {"W": [[1, 1], [0, 1]]}),
    "sequence": Problem(
        SequenceRNN(n=3, T=3, b=1, d=2, m=2), {"W": [[1, 1, 0], [0, 1, 0], [0, 0, 1]], "B": "all"}
    ),
    "layers": Problem(
        LinearFeedForward(q=3, widths=(4, 2), d=3, m=5),
        {"W1": RandomCells(budget=3, rows=2), "W3": [[1, 0], [0, 1], [0, 0]]},
    ),
    "relu": Problem(ShallowReLU(q=3, n=4, d=2, m=5), {"W1": RandomCells(budget=5, rows=3)}),
    "relu, both": Problem(
        ShallowReLU(q=2, n=3, d=2, m=4), {"W1": [[1, 0], [0, 1], [0, 0]], "W2": "all"}
    ),
    "relu, few": Problem(
        ShallowReLU(q=6, n=5, d=2, m=3), {"W1": [[1, 0, 0, 0, 0, 1], *[[0] * 6] * 4]}
    ),
    "few of many": Problem(
        LinearRNN(n=6, T=3, b=1, d=2, m=3), {"W": [[1, 0, 0, 1, 0, 0], *[[0] * 6] * 5]}
    ),
    "normalization": Problem(
        NormNet(widths=(2, 2), hidden=(3,), m=2, activation="relu"), {"g1": "all", "b2": "all"}
    ),
    "tanh": Problem(
        RNN(3, 3, 2, 2, 2, activation="tanh", biases=True, leak="learnable", read="all"),
        {"W": RandomCells(budget=3, rows=2), "c": "all", "leak": "all", "e": "all", "B": "all"},
    ),
    "softplus": Problem(
        FeedForward(2, (3, 2), 2, 2, activation="softplus", biases=True),
        {"W1": "all", "c1": "all", "W2": "all", "e": "all"},
    ),
    "erf": Problem(FeedForward(2, (), 2, 2, activation="erf", biases=True), {"W1": "all"}),
    "polynomial": Problem(
        RNN(2, 1, 1, 1, 3, activation={"polynomial": [0, 1, 1]}), {"W": "all", "D": "all"}
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_derivatives_of_losses(name):
    """Errors are those of the network; slopes and Jacobians agree with central differences."""
    problem = PROBLEMS[name]
    instances = [draw_instance(problem, 3, k) for k in range(4)]
    students = Students.of(instances, 2)
    w = np.concatenate([starts_of(i, 2) for i in instances])
    loss = Loss(students)
    errors, J = loss.jacobian(w)
    mse, slope = loss.slope(w)
    for k, row in enumerate(w):
        instance = instances[k // 2]
        made = problem.network.forward(instance.with_weights(row), instance.X) - instance.labels
        assert np.allclose(errors[k].reshape(made.shape), made, atol=1e-12)
        assert np.isclose(mse[k], (made**2).mean())
    assert np.allclose(loss.errors(w).reshape(len(w), -1), errors)
    step = 1e-6
    for v in range(w.shape[1]):
        e = np.zeros(w.shape[1])
        e[v] = step
        higher, lower = loss.errors(w + e), loss.errors(w - e)
        assert np.allclose(
            J[:, :, v], ((higher - lower) / (2 * step)).reshape(len(w), -1), atol=1e-7
        )
    assert np.allclose(slope, 2 * np.einsum("ke,kev->kv", errors, J) / errors.shape[1])
    rows = np.array([5, 0])
    assert np.array_equal(loss.take(rows).slope(w[rows])[1], slope[rows])


def test_starts_of_students():
    """The first start is the drawn student; the others have its distribution.

    The first seven of 400 starts are the seven starts.
    """
    problem = PROBLEMS["recurrent"]
    instance = draw_instance(problem, 0, 2)
    starts = starts_of(instance, 400)
    before = [instance.weights[name][i, j] for name, i, j in instance.allocation.cells]
    assert starts[0].tolist() == before
    assert np.array_equal(starts[:7], starts_of(instance, 7))
    scale = [problem.network.shapes[name][1] ** -0.5 for name, _, _ in instance.allocation.cells]
    assert np.allclose(starts[1:].std(axis=0), scale, rtol=0.2)
