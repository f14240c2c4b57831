"""Arrangements of ReLU units: vertices, rays, least values and refutations."""

import random
from itertools import product

import numpy as np
import pytest
from flint import fmpq
from scipy.optimize import linprog

from algebra.linalg.arrangements import arrangement_size
from algebra.plugins.relu.arrangement import Refuter, arrangement
from algebra.plugins.relu.equations import FREE, U_ZERO, V_ZERO, relu_system
from matchprob import Allocation, ShallowReLU


def _rational(rng, rows, columns):
    return np.array(
        [
            [fmpq(rng.randint(-9, 9), rng.randint(1, 5)) for _ in range(columns)]
            for _ in range(rows)
        ],
        dtype=object,
    )


@pytest.mark.parametrize(("rank", "m"), [(1, 1), (1, 4), (2, 4), (3, 5), (4, 4), (5, 3)])
def test_sizes_are_binomial(rank, m):
    """In general position the counts are the binomial bound."""
    rng = random.Random(rank * 10 + m)
    own = np.array([[fmpq(rng.randint(1, 10**6)) for _ in range(m)] for _ in range(rank)])
    found = arrangement(own, [fmpq(rng.randint(1, 10**6)) for _ in range(m)])
    assert len(found.vertices) + len(found.rays) == arrangement_size(rank, m)


def test_whole_rows_have_one_vertex():
    """Without a fixed input all hyperplanes contain w = 0."""
    rng = random.Random(1)
    found = arrangement(_rational(rng, 2, 5), [fmpq(0)] * 5)
    assert found.vertices.tolist() == [[0] * 5]


def test_dependent_rows_change_nothing():
    """A row that depends on other rows adds no input that was impossible before."""
    rng = random.Random(2)
    own, constants = _rational(rng, 2, 4), list(_rational(rng, 1, 4)[0])
    more = np.vstack([own, (own[0] * 2 - own[1])[None]])
    one, two = arrangement(own, constants), arrangement(more, constants)
    assert {tuple(v) for v in one.vertices} == {tuple(v) for v in two.vertices}


@pytest.mark.parametrize("seed", range(12))
def test_least_value_is_that_of_linear_programs(seed):
    """The least slope·relu(h) under signs equals the least over all cells, one program each."""
    rng = random.Random(seed)
    rank, m = rng.choice([(1, 3), (2, 3), (2, 4), (3, 4)])
    own, constants = _rational(rng, rank, m), list(_rational(rng, 1, m)[0])
    slope = list(_rational(rng, 1, m)[0] + rng.choice([0, 6]))
    fixed = np.array([rng.choice([FREE, FREE, U_ZERO, V_ZERO]) for _ in range(m)])
    found = arrangement(own, constants).least(slope, fixed)
    best, unbounded = None, False
    X = np.array([[float(v.p) / float(v.q) for v in row] for row in own])
    c = np.array([float(v.p) / float(v.q) for v in constants])
    a = np.array([float(v.p) / float(v.q) for v in slope])
    for signs in product((-1, 1), repeat=m):
        if any(
            (f == U_ZERO and s > 0) or (f == V_ZERO and s < 0)
            for f, s in zip(fixed, signs, strict=True)
        ):
            continue
        signs = np.array(signs)
        active = signs > 0
        goal = X[:, active] @ a[active]
        cell = linprog(goal, A_ub=-(signs * X).T, b_ub=signs * c, bounds=(None, None))
        if cell.status == 3:
            unbounded = True
        elif cell.status == 0:
            value = cell.fun + a[active] @ c[active]
            best = value if best is None else min(best, value)
    if unbounded:
        assert found == "unbounded"
    elif best is None:
        assert found == "empty"
    else:
        assert float(found.p) / float(found.q) == pytest.approx(best, abs=1e-7)


def test_refutation_is_checked():
    """y = relu(w) cannot be −1: μ = −1 refutes it with all sides open; y = 1 cannot be refuted."""
    net = ShallowReLU(q=1, n=1, d=1, m=1)
    allocation = Allocation.from_masks(net, W1=[[1]])
    one = np.array([[fmpq(1)]])
    for label, refuted in ((-1, True), (1, False)):
        system = relu_system(allocation, {"W1": one, "W2": one}, one, np.array([[fmpq(label)]]))
        refuter = Refuter(system)
        sides = np.zeros((1, 1), int)
        assert refuter.refutes(sides, np.array([[fmpq(1)]])) is refuted
        assert not refuter.refutes(sides, np.array([[fmpq(-1)]]))
        # Without activity the label is 0, neither 1 nor −1.
        assert refuter.refutes(np.full((1, 1), U_ZERO), np.array([[fmpq(-label)]]))
