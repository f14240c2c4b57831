"""Budgets of lines, and least covers by them, compared with brute force."""

import random

import numpy as np
import pytest

from algebra.networks.base import Network
from algebra.ranks.budgets.cover import rank_bound, rank_cover
from algebra.ranks.budgets.crosses import violated_crosses
from algebra.ranks.budgets.lines import (
    Budget,
    budget_sentences,
    budgets,
    limit_of_matrices,
    line_cover,
    shortest_first,
)
from algebra.words import plural
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU
from tests.algebra.ranks.budgets.cases import Jacobian, all_cells, least_line_cover
from tests.refusals import refuses


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


FEW_SAMPLES = LinearRNN(n=8, T=2, b=2, d=4, m=1)


@pytest.mark.parametrize("sizes", [(2, 2, 4, 4), (2, 2, 3, 1), (3, 1, 2, 2), (1, 3, 2, 3)])
@pytest.mark.parametrize("name", ["W", "B", "D"])
def test_line_limits_of_a_wide_rnn_are_attained(sizes, name):
    """A full row and a full column of a wide RNN have exactly the rank of their budget."""
    T, b, d, m = sizes
    network = LinearRNN(n=T * max(b, d) + 2, T=T, b=b, d=d, m=m)
    jacobian = Jacobian(network, 5)
    for kind, make in (("row", Allocation.rows), ("column", Allocation.columns)):
        allocation = make(network, name, [0])
        (line,) = [x for x in budgets(allocation) if x.kind == kind]
        assert jacobian.rank(allocation.cells) == min(line.limit, allocation.size)


def test_column_budget_of_a_recurrent_matrix_is_not_tm():
    """With one sample and T = 2 a column of W still changes all d = 4 outputs, not Tm = 2."""
    allocation = Allocation.columns(FEW_SAMPLES, "W", [0])
    assert Jacobian(FEW_SAMPLES, 1).rank(allocation.cells) == 4
    column = next(budget for budget in budgets(allocation) if budget.kind == "column")
    assert (column.limit, column.equations) == (4, "dm = 4 equations")


def test_columns_of_a_masked_layer_have_no_budget():
    """Units of a ReLU layer mask differently: a column of W1 can have rank above d."""
    network = ShallowReLU(q=4, n=6, d=2, m=4)
    cells = [c for c in all_cells(network, ["W1"]) if c[1] == 0 or c[2] == 0]
    allocation = Allocation.from_cells(network, cells)
    column = [c for c in cells if c[2] == 0]
    ranks = [[Jacobian(network, seed).rank(x) for seed in range(20)] for x in (column, cells)]
    assert max(ranks[0]) > network.d
    assert max(ranks[1]) > 4 + 2 - 1
    assert {b.kind for b in budgets(allocation)} == {"total", "matrix", "row"}
    assert violated_crosses(allocation).crosses == ()
    assert max(ranks[1]) <= rank_bound(allocation) == 8


@pytest.mark.parametrize(
    "network",
    [
        LinearRNN(n=5, T=2, b=2, d=3, m=2),
        LinearRNN(n=2, T=3, b=1, d=3, m=2),
        LinearFeedForward(q=3, widths=(2, 4), d=3, m=4),
        LinearEstimator(q=2, d=3, m=4),
        ShallowReLU(q=4, n=3, d=2, m=4),
    ],
)
def test_whole_matrices_stay_within_their_limit(network):
    """All weights of one matrix, and of all, have no larger rank than the limit."""
    jacobian = Jacobian(network, 8)
    names = tuple(network.shapes)
    for chosen in (*((name,) for name in names), names):
        value, words = limit_of_matrices(network, chosen)
        assert jacobian.rank(all_cells(network, chosen)) <= value
        assert str(value) in words


def test_limits_in_words():
    """A limit names the letters of the paper whose product it is, with the right number."""
    layer = LinearRNN(n=8, T=2, b=2, d=4, m=1).limits()["W"]
    assert layer.row == (2, "Tm = 2 equations")
    assert layer.column == (4, "dm = 4 equations")
    assert LinearEstimator(q=3, d=1, m=2).limits()["W"].column == (1, "d = 1 equation")
    assert (plural(1, "row"), plural(2, "row")) == ("row", "rows")


def test_unknown_kinds_are_refused():
    """A network of a kind without known budgets raises InputError that names the kind."""

    class Other(Network):
        d = m = 1
        shapes = {"W": (1, 1)}  # noqa: RUF012
        input_shape = (1, 1)

        def __post_init__(self):
            pass

        def build(self):
            raise NotImplementedError

        def forward(self, weights, X, matmul=None):
            raise NotImplementedError

    # Set on the instance: a class with a kind would be entered in the registry.
    other = Other()
    other.kind = "odd"
    allocation = Allocation.from_cells(other, [("W", 0, 0)])
    refuses("'odd'", budgets, allocation)
