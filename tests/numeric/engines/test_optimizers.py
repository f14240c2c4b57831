"""Optimizers of ReLU nets: derivatives, endpoints, and the paper's verdict."""

import numpy as np
import pytest

from algebra.errors import InputError
from numeric.engines.optimizers import METHODS, FirstLayerLoss, OptimizerEngine, adam, damped
from numeric.relu.decide import decide
from numeric.relu.decision import MATCH
from tests.numeric.relu.cases import instances, problem
from tests.samples import many

MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]
CASE = problem(3, 4, 2, 3, W1=MASK)


def test_derivatives_are_differences():
    """Gradient and Jacobian agree with finite differences."""
    loss = FirstLayerLoss.of(instances(CASE, 1)[0])
    rng = np.random.default_rng(0)
    w = rng.normal(size=(1, 6))
    value, slope = loss.gradient(w)
    errors, J = loss.jacobian(w)
    for t in range(6):
        step = np.zeros((1, 6))
        step[0, t] = 1e-6
        up, down = loss.gradient(w + step)[0], loss.gradient(w - step)[0]
        assert (up - down)[0] / 2e-6 == pytest.approx(slope[0, t], abs=1e-5)
        change = loss.jacobian(w + step)[0] - loss.jacobian(w - step)[0]
        assert np.allclose(change[0] / 2e-6, J[0, :, t], atol=1e-5)
    assert value[0] == pytest.approx((errors**2).mean())


def test_loss_is_that_of_the_network():
    """The errors are those of the student's labels."""
    instance = instances(CASE, 1)[0]
    loss = FirstLayerLoss.of(instance)
    mask = np.array(MASK) != 0
    w = instance.weights["W1"][mask]
    student = instance.weights["W2"] @ np.maximum(instance.weights["W1"] @ instance.X, 0)
    assert np.allclose(loss.residual(w[None])[0][0], student - instance.labels)


@pytest.mark.parametrize("method", [adam, damped])
def test_loss_falls(method):
    """No start ends above its first loss, and some end far below."""
    loss = FirstLayerLoss.of(instances(CASE, 3)[2])
    starts = np.random.default_rng(1).normal(size=(30, 6))
    before, after = loss.gradient(starts)[0], loss.gradient(method(loss, starts))[0]
    assert (after <= before + 1e-9).mean() > 0.95
    assert after.min() < 0.5 * before.min()


@pytest.mark.parametrize("method", METHODS)
def test_matched_means_a_witness(method):
    """A trial counts as matched only with an exact witness, and never contrary to the decision."""
    engine = OptimizerEngine(method, starts=30)
    found = 0
    for instance, count in zip(
        instances(CASE, many(30)), engine.count_many(instances(CASE, many(30))), strict=True
    ):
        assert count.status == "undetermined"
        assert count.paper_match is not None
        if count.real:
            assert decide(instance).verdict == MATCH
            found += 1
    assert found > 0


def test_same_seed_same_endpoints():
    """Starts are derived from seed and number of the instance."""
    one, two = (
        OptimizerEngine("levenberg-marquardt", starts=5).count_many(instances(CASE, 2))
        for _ in range(2)
    )
    assert [c.note for c in one] == [c.note for c in two]


def test_unknown_methods_are_refused():
    """The message lists the known names."""
    with pytest.raises(InputError, match="adam"):
        OptimizerEngine("newton")
