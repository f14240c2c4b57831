"""Limits in words: the smallest bound, named by its letters."""

import pytest

from algebra.networks.limits import NEVER, least
from matchprob import LinearRNN, ShallowReLU


@pytest.mark.parametrize(
    ("terms", "limit"),
    [
        ([("Tb", 4), ("dm", 6)], (4, "Tb = 4 equations")),
        ([("Tb", 4), ("dm", 1)], (1, "dm = 1 equation")),
        # Of equal bounds the first is named.
        ([("Tb", 2), ("dm", 2)], (2, "Tb = 2 equations")),
    ],
)
def test_the_least_of_some_bounds(terms, limit):
    """With its letters."""
    assert least(*terms) == limit


def test_a_row_and_a_column_of_networks():
    """Rows of W meet Tb equations, columns Td; columns of a ReLU layer have no limit."""
    found = LinearRNN(n=9, T=2, b=1, d=3, m=2).limits()["W"]
    assert (found.row, found.column) == ((2, "Tb = 2 equations"), (6, "Td = 6 equations"))
    first = ShallowReLU(q=3, n=2, d=2, m=2).limits()["W1"]
    assert (first.column, first.rho) == (None, NEVER)
