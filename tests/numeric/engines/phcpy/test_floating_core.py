"""Rounded cores: the same weights as exact back-substitution."""

import math

import numpy as np
from flint import fmpq

from algebra.linalg.numbers import nearest_double
from matchprob import LinearRNN, Problem, draw_instance
from numeric.engines.exact import exact_core
from numeric.engines.phcpy.floating_core import FloatingCore, scaled_terms

PROBLEM = Problem(
    LinearRNN(n=4, T=2, b=1, d=2, m=3),
    {"W": [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]},
)


def test_weights_equal_exact_back_substitution():
    """At a rational point of the core ring both computations give the same weights."""
    for index in range(5):
        core = exact_core(draw_instance(PROBLEM, 0, index))
        rounded = FloatingCore(core)
        point = [fmpq(k + 1, 3) for k in range(len(core.unknowns))]
        exact = core.back_substitute(point)
        found = rounded.weights([nearest_double(x) for x in point])
        assert exact is not None
        assert found is not None
        assert np.allclose([nearest_double(w) for w in exact], found, rtol=1e-8)


def test_scaled_terms():
    """The largest coefficient is 1 in modulus, the polynomial is the same up to a factor."""
    core = exact_core(draw_instance(PROBLEM, 0, 0))
    for equation, terms in zip(core.equations, FloatingCore(core).terms, strict=True):
        assert terms == scaled_terms(equation)
        assert max(map(abs, terms.values())) == 1
        ratios = {
            round(nearest_double(c) / terms[tuple(map(int, m))], 9)
            for m, c in equation.to_dict().items()
            if abs(terms[tuple(map(int, m))]) > 1e-9
        }
        assert max(ratios) - min(ratios) < 1e-6 * max(1, abs(max(ratios)))


def test_huge_rationals_round():
    """Numerators and denominators beyond the range of doubles are handled."""
    assert math.isclose(nearest_double(fmpq(3 * 10**400, 2 * 10**400)), 1.5)
