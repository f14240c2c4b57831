"""Pencils of sections on curves that are known in closed form."""

import numpy as np
import pytest

from matchprob import Allocation, LinearEstimator, LinearRNN
from numeric.equations.arrays import labels
from numeric.equations.chain import make_chain
from numeric.tracking.label_curve import LabelCurve
from numeric.tracking.monodromy import find_start
from numeric.tracking.pencils import (
    Pencil,
    distinct_indices,
    gaussian,
    move_points,
    random_section,
    trace_residual,
)


def line_curve(seed=0):
    """A linear estimator with one weight: the curve is a line, its sections have two points."""
    chain = make_chain(Allocation.from_cells(LinearEstimator(q=2, d=1, m=1), [("W", 0, 1)]))
    rng = np.random.default_rng(seed)
    parameters, root = chain.random(rng)
    return LabelCurve(chain, parameters, gaussian(rng, 1)), root, rng


def both_points(curve, root, at_infinity):
    """The section λ(w) t = 0 of that line, in closed form."""
    (label,), ((slope,),) = (
        x[0] for x in labels(curve.of, curve.parameters, np.zeros((1, 1), complex))
    )
    start = labels(curve.of, curve.parameters, root[None])[0][0, 0]
    w = -at_infinity[0] / at_infinity[1]
    t = (label + slope * w - start) / curve.direction[0]
    return np.array([[root[0], 0], [w, t]])


def test_the_sum_over_all_points_is_linear():
    """The sum of both points of a section is linear in the parameter, each point is not."""
    curve, root, rng = line_curve()
    pencil = Pencil(curve, gaussian(rng, 2), gaussian(rng, 2))
    points = both_points(curve, root, pencil.at_infinity)
    assert np.abs(curve.system(points, pencil.known)[0]).max() < 1e-12
    values = gaussian(rng, 3)
    residual, noise, share = trace_residual(pencil, points, values, rng)
    assert residual <= 100 * noise < 1e-12
    assert share == pytest.approx(0.5)
    for k in (0, 1):
        residual, noise, share = trace_residual(pencil, points[k : k + 1], values, rng)
        assert (residual, share) == pytest.approx((1, 1))


def test_sections_tend_to_the_known_one():
    """Divided by the parameter s, the sections tend to λ(w) t as s grows."""
    curve, _, rng = line_curve()
    pencil = Pencil(curve, gaussian(rng, 2), gaussian(rng, 2))
    far = np.clongdouble(1e12)
    assert np.allclose((pencil.section(far) / far).astype(complex), pencil.known, atol=1e-10)


def test_errors_of_coordinates():
    """The propagated error of w/λ(w) agrees with a difference."""
    curve, _, rng = line_curve()
    pencil = Pencil(curve, gaussian(rng, 2), gaussian(rng, 2))
    z, step = gaussian(rng, 4, 2), 1e-7 * gaussian(rng, 4, 2)
    x, change = pencil.coordinates(z, step)
    moved, _ = pencil.coordinates(z + step, step)
    assert np.allclose(np.abs(moved - x), change, rtol=1e-4)


def test_distinct_points():
    """Of equal points the first is kept, NaN is dropped, near but different points are kept."""
    points = np.array([[1, 2], [1, 2 + 1e-9], [np.nan, 1], [1, 2.001], [1e6, 0], [1e6 + 1e-3, 0]])
    assert distinct_indices(points.astype(complex)).tolist() == [0, 3, 4]
    assert distinct_indices(np.empty((0, 2), complex)).tolist() == []


def test_points_are_tracked_to_another_section():
    """Three points of a section end in three distinct points of the other."""
    network = LinearRNN(n=3, T=2, b=1, d=2, m=2)
    cells = [("W", 0, 0), ("W", 1, 1), ("B", 0, 0), ("B", 2, 0)]
    chain = make_chain(Allocation.from_cells(network, cells))
    rng = np.random.default_rng(1)
    start = find_start(chain, 3, 1)
    parameters = start.parameters
    curve = LabelCurve(chain, parameters, gaussian(rng, 4))
    at_infinity = gaussian(rng, 5)
    points = np.column_stack([start.roots, np.zeros(3)])
    known, after = Pencil(curve, at_infinity, at_infinity).known, random_section(rng, 4)
    arrived = move_points(curve, points, known, after, rng)
    assert len(arrived) == len(distinct_indices(arrived)) == 3
    assert np.abs(curve.system(arrived, after)[0]).max() < 1e-7
