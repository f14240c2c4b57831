"""Ranks of named allocations: the papers' theorems and their failures (design, section 4)."""

from fractions import Fraction

import pytest

from algebra.ranks.generic_rank import allocation_rank, network_rank
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN


def W(*cells):
    return [("W", i, j) for i, j in cells]


BLOCKS = W(*((i, j) for i in (0, 1) for j in (0, 1)), *((i, j) for i in (2, 3) for j in (2, 3)))
ROW_AND_COLUMN = W(*((0, j) for j in range(1, 9)), *((i, 0) for i in range(1, 9)))
CASES = {
    # (network, cells, rank of the allocation, rank of the network)
    "theorem 4.1, T = 1: rows ≤ m and columns ≤ d do not suffice": (
        LinearRNN(n=3, T=1, b=2, d=2, m=2),
        W((0, 1), (0, 2), (1, 0), (2, 0)),
        3,
        4,
    ),
    "theorem 4.1, a middle layer": (
        LinearFeedForward(q=2, widths=(3, 3), d=2, m=2),
        [("W2", 0, 1), ("W2", 0, 2), ("W2", 1, 0), ("W2", 2, 0)],
        3,
        4,
    ),
    "theorem 4.1: two blocks and one more cell": (
        LinearRNN(n=5, T=1, b=3, d=3, m=3),
        [*BLOCKS, ("W", 4, 4)],
        8,
        9,
    ),
    "theorem 3.2: a row of 8 and a column of 8 without the shared cell": (
        LinearRNN(n=9, T=2, b=4, d=4, m=4),
        ROW_AND_COLUMN,
        12,
        16,
    ),
    "theorem 3.5 with m < b": (
        LinearRNN(n=8, T=2, b=2, d=4, m=1),
        W(*((3, j) for j in range(4))),
        2,
        4,
    ),
    "theorem 3.4 misses this one": (
        LinearRNN(n=4, T=2, b=2, d=2, m=4),
        W((0, 0), (1, 0), (1, 3), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3)),
        7,
        8,
    ),
    "warm-up: two weights a row": (
        LinearEstimator(q=4, d=2, m=2),
        W((0, 0), (0, 3), (1, 1), (1, 2)),
        4,
        4,
    ),
    "warm-up: one weight moved": (
        LinearEstimator(q=4, d=2, m=2),
        W((0, 0), (0, 3), (0, 2), (1, 2)),
        3,
        4,
    ),
    "a row of Tb and nothing else": (
        LinearRNN(n=4, T=2, b=2, d=1, m=4),
        W(*((1, j) for j in range(4))),
        4,
        4,
    ),
    "a row above Tb": (
        LinearRNN(n=6, T=2, b=1, d=2, m=2),
        W((0, 0), (0, 1), (0, 2), (1, 0)),
        3,
        4,
    ),
    "nothing learns": (LinearRNN(n=2, T=2, b=1, d=1, m=2), [], 0, 2),
    "too few": (LinearEstimator(q=2, d=2, m=2), W((0, 0)), 1, 4),
    "more weights than equations": (
        LinearRNN(n=2, T=2, b=1, d=1, m=2),
        W((0, 0), (0, 1), (1, 0), (1, 1)),
        2,
        2,
    ),
    "encoder": (LinearRNN(n=3, T=2, b=1, d=1, m=2), [("B", 0, 0), ("B", 2, 0)], 2, 2),
    "decoder: n weights a row, m samples": (
        LinearRNN(n=3, T=2, b=1, d=2, m=2),
        [("D", 0, 0), ("D", 0, 1), ("D", 0, 2), ("D", 1, 0)],
        3,
        4,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_named_cases(name):
    """Ranks of the design's and the papers' allocations; full ones proved, deficits bounded."""
    network, cells, expected, whole = CASES[name]
    total = network_rank(network)
    assert total.rank == whole
    assert total.is_proved
    found = allocation_rank(Allocation.from_cells(network, cells), upper=total.rank)
    assert found.rank == expected
    if expected == min(whole, len(cells)):
        assert found.error == 0
    else:
        assert 0 < found.error < Fraction(1, 2**60)
        assert not found.is_proved
        # Independent points: no prime and no point twice.
        assert len({p for p, _ in found.points}) == len(found.points) >= 3


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (W((0, 0), (0, 1)), 2),
        (W((1, 0), (1, 1)), 2),
        (W((0, 0), (1, 0)), 2),
        (W((0, 1), (1, 1)), 2),
        (W((0, 0), (1, 1)), 2),
        (W((0, 1), (1, 0)), 2),
    ],
)
def test_no_pair_of_b11_is_minimal(cells, expected):
    """All six allocations of the papers' example net have full rank."""
    allocation = Allocation.from_cells(LinearRNN(n=2, T=2, b=1, d=1, m=2), cells)
    assert allocation_rank(allocation).rank == expected
