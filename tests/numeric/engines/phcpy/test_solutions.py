"""Solution strings of PHCpack: reading, writing, and the filter on quality numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numeric.engines.phcpy.solutions import (
    PhcpyResult,
    PhcpySolution,
    accepted,
    read_solutions,
    write_solution,
)
from numeric.engines.phcpy.systems import PhcSystem

PAIR = PhcSystem.read([{(1, 1): 1, (0, 0): -1}, {(1, 0): 1, (0, 1): -1}])  # xy = 1, x = y

DOUBLE = """t :  1.00000000000000E+00   0.00000000000000E+00
m : 2
the solution for t :
 x1 :  1.30277563773199E+00  -6.83855593534374E-134
 x0 : -2.30277563773199E+00   1.07386419553388E+00
== err :  2.220E-16 = rco :  4.648E-01 = res : 1.058E-115 ="""
DOUBLE_DOUBLE = """t : 9.99999999999999999999999999999988E-01   0.00000000000000000000000000000E+00
m : 1
the solution for t :
 x0 : 1.99999666666111109259251543173869E+05      -3.18324961332702908297712802407481E-81
== err :  4.357E-28 = rco :  2.000E+05 = res :  8.714E-23 =""".replace("\n", "    \n")
FAILED = """t :  0.00000000000000E+00   0.00000000000000E+00
m : 1
the solution for t :
 x0 :  NaN*****************   NaN*****************
== err :  NaN****** = rco :  NaN****** = res :  NaN****** ="""
GOOD = PhcpySolution((1.5 + 0j, -2j), 1 + 0j, 1e-15, 0.1, 1e-15, 1, 1e-16)


def test_read_double():
    """Coordinates come in the order of the unknowns, with every quality number."""
    (found,) = read_solutions([DOUBLE], PAIR)
    assert found.values == (
        -2.30277563773199 + 1.07386419553388j,
        1.30277563773199 - 6.83855593534374e-134j,
    )
    assert (found.t, found.multiplicity) == (1, 2)
    assert (found.err, found.rco, found.res) == (2.22e-16, 0.4648, 1.058e-115)
    assert found.backward > 0.1


def test_read_double_double():
    """Strings of 32 digits and trailing blanks are rounded to doubles."""
    (found,) = read_solutions([DOUBLE_DOUBLE], PhcSystem.read([{(1,): 1, (0,): -2e5}]))
    assert found.values[0].real == 1.99999666666111109259251543173869e05
    assert abs(found.t - 1) < 1e-15


def test_read_failed():
    """Fields of stars are nan, never a number, and such a solution is not accepted."""
    (found,) = read_solutions([FAILED], PhcSystem.read([{(1,): 1, (0,): -1}]))
    assert math.isnan(found.values[0].real)
    assert math.isnan(found.rco)
    assert found.backward == math.inf
    assert not accepted(found)


def test_read_coinciding_path():
    """phcpy's text for a path that ends where another did is a failed path."""
    (found,) = read_solutions(["X"], PAIR)
    assert len(found.values) == 2
    assert not accepted(found)


@pytest.mark.parametrize("text", ["nonsense", DOUBLE.replace("x1", "z"), DOUBLE[:-60]])
def test_read_errors(text):
    """A text that is not a solution in the unknowns is an error."""
    with pytest.raises(ValueError, match="in the solution"):
        read_solutions([text], PAIR)


numbers = st.complex_numbers(allow_nan=False, allow_infinity=False, max_magnitude=1e300)


@given(st.lists(numbers, min_size=2, max_size=2))
def test_write_and_read(values):
    """A written solution is read with all its digits."""
    (found,) = read_solutions([write_solution(values)], PAIR)
    assert found.values == tuple(values)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"t": 0j}, True),
        ({"t": 0j, "tracked": True}, False),
        ({"t": 0.98 + 0j}, False),
        ({"t": 1e-9 + 0j}, False),
        ({"err": 1e-3}, False),
        ({"err": math.nan}, False),
        ({"values": (1e6 + 0j, 1j), "err": 1e-3}, True),
        ({"rco": 1e-17}, False),
        ({"rco": 0.0}, False),
        ({"res": 1e10}, True),
        ({"backward": 1e-3}, False),
        ({"backward": math.inf}, False),
        ({"multiplicity": 0}, True),
        ({"values": (math.nan, 1j)}, False),
        ({"values": (complex(1, math.inf), 1j)}, False),
    ],
)
def test_accepted_solutions(change, expected):
    """Paths that stopped early, singular ends and non-roots are rejected, large roots not."""
    assert accepted(replace(GOOD, **change)) is expected


def result(*solutions):
    return PhcpyResult(("x", "y"), solutions, "solved", 3, "d", 0.25)


def test_roots_found_twice_count_once():
    """Two paths that end in one root are one accepted root and one failed path."""
    close = replace(GOOD, values=(1.5 + 1e-13j, -2j))
    other = replace(GOOD, values=(1.5 + 0j, 2j))
    found = result(GOOD, close, other, replace(GOOD, rco=0.0))
    assert found.accepted == (GOOD, other)
    assert found.failed == 2
    assert np.array_equal(found.roots, [[1.5, -2j], [1.5, 2j]])


def test_no_roots():
    """Without roots the array still has the right number of columns."""
    assert result().roots.shape == (0, 2)


def test_real_roots_by_imaginary_parts():
    """A root is real if its imaginary parts are small relative to its size."""
    assert not GOOD.is_real()
    assert replace(GOOD, values=(1e6 + 1e-4j, 1 + 0j)).is_real()
    assert not replace(GOOD, values=(1 + 1e-4j, 1 + 0j)).is_real()


def test_text_of_a_result():
    """A result prints its counts, precision, seed and time in one line."""
    assert str(result(GOOD, replace(GOOD, rco=0.0))) == (
        "solved: 2 paths, 1 roots (0 real), 1 failed; precision d, seed 3, 0.25 s"
    )
