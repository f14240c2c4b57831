"""Coefficient rings: constants, generators and echelon forms, against SymPy."""

import numpy as np
import pytest
import sympy
from flint import fmpq, fmpz, nmod
from hypothesis import given
from hypothesis import strategies as st

from algebra.polynomials.rings import (
    DEFAULT_PRIME,
    PrimeField,
    RationalField,
    SymbolicRing,
    symbol,
)

MATRICES = st.integers(1, 4).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(-3, 3), min_size=columns, max_size=columns), min_size=1, max_size=5
    )
)


@given(MATRICES)
def test_rational_echelon_form(rows):
    """`rref` over Q is SymPy's, without its zero rows."""
    field = RationalField()
    found = field.rref([[field.constant(v) for v in row] for row in rows], len(rows[0]))
    expected, pivots = sympy.Matrix(rows).rref()
    assert len(found) == len(pivots)
    for k, row in enumerate(found):
        assert [sympy.Rational(int(v.p), int(v.q)) for v in row] == list(expected[k, :])


@given(MATRICES, st.sampled_from([7, 101, DEFAULT_PRIME]))
def test_modular_echelon_form(rows, p):
    """Over GF(p) the rows span the same space: rank, reduced shape and membership by SymPy."""
    field = PrimeField(p)
    columns = len(rows[0])
    found = [[int(v) for v in row] for row in field.rref(rows, columns)]
    matrix = sympy.polys.matrices.DomainMatrix(
        [[sympy.GF(p, symmetric=False)(v) for v in row] for row in rows],
        (len(rows), columns),
        sympy.GF(p, symmetric=False),
    )
    expected, pivots = matrix.rref()
    assert found == [[int(v) % p for v in row] for row in expected.to_list()[: len(pivots)]]


def test_echelon_form_of_zeros():
    """A zero matrix has no row left."""
    for field in (RationalField(), PrimeField()):
        assert field.rref([[field.constant(0)] * 2] * 3, 2) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, fmpq(3)),
        (fmpz(-2), fmpq(-2)),
        (fmpq(2, 3), fmpq(2, 3)),
        (np.int64(5), fmpq(5)),
        (sympy.Rational(-1, 7), fmpq(-1, 7)),
        (sympy.Integer(4), fmpq(4)),
    ],
)
def test_rational_constants(value, expected):
    """Integers and fractions of all kinds become the same rational."""
    made = RationalField().constant(value)
    assert isinstance(made, fmpq)
    assert made == expected


@pytest.mark.parametrize("value", [3, np.int64(3), fmpz(3), fmpq(3), nmod(3, 7), sympy.Integer(10)])
def test_modular_constants(value):
    """The same over GF(7); a fraction a/b becomes a·b^{-1}."""
    field = PrimeField(7)
    assert field.constant(value) == nmod(3, 7)
    assert field.constant(fmpq(1, 3)) == nmod(5, 7)
    assert field.constant(-1) == nmod(6, 7)


@pytest.mark.parametrize("ring", [RationalField(), PrimeField()], ids=repr)
def test_floats_are_refused(ring):
    """A float is not an exact number: nothing is rounded silently."""
    with pytest.raises((AttributeError, TypeError)):
        ring.constant(0.5)


def test_symbolic_constants():
    """Exact rationals stay exact in SymPy."""
    ring = SymbolicRing()
    assert ring.constant(fmpq(2, 6)) == sympy.Rational(1, 3)
    assert ring.constant(fmpz(4)) == sympy.Integer(4)
    assert ring.constant(symbol("a")) is symbol("a")
    assert ring.generators(["x", "y"]) == list(sympy.symbols("x y"))


@pytest.mark.parametrize("field", [RationalField(), PrimeField()], ids=repr)
def test_generators_multiply_constants(field):
    """Constants and generators can be combined, in arrays too; no unknowns give a ring as well."""
    x, y = field.generators(["x", "y"])
    square = (x + field.constant(2) * y) ** 2
    assert square == x * x + 4 * x * y + 4 * y * y
    assert square(field.constant(1), field.constant(2)) == field.constant(25)
    row, column = np.empty((1, 2), dtype=object), np.empty((2, 1), dtype=object)
    row[0, :] = [x, y]
    column[:, 0] = [field.constant(3), field.constant(1)]
    assert (row @ column)[0, 0] == 3 * x + y
    assert field.generators([]) == []
    assert field.context([]).constant(5).is_constant()
    assert field.context(["x", "y"]) is square.context()


def test_characteristics():
    """Only a prime field has a number that is not 0."""
    assert PrimeField(5).characteristic == 5
    assert RationalField().characteristic == SymbolicRing().characteristic == 0
