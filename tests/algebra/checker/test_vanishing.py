"""Labels that structural zeros make 0: maximal, and checked along the paths."""

import itertools
import random

import numpy as np
import pytest

from algebra.certificates.vanishing import labels_vanish, vanishing_certificate
from algebra.checker.checks import CheckFailed
from algebra.checker.vanishing import check_vanishing, outputs_reached
from algebra.families.certify import certify
from algebra.families.verify import verify
from matchprob import (
    RNN,
    FeedForward,
    LinearEstimator,
    LinearFeedForward,
    LinearRNN,
    Problem,
    ShallowReLU,
)


def cut(kind, first, second):
    """A two-layer problem with these structural zeros, in which all weights that exist learn."""
    if kind == "relu":
        net = ShallowReLU(q=2, n=2, d=1, m=2)
    else:
        net = LinearFeedForward(q=2, widths=(2,), d=1, m=2)
    support = {"W1": first, "W2": second}
    return Problem(net, {"W1": "all"}, support=support)


@pytest.mark.parametrize("kind", ["linear", "relu"])
def test_exactly_the_disconnected_ones(kind):
    """Over all supports: the check passes if and only if the product of the masks is 0."""
    for bits in itertools.product((0, 1), repeat=6):
        first, second = np.array(bits[:4]).reshape(2, 2), np.array([bits[4:]])
        problem = cut(kind, first, second)
        said = []

        def say(*words, said=said):
            said.append(words)

        if (second @ first).any():
            with pytest.raises(CheckFailed, match="are reached"):
                check_vanishing(problem, "maximal", 0, 0, say)
        else:
            check_vanishing(problem, "maximal", 0, 0, say)
            assert [place for place, *_ in said] == ["evidence.labels_vanish", "verdict"]


@pytest.mark.parametrize("kind", ["linear", "relu"])
def test_the_certificate_verifies(kind):
    """`certify` gives this certificate for such a problem, and it holds."""
    problem = cut(kind, np.array([[1, 1], [0, 0]]), np.array([[0, 1]]))
    found = certify(problem)
    made = vanishing_certificate(problem, 0)
    assert (found.verdict, found.rule) == (made.verdict, made.rule)
    assert verify(made.to_dict()).holds


def test_leaks_and_gains_are_on_paths():
    """States that are 0 since their leaks, or the gains of what is sent, do not exist."""
    for more, support in (
        ({"leak": "learnable"}, {"leak": [[0], [0]]}),
        ({"state": "currents", "gain": "rates"}, {"g": [[0], [0]]}),
    ):
        net = RNN(n=2, T=2, b=1, d=1, m=2, activation="sigmoid", **more)
        found = certify(Problem(net, {"W": "all"}, support=support))
        assert found.evidence == {"labels_vanish": True}
        assert verify(found.to_dict()).holds


def test_another_claim_is_refused():
    """Labels that are 0 do not make an allocation minimal, and take part in no equation."""
    problem = cut("linear", np.zeros((2, 2), int), np.array([[1, 1]]))
    for claim in (("minimal", 0, 0), ("maximal", 1, 0), ("maximal", 0, 1)):
        with pytest.raises(CheckFailed):
            check_vanishing(problem, *claim, print)


NETS = [
    LinearRNN(n=3, T=2, b=2, d=2, m=2),
    LinearRNN(n=3, T=1, b=2, d=1, m=1),
    LinearFeedForward(q=2, widths=(3, 2), d=2, m=2),
    ShallowReLU(q=2, n=3, d=2, m=3),
    LinearEstimator(q=2, d=1, m=2),
    RNN(n=3, T=2, b=1, d=2, m=1, activation="tanh", biases=True, leak="1/3"),
    RNN(n=3, T=2, b=1, d=2, m=2, activation="erf", state="currents", initial="learnable"),
    RNN(n=3, T=2, b=1, d=2, m=1, activation="softplus", read="all"),
    FeedForward(q=2, widths=(3, 2), d=2, m=2, activation="tanh"),
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
        assert vanish == (not outputs_reached(network, support).any())
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


def test_outputs_are_told_apart():
    """Only outputs on a path count: one reads unit 0, which reads unit 1."""
    support = {"D": [[1, 0], [0, 0]], "W": [[0, 1], [0, 0]], "B": [[1], [0]]}
    for T in (1, 2, 3):
        network = LinearRNN(n=2, T=T, b=1, d=2, m=1)
        assert outputs_reached(network, support).tolist() == [False, False]
        support["B"] = [[0], [1]]
        assert outputs_reached(network, support).tolist() == [True, False]
        support["B"] = [[1], [0]]
