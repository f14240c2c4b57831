"""Ranks per activation pattern, compared with derivatives of the masked network and budgets."""

import random

import numpy as np
import pytest
import sympy

from algebra.linalg.residues import random_residues
from algebra.plugins.relu.patterns import pattern_jacobians, sample_pattern_ranks
from algebra.ranks.budgets.cover import rank_bound
from matchprob import Allocation, InputError, LinearEstimator, ShallowReLU
from tests.algebra.plugins.relu.test_pattern_lemmas import (
    pattern_infeasible_by_D3,
    pattern_infeasible_by_D4,
)

P = 2147483647
NET = ShallowReLU(q=2, n=3, d=2, m=2)


def test_columns_are_derivatives():
    """Columns equal SymPy's derivatives of W2 (P ∘ (W1 X)), reduced modulo p."""
    allocation = Allocation.from_cells(
        NET, [("W1", 0, 1), ("W1", 2, 0), ("W2", 0, 1), ("W2", 1, 2)]
    )
    pattern = np.array([[1, 0], [1, 1], [0, 1]])
    found = pattern_jacobians(allocation, pattern[None], P, random.Random(4))[0]
    rng = random.Random(4)
    values = {name: random_residues(NET.shapes[name], P, rng) for name in ("W1", "W2")}
    X = random_residues(NET.input_shape, P, rng)
    symbols = {n: sympy.MatrixSymbol(n, *s).as_explicit() for n, s in NET.shapes.items()}
    hidden = (symbols["W1"] * sympy.Matrix(X.tolist())).multiply_elementwise(
        sympy.Matrix(pattern.tolist())
    )
    labels = symbols["W2"] * hidden
    point = {
        symbols[n][i, j]: int(values[n][i, j])
        for n in values
        for i in range(NET.shapes[n][0])
        for j in range(NET.shapes[n][1])
    }
    for k, (name, i, j) in enumerate(allocation.cells):
        derivative = labels.diff(symbols[name][i, j]).subs(point)
        assert [int(v) % P for v in derivative] == found[:, k].tolist()


def test_ranks_respect_budgets_and_lemmas():
    """No sampled pattern exceeds the budgets; the lemmas' patterns are deficient."""
    net = ShallowReLU(q=3, n=4, d=2, m=3)
    rng = random.Random(0)
    cells = [("W1", i, j) for i in range(4) for j in range(3)]
    for _ in range(20):
        allocation = Allocation.from_cells(net, rng.sample(cells, 6))
        found = sample_pattern_ranks(allocation, 60, seed=rng.randrange(99))
        assert max(found.ranks) <= rank_bound(allocation)
    rows = [c for c in allocation.row_counts("W1") if c]
    units = [i for i, c in enumerate(allocation.row_counts("W1")) if c]
    patterns = random_residues((80, 4, 3), 2, rng)
    from algebra.linalg.ranks import batched_rank

    ranks = batched_rank(pattern_jacobians(allocation, patterns, P, rng), P)
    for pattern, rank in zip(patterns, ranks, strict=True):
        mine = pattern[units]
        if pattern_infeasible_by_D3(mine, net.d) or pattern_infeasible_by_D4(mine, rows):
            assert rank < net.outputs


def test_bad_input():
    """Other networks and wrong shapes are refused."""
    estimator = LinearEstimator(q=1, d=1, m=1)
    with pytest.raises(InputError, match="ReLU"):
        sample_pattern_ranks(Allocation.from_cells(estimator, [("W", 0, 0)]))
    with pytest.raises(InputError, match="`patterns`"):
        pattern_jacobians(Allocation.from_cells(NET, []), np.ones((1, 2, 2)), P, random.Random(0))
