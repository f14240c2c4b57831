"""Audits: the design's counterexamples, and agreement with one allocation at a time."""

from itertools import combinations

import numpy as np
import pytest

from algebra.plugins.papers.audit import _selections, audit
from algebra.plugins.papers.theorems.statements import what_theorems_say
from algebra.ranks.generic_rank import allocation_rank, network_rank
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN
from tests.refusals import refuses

LAYER = LinearFeedForward(q=3, widths=(3,), d=2, m=2)


@pytest.mark.parametrize(
    ("network", "matrix"),
    [
        (LAYER, "W1"),
        (LAYER, "W2"),
        (LinearRNN(n=4, T=2, b=2, d=1, m=3), "B"),
        (LinearRNN(n=3, T=2, b=1, d=1, m=2), "W"),
        (LinearRNN(n=3, T=1, b=2, d=2, m=2), "B"),
        (LinearEstimator(q=3, d=2, m=2), "W"),
    ],
)
def test_agrees_with_single_verdicts(network, matrix):
    """Every number of the audit, allocation by allocation."""
    found = audit(network, matrix)
    rows, columns = network.shapes[matrix]
    cells = [(matrix, i, j) for i in range(rows) for j in range(columns)]
    whole = network_rank(network).rank
    wrong, minimal, checked = {}, 0, 0
    for chosen in combinations(cells, network.outputs):
        allocation = Allocation.from_cells(network, chosen)
        truth = "minimal" if allocation_rank(allocation).rank < whole else "maximal"
        minimal += truth == "minimal"
        checked += 1
        for name, word in what_theorems_say(network, allocation).items():
            if word not in ("silent", truth):
                wrong[name, word] = wrong.get((name, word), 0) + 1
    assert (found.checked, found.minimal) == (checked, minimal)
    for t in found.theorems:
        assert t.says_maximal_but_minimal == wrong.get((t.theorem, "maximal"), 0)
        assert t.says_minimal_but_not == wrong.get((t.theorem, "minimal"), 0)
        assert t.agree + t.silent + t.says_maximal_but_minimal + t.says_minimal_but_not == checked


def test_theorem_41_smallest_counterexample():
    """d = m = 2 on a 3×3 layer: nine allocations meet both conditions and are minimal."""
    both = audit(LAYER, "W1").theorems[1]
    assert both.theorem == "4.1 (both)"
    assert both.says_maximal_but_minimal == 9
    assert both.says_minimal_but_not == 0
    assert len(next(e.cells for e in both.examples if e.says == "maximal")) == 4


def test_theorem_35_where_m_is_less_than_b():
    """One row of four weights at n = 8, T = 2, b = 2, d = 4, m = 1 is found to be wrong."""
    found = audit(LinearRNN(n=8, T=2, b=2, d=4, m=1), "W", count=20000)
    wrong = {t.theorem: t.says_maximal_but_minimal for t in found.theorems}
    assert wrong["3.5"] > 0
    assert wrong["3.4"] == 0


def test_theorem_34_is_never_wrong_but_misses():
    """n = 4: Theorem 3.4 never calls an allocation minimal that is not."""
    found = audit(LinearRNN(n=4, T=2, b=1, d=2, m=2), "W")
    by_name = {t.theorem: t for t in found.theorems}
    assert by_name["3.4"].says_minimal_but_not == 0
    assert by_name["3.4"].agree <= found.minimal


def test_random_draws_repeat():
    """The same seed audits the same allocations; the error bound stays below 2^-60."""
    net = LinearFeedForward(q=5, widths=(5,), d=3, m=3)
    one, two = (audit(net, "W1", count=3000, seed=s) for s in (5, 5))
    assert one == two
    assert one.checked == 3000
    assert 0 < one.error_bound < 2**-60


def test_examples_are_small_and_carry_evidence():
    """The example has the fewest lines, and its rank at its points is the stated one."""
    found = audit(LinearFeedForward(q=4, widths=(4,), d=2, m=2), "W1")
    both = next(t for t in found.theorems if t.theorem == "4.1 (both)")
    (example,) = both.examples
    assert example.says == "maximal"
    assert len({c[1] for c in example.cells}) + len({c[2] for c in example.cells}) == 6
    allocation = Allocation.from_cells(found.network, example.cells)
    assert (example.rank, example.equations) == (3, 4)
    assert allocation_rank(allocation).rank == 3
    assert len(example.points) >= 2
    assert example.to_dict() in found.to_dict()["examples"]
    assert "rank 3 of 4" in str(example)
    printed = next(t for t in found.theorems if t.theorem == "4.1 (one of)")
    assert {e.says for e in printed.examples} == {"maximal"}


def test_wide_matrices():
    """Of a matrix with 40,000 cells, all of them are drawn, and each once."""
    drawn = np.concatenate(list(_selections(40_000, 8, 200, 0, 50)))
    assert drawn.shape == (200, 8)
    assert 0 <= drawn.min() < 100
    assert 39_900 < drawn.max() < 40_000
    assert (np.diff(drawn.astype(np.int64), axis=1) > 0).all()
    whole = np.concatenate(list(_selections(40_000, 8, 200, 0, 200)))
    assert np.array_equal(drawn, whole)


def test_too_many_and_bad():
    """Too many allocations, unknown matrices, impossible budgets: bad input."""
    refuses("with `count`", audit, LinearRNN(n=8, T=4, b=1, d=4, m=4), "W")
    refuses("no matrix `V`", audit, LAYER, "V")
    refuses("`budget` \\(99\\)", audit, LAYER, "W1", budget=99)
    refuses("`count` \\(0\\)", audit, LAYER, "W1", count=0)
