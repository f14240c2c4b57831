"""Matches that always exist, and outputs of bounded range: compared with sampling in doubles."""

import numpy as np
import pytest

from algebra.arguments.stuck_output import is_stuck, reading, stuck_output
from algebra.networks.activation import ANALYTIC, Activation
from matchprob import RNN, Allocation, Distribution, FeedForward, Problem, certify


def test_which_activations_are_bounded_on_a_side():
    """All four analytic ones, polynomials of even degree."""
    for name in (*ANALYTIC, {"polynomial": [5, -3, -2]}):
        assert Activation.read(name).bounds != (None, None)
    for name in ({"polynomial": [0, 1, 1, 1]}, "linear"):
        assert Activation.read(name).bounds == (None, None)


HIDDEN = [("W1", 0, 0), ("W1", 0, 1)]


def _problem(network, cells, **more):
    return Problem.of(Allocation.from_cells(network, cells), **more)


def _stuck(network, cells, **more):
    problem = _problem(network, cells, **more)
    return stuck_output(problem, 0)


def test_stuck_outputs():
    """The first row of which neither D nor e learns, and that has an input."""
    net = FeedForward(2, (2,), 2, 1, activation="tanh", biases=True)
    assert _stuck(net, HIDDEN) == 0
    assert _stuck(net, [*HIDDEN, ("e", 0, 0)]) == 1
    assert _stuck(net, [*HIDDEN, ("W2", 0, 1), ("e", 1, 0)]) is None
    silent = _problem(net, HIDDEN, support={"W2": np.array([[0, 0], [1, 1]])})
    found = reading(silent)
    assert not is_stuck(silent, found, 0, 0)
    cube = FeedForward(2, (2,), 2, 2, activation={"polynomial": [0, 0, 0, 1]})
    assert _stuck(cube, HIDDEN) is None


def test_rows_that_follow_in_few_directions():
    """The row has more label columns than learnable weights: its fixed units span too little."""
    net = FeedForward(2, (2,), 1, 2, activation="tanh", biases=True)
    assert _stuck(net, [*HIDDEN, ("e", 0, 0)]) == 0
    # Unit 1 depends on no learnable weight, unit 0 does.
    assert _stuck(net, [*HIDDEN, ("W2", 0, 1)]) == 0
    assert _stuck(net, [*HIDDEN, ("W2", 0, 0)]) is None
    assert _stuck(net, [*HIDDEN, ("W2", 0, 1), ("e", 0, 0)]) is None
    # Values of erf are not known to be independent, softplus has no upper bound.
    for name in ("erf", "softplus"):
        other = FeedForward(2, (2,), 1, 2, activation=name, biases=True)
        assert _stuck(other, [*HIDDEN, ("e", 0, 0)]) is None
        assert _stuck(other, HIDDEN) == 0


def test_units_that_may_move():
    """All units that learnable weights reach along weights that exist."""
    net = RNN(n=3, T=2, b=1, d=1, m=1, activation="tanh")
    ring = {"W": np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])}

    def moved(cell, support):
        return reading(_problem(net, [cell], support=support)).moved.nonzero()[0].tolist()

    assert moved(("B", 0, 0), {}) == [0, 1, 2]
    # W connects unit 0 to unit 1 in the first step, and to unit 2 in the second.
    assert moved(("B", 0, 0), ring) == [1, 2]
    assert moved(("D", 0, 0), {}) == []


def test_signs_and_measured_weights_of_the_read_out():
    """If φ is bounded on one side only, the argument needs read-out weights of both signs."""
    for name, found in (("softplus", None), ("tanh", 0)):
        net = FeedForward(2, (2,), 1, 2, activation=name)
        law = Distribution(signs={"W2": [[1, 0]]})
        assert _stuck(net, HIDDEN, distribution=law) == found
        assert _stuck(net, HIDDEN, values={"W2": [[1, None]]}) == found
        bounded = Distribution(teacher="uniform")
        assert _stuck(net, HIDDEN, values={"W2": [[1, None]]}, distribution=bounded) is None


def test_labels_of_few_directions_are_missed():
    """The teacher's labels minus the part of the fixed units sometimes exceed the bound."""
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(300):
        fixed, X, teacher = rng.standard_normal((3, 2)), rng.standard_normal((2, 3)), None
        units = np.tanh(fixed[:1] @ X)
        D, small = rng.standard_normal(3), abs(rng.standard_normal())
        teacher = D @ np.tanh(rng.standard_normal((3, 2)) @ X)
        basis = np.linalg.qr(units.T)[0]
        rest = teacher - basis @ (basis.T @ teacher)
        missed += np.linalg.norm(rest) > np.sqrt(3) * small
    assert missed > 30


@pytest.mark.parametrize("name", ANALYTIC)
def test_labels_that_no_student_reaches_are_met(name):
    """Drawn teachers sometimes leave the interval of a drawn student's output."""
    rng = np.random.default_rng(0)
    φ = Activation.read(name)
    low, high = φ.bounds
    outside = 0
    for _ in range(500):
        D, teacher = rng.standard_normal((2, 1, 3))
        z = φ.values(rng.standard_normal((3, 2)))
        label = (teacher @ z)[0, 0]
        least = sum(min(d * low, d * high) if high is not None else d * low for d in D[0])
        if high is not None:
            most = sum(max(d * low, d * high) for d in D[0])
            outside += not least <= label <= most
        elif (D > 0).all():
            outside += label < least
    assert outside > 0


@pytest.mark.parametrize("labels", ["teacher", "normal"])
def test_its_words_hold_for_arbitrary_labels(labels):
    """No teacher is spoken of where labels have a law of their own."""
    net = FeedForward(2, (2,), 1, 1, activation="tanh")
    law = Distribution() if labels == "teacher" else Distribution(labels=labels)
    found = certify(_problem(net, HIDDEN, distribution=law))
    assert found.verdict == "intermediate"
    text = f"{found.rule} {found.explain()}"
    assert "output 0 cannot match all labels" in text
    assert "labels that are larger are out of reach" in text
    assert labels == "teacher" or "teacher" not in text
