"""Is the teacher a student in dual bases chosen vector by vector?  Compared with exact students."""

import random

import numpy as np
import pytest

from algebra.certificates.checks import PROVED, CheckFailed
from algebra.families.linear.dual_bases import COLUMN, ROW, dual_order
from algebra.families.linear.verification.dual_bases import check_dual_bases
from algebra.families.registry import verify
from algebra.ranks.generic_rank import allocation_rank, network_rank
from matchprob import LinearFeedForward, LinearRNN, Problem
from tests.plain_data import data_of

ONES = [[1, 1], [1, 1]]
NET = LinearRNN(n=2, T=3, b=2, d=2, m=3)


def holds(problem, order):
    try:
        check_dual_bases(problem, order, 1, lambda *line: None)
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
