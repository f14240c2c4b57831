r"""Tuning only normalization layers, exactly: scales and shifts that realize a target.

A frozen network of depth 2l,

.. math:: f(x) = Γ_{2l} W_{2l} σ(Γ_{2l-1} W_{2l-1} σ(… σ(Γ_1 W_1 x + β_1) …) + β_{2l-1}) + β_{2l},

is to equal a target of depth l, ``g(x) = W*_l σ(… σ(W*_1 x + b*_1) …) + b*_l``, on a ball by
choice of the diagonal Γ and the β alone (Theorem 1 of [1]_; a target's own scales are part
of its W*).  Block k of f is made equal to layer k of g:

* *scales*: Γ_{2k-1} from the linear system of Lemma 1 (`algebra.normalization.khatri_rao`),
Γ_{2k} = 1; or
  both from a homogeneous one, which needs n − 1 hidden units less (`width_needed`);
* *linearization*: β_{2k-1} so large that no hidden unit is ever silent: the inputs of the
  block have norm at most R, so |γ_i ⟨w_i, x⟩| ≤ |γ_i| ‖w_i‖ R ≤ β_i (Cauchy–Schwarz);
* β_{2k} = b*_k − Γ_{2k} W_{2k} β_{2k-1}.

Everything is rational.  R for the next block is a rational upper bound of
‖W*_k‖_F R + ‖b*_k‖.  Where the system has no solution, the proof is a vector y with
y·(columns) = 0 and y·vec(W*) ≠ 0 (Fredholm's alternative): an `Obstruction`.

References
----------
.. [1] A. Giannou, S. Rajput, D. Papailiopoulos, "The expressive power of tuning only the
   normalization layers", COLT 2023 (arXiv 2302.07937).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from algebra.errors import InputError, shown
from algebra.linalg.rational import Rationals, column, echelon, matrix
from algebra.normalization.dense import (
    DenseNet,
    NormalizedNet,
    norm_bound,
    rationals,
    size_text,
)
from algebra.normalization.khatri_rao import khatri_rao

# Combinations of null vectors tried before a scale that must not be 0 is given up.
_TRIES = 64


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
        None: y annihilates the columns of W_2 ⊙ W_1ᵀ but not vec(W*).  Else, with both
        scales tuned: y annihilates them and vec of every row of W* but that of this
        output, whose inverse scale would have to be 0.
    """

    layer: int
    vector: tuple[fmpq, ...]
    output: int | None = None

    def holds(self, W2: Any, W1: Any, target: Any) -> bool:
        """Whether it is a proof: checked with exact products."""
        W2, W1, target = (rationals(v, n) for v, n in ((W2, "W2"), (W1, "W1"), (target, "target")))
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


class Unreachable(InputError):
    """No scales realize the target; the proof is in ``obstruction``."""

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
        Its number, for messages.

    Returns
    -------
    ndarray of fmpq, shape (w,)
        The solution; where there are many, one with as many zeros as there are free
        unknowns.

    Raises
    ------
    Unreachable
        With a proof, where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> solve_scales([[1, 2]], [[1], [3]], [[13]])
    array([13, 0], dtype=object)
    """
    W2, W1, target = _block(W2, W1, target, layer)
    K = khatri_rao(W2, W1.T)
    rows, w = K.shape
    goal = target.reshape(-1, 1)
    if rows == w:
        try:
            found = matrix(K).solve(column(target.ravel()))
            return np.array([found[i, 0] for i in range(w)], dtype=object)
        except ZeroDivisionError:
            pass  # singular: the elimination below says which part is solvable
    reduced, pivots = echelon(np.concatenate([K, goal, _identity(rows)], axis=1))
    gamma = np.array([fmpq(0)] * w, dtype=object)
    for r, c in enumerate(pivots):
        if c == w:
            y = tuple(reduced[r, w + 1 + k] for k in range(rows))
            rank = len([c for c in pivots if c < w])
            raise Unreachable(
                Obstruction(layer, y),
                f"layer {layer}: {w} hidden units span {rank} of {rows} dimensions, and "
                f"the target is outside; scales alone need width {rows} and matrices in general "
                "position",
            )
        if c > w:
            break
        gamma[c] = reduced[r, w]
    return gamma


def solve_both_scales(
    W2: Any, W1: Any, target: Any, *, layer: int = 1
) -> tuple[Rationals, Rationals]:
    """γ and γ' with diag(γ') W_2 diag(γ) W_1 = target, all γ' nonzero.

    Parameters, errors as for `solve_scales`; nm − n + 1 hidden units suffice.

    Returns
    -------
    gamma : ndarray of fmpq, shape (w,)
    output : ndarray of fmpq, shape (n,)

    Notes
    -----
    With δ_i = 1/γ'_i the system W_2 Γ W_1 − diag(δ) W* = 0 is linear and homogeneous.  A
    combination of its null vectors with integer coefficients is taken in which no δ_i is 0.
    """
    W2, W1, target = _block(W2, W1, target, layer)
    n, m = target.shape
    K = khatri_rao(W2, W1.T)
    w = K.shape[1]
    if any(not any(entry != 0 for entry in row) for row in target):
        # Such an output needs no inverse scale; the plain system says what is possible.
        return solve_scales(W2, W1, target, layer=layer), np.array([fmpq(1)] * n, dtype=object)
    rows = np.array([[fmpq(0)] * n for _ in range(n * m)], dtype=object)
    for i in range(n):
        rows[i * m : (i + 1) * m, i] = -target[i]
    system = np.concatenate([K, rows], axis=1)
    reduced, pivots = echelon(np.concatenate([system, _identity(n * m)], axis=1))
    used = [c for c in pivots if c < w + n]
    free = [c for c in range(w + n) if c not in set(used)]
    null = []
    for c in free:
        vector = [fmpq(0)] * (w + n)
        vector[c] = fmpq(1)
        for r, pivot in enumerate(used):
            vector[pivot] = -reduced[r, c]
        null.append(np.array(vector, dtype=object))
    for i in range(n):
        if all(vector[w + i] == 0 for vector in null):
            y = _row_of(reduced, used, w + i, w + n, n * m)
            raise Unreachable(
                Obstruction(layer, y, i),
                f"layer {layer}: with {w} hidden units output {i} would need an infinite scale; "
                f"all scales together need width {n * m - n + 1}",
            )
    for attempt in range(_TRIES):
        # Powers of distinct integers: by Vandermonde, some attempt meets no zero.
        total = sum((fmpq((attempt + 1) ** k) * v for k, v in enumerate(null)), 0 * null[0])
        if all(entry != 0 for entry in total[w:]):
            return total[:w], np.array([1 / entry for entry in total[w:]], dtype=object)
    raise InputError(f"layer {layer}: no combination of {len(null)} null vectors was found")


def reconstruct(
    target: DenseNet,
    frozen: Sequence[Any],
    *,
    radius: Any = 1,
    second_scales: bool = False,
) -> NormalizedNet:
    """Scales and shifts with which a frozen network equals a target, exactly (Theorem 1).

    Parameters
    ----------
    target : DenseNet
        Of depth l.
    frozen : sequence of matrices
        W_1, …, W_2l: hidden width × inputs, outputs × hidden width, and so on.
    radius : rational, optional
        Of the ball of inputs, in the Euclidean norm.
    second_scales : bool, optional
        Tune Γ_2, Γ_4, … too: less width is needed.

    Returns
    -------
    NormalizedNet

    Raises
    ------
    Unreachable
        With a proof, where the hidden width is too small.

    Examples
    --------
    >>> import numpy as np
    >>> g = DenseNet.of([[[1, 2], [3, 4]]])
    >>> W1 = [[1, 0], [0, 1], [1, 1], [1, -1]]
    >>> W2 = [[1, 2, 1, 0], [0, 1, 1, 1]]
    >>> f = reconstruct(g, [W1, W2])
    >>> f.scales[0].tolist(), proves(f, g)
    ([-3, -1, 4, -1], True)
    """
    weights = tuple(rationals(W, f"W{k}") for k, W in enumerate(frozen, 1))
    if len(weights) != 2 * len(target.weights):
        raise InputError(
            f"the frozen network has {len(weights)} layers; a target of depth "
            f"{len(target.weights)} needs {2 * len(target.weights)}"
        )
    bound = rationals([radius], "radius", 1)[0]
    if not bound > 0:
        raise InputError(f"`radius` ({shown(radius)}) must be positive")
    start = bound
    scales: list[Rationals] = []
    shifts: list[Rationals] = []
    for k, (goal, shift) in enumerate(zip(target.weights, target.shifts, strict=True)):
        W1, W2 = weights[2 * k], weights[2 * k + 1]
        if second_scales:
            gamma, output = solve_both_scales(W2, W1, goal, layer=k + 1)
        else:
            gamma = solve_scales(W2, W1, goal, layer=k + 1)
            output = np.array([fmpq(1)] * len(goal), dtype=object)
        hidden = np.array(
            [abs(g) * norm_bound(row) * bound for g, row in zip(gamma, W1, strict=True)],
            dtype=object,
        )
        scales += [gamma, output]
        shifts += [hidden, shift - output * (W2 @ hidden)]
        bound = norm_bound(goal.ravel()) * bound + norm_bound(shift)
    return NormalizedNet(weights, tuple(scales), tuple(shifts), start)


def proves(net: NormalizedNet, target: DenseNet) -> bool:
    """Whether a network is exactly the target on its ball, by the argument of Theorem 1.

    Checked without solving anything: hidden units never silent, block matrices equal,
    constants equal.
    """
    bound = net.radius
    for k, (goal, shift) in enumerate(zip(target.weights, target.shifts, strict=True)):
        W1, W2 = net.weights[2 * k : 2 * k + 2]
        g1, g2 = net.scales[2 * k : 2 * k + 2]
        b1, b2 = net.shifts[2 * k : 2 * k + 2]
        for g, b, row in zip(g1, b1, W1, strict=True):
            # b ≥ 0 and b² ≥ γ² ‖w‖² R², without a root.
            if b < 0 or b * b < g * g * (row @ row) * bound * bound:
                return False
        product = g2[:, None] * (W2 @ (g1[:, None] * W1))
        if any(entry != 0 for entry in (product - goal).ravel()):
            return False
        if any(entry != 0 for entry in g2 * (W2 @ b1) + b2 - shift):
            return False
        bound = norm_bound(goal.ravel()) * bound + norm_bound(shift)
    return True


def _block(W2: Any, W1: Any, target: Any, layer: int) -> tuple[Rationals, Rationals, Rationals]:
    W2, W1 = rationals(W2, f"W{2 * layer}"), rationals(W1, f"W{2 * layer - 1}")
    target = rationals(target, f"target W{layer}")
    wanted = (target.shape[0], W1.shape[0]), (W2.shape[1], target.shape[1])
    if (W2.shape, W1.shape) != wanted:
        raise InputError(
            f"layer {layer}: frozen matrices {size_text(W1)} and {size_text(W2)} cannot make a "
            f"target of {size_text(target)}; they must be w×{target.shape[1]} and "
            f"{target.shape[0]}×w"
        )
    return W2, W1, target


def _identity(rows: int) -> Rationals:
    return np.array([[fmpq(int(i == j)) for j in range(rows)] for i in range(rows)], dtype=object)


def _row_of(
    reduced: fmpq_mat, used: list[int], column: int, width: int, rows: int
) -> tuple[fmpq, ...]:
    """The combination of equations that says "unknown number `column` is 0"."""
    r = used.index(column)
    return tuple(reduced[r, width + k] for k in range(rows))
