"""Optimizers, compared with closed forms and SciPy; batches do not change the runs."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from matchprob import LinearEstimator, Problem, ShallowReLU, draw_instance
from numeric.programs.descent import (
    ENOUGH,
    OPTIMIZERS,
    Adam,
    adahessian,
    find_optimizer,
    gradient_descent,
    half_cosine,
    stochastic_descent,
)
from numeric.programs.losses import Loss
from numeric.programs.students import Students, starts_of
from tests.refusals import refuses
from tests.samples import DIAGONAL, LONG


def batch(problem, count, starts=1):
    """The loss of a batch of instances, and its starts."""
    instances = [draw_instance(problem, 0, k) for k in range(count)]
    w = np.concatenate([starts_of(i, starts) for i in instances])
    return Loss(Students.of(instances, starts)), w


def test_gradient_descent_of_a_quadratic():
    """On a linear estimator 40 steps multiply the error by the 40th power of I - rate H."""
    problem = Problem(LinearEstimator(q=3, d=2, m=4), {"W": "all"})
    loss, w = batch(problem, 3)
    found = gradient_descent(loss, w, 40, 0.2)
    for k in range(3):
        X, Y = loss.students.X[k], loss.students.Y[k]
        H = 2 / Y.size * X @ X.T
        best = Y @ np.linalg.pinv(X)
        power = np.linalg.matrix_power(np.eye(3) - 0.2 * H, 40)
        assert np.allclose(found.ends[k].reshape(2, 3), best + (w[k].reshape(2, 3) - best) @ power)
    assert found.steps.tolist() == [40, 40, 40]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_run_in_a_batch_ends_as_alone(name):
    """A run has the same end and the same number of steps alone and in a batch."""
    chosen = find_optimizer(name)
    loss, w = batch(DIAGONAL, 12, 2)
    rate = chosen.rate or math.nan
    # Its Hessians take time.
    steps = 600 if name == "adahessian" and not LONG else 1500
    together = chosen.descend(loss, w, steps, rate)
    assert len(set(together.steps.tolist())) > 2
    for k in (0, 5, 11, 23) if LONG else (5, 23):
        rows = np.array([k])
        alone = chosen.descend(loss.take(rows), w[rows], steps, rate)
        assert np.allclose(alone.ends[0], together.ends[k], rtol=1e-9, equal_nan=True)
        assert alone.steps[0] == together.steps[k]
    ended = np.flatnonzero(np.isfinite(together.mse))
    assert len(ended) > 15
    errors, _ = loss.take(ended).slope(together.ends[ended])
    assert np.allclose(errors, together.mse[ended], rtol=1e-9)
    size = (loss.students.Y**2).mean(axis=(1, 2))
    # Levenberg-Marquardt also stops if no step decreases the loss.
    if name != "levenberg-marquardt":
        over = (together.mse <= ENOUGH**2 * size) | ~np.isfinite(together.mse)
        assert ((together.steps == steps) | over).all()


def test_levenberg_marquardt_ends_at_a_minimum_of_scipy():
    """From its ends SciPy's least squares finds no lower loss."""
    loss, w = batch(DIAGONAL, 20)
    found = OPTIMIZERS["levenberg-marquardt"].descend(loss, w, 200, math.nan)
    for k, end in enumerate(found.ends):
        one = loss.take(np.array([k]))
        best = least_squares(lambda v, one=one: one.errors(v[None]).ravel(), end, xtol=1e-14)
        assert 2 * best.cost / 2 >= found.mse[k] - 1e-6 * (1 + found.mse[k])


def test_diverging_runs_end_early():
    """With too large a step a run's loss is not finite, and it ends before the last step."""
    loss, w = batch(DIAGONAL, 6)
    found = gradient_descent(loss, w, 2000, 50.0)
    lost = ~np.isfinite(found.mse)
    assert lost.any()
    assert (found.steps[lost] < 2000).all()


def test_unknown_optimizers_are_refused():
    """The message lists the known names."""
    refuses("gd, sgd, adam, adahessian, levenberg-marquardt", find_optimizer, "newton")


@pytest.mark.parametrize(("kind", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_steps_are_those_of_the_paper(kind, tolerance):
    """Each step is that of Algorithm 1 of Kingma and Ba; the precision of the variables is kept."""
    slopes = np.random.default_rng(0).standard_normal((20, 3)).astype(kind)
    state = Adam(slopes[0], 1e-8)
    for t, slope in enumerate(slopes, 1):
        step = state.step(slope, kind(0.1))
        assert step.dtype == kind
        past = slopes[:t].astype(float)
        first = sum(0.1 * 0.9 ** (t - 1 - k) * g for k, g in enumerate(past)) / (1 - 0.9**t)
        second = sum(1e-3 * 0.999 ** (t - 1 - k) * g**2 for k, g in enumerate(past))
        assert np.allclose(
            step, 0.1 * first / (np.sqrt(second / (1 - 0.999**t)) + 1e-8), rtol=tolerance
        )


def test_a_quadratic_is_minimised():
    """With a falling rate the minimum of an ill-conditioned quadratic is reached."""
    scale, w = np.array([1.0, 100.0]), np.array([3.0, -2.0])
    state = Adam(w)
    for t in range(2000):
        w = w - state.step(scale * w, 0.1 * (1 - t / 2000))
    assert np.abs(w).max() < 1e-6


def test_adahessian_scales_each_weight_by_its_own_curvature():
    """The first step of a quadratic in separate weights is Newton's, times the rate."""
    problem = Problem(LinearEstimator(q=2, d=1, m=2), {"W": [[1, 1]]})
    loss, w = batch(problem, 8)
    # Samples on the axes: the Hessian is diagonal, with a different curvature for each weight.
    X = np.repeat(np.diag([3.0, 0.1])[None], len(w), axis=0)
    loss = Loss(replace(loss.students, X=X))
    curvature = np.array([9.0, 0.01])
    _, slope = loss.slope(w)
    moved = w - adahessian(loss, w, 1, 0.15).ends
    expected = half_cosine(0.15, 1, 1) * slope / (curvature + 1e-4)
    assert np.allclose(moved, expected, rtol=1e-5)


def test_adahessian_finds_matches_of_relu_nets():
    """Most runs of a ReLU net that Levenberg-Marquardt solves, AdaHessian solves too."""
    loss, w = batch(Problem(ShallowReLU(q=3, n=4, d=1, m=3), {"W1": "all"}), 30)
    solved = [
        np.flatnonzero(OPTIMIZERS[name].descend(loss, w, 800, 0.15).mse < 1e-4)
        for name in ("levenberg-marquardt", "adahessian")
    ]
    assert len(solved[1]) > len(solved[0]) / 2 > 0


def test_the_slope_of_some_samples_is_that_of_a_network_with_these():
    """The slope of the columns seen is the full slope of the loss of these samples."""
    problem = Problem(ShallowReLU(q=3, n=4, d=2, m=5), {"W1": "all"})
    loss, w = batch(problem, 4)
    seen = np.array([3, 0])
    part = replace(
        loss.students,
        network=problem.network.with_samples(2),
        X=loss.students.X[:, :, seen],
        Y=loss.students.Y[:, :, seen],
    )
    whole, own = loss.slope(w, seen), Loss(part).slope(w)
    assert np.allclose(whole[1], own[1])
    assert np.allclose(whole[0], loss.slope(w)[0])


def test_stochastic_steps_have_momentum_and_average_to_the_gradient():
    """The first step is that of some samples; the second adds nine tenths of it; means are full."""
    problem = Problem(LinearEstimator(q=2, d=1, m=2), {"W": [[1, 1]]})
    loss, w = batch(problem, 6)
    one, two = (stochastic_descent(loss, w, steps, 0.01).ends for steps in (1, 2))
    slopes = [loss.slope(w, np.array([k]))[1] for k in range(2)]
    assert np.allclose((slopes[0] + slopes[1]) / 2, loss.slope(w)[1])
    assert any(np.allclose(w - one, 0.01 * slope) for slope in slopes)
    after = [loss.slope(one, np.array([k]))[1] for k in range(2)]
    assert any(np.allclose(one - two, 0.9 * (w - one) + 0.01 * slope) for slope in after)


def test_stochastic_descent_converges_to_matches():
    """At a match all samples' gradients vanish: runs end at relative errors below 1e-10."""
    loss, w = batch(Problem(LinearEstimator(q=3, d=2, m=3), {"W": "all"}), 10)
    found = stochastic_descent(loss, w, 10_000, 0.05)
    size = (loss.students.Y**2).mean(axis=(1, 2))
    assert (found.mse < 1e-16 * size).sum() >= 3
