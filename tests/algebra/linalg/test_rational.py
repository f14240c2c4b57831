"""Rational matrices: echelon form, rank, kernel, equations, against SymPy and by their laws."""

import random
import time

import pytest
import sympy
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from algebra.linalg import rational as module
from algebra.linalg.rational import (
    array,
    eliminate_free,
    rational_echelon,
    rational_kernel,
    rational_matrix,
    rational_rank,
    rational_solution,
    rational_texts,
)
from algebra.time_limits import LimitReached, limited
from tests.refusals import refuses

SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 5))
# Small entries, many of them 0: dependent rows are common.
ENTRIES = st.fractions(-2, 2, max_denominator=2)
ROWS = SHAPES.flatmap(
    lambda size: st.lists(
        st.lists(ENTRIES, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
    )
)


def rationals(rows):
    """Nested lists of fmpq."""
    return [[fmpq(v.numerator, v.denominator) for v in row] for row in rows]


def image(rows, x):
    """rows · x."""
    return [sum((a * v for a, v in zip(row, x, strict=True)), fmpq(0)) for row in rows]


@given(ROWS)
def test_echelon_form_is_sympys(given_rows):
    """Reduced form and pivots are SymPy's; the rank is the number of pivots."""
    rows = rationals(given_rows)
    reduced, pivots = rational_echelon(rows)
    theirs, places = sympy.Matrix(given_rows).rref()
    assert pivots == list(places)
    assert rational_texts(reduced.tolist()) == [[str(v) for v in row] for row in theirs.tolist()]
    assert rational_rank(rows) == len(pivots)


@given(ROWS)
def test_kernel(given_rows):
    """Kernel vectors are mapped to 0, independent, and as many as columns minus rank."""
    rows = rationals(given_rows)
    basis = rational_kernel(rows)
    assert len(basis) == len(rows[0]) - rational_rank(rows)
    assert all(not any(image(rows, vector)) for vector in basis)
    assert rational_rank(basis, len(rows[0])) == len(basis)


@given(ROWS, st.data())
def test_equations(given_rows, data):
    """A solution solves; None means that the right-hand side raises the rank."""
    rows = rationals(given_rows)
    right = [fmpq(data.draw(st.integers(-1, 1))) for _ in rows]
    x = rational_solution(rows, right, len(rows[0]))
    if x is None:
        joined = [[*row, value] for row, value in zip(rows, right, strict=True)]
        assert rational_rank(joined) == rational_rank(rows) + 1
    else:
        assert image(rows, x) == right


@pytest.mark.parametrize(
    ("rows", "right", "unknowns", "expected"),
    [
        ([[1, 1], [1, -1]], [3, 1], 2, [2, 1]),
        ([[1, 1], [2, 2]], [1, 3], 2, None),
        ([[1, 1]], [2], 2, [2, 0]),
        ([], [], 2, [0, 0]),
        ([], [], 0, []),
        ([[]], [1], 0, None),
        ([[]], [0], 0, []),
    ],
)
def test_special_equations(rows, right, unknowns, expected):
    """Square, dependent, inconsistent and empty systems."""
    rows = [[fmpq(x) for x in row] for row in rows]
    assert rational_solution(rows, [fmpq(x) for x in right], unknowns) == expected


def test_without_rows():
    """A matrix without rows keeps its width: rank 0, every vector in its kernel."""
    assert (rational_rank([], 3), rational_echelon([], 3)[1], len(rational_kernel([], 3))) == (
        0,
        [],
        3,
    )
    assert rational_matrix(array([], 2)).nrows() == 0
    refuses("`A`", eliminate_free, [], [], 1)


def test_free_unknowns():
    """x − u = 1, x + u = 3 with x free: u = 1 remains, and x follows from it."""
    rows, constants, solved = eliminate_free(rationals([[1, -1], [1, 1]]), [fmpq(1), fmpq(3)], 1)
    assert (rows, constants) == ([[1]], [1])
    ((unknown, row, constant),) = solved
    assert unknown == 0
    assert constant - row[0] * 1 == 2


def test_a_long_echelon_form_runs_where_it_can_be_ended(monkeypatch):
    """In a child process the result is the same; under a limit it ends soon after the limit."""
    rng = random.Random(1)

    def rows(count, columns, bits):
        return [[fmpq(rng.getrandbits(bits), 7) for _ in range(columns)] for _ in range(count)]

    few = rows(4, 6, 20)
    reduced, pivots = rational_echelon(few)
    many = rows(300, 400, 1000)
    began = time.monotonic()
    with pytest.raises(LimitReached), limited(0.5):
        rational_echelon(many)
    assert time.monotonic() - began < 30
    monkeypatch.setattr(module, "_SHORT", 0)
    monkeypatch.setattr(module, "_LONG", 0)
    with limited(60):
        assert rational_echelon(few) == (reduced, pivots)
