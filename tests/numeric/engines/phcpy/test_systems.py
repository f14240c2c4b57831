"""Reading, scaling and writing of polynomial systems for PHCpack."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from numeric.engines.phcpy.systems import PhcSystem
from tests.numeric.engines.phcpy.polynomials import read
from tests.refusals import refuses

coefficients = st.integers(-9, 9).filter(bool)
monomials = st.tuples(st.integers(0, 3), st.integers(0, 3))
LINE = {(1,): 1.0, (0,): -1.0}
polynomials = st.dictionaries(monomials, coefficients, min_size=1, max_size=6)


@given(st.lists(polynomials, min_size=2, max_size=2), st.integers(-900, 900))
def test_scaling_is_exact(pair, exponent):
    """Equations times a power of two give the same lines, with coefficients between 1/2 and 1."""
    system = PhcSystem.read(pair, ["a", "b"])
    if system.status != "square":
        return
    scaled = [{a: math.ldexp(c, exponent) for a, c in terms.items()} for terms in pair]
    assert PhcSystem.read(scaled, ["a", "b"]).lines() == system.lines()
    for row in system.coefficients:
        assert 0.5 <= max(abs(row.real).max(), abs(row.imag).max()) < 1


@pytest.mark.parametrize("precision", ["d", "dd", "qd"])
def test_lines_have_the_same_doubles(precision):
    """The lines sent to phcpy have the coefficients' exact values and the names x0, x1, …"""
    given_ = {(2, 0): 0.1, (1, 1): -1 / 3 + 0.7j, (0, 0): 1e-30}
    system = PhcSystem.read([given_, {(0, 1): 1, (1, 0): -1}], ["u", "v"])
    line = system.lines(precision)[0]
    assert line.startswith("x0-x0+x1-x1")
    assert line.endswith(";")
    exact = line.replace("^", "**").replace("i", "sympy.I")
    exact = re.sub(r"\d\.\d+e[+-]\d+", lambda m: f'sympy.Rational("{m[0]}")', exact)
    x0, x1 = sympy.symbols("x0 x1")
    back = sympy.Poly(eval(exact.rstrip(";"), {"sympy": sympy, "x0": x0, "x1": x1}), x0, x1)
    expected = dict(
        zip(map(tuple, system.exponents[0].tolist()), system.coefficients[0], strict=True)
    )
    assert {a: complex(c) for a, c in back.terms()} == expected


def test_exact_decimals():
    """In higher precision a double is written as its exact value."""
    line = PhcSystem.read([{(1,): 0.1, (0,): -1}]).lines("dd")[0]
    (digits,) = re.findall(r"([+-]\d\.\d+e[+-]\d+)\*x0", line)
    assert abs(Fraction(digits) / (Fraction(0.1) / 2) - 1) < Fraction(1, 10**33)


@pytest.mark.parametrize(
    ("polynomials", "variables", "status"),
    [
        (["x - 1"], ["x"], "square"),
        (["x - 1", "0*x"], ["x"], "square"),
        (["3"], ["x"], "inconsistent"),
        (["x - 1", "x - x + 2"], ["x"], "inconsistent"),
        (["x - 1"], ["x", "y"], "underdetermined"),
        (["x - 1", "x^2 - 1"], ["x", "y"], "underdetermined"),
        (["0"], ["x"], "underdetermined"),
        ([], [], "square"),
    ],
)
def test_status_of_systems(polynomials, variables, status):
    """Constant equations make a system inconsistent, too few equations underdetermined."""
    assert PhcSystem.read(read(polynomials, variables), variables).status == status


@pytest.mark.parametrize(
    ("polynomials", "variables", "why"),
    [
        ([LINE, LINE], ["x"], "2 equations in 1 unknowns"),
        ([LINE], ["x", "x"], "twice"),
        ([LINE], ["i"], "reserved"),
        ([{(1,): math.inf}], None, "not finite"),
        ([{(1, 0): 1.0}], ["x"], "1 exponents"),
        ([{(-1,): 1.0}], ["x"], "exponents"),
        ([{(1,): math.nan}], ["x"], "not finite"),
    ],
)
def test_bad_systems(polynomials, variables, why):
    """Systems that cannot be sent to PHCpack are refused with the reason."""
    assert why in str(refuses("", PhcSystem.read, polynomials, variables))


def test_backward_errors():
    """They are 0 up to rounding at roots, as large as the change near them, infinite at NaN."""
    system = PhcSystem.read([{(2, 0): 1, (0, 1): -2}, {(1, 0): 1e9, (0, 0): -3e9}])
    root = np.array([3.0, 4.5])
    points = np.array([root, root * (1 + 1e-5), [math.nan, 0], [0, 0]], dtype=complex)
    errors = system.backward_errors(points)
    assert errors[0] < 1e-15
    assert 1e-6 < errors[1] < 1e-4
    assert errors[2] == math.inf
    assert errors[3] == 1
