"""The matroid of a matrix's columns: ranks, circuits and contraction against their definitions."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.linalg.ranks import modular_rank
from algebra.matroids.linear import LinearMatroid
from tests.samples import many

P = 10007


@st.composite
def matroids(draw):
    rows, E = draw(st.integers(1, 4)), draw(st.integers(1, 7))
    row = st.lists(st.integers(0, 2), min_size=E, max_size=E)
    columns = np.array(draw(st.lists(row, min_size=rows, max_size=rows)), np.int64)
    return LinearMatroid(columns, P)


@given(matroids(), st.data())
@settings(max_examples=many(150), deadline=None)
def test_contraction_and_restriction(matroid, data):
    """r(S / C) = r(S + C) - r(C); restriction renumbers."""
    E = len(matroid)
    some = st.sets(st.integers(0, E - 1))
    inside, other = data.draw(some), data.draw(some)
    quotient, found = matroid.contract(sorted(inside))
    assert found == matroid.rank(sorted(inside))
    assert quotient.rank(sorted(other)) == matroid.rank(sorted(inside | other)) - found
    assert quotient.rank(sorted(inside)) == 0
    assert matroid.restrict(sorted(other)).rank() == matroid.rank(sorted(other))
    assert matroid.rank() == modular_rank(matroid.columns, P)


@given(matroids())
@settings(max_examples=many(80), deadline=None)
def test_circuits(matroid):
    """Each is dependent and every proper subset is not; one for each element outside the basis."""
    circuits = matroid.circuits()
    assert len(circuits) == len(matroid) - matroid.rank()
    for circuit in circuits:
        assert matroid.rank(circuit) == len(circuit) - 1
        for part in combinations(circuit, len(circuit) - 1):
            assert matroid.rank(part) == len(part)


@given(matroids(), st.randoms(use_true_random=False))
@settings(max_examples=many(80), deadline=None)
def test_greedy(matroid, random):
    """An element is chosen if and only if it is independent of those before it."""
    order = list(range(len(matroid)))
    random.shuffle(order)
    taken = []
    for e in order:
        if matroid.rank([*taken, e]) > len(taken):
            taken.append(e)
    assert matroid.greedy(order, len(order)) == taken
    assert matroid.greedy(order, 1) == taken[:1]
