"""Training: gradients compared with differences, which parameters change and which do not."""

import numpy as np
import pytest
from matchprob.plugins.papers.figures.papers.normalization_training import (
    NORMALIZATION,
    SCHEDULES,
    SGD,
    WEIGHTS,
    Momentum,
    SumNet,
    gradients,
    train,
)

from tests.refusals import refuses


@pytest.fixture
def rng():
    """The same numbers for each test, whichever ran before."""
    return np.random.default_rng(0)


def example(rng):
    """A net of two layers with random scales and shifts, and samples."""
    weights = (rng.standard_normal((4, 3)), rng.standard_normal((2, 4)))
    net = SumNet(
        weights,
        tuple(rng.standard_normal(len(W)) for W in weights),
        tuple(rng.standard_normal(len(W)) + 0.5 for W in weights),
    )
    return net, rng.standard_normal((3, 40)), rng.standard_normal(40)


def test_gradients_are_the_differences(rng):
    """Every partial derivative is the central difference quotient of the error."""
    net, X, y = example(rng)
    loss, *slopes = gradients(net, X, y)
    assert np.isclose(loss, net.mse(X, y))
    for name, slope in zip(("weights", "scales", "shifts"), slopes, strict=True):
        for k, array in enumerate(getattr(net, name)):
            for index in np.ndindex(array.shape):
                kept = array[index]
                ends = []
                for move in (1e-6, -1e-6):
                    array[index] = kept + move
                    ends.append(net.mse(X, y))
                array[index] = kept
                assert np.isclose(slope[k][index], (ends[0] - ends[1]) / 2e-6, atol=1e-6)


@pytest.mark.parametrize("what", [WEIGHTS, NORMALIZATION])
def test_training_lowers_the_error_and_keeps_the_rest(what, rng):
    """The error decreases; frozen parts are unchanged, to single precision."""
    net, X, _ = example(rng)
    y = SumNet.of((rng.standard_normal((4, 3)),))(X)
    done = train(net, X, y, what, epochs=60, batch=8, rate=0.02)
    assert done.mse(X, y) < 0.5 * net.mse(X, y)
    frozen = "scales" if what == WEIGHTS else "weights"
    for old, new in zip(getattr(net, frozen), getattr(done, frozen), strict=True):
        assert np.array_equal(old.astype(np.float32), new)
    assert not np.allclose(net.shifts[0], done.shifts[0])


def test_same_seed_same_net(rng):
    """Training is reproducible."""
    net, X, y = example(rng)
    first, second = (train(net, X, y, WEIGHTS, epochs=2, seed=5) for _ in range(2))
    assert np.array_equal(first.weights[0], second.weights[0])


def test_wrong_choice_is_told(rng):
    """Only weights or normalization can be trained."""
    net, X, y = example(rng)
    refuses("what", train, net, X, y, "everything")


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_stochastic_gradients(schedule, rng):
    """SGD lowers the error with every schedule; its steps are sums of slopes with factors 0.9^k."""
    net, X, _ = example(rng)
    y = SumNet.of((rng.standard_normal((4, 3)),))(X)
    done = train(
        net, X, y, NORMALIZATION, method=SGD, schedule=schedule, epochs=60, batch=8, rate=0.003
    )
    assert done.mse(X, y) < 0.5 * net.mse(X, y)
    slopes = rng.standard_normal((5, 3)).astype(np.float32)
    state = Momentum(slopes[0])
    for t, slope in enumerate(slopes):
        step = state.step(slope, np.float32(0.1))
        past = sum(0.9 ** (t - k) * slopes[k] for k in range(t + 1))
        assert np.allclose(step, 0.1 * past, rtol=1e-5)
        assert step.dtype == np.float32


def test_schedules():
    """The rate starts at its value and ends there, at a hundredth, or at a tenth."""
    ends = {name: factor(1.0) for name, factor in SCHEDULES.items()}
    assert all(np.isclose(factor(0.0), 1) for factor in SCHEDULES.values())
    assert ends == pytest.approx({"constant": 1, "cosine": 0.01, "exponential": 0.1})
