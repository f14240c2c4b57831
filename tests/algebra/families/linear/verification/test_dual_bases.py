"""Orders of dual bases: each accepted one has students that solve the equations over the reals."""

import random
from contextlib import suppress
from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import least_squares

from algebra.certificates.checks import PROVED, CheckFailed
from algebra.families.linear.dual_bases import COLUMN, ROW
from algebra.families.linear.verification.dual_bases import PLACE, check_dual_bases
from matchprob import RNN, LinearRNN, Problem

NET = LinearRNN(n=2, T=3, b=2, d=2, m=6)
ORDERS = list(permutations([(side, 0, unit) for side in (ROW, COLUMN) for unit in (0, 1)]))


def accepted(problem, order):
    """Whether the check accepts an order; then it says so, as proved."""
    said = []
    with suppress(CheckFailed):
        check_dual_bases(problem, order, 3, lambda *line: said.append(line[:2]))
    assert said in ([], [(PLACE, PROVED)])
    return bool(said)


def has_student(problem, rng):
    """Whether least squares in doubles finds a basis in which a random teacher is a student."""
    shapes, masks = problem.network.shapes, problem.allocation.masks
    teacher, fixed = (
        {name: rng.normal(size=shape) for name, shape in shapes.items()} for _ in range(2)
    )
    keeps = {name: np.asarray(masks.get(name, np.zeros(s))) == 0 for name, s in shapes.items()}

    def student(Q):
        P = np.linalg.pinv(Q)
        return {"D": teacher["D"] @ Q, "W": P @ teacher["W"] @ Q, "B": P @ teacher["B"]}

    def misses(numbers):
        found = student(numbers.reshape(2, 2))
        return np.concatenate([(found[name] - fixed[name])[keeps[name]] for name in shapes])

    for _ in range(40):
        start = rng.normal(size=4) * 3 ** rng.normal()
        solved = least_squares(misses, start, ftol=1e-15, xtol=1e-15, gtol=1e-15)
        if solved.cost < 1e-20:
            X = rng.normal(size=NET.input_shape)
            labels = NET.forward(student(solved.x.reshape(2, 2)), X)
            return np.allclose(labels, NET.forward(teacher, X))
    return False


def test_every_accepted_order_has_students():
    """All 24 orders of random allocations: if one is accepted, a random teacher is a student."""
    found = 0
    for seed in range(24):
        rng = random.Random(f"orders/{seed}")
        learnable = {
            name: [[int(rng.random() < 0.75) for _ in range(shape[1])] for _ in range(shape[0])]
            for name, shape in NET.shapes.items()
        }
        problem = Problem(NET, learnable)
        good = [order for order in ORDERS if accepted(problem, order)]
        if good:
            found += 1
            # A change of basis has n² numbers, and a teacher has all but these to be matched.
            assert problem.allocation.size >= NET.parameters - NET.n**2
            assert has_student(problem, np.random.default_rng(seed))
    assert found > 10


@pytest.mark.parametrize(
    "order",
    [
        [],
        ORDERS[0][:3],
        [*ORDERS[0], (ROW, 0, 0)],
        [*ORDERS[0][:3], (ROW, 0, 0)],
        [*ORDERS[0][:3], (COLUMN, 1, 0)],
        [*ORDERS[0][:3], (COLUMN, 0, 2)],
    ],
)
def test_each_vector_is_named_once(order):
    """Missing, repeated and unknown vectors are refused, even if everything learns."""
    everything = Problem(NET, {name: np.ones(shape, int) for name, shape in NET.shapes.items()})
    assert accepted(everything, ORDERS[0])
    assert not accepted(everything, order)


def test_other_networks_are_refused():
    """A network that is no chain of matrices has no dual bases; large ones take too long."""
    net = RNN(2, 2, 1, 1, 2, activation="tanh")
    assert not accepted(Problem(net, {"W": [[1, 1], [1, 1]]}), ORDERS[0])
    wide = LinearRNN(n=129, T=1, b=1, d=1, m=1)
    every = [(side, 0, unit) for side in (ROW, COLUMN) for unit in range(129)]
    with pytest.raises(CheckFailed, match="129 hidden units"):
        check_dual_bases(Problem(wide, {}), every, 3, lambda *line: None)
