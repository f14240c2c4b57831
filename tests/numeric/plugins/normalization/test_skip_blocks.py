"""Theorem 2 in doubles: valid bounds, condition numbers, agreement with rationals."""

import numpy as np
import pytest

from algebra.plugins.normalization.skip_blocks import SkipBlock
from numeric.plugins.normalization.skip_blocks import (
    construct_depth,
    construct_skip_block,
    random_skip_block,
)
from tests.refusals import refuses


def ball(rng, d, count=100, radius=1.0):
    """Points of the ball, most of them near its surface."""
    X = rng.standard_normal((d, count))
    return radius * X / np.linalg.norm(X, axis=0) * rng.random(count) ** 0.1


@pytest.mark.parametrize(("d", "k"), [(2, 1), (4, 1), (5, 2), (6, 3), (8, 4)])
def test_the_bound_of_skip_blocks_holds(d, k):
    """On a ball of radius 2 the block differs from the target by at most its small bound."""
    rng = np.random.default_rng(10 * d + k)
    target, shift = rng.standard_normal((d, d)), rng.standard_normal(d)
    made = construct_skip_block(target, shift, random_skip_block(d, d, k, rng), radius=2.0)
    assert made.error < 1e-6
    assert made.zero_scales == 0
    X = ball(rng, d, radius=2.0)
    size = max(np.abs(b).max() for b in made.shifts)
    met = np.abs(made(X) - target @ X - shift[:, None]).max()
    assert met <= made.error + 1e-12 * size


def test_layers_in_a_row():
    """For two layers with ReLU between them the last bound is above the measured error."""
    rng = np.random.default_rng(1)
    weights = [rng.standard_normal((4, 3)) / 2, rng.standard_normal((2, 4)) / 2]
    shifts = [rng.standard_normal(4), rng.standard_normal(2)]
    first, second = construct_depth(weights, shifts, 2, seed=3)
    X = ball(rng, 3)
    wanted = weights[1] @ np.maximum(weights[0] @ X + shifts[0][:, None], 0) + shifts[1][:, None]
    met = np.abs(second(np.maximum(first(X), 0)) - wanted).max()
    assert first.error < second.error < 1e-9
    assert met < second.error + 1e-9


def test_narrow_layers_are_ill_conditioned():
    """With k = 1 the condition grows far beyond that of k = 3, and the bound with it."""
    rng = np.random.default_rng(2)
    target = rng.standard_normal((6, 6))
    narrow, wide = (
        construct_skip_block(target, np.zeros(6), random_skip_block(6, 6, k, rng)) for k in (1, 3)
    )
    assert narrow.condition > 10 * wide.condition
    assert narrow.error > wide.error


def test_wrong_input_of_skip_blocks_is_refused():
    """Sizes that do not fit, a bad radius and singular systems raise InputError."""
    rng = np.random.default_rng(3)
    frozen = random_skip_block(3, 3, 1, rng)
    refuses("needs 2 layers", construct_skip_block, np.eye(2), np.zeros(2), frozen)
    refuses("radius", construct_depth, [np.eye(2)], [np.zeros(2)], 1, radius=-1.0)
    zero = SkipBlock(frozen.mixing, tuple(0 * A for A in frozen.feeding), frozen.output)
    refuses("singular", construct_skip_block, np.eye(3), np.zeros(3), zero)
