"""Limits of rows, columns and matrices compared with ranks mod p."""

import pytest

from algebra.networks.base import Network
from algebra.networks.limits import plural
from algebra.ranks.budgets.cover import rank_bound
from algebra.ranks.budgets.crosses import violated_crosses
from algebra.ranks.budgets.limits import limit_of_matrices
from algebra.ranks.budgets.lines import budgets
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU
from tests.algebra.ranks.budgets.cases import Jacobian, all_cells
from tests.refusals import refuses

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

        def forward(self, weights, X, matmul=None):
            raise NotImplementedError

    # Set on the instance: a class with a kind would be entered in the registry.
    other = Other()
    other.kind = "odd"
    allocation = Allocation.from_cells(other, [("W", 0, 0)])
    refuses("'odd'", budgets, allocation)
