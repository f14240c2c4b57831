"""Theorem 2's construction: exact on the ball, and generic by a point modulo a prime."""

import random

import numpy as np
import pytest
from flint import fmpq, nmod_mat

from algebra.errors import InputError
from algebra.linalg.modular import matmul
from algebra.linalg.primes import random_prime
from algebra.linalg.rational import rational_matrix
from algebra.linalg.residues import random_residues
from algebra.plugins.normalization.dense import norm_bound, rational_array
from algebra.plugins.normalization.khatri_rao import khatri_rao
from algebra.plugins.normalization.scales import solve_scales
from algebra.plugins.normalization.skip_blocks import SkipBlock, realize_by_depth
from tests.refusals import refuses


def draw(rng, rows, columns):
    """A matrix of small random rationals."""
    return rational_array(
        [[fmpq(2 * rng.randint(-99, 99) + 1, 64) for _ in range(columns)] for _ in range(rows)],
        "drawn",
    )


def draw_block(rng, d, k, inputs=0):
    """Frozen matrices for a target with d outputs and as many inputs, or others."""
    s, w = -(-(inputs or d) // k), d * k
    return SkipBlock.of(
        [draw(rng, w, w) for _ in range(s)], [draw(rng, w, k) for _ in range(s)], draw(rng, d, w)
    )


@pytest.mark.parametrize(("d", "k"), [(1, 1), (2, 1), (3, 1), (3, 2), (3, 3), (4, 2)])
def test_exact_on_the_ball(d, k):
    """The tuned block is the target at points of the ball and on its rim: error 0."""
    rng = random.Random(31 * d + k)
    goal, shift = draw(rng, d, d), draw(rng, d, 1)[:, 0]
    tuned = realize_by_depth(goal, shift, draw_block(rng, d, k), radius=2)
    X = draw(rng, d, 6)
    X = X / np.array([norm_bound(X[:, c]) / 2 + fmpq(1, 1000) for c in range(6)], dtype=object)
    assert all(e == 0 for e in (tuned(X) - (goal @ X + shift[:, None])).ravel())
    assert tuned.zero_scales == 0


def test_outside_the_ball_a_unit_falls_silent():
    """Far outside the radius the network differs from the target: the shifts have an effect."""
    rng = random.Random(5)
    goal, shift = draw(rng, 2, 2), draw(rng, 2, 1)[:, 0]
    tuned = realize_by_depth(goal, shift, draw_block(rng, 2, 1))
    X = rational_array([[1000, -1000], [500, 300]], "X")
    assert any(e != 0 for e in (tuned(X) - (goal @ X + shift[:, None])).ravel())


@pytest.mark.parametrize(("d", "k"), [(1, 1), (3, 1), (5, 2), (6, 3), (4, 4), (7, 1)])
def test_generic_for_all_sizes(d, k):
    """Determinants and scales are nonzero at a point modulo a prime: a proof for the size."""
    steps, width = -(-d // k), d * k
    p = random_prime(random.Random(d))
    rng = random.Random(f"{p}/{k}")
    goal = random_residues((d, d), p, rng)
    M = random_residues((d, width), p, rng)
    for i in range(steps - 1, -1, -1):
        # The last part is padded with columns of 0.
        part = np.zeros((d, k), np.int64)
        part[:, : min(k, d - i * k)] = goal[:, i * k : (i + 1) * k]
        mix, feed = (random_residues((width, size), p, rng) for size in (width, k))
        K = khatri_rao(M, matmul(mix, feed, p).T) % p
        system = nmod_mat(width, width, K.ravel().tolist(), p)
        right = nmod_mat(width, 1, part.ravel().tolist(), p)
        gamma = np.array([int(v) for v in system.solve(right).entries()], np.int64)
        assert gamma.all()
        M = matmul(M, gamma[:, None] * mix % p, p)


def test_a_zero_target_block_is_refused():
    """Theorem 2 as stated fails for W* = [[.5, 0], [.25, 0]], k = 1: f has to be constant."""
    rng = random.Random(6)
    goal = rational_array([[0.5, 0], [0.25, 0]], "goal")
    block = draw_block(rng, 2, 1)
    refuses("block of the target is 0", realize_by_depth, goal, [0, 0], block)
    # x_2 reaches the output by V Γ_2 W_2 A_2 alone, for every activation pattern: Γ_2 = 0 is the
    # only solution, and x_1 passes Γ_2 too.
    K = khatri_rao(block.output, (block.mixing[1] @ block.feeding[1]).T)
    assert rational_matrix(K).det() != 0
    assert solve_scales(block.output, block.mixing[1] @ block.feeding[1], goal[:, 1:]).tolist() == [
        0, 0,
    ]  # fmt: skip


def test_one_scale_that_is_0_does_not_end_the_construction():
    """With k = 2 a target that needs a scale 0 in its last block is realized too."""
    rng = random.Random(9)
    block = draw_block(rng, 2, 2, 4)
    gamma = rational_array([0, 1, 2, 3], "gamma", 1)
    last = block.output @ (gamma[:, None] * (block.mixing[1] @ block.feeding[1]))
    goal = np.concatenate([rational_array([[1, 2], [3, 5]], "first"), last], axis=1)
    made = realize_by_depth(goal, [0, 0], block)
    assert made.zero_scales == 1
    X = rational_array([[0.5, -0.25], [0.25, 0.5], [-0.5, 0.125], [0.125, 0.25]], "X")
    assert (made(X) == goal @ X).all()


def test_special_matrices_are_refused():
    """Frozen matrices that are 0 lead to a singular system, which is reported."""
    zero = rational_array([[0, 0], [0, 0]], "zero")
    block = SkipBlock.of([zero, zero], [[[1], [1]]] * 2, [[1, 2], [3, 4]])
    refuses("special", realize_by_depth, [[1, 2], [3, 4]], [0, 0], block)


def test_sizes_that_do_not_fit():
    """Sizes that do not fit are rejected."""
    refuses("one each", SkipBlock.of, [], [], [[1]])
    refuses("must be", SkipBlock.of, [[[1, 2]]], [[[1]]], [[1]])
    with pytest.raises(InputError, match="needs 2 layers"):
        realize_by_depth([[1, 2], [3, 4]], [0, 0], draw_block(random.Random(0), 1, 1))
