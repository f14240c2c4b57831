"""Degeneracy loci compared with the degree of the same instance's core, and closed forms."""

from itertools import combinations
from math import factorial, prod

import pytest
from flint import fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.polynomials.msolve.solver import quotient_degree
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.systems import root_count
from algebra.systems.degeneracy import degeneracy_locus, maximal_minors
from algebra.systems.instances import modular_core, modular_instance
from algebra.systems.root_count import RootCountError, generic_root_count
from matchprob import Allocation, LinearRNN
from tests.samples import P

SIX = LinearRNN(n=6, T=4, b=1, d=2, m=4)


def in_rows(network, *rows):
    """An allocation of W, its cells given row by row."""
    return Allocation.from_cells(network, [("W", i, j) for i, row in enumerate(rows) for j in row])


def locus_count(allocation, form="B", p=P, seed=0):
    """Points of the locus that are solutions, and the δ that vanish at others."""
    locus = degeneracy_locus(modular_instance(allocation, p, seed), form, seed)
    without = locus.degenerate(20)
    return locus.degree(20, without), without


def core_count(allocation, form="B", p=P, seed=0):
    core, _ = modular_core(allocation, p, seed, form, defer=False)
    return quotient_degree(core.equations, timeout=60).degree


@pytest.mark.parametrize(
    "rows",
    [
        ([0, 1], [1, 2, 3], [3, 4, 5]),
        ([0, 1], [1, 2, 3], [1, 2, 4]),
        ([0], [1, 2, 3], [2, 3, 4, 5]),
        ([0, 1, 2, 3], [2, 3], [4, 5]),
    ],
)
def test_its_points_are_those_of_the_core(rows):
    """The locus of an instance has as many points as the instance's core."""
    allocation = in_rows(SIX, *rows)
    assert locus_count(allocation) == (core_count(allocation), ())


@pytest.mark.parametrize("first", [[0, 1], [4, 5]])
def test_points_without_a_solution_are_taken_away(first):
    """Two rows with the same three cells: three points of nine are degenerate for both."""
    allocation = in_rows(SIX, first, [1, 2, 3], [1, 2, 3])
    locus = degeneracy_locus(modular_instance(allocation, P, 0), "B")
    assert locus.degree(20) == 9
    assert locus_count(allocation) == (6, (0, 1))
    assert core_count(allocation) == 6


@pytest.mark.parametrize("cells", [[(0, 0), (1, 0), (0, 1), (1, 1), (2, 2), (3, 2)]])
def test_columns_are_rows_of_the_mirror_image(cells):
    """Two inputs, one output, three columns: the D form's locus has as many points as its core."""
    network = LinearRNN(n=6, T=3, b=2, d=1, m=6)
    allocation = Allocation.from_cells(network, [("W", *cell) for cell in cells])
    locus = degeneracy_locus(modular_instance(allocation, P, 0), "D")
    assert set(locus.unknowns) < {f"W_{i}_{j}" for i, j in cells}
    assert locus_count(allocation, "D") == (core_count(allocation, "D"), ())


def test_two_inputs_a_step_beyond_the_labels():
    """Four rows for two outputs: two base rows, whose determinant scales the states."""
    network = LinearRNN(n=6, T=3, b=1, d=2, m=3)
    allocation = in_rows(network, [0], [1], [2, 3], [4, 5])
    assert locus_count(allocation)[0] == core_count(allocation)


def test_more_samples_and_two_inputs():
    """The labels of surplus samples follow from the others: the locus is the same."""
    few, many = (LinearRNN(n=6, T=2, b=2, d=2, m=m) for m in (4, 6))
    rows = ([0, 1], [1, 2, 3], [3, 4, 5])
    counts = {locus_count(in_rows(network, *rows))[0] for network in (few, many)}
    assert counts == {core_count(in_rows(few, *rows))}


@settings(max_examples=10, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([1, 2]))
def test_any_allocation_of_a_small_net(rng, surplus):
    """Cells at random, many shared: as many points as the core of the same instance has."""
    network = LinearRNN(n=5, T=3, b=1, d=2, m=3)
    pool = [(i, j) for i in range(2 + surplus) for j in range(4)]
    cells = rng.sample(pool, 6)
    allocation = Allocation.from_cells(network, [("W", *cell) for cell in cells])
    instance = modular_instance(allocation, P, 0)
    locus = degeneracy_locus(instance, "B")
    rank = network_rank(network).rank
    if locus is None or allocation_rank(allocation, None, rank, 0).rank < rank:
        return
    assert all(equation(*locus.root) == 0 for equation in locus.equations)
    assert all(delta(*locus.root) != 0 for delta in locus.excluded)
    core, _ = modular_core(allocation, P, 0, "B", defer=False)
    expected = quotient_degree(core.equations, timeout=60).degree if core.equations else 1
    assert locus_count(allocation)[0] == expected


@pytest.mark.parametrize(
    ("network", "cells"),
    [
        # Fewer samples than inputs: the labels do not determine the map.
        (LinearRNN(n=6, T=3, b=2, d=2, m=4), [("W", i, j) for i in range(4) for j in range(2)]),
        # The encoder learns too.
        (LinearRNN(n=3, T=2, b=1, d=1, m=2), [("W", 0, 0), ("B", 1, 0)]),
        # As many rows as outputs: no unknown is left.
        (LinearRNN(n=4, T=2, b=1, d=2, m=2), [("W", i, j) for i in range(2) for j in range(2)]),
    ],
)
def test_none_where_the_structure_is_not_there(network, cells):
    """Other networks and allocations are counted by their core."""
    allocation = Allocation.from_cells(network, cells)
    assert degeneracy_locus(modular_instance(allocation, P, 0), "B") is None


def test_none_with_more_unknowns_than_asked_for():
    """The caller gives the largest number of unknowns."""
    instance = modular_instance(in_rows(SIX, [0, 1], [1, 2, 3], [3, 4, 5]), P, 0)
    assert degeneracy_locus(instance, "B", most_unknowns=1) is None
    assert degeneracy_locus(instance, "B", most_unknowns=2) is not None


# n = 12, T = m = 6, b = 1, d = 4: rows of W, and N by msolve from the cores in 20 unknowns.
TWELVE = LinearRNN(n=12, T=6, b=1, d=4, m=6)
KNOWN = {
    60: ([0, 1, 2, 3, 4, 5], [2, 4, 6, 7, 9, 11], [8, 9, 10], [2, 3, 5, 6, 11], [0, 5, 6, 7]),
    120: ([0, 2, 5, 8, 9], [1, 3, 4, 5, 11], [2, 4, 5, 10, 11], [3, 4, 6, 7, 8, 9], [1, 2, 6]),
    180: ([0, 2, 3, 8], [0, 1, 5, 9, 10, 11], [1, 2, 3, 7, 9], [0, 1, 2, 3, 11], [4, 6, 7, 8]),
}


@pytest.mark.parametrize("count", KNOWN)
def test_twelve_neurons(count):
    """T! over the factorials of the missing cells of each row, if the rows share few cells."""
    rows = KNOWN[count]
    assert count == factorial(6) // prod(factorial(6 - len(row)) for row in rows)
    found = generic_root_count(in_rows(TWELVE, *rows))
    assert (found.value, found.blocks, found.form) == (count, (count,), "B")


def test_a_basis_out_of_time_is_told(monkeypatch):
    """A locus that takes too long gives no count."""
    monkeypatch.setattr(root_count, "_SMALL_BLOCK", 0)

    def late(*args, **options):
        raise root_count.MsolveTimeout("late")

    monkeypatch.setattr("algebra.systems.degeneracy.quotient_degree", late)
    with pytest.raises(RootCountError, match=r"minors? in 2 unknowns was not finished"):
        generic_root_count(in_rows(SIX, [0, 1], [1, 2, 3], [3, 4, 5]))


def test_the_core_is_counted_where_msolve_fails_on_the_locus(monkeypatch):
    """A failure there is not a result: the core is counted."""
    allocation = in_rows(SIX, [0, 1], [1, 2, 3], [3, 4, 5])
    monkeypatch.setattr(root_count, "_SMALL_BLOCK", 0)

    def broken(*args, **options):
        raise root_count.MsolveFailed("broken")

    monkeypatch.setattr("algebra.systems.degeneracy.quotient_degree", broken)
    assert generic_root_count(allocation).value == 12


def test_minors_by_hand():
    """Maximal minors without and with the last column, of a matrix of numbers."""
    assert maximal_minors([[1, 2], [3, 5], [7, 11]]) == ([1, 3, 7], [-1, -3, -2])
    assert maximal_minors([[1, 2, 0], [3, 5, 1]]) == ([-1], [])


@given(
    st.integers(1, 4).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(-9, 9), min_size=columns, max_size=columns),
            min_size=columns,
            max_size=5,
        )
    )
)
def test_minors_are_determinants(matrix):
    """One for each set of as many rows as there are columns, in any order."""
    chosen = combinations(matrix, len(matrix[0]))
    expected = sorted(int(fmpz_mat([list(row) for row in rows]).det()) for rows in chosen)
    assert sorted(maximal_minors(matrix)[1]) == expected
