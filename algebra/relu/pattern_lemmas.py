"""Lemmas D.3 and D.4 on activation patterns of a shallow ReLU net.

They rule patterns out by counting: a pattern says which hidden units are active on which
samples, and given one, the learnable weights solve a linear system.

References
----------
.. [1] O. Schlisselberg, R. Darshan, "The impact of allocation strategies in subset learning
   on the expressive power of neural networks", arXiv 2502.06300, Appendix D.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from math import comb
from typing import Any

import numpy as np

from algebra.errors import InputError


def pattern_infeasible_by_D3(pattern: Any, d: int, zero_samples: Collection[int] = ()) -> bool:
    """Lemma D.3: no solution where some sample has fewer than d active learning units.

    Parameters
    ----------
    pattern : array_like of 0 and 1, shape (k, m)
        Which of the k hidden units with learnable weights are active on which sample.
    d : int
        Outputs.
    zero_samples : collection of int, optional
        Samples whose right-hand side y − W2 relu(W1 x), the sum over the units that do not
        learn, is exactly 0.

    Returns
    -------
    bool
        True if the pattern has a solution with probability 0.  False proves nothing.

    Notes
    -----
    The d equations of a sample have rank at most the number of active units, and a generic
    right-hand side is outside that range.  The lemma forgets that a right-hand side may be
    exactly 0: where no unit of the teacher and no fixed unit of the student is active on the
    sample, which has positive probability.  Then the silent pattern solves it, so such
    samples are exempt.

    Examples
    --------
    >>> pattern_infeasible_by_D3([[1, 0], [1, 1]], d=2)
    True
    >>> pattern_infeasible_by_D3([[1, 0], [1, 0]], d=2, zero_samples=[1])
    False
    """
    active = _pattern(pattern).sum(axis=0)
    return any(int(a) < d for j, a in enumerate(active) if j not in set(zero_samples))


def pattern_infeasible_by_D4(
    pattern: Any, row_counts: Sequence[int], zero_samples: Collection[int] = ()
) -> bool:
    """Lemma D.4: no solution where a unit is active on fewer samples than it has weights.

    Parameters
    ----------
    pattern : array_like of 0 and 1, shape (k, m)
        Which of the k hidden units with learnable weights are active on which sample.
    row_counts : sequence of int
        The numbers r_i of their learnable weights; in all r = dm.
    zero_samples : collection of int, optional
        As in `pattern_infeasible_by_D3`.

    Returns
    -------
    bool
        True if the pattern has a solution with probability 0.  False proves nothing.

    Notes
    -----
    The r_i columns of unit i lie in a space of dimension (its active samples), so the square
    linear system is singular.  A sample with right-hand side 0 on which all are silent drops
    out and leaves fewer equations than weights; then the conclusion fails, and this returns
    False.
    """
    array = _pattern(pattern)
    if len(row_counts) != len(array):
        raise InputError(
            f"`row_counts` has {len(row_counts)} entries but `pattern` has {len(array)} rows"
        )
    if len(zero_samples):
        return False
    return any(int(a) < r for a, r in zip(array.sum(axis=1), row_counts, strict=True))


def _pattern(pattern: Any) -> np.ndarray:
    array = np.asarray(pattern)
    if array.ndim != 2 or not np.isin(array, (0, 1)).all():
        raise InputError("`pattern` must be a k×m matrix of 0 and 1, one row a learning unit")
    return array.astype(np.int64)


def patterns_left_by_D3(k: int, d: int, m: int) -> int:
    """Number of the 2^(km) patterns that Lemma D.3 leaves: (Σ_{j ≥ d} C(k, j))^m."""
    return sum(comb(k, j) for j in range(d, k + 1)) ** m


def patterns_left_by_D4(row_counts: Sequence[int], m: int) -> int:
    """Number of the 2^(km) patterns that Lemma D.4 leaves: Π_i Σ_{j ≥ r_i} C(m, j).

    Examples
    --------
    >>> patterns_left_by_D4([2, 1], m=3)
    28
    """
    total = 1
    for r in row_counts:
        total *= sum(comb(m, j) for j in range(r, m + 1))
    return total


def patterns_left(row_counts: Sequence[int], d: int, m: int) -> int:
    """Number of the 2^(km) patterns that both lemmas leave.

    Notes
    -----
    Sample by sample, with the units still owed activity as the state; units that are owed
    the same are alike, so the state is a sorted tuple.
    """

    @cache
    def count(samples: int, owed: tuple[int, ...]) -> int:
        if max(owed, default=0) > samples:
            return 0
        if samples == 0:
            return 1
        kinds = sorted(set(owed))
        return choose(samples, owed, tuple(kinds), (), 0)

    def choose(
        samples: int, owed: tuple[int, ...], kinds: tuple[int, ...], left: tuple, on: int
    ) -> int:
        if not kinds:
            return count(samples - 1, tuple(sorted(left))) if on >= d else 0
        kind, size = kinds[0], owed.count(kinds[0])
        return sum(
            comb(size, a)
            * choose(
                samples,
                owed,
                kinds[1:],
                (*left, *(max(kind - 1, 0),) * a, *(kind,) * (size - a)),
                on + a,
            )
            for a in range(size + 1)
        )

    return count(m, tuple(sorted(row_counts)))
