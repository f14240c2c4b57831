"""Appendix E's experiment, small."""

from dataclasses import replace

import numpy as np
from matchprob.plugins.papers.figures.papers.normalization_experiment import (
    ALGORITHMS,
    Setting,
    constructed,
    frozen_matrices,
    run_setting,
)

SMALL = Setting(d=3, width=9, samples=400, epochs=3)


def test_construction_is_exact_on_samples():
    """At w = d² the network constructed from the target gives its outputs to rounding."""
    found = run_setting(SMALL)
    assert set(found) == {*ALGORITHMS, "variance"}
    assert max(found["target"], found["both"]) < 1e-22 < found["adam"]
    # The network constructed from a trained net has exactly that net's error.
    assert np.isclose(found["dense"], found["trained"])


def test_second_scales_need_less_width():
    """At w = d² − d + 1 only the construction with all scales is exact."""
    found = run_setting(replace(SMALL, width=7))
    assert found["both"] < 1e-20
    assert found["target"] > 1e-4


def test_target_does_not_depend_on_the_frozen_net():
    """Runs with other widths share target and samples: the trained dense net is the same."""
    first, second = run_setting(SMALL), run_setting(replace(SMALL, width=6))
    assert first["trained"] == second["trained"]
    assert first["variance"] == second["variance"]
    assert second["target"] > 1e-6


def test_density():
    """Sparse frozen matrices have about the required share of nonzero weights."""
    W1, W2 = frozen_matrices(Setting(d=20, width=400, density=0.2))
    for W in (W1, W2):
        assert abs((W != 0).mean() - 0.2) < 0.02
        assert abs(W[W != 0].std() - (W.shape[1] * 0.2) ** -0.5) < 0.02


def test_constructed_is_the_target_within_the_radius_only():
    """Inside the radius the outputs agree; far outside a hidden unit is off."""
    rng = np.random.default_rng(1)
    W1, W2 = frozen_matrices(SMALL)
    T, b = rng.standard_normal((3, 3)), rng.standard_normal(3)
    net = constructed(W1, W2, T, b, radius=2.0)
    X = rng.standard_normal((3, 50))
    X *= 2 / np.linalg.norm(X, axis=0)
    assert np.allclose(net(X), np.maximum(T @ X + b[:, None], 0).sum(axis=0))
    assert not np.allclose(net(50 * X), np.maximum(50 * T @ X + b[:, None], 0).sum(axis=0))
