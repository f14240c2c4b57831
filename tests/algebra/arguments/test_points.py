"""Points given as a parametrization: distinct, simple, solutions, none of them real."""

import pytest
import sympy
from flint import fmpq_mpoly_ctx, fmpz, fmpz_poly
from hypothesis import assume, given
from hypothesis import strategies as st

from algebra.arguments.points import check_points, sturm_count
from algebra.checker.checks import PROVED, CheckFailed
from algebra.polynomials.parametrization import Parametrization

RING = fmpq_mpoly_ctx.get(("x", "y"), "degrevlex")
X, Y = RING.gens()


def points(w, *numerators):
    """Points (N(t) / w'(t)) with denominator 1."""
    return Parametrization(
        fmpz_poly(w), fmpz_poly([1]), fmpz(1), tuple(fmpz_poly(n) for n in numerators)
    )


def said(equations, given, expected):
    lines = []
    check_points(equations, given, expected, 1, "place", lambda *line: lines.append(line))
    return lines


def test_two_conjugate_points_are_proved():
    """x² + 1 = 0, y = 2x: the points (±i, ±2i)."""
    lines = said([X**2 + 1, Y - 2 * X], points([1, 0, 1], [0, 1], [0, 2]), 2)
    assert [line[:2] for line in lines] == [("place", PROVED)] * 2


@pytest.mark.parametrize(
    ("equations", "given", "expected", "words"),
    [
        # They are real.
        ([X**2 - 2, Y - X], points([-2, 0, 1], [0, 1], [0, 1]), 2, "real roots"),
        # The claimed number is another one.
        ([X**2 + 1, Y - X], points([1, 0, 1], [0, 1], [0, 1]), 4, "not 4"),
        # They do not solve the second equation.
        ([X**2 + 1, Y - X], points([1, 0, 1], [0, 1], [0, 2]), 2, "do not solve"),
        # One point twice: t ↦ (0, 0).
        ([X**2, Y], points([1, 0, 1], [0], [0]), 2, "not distinct"),
        # (x² + 1)² has multiple roots.
        ([(X**2 + 1) ** 2, Y - X], points([1, 0, 1], [0, 1], [0, 1]), 2, "not simple"),
    ],
)
def test_other_points_are_refused(equations, given, expected, words):
    """Real, too few, wrong, equal or multiple points prove nothing."""
    with pytest.raises(CheckFailed, match=words):
        said(equations, given, expected)


@given(st.lists(st.integers(-9, 9) | st.integers(-(10**30), 10**30), min_size=2, max_size=12))
def test_real_roots_are_counted_as_by_sympy(coefficients):
    """The number of real roots of a squarefree polynomial is that of SymPy."""
    w = fmpz_poly(coefficients)
    assume(w.degree() > 0 and w.gcd(w.derivative()).degree() == 0)
    other = sympy.Poly(coefficients[::-1], sympy.Symbol("t"))
    assert sturm_count(w) == other.count_roots()
