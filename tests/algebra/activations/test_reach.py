"""Matches that always exist, and outputs that cannot follow: against sampling in doubles."""

from __future__ import annotations

import numpy as np
import pytest

from algebra.activations.reach import (
    everything_learns,
    has_full_support,
    is_one_sided,
    is_stuck,
    stuck_output,
)
from algebra.networks.activation import ANALYTIC, Activation
from algebra.networks.ffn import FeedForward
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Distribution, Problem
from algebra.ranks.jacobian import all_cells


def test_everything_learns():
    """All weights that exist; structural zeros need not."""
    net = FeedForward(2, (2,), 1, 2, activation="tanh", biases=True)
    cells = all_cells(net)
    assert everything_learns(Allocation.from_cells(net, cells), {})
    assert not everything_learns(Allocation.from_cells(net, cells[1:]), {})
    first = np.ones((1, 2), int)
    first[0, 0] = 0
    assert everything_learns(Allocation.from_cells(net, cells[1:]), {"W2": first})


def test_which_activations_are_bounded_on_a_side():
    """All four analytic ones, polynomials of even degree."""
    assert all(is_one_sided(Activation.read(name)) for name in ANALYTIC)
    assert is_one_sided(Activation.read({"polynomial": [5, -3, -2]}))
    assert not is_one_sided(Activation.read({"polynomial": [0, 1, 1, 1]}))
    assert not is_one_sided(Activation.read("linear"))


def test_stuck_outputs():
    """The first row of which neither D nor e learns, and that reads something."""
    net = FeedForward(2, (2,), 2, 2, activation="tanh", biases=True)
    hidden = [("W1", 0, 0), ("W1", 0, 1)]
    assert stuck_output(net, Allocation.from_cells(net, hidden), {}, 0) == 0
    assert stuck_output(net, Allocation.from_cells(net, [*hidden, ("e", 0, 0)]), {}, 0) == 1
    both = Allocation.from_cells(net, [*hidden, ("W2", 0, 1), ("e", 1, 0)])
    assert stuck_output(net, both, {}, 0) is None
    silent = {"W2": np.array([[0, 0], [1, 1]])}
    assert not is_stuck(net, Allocation.from_cells(net, hidden), silent, 0, 0)
    cube = FeedForward(2, (2,), 2, 2, activation={"polynomial": [0, 0, 0, 1]})
    assert stuck_output(cube, Allocation.from_cells(cube, hidden), {}, 0) is None


@pytest.mark.parametrize("name", ANALYTIC)
def test_labels_that_no_student_reaches_are_met(name):
    """Drawn teachers do leave the interval that a drawn student's output is confined to."""
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


def test_full_support():
    """Gaussian laws only."""
    net = FeedForward(2, (2,), 1, 2)
    assert has_full_support(Problem(net, {"W1": [[1, 0], [0, 0]]}))
    law = Distribution(inputs="uniform")
    assert not has_full_support(Problem(net, {"W1": [[1, 0], [0, 0]]}, distribution=law))
