"""Reductions: the reduced problem has the same labels, and its solutions can be restored."""

import random

import numpy as np
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.problems.reduction import KeptFixed, lowered
from matchprob import Allocation, Constraints, LinearRNN, NormNet, Problem, RandomCells

NET = NormNet((2, 3, 1), (3, 2), 2, "linear")
RNN = LinearRNN(n=2, T=2, b=1, d=1, m=2)


def drawn(network, rng):
    """Integer matrices, as rationals."""
    return {
        name: np.array([[fmpq(rng.randint(-9, 9)) for _ in range(c)] for _ in range(r)], object)
        for name, (r, c) in network.shapes.items()
    }


def with_values(weights, cells, values):
    """The matrices with some cells set."""
    out = {name: value.copy() for name, value in weights.items()}
    for (name, i, j), value in zip(cells, values, strict=True):
        out[name][i, j] = value
    return out


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_restored_values_give_the_same_labels(seed):
    """For all numbers in the reduced cells: the restored network gives the reduced one's labels."""
    rng = random.Random(seed)
    every = [(n, i, j) for n, (r, c) in NET.shapes.items() for i in range(r) for j in range(c)]
    whole = Allocation.from_cells(NET, rng.sample(every, 7))
    fewer = Allocation.from_cells(NET, rng.sample(whole.cells, 4))
    problem = Problem.of(whole)
    weights = drawn(NET, rng)
    X = np.array([[fmpq(rng.randint(-9, 9)) for _ in range(2)] for _ in range(2)], object)
    for reduction in (lowered(problem), KeptFixed(problem, fewer)):
        inner = reduction.problem
        learning = reduction.allocation(whole)
        assert learning == inner.allocation
        values = [fmpq(rng.randint(-9, 9)) for _ in learning.cells]
        student = with_values(reduction.weights(weights, fmpq(1)), learning.cells, values)
        Y = inner.network.forward(student, reduction.samples(X, fmpq(1)))
        restored = reduction.restore(whole, weights, values)
        assert len(restored) == whole.size
        assert (NET.forward(with_values(weights, whole.cells, restored), X) == Y).all()


def test_random_cells_and_constraints():
    """Cells drawn anew leave the lowered problem without allocation; a part keeps constraints."""
    random_cells = Problem(NET, {"g1": RandomCells(2)})
    assert lowered(random_cells).problem.learnable == {}
    assert lowered(Problem(RNN, {"W": "all"})) is None
    rules = Constraints(max_abs={"W": [[1.0, 2.0], [3.0, 4.0]]})
    whole = Problem(RNN, {"W": "all"}, constraints=rules)
    part = KeptFixed(whole, Allocation.from_cells(RNN, [("W", 0, 1), ("W", 1, 0)]))
    interval = part.problem.constraints.interval(("W", 0, 1), fmpq(0))
    assert (interval.low, interval.high) == (-2, 2)
