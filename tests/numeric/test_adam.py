"""Adam's steps compared with the formulas of its paper, and their convergence to a minimum."""

import numpy as np
import pytest

from numeric.adam import Adam


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
