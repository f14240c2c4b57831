r"""Exact scales of one block that realize a layer of a target, or a proof that none do.

Block k of a frozen network is Γ_2k W_2k Γ_{2k-1} W_{2k-1} if all units are active; it must equal
the target's W*_k.  Γ_{2k-1} is determined by the linear system of Lemma 1
(`algebra.plugins.normalization.khatri_rao`) with Γ_2k = 1; or both are determined by a homogeneous
one, which needs n − 1 hidden units less (`width_needed`).  All numbers are rational.

If the system has no solution, the proof is a vector y with y·(columns) = 0 and y·vec(W*) ≠ 0
(Fredholm's alternative): an `Obstruction`.  `algebra.plugins.normalization.reconstruct` says what
it proves of a whole network.

References
----------
.. [1] A. Giannou, S. Rajput, D. Papailiopoulos, "The expressive power of tuning only the
   normalization layers", COLT 2023 (arXiv 2302.07937).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import InputError, Unrealized
from algebra.linalg.rational import Rationals, rational_kernel, rational_rank, rational_solution
from algebra.plugins.normalization.dense import rational_array, size_text
from algebra.plugins.normalization.khatri_rao import khatri_rao


@dataclass(frozen=True)
class Obstruction:
    """Proof that no scales realize a target layer.

    Attributes
    ----------
    layer : int
        The target's layer, from 1.
    vector : tuple of fmpq
        y, one entry for each of the layer's nm equations.
    output : int or None
        None: y annihilates the columns of W_2 ⊙ W_1ᵀ but not vec(W*).  Otherwise, with both scales
        tuned: y annihilates them and vec of every row of W* except that of this output, whose
        inverse scale would have to be 0.
    """

    layer: int
    vector: tuple[fmpq, ...]
    output: int | None = None

    def holds(self, W2: Any, W1: Any, target: Any) -> bool:
        """Whether it is a proof, by exact products."""
        W2, W1, target = (
            rational_array(v, n) for v, n in ((W2, "W2"), (W1, "W1"), (target, "target"))
        )
        y = np.array(self.vector, dtype=object)
        if any(entry != 0 for entry in y @ khatri_rao(W2, W1.T)):
            return False
        by_row = (y.reshape(target.shape) * target).sum(axis=1)
        if self.output is None:
            return bool(by_row.sum() != 0)
        return all((value != 0) == (i == self.output) for i, value in enumerate(by_row))

    def __str__(self) -> str:
        if self.output is None:
            return f"layer {self.layer}: the target is outside the span of the scales' columns"
        return f"layer {self.layer}: the scale of output {self.output} would have to be infinite"


class Unreachable(Unrealized):
    """No scales realize the target layer; the proof is in ``obstruction``."""

    def __init__(self, obstruction: Obstruction, text: str) -> None:
        super().__init__(text)
        self.obstruction = obstruction


def solve_scales(W2: Any, W1: Any, target: Any, *, layer: int = 1) -> Rationals:
    """γ with W_2 diag(γ) W_1 = target.

    Parameters
    ----------
    W2 : matrix, n×w
    W1 : matrix, w×m
    target : matrix, n×m
    layer : int, optional
        The layer's number, for messages.

    Returns
    -------
    ndarray of fmpq, shape (w,)
        The solution; if there are many, one with as many zeros as there are free unknowns.

    Raises
    ------
    Unreachable
        With a proof, if there is no solution.

    Examples
    --------
    >>> import numpy as np
    >>> solve_scales([[1, 2]], [[1], [3]], [[13]])
    array([13, 0], dtype=object)
    """
    W2, W1, target = _block(W2, W1, target, layer)
    K, goal = khatri_rao(W2, W1.T), target.ravel()
    rows, w = K.shape
    found = rational_solution(K, goal, w)
    if found is not None:
        return np.array(found, dtype=object)
    vectors = rational_kernel(K.T, rows)
    proof = next(y for y in vectors if np.array(y, dtype=object) @ goal != 0)
    raise Unreachable(
        Obstruction(layer, tuple(proof)),
        f"layer {layer}: {w} hidden units span {rational_rank(K)} of {rows} dimensions, and the "
        f"target is outside; scales alone need width {rows} and matrices in general position",
    )


def solve_both_scales(
    W2: Any, W1: Any, target: Any, *, layer: int = 1
) -> tuple[Rationals, Rationals]:
    """γ and γ' with diag(γ') W_2 diag(γ) W_1 = target; γ' is nonzero except for zero rows.

    Parameters, errors as for `solve_scales`; nm − n + 1 hidden units suffice.

    Returns
    -------
    gamma : ndarray of fmpq, shape (w,)
    output : ndarray of fmpq, shape (n,)

    Notes
    -----
    With δ_i = 1/γ'_i the system W_2 Γ W_1 − diag(δ) W* = 0 is linear and homogeneous.  The result
    is a combination of its null vectors with integer coefficients in which no δ_i is 0.
    """
    W2, W1, target = _block(W2, W1, target, layer)
    n, m = target.shape
    K = khatri_rao(W2, W1.T)
    w = K.shape[1]
    kept = [i for i in range(n) if any(entry != 0 for entry in target[i])]
    if len(kept) < n:
        # The scale 0 realizes such an output for any hidden scales.
        gamma, output = np.array([fmpq(0)] * w, dtype=object), np.array([fmpq(0)] * n, dtype=object)
        if kept:
            try:
                gamma, output[kept] = solve_both_scales(W2[kept], W1, target[kept], layer=layer)
            except Unreachable as failure:
                raise _with_rows(failure, kept, target.shape) from None
        return gamma, output
    system = np.concatenate([K, -khatri_rao(np.eye(n, dtype=int), target.T)], axis=1)
    null = rational_kernel(system, w + n)
    for i in range(n):
        if all(vector[w + i] == 0 for vector in null):
            alone = [fmpq(int(c == w + i)) for c in range(w + n)]
            y = rational_solution(system.T, alone, n * m)
            assert y is not None
            raise Unreachable(
                Obstruction(layer, tuple(y), i),
                f"layer {layer}: with {w} hidden units output {i} would need an infinite scale; "
                f"all scales together need width {n * m - n + 1}",
            )
    total = without_zeros(null, slice(w, None))
    return total[:w], 1 / total[w:]


def without_zeros(vectors: Sequence[Sequence[fmpq]], where: slice = slice(None)) -> Rationals:
    """A combination of vectors without a 0 at some places, each of which has one that is not 0.

    The coefficients are powers of distinct integers: by Vandermonde, each place is 0 for fewer of
    them than there are vectors.
    """
    table = np.array(vectors, dtype=object)
    powers = (np.array([fmpq(base) ** k for k in range(len(table))]) for base in count(1))
    totals = (row @ table for row in powers)
    return next(total for total in totals if all(entry != 0 for entry in total[where]))


def _block(W2: Any, W1: Any, target: Any, layer: int) -> tuple[Rationals, Rationals, Rationals]:
    W2, W1 = rational_array(W2, f"W{2 * layer}"), rational_array(W1, f"W{2 * layer - 1}")
    target = rational_array(target, f"target W{layer}")
    wanted = (target.shape[0], W1.shape[0]), (W2.shape[1], target.shape[1])
    if (W2.shape, W1.shape) != wanted:
        raise InputError(
            f"layer {layer}: frozen matrices {size_text(W1)} and {size_text(W2)} cannot make a "
            f"target of {size_text(target)}; they must be w×{target.shape[1]} and "
            f"{target.shape[0]}×w"
        )
    return W2, W1, target


def _with_rows(failure: Unreachable, kept: list[int], shape: tuple[int, int]) -> Unreachable:
    """The same proof for the target including its zero rows."""
    proof = failure.obstruction
    vector = np.array([[fmpq(0)] * shape[1] for _ in range(shape[0])], dtype=object)
    vector[kept] = np.array(proof.vector, dtype=object).reshape(len(kept), shape[1])
    output = None if proof.output is None else kept[proof.output]
    text = str(failure).replace(f"output {proof.output} ", f"output {output} ")
    return Unreachable(Obstruction(proof.layer, tuple(vector.ravel()), output), text)
