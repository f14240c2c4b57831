"""Enclosures of matches of networks with activations."""

import numpy as np
import pytest
from flint import arb

from matchprob import RNN, FeedForward, Problem, draw_instance
from numeric.families.activations.krawczyk import ActivationBallSystem, enclose
from numeric.families.activations.newton import certified_solutions


def test_a_planted_match_is_enclosed():
    """A student that differs from its teacher in learnable weights only: it has a match."""
    problem = Problem(RNN(3, 2, 1, 1, 2, activation="tanh"), {"W": [[1, 1, 0], [0, 0, 0], [0] * 3]})
    instance = draw_instance(problem, 0, 0)
    for name in instance.weights:
        instance.weights[name][...] = instance.teacher[name]
    truth = [instance.teacher["W"][0, 0], instance.teacher["W"][0, 1]]
    found = enclose(instance, np.array(truth) + 1e-7)
    assert found is not None
    assert all(ball.contains(arb(float(x))) for ball, x in zip(found.balls, truth, strict=True))


def test_what_is_no_solution_is_not_enclosed():
    """Far from any match, and with dependent equations."""
    problem = Problem(FeedForward(2, (2,), 1, 2, activation="sigmoid"), {"W1": [[1, 0], [0, 1]]})
    instance = draw_instance(problem, 0, 1)
    assert enclose(instance, np.array([300.0, -300.0])) is None
    same = Problem(RNN(2, 1, 1, 1, 2, activation="tanh"), {"W": [[1, 1], [0, 0]]})
    assert enclose(draw_instance(same, 0, 0), np.array([0.3, 0.3])) is None


@pytest.mark.parametrize("activation", ["tanh", "erf", "softplus", {"polynomial": [0, 1, 1]}])
def test_certified_solutions_are_solutions(activation):
    """Balls contain 0 if the residual is computed over them; ends are different."""
    net = FeedForward(2, (3,), 1, 2, activation=activation, biases=True)
    problem = Problem(net, {"W2": [[1, 0, 0]], "c1": [[0], [1], [0]]})
    some = 0
    for index in range(4):
        instance = draw_instance(problem, 0, index)
        found, done, converged = certified_solutions(instance, 30)
        assert done == 32
        assert converged >= len(found)
        some += bool(found)
        system = ActivationBallSystem(instance)
        for box in found:
            assert all(value.contains(0) for value in system.residual(list(box.balls)).entries())
        for k, one in enumerate(found):
            assert not any(one.overlaps(other) for other in found[:k])
    assert some
