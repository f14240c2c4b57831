r"""Theorem 2's construction in doubles: depth instead of width, with a proved error bound.

The blocks of `algebra.normalization.skip_blocks` are solved in floating point, the last first, then
compared with the target in ball arithmetic.  If no unit is inactive, which is checked, the block is
affine, and

.. math:: \|f(x) - (W^* x + b^*)\|_2 \le \|D\| R + \|c\|,

with D and c the differences of matrices and constants.  Layers follow one another as in
`numeric.normalization.construct`.

Each block's system contains the product of all later ones, so conditions multiply: with k = 1
doubles fail at d ≈ 10 (condition 1e14); k ≥ 2 is harmless.  The condition is
reported; the bound is valid for every condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from flint import arb, arb_mat, ctx

from algebra.errors import InputError
from algebra.normalization.khatri_rao import khatri_rao
from numeric.normalization.construct import BITS, MARGIN, norm, upwards
from numeric.normalization.goals import balls


@dataclass(frozen=True)
class SkipMatrices:
    """Frozen matrices for one layer of the target, in doubles.

    Attributes
    ----------
    mixing : tuple of ndarray
        W_1, …, W_s, each dk×dk.
    feeding : tuple of ndarray
        A_1, …, A_s, each dk×k.
    output : ndarray
        V, d×dk.
    """

    mixing: tuple[np.ndarray, ...]
    feeding: tuple[np.ndarray, ...]
    output: np.ndarray

    @classmethod
    def random(cls, d: int, q: int, k: int, rng: np.random.Generator) -> SkipMatrices:
        """Gaussian matrices for a d×q target, variance 1/columns."""
        steps, w = -(-q // k), d * k

        def draw(rows: int, columns: int) -> np.ndarray:
            return rng.standard_normal((rows, columns)) / np.sqrt(columns)

        return cls(
            tuple(draw(w, w) for _ in range(steps)),
            tuple(draw(w, k) for _ in range(steps)),
            draw(d, w),
        )


@dataclass(frozen=True)
class SkipConstruction:
    """Scales and shifts of a skip block, in doubles.

    Attributes
    ----------
    matrices : SkipMatrices
    scales, shifts : tuple of ndarray
    error : float
        Proved bound of the error after this layer of the target, before its activation.
    condition : float
        The largest condition number of the blocks' systems.
    zero_scales : int
        Number of zero scales; none by Lemma 3.
    """

    matrices: SkipMatrices = field(repr=False)
    scales: tuple[np.ndarray, ...] = field(repr=False)
    shifts: tuple[np.ndarray, ...] = field(repr=False)
    error: float
    condition: float
    zero_scales: int

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Outputs for samples X, one per column, in doubles."""
        k = self.matrices.feeding[0].shape[1]
        padded = np.zeros((len(self.scales) * k, X.shape[1]))
        padded[: len(X)] = X
        state = np.zeros((len(self.scales[0]), X.shape[1]))
        for i, (scale, shift) in enumerate(zip(self.scales, self.shifts, strict=True)):
            fed = np.maximum(state, 0) + self.matrices.feeding[i] @ padded[i * k : (i + 1) * k]
            state = scale[:, None] * (self.matrices.mixing[i] @ fed) + shift[:, None]
        return self.matrices.output @ state


def construct_skip_block(
    target: np.ndarray,
    shift: np.ndarray,
    matrices: SkipMatrices,
    radius: float = 1.0,
    before: float = 0.0,
) -> SkipConstruction:
    """Scales and shifts with which a skip block approximates ``target @ x + shift``.

    Parameters
    ----------
    target : ndarray, d×q
    shift : ndarray, d
    matrices : SkipMatrices
    radius : float, optional
        Bound of the norm of the inputs of this layer of the target.
    before : float, optional
        Bound of the error of the inputs.

    Returns
    -------
    SkipConstruction

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> frozen = SkipMatrices.random(3, 3, 1, rng)
    >>> made = construct_skip_block(np.eye(3), np.zeros(3), frozen)
    >>> made.error < 1e-11, made.zero_scales
    (True, 0)
    """
    d, q = target.shape
    k, s = matrices.feeding[0].shape[1], len(matrices.mixing)
    if matrices.output.shape != (d, d * k) or s != -(-q // k):
        raise InputError(
            f"a {d}×{q} target with blocks of {k} needs {-(-q // k)} layers of width {d * k}; "
            f"`matrices` has {s} layers and an output of shape {matrices.output.shape}"
        )
    wanted = np.zeros((d, s * k))
    wanted[:, :q] = target
    M, condition = matrices.output, 0.0
    scales: list[np.ndarray] = []
    for i in range(s - 1, -1, -1):
        K = khatri_rao(M, (matrices.mixing[i] @ matrices.feeding[i]).T)
        U, sizes, Vt = np.linalg.svd(K)
        if not sizes[-1] > 0:
            raise InputError(
                f"block {i + 1}: its system is singular in doubles; `k` ({k}) must be larger"
            )
        condition = max(condition, float(sizes[0] / sizes[-1]))
        goal = wanted[:, i * k : (i + 1) * k].ravel()
        gamma = Vt.T @ ((U.T @ goal) / sizes)
        for _ in range(2):
            residual = (goal - K.astype(np.longdouble) @ gamma.astype(np.longdouble)).astype(float)
            gamma = gamma + Vt.T @ ((U.T @ residual) / sizes)
        scales.insert(0, gamma)
        M = M @ (gamma[:, None] * matrices.mixing[i])
    saved = ctx.prec
    ctx.prec = BITS
    try:
        shifts, error = _shifts_and_error(wanted, shift, matrices, scales, radius, before)
    finally:
        ctx.prec = saved
    zeros = sum(int((gamma == 0).sum()) for gamma in scales)
    return SkipConstruction(matrices, tuple(scales), shifts, error, condition, zeros)


def _shifts_and_error(
    wanted: np.ndarray,
    shift: np.ndarray,
    matrices: SkipMatrices,
    scales: Sequence[np.ndarray],
    radius: float,
    before: float,
) -> tuple[tuple[np.ndarray, ...], float]:
    """Shifts that keep every unit active, and the bound, both in balls."""
    width, k = matrices.feeding[0].shape
    s = len(scales)
    reach = arb(radius) + arb(before)
    linear = arb_mat(width, s * k)
    constant = arb_mat(width, 1)
    shifts = []
    for i, gamma in enumerate(scales):
        fed = np.zeros((width, s * k))
        fed[:, i * k : (i + 1) * k] = matrices.feeding[i]
        mix, g = balls(matrices.mixing[i]), balls(gamma[:, None])
        mix = arb_mat(
            width, width, [g[a, 0] * mix[a, b] for a in range(width) for b in range(width)]
        )
        linear, carried = mix * (linear + balls(fed)), mix * constant
        if i < s - 1:
            bounds = [_row_norm(linear, a) * reach for a in range(width)]
            goal = np.array([float(bound.upper()) for bound in bounds]) * MARGIN
        else:
            goal = np.linalg.lstsq(matrices.output, shift, rcond=None)[0]
        own = np.array([goal[a] - float(carried[a, 0].mid()) for a in range(width)])
        # Rounded up, so that units stay active.
        own = np.nextafter(own, np.inf)
        shifts.append(own)
        constant = carried + balls(own[:, None])
        if i < s - 1 and not all(bool(constant[a, 0] >= bounds[a]) for a in range(width)):
            raise InputError(
                f"block {i + 1}: no shifts in doubles keep all units active; `k` ({k}) must be "
                "larger"
            )
    V = balls(matrices.output)
    D = V * linear - balls(wanted)
    c = V * constant - balls(shift[:, None])
    error = norm(D) * reach + norm(c) + norm(balls(wanted)) * arb(before)
    return tuple(shifts), upwards(error)


def _row_norm(matrix: arb_mat, row: int) -> arb:
    square = sum((matrix[row, j] ** 2 for j in range(matrix.ncols())), arb(0))
    return arb(square.sqrt().upper())


def construct_depth(
    weights: Sequence[np.ndarray],
    shifts: Sequence[np.ndarray],
    k: int,
    *,
    seed: int = 0,
    radius: float = 1.0,
) -> list[SkipConstruction]:
    """Each layer of a target by random skip blocks, in doubles, with accumulated error bounds.

    Parameters
    ----------
    weights, shifts : sequences of ndarray
        The target's weights and shifts.
    k : int
        Number of inputs fed to a layer.
    seed : int, optional
        Seed of the random frozen matrices.
    radius : float, optional
        Radius of the ball of inputs.

    Returns
    -------
    list of SkipConstruction
        The last one's `error` bounds ‖f(x) − g(x)‖₂ on ‖x‖ ≤ radius.
    """
    if not (np.isfinite(radius) and radius > 0):
        raise InputError(f"`radius` ({radius!r}) must be positive and finite")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x5C1C,)))
    out: list[SkipConstruction] = []
    bound, error = radius, 0.0
    for W, b in zip(weights, shifts, strict=True):
        frozen = SkipMatrices.random(len(W), W.shape[1], k, rng)
        made = construct_skip_block(W, b, frozen, bound, error)
        out.append(made)
        saved = ctx.prec
        ctx.prec = BITS
        try:
            bound = upwards(norm(balls(W)) * arb(bound) + norm(balls(b[:, None])))
        finally:
            ctx.prec = saved
        error = made.error
    return out
