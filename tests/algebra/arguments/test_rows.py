"""Minors in the powers of W compared with the core's degree, SymPy's and the other count."""

import pytest

from algebra.arguments.recount import recount
from algebra.arguments.row_minors import count_by_minors
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.systems.instances import modular_core, modular_instance
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, LinearRNN

P = 2147483587
SIX = LinearRNN(n=6, T=4, b=1, d=2, m=4)


def in_rows(network, *rows):
    return Allocation.from_cells(network, [("W", i, j) for i, row in enumerate(rows) for j in row])


def by_minors(allocation, p=P):
    return count_by_minors(modular_instance(allocation, p, 3), 60, 0)


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        (([0, 1], [1, 2, 3], [3, 4, 5]), 12),
        (([0, 1], [1, 2, 3], [1, 2, 4]), 11),
        # Two rows with the same cells: degenerate points are removed.
        (([0, 1], [1, 2, 3], [1, 2, 3]), 6),
        (([4, 5], [0, 1, 2], [0, 1, 2]), 6),
    ],
)
def test_minors_and_the_core_have_as_many_points(rows, count):
    """One instance, two systems of equations for it."""
    allocation = in_rows(SIX, *rows)
    core, _ = modular_core(allocation, P, 3, "B", defer=False)
    assert by_minors(allocation) == count == quotient_degree(core.equations, timeout=60).degree


def test_fewer_samples_than_inputs():
    """The labels do not determine the powers: all samples are one linear system."""
    allocation = in_rows(LinearRNN(n=4, T=3, b=1, d=2, m=2), [0], [1], [2], [3])
    assert by_minors(allocation) == generic_root_count(allocation).value == 36


def test_columns():
    """One output, two inputs: the conditions of the columns."""
    network = LinearRNN(n=6, T=3, b=2, d=1, m=6)
    cells = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 2), (3, 2)]
    allocation = Allocation.from_cells(network, [("W", *cell) for cell in cells])
    assert by_minors(allocation) == generic_root_count(allocation).value == 3


def test_other_networks_are_not_its_business():
    """The encoder learns too: the result is None."""
    network = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    assert by_minors(Allocation.from_cells(network, [("W", 0, 0), ("B", 1, 0)])) is None


@pytest.mark.parametrize("shared", [False, True])
def test_verification_counts_twelve_neurons(shared):
    """N = 180 if the rows share few cells, less if one contains another: by both methods."""
    rows = ([0, 2, 3, 8], [0, 1, 5, 9, 10, 11], [1, 2, 3, 7, 9], [0, 1, 2, 3, 11], [4, 6, 7, 8])
    if shared:
        rows = (*rows[:4], [0, 1, 2, 3])
    allocation = in_rows(LinearRNN(n=12, T=6, b=1, d=4, m=6), *rows)
    core, _ = modular_core(allocation, P, 1, "B")
    found = recount(allocation, {}, core, P, seed=1, timeout=60)
    assert found.how == f"modulo {P} by minors in the powers of W"
    assert found.value == generic_root_count(allocation).value
    assert (found.value == 180) is not shared
