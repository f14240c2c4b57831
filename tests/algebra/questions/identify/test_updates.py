"""Which weights are determined if matrices learn by updates."""

import random

import numpy as np
import pytest

from algebra.problems.learning import Learning
from algebra.questions.identify.fibre import fibre
from algebra.questions.identify.identification import identify
from algebra.questions.identify.updates import learning_fibre
from matchprob import LinearEstimator, LinearRNN, Problem
from tests.algebra.ranks.test_updates import parameters, random_problem, student
from tests.samples import NET


@pytest.mark.parametrize("seed", range(25))
def test_cells_are_a_special_case(seed):
    """Of single cells it is the fibre found from the matroid of their columns."""
    rng = random.Random(seed)
    net = LinearRNN(n=3, T=2, b=rng.randint(1, 2), d=rng.randint(1, 2), m=rng.randint(1, 3))
    mask = [[rng.randint(0, 1) for _ in range(3)] for _ in range(3)]
    allocation = Problem(net, {"W": mask, "D": "all"}).allocation
    one = fibre(allocation)
    other = learning_fibre(Learning(net, allocation.cells, {}, {}))
    assert (other.dimension, other.determined) == (one.dimension, one.determined)
    assert other.groups == one.groups


@pytest.mark.parametrize("seed", range(25))
def test_against_null_spaces_in_doubles(seed):
    """The free weights are those that the null space of the Jacobian changes."""
    rng = random.Random(seed)
    net = LinearRNN(n=rng.randint(1, 3), T=2, b=rng.randint(1, 2), d=rng.randint(1, 2), m=2)
    learning = random_problem(rng, net).learning
    if not learning.size:
        return
    drawn, theta = parameters(learning, lambda: rng.gauss(0, 1))
    X = np.array([[rng.gauss(0, 1) for _ in range(net.m)] for _ in range(net.input_shape[0])])
    J, T = [], []
    for k in range(learning.size):
        moved = theta.astype(complex)
        moved[k] += 1e-30j
        weights = student(learning, drawn, moved)
        J.append(np.asarray(net.forward(weights, X)).imag.ravel() / 1e-30)
        T.append([weights[n][i, j].imag / 1e-30 for n, i, j in learning.moving.cells])
    J, T = np.array(J).T, np.array(T).T
    _, values, Vt = np.linalg.svd(J)
    rank = int((values > 1e-9 * values.max()).sum()) if values.max() > 1e-12 else 0
    moves = T @ Vt[rank:].T
    free = {c for c, row in zip(learning.moving.cells, moves, strict=True)
            if np.abs(row).max(initial=0) > 1e-7}  # fmt: skip
    found = learning_fibre(learning)
    assert set(found.free) == free
    assert found.dimension == np.linalg.matrix_rank(moves, tol=1e-7)


def test_low_rank_in_one_layer():
    """All nine weights of a rank-1 change are determined, though U and V are not."""
    net = LinearEstimator(q=3, d=3, m=3)
    found = identify(Problem(net, {"W": {"lora": 1}}))
    data = found.to_dict()
    assert (data["learnable"], data["rank"], data["fibre_dimension"]) == (6, 5, 0)
    assert len(data["determined"]) == 9
    assert data["free"] == []
    assert found.columns()["determined"] == [True] * 9


def test_gain_that_is_seen_by_nothing():
    """A row of weights that reach no output is free, each row by itself."""
    found = identify(Problem(NET, {"W": {"gain": "rows"}}, {"D": [[1, 0]], "W": [[1, 0], [1, 1]]}))
    assert set(found.fibre.free) == {("W", 1, 0), ("W", 1, 1)}
    assert found.fibre.groups == ((("W", 1, 0), ("W", 1, 1)),)
