"""Shared by the tests of budgets: random allocations, and Jacobians by forward mode."""

import random
from itertools import combinations

import numpy as np
from flint import nmod_mat
from hypothesis import strategies as st

from algebra.ranks.budgets.cover import budget_violations, rank_bound, rank_cover
from algebra.ranks.budgets.lines import budgets
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU
from tests.algebra.ranks.cases import Dual

PRIME = 2**61 - 1


def labels(network, weights, X):
    """The labels; those of a ReLU net by its definition, not by its program."""
    if isinstance(network, ShallowReLU):
        hidden = weights["W1"] @ X
        return weights["W2"] @ (hidden * (hidden > 0))
    return network.forward(weights, X)


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
            slope = labels(self.network, duals, Dual(self.X, zero)).slope
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


def least_line_cover(mask, row_limit, column_limit):
    """Least sum of row and column limits and single cells, over all sets of rows."""
    best = mask.sum()
    for k in range(len(mask) + 1):
        for chosen in combinations(range(len(mask)), k):
            rest = np.delete(mask, chosen, axis=0).sum(0)
            best = min(best, k * row_limit + np.minimum(rest, column_limit).sum())
    return int(best)


@st.composite
def layers(draw):
    """Allocations of one linear layer, up to 5×5."""
    d, m = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    rows, columns = draw(st.integers(2, 5)), draw(st.integers(2, 5))
    network = LinearFeedForward(q=max(columns, m), widths=(columns, rows), d=d, m=m)
    bits = st.lists(st.booleans(), min_size=rows * columns, max_size=rows * columns)
    mask = np.array(draw(bits), int).reshape(rows, columns)
    return Allocation.from_masks(network, W2=mask)
