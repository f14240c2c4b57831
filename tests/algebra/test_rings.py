"""The coefficient rings behind their small interface."""

from fractions import Fraction

import pytest
import sympy
from flint import fmpq, nmod

from algebra.rings import PrimeField, RationalField, SymbolicRing, symbol


@pytest.mark.parametrize("field", [RationalField(), PrimeField(101)])
def test_fields(field):
    """Constants convert exactly, rref solves, generators belong to one context."""
    half = field.constant(Fraction(1, 2))
    assert half + half == field.constant(1)
    rows = [[field.constant(v) for v in row] for row in ((2, 4, 6), (1, 2, 3), (0, 0, 5))]
    reduced = field.rref(rows, 3)
    assert [[int(v) if field.characteristic else int(v.numerator) for v in r] for r in reduced] == [
        [1, 2, 0], [0, 0, 1],
    ]  # fmt: skip
    x, y = field.generators(["x", "y"])
    assert ((x + y) * (x - y)).total_degree() == 2


def test_values_of_other_rings():
    """fmpq reduces modulo p, and becomes a SymPy rational."""
    assert PrimeField(7).constant(fmpq(1, 3)) == nmod(5, 7)
    assert PrimeField(7).constant(nmod(3, 7)) == nmod(3, 7)
    assert SymbolicRing().constant(fmpq(2, 3)) == sympy.Rational(2, 3)
    assert SymbolicRing().generators(["a"]) == [symbol("a")]
