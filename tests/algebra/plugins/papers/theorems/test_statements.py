"""The paper's theorems as stated, on allocations with known statements."""

from itertools import combinations

import pytest

from algebra.plugins.papers.theorems.statements import what_theorems_say
from algebra.ranks.budgets.cover import budget_violations
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU

RNN = LinearRNN(n=4, T=2, b=1, d=2, m=2)
LAYERS = LinearFeedForward(q=4, widths=(4, 4), d=2, m=2)


def said(network, name, cells):
    words = what_theorems_say(network, Allocation.from_cells(network, [(name, *c) for c in cells]))
    return {key: word for key, word in words.items() if word != "silent"}


@pytest.mark.parametrize(
    ("network", "name", "cells", "expected"),
    [
        (RNN, "D", [(0, 0), (0, 1), (1, 2), (1, 3)], {"3.1": "maximal"}),
        (RNN, "D", [(0, 0), (0, 1), (0, 2), (1, 3)], {"3.1": "minimal"}),
        (RNN, "B", [(0, 0), (1, 0), (2, 0), (3, 0)], {"3.2": "maximal"}),
        (RNN, "W", [(0, 0), (0, 1), (0, 2), (1, 3)], {"3.4": "minimal"}),
        (RNN, "W", [(0, 0), (0, 1), (2, 2), (2, 3)], {"3.5": "maximal"}),
        (RNN, "W", [(0, 1), (1, 1), (2, 1), (3, 1)], {"3.5": "maximal"}),
        (RNN, "W", [(0, 0), (1, 1), (2, 2), (3, 3)], {}),
        (
            LAYERS, "W2", [(0, 0), (0, 1), (1, 2), (1, 3)],
            {"4.1 (one of)": "maximal", "4.1 (both)": "maximal"},
        ),
        (
            LAYERS, "W1", [(0, 0), (0, 1), (0, 2), (1, 3)],
            {"4.1 (one of)": "maximal", "4.1 (both)": "minimal"},
        ),
        (
            LAYERS, "W1", [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)][:4],
            {"4.1 (one of)": "maximal", "4.1 (both)": "minimal"},
        ),
        (LAYERS, "W3", [(0, 0), (0, 1), (1, 0), (1, 1)], {"3.1": "maximal"}),
        (LinearEstimator(q=3, d=2, m=2), "W", [(0, 0), (0, 1), (0, 2), (1, 0)],
         {"3.1": "minimal"}),
    ],
)  # fmt: skip
def test_words(network, name, cells, expected):
    """Each theorem makes a statement if it applies, and none otherwise."""
    assert said(network, name, cells) == expected


def test_silence():
    """Other numbers of weights, mixed matrices, dependent samples and ReLU: no statement."""
    assert said(RNN, "W", [(0, 0)]) == {}
    assert said(LinearRNN(n=4, T=1, b=1, d=1, m=2), "W", [(0, 0), (0, 1)]) == {}
    relu = ShallowReLU(q=2, n=2, d=1, m=1)
    assert said(relu, "W1", [(0, 0)]) == {}
    mixed = Allocation.from_cells(RNN, [("B", 0, 0), ("W", 1, 2), ("D", 0, 1), ("D", 1, 0)])
    assert set(what_theorems_say(RNN, mixed).values()) == {"silent"}


def test_the_decoder_theorem_is_right():
    """Theorem 3.1 agrees with the exact rank on every allocation of a small decoder."""
    net = LinearEstimator(q=3, d=2, m=2)
    cells = [("W", i, j) for i in range(2) for j in range(3)]
    for chosen in combinations(cells, 4):
        allocation = Allocation.from_cells(net, chosen)
        word = what_theorems_say(net, allocation)["3.1"]
        assert (word == "maximal") == (allocation_rank(allocation).rank == 4)


def rows_of(network, rows, per_row):
    """An allocation of Theorem 3.5's form: whole blocks of cells in the first rows."""
    return Allocation.from_cells(
        network, [("W", i, (i + j) % network.n) for i in range(rows) for j in range(per_row)]
    )


def test_theorem_35_corrected_for_two_steps():
    """T = 2: rows of 2b weights are maximal (N = 1) if and only if m is b or 2b."""
    seen = {True: 0, False: 0}
    for b in (1, 2, 3):
        for d in (1, 2, 3, 4):
            for m in range(1, 2 * b + 1):
                rows, rest = divmod(d * m, 2 * b)
                if rest:
                    continue
                net = LinearRNN(n=max(2 * b, 2 * d, rows), T=2, b=b, d=d, m=m)
                allocation = rows_of(net, rows, 2 * b)
                assert what_theorems_say(net, allocation)["3.5"] == "maximal"
                maximal = allocation_rank(allocation).rank == d * m
                assert maximal == (m in (b, 2 * b))
                seen[maximal] += 1
                if maximal:
                    assert generic_root_count(allocation).value == 1
                else:
                    kernel = rows * (b - m) if m < b else (2 * b - m) * (2 * rows - d)
                    if m > b:
                        assert allocation_rank(allocation).rank == d * m - kernel
    assert min(seen.values()) >= 4


@pytest.mark.parametrize(("d", "m", "n", "q"), [(2, 2, 3, 3), (1, 3, 3, 4), (3, 1, 4, 3)])
def test_theorem_41_corrected(d, m, n, q):
    """One layer with d, m ≤ 2, or one of them 1: minimal if and only if a budget is violated."""
    net = LinearFeedForward(q=q, widths=(n,), d=d, m=m)
    cells = [("W1", i, j) for i in range(n) for j in range(q)]
    for chosen in combinations(cells, d * m):
        allocation = Allocation.from_cells(net, chosen)
        minimal = allocation_rank(allocation).rank < d * m
        assert minimal == bool(budget_violations(allocation))


def cross(row, column):
    """A row and a column without the shared cell."""
    return [(0, j) for j in range(1, row + 1)] + [(i, 0) for i in range(1, column + 1)]


BLOCKS = [(i, j) for k in (0, 2) for i in (k, k + 1) for j in (k, k + 1)] + [(4, 4)]
MISSED = [(0, 0), (1, 0), (1, 3), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3)]


@pytest.mark.parametrize(
    ("network", "name", "cells", "theorem", "word", "rank"),
    [
        pytest.param(
            LinearFeedForward(q=3, widths=(3,), d=2, m=2), "W1", cross(2, 2),
            "4.1 (both)", "maximal", 3, id="4.1-cross",
        ),
        pytest.param(
            LinearFeedForward(q=5, widths=(5,), d=3, m=3), "W1", BLOCKS,
            "4.1 (both)", "maximal", 8, id="4.1-two-blocks",
        ),
        pytest.param(
            LinearRNN(n=3, T=1, b=3, d=2, m=2), "B", cross(2, 2),
            "3.2", "maximal", 3, id="3.2-one-step",
        ),
        pytest.param(
            LinearRNN(n=18, T=2, b=9, d=4, m=4), "B", cross(8, 8),
            "3.2", "maximal", 12, id="3.2-two-steps-cross",
        ),
        pytest.param(
            LinearRNN(n=6, T=2, b=3, d=3, m=5), "B", [(i, j) for i in range(5) for j in range(3)],
            "3.2", "maximal", 14, id="3.2-two-steps-whole-rows",
        ),
        pytest.param(
            LinearRNN(n=10, T=2, b=5, d=5, m=3), "B", [(i, j) for i in range(3) for j in range(5)],
            "3.2", "maximal", 14, id="3.2-two-steps-whole-columns",
        ),
        pytest.param(
            LinearRNN(n=4, T=2, b=2, d=2, m=4), "W", MISSED,
            "3.4", "silent", 7, id="3.4-misses",
        ),
        pytest.param(
            LinearRNN(n=8, T=2, b=2, d=4, m=1), "W", [(0, j) for j in range(4)],
            "3.5", "maximal", 2, id="3.5-m-below-b",
        ),
        pytest.param(
            LinearRNN(n=6, T=2, b=3, d=3, m=4), "W", [(i, j) for i in range(2) for j in range(6)],
            "3.5", "maximal", 10, id="3.5-m-above-b",
        ),
        pytest.param(
            LinearRNN(n=18, T=3, b=2, d=6, m=5), "W", [(i, j) for i in range(5) for j in range(6)],
            "3.5", "maximal", 27, id="3.5-three-steps",
        ),
    ],
)  # fmt: skip
def test_counterexamples(network, name, cells, theorem, word, rank):
    """The known failures: the statement, and the exact rank, below dm."""
    allocation = Allocation.from_cells(network, [(name, *cell) for cell in cells])
    assert allocation.size == network.outputs > rank
    assert what_theorems_say(network, allocation)[theorem] == word
    assert allocation_rank(allocation).rank == rank
    assert network_rank(network).rank == network.outputs
