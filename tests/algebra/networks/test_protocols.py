"""What each kind knows besides its map, and that the rest is refused by name."""

from dataclasses import dataclass

import numpy as np
import pytest

from algebra.networks.activated import ActivatedNetwork
from algebra.networks.base import STATES, TRACES
from algebra.networks.chain import ChainNetwork
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.protocols import (
    HasJacobian,
    HasLimits,
    HasUnits,
    jacobian_of,
    limits_of,
    units_of,
)
from algebra.networks.recurrent import LinearRNN
from algebra.networks.rnn import RNN
from algebra.plugins.circuits.elements import available_kinds, known_readings
from algebra.plugins.normalization.network import NormNet
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.problem import Problem
from algebra.problems.updates import Gain
from algebra.programs.program import Builder
from algebra.ranks.generic_rank import network_rank
from algebra.ranks.minors import ball_columns
from algebra.ranks.parametrized import learning_rank, parametrized
from algebra.systems.forms import forms, preferred_form
from tests.refusals import refuses

RELU = ShallowReLU(q=2, n=2, d=1, m=1)
NORM = NormNet.square(d=2, depth=1, width=4, m=3)
KINDS = {
    LinearRNN(n=2, T=2, b=1, d=1, m=2): {HasJacobian, HasUnits, HasLimits},
    LinearFeedForward(q=2, widths=(2,), d=1, m=1): {HasJacobian, HasUnits, HasLimits},
    RNN(n=2, T=2, b=1, d=1, m=1): {HasJacobian, HasUnits, HasLimits},
    RELU: {HasUnits, HasLimits},
    NORM: set(),
}


@dataclass(frozen=True)
class Bilinear(HasJacobian):
    """y = D (A x ∘ B x), by its sizes and its program alone."""

    d: int
    m: int

    @property
    def shapes(self):
        return {"D": (1, 2), "A": (2, 2), "B": (2, 2)}

    @property
    def input_shape(self):
        return 2, self.m

    def build(self):
        build = Builder()
        D, A, B = (build.weight(name, shape) for name, shape in self.shapes.items())
        x = build.sample("X", (2,))
        # The second form by its transpose, whose rows are moved.
        turned = build.index(np.arange(4).reshape(2, 2).T, B)
        sides = build.contract("ij,j->i", A, x), build.contract("ji,j->i", turned, x)
        return build.program(build.contract("ij,j->i", D, build.multiply(*sides)))


def test_a_kind_is_its_program():
    """Ranks, their error and those of updates follow: quadratic forms of two variables.

    A gain of the rows of A and one of D's columns are the same motion of them.
    """
    net = Bilinear(d=1, m=5)
    whole = network_rank(net)
    assert (whole.rank, whole.upper, net.entry_bound.degree) == (3, 5, 4)
    assert 0 < whole.error < 2**-60
    both = Problem(net, {"A": Gain("rows"), "D": Gain("columns")})
    assert learning_rank(both.learning).rank == learning_rank(both.learning, 2).rank == 2
    assert net.affine_in(["D"])
    assert not net.affine_in(["A", "B"])


@pytest.mark.parametrize("network", KINDS, ids=str)
def test_a_kind_knows_what_it_implements(network):
    """The other protocols are refused in one line that names the kind."""
    known = KINDS[network]
    for protocol, get in ((HasJacobian, jacobian_of), (HasUnits, units_of), (HasLimits, limits_of)):
        assert isinstance(network, protocol) == (protocol in known)
        if protocol in known:
            assert get(network)
        else:
            refuses(repr(network.kind), get, network)


def test_what_can_be_recorded():
    """No readings of steps or states where there are none; they are refused by their name."""
    layers, estimator = LinearFeedForward(q=2, widths=(2,), d=1, m=1), LinearEstimator(2, 1, 1)
    assert layers.readings(TRACES) == estimator.readings(STATES) == RELU.readings(STATES) == ()
    refuses("steps .* of a multi-layer linear network", known_readings, layers, TRACES)
    refuses("hidden units of a linear estimator", known_readings, estimator, STATES)
    refuses("activation pattern", jacobian_of, RELU)
    linear = NormNet.square(d=2, depth=1, width=4, m=3, activation="linear")
    refuses("linear network with other matrices", jacobian_of, linear)
    assert "units" not in available_kinds(RELU)
    assert {"units", "times"} <= set(available_kinds(LinearRNN(n=2, T=2, b=1, d=1, m=2)))


def test_equations_that_are_no_polynomials_have_no_form():
    """For tanh and for activation patterns; a polynomial activation has one."""
    for network in (FeedForward(1, (1,), 1, 1), RELU):
        allocation = Problem(network, {"W1": np.ones(network.shapes["W1"], int)}).allocation
        assert forms(network, allocation) == ()
        refuses("polynomial equations", preferred_form, allocation)
    square = FeedForward(1, (1,), 1, 1, activation={"polynomial": [0, 0, 1]})
    assert preferred_form(Problem(square, {"W1": [[1]]}).allocation) == "sums"


def test_updates_keep_what_the_network_knows():
    """Their parameters have names where units have; the Jacobian is needed."""
    gains = (("W", Gain("rows")),)
    assert isinstance(parametrized(LinearRNN(n=2, T=2, b=1, d=1, m=2), gains), HasUnits)
    refuses("relu", parametrized, RELU, (("W1", Gain("rows")),))


def test_balls_of_a_chain_are_its_jacobian():
    """At integers the columns by balls are those of the chain's closed form, exactly."""
    for network in (LinearRNN(n=2, T=2, b=1, d=1, m=2), LinearFeedForward(2, (3,), 2, 2)):
        assert isinstance(network, ChainNetwork)
        assert not isinstance(network, ActivatedNetwork)
        rng = np.random.default_rng(0)
        weights = {n: rng.integers(-3, 4, s).astype(object) for n, s in network.shapes.items()}
        X = rng.integers(-3, 4, network.input_shape).astype(object)
        cells = [(n, *cell) for n, shape in network.shapes.items() for cell in np.ndindex(shape)]
        balls, factors = ball_columns(network, weights, X, 0, cells), network.tangents(weights, X)
        for k, (name, i, j) in enumerate(cells):
            left, right = factors[name]
            column = sum(np.outer(L[:, i], R[j]) for L, R in zip(left, right, strict=True))
            for ball, value in zip(balls[:, k], column.ravel(), strict=True):
                assert ball.contains(int(value))
                assert ball.rad() == 0
