"""Minimal polynomials of the weights of solutions, against their enclosures, SymPy and by hand."""

from fractions import Fraction

import pytest
import sympy
from flint import fmpq, fmpq_mpoly_ctx, fmpz_poly

import matchprob as mp
from algebra.arguments.minimal_polynomials import minimal_polynomials, polynomial_text
from algebra.polynomials.msolve.solver import real_roots
from algebra.systems.enclosure import weight_boxes
from algebra.systems.instances import rational_core, rational_instance
from matchprob import LinearRNN, Problem

CASES = {
    "two unknowns or fewer": Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]}),
    "a deferred block": Problem(
        LinearRNN(n=3, T=2, b=1, d=2, m=2), {"W": [[1, 0, 1], [0, 0, 1], [0, 1, 0]]}
    ),
    "linear": Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]}),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("index", range(4))
def test_polynomials_are_irreducible_and_vanish_in_the_boxes(name, index):
    """SymPy finds one factor, primitive; each changes sign over its weight's box, or is zero there.

    So each has a root in the box; the degrees divide a number of conjugate solutions.
    """
    problem = CASES[name]
    student, teacher, X = rational_instance(problem, 3, index)
    core = rational_core(problem.allocation, student, X, problem.network.forward(teacher, X))
    roots = real_roots(core.equations) if core.equations else None
    if roots is None:
        found = mp.count(problem, 2, engine="exact")
        polynomials = [row for own in mp.minimal_polynomials(found) for row in own]
        boxes = [box for count in found.instances for box in count.boxes]
    else:
        polynomials, boxes = minimal_polynomials(core, roots), weight_boxes(core, roots)
    assert len(polynomials) == len(boxes)
    for row, box in zip(polynomials, boxes, strict=True):
        for polynomial, (low, high) in zip(row, box, strict=True):
            content, factors = sympy.factor_list(sympy.sympify(polynomial_text(polynomial)))
            assert (content, [power for _, power in factors]) == (1, [1])
            assert polynomial.leading_coefficient() > 0
            values = [polynomial(fmpq(x.numerator, x.denominator)) for x in (low, high)]
            assert values[0] * values[1] <= 0
            if low == high:
                assert polynomial == fmpz_poly([-low.numerator, low.denominator])
            assert roots is None or polynomial.degree() <= roots.complex


def test_conjugate_solutions_are_told_apart():
    """(w − 1)(w² − 2) = 0 and v = w²: the rational solution has degree 1, v is 2 at the others."""
    w, v = fmpq_mpoly_ctx.get(("w", "v"), "degrevlex").gens()
    roots = real_roots([(w - 1) * (w**2 - 2), v - w**2])
    template = CASES["two unknowns or fewer"]
    student, teacher, X = rational_instance(template, 0, 0)
    made = rational_core(template.allocation, student, X, template.network.forward(teacher, X))
    core = type(made)(
        **{
            **vars(made),
            "unknowns": ("w", "v"),
            "equations": (w, v),
            "stage_unknowns": ("w", "v"),
            "deferred": (),
            "stage_images": (w, v),
            "core_images": (w, v),
        }
    )
    found = dict(zip(roots.roots, minimal_polynomials(core, roots), strict=True))
    one, two, root = fmpz_poly([-1, 1]), fmpz_poly([-2, 1]), fmpz_poly([-2, 0, 1])
    for ((low, high), _), row in found.items():
        assert row == ((one, one) if low <= 1 <= high else (root, two))
    assert len(found) == 3
    assert sum(low <= Fraction(1) <= high for ((low, high), _) in found) == 1
