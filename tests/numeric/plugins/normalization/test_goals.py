"""Goals of the blocks: layers of a target, with other orders and scales of its hidden units."""

import numpy as np

from numeric.plugins.normalization.goals import aligned_goals, own_goals


def layers(seed):
    """A deep 2×2 target and frozen matrices of the least widths."""
    rng = np.random.default_rng(seed)
    weights = [rng.standard_normal((2, 2)) for _ in range(2)]
    shifts = [rng.standard_normal(2) for _ in range(2)]
    sizes = ((3, 2), (2, 3), (2, 2), (2, 2))
    return weights, shifts, [rng.standard_normal(size) for size in sizes]


def values(goals, X):
    """Outputs of the network of these layers."""
    for k, goal in enumerate(goals):
        X = goal.weight @ X + goal.shift[:, None]
        if k < len(goals) - 1:
            X = np.maximum(X, 0)
    return X


def test_aligned_goals_are_the_same_function():
    """Orders and scales change the layers, not the function; exact weights are near the doubles."""
    X = np.random.default_rng(0).standard_normal((2, 50))
    found = 0
    for seed in range(8):
        weights, shifts, frozen = layers(seed)
        own = own_goals(weights, shifts)
        goals = aligned_goals(weights, shifts, frozen, True)
        if isinstance(goals, str):
            assert "Proved" in goals
            continue
        found += 1
        assert np.allclose(values(goals, X), values(own, X), atol=1e-10)
        for goal in goals:
            assert goal.output is not None
            for i, j in np.ndindex(goal.weight.shape):
                assert abs(goal.exact_weight[i, j] - goal.weight[i, j]) < 1e-12
    assert found >= 4


def test_reasons_for_no_search():
    """Without `second_scales`, and below the least width, the reason is returned."""
    weights, shifts, frozen = layers(0)
    assert "second_scales" in aligned_goals(weights, shifts, frozen, False)
    narrow = [*frozen[:2], frozen[2][:1], frozen[3][:, :1]]
    assert "too narrow" in aligned_goals(weights, shifts, narrow, True)
