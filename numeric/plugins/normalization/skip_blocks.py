r"""Theorem 2's construction in doubles: depth instead of width, with a proved error bound.

The blocks of `algebra.plugins.normalization.skip_blocks` are solved in floating point, the last
first, then compared with the target in ball arithmetic.  If no unit is inactive, which is checked,
the block is affine, and

.. math:: \|f(x) - (W^* x + b^*)\|_2 \le \|D\| R + \|c\|,

with D and c the differences of matrices and constants.  Layers follow one another as in
`numeric.plugins.normalization.construct`.

Each block's system contains the product of all later ones, so conditions multiply: with k = 1
doubles fail at d ≈ 10 (condition 1e14); k ≥ 2 is harmless.  The condition is
reported; the bound is valid for every condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx

from algebra.errors import InputError
from algebra.plugins.normalization.skip_blocks import SkipBlock, TunedSkipBlock
from algebra.programs.balls import as_balls, ball_product
from numeric.plugins.normalization.construct import BITS, MARGIN, norm, upwards
from numeric.plugins.normalization.scales import tune_scales


def random_skip_block(d: int, q: int, k: int, rng: np.random.Generator) -> SkipBlock:
    """Gaussian frozen matrices for a d×q target, variance 1/columns."""
    steps, w = -(-q // k), d * k

    def draw(rows: int, columns: int) -> np.ndarray:
        return rng.standard_normal((rows, columns)) / np.sqrt(columns)

    return SkipBlock(
        tuple(draw(w, w) for _ in range(steps)),
        tuple(draw(w, k) for _ in range(steps)),
        draw(d, w),
    )


@dataclass(frozen=True)
class SkipConstruction(TunedSkipBlock):
    """Scales and shifts of a skip block, in doubles.

    Attributes
    ----------
    error : float
        Proved bound of the error after this layer of the target, before its activation.
    condition : float
        The largest condition number of the blocks' systems.
    """

    error: float
    condition: float


def construct_skip_block(
    target: np.ndarray,
    shift: np.ndarray,
    block: SkipBlock,
    radius: float = 1.0,
    before: float = 0.0,
) -> SkipConstruction:
    """Scales and shifts with which a skip block approximates ``target @ x + shift``.

    Parameters
    ----------
    target : ndarray, d×q
    shift : ndarray, d
    block : SkipBlock
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
    >>> frozen = random_skip_block(3, 3, 1, rng)
    >>> made = construct_skip_block(np.eye(3), np.zeros(3), frozen)
    >>> made.error < 1e-11, made.zero_scales
    (True, 0)
    """
    conditions: list[float] = []

    def solve(M: np.ndarray, mixed: np.ndarray, part: np.ndarray, layer: int) -> np.ndarray:
        gamma, condition, _ = tune_scales(M, mixed, part)
        if not np.isfinite(condition):
            raise InputError(
                f"block {layer}: its system is singular in doubles; `k` ({block.k}) must be larger"
            )
        conditions.append(condition)
        return gamma

    scales = block.scales(target, solve)
    with ctx.workprec(BITS):
        shifts, error = _shifts_and_error(target, shift, block, scales, radius, before)
    return SkipConstruction(block, scales, shifts, error, max(conditions))


def _shifts_and_error(
    target: np.ndarray,
    shift: np.ndarray,
    block: SkipBlock,
    scales: Sequence[np.ndarray],
    radius: float,
    before: float,
) -> tuple[tuple[np.ndarray, ...], float]:
    """Shifts that keep every unit active, and the bound, both in balls."""
    k, width = block.k, block.output.shape[1]
    reach = arb(radius) + arb(before)
    linear, constant = (as_balls(np.zeros((width, n))) for n in (block.steps * k, 1))
    shifts = []
    for i, gamma in enumerate(scales):
        linear[:, i * k : (i + 1) * k] = as_balls(block.feeding[i])
        mix = as_balls(gamma[:, None]) * as_balls(block.mixing[i])
        linear, carried = ball_product(mix, linear), ball_product(mix, constant)
        last = i == block.steps - 1
        if last:
            goal = np.linalg.lstsq(block.output, shift, rcond=None)[0]
        else:
            bounds = (linear**2).sum(axis=1)
            bounds = np.array([arb(square.sqrt().upper()) * reach for square in bounds])
            goal = np.array([float(bound.upper()) for bound in bounds]) * MARGIN
        # Rounded up, so that units stay active.
        own = np.nextafter(goal - [float(entry.mid()) for entry in carried[:, 0]], np.inf)
        shifts.append(own)
        constant = carried + as_balls(own[:, None])
        if not last and not (constant[:, 0] >= bounds).all():
            raise InputError(
                f"block {i + 1}: no shifts in doubles keep all units active; `k` ({k}) must be "
                "larger"
            )
    wanted, V = as_balls(target), as_balls(block.output)
    D = ball_product(V, linear)
    D[:, : target.shape[1]] -= wanted
    c = ball_product(V, constant) - as_balls(shift[:, None])
    return tuple(shifts), upwards(norm(D) * reach + norm(c) + norm(wanted) * arb(before))


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
        frozen = random_skip_block(len(W), W.shape[1], k, rng)
        made = construct_skip_block(W, b, frozen, bound, error)
        out.append(made)
        with ctx.workprec(BITS):
            bound = upwards(norm(as_balls(W)) * arb(bound) + norm(as_balls(b[:, None])))
        error = made.error
    return out
