"""Budgets of lines, and least covers by them, compared with brute force."""

import random

import numpy as np

from algebra.ranks.budgets.cover import rank_cover
from algebra.ranks.budgets.lines import (
    Budget,
    budget_sentences,
    budgets,
    line_cover,
    shortest_first,
)
from matchprob import Allocation, LinearEstimator, LinearFeedForward
from tests.algebra.ranks.budgets.cases import least_line_cover


def test_the_cover_is_a_least_one():
    """The minimum cut is the least sum over all sets of rows, columns and single cells."""
    rng = random.Random(11)
    for _ in range(120):
        d, m, rows, columns = (rng.randint(1, 4) for _ in range(4))
        network = LinearFeedForward(q=max(columns, m), widths=(columns, rows), d=d, m=m)
        mask = np.array([[rng.random() < 0.6 for _ in range(columns)] for _ in range(rows)], int)
        allocation = Allocation.from_masks(network, W2=mask)
        cover = line_cover(allocation)
        row_limit, column_limit = min(m, columns), min(d, rows)
        least = least_line_cover(mask, row_limit, column_limit)
        assert cover.limit == min(least, row_limit * column_limit)
        covered = {c for budget in cover.budgets for c in budget.cells(allocation)}
        assert len(covered) + cover.uncovered == allocation.size


def test_budgets_count_their_cells():
    """Each line that learns has one budget, which counts and names its weights."""
    network = LinearEstimator(q=3, d=2, m=2)
    allocation = Allocation.from_masks(network, W=[[1, 1, 0], [0, 1, 0]])
    found = {(b.kind, *b.rows, *b.columns): b.learnable for b in budgets(allocation)}
    assert found == {
        ("total",): 3,
        ("matrix",): 3,
        ("row", ("W", 0)): 2,
        ("row", ("W", 1)): 1,
        ("column", ("W", 0)): 1,
        ("column", ("W", 1)): 2,
    }
    order = [b.kind for b in sorted(budgets(allocation), key=shortest_first)]
    assert order[:2] == ["total", "matrix"]


def test_cover_is_stated_in_words():
    """A cover lists its budgets and the weights outside them."""
    network = LinearEstimator(q=4, d=2, m=2)
    allocation = Allocation.from_masks(network, W=[[1, 1, 1, 0], [1, 0, 0, 0]])
    assert str(rank_cover(allocation)) == (
        "rank at most 3: row 0 of W has 3 learnable weights but takes part in only m = 2 "
        "equations; 1 other learnable weight"
    )
    assert str(rank_cover(allocation.without(allocation.cells))) == (
        "rank at most 0: 0 learnable weights"
    )
    one = Budget("row", ("W",), (("W", 0),), (), 1, 2, "m = 2 equations")
    assert str(one) == "row 0 of W has 1 learnable weight and takes part in m = 2 equations"
    many = Budget(
        "cross", ("W",), tuple(("W", i) for i in range(9)), (("W", 4),), 9, 8, "8 equations"
    )
    assert many.reason == (
        "rows 0, 1, 2, 3, 4, 5, 6, 7 and 1 more and column 4 of W hold 9 learnable weights but "
        "take part in only 8 equations"
    )


def test_many_rows_are_one_sentence():
    """Rows of equal limits in one sentence, fewer than four singly, columns apart from rows."""
    network = LinearEstimator(q=6, d=12, m=3)
    mask = np.zeros((12, 6), int)
    mask[:3, :4] = mask[3:, 2:] = 1
    mask[11] = 1
    rows = [b for b in budgets(Allocation.from_masks(network, W=mask)) if b.kind == "row"]
    assert budget_sentences(rows) == (
        "rows 0, 1, 2, 3, 4, 5, 6, 7 and 4 more of W have 4 to 6 learnable weights each but take "
        "part in only m = 3 equations each",
    )
    assert budget_sentences(rows[:3]) == tuple(map(str, rows[:3]))
    columns = [b for b in budgets(Allocation.from_masks(network, W=mask)) if b.kind == "column"]
    assert len(budget_sentences([*rows, *columns])) == 2
    within = [b for b in budgets(Allocation.rows(network, "W", range(5))) if b.kind == "column"]
    assert budget_sentences(within) == (
        "columns 0, 1, 2, 3, 4, 5 of W have 5 learnable weights each and take part in d = 12 "
        "equations each",
    )
