"""Scales of one block in doubles: linear solves, their condition, the best approximation."""

from __future__ import annotations

import numpy as np

from algebra.plugins.normalization.khatri_rao import khatri_rao, width_needed

_REFINEMENTS = 3
# Beyond this condition number a square system is treated as singular.
_WORST = 1e15
# Relative size below which a singular value, an inverse scale or a residual counts as 0.
_CUT = 1e-9


def tune_scales(
    W2: np.ndarray, W1: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, float, str]:
    """γ with W_2 diag(γ) W_1 = target, or the best approximation.

    Parameters
    ----------
    W2 : ndarray, n×w
    W1 : ndarray, w×m
    target : ndarray, n×m

    Returns
    -------
    gamma : ndarray, shape (w,)
    condition : float
    method : str
        "solved", "least norm" or "pseudo-inverse".
    """
    K = khatri_rao(W2, W1.T)
    goal = target.ravel()
    rows, w = K.shape
    # The singular values are needed in any case, for the condition.
    U, s, V = np.linalg.svd(K, full_matrices=False)
    condition = float(s[0] / s[-1]) if s[-1] > 0 else float("inf")
    if w < rows or condition > _WORST:
        kept = s > s[0] * max(K.shape) * np.finfo(float).eps if s[0] > 0 else s > 0
        gamma = V[kept].T @ ((U[:, kept].T @ goal) / s[kept])
        return gamma, condition, "pseudo-inverse"
    gamma = V.T @ ((U.T @ goal) / s)
    wide = K.astype(np.longdouble)
    for _ in range(_REFINEMENTS):
        residual = (goal - wide @ gamma.astype(np.longdouble)).astype(float)
        gamma = gamma + V.T @ ((U.T @ residual) / s)
    return gamma, condition, "solved" if w == rows else "least norm"


def tune_both_scales(
    W2: np.ndarray, W1: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, str]:
    """γ and γ' with diag(γ') W_2 diag(γ) W_1 = target, or an approximation.

    Returns
    -------
    gamma, output : ndarray, shapes (w,) and (n,)
    condition : float
        Of the homogeneous system on the complement of its null space.
    method : str
    """
    n, m = target.shape
    kept = np.abs(target).sum(axis=1) > 0
    if kept.any() and not kept.all():
        # The scale 0 realizes an output without inputs.
        output = np.zeros(n)
        gamma, output[kept], condition, method = tune_both_scales(W2[kept], W1, target[kept])
        return gamma, output, condition, method
    K = khatri_rao(W2, W1.T)
    w = K.shape[1]
    needed = width_needed(n, m, second_scales=True)
    if w >= needed and kept.all():
        system = np.concatenate([K, -khatri_rao(np.eye(n), target.T)], axis=1)
        _, s, V = np.linalg.svd(system)
        null = V[n * m :]
        condition = float(s[0] / s[-1]) if s[-1] > 0 else float("inf")
        # The solution with inverse scales nearest to 1.  Null vectors without inverse scales
        # (of a disconnected unit) must not be mixed in by rounding.
        mix = np.linalg.lstsq(null[:, w:].T, np.ones(n), rcond=_CUT)[0]
        found = mix @ null
        gamma, delta = found[:w], found[w:]
        if condition < _WORST and np.abs(delta).min() > _CUT * np.abs(delta).max():
            # Given δ, γ is solved again on its own, to full precision.
            wide, goal = K.astype(np.longdouble), (delta[:, None] * target).ravel()
            for _ in range(_REFINEMENTS):
                residual = (goal - wide @ gamma.astype(np.longdouble)).astype(float)
                gamma = gamma + np.linalg.lstsq(K, residual, rcond=None)[0]
            if np.abs(residual).max() < _CUT * np.abs(goal).max():
                return gamma, 1 / delta, condition, "solved" if w == needed else "least norm"
    gamma, condition, method = tune_scales(W2, W1, target)
    return gamma, np.ones(n), condition, method
