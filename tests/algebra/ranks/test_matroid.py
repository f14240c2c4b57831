"""Bases inside an allocation."""

from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.matroid import candidate_bases, greedy_basis, smallest_circuit
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN


def test_bases_have_full_rank_and_differ():
    """Each candidate is a sub-allocation of full rank, none is given twice."""
    net = LinearRNN(n=3, T=2, b=1, d=2, m=2)
    whole = Allocation.rows(net, "W", range(3))
    bases = list(candidate_bases(whole, 4, {}, 0, 12))
    assert len(bases) == len(set(bases)) > 3
    for cells in bases:
        part = Allocation.from_cells(net, cells)
        assert set(cells) <= set(whole.cells)
        assert allocation_rank(part).rank == part.size == 4


def test_greedy_takes_the_first_independent_cells():
    """In a linear estimator a row holds at most m independent cells."""
    net = LinearEstimator(q=4, d=2, m=2)
    order = [("W", 0, j) for j in range(4)] + [("W", 1, j) for j in range(4)]
    allocation = Allocation.from_cells(net, order)
    assert greedy_basis(allocation, order, 4, {}, 0) == (
        ("W", 0, 0), ("W", 0, 1), ("W", 1, 0), ("W", 1, 1),
    )  # fmt: skip
    assert greedy_basis(Allocation.from_cells(net, order[:4]), order[:4], 4, {}, 0) is None


def test_smallest_circuit():
    """Two 2×2 blocks and one more cell: nine dependent weights, every eight independent."""
    net = LinearFeedForward(q=5, widths=(5,), d=3, m=3)
    cells = [
        ("W1", i, j)
        for i, j in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (2, 3), (3, 2), (3, 3), (4, 4))
    ]
    allocation = Allocation.from_cells(net, cells)
    circuit = smallest_circuit(allocation)
    assert allocation_rank(Allocation.from_cells(net, circuit)).rank == len(circuit) - 1
    for cell in circuit:
        rest = [c for c in circuit if c != cell]
        assert allocation_rank(Allocation.from_cells(net, rest)).rank == len(rest)
    assert smallest_circuit(Allocation.from_cells(net, cells[:4])) == ()


def test_bases_among_very_many_cells(monkeypatch):
    """If orders are cut, bases are still bases; the first are those of whole orders."""
    net = LinearRNN(n=6, T=2, b=2, d=2, m=3)
    everything = Allocation.from_masks(net, W=[[1] * 6] * 6)
    whole = list(candidate_bases(everything, 6, {}, 0, 2))
    monkeypatch.setattr("algebra.ranks.matroid._MOST_CELLS", 10)
    monkeypatch.setattr("algebra.ranks.matroid._FIRST_CELLS", 4)
    found = list(candidate_bases(everything, 6, {}, 0, 8))
    assert found[:2] == whole
    assert len(set(found)) == len(found) > 2
    for cells in found:
        assert allocation_rank(Allocation.from_cells(net, cells)).rank == len(cells) == 6
