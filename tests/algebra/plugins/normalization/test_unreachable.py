"""Proofs modulo a prime compared with rational elimination."""

import random

import pytest
from flint import fmpq

from algebra.plugins.normalization.dense import rational_array
from algebra.plugins.normalization.scales import Unreachable, solve_both_scales, solve_scales
from algebra.plugins.normalization.unreachable import prove_unreachable, shows_unreachable


def draw(rng, rows, columns):
    """A matrix of random dyadic rationals."""
    return rational_array([[fmpq(2 * rng.randint(-50, 50) + 1, 32) for _ in range(columns)]
                      for _ in range(rows)], "drawn")  # fmt: skip


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("width", range(1, 8))
def test_agrees_with_rational_solving(second, width):
    """A prime is found if and only if rational elimination finds no scales."""
    rng = random.Random(width)
    W2, W1, target = draw(rng, 2, width), draw(rng, width, 3), draw(rng, 2, 3)
    solve = solve_both_scales if second else solve_scales
    try:
        solve(W2, W1, target)
        possible = True
    except Unreachable:
        possible = False
    p = prove_unreachable(W2, W1, target, second_scales=second)
    assert (p == 0) == possible
    assert possible == (width >= (5 if second else 6))
    if p:
        assert shows_unreachable(W2, W1, target, p, second_scales=second)


def test_a_reachable_target_is_never_refused():
    """A target made from scales has no proof of the contrary, with any number of units."""
    rng = random.Random(3)
    W2, W1 = draw(rng, 3, 2), draw(rng, 2, 3)
    target = W2 @ (draw(rng, 2, 1) * W1)
    assert prove_unreachable(W2, W1, target) == 0
    assert prove_unreachable(W2, W1, target, second_scales=True) == 0
