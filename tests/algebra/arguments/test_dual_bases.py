"""Is the teacher a student in dual bases chosen vector by vector?  Compared with exact students."""

import random
from contextlib import suppress
from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import least_squares

from algebra.arguments.dual_bases import ARGUMENT, COLUMN, PLACE, ROW, dual_order
from algebra.checker.checks import PROVED, CheckFailed
from algebra.families.verify import verify
from algebra.ranks.generic_rank import allocation_rank, network_rank
from matchprob import RNN, LinearFeedForward, LinearRNN, Problem
from tests.arguments import checked
from tests.plain_data import data_of
from tests.samples import many

ONES = [[1, 1], [1, 1]]
NET = LinearRNN(n=2, T=3, b=2, d=2, m=3)


def holds(problem, order):
    try:
        checked(ARGUMENT, problem, order)
    except CheckFailed:
        return False
    return True


@pytest.mark.parametrize(
    ("learnable", "expected"),
    [
        # One column of D, or one row of B, is fixed: one vector of Q or P is determined by it.
        ({"D": [[1, 0], [1, 0]], "W": ONES, "B": ONES}, True),
        ({"D": ONES, "W": ONES, "B": [[0, 0], [1, 1]]}, True),
        # One weight of D and one of B is fixed; with one of W each vector has three equations.
        ({"D": [[0, 1], [1, 1]], "W": ONES, "B": [[1, 1], [1, 0]]}, True),
        ({"D": [[0, 1], [1, 1]], "W": [[1, 0], [1, 1]], "B": [[1, 1], [1, 0]]}, False),
        # All of D or of B; a column of D and one of W, but not one weight more.
        ({"W": ONES, "B": ONES}, True),
        ({"D": ONES, "W": ONES}, True),
        ({"D": [[1, 0], [1, 0]], "W": [[1, 0], [1, 0]], "B": ONES}, True),
        ({"D": [[1, 0], [1, 0]], "W": [[0, 0], [1, 0]], "B": ONES}, False),
        # D and B: D P⁻¹ and P B cannot both be given.
        ({"W": ONES}, False),
        # All of W: its eigenvalues cannot change.
        ({"D": ONES, "B": ONES}, False),
    ],
)
def test_known_cases(learnable, expected):
    """Found exactly in the expected cases, and then the independent check agrees."""
    problem = Problem(NET, learnable)
    order = dual_order(problem)
    assert (order is not None) == expected
    if order is not None:
        assert holds(problem, order)


def test_random_problems():
    """The check proves each claim, and such an allocation has full rank; it refuses any order of
    what has no full rank."""
    found = refused = 0
    for seed in range(150):
        rng = random.Random(f"dual/{seed}")
        network = rng.choice(
            [
                LinearRNN(rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 2),
                          rng.randint(1, 3), rng.randint(1, 6)),
                LinearFeedForward(rng.randint(1, 3), (rng.randint(1, 3), rng.randint(1, 3)),
                                  rng.randint(1, 3), 4),
            ]
        )  # fmt: skip
        support, learnable = {}, {}
        for name, shape in network.shapes.items():
            exists = np.array([[rng.random() < 0.9 for _ in range(shape[1])]
                               for _ in range(shape[0])])  # fmt: skip
            learns = np.array([[rng.random() < 0.8 for _ in range(shape[1])]
                               for _ in range(shape[0])])  # fmt: skip
            support[name], learnable[name] = exists.astype(int), (exists & learns).astype(int)
        problem = Problem(network, learnable, support=support)
        ranks = (
            network_rank(network, problem.support, 0).rank,
            allocation_rank(problem.allocation, problem.support, 10**6, 0).rank,
        )
        order = dual_order(problem, seed)
        if order is not None:
            found += 1
            assert holds(problem, order)
            assert ranks[0] == ranks[1]
        elif ranks[1] < ranks[0]:
            vectors = [
                (side, layer, unit)
                for layer, width in enumerate(network.inner_widths)
                for unit in range(width)
                for side in (ROW, COLUMN)
            ]
            rng.shuffle(vectors)
            refused += 1
            assert not holds(problem, vectors)
    assert found > 20
    assert refused > 5


def test_students_exist_over_the_reals():
    """With D, W, B random over the reals the student of the proof has the fixed weights."""
    rng = np.random.default_rng(0)
    D, W, B = rng.normal(size=(2, 2)), rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
    fixed = rng.normal(size=2)
    Q = np.column_stack([rng.normal(size=2), np.linalg.solve(D, fixed)])
    P = np.linalg.inv(Q)
    np.testing.assert_allclose((D @ Q)[:, 1], fixed)
    for k in range(4):
        np.testing.assert_allclose(
            (D @ Q) @ np.linalg.matrix_power(P @ W @ Q, k) @ (P @ B),
            D @ np.linalg.matrix_power(W, k) @ B,
        )


def test_the_verdict_is_maximal_and_proved(msolve):
    """More weights than equations: no count is needed, and the certificate verifies."""
    problem = Problem(NET, {"D": [[1, 0], [1, 0]], "W": ONES, "B": ONES})
    data = data_of(problem)
    assert data["verdict"] == "maximal"
    assert "dual_bases" in data["evidence"]
    result = verify(data)
    assert result.holds, str(result)
    assert [c.status for c in result.checks if c.place == "verdict"] == [PROVED]


NET = LinearRNN(n=2, T=3, b=2, d=2, m=6)
ORDERS = list(permutations([(side, 0, unit) for side in (ROW, COLUMN) for unit in (0, 1)]))


def accepted(problem, order):
    """Whether the check accepts an order; then it says so, as proved."""
    said = []
    with suppress(CheckFailed):
        said = [line[:2] for line in checked(ARGUMENT, problem, order, seed=3)[1]]
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
    seeds = many(24, 6)
    for seed in range(seeds):
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
    assert found > seeds / 3


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
        checked(ARGUMENT, Problem(wide, {}), every, seed=3)
