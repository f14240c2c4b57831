r"""Scales and shifts in doubles that realize a target network, with a proved error bound.

The construction of `algebra.plugins.normalization.scales` in floating point: a linear solve for
each layer (least squares if the hidden width is too small, as in the paper's experiment), and
shifts that keep all hidden units active.  The result is then *compared with the target in ball
arithmetic* (python-flint), independently of how it was computed:

.. math:: \|f(x) - g(x)\|_2 \le e_l \quad \text{for all } \|x\|_2 \le R,

    e_k = \|D_k\| (R_k + e_{k-1}) + \|c_k\| + \|W^*_k\| e_{k-1}, \qquad e_0 = 0,

where D_k is the difference of the block's matrix and the target's, c_k that of the constants, and
R_k a bound for the norm of the target's states; σ has Lipschitz constant 1.  The shifts are chosen
for inputs of norm R_k + e_{k-1}, and the inequality that keeps a unit active is checked in
balls too.

This bound is for the function that the doubles define.  Evaluation in floating point adds
rounding, bounded a priori (`rounding_bound`) for every order of operations: a term that takes part
in at most k operations has a relative error of at most γ_k = k u/(1 − k u), u the unit roundoff
(Higham [1]_, Lemma 3.1 and section 3.1).  In layer j, with c columns, a term of the result takes
part in at most c operations in the sum of products and 16 in normalization (rounding of factor and
shift, the square root and quotient of a batch normalization), so

.. math:: |\hat z - z| \le γ_{c+16} (|γ_j| (|W_j| |\hat h| + 2 |o_j|) + |β_j|),

with o_j the biases and means that a batch normalization adds and subtracts again.  After the hidden
units the error passes the second half of the block; the error of the block's inputs passes the
affine map that the block is if all units stay active.

References
----------
.. [1] N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., SIAM 2002.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from flint import arb, ctx

from algebra.documents import Document
from algebra.errors import InputError
from algebra.plugins.normalization.dense import (
    DenseNet,
    NormalizedNet,
    check_depth,
    layered_outputs,
)
from algebra.plugins.normalization.khatri_rao import width_needed
from algebra.plugins.normalization.reconstruct import proves, reconstruct
from algebra.plugins.normalization.unreachable import prove_unreachable
from algebra.programs.balls import as_balls, ball_product
from algebra.results import Result, attribute_columns, named
from numeric.plugins.normalization.document import CHECKED, construction_document
from numeric.plugins.normalization.goals import BlockGoal, aligned_goals, own_goals
from numeric.plugins.normalization.scales import tune_both_scales, tune_scales
from numeric.trials.instances import to_double

# Bits of the ball arithmetic that checks the result.
BITS = 160
# Margin of the shifts beyond the value that keeps a unit active.
MARGIN = 1 + 1e-6
# Operations of a term in a layer besides its sum of products.
_OPERATIONS = 16
# Factor that covers the rounding of the bounds, which are sums of products of non-negative doubles.
_SLACK = 1 + 1e-9
# A bound of the total effect of underflow on a sum.
_UNDERFLOW = 1e-290


@dataclass(frozen=True)
class BlockReport:
    """The realization of one layer of the target.

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
        e_k, the proved bound after this layer.
    impossible : int
        For a target of one layer: a prime that proves that the tuned scales cannot realize it
        (`algebra.plugins.normalization.unreachable`); 0 if there is none.
    note : str
        For a deeper target that is not realized: the result of the search for an order and
        positive scales of its hidden units.
    """

    layer: int
    width: int
    needed: int
    method: str
    condition: float
    residual: float
    error: float
    impossible: int = 0
    note: str = ""


@dataclass(frozen=True, repr=False)
class Construction(Result):
    """Scales and shifts for a frozen network.

    Attributes
    ----------
    scales, shifts : tuple of ndarray
        Γ_1, …, Γ_2l and β_1, …, β_2l, float64.
    error : float
        Proved bound of ‖f(x) − g(x)‖₂ on ‖x‖₂ ≤ radius; 0 if `exact` is given.
    radius : float
    blocks : tuple of BlockReport
    exact : NormalizedNet or None
        The rational solution, if it was requested; `scales` and `shifts` are its rounded values.
    frozen : tuple of ndarray
        The frozen matrices W_1, …, W_2l.
    rounding : float
        Proved bound of the error of evaluation in floating point, in any order of operations;
        infinite if overflow or too low a precision prevents a bound, and with `exact`, whose
        doubles are rounded rationals.
    ends_in_relu : bool
        Whether target and frozen network both have a ReLU after the last layer.
    measured : float or None
        Largest ‖f(x) − g(x)‖₂ of the forward check: g in doubles, f in extended precision, at
        random inputs of the ball and of its surface.
    assumed : str
        Assumptions on the networks that were not specified.
    """

    scales: tuple[np.ndarray, ...] = field(repr=False)
    shifts: tuple[np.ndarray, ...] = field(repr=False)
    error: float
    radius: float
    blocks: tuple[BlockReport, ...]
    exact: NormalizedNet | None = field(repr=False, default=None)
    frozen: tuple[np.ndarray, ...] = field(repr=False, default=())
    rounding: float = float("inf")
    ends_in_relu: bool = False
    measured: float | None = None
    assumed: str = ""

    @property
    def error_in_floating_point(self) -> float:
        """Proved bound of ‖f(x) − ĝ(x)‖₂, ĝ evaluated in floating point: `error` + `rounding`."""
        return float(np.nextafter(self.error + self.rounding, np.inf))

    @property
    def condition(self) -> float:
        """The worst condition number of a layer's system."""
        return max(block.condition for block in self.blocks)

    @property
    def is_exact(self) -> bool:
        """Whether the target is realized with error 0, in rationals."""
        return self.exact is not None

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Outputs of the tuned network for samples X, one per column, in doubles."""
        Y = layered_outputs(self.frozen, self.scales, self.shifts, X)
        return np.maximum(Y, 0) if self.ends_in_relu else Y

    def columns(self) -> dict[str, list[Any]]:
        """One row for each layer."""
        names = ("layer", "width", "needed", "method", "condition", "residual", "error")
        return attribute_columns(self.blocks, *names)

    def arrays(self) -> dict[str, np.ndarray]:
        """The frozen matrices W1, …, the scales g1, … and the shifts b1, …."""
        out = {f"W{j}": W for j, W in enumerate(self.frozen, 1)}
        for j, (scale, shift) in enumerate(zip(self.scales, self.shifts, strict=True), 1):
            out |= {f"g{j}": scale, f"b{j}": shift}
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``; rationals as texts if the construction is exact."""
        rational: dict[str, Any] = {}
        if self.exact is not None:
            for name, vectors in (("scales", self.exact.scales), ("shifts", self.exact.shifts)):
                rational[f"rational_{name}"] = [[str(v) for v in vector] for vector in vectors]
        return {
            "exact": self.is_exact,
            "error_bound": self.error,
            "rounding_bound": self.rounding if np.isfinite(self.rounding) else None,
            "measured_error": self.measured,
            "assumed": self.assumed or None,
            "radius": self.radius,
            "condition": self.condition,
            "layers": [
                {
                    **named(b, "layer", "width", "needed", "method", "condition", "residual"),
                    "error_bound": b.error,
                    "impossible_modulo": b.impossible or None,
                    "note": b.note or None,
                }
                for b in self.blocks
            ],
            "scales": [scale.tolist() for scale in self.scales],
            "shifts": [shift.tolist() for shift in self.shifts],
            **rational,
        }  # fmt: skip

    def document(self) -> Document:
        """Distance from the target, and what is proved of it."""
        return construction_document(self)


def construct_exactly(
    target: DenseNet, frozen: Sequence[Any], *, radius: Any = 1, second_scales: bool = False
) -> Construction:
    """The rational construction, and its values rounded to doubles.

    Parameters
    ----------
    target : DenseNet
    frozen : sequence
        Rational matrices W_1, …, W_2l.
    radius : rational, optional
        Radius of the ball of inputs.
    second_scales : bool, optional
        Tune Γ_2, Γ_4, … too.

    Notes
    -----
    For the method see `algebra.plugins.normalization.scales`.
    """
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
    unit: float = 2.0**-53,
    offsets: Sequence[np.ndarray] | None = None,
) -> Construction:
    """Scales and shifts in doubles, with a proved error bound.

    Parameters
    ----------
    weights, shifts : sequences of ndarray
        The target's W_1, …, W_l and b_1, …, b_l.
    frozen : sequence of ndarray
        W_1, …, W_2l.
    radius : float, optional
        Radius of the ball of inputs.
    second_scales : bool, optional
        Tune Γ_2, Γ_4, … too.
    unit : float, optional
        Unit roundoff of the arithmetic in which the tuned network will be evaluated.
    offsets : sequence of ndarray, optional
        |biases| + |means| that each layer adds and its normalization subtracts again.

    Returns
    -------
    Construction

    Notes
    -----
    If a target of two or more layers is not realized with its hidden units as they are, other
    orders and positive scales of them are tried (`algebra.plugins.normalization.hidden_orders`).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> frozen = [rng.standard_normal((9, 3)), rng.standard_normal((3, 9))]
    >>> made = construct_in_doubles([rng.standard_normal((3, 3))], [np.zeros(3)], frozen)
    >>> made.error < 1e-11
    True
    """
    check_depth(len(frozen), len(weights))
    if not (np.isfinite(radius) and radius > 0):
        raise InputError(f"`radius` ({radius!r}) must be positive and finite")
    with ctx.workprec(BITS):
        goals = own_goals(weights, shifts)
        made = _construct(goals, frozen, float(radius), second_scales)
        if len(weights) > 1 and any(block.method == "pseudo-inverse" for block in made.blocks):
            found = aligned_goals(weights, shifts, frozen, second_scales)
            if isinstance(found, str):
                made = _with_note(made, found)
            else:
                goals = found
                made = _construct(goals, frozen, float(radius), second_scales)
        rounding = rounding_bound(
            [goal.weight for goal in goals], [goal.shift for goal in goals], made, unit=unit,
            offsets=offsets,
        )  # fmt: skip
        return replace(made, rounding=rounding)


def _with_note(made: Construction, note: str) -> Construction:
    blocks = tuple(
        replace(block, note=note) if block.method == "pseudo-inverse" else block
        for block in made.blocks
    )
    return replace(made, blocks=blocks)


def _construct(
    goals: Sequence[BlockGoal], frozen: Sequence[np.ndarray], radius: float, second_scales: bool
) -> Construction:
    bound, error = arb(radius), arb(0)
    scales: list[np.ndarray] = []
    tuned: list[np.ndarray] = []
    blocks = []
    for k, wanted in enumerate(goals, 1):
        goal, shift = wanted.weight, wanted.shift
        W1, W2 = (np.asarray(frozen[j], float) for j in (2 * k - 2, 2 * k - 1))
        n, m = goal.shape
        if W1.shape[1] != m or W2.shape[0] != n or W2.shape[1] != W1.shape[0]:
            raise InputError(
                f"layer {k}: frozen matrices of shapes {W1.shape} and {W2.shape} do not fit a "
                f"target of shape {goal.shape}; they must be (w, {m}) and ({n}, w)"
            )
        if wanted.output is not None:
            output = wanted.output
            kept = output != 0
            gamma, condition, _ = tune_scales(W2[kept], W1, goal[kept] / output[kept, None])
            method = "hidden units rescaled"
        elif second_scales:
            gamma, output, condition, method = tune_both_scales(W2, W1, goal)
        else:
            gamma, condition, method = tune_scales(W2, W1, goal)
            output = np.ones(n)
        reach = float((bound + error).upper()) * MARGIN
        hidden = np.abs(gamma) * np.linalg.norm(W1, axis=1) * reach * MARGIN
        wide = (W2.astype(np.longdouble) @ hidden.astype(np.longdouble)) * output
        second = (shift - wide).astype(float)
        D, c, active = _differences(W1, W2, gamma, output, hidden, second, wanted, bound + error)
        if not active:
            raise InputError(
                f"layer {k}: with scales of size {np.abs(gamma).max():.1e} no shifts in double "
                "precision keep all hidden units active; use `exact=True`"
            )
        exact = wanted.exact_weight
        error = norm(D) * (bound + error) + norm(c) + norm(exact) * error
        error = arb(error.upper())
        residual = max(float(entry.upper()) for entry in np.abs(D).flat)
        bound = arb((norm(exact) * bound + norm(wanted.exact_shift)).upper())
        scales += [gamma, output]
        tuned += [hidden, second]
        needed = width_needed(n, m, second_scales=second_scales)
        proof = 0
        if method == "pseudo-inverse" and len(goals) == 1:
            proof = prove_unreachable(W2, W1, goal, second_scales=second_scales)
        blocks.append(
            BlockReport(k, len(W1), needed, method, condition, residual, upwards(error), proof)
        )
    return Construction(
        tuple(scales), tuple(tuned), upwards(error), radius, tuple(blocks),
        frozen=tuple(np.asarray(W, float) for W in frozen),
    )  # fmt: skip


def rounding_bound(
    weights: Sequence[np.ndarray],
    shifts: Sequence[np.ndarray],
    made: Construction,
    *,
    unit: float = 2.0**-53,
    offsets: Sequence[np.ndarray] | None = None,
) -> float:
    """A priori bound of ‖ĝ(x) − g(x)‖₂ on the ball, ĝ evaluated in floating point.

    Parameters
    ----------
    weights, shifts : sequences of ndarray
        The target's weights and shifts.
    made : Construction
    unit : float, optional
        Unit roundoff.
    offsets : sequence of ndarray, optional
        See `construct_in_doubles`.

    Returns
    -------
    float
        Infinite if no bound is known: γ_k needs k u < 1, and nothing may overflow.

    Notes
    -----
    For the argument see the module's docstring.  Bounds of norms are those of the target's states,
    R_k + e_{k-1}, for which the construction keeps its units active with a relative margin of
    1e-6; rounding errors beyond the margin pass the ReLU by its Lipschitz constant
    1 in each unit, with |W_2 Γ| |W_1| in place of the block's matrix.
    """
    size, delta = made.radius, 0.0
    for k, (goal, shift) in enumerate(zip(weights, shifts, strict=True)):
        W1, W2 = (np.abs(made.frozen[j]) for j in (2 * k, 2 * k + 1))
        g1, g2 = (np.abs(made.scales[j]) for j in (2 * k, 2 * k + 1))
        b1, b2 = (np.abs(made.shifts[j]) for j in (2 * k, 2 * k + 1))
        o1, o2 = (
            (np.abs(offsets[j]) for j in (2 * k, 2 * k + 1)) if offsets is not None else (0.0, 0.0)
        )
        first, second = (_gamma(W.shape[1] + _OPERATIONS, unit) for W in (W1, W2))
        # The inputs of the units include the error e_{k-1} of the construction.
        before = made.blocks[k - 1].error if k else 0.0
        reach = (size + before + delta) * _SLACK
        rows = g1 * np.linalg.norm(W1, axis=1)
        local = first * (rows * reach + 2 * g1 * o1 + b1) + _UNDERFLOW
        hidden = rows * reach + b1 + local
        outer = g2[:, None] * W2
        last = second * (outer @ hidden + 2 * g2 * o2 + b2) + _UNDERFLOW
        active = bool((made.shifts[2 * k] >= rows * reach * _SLACK).all())
        if active:
            block = _norm(goal) + made.blocks[k].residual * np.sqrt(goal.size)
        else:
            block = _norm(outer @ (g1[:, None] * W1))
        delta = float(block * delta + np.linalg.norm(outer @ local + last)) * _SLACK
        size = float(_norm(goal) * size + np.linalg.norm(shift)) * _SLACK
    return delta * _SLACK if np.isfinite(delta) else float("inf")


def _norm(matrix: np.ndarray) -> float:
    """Upper bound of the 2-norm, as `norm`, in doubles."""
    sizes = np.abs(matrix)
    mixed = np.sqrt(sizes.sum(axis=1).max() * sizes.sum(axis=0).max())
    return float(min(np.linalg.norm(matrix), mixed)) * _SLACK


def _gamma(operations: int, unit: float) -> float:
    """Higham's γ_k = k u/(1 − k u), rounded up; infinite if it is not defined."""
    product = operations * unit
    return product / (1 - product) * _SLACK if product < 0.5 else float("inf")


def forward_check(
    weights: Sequence[np.ndarray], shifts: Sequence[np.ndarray], made: Construction
) -> Construction:
    """The construction with the largest error measured at random inputs.

    Raises
    ------
    AssertionError
        If a measured error exceeds the proved bound: a bug.
    """
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(0xC4EC,)))
    m = made.frozen[0].shape[1]
    X = rng.standard_normal((m, CHECKED))
    X *= made.radius / np.maximum(np.linalg.norm(X, axis=0), np.finfo(float).tiny)
    # Half of them on the surface, half inside; a little less for rounding.
    X *= np.where(np.arange(CHECKED) % 2, 1.0, rng.random(CHECKED) ** (1 / m)) * (1 - 1e-12)
    W, b = ([part.astype(np.longdouble) for part in parts] for parts in (weights, shifts))
    target = layered_outputs(W, [None] * len(W), b, X.astype(np.longdouble))
    if made.ends_in_relu:
        target = np.maximum(target, 0)
    measured = float(np.linalg.norm((made(X) - target).astype(float), axis=0).max())
    if not made.is_exact and not measured <= made.error_in_floating_point:
        raise AssertionError(
            f"measured {measured:.3e} exceeds the proved {made.error_in_floating_point:.3e}: a bug"
        )
    return replace(made, measured=measured)


def _differences(
    W1: np.ndarray,
    W2: np.ndarray,
    gamma: np.ndarray,
    output: np.ndarray,
    hidden: np.ndarray,
    second: np.ndarray,
    wanted: BlockGoal,
    reach: arb,
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Matrix and constant of the block minus the target's, in balls; whether units stay active."""
    g, b, outer = (as_balls(v[:, None]) for v in (gamma, hidden, output))
    scaled, last = g * as_balls(W1), as_balls(W2)
    D = outer * ball_product(last, scaled) - wanted.exact_weight
    c = outer * ball_product(last, b) + as_balls(second[:, None]) - wanted.exact_shift
    room = b[:, 0] ** 2 - (scaled**2).sum(axis=1) * reach**2
    return D, c, bool((hidden >= 0).all()) and all(entry >= 0 for entry in room)


def norm(matrix: np.ndarray) -> arb:
    """Upper bound of the 2-norm: Frobenius, or the root of row times column sums."""
    sizes = np.abs(matrix)
    by_row, by_column = (max(v.upper() for v in sizes.sum(axis=k)) for k in (1, 0))
    frobenius, mixed = (sizes**2).sum().sqrt().upper(), (by_row * by_column).sqrt().upper()
    return arb(min(frobenius, mixed))


def upwards(value: arb) -> float:
    """A double at least as large."""
    return 0.0 if value.is_zero() else float(np.nextafter(float(value.upper()), np.inf))
