"""Least-cost common bases against brute force; certificates that check, and that can fail."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.errors import DualError
from algebra.linalg.ranks import modular_rank
from algebra.matroids.capped import CappedProblem
from algebra.matroids.intersection import (
    CommonBasis,
    Shortage,
    Splitting,
    common_basis,
    is_optimal,
)
from tests.algebra.matroids.by_force import keeps, least_cost
from tests.refusals import refuses
from tests.samples import many

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


@given(problems())
@settings(max_examples=many(250), deadline=None)
def test_brute_force(problem):
    """Every size: the least cost, a splitting that proves it, or a reason that holds."""
    columns, groups, caps, costs = problem
    E = len(costs)
    for size in range(1, len(columns) + 1):
        asked = CappedProblem(columns, P, [(groups, caps)], costs, size)
        found = common_basis(asked)
        best = least_cost(asked)
        if isinstance(found, Shortage):
            assert best is None
            S = list(found.elements)
            outside = [k for k in range(E) if k not in S]
            assert found.rank == (modular_rank(columns[:, S], P) if S else 0)
            counts = np.bincount([groups[k] for k in outside], minlength=3)
            assert found.capped == np.minimum(counts, caps).sum()
            assert found.largest == found.rank + found.capped < size
            assert found.bound(asked) is None
        else:
            assert found.cost == best
            assert keeps(asked, found.elements)
            assert is_optimal(asked, found)


def test_certificates_can_fail():
    """Another set, another splitting or another cost fails."""
    columns = np.array([[1, 0, 1], [0, 1, 1]])
    groups, caps, costs = [0, 0, 1], [1, 1], [1, 2, 5]
    asked = CappedProblem(columns, P, [(groups, caps)], costs, 2)
    found = common_basis(asked)
    assert isinstance(found, CommonBasis)
    assert is_optimal(asked, found)
    worse = replace(found, elements=(1, 2), cost=7)
    assert not is_optimal(asked, worse)
    assert not is_optimal(asked, replace(found, cost=5))
    assert not is_optimal(asked, replace(found, elements=(0, 1)))
    own = found.splitting
    shifted = (0, 1000, 0)
    assert not is_optimal(asked, replace(found, splitting=replace(own, first=shifted)))
    refuses("at least 1", replace(own, scale=0).bound, asked, error=DualError)
    with pytest.raises(DualError, match="splitting of 2 costs for 3"):
        replace(own, first=own.first[1:]).bound(asked)
    everything = Shortage(0, (0, 1, 2), 0, 0)
    assert everything.bound(asked) == 3
    refuses("twice", replace(everything, elements=(0, 0)).bound, asked, error=DualError)


@given(problems(), st.lists(st.integers(-(1 << 70), 1 << 70), min_size=8, max_size=8))
@settings(max_examples=many(150), deadline=None)
def test_any_splitting_gives_a_true_bound(problem, first):
    """For all numbers, the bound is never above the least cost, nor "none" if there is one."""
    columns, groups, caps, costs = problem
    asked = CappedProblem(columns, P, [(groups, caps)], costs, min(2, len(costs)))
    best = least_cost(asked)
    bound = Splitting(tuple(first[: len(costs)]), 3).bound(asked)
    if best is not None:
        assert bound is not None
        assert bound <= best


@given(problems(), st.integers(30, 90))
@settings(max_examples=many(100), deadline=None)
def test_costs_of_any_size(problem, bits):
    """Costs beyond 64 bits: the least cost is multiplied, and proved, without overflow."""
    columns, groups, caps, costs = problem
    size = min(2, len(costs))
    small = CappedProblem(columns, P, [(groups, caps)], costs, size)
    best = least_cost(small)
    asked = small._replace(costs=[(c << bits) + 1 for c in costs])
    found = common_basis(asked)
    if best is None:
        assert isinstance(found, Shortage)
    else:
        assert found.cost == (best << bits) + size
        assert is_optimal(asked, found)
