"""msolve's text format, written and read."""

import re

import pytest
from flint import fmpz, fmpz_poly
from hypothesis import given
from hypothesis import strategies as st

from algebra.polynomials.msolve.process import MsolveFailed
from algebra.polynomials.msolve.text import (
    claimed_parametrization,
    parse_basis,
    parse_nested,
    system_text,
)
from tests.refusals import refuses

HEADER = """#Reduced Groebner basis data
#---
#field characteristic: 65521
#variable order:       x0, x1
#monomial order:       graded reverse lexicographical
#length of basis:      2 elements sorted by increasing leading monomials
#---
"""

polynomials = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
    st.integers(-(2**200), 2**200).filter(bool),
    min_size=1,
    max_size=5,
)


@given(st.lists(polynomials, min_size=1, max_size=4))
def test_written_systems_avoid_the_reader_s_traps(system):
    """Terms are unique and in the plain form; reading the text back gives the system."""
    names, characteristic, *lines = system_text(system, 2, 0).splitlines()
    assert (names, characteristic) == ("x0,x1", "0")
    assert len(lines) == len(system)
    for number, (line, polynomial) in enumerate(zip(lines, system, strict=True)):
        assert line.endswith(",") == (number < len(system) - 1)
        body = line.rstrip(",")
        term = r"\d+(?:\*x0\^\d+)?(?:\*x1\^\d+)?"
        assert re.fullmatch(rf"-?{term}(?:[+-]{term})*", body)
        found = {}
        for sign, c, e0, e1 in re.findall(r"([+-]?)(\d+)(?:\*x0\^(\d+))?(?:\*x1\^(\d+))?", body):
            key = (int(e0 or 0), int(e1 or 0))
            assert key not in found
            assert int(c) != 0
            found[key] = -int(c) if sign == "-" else int(c)
        assert found == polynomial


def test_bases_are_read():
    """A full basis and a leading ideal are read, the unit ideal too."""
    text = HEADER + "[1*x1^2+65520*x0^1,\n1*x0^1*x1^1+65520]:\n"
    assert parse_basis(text, 2, 65521) == [
        {(0, 2): 1, (1, 0): 65520},
        {(1, 1): 1, (0, 0): 65520},
    ]
    assert parse_basis(HEADER + "[x1^2,\nx0*x1]:\n", 2, 65521) == [{(0, 2): 1}, {(1, 1): 1}]
    assert parse_basis(HEADER + "[1]:\n", 2, 65521) == [{(0, 0): 1}]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[-1]:", "field characteristic"),
        (HEADER.replace("x0, x1", "x1, x0") + "[1]:", "variable order"),
        (HEADER.replace("65521", "101") + "[1]:", "field characteristic"),
        (HEADER + "[x1^2,\n", "not a list"),
        (HEADER + "[y^2]:", "term"),
    ],
)
def test_other_bases_are_refused(text, complaint):
    """Solver output, another field or order, and cut-off text are no bases."""
    refuses(complaint, parse_basis, text, 2, 65521, error=MsolveFailed)


def test_nested_lists():
    """Lists of long numbers and names are read whole; cut-off ones are refused."""
    long = "9" * 20_000
    assert parse_nested(f"[0, ['x0'], [-{long}, []]]:\n") == [0, ["x0"], [-fmpz(long), []]]
    for bad in ("[1, [2]", "[1]]:", "1:", "[1, x]:", ""):
        refuses("", parse_nested, bad, error=MsolveFailed)


def test_statuses_of_answers():
    """The two special results are distinguished."""
    assert claimed_parametrization(parse_nested("[-1]:"), 2) == "no solution"
    assert "infinitely" in claimed_parametrization(parse_nested("[1, 2, -1, []]:"), 2)


def test_permuted_variables():
    """Numerators are restored to the order of the variables; t is the last one written."""
    text = (
        "[0, [0, 3, 2, ['x2', 'x0', 'x1'], [0, 0, 1], [1, [[2, [-2, 0, 1]], [1, [0, 2]],"
        " [[[1, [0, -4]], 1], [[1, [-4, 0]], 3]]]]]]:"
    )
    points, definition = claimed_parametrization(parse_nested(text), 3)
    t = fmpz_poly([0, 1])
    # x2 = 4t / 2t, x0 = 4 / (3·2t), x1 = t, over the common scale 3.
    assert points.scale == 3
    assert points.numerators == (fmpz_poly([4]), 6 * t**2, 12 * t, 6 * t**2)
    assert definition == {(0, 1, 0, 0): 1, (0, 0, 0, 1): -1}


def test_an_added_linear_form():
    """A new last name is the parameter, minus the linear form in the others."""
    text = (
        "[0, [0, 3, 2, ['x0', 'x1', 'A'], [5, 7, 1], [1, [[2, [-2, 0, 1]], [1, [0, 2]],"
        " [[[1, [1, 0]], 1], [[1, [2, 0]], 1]]]]]]:"
    )
    points, definition = claimed_parametrization(parse_nested(text), 2)
    assert len(points.numerators) == 3
    assert definition == {(1, 0, 0): 5, (0, 1, 0): 7, (0, 0, 1): 1}


@pytest.mark.parametrize(
    "text",
    [
        "[0, [0, 2, 1, ['x0', 'x2'], [0, 1], [1, [[1, [-2, 1]], [0, [1]], [[[0, [1]], 1]]]]]]:",
        "[0, [0, 2, 1, ['x0', 'x1'], [0, 1], [1, [[1, [-2, 1]], [0, [1]], [[[0, [1]], 0]]]]]]:",
        "[0, [0, 2, 1, ['x0', 'x1'], [0, 1], [1, [[1, [-2, 1]], [0, [1]], []]]]]:",
        "[0, [0, 2, 1, ['x0', 'x1'], [0, 1]]]:",
        "[2, 1]:",
    ],
)
def test_other_answers_are_refused(text):
    """Unknown names, zero denominators and missing parts are not a parametrization."""
    refuses("", claimed_parametrization, parse_nested(text), 2, error=MsolveFailed)
