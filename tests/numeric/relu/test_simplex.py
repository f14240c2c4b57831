"""The condensed simplex against scipy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from numeric.relu.pairs_kernel import start_tableau
from numeric.relu.simplex import FEASIBLE, dual_simplex, primal_simplex, refresh


def _tableau(A, b, costs):
    T, beta, basic, other, rest = start_tableau(A, b)
    assert rest < 1e-9
    phase = costs.copy()
    phase[basic] = 0.0
    return T, beta, phase[other].copy(), basic, other, phase


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_feasibility_and_least_cost_are_scipys(seed, certain):
    """Feasible or not, and the optimum, are scipy's."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 6)), int(rng.integers(6, 14))
    A = rng.normal(size=(rows, columns))
    b = A @ rng.random(columns) if certain else rng.normal(size=rows)
    costs = 0.5 + rng.random(columns)
    peer = linprog(costs, A_eq=A, b_eq=b)
    T, beta, cost, basic, other, phase = _tableau(A, b, costs)
    width = columns - rows
    gone = np.zeros(columns, bool)
    feasible, doubt, width, _ = dual_simplex(
        A, b, T, beta, cost, basic, other, width, gone, phase, 0, 1000
    )
    assert not doubt
    assert feasible == (peer.status == 0)
    if feasible:
        assert refresh(A, b, T, beta, cost, basic, other, width, costs)
        primal_simplex(T, beta, cost, basic, other, width, 1000)
        assert (beta >= -1e-8).all()
        assert costs[basic] @ beta == pytest.approx(peer.fun, rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_columns_that_go_are_not_used(seed):
    """After some columns are removed the rest decide, from the old basis."""
    rng = np.random.default_rng(seed)
    rows, columns = 4, 14
    A = rng.normal(size=(rows, columns))
    b = A @ rng.random(columns)
    costs = 0.5 + rng.random(columns)
    T, beta, cost, basic, other, phase = _tableau(A, b, costs)
    gone = np.zeros(columns, bool)
    feasible, _, width, _ = dual_simplex(
        A, b, T, beta, cost, basic, other, columns - rows, gone, phase, 0, 1000
    )
    assert feasible
    assert refresh(A, b, T, beta, cost, basic, other, width, costs)
    primal_simplex(T, beta, cost, basic, other, width, 1000)
    gone[rng.permutation(columns)[:7]] = True
    # Non-basic columns that go are taken out first, as the tree does.
    keep = [c for c in range(width) if not gone[other[c]]]
    T = np.ascontiguousarray(T[:, keep])
    cost, other = cost[keep].copy(), other[keep].copy()
    feasible, doubt, _, _ = dual_simplex(
        A, b, T, beta, cost, basic, other, len(keep), gone, costs, 0, 1000
    )
    left = np.flatnonzero(~gone)
    peer = linprog(costs[left], A_eq=A[:, left], b_eq=b)
    assert doubt or feasible == (peer.status == 0)
    if feasible:
        assert costs[basic] @ beta == pytest.approx(peer.fun, rel=1e-6)
        assert np.abs(beta[gone[basic]]).max(initial=0.0) <= FEASIBLE
