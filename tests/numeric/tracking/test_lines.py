"""Equivalent instances have the same roots; detours keep a distance from a singular point."""

import numpy as np
import pytest

from matchprob import Allocation, LinearFeedForward, LinearRNN
from numeric.equations.chain import make_chain
from numeric.tracking.lines import detour
from tests.numeric.equations.cases import cases, residual_at


@pytest.mark.parametrize(("allocation", "_"), cases(), ids=lambda x: str(x))
def test_a_turned_instance_has_the_same_roots(allocation, _):
    """The residual of the transformed instance is zero at the root and not beside it."""
    chain = make_chain(allocation)
    rng = np.random.default_rng(0)
    parameters, root = chain.random(rng)
    other = chain.turned(parameters, rng)
    assert np.abs(residual_at(chain, other, root)).max() < 1e-12
    assert np.abs(residual_at(chain, other, root + 0.1)).max() > 1e-3


@pytest.mark.parametrize(
    ("network", "cells"),
    [
        (LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0), ("W", 1, 1)]),
        (LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0), ("D", 0, 1)]),
        (LinearFeedForward(q=2, widths=(2,), d=1, m=2), [("W1", 0, 0), ("W2", 0, 1)]),
    ],
)
def test_a_turned_instance_has_other_parameters(network, cells):
    """The transformed parameters differ, also if D learns (S_0 is transformed in its span)."""
    chain = make_chain(Allocation.from_cells(network, cells))
    rng = np.random.default_rng(0)
    parameters = chain.random(rng)[0]
    assert np.abs(chain.turned(parameters, rng) - parameters).max() > 0.1


@pytest.mark.parametrize("side", [1, -1])
def test_a_detour_keeps_its_distance(side):
    """The detour passes the singular point on the given side, at √3/2 of the radius or more."""
    inner = detour(np.array([0.6]), np.array([0.1]), side)[:, 0]
    assert (side * inner[1:3].imag > 0.05).all()
    corners = np.array([0, *inner, 1])
    u = np.linspace(0, 1, 101)[:, None]
    legs = corners[:-1] + u * np.diff(corners)
    assert np.abs(legs - 0.6).min() > 0.1 * np.sqrt(3) / 2 - 1e-9
