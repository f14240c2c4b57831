"""Least-cost common bases against brute force; certificates that check, and that can fail."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.errors import InputError
from algebra.linalg.modular import rank
from algebra.matroids.intersection import CommonBasis, Shortage, common_basis, is_optimal

P = 10007


@st.composite
def problems(draw):
    rows, E = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    entries = st.integers(0, 2)
    columns = np.array(
        draw(st.lists(st.lists(entries, min_size=E, max_size=E), min_size=rows, max_size=rows)),
        np.int64,
    )
    groups = draw(st.lists(st.integers(0, 2), min_size=E, max_size=E))
    caps = draw(st.lists(st.integers(0, 3), min_size=3, max_size=3))
    costs = draw(st.lists(st.integers(0, 5), min_size=E, max_size=E))
    return columns, groups, caps, costs


def independent(columns, groups, caps, chosen):
    counts = np.bincount([groups[k] for k in chosen], minlength=len(caps))
    return (counts <= caps).all() and (
        not chosen or rank(columns[:, list(chosen)], P) == len(chosen)
    )


def brute(columns, groups, caps, costs, size):
    found = [
        sum(costs[k] for k in chosen)
        for chosen in combinations(range(len(costs)), size)
        if independent(columns, groups, caps, chosen)
    ]
    return min(found, default=None)


@given(problems())
@settings(max_examples=250, deadline=None)
def test_brute_force(problem):
    """Every size: the least cost, a splitting that proves it, or a reason that holds."""
    columns, groups, caps, costs = problem
    E = len(costs)
    for size in range(1, len(columns) + 1):
        found = common_basis(columns, P, groups, caps, costs, size)
        best = brute(columns, groups, caps, costs, size)
        if isinstance(found, Shortage):
            assert best is None
            S = list(found.elements)
            outside = [k for k in range(E) if k not in S]
            assert found.rank == (rank(columns[:, S], P) if S else 0)
            counts = np.bincount([groups[k] for k in outside], minlength=3)
            assert found.capped == np.minimum(counts, caps).sum()
            assert found.largest == found.rank + found.capped < size
        else:
            assert found.cost == best
            assert independent(columns, groups, caps, found.elements)
            assert is_optimal(columns, P, groups, caps, costs, found)


def test_certificates_can_fail():
    """Another set, another splitting or another cost does not pass."""
    columns = np.array([[1, 0, 1], [0, 1, 1]])
    groups, caps, costs = [0, 0, 1], [1, 1], [1, 2, 5]
    found = common_basis(columns, P, groups, caps, costs, 2)
    assert isinstance(found, CommonBasis)
    assert is_optimal(columns, P, groups, caps, costs, found)
    worse = replace(found, elements=(1, 2), cost=7)
    assert not is_optimal(columns, P, groups, caps, costs, worse)
    assert not is_optimal(columns, P, groups, caps, costs, replace(found, cost=5))
    assert not is_optimal(columns, P, groups, caps, costs, replace(found, elements=(0, 1)))
    shifted = replace(found, first=found.first + 1)
    assert not is_optimal(columns, P, groups, caps, costs, shifted)


def test_large_costs_are_refused():
    """Costs beyond what 64 bits can carry are refused, not wrapped."""
    with pytest.raises(InputError, match="too large"):
        common_basis(np.array([[1, 1]]), P, [0, 0], [2], [10**18, 1], 1)
