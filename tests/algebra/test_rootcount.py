"""The generic root count: known values, blocks, and honest refusals."""

import pytest

from algebra.allocation import Allocation
from algebra.errors import InputError
from algebra.networks import LinearFeedForward, LinearRNN
from algebra.rootcount import RootCountError, generic_root_count, preferred_forms

B11 = LinearRNN(n=2, T=2, b=1, d=1, m=2)
SIX_ROWS = [
    (0, 2), (0, 4), (1, 0), (1, 6), (1, 7), (2, 0), (2, 5), (2, 7),
    (3, 6), (4, 0), (4, 1), (4, 2), (4, 3), (5, 1), (5, 2), (5, 7),
]  # fmt: skip


def test_the_example_net():
    """N = 2 on both diagonals, 1 on rows and columns."""
    for mask, count in (
        ([[1, 0], [0, 1]], 2),
        ([[0, 1], [1, 0]], 2),
        ([[1, 1], [0, 0]], 1),
        ([[1, 0], [1, 0]], 1),
    ):
        found = generic_root_count(Allocation.from_masks(B11, W=mask))
        assert found.value == count
        assert (found.rule == "linear") == (count == 1)


def test_six_rows():
    """A Figure 2 allocation: 89, the product of its blocks, from two primes."""
    net = LinearRNN(n=8, T=4, b=1, d=4, m=4)
    found = generic_root_count(Allocation.from_cells(net, [("W", *c) for c in SIX_ROWS]))
    product = 1
    for count in found.blocks:
        product *= count
    assert found.value == product == 89
    assert len(set(found.primes)) == 2


def test_independent_problems_multiply():
    """Two separate quadratic blocks: the count is the product of theirs."""
    net = LinearFeedForward(q=2, widths=(2,), d=2, m=2)
    diagonal = Allocation.from_masks(net, W1=[[1, 0], [0, 1]], W2=[[1, 0], [0, 1]])
    assert generic_root_count(diagonal).value == generic_root_count(diagonal, seed=5).value


def test_the_smaller_core_comes_first():
    """Few rows: the B form; few columns: the D form."""
    net = LinearRNN(n=4, T=2, b=1, d=1, m=2)
    assert preferred_forms(net, Allocation.rows(net, "W", [0]))[0] == "B"
    assert preferred_forms(net, Allocation.columns(net, "W", [0]))[0] == "D"


def test_refusals():
    """Minimal, over-complete and too hard: each told apart."""
    with pytest.raises(InputError, match="minimal"):
        generic_root_count(Allocation.from_masks(B11, W=[[1, 0], [0, 0]]))
    with pytest.raises(InputError, match="infinitely many"):
        generic_root_count(Allocation.from_masks(B11, W=[[1, 1], [1, 0]]))
    hard = LinearRNN(n=8, T=4, b=1, d=2, m=4)
    cells = [("W", i, (3 * i + 1) % 8) for i in range(8)]
    with pytest.raises(RootCountError, match="took longer than"):
        generic_root_count(Allocation.from_cells(hard, cells), timeout=1)
