"""The label curve: residuals and Jacobian against differences; tracking to other sections."""

import numpy as np
import pytest

from numeric.equations.chain import make_chain
from numeric.tracking.label_curve import LabelCurve, track_sections
from tests.numeric.equations.cases import cases

CASES = cases()


def gaussian(rng, *shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def curve_of(allocation, seed=0):
    chain = make_chain(allocation)
    rng = np.random.default_rng(seed)
    parameters, root = chain.random(rng)
    return LabelCurve(chain, parameters, gaussian(rng, chain.unknowns)), root, rng


def test_system_is_the_curve_and_the_section():
    """Residuals and Jacobian agree with the definition and with differences."""
    curve, root, rng = curve_of(CASES[7][0])
    r = curve.unknowns
    Q, z = gaussian(rng, r + 1, 2), gaussian(rng, 2, r + 1)
    residual, derivative = curve.system(z, Q)
    one = np.concatenate([np.ones((2, 1)), z[:, :r]], axis=1)
    line = np.stack([np.ones(2), z[:, r]], axis=1)
    assert np.allclose(residual[:, r], np.einsum("ki,ij,kj->k", one, Q, line))
    step = 1e-6 * gaussian(rng, r + 1)
    change = curve.system(z + step, Q)[0] - curve.system(z - step, Q)[0]
    assert np.allclose(change / 2, derivative @ step, rtol=1e-6, atol=1e-12)
    on_curve = np.append(root, 0)[None]
    assert np.abs(curve.system(on_curve, Q)[0][0, :r]).max() < 1e-10


@pytest.mark.parametrize("careful", [False, True])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_tracking_arrives_on_the_section(case, careful):
    """A path ends on the curve and on the target section, and the reverse path at its start."""
    curve, root, rng = curve_of(CASES[case][0], seed=4)
    r = curve.unknowns
    start = np.append(root, 0)[None]
    Q0, Q1 = gaussian(rng, r + 1, 2), gaussian(rng, r + 1, 2)
    Q0[0, 0] -= np.append(1, root) @ Q0[:, 0]  # the start lies on this section
    there = track_sections(curve, start, Q0, Q1, careful=careful)
    assert np.isfinite(there).all()
    assert np.abs(curve.system(there, Q1)[0]).max() < 1e-8
    back = track_sections(curve, there, Q1, Q0, careful=careful)
    assert np.allclose(back, start, atol=1e-8)


def test_a_start_of_nan_ends_in_nan():
    """A path that starts at NaN ends in NaN and does not change the other paths."""
    curve, root, rng = curve_of(CASES[0][0])
    r = curve.unknowns
    Q0, Q1 = gaussian(rng, r + 1, 2), gaussian(rng, r + 1, 2)
    Q0[0, 0] -= np.append(1, root) @ Q0[:, 0]
    good = np.append(root, 0)
    ends = track_sections(curve, np.array([good, np.full(r + 1, np.nan)]), Q0, Q1)
    assert np.isfinite(ends[0]).all()
    assert np.isnan(ends[1]).all()
    assert np.allclose(ends[0], track_sections(curve, good[None], Q0, Q1)[0])


def test_singular_points_are_not_refined():
    """If the section is zero Newton's step does not exist: NaN without an exception."""
    curve, root, _ = curve_of(CASES[0][0])
    zero = np.zeros((curve.unknowns + 1, 2), complex)
    assert np.isnan(curve.refine(np.append(root, 0)[None], zero)).all()


def test_sharpening_reduces_the_error():
    """Points are closer to the curve than the precision of doubles, with a good error estimate."""
    curve, root, rng = curve_of(CASES[9][0], seed=2)
    r = curve.unknowns
    Q = gaussian(rng, r + 1, 2)
    Q[0, 0] -= np.append(1, root) @ Q[:, 0]
    disturbed = np.append(root, 0)[None] + 1e-7 * gaussian(rng, 1, r + 1)
    points, errors = curve.sharpen(disturbed, Q)
    epsilon = float(np.finfo(np.longdouble).eps)
    assert np.abs(curve.system(points, Q)[0]).max() < 1e4 * epsilon
    assert np.abs(errors).max() < 1e6 * epsilon
