"""Scales of one block: rows of zeros, low rank, proofs."""

import random

import numpy as np
from flint import fmpq

from algebra.linalg.rational import rational_echelon
from algebra.plugins.normalization.dense import rational_array
from algebra.plugins.normalization.khatri_rao import width_needed
from algebra.plugins.normalization.scales import Unreachable, solve_both_scales, solve_scales
from tests.refusals import refuses


def draw(rng, rows, columns):
    """A matrix of small random rationals."""
    entries = [[fmpq(rng.randint(-9, 9), rng.randint(1, 4)) for _ in range(columns)]
               for _ in range(rows)]  # fmt: skip
    return np.array(entries, dtype=object)


def test_a_row_of_zeros():
    """A target output that is 0 needs no unit: two units suffice for four equations."""
    rng = random.Random(2)
    W1, W2 = draw(rng, 2, 2), draw(rng, 2, 2)
    goal = [[1, 2], [0, 0]]
    gamma, output = solve_both_scales(W2, W1, goal)
    made = output[:, None] * (W2 @ (gamma[:, None] * W1))
    assert (made == rational_array(goal, "goal")).all()


def test_corollary_1():
    """A rank-1 target of size 3×3 is realized by four layers of width 3 instead of 9."""
    rng = random.Random(3)
    goal = draw(rng, 3, 1) @ draw(rng, 1, 3)
    reduced, pivots = rational_echelon(goal)
    A, B = goal[:, pivots], np.array([reduced.tolist()[r] for r in range(len(pivots))])
    assert (goal == A @ B).all()
    width = width_needed(3, 3, target_rank=1)
    gammas = []
    for factor in (B, A):
        W1, W2 = draw(rng, width, factor.shape[1]), draw(rng, factor.shape[0], width)
        gamma = solve_scales(W2, W1, factor)
        gammas.append(W2 @ (gamma[:, None] * W1))
    assert width == 3
    assert (gammas[1] @ gammas[0] == goal).all()


def test_a_proof_beside_a_row_of_zeros():
    """If the other rows are too expensive, the proof is one for the whole target."""
    rng = random.Random(4)
    W1, W2, goal = draw(rng, 4, 3), draw(rng, 3, 4), draw(rng, 3, 3)
    goal[1] = fmpq(0)
    failure = refuses("infinite", solve_both_scales, W2, W1, goal, error=Unreachable)
    assert failure.obstruction.holds(W2, W1, goal)
    assert f"output {failure.obstruction.output} " in str(failure)
