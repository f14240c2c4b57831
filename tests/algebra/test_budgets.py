"""Budgets against Jacobian ranks mod p, differentiated through `network.forward`."""

import random
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from flint import nmod_mat
from hypothesis import given, settings
from hypothesis import strategies as st

import algebra.budgets as budgets_module
from algebra.allocation import Allocation
from algebra.budgets import (
    Budget,
    Violation,
    budget_violations,
    budgets,
    rank_bound,
    rank_cover,
    violated_crosses,
)
from algebra.errors import InputError
from algebra.networks import LinearEstimator, LinearFeedForward, LinearRNN, Network, ShallowReLU

PRIME = 2**61 - 1


class Dual:
    """Matrices a + b·ε with ε² = 0, over the integers."""

    def __init__(self, value, slope):
        self.value, self.slope = value, slope

    def __matmul__(self, other):
        slope = self.value @ other.slope + self.slope @ other.value
        return Dual(self.value @ other.value, slope)

    def __add__(self, other):
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, mask):
        return Dual(self.value * mask, self.slope * mask)

    def __gt__(self, bound):
        return (self.value > bound).astype(int).astype(object)

    def __getitem__(self, index):
        return Dual(self.value[index], self.slope[index])


class Jacobian:
    """Columns of the Jacobian of the labels at one random integer point."""

    def __init__(self, network, seed):
        rng = random.Random(seed)

        def draw(shape):
            entries = [rng.randint(-9999, 9999) for _ in range(shape[0] * shape[1])]
            return np.array(entries, object).reshape(shape)

        self.network = network
        self.weights = {name: draw(shape) for name, shape in network.shapes.items()}
        self.X = draw(network.input_shape)
        self.columns = {}

    def column(self, cell):
        if cell not in self.columns:
            duals = {k: Dual(w, np.zeros(w.shape, object)) for k, w in self.weights.items()}
            duals[cell[0]].slope[cell[1:]] = 1
            zero = np.zeros(self.X.shape, object)
            slope = self.network.forward(duals, Dual(self.X, zero)).slope
            self.columns[cell] = [int(x) % PRIME for x in slope.ravel()]
        return self.columns[cell]

    def rank(self, cells):
        rows = [self.column(cell) for cell in cells]
        entries = [x for row in rows for x in row]
        return nmod_mat(len(rows), self.network.outputs, entries, PRIME).rank() if rows else 0


def random_network(rng):
    kind = rng.choice(["linear", "lrnn", "lrnn", "lffn", "relu"])
    d, m = rng.randint(1, 4), rng.randint(1, 4)
    if kind == "linear":
        return LinearEstimator(q=rng.randint(1, 5), d=d, m=m)
    if kind == "lffn":
        widths = tuple(rng.randint(1, 5) for _ in range(rng.randint(1, 3)))
        return LinearFeedForward(q=rng.randint(1, 5), widths=widths, d=d, m=m)
    if kind == "relu":
        return ShallowReLU(q=rng.randint(1, 4), n=rng.randint(1, 5), d=d, m=m)
    T, b = rng.randint(1, 3), rng.randint(1, 3)
    return LinearRNN(n=rng.randint(1, 7), T=T, b=b, d=d, m=m)


def all_cells(network, names):
    shapes = network.shapes
    return [(x, i, j) for x in names for i in range(shapes[x][0]) for j in range(shapes[x][1])]


def random_allocation(rng, network):
    """Cells at random, or most cells of a few lines and some more."""
    names = [x for x in network.shapes if rng.random() < 0.6] or [rng.choice([*network.shapes])]
    cells = all_cells(network, names)
    size = min(len(cells), rng.randint(1, network.outputs + 1))
    if rng.random() < 0.4:
        return Allocation.from_cells(network, rng.sample(cells, size))
    chosen = [rng.choice(cells) for _ in range(rng.randint(1, 3))]
    axes = [rng.choice([1, 2]) for _ in chosen]
    full = [
        c
        for c in cells
        if any(c[0] == o[0] and c[a] == o[a] for o, a in zip(chosen, axes, strict=True))
    ]
    picked = [c for c in full if rng.random() < 0.9][: network.outputs + 2]
    picked += rng.sample(cells, min(len(cells), max(0, size - len(picked))))
    return Allocation.from_cells(network, dict.fromkeys(picked or cells[:1]))


def every_rank_is_within(allocation, seed):
    """Asserts that each budget and the cover bound the rank; returns rank and bound."""
    jacobian = Jacobian(allocation.network, seed)
    for budget in (*budgets(allocation), *budget_violations(allocation)):
        cells = budget.cells(allocation)
        assert len(cells) == budget.learnable
        assert jacobian.rank(cells) <= budget.limit, (allocation, budget)
    cover = rank_cover(allocation)
    covered = {cell for budget in cover.budgets for cell in budget.cells(allocation)}
    assert cover.uncovered == allocation.size - len(covered)
    rank = jacobian.rank(allocation.cells)
    assert rank <= cover.limit <= min(allocation.size, allocation.network.outputs)
    assert rank_bound(allocation) == cover.limit
    return rank, cover.limit


def test_no_rank_exceeds_a_budget():
    """On 500 random allocations of all kinds each budget and each cover bounds the true rank."""
    rng = random.Random(2502)
    crosses = reached = deficient = 0
    kinds = set()
    for trial in range(500):
        network = random_network(rng)
        allocation = random_allocation(rng, network)
        rank, bound = every_rank_is_within(allocation, trial)
        kinds.add(network.kind)
        crosses += bool(violated_crosses(allocation).crosses)
        if rank < allocation.size and network.is_linear:
            deficient += 1
            reached += rank == bound
    assert kinds == {"linear", "lrnn", "lffn", "relu"}
    # The sample is not an idle one: deficits occur, crosses too, and nearly all are explained.
    assert deficient > 50
    assert crosses > 10
    assert reached > 0.8 * deficient


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_no_rank_exceeds_a_budget_on_found_cases(rng):
    """The same for allocations that hypothesis chooses and shrinks."""
    every_rank_is_within(random_allocation(rng, random_network(rng)), 1)


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


@pytest.mark.parametrize(
    ("network", "lines"),
    [
        (LinearRNN(n=9, T=2, b=2, d=4, m=4), {"W": (1, 1)}),
        (LinearRNN(n=10, T=3, b=2, d=3, m=6), {"W": (1, 1)}),
        (LinearRNN(n=10, T=3, b=2, d=3, m=6), {"W": (2, 1)}),
        (LinearRNN(n=9, T=2, b=9, d=4, m=4), {"B": (1, 1)}),
        (LinearRNN(n=8, T=2, b=2, d=3, m=4), {"W": (1, 0), "B": (0, 1)}),
        (LinearRNN(n=8, T=2, b=2, d=3, m=4), {"D": (1, 0), "W": (0, 1)}),
        (LinearFeedForward(q=6, widths=(7, 6), d=4, m=4), {"W2": (2, 1)}),
        (LinearFeedForward(q=6, widths=(7, 6), d=4, m=4), {"W1": (1, 0), "W3": (0, 2)}),
        (LinearFeedForward(q=6, widths=(7, 3, 6), d=4, m=4), {"W4": (1, 0), "W2": (0, 1)}),
        (LinearEstimator(q=9, d=4, m=4), {"W": (2, 0)}),
        (ShallowReLU(q=8, n=12, d=4, m=4), {"W2": (1, 2)}),
    ],
)
def test_bounds_of_full_crosses_are_attained(network, lines):
    """Full rows and columns together have exactly the rank that the cover gives."""
    cells = []
    for name, (a, b) in lines.items():
        cells += [c for c in all_cells(network, [name]) if c[1] < a or c[2] < b]
    allocation = Allocation.from_cells(network, cells)
    rank, bound = every_rank_is_within(allocation, 3)
    assert rank == bound < allocation.size


@dataclass(frozen=True)
class Case:
    """An allocation, its generic rank and the first sentence of its violations."""

    allocation: Allocation
    rank: int
    reason: str


LAYER = LinearFeedForward(q=3, widths=(3,), d=2, m=2)
ENCODER = LinearRNN(n=9, T=2, b=9, d=4, m=4)
MISSED = LinearRNN(n=4, T=2, b=2, d=2, m=4)
FEW_SAMPLES = LinearRNN(n=8, T=2, b=2, d=4, m=1)
CASES = {
    "theorem 4.1, smallest": Case(
        Allocation.from_cells(LAYER, [("W1", 0, 1), ("W1", 0, 2), ("W1", 1, 0), ("W1", 2, 0)]),
        3,
        "row 0 and column 0 of W1 hold 4 learnable weights but take part in only "
        "2 + 2 − 1 = 3 equations",
    ),
    "theorem 3.2 with T = 2": Case(
        Allocation.from_cells(
            ENCODER, [("B", 0, j) for j in range(1, 9)] + [("B", i, 0) for i in range(1, 9)]
        ),
        12,
        "row 0 and column 0 of B hold 16 learnable weights but take part in only "
        "8 + 8 − 4 = 12 equations",
    ),
    "theorem 3.5 with m < b": Case(
        Allocation.from_cells(FEW_SAMPLES, [("W", 3, j) for j in range(4)]),
        2,
        "row 3 of W has 4 learnable weights but takes part in only Tm = 2 equations",
    ),
    "theorem 3.4 is silent": Case(
        Allocation.from_masks(MISSED, W=[[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]]),
        7,
        "row 3 and column 0 of W hold 7 learnable weights but take part in only "
        "4 + 4 − 2 = 6 equations",
    ),
    "theorem 3.4, row": Case(
        Allocation.from_cells(
            LinearRNN(n=6, T=2, b=2, d=2, m=3), [("W", 3, j) for j in range(5)] + [("W", 0, 0)]
        ),
        5,
        "row 3 of W has 5 learnable weights but takes part in only Tb = 4 equations",
    ),
    "theorem 3.1": Case(
        Allocation.from_cells(
            LinearRNN(n=4, T=2, b=2, d=2, m=2),
            [("D", 0, 0), ("D", 1, 0), ("D", 1, 1), ("D", 1, 2)],
        ),
        3,
        "row 1 of D has 3 learnable weights but takes part in only m = 2 equations",
    ),
    "two layers": Case(
        Allocation.from_cells(LAYER, [("W1", 0, 0), ("W1", 0, 1), ("W2", 0, 1), ("W2", 1, 1)]),
        3,
        "row 0 of W1 and column 1 of W2 hold 4 learnable weights but take part in only "
        "2 + 2 − 1 = 3 equations",
    ),
    "dependent samples": Case(
        Allocation.rows(LinearEstimator(q=2, d=2, m=3), "W", [0, 1]),
        4,
        "",
    ),
    "narrow layer": Case(
        Allocation.from_masks(
            LinearFeedForward(q=3, widths=(1,), d=2, m=3), W1=[[1, 1, 1]], W2=[[1], [1]]
        ),
        4,
        "the network has 5 learnable weights but takes part in only 4 independent equations "
        "(of dm = 6)",
    ),
    "change of basis": Case(
        Allocation.from_masks(
            LinearRNN(n=2, T=3, b=2, d=2, m=5), B=[[1, 1], [1, 1]], D=[[1, 1], [1, 1]]
        ),
        6,
        "the network has 8 learnable weights but takes part in only 6 independent equations "
        "(of dm = 10)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_known_cases(name):
    """The theorems' regression cases and some more: true rank, bound and first sentence."""
    case = CASES[name]
    rank, bound = every_rank_is_within(case.allocation, 7)
    assert rank == bound == case.rank
    violations = budget_violations(case.allocation)
    assert [str(v) for v in violations[:1]] == [case.reason] * bool(case.reason)
    assert all(isinstance(v, Violation) and v.excess > 0 for v in violations)


def test_column_budget_of_a_recurrent_matrix_is_not_tm():
    """With one sample and T = 2 a column of W still moves all d = 4 outputs, not Tm = 2."""
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


def test_counting_is_not_enough():
    """Two disjoint 2×2 blocks and one more cell (d = m = 3) exceed no budget: rank 8 of 9."""
    network = LinearFeedForward(q=5, widths=(5,), d=3, m=3)
    mask = np.zeros((5, 5), int)
    mask[:2, :2] = mask[2:4, 2:4] = mask[4, 4] = 1
    allocation = Allocation.from_masks(network, W1=mask)
    assert budget_violations(allocation) == ()
    assert rank_bound(allocation) == 9
    assert Jacobian(network, 1).rank(allocation.cells) == 8


def strongest_by_brute_force(allocation, D, M):
    """Largest excess over all crosses of some rows and some columns of one layer."""
    name = allocation.matrices[0]
    mask = allocation.masks[name].astype(int)
    subsets = [
        [list(c) for k in range(1, cap) for c in combinations(range(size), k)]
        for size, cap in zip(mask.shape, (D, M), strict=True)
    ]
    best = 0
    for rows in subsets[0]:
        for columns in subsets[1]:
            touched = mask[rows].sum() + mask[:, columns].sum() - mask[np.ix_(rows, columns)].sum()
            u, v = len(rows), len(columns)
            best = max(best, int(touched) - (u * M + D * v - u * v))
    return best


@st.composite
def layers(draw):
    """Allocations of one linear layer, up to 5×5."""
    d, m = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    rows, columns = draw(st.integers(2, 5)), draw(st.integers(2, 5))
    network = LinearFeedForward(q=max(columns, m), widths=(columns, rows), d=d, m=m)
    bits = st.lists(st.booleans(), min_size=rows * columns, max_size=rows * columns)
    mask = np.array(draw(bits), int).reshape(rows, columns)
    return Allocation.from_masks(network, W2=mask)


@given(layers())
@settings(max_examples=200, deadline=None)
def test_small_search_misses_no_cross(allocation):
    """An exceeded cross that beats rows and columns is found with its greatest excess."""
    network = allocation.network
    n1, n2 = network.widths
    D, M = min(network.d, n2), min(network.m, n1)
    search = violated_crosses(allocation)
    assert search.exhaustive
    if not allocation.size:
        assert not search.crosses
        return
    found = max((cross.excess for cross in search.crosses), default=0)
    best = strongest_by_brute_force(allocation, D, M)
    lines = least_line_cover(allocation.masks["W2"].astype(int), M, D)
    reach = allocation.size - min(lines, D * M)
    assert found <= best <= max(found, reach)
    assert allocation.size - rank_bound(allocation) >= max(best, reach)


def least_line_cover(mask, row_limit, column_limit):
    """Least sum of row and column limits and single cells, over all sets of rows."""
    best = mask.sum()
    for k in range(len(mask) + 1):
        for chosen in combinations(range(len(mask)), k):
            rest = np.delete(mask, chosen, axis=0).sum(0)
            best = min(best, k * row_limit + np.minimum(rest, column_limit).sum())
    return int(best)


@given(layers(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_bound_does_not_depend_on_the_order_of_units(allocation, rng):
    """Permuting rows and columns of a layer permutes the budgets and keeps the bound."""
    mask = allocation.masks["W2"]
    rows = rng.sample(range(mask.shape[0]), mask.shape[0])
    columns = rng.sample(range(mask.shape[1]), mask.shape[1])
    other = Allocation.from_masks(allocation.network, W2=mask[rows][:, columns])
    assert rank_bound(other) == rank_bound(allocation)
    counts = [
        sorted((b.kind, b.learnable, b.limit) for b in budgets(a)) for a in (allocation, other)
    ]
    assert counts[0] == counts[1]


def test_large_search_is_marked_and_finds_planted_crosses():
    """Beyond the exact range the answer says so, is still right, and full lines are found."""
    network = LinearFeedForward(q=64, widths=(64,), d=12, m=12)
    mask = np.zeros((64, 64), int)
    mask[3:5, :12] = mask[30:42, 20:23] = 1
    mask[3:5, 20:23] = 0
    mask[50, 40:64] = mask[51, 30:40] = 1
    rng = random.Random(4)
    for _ in range(40):
        mask[rng.randrange(64), rng.randrange(64)] = 1
    allocation = Allocation.from_masks(network, W1=mask)
    search = violated_crosses(allocation)
    assert not search.exhaustive
    rank, bound = every_rank_is_within(Allocation.from_cells(network, allocation.cells[::3]), 2)
    assert rank <= bound
    assert any({("W1", 3), ("W1", 4)} <= set(cross.rows) for cross in search.crosses)
    jacobian = Jacobian(network, 2)
    assert all(jacobian.rank(c.cells(allocation)) <= c.limit for c in search.crosses)


def test_search_without_the_exact_range_invents_nothing(monkeypatch):
    """With the exact search switched off, crosses stay true and are never stronger."""
    rng = random.Random(7)
    for trial in range(60):
        network = random_network(rng)
        allocation = random_allocation(rng, network)
        exact = violated_crosses(allocation)
        with monkeypatch.context() as patch:
            patch.setattr(budgets_module, "_EXACT", 0)
            rough = violated_crosses(allocation)
            every_rank_is_within(allocation, trial)
        assert exact.exhaustive
        strongest = [max((c.excess for c in s.crosses), default=0) for s in (rough, exact)]
        assert strongest[0] <= strongest[1]


def test_violations_come_shortest_then_strongest():
    """The total first, then lines by excess, then crosses; the lone matrix is not repeated."""
    network = LinearFeedForward(q=4, widths=(4,), d=2, m=2)
    mask = [[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    found = budget_violations(Allocation.from_masks(network, W1=mask))
    assert [(v.kind, v.excess) for v in found[:4]] == [
        ("total", 5),
        ("row", 2),
        ("column", 2),
        ("row", 1),
    ]
    sizes = [len(v.rows + v.columns) for v in found]
    assert sizes == sorted(sizes)


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
        "rows 0, 1, 2, 3, 4, 5, 6, 7, … and column 4 of W hold 9 learnable weights but take part "
        "in only 8 equations"
    )


def test_unknown_kinds_are_refused():
    """A network of a kind without known budgets raises InputError that names the kind."""

    class Other(Network):
        kind = "odd"
        d = m = 1
        shapes = {"W": (1, 1)}  # noqa: RUF012
        input_shape = (1, 1)

        def __post_init__(self):
            pass

    allocation = Allocation.from_cells(Other(), [("W", 0, 0)])
    with pytest.raises(InputError, match="'odd'"):
        budgets(allocation)
