"""The corrected theorems are true: exhaustively on small nets, by audit."""

import random

import pytest

from algebra.plugins.papers.audit import audit
from algebra.plugins.papers.theorems.corrected import CORRECTED, rows_of_Tb_suffice
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.systems.root_count import generic_root_count
from matchprob import (
    Allocation,
    LinearEstimator,
    LinearFeedForward,
    LinearRNN,
    Problem,
    certify,
)


@pytest.mark.parametrize(
    ("network", "matrix", "count"),
    [
        (LinearEstimator(q=3, d=2, m=2), "W", None),
        (LinearFeedForward(q=3, widths=(3,), d=2, m=2), "W1", None),
        (LinearFeedForward(q=3, widths=(4,), d=1, m=3), "W1", None),
        (LinearFeedForward(q=3, widths=(3,), d=2, m=3), "W1", None),
        (LinearFeedForward(q=4, widths=(4,), d=3, m=3), "W1", 150),
        (LinearFeedForward(q=4, widths=(5,), d=2, m=3), "W1", 400),
        (LinearRNN(n=4, T=2, b=2, d=1, m=3), "B", None),
        (LinearRNN(n=4, T=1, b=3, d=2, m=2), "B", 400),
        (LinearRNN(n=4, T=2, b=2, d=2, m=3), "B", None),
        (LinearRNN(n=4, T=2, b=1, d=2, m=2), "W", 400),
        (LinearRNN(n=4, T=2, b=2, d=2, m=4), "W", 300),
        (LinearRNN(n=4, T=2, b=1, d=2, m=2), "D", None),
    ],
)
def test_never_wrong(network, matrix, count):
    """Compared with the exact rank, no corrected theorem is wrong about any allocation."""
    found = audit(network, matrix, count=count, corrected=True)
    ours = [t for t in found.theorems if t.theorem in CORRECTED]
    assert ours
    for t in ours:
        assert t.says_maximal_but_minimal == t.says_minimal_but_not == 0


def test_rows_of_tb():
    """Rows of Tb weights: maximal with N = 1 if b divides m, minimal below the bound."""
    rng = random.Random(3)
    seen = {True: 0, False: 0, None: 0}
    for T in (1, 2, 3):
        for b in (1, 2, 3):
            for d in (1, 2, 3, 4):
                for m in range(1, T * b + 3):
                    rows, rest = divmod(d * m, T * b)
                    n = max(T * b, T * d, rows)
                    if rest or n > 9:
                        continue
                    net = LinearRNN(n=n, T=T, b=b, d=d, m=m)
                    cells = [("W", i, j) for i in range(rows) for j in rng.sample(range(n), T * b)]
                    allocation = Allocation.from_cells(net, cells)
                    word = rows_of_Tb_suffice(net)
                    full = allocation_rank(allocation).rank == d * min(m, T * b)
                    seen[word] += 1
                    if word is not None:
                        assert full == word
                        said = CORRECTED["3.5 corrected"].says(net, allocation)
                        assert said == ("maximal" if word else "minimal")
                    if full and m <= T * b:
                        assert generic_root_count(allocation).value == 1
    assert seen[True] > 10
    assert seen[False] > 5


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_whole_rows_for_two_steps(n):
    """Theorem 1 within its premises; outside (d > n, m > 2b) there are exceptions to its words."""
    rng, exceptions = random.Random(n), set()
    sizes = [(b, d, m) for b in (1, 2) for d in range(1, n + 3) for m in range(1, 2 * b + 3)]
    for b, d, m in sizes:
        k, rest = divmod(d * m, 2 * b)
        if rest or k > n or 2 * b > n:
            continue
        net = LinearRNN(n=n, T=2, b=b, d=d, m=m)
        rows = rng.sample(range(n), k)
        cells = [("W", i, j) for i in rows for j in rng.sample(range(n), 2 * b)]
        full = network_rank(net).rank == allocation_rank(Allocation.from_cells(net, cells)).rank
        if full != (m in (b, 2 * b)):
            exceptions.add((d > n, m > 2 * b))
    assert (False, False) not in exceptions
    assert n == 2 or exceptions


def test_more_samples_than_inputs():
    """Two samples determine all labels of four: four rows of two weights are maximal."""
    net = LinearRNN(n=5, T=2, b=1, d=2, m=4)
    allocation = Allocation.from_cells(net, [("W", i, j) for i in range(4) for j in range(2)])
    assert CORRECTED["3.5 corrected"].says(net, allocation) == "maximal"
    assert certify(Problem(net, allocation.masks)).verdict == "maximal"
