"""Reading, scaling and writing of polynomial systems for PHCpack."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.errors import InputError
from numeric.phcpy.systems import PhcSystem, parse_polynomial, unknowns

coefficients = st.integers(-9, 9).filter(bool)
monomials = st.tuples(st.integers(0, 3), st.integers(0, 3))
polynomials = st.dictionaries(monomials, coefficients, min_size=1, max_size=6)


@st.composite
def expressions(draw, depth=3):
    """Texts of polynomials in x and y, with brackets, powers and constant divisors."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(["x", "y", "2", "3.5", "1.25e-1", "x^2", "y**3", "4E+00"]))
    left, right = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    return draw(
        st.sampled_from(
            [
                f"{left} + {right}",
                f"({left})-({right})",
                f"({left})*({right})",
                f"({left})^2",
                f"({left})/4",
                f"-({left})",
            ]
        )
    )


@settings(deadline=None, max_examples=100)
@given(expressions())
def test_parse_against_sympy(text):
    """A text is the polynomial that SymPy reads in it."""
    x, y = sympy.symbols("x y")
    expected = sympy.Poly(sympy.sympify(text.replace("^", "**"), rational=True), x, y)
    ours = parse_polynomial(text, ["x", "y"])
    # All constants are dyadic, so that doubles are exact and cancel exactly.
    assert {a: Fraction(c) for a, c in ours.items()} == {
        a: Fraction(int(c.p), int(c.q)) for a, c in expected.terms() if c != 0
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-20", 1e-20),
        ("3.0e+05", 3e5),
        ("3E5", 3e5),
        (".5", 0.5),
        ("-2.", -2),
        ("1/3", 1 / 3),
        ("(0.5+2*i)", 0.5 + 2j),
        ("(1-I)*(1+I)", 2),
        ("2*3;", 6),
        ("--1", 1),
        ("2^10", 1024),
    ],
)
def test_parse_constants(text, value):
    """Constants in all their spellings are read exactly."""
    assert parse_polynomial(text, ["x"]) == {(0,): value}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x +", "before the end"),
        ("x * / 2", "before '/'"),
        ("(x + 1", "not closed"),
        ("x + 1)", "out of place"),
        ("x y", "out of place"),
        ("2x", "out of place"),
        ("x^-1", "exponent"),
        ("x^1.5", "exponent"),
        ("x^5000", "exponent"),
        ("1/x", "division by a constant"),
        ("x/0", "division by a constant"),
        ("x + z", "'z' is not among the unknowns"),
        ("x # 1", "cannot read '# 1'"),
        ("", "before the end"),
    ],
)
def test_parse_errors(text, why):
    """What is no polynomial in the given unknowns is named."""
    with pytest.raises(InputError, match="polynomial") as caught:
        parse_polynomial(text, ["x", "y"])
    assert why in str(caught.value)


def test_like_terms():
    """Like monomials are collected and those that cancel are gone."""
    assert parse_polynomial("x*y + y*x - x + x + 1 - 1", ["x", "y"]) == {(1, 1): 2}


def test_natural_order():
    """Unknowns stand in natural order whatever the order of their appearance."""
    assert unknowns(["x10 + x2*i", "W[0,1] + W[0,0]*e1", "x2"]) == (
        "W[0,0]",
        "W[0,1]",
        "e1",
        "x2",
        "x10",
    )


@given(st.lists(polynomials, min_size=2, max_size=2), st.integers(-900, 900))
def test_scaling_is_exact(pair, exponent):
    """Equations times a power of two give the very same system, coefficients near 1."""
    system = PhcSystem.read(pair, ["a", "b"])
    if system.status != "square":
        return
    scaled = [{a: math.ldexp(c, exponent) for a, c in terms.items()} for terms in pair]
    assert PhcSystem.read(scaled, ["a", "b"]).lines() == system.lines()
    for row in system.coefficients:
        assert 0.5 <= max(abs(row.real).max(), abs(row.imag).max()) < 1


@pytest.mark.parametrize("precision", ["d", "dd", "qd"])
def test_lines_hold_the_same_doubles(precision):
    """What is sent reads back as the same doubles, under the names x0, x1, …."""
    given_ = {(2, 0): 0.1, (1, 1): -1 / 3 + 0.7j, (0, 0): 1e-30}
    system = PhcSystem.read([given_, {(0, 1): 1, (1, 0): -1}], ["u", "v"])
    line = system.lines(precision)[0]
    assert line.startswith("x0-x0+x1-x1")
    assert line.endswith(";")
    back = parse_polynomial(line, ["x0", "x1"])
    expected = dict(
        zip(map(tuple, system.exponents[0].tolist()), system.coefficients[0], strict=True)
    )
    assert back == expected


def test_exact_decimals():
    """In higher precision a double is written as the number it is, not as it was typed."""
    line = PhcSystem.read(["0.1*x - 1"]).lines("dd")[0]
    (digits,) = re.findall(r"([+-]\d\.\d+e[+-]\d+)\*x0", line)
    assert abs(Fraction(digits) / (Fraction(0.1) / 2) - 1) < Fraction(1, 10**33)


@pytest.mark.parametrize(
    ("polynomials", "variables", "status"),
    [
        (["x - 1"], None, "square"),
        (["x - 1", "0*x"], ["x"], "square"),
        (["3"], ["x"], "inconsistent"),
        (["x - 1", "x - x + 2"], ["x"], "inconsistent"),
        (["x - 1"], ["x", "y"], "underdetermined"),
        (["x - 1", "x^2 - 1"], ["x", "y"], "underdetermined"),
        (["0"], ["x"], "underdetermined"),
        ([], [], "square"),
    ],
)
def test_status(polynomials, variables, status):
    """Constant equations, missing unknowns and missing equations are settled at once."""
    assert PhcSystem.read(polynomials, variables).status == status


@pytest.mark.parametrize(
    ("polynomials", "variables", "why"),
    [
        (["x - 1", "x + 1"], ["x"], "2 equations in 1 unknowns"),
        (["x - 1"], ["x", "x"], "twice"),
        (["i - 1"], ["i"], "reserved"),
        (["1e999*x - 1"], None, "not finite"),
        ([{(1, 0): 1.0}], ["x"], "1 exponents"),
        ([{(-1,): 1.0}], ["x"], "exponents"),
        ([{(1,): math.nan}], ["x"], "not finite"),
    ],
)
def test_bad_systems(polynomials, variables, why):
    """What cannot be sent to PHCpack is refused with the reason."""
    with pytest.raises(InputError) as caught:
        PhcSystem.read(polynomials, variables)
    assert why in str(caught.value)


def test_backward_errors():
    """Zero up to rounding at roots, of the size of the change off them, inf at nan."""
    system = PhcSystem.read(["x^2 - 2*y", "1e9*x - 3e9"])
    root = np.array([3.0, 4.5])
    points = np.array([root, root * (1 + 1e-5), [math.nan, 0], [0, 0]], dtype=complex)
    errors = system.backward_errors(points)
    assert errors[0] < 1e-15
    assert 1e-6 < errors[1] < 1e-4
    assert errors[2] == math.inf
    assert errors[3] == 1
