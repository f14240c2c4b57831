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
    full = [c for c in cells if any(c[0] == o[0] and c[a] == o[a] for o, a in zip(chosen, axes))]
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
    for make in (Allocation.rows, Allocation.columns):
        allocation = make(network, name, [1 if network.shapes[name][make == Allocation.columns] > 1 else 0])
        line = next(x for x in budgets(allocation) if x.learnable == allocation.size and x.kind[-3:] in ("row", "umn"))
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
        Allocation.from_masks(
            MISSED, W=[[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]]
        ),
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
        Allocation.from_cells(
            LAYER, [("W1", 0, 0), ("W1", 0, 1), ("W2", 0, 1), ("W2", 1, 1)]
        ),
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
        Allocation.columns(LinearFeedForward(q=3, widths=(1,), d=2, m=3), "W1", [0, 1]),
        1,
        "column 0 of W1 has 1 learnable weight",
    ),
}


@pytest.mark.parametrize("name", [k for k in CASES if k != "narrow layer"])
def test_known_cases(name):
    """The regression cases of the theorems: true rank, bound and sentence."""
    case = CASES[name]
    rank, bound = every_rank_is_within(case.allocation, 7)
    assert rank == bound == case.rank
    violations = budget_violations(case.allocation)
    assert [str(v) for v in violations[:1]] == [case.reason] * bool(case.reason)
    assert all(isinstance(v, Violation) and v.excess > 0 for v in violations)
