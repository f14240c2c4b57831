"""The exact simplex method against SciPy's, with every proof of infeasibility checked."""

import numpy as np
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from algebra.linalg.rational_lp import INFEASIBLE, OPTIMAL, UNBOUNDED, maximize
from tests.algebra.linalg.small_programs import rationals, refutes, small_program
from tests.refusals import refuses
from tests.samples import many

PROGRAMS = st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(0, 10**6))


@settings(max_examples=many(150), deadline=None)
@given(PROGRAMS)
def test_agrees_with_scipy(program):
    """Status and optimum are those of HiGHS; infeasibility comes with a Farkas vector."""
    rows, columns, seed = program
    rng = np.random.default_rng(seed)
    A, b, cost = small_program(rng, rows, columns, seed % 2)
    found = maximize(rationals(A), rationals(b), rationals(cost))
    other = linprog(-cost, A_eq=A, b_eq=b, method="highs", options={"presolve": False})
    assert {0: OPTIMAL, 2: INFEASIBLE, 3: UNBOUNDED}[other.status] == found.status
    if found.status == INFEASIBLE:
        assert refutes(found.proof, A, b)
        return
    x = found.x
    assert all(v >= 0 for v in x)
    for i in range(rows):
        assert sum((v * int(a) for v, a in zip(x, A[i], strict=True)), fmpq(0)) == int(b[i])
    if found.status == OPTIMAL:
        assert np.isclose(float(found.value.p) / float(found.value.q), -other.fun)


def test_redundant_rows():
    """A row given twice does not change the result."""
    A, b = rationals([[1, 1], [1, 1]]), rationals([2, 2])
    assert maximize(A, b, rationals([1, 0])).x == (2, 0)


def test_sizes_are_checked():
    """Sizes that do not fit are rejected."""
    refuses("`A`", maximize, rationals([[1, 2], [1]]), rationals([1, 2]))
    refuses("objective", maximize, rationals([[1, 2]]), rationals([1]), rationals([1]))
