r"""Scales and shifts in doubles that realize a target network, with a proved error bound.

The construction of `algebra.normalization.scales` in floating point: a linear solve for each layer
(least squares where the hidden width is too small, as in the paper's experiment), shifts
that keep all hidden units active.  What is computed is then *held against the target in ball
arithmetic* (python-flint), whatever way it was found:

.. math:: \|f(x) - g(x)\|_2 \le e_l \quad \text{for all } \|x\|_2 \le R,

    e_k = \|D_k\| (R_k + e_{k-1}) + \|c_k\| + \|W^*_k\| e_{k-1}, \qquad e_0 = 0,

D_k the difference of the block's matrix and the target's, c_k that of the constants, R_k a
bound for the norm of the target's states; σ has Lipschitz constant 1.  The shifts are chosen
for inputs of norm R_k + e_{k-1}, and the inequality that keeps a unit active is checked in
balls too.  The bound is for the function that the doubles define; evaluating it in doubles
adds rounding of the usual size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

from algebra.errors import InputError
from algebra.normalization.dense import DenseNet, NormalizedNet
from algebra.normalization.khatri_rao import width_needed
from algebra.normalization.scales import proves, reconstruct
from algebra.normalization.unreachable import prove_unreachable
from numeric.instances import to_double
from numeric.normalization.scales import tune_both_scales, tune_scales

# Bits of the ball arithmetic that checks the result.
BITS = 160
# Margin of the shifts over what keeps a unit active.
MARGIN = 1 + 1e-6


@dataclass(frozen=True)
class BlockReport:
    """How one layer of the target was realized.

    Attributes
    ----------
    layer : int
        From 1.
    width, needed : int
        Hidden width, and the width with which every target can be realized.
    method : str
        "solved", "least norm" (more width than needed), "pseudo-inverse" or "solved in
        rationals".
    condition : float
        Condition number of the linear system (2-norm).
    residual : float
        Largest entry of the difference between the block's matrix and the target's.
    error : float
        e_k, the proved bound behind this layer.
    impossible : int
        A prime that proves that no scales realize this layer
        (`algebra.normalization.unreachable`); 0 where there is none.
    """

    layer: int
    width: int
    needed: int
    method: str
    condition: float
    residual: float
    error: float
    impossible: int = 0


@dataclass(frozen=True)
class Construction:
    """Scales and shifts for a frozen network.

    Attributes
    ----------
    scales, shifts : tuple of ndarray
        Γ_1, …, Γ_2l and β_1, …, β_2l, float64.
    error : float
        Proved bound of ‖f(x) − g(x)‖₂ on ‖x‖₂ ≤ radius; 0 where `exact` is there.
    radius : float
    blocks : tuple of BlockReport
    exact : NormalizedNet or None
        The rational solution, where it was asked for; `scales` and `shifts` are it, rounded.
    frozen : tuple of ndarray
        The frozen matrices W_1, …, W_2l.
    """

    scales: tuple[np.ndarray, ...] = field(repr=False)
    shifts: tuple[np.ndarray, ...] = field(repr=False)
    error: float
    radius: float
    blocks: tuple[BlockReport, ...]
    exact: NormalizedNet | None = field(repr=False, default=None)
    frozen: tuple[np.ndarray, ...] = field(repr=False, default=())

    @property
    def condition(self) -> float:
        """The worst condition number of a layer's system."""
        return max(block.condition for block in self.blocks)

    @property
    def is_exact(self) -> bool:
        """Whether the target is realized with error 0, in rationals."""
        return self.exact is not None

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Outputs of the tuned network for samples X, one a column, in doubles."""
        last = len(self.frozen) - 1
        layers = zip(self.frozen, self.scales, self.shifts, strict=True)
        for j, (W, scale, shift) in enumerate(layers):
            X = scale[:, None] * (W @ X) + shift[:, None]
            if j < last:
                X = np.maximum(X, 0)
        return X

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``; rationals as texts where the construction is exact."""
        rational: dict[str, Any] = {}
        if self.exact is not None:
            for name, vectors in (("scales", self.exact.scales), ("shifts", self.exact.shifts)):
                rational[f"rational_{name}"] = [[str(v) for v in vector] for vector in vectors]
        return {
            "exact": self.is_exact,
            "error_bound": self.error,
            "radius": self.radius,
            "condition": self.condition,
            "layers": [
                {
                    "layer": b.layer, "width": b.width, "needed": b.needed, "method": b.method,
                    "condition": b.condition, "residual": b.residual, "error_bound": b.error,
                    "impossible_modulo": b.impossible or None,
                }
                for b in self.blocks
            ],
            "scales": [scale.tolist() for scale in self.scales],
            "shifts": [shift.tolist() for shift in self.shifts],
            **rational,
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [
            "exactly the target, in rationals" if self.is_exact
            else f"‖f − g‖ ≤ {self.error:.2e} on ‖x‖ ≤ {self.radius:g}, proved"
        ]  # fmt: skip
        lines += [
            f"  layer {b.layer}: width {b.width} of {b.needed} needed, {b.method}, condition "
            f"{b.condition:.1e}, residual {b.residual:.1e}"
            + f"; no scales realize it (proved modulo {b.impossible})"
            * bool(b.impossible)
            for b in self.blocks
        ]
        return "\n".join(lines)


def construct_exactly(
    target: DenseNet, frozen: Sequence[Any], *, radius: Any = 1, second_scales: bool = False
) -> Construction:
    """The rational construction, with its rounding; see `algebra.normalization.scales`."""
    net = reconstruct(target, frozen, radius=radius, second_scales=second_scales)
    if not proves(net, target):
        raise AssertionError("the rational construction does not prove its target: a bug")
    floats = [to_double(W) for W in net.weights]
    blocks = []
    for k, goal in enumerate(target.weights):
        W1, W2 = floats[2 * k], floats[2 * k + 1]
        condition = tune_scales(W2, W1, to_double(goal))[1]
        n, m = goal.shape
        needed = width_needed(n, m, second_scales=second_scales)
        blocks.append(
            BlockReport(k + 1, len(W1), needed, "solved in rationals", condition, 0.0, 0.0)
        )
    return Construction(
        scales=tuple(to_double(v) for v in net.scales),
        shifts=tuple(to_double(v) for v in net.shifts),
        error=0.0,
        radius=float(to_double(np.array([net.radius], dtype=object))[0]),
        blocks=tuple(blocks),
        exact=net,
        frozen=tuple(floats),
    )


def construct_in_doubles(
    weights: Sequence[np.ndarray],
    shifts: Sequence[np.ndarray],
    frozen: Sequence[np.ndarray],
    *,
    radius: float = 1.0,
    second_scales: bool = False,
) -> Construction:
    """Scales and shifts in doubles, with a proved error bound.

    Parameters
    ----------
    weights, shifts : sequences of ndarray
        The target's W_1, …, W_l and b_1, …, b_l.
    frozen : sequence of ndarray
        W_1, …, W_2l.
    radius : float, optional
        Of the ball of inputs.
    second_scales : bool, optional
        Tune Γ_2, Γ_4, … too.

    Returns
    -------
    Construction

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> frozen = [rng.standard_normal((9, 3)), rng.standard_normal((3, 9))]
    >>> made = construct_in_doubles([rng.standard_normal((3, 3))], [np.zeros(3)], frozen)
    >>> made.error < 1e-11
    True
    """
    if len(frozen) != 2 * len(weights):
        raise InputError(
            f"the frozen network has {len(frozen)} layers; a target of depth {len(weights)} "
            f"needs {2 * len(weights)}"
        )
    if not (np.isfinite(radius) and radius > 0):
        raise InputError(f"`radius` ({radius!r}) must be positive")
    saved = ctx.prec
    ctx.prec = BITS
    try:
        return _construct(weights, shifts, frozen, float(radius), second_scales)
    finally:
        ctx.prec = saved


def _construct(
    weights: Sequence[np.ndarray],
    shifts: Sequence[np.ndarray],
    frozen: Sequence[np.ndarray],
    radius: float,
    second_scales: bool,
) -> Construction:
    bound, error = arb(radius), arb(0)
    scales: list[np.ndarray] = []
    tuned: list[np.ndarray] = []
    blocks = []
    for k, (goal, shift) in enumerate(zip(weights, shifts, strict=True), 1):
        W1, W2 = (np.asarray(frozen[j], float) for j in (2 * k - 2, 2 * k - 1))
        n, m = goal.shape
        if W1.shape[1] != m or W2.shape[0] != n or W2.shape[1] != W1.shape[0]:
            raise InputError(
                f"layer {k}: frozen matrices {W1.shape} and {W2.shape} cannot make a target of "
                f"{goal.shape}; they must be (w, {m}) and ({n}, w)"
            )
        if second_scales:
            gamma, output, condition, method = tune_both_scales(W2, W1, goal)
        else:
            gamma, condition, method = tune_scales(W2, W1, goal)
            output = np.ones(n)
        reach = float((bound + error).upper()) * MARGIN
        hidden = np.abs(gamma) * np.linalg.norm(W1, axis=1) * reach * MARGIN
        wide = (W2.astype(np.longdouble) @ hidden.astype(np.longdouble)) * output
        second = (shift - wide).astype(float)
        D, c, active = _differences(W1, W2, gamma, output, hidden, second, goal, shift,
                                    bound + error)  # fmt: skip
        if not active:
            raise InputError(
                f"layer {k}: scales of size {np.abs(gamma).max():.1e} leave no room for shifts "
                "in double precision; ask for exact=True"
            )
        error = norm(D) * (bound + error) + norm(c) + norm(balls(goal)) * error
        error = arb(error.upper())
        residual = max(float(abs(D[i, j]).upper()) for i in range(n) for j in range(m))
        bound = arb((norm(balls(goal)) * bound + norm(balls(shift[:, None]))).upper())
        scales += [gamma, output]
        tuned += [hidden, second]
        needed = width_needed(n, m, second_scales=second_scales)
        proof = 0
        if method == "pseudo-inverse":
            proof = prove_unreachable(W2, W1, goal, second_scales=second_scales)
        blocks.append(
            BlockReport(k, len(W1), needed, method, condition, residual, upwards(error), proof)
        )
    return Construction(
        tuple(scales), tuple(tuned), upwards(error), radius, tuple(blocks),
        frozen=tuple(np.asarray(W, float) for W in frozen),
    )  # fmt: skip


def _differences(
    W1: np.ndarray,
    W2: np.ndarray,
    gamma: np.ndarray,
    output: np.ndarray,
    hidden: np.ndarray,
    second: np.ndarray,
    goal: np.ndarray,
    shift: np.ndarray,
    reach: arb,
) -> tuple[arb_mat, arb_mat, bool]:
    """Matrix and constant of the block less the target's, in balls; whether units stay active."""
    g, outer = balls(gamma[:, None]), balls(output[:, None])
    first, last = balls(W1), balls(W2)
    w, m = W1.shape
    n = len(W2)
    scaled = arb_mat(w, m, [g[i, 0] * first[i, j] for i in range(w) for j in range(m)])
    product = last * scaled
    D = arb_mat(n, m, [outer[i, 0] * product[i, j] for i in range(n) for j in range(m)])
    b = balls(hidden[:, None])
    carried = last * b
    constant = [outer[i, 0] * carried[i, 0] + arb(float(second[i])) for i in range(n)]
    c = arb_mat(n, 1, constant) - balls(shift[:, None])
    active = all(
        hidden[i] >= 0
        and (b[i, 0] * b[i, 0] - sum((scaled[i, j] ** 2 for j in range(m)), arb(0)) * reach**2) >= 0
        for i in range(w)
    )
    return D - balls(goal), c, active


def balls(array: np.ndarray) -> arb_mat:
    """Doubles as exact balls."""
    return arb_mat(array.shape[0], array.shape[1], [arb(float(v)) for v in array.ravel()])


def norm(matrix: arb_mat) -> arb:
    """Upper bound of the 2-norm: Frobenius, or the root of row times column sums."""
    rows, columns = matrix.nrows(), matrix.ncols()
    entries = [[abs(matrix[i, j]) for j in range(columns)] for i in range(rows)]
    square = sum((v * v for row in entries for v in row), arb(0))
    by_row = max((sum(row, arb(0)).upper() for row in entries), default=arb(0))
    by_column = max(
        (sum((row[j] for row in entries), arb(0)).upper() for j in range(columns)), default=arb(0)
    )
    frobenius, mixed = square.sqrt().upper(), (arb(by_row) * arb(by_column)).sqrt().upper()
    return arb(min(frobenius, mixed))


def upwards(value: arb) -> float:
    """A double at least as large."""
    return 0.0 if value.is_zero() else float(np.nextafter(float(value.upper()), np.inf))
