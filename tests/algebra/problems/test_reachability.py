"""Labels that structural zeros make 0, by two methods and with random weights."""

import random

import numpy as np
import pytest

from algebra.problems.reachability import inputs_that_reach, labels_vanish
from matchprob import LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU

NETS = [
    LinearRNN(n=3, T=2, b=2, d=2, m=2),
    LinearRNN(n=3, T=1, b=2, d=1, m=1),
    LinearFeedForward(q=2, widths=(3, 2), d=2, m=2),
    ShallowReLU(q=2, n=3, d=2, m=3),
    LinearEstimator(q=2, d=1, m=2),
]


@pytest.mark.parametrize("network", NETS, ids=str)
def test_two_ways_and_random_weights_agree(network):
    """No path backwards, zero with all ones, and zero at random weights are equivalent."""
    rng, numbers = random.Random(4), np.random.default_rng(4)
    seen = {True: 0, False: 0}
    for trial in range(120):
        density = rng.choice([0.15, 0.3, 0.6])
        support = {
            name: numbers.random(shape) < density
            for name, shape in network.shapes.items()
            if trial % 5
        }
        vanish = labels_vanish(network, support)
        assert vanish == (not inputs_that_reach(network, support).any())
        found = False
        for _ in range(6):
            weights = {
                name: numbers.standard_normal(shape) * support.get(name, 1)
                for name, shape in network.shapes.items()
            }
            X = numbers.standard_normal(network.input_shape)
            found |= bool(np.asarray(network.forward(weights, X) != 0).any())
        if vanish or network.is_linear:
            assert vanish == (not found)
        seen[vanish] += 1
    assert min(seen.values()) > 5


def test_inputs_are_told_apart():
    """Only inputs on a path count: the output reads unit 0, which reads unit 1 once or twice."""
    support = {"D": [[1, 0]], "W": [[0, 1], [1, 0]], "B": [[1, 0], [0, 0]]}
    for T, found in ((1, [False, False]), (2, [True, False])):
        network = LinearRNN(n=2, T=T, b=2, d=1, m=1)
        assert inputs_that_reach(network, support).tolist() == found
    support["B"] = [[0, 0], [0, 1]]
    for T in (1, 2):
        network = LinearRNN(n=2, T=T, b=2, d=1, m=1)
        assert inputs_that_reach(network, support).tolist() == [False, True]
