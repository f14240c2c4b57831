r"""Leaves of a refutation: their patterns, their evidence, and whether they cover all patterns.

A leaf fixes u = 0 or v = 0 for some pairs (unit, sample) and is refuted in one of three ways:

* by μ alone: the convex hulls of the units' activations do not reach the labels
  (`algebra.plugins.relu.arrangement`);
* by a Farkas vector (λ, μ) of the weaker linear program in u and v
(`algebra.plugins.relu.equations`),
  whose check needs no vertices;
* without a vector, if it is a single cell, whose linear equations are solved again.

The leaves cover every activation pattern if no two are compatible and Σ 2^(−fixed) = 1: each leaf
contains a share 2^(−fixed) of the patterns and no pattern is in two leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from algebra.plugins.relu.arrangement import Refuter
from algebra.plugins.relu.equations import ReluSystem
from algebra.time_limits import check_time


@dataclass(frozen=True)
class Leaf:
    """A leaf of the tree: fixings (k×m; see `FREE`, `U_ZERO`, `V_ZERO`) and their refutation.

    λ is None if μ alone refutes the convex hulls; μ is also None if the leaf is a single cell whose
    linear equations have no solution in it.
    """

    fixed: np.ndarray
    mu: np.ndarray | None
    lam: np.ndarray | None = None


def leaves_cover(leaves: Sequence[np.ndarray]) -> bool:
    """Whether sets of fixings cover every activation pattern exactly once.

    Examples
    --------
    >>> leaves_cover([np.array([[1, 0]]), np.array([[2, 1]]), np.array([[2, 2]])])
    True
    >>> leaves_cover([np.array([[1, 0]]), np.array([[2, 1]])])
    False
    """
    if not leaves:
        return False
    rows = np.array([leaf.ravel() for leaf in leaves])
    if not np.isin(rows, (0, 1, 2)).all():
        return False
    # Shares of the patterns in units of 2^(−pairs), as Python integers.
    pairs = rows.shape[1]
    if sum(1 << (pairs - int(fixed)) for fixed in (rows != 0).sum(axis=1)) != 1 << pairs:
        return False
    for t in range(len(rows) - 1):
        check_time()
        later = rows[t + 1 :]
        if not ((rows[t] != later) & (rows[t] != 0) & (later != 0)).any(axis=1).all():
            return False
    return True


def is_refuted(refuter: Refuter, leaf: Leaf) -> bool:
    """Whether a leaf's vector proves that the leaf has no match."""
    check_time()
    if leaf.mu is None:
        return leaf.lam is None and refuter.system.refutes_cell(leaf.fixed)
    if leaf.lam is None:
        return refuter.refutes(leaf.fixed, leaf.mu)
    return refuter.system.is_farkas(leaf.fixed, leaf.lam, leaf.mu)


def refutes(system: ReluSystem, leaves: tuple[Leaf, ...]) -> bool:
    """Whether the leaves prove that the instance has no match."""
    refuter = Refuter(system)
    return leaves_cover([leaf.fixed for leaf in leaves]) and all(
        is_refuted(refuter, leaf) for leaf in leaves
    )
