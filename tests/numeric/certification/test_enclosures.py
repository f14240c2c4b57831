"""Real solutions between exact ends: each box holds its solution and no other."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matchprob as mp
from algebra.polynomials.msolve.solver import real_roots
from algebra.polynomials.parametrization import are_disjoint
from algebra.systems.enclosure import weight_boxes
from algebra.systems.instances import rational_core, rational_instance
from numeric.certification.enclosures import exact_text

NET = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
DIAGONAL = mp.Problem(NET, {"W": [[1, 0], [0, 1]]})
# The row of two weights is solved last, from the core's unknown.
DEFERRED = mp.Problem(
    mp.LinearRNN(n=3, T=2, b=1, d=2, m=2), {"W": [[1, 0, 1], [0, 0, 1], [0, 1, 0]]}
)


def residuals(problem, index, seed, box):
    """Smallest and largest error of each label while the weights go through a box's corners."""
    instance = mp.draw_instance(problem, seed, index)
    weights, X, Y = instance.exact
    errors = []
    cells = instance.allocation.cells
    for corner in np.ndindex(*(2,) * len(cells)):
        student = {name: value.copy() for name, value in weights.items()}
        for (name, i, j), side, ends in zip(cells, corner, box, strict=True):
            end = ends[side]
            student[name][i, j] = type(X.flat[0])(end.numerator, end.denominator)
        errors.append((problem.network.forward(student, X) - Y).ravel())
    return np.array(errors)


def test_rational_boxes_hold_the_solutions_of_b11():
    """Ends of decimals; the labels' errors change sign over the box's corners, or are tiny."""
    found = mp.count(DIAGONAL, 6, engine="exact")
    boxes = mp.enclosures(found)
    assert sum(map(len, boxes)) == sum(c.real for c in found.instances)
    for count, own in zip(found.instances, boxes, strict=True):
        assert are_disjoint([one.box for one in own])
        for one, weights in zip(own, count.solutions, strict=True):
            assert one.how == "rational"
            for (low, high), w in zip(one.box, weights, strict=True):
                assert low <= Fraction(w) + Fraction(1, 10**14)
                assert high >= Fraction(w) - Fraction(1, 10**14)
                assert 0 < high - low < Fraction(1, 10**13)
            errors = residuals(DIAGONAL, count.index, 0, one.box)
            assert all(abs(e) < 1e-9 for e in map(float_of, errors.ravel()))


def solved(problem, student, teacher, X):
    Y = problem.network.forward(teacher, X)
    return real_roots(rational_core(problem.allocation, student, X, Y).equations)


def float_of(value):
    return int(value.p) / int(value.q)


def test_engines_agree_on_where_solutions_lie():
    """Krawczyk's polydiscs and the rational boxes meet, one by one."""
    exact = mp.count(DIAGONAL, 5, engine="exact")
    tracked = mp.count(DIAGONAL, 5, engine="homotopy")
    for own, others in zip(mp.enclosures(exact), mp.enclosures(tracked), strict=True):
        assert len(own) == len(others)
        for one, other in zip(own, others, strict=True):
            assert other.how == "certified"
            assert not are_disjoint([one.box, other.box])


def test_a_linear_solution_is_its_own_box():
    """A rational solution is given exactly: both ends are it."""
    found = mp.count(mp.Problem(NET, {"W": [[1, 1], [0, 0]]}), 2, engine="exact")
    for count, own in zip(found.instances, mp.enclosures(found), strict=True):
        (one,) = own
        assert all(low == high for low, high in one.box)
        assert not residuals(found.problem, count.index, 0, one.box).any()


def test_deferred_blocks_are_solved_in_balls():
    """Weights that follow from a linear block after the core are enclosed too."""
    student, teacher, X = next(
        drawn
        for drawn in (rational_instance(DEFERRED, 0, k) for k in range(50))
        if solved(DEFERRED, *drawn).roots
    )
    Y = DEFERRED.network.forward(teacher, X)
    core = rational_core(DEFERRED.allocation, student, X, Y)
    assert core.deferred
    roots = real_roots(core.equations)
    boxes = weight_boxes(core, roots)
    assert boxes is not None
    assert len(boxes) == len(roots.roots)
    whole = rational_core(DEFERRED.allocation, student, X, Y, defer=False)
    again = weight_boxes(whole, real_roots(whole.equations))
    assert again is not None
    assert len(again) == len(boxes)
    for box in boxes:
        assert sum(not are_disjoint([box, other]) for other in again) == 1


def test_relu_solutions_are_rational_points():
    """The complementarity engine's solutions are exact."""
    relu = mp.Problem(mp.ShallowReLU(q=2, n=2, d=1, m=2), {"W1": [[1, 1], [0, 0]]})
    found = mp.count(relu, 6)
    points = [one for own in mp.enclosures(found) for one in own]
    assert points
    assert all(low == high for one in points for low, high in one.box)


def test_counts_without_solutions_have_no_boxes():
    """Without real solutions there is nothing to enclose; a result needs its problem."""
    found = mp.count(mp.Problem(NET, {"W": [[1, 0], [0, 0]]}), 2)
    assert mp.enclosures(found) == [[], []]
    with pytest.raises(mp.InputError, match="does not contain its problem"):
        mp.enclosures(
            mp.CountResult(
                "exact", 0, None, (mp.InstanceCount(0, 1, 1, "complete", solutions=((1.0,),)),)
            )
        )


@given(st.fractions(max_denominator=10**6) | st.decimals(-9, 9, places=12).map(Fraction))
def test_ends_are_written_exactly(value):
    """A text of an end is that rational."""
    assert Fraction(exact_text(value)) == value
