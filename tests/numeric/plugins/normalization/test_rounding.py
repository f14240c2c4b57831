"""The a priori bound of rounding errors, with other precisions and orders of operations."""

import numpy as np
import pytest

from numeric.plugins.normalization.construct import construct_in_doubles


def tuned(depth, seed):
    """A target of this depth, and frozen matrices of the width it needs."""
    rng = np.random.default_rng(seed)
    weights = [rng.standard_normal((4, 4)) for _ in range(depth)]
    shifts = [rng.standard_normal(4) for _ in range(depth)]
    frozen = [rng.standard_normal(size) for _ in range(depth) for size in ((16, 4), (4, 16))]
    return weights, shifts, frozen


def evaluate(made, X, dtype, order=None):
    """The forward pass in a precision; sums in the given order of columns, one term at a time."""
    X = X.astype(dtype)
    last = len(made.frozen) - 1
    for j, (W, g, b) in enumerate(zip(made.frozen, made.scales, made.shifts, strict=True)):
        W, g, b = (v.astype(dtype) for v in (W, g, b))
        if order is None:
            Z = W @ X
        else:
            Z = np.zeros((len(W), X.shape[1]), dtype)
            for k in order(W.shape[1]):
                Z = Z + W[:, k : k + 1] * X[k : k + 1]
        X = g[:, None] * Z + b[:, None]
        if j < last:
            X = np.maximum(X, 0)
    return X


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_every_order_is_within_the_bound(depth, seed):
    """Doubles in three orders differ from extended precision, singles from doubles, within it."""
    weights, shifts, frozen = tuned(depth, seed)
    made = construct_in_doubles(weights, shifts, frozen)
    X = np.random.default_rng(seed + 100).standard_normal((4, 500))
    X /= np.linalg.norm(X, axis=0) * (1 + 1e-6)
    exact = evaluate(made, X, np.longdouble)
    for order in (None, range, lambda n: reversed(range(n))):
        away = np.linalg.norm((evaluate(made, X, float, order) - exact).astype(float), axis=0)
        assert 0 < away.max() <= made.rounding
    # Scales and shifts are rounded to singles; the matrices and inputs are singles already.
    single = [W.astype(np.float32).astype(float) for W in frozen]
    made = construct_in_doubles(weights, shifts, single, unit=2.0**-24)
    X = X.astype(np.float32).astype(float)
    away = np.linalg.norm(evaluate(made, X, np.float32) - evaluate(made, X, float), axis=0)
    assert 1e-8 < away.max() <= made.rounding


def test_too_low_a_precision_has_no_bound():
    """For a precision too low for the width the bound is infinite."""
    weights, shifts, frozen = tuned(1, 0)
    assert construct_in_doubles(weights, shifts, frozen, unit=2.0**-5).rounding == float("inf")
