r"""Normalization layers that make a frozen network equal to a target, exactly.

A frozen network of depth 2l,

.. math:: f(x) = Γ_{2l} W_{2l} σ(Γ_{2l-1} W_{2l-1} σ(… σ(Γ_1 W_1 x + β_1) …) + β_{2l-1}) + β_{2l},

must equal a target of depth l, ``g(x) = W*_l σ(… σ(W*_1 x + b*_1) …) + b*_l``, on a ball by the
choice of the diagonal Γ and the β alone (Theorem 1 of [1]_; a target's own scales are part of its
W*).  Block k of f is made equal to layer k of g:

* *scales*: `algebra.plugins.normalization.scales`, with Γ_{2k} = 1 or tuned too;
* *linearization*: β_{2k-1} so large that all hidden units are always active: the inputs of the
  block have norm at most R, so |γ_i ⟨w_i, x⟩| ≤ |γ_i| ‖w_i‖ R ≤ β_i (Cauchy–Schwarz);
* β_{2k} = b*_k − Γ_{2k} W_{2k} β_{2k-1}.

Everything is rational.  R for the next block is a rational upper bound of
‖W*_k‖_F R + ‖b*_k‖.

**If a block's system has no solution**, the consequence depends on the depth.

* *One layer* (no ReLU after it): no scales and shifts realize the target, `Unreachable`. At a point
  where f is differentiable its Jacobian is Γ_2 W_2 S Γ_1 W_1, S the 0/1 diagonal of the units that
  are active there; if f = g near it, S Γ_1 solves the system.  So kinks, inactive units and
  parallel rows of W_1 change nothing.
* *Two or more layers*: hidden units of the target may be taken in another order and multiplied by
  positive numbers; if Γ_2, Γ_4, … are tuned both are tried
  (`algebra.plugins.normalization.hidden_orders`). A refutation is then one of realizations *layer
  by layer*; a realization by units of odd layers with kinks inside the ball is not excluded.  So
  the answer is `NotRealized`, which does not prove that the target is out of reach.
* *Any depth*, a hidden width below the rank of the target's Jacobian at some point of the ball: no
  scales and shifts suffice, `TooNarrow`.  If f = g near a point, f's Jacobian is a product through
  every layer, so its rank is at most the width of each.  The proof is the point.

References
----------
.. [1] A. Giannou, S. Rajput, D. Papailiopoulos, "The expressive power of tuning only the
   normalization layers", COLT 2023 (arXiv 2302.07937).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import fmpq

from algebra.errors import InputError, Unrealized, shown
from algebra.linalg.rational import Rationals, rational_rank
from algebra.plugins.normalization.dense import (
    DenseNet,
    NormalizedNet,
    check_depth,
    norm_bound,
    rational_array,
)
from algebra.plugins.normalization.hidden_orders import NotRealized, align
from algebra.plugins.normalization.hidden_scales import NOT_FOUND
from algebra.plugins.normalization.scales import Unreachable, solve_both_scales, solve_scales

# Number of points of the ball at which the rank of a target's Jacobian is computed.
_POINTS = 64


@dataclass(frozen=True)
class NarrowLayer:
    """Proof that a layer of a frozen network is too narrow, for all scales and shifts.

    Attributes
    ----------
    layer : int
        The target's layer, from 1, whose block has too few hidden units.
    point : tuple of fmpq
        Inside the ball; no unit of the target is exactly 0 there.
    rank : int
        Rank of the target's Jacobian at that point.
    """

    layer: int
    point: tuple[fmpq, ...]
    rank: int

    def holds(self, target: DenseNet, width: int, radius: Any = 1) -> bool:
        """Whether it is a proof for a block with this number of hidden units."""
        bound = rational_array([radius], "radius", 1)[0]
        if not sum((x * x for x in self.point), fmpq(0)) < bound * bound:
            return False
        return _jacobian_rank(target, self.point) == self.rank > width


class TooNarrow(Unrealized):
    """No scales and shifts realize the target; the proof is in ``obstruction``."""

    def __init__(self, obstruction: NarrowLayer, text: str) -> None:
        super().__init__(text)
        self.obstruction = obstruction


def _jacobian_rank(target: DenseNet, point: Sequence[fmpq]) -> int | None:
    """The rank of a target's Jacobian at a point; None if a hidden unit is exactly 0 there."""
    x = np.array(point, dtype=object)
    jacobian = None
    for k, (W, b) in enumerate(zip(target.weights, target.shifts, strict=True)):
        x, jacobian = W @ x + b, W if jacobian is None else W @ jacobian
        if k < len(target.weights) - 1:
            if any(value == 0 for value in x):
                return None
            active = np.array([fmpq(int(value > 0)) for value in x], dtype=object)
            x, jacobian = active * x, active[:, None] * jacobian
    assert jacobian is not None
    return rational_rank(jacobian)


def _too_narrow(target: DenseNet, weights: Sequence[Rationals], bound: fmpq) -> TooNarrow | None:
    """A proof that a block has fewer units than the rank of the target's Jacobian, if found."""
    widths = [len(W) for W in weights[::2]]
    narrow = min(widths)
    inputs = target.weights[0].shape[1]
    rng = random.Random("narrow-layer/1")
    for _ in range(_POINTS):
        point = [fmpq(rng.randint(-255, 255), 256) for _ in range(inputs)]
        size = norm_bound(np.array(point, dtype=object))
        scale = bound * fmpq(rng.randint(1, 255), 256) / size if size > 0 else fmpq(0)
        inside = tuple(scale * x for x in point)
        found = _jacobian_rank(target, inside)
        if found is not None and found > narrow:
            layer = widths.index(narrow) + 1
            text = (
                f"layer {layer}: {narrow} hidden units pass a Jacobian of rank {narrow} at most; "
                f"the target's has rank {found} at a point of the ball"
            )
            return TooNarrow(NarrowLayer(layer, inside, found), text)
    return None


def reconstruct(
    target: DenseNet,
    frozen: Sequence[Any],
    *,
    radius: Any = 1,
    second_scales: bool = False,
) -> NormalizedNet:
    """Scales and shifts that make a frozen network equal to a target, exactly (Theorem 1).

    Parameters
    ----------
    target : DenseNet
        The target, of depth l.
    frozen : sequence of matrices
        W_1, …, W_2l: hidden width × inputs, outputs × hidden width, and so on.
    radius : rational, optional
        Radius of the ball of inputs, in the Euclidean norm.
    second_scales : bool, optional
        Also tune Γ_2, Γ_4, …, so that less width is needed.

    Returns
    -------
    NormalizedNet

    Raises
    ------
    Unreachable
        With a proof, if a target of one layer has too small a hidden width.
    TooNarrow
        With a proof, if a block is narrower than the rank of a Jacobian of the target.
    NotRealized
        If a deeper target is otherwise not realized layer by layer.

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
    weights = tuple(rational_array(W, f"W{k}") for k, W in enumerate(frozen, 1))
    check_depth(len(weights), len(target.weights))
    bound = rational_array([radius], "radius", 1)[0]
    if not bound > 0:
        raise InputError(f"`radius` ({shown(radius)}) must be positive")
    try:
        return _layer_by_layer(target, weights, bound, second_scales)
    except Unreachable as failure:
        if len(target.weights) == 1:
            raise
        narrow = _too_narrow(target, weights, bound)
        if narrow is not None:
            raise narrow from None
        if not second_scales:
            layer = failure.obstruction.layer
            text = (
                f"{failure}; the scales of the even layers are fixed here, and the hidden units "
                "have the target's scale, so this proves nothing: tune the even layers' scales too "
                "(second_scales)"
            )
            raise NotRealized(layer, NOT_FOUND, text) from None
    hidden = align(target, weights).units
    net = _layer_by_layer(target.with_hidden_units(hidden), weights, bound, second_scales)
    return replace(net, hidden=hidden)


def _layer_by_layer(
    target: DenseNet, weights: Sequence[Rationals], bound: fmpq, second_scales: bool
) -> NormalizedNet:
    """Make every block equal to its layer of the target."""
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
    return NormalizedNet(tuple(weights), tuple(scales), tuple(shifts), start)


def proves(net: NormalizedNet, target: DenseNet) -> bool:
    """Whether a network is exactly the target on its ball, by the argument of Theorem 1.

    This is checked without solving anything: hidden units are always active, block matrices and
    constants equal those of the target with its hidden units in the net's order and scale.
    """
    bound = net.radius
    if net.hidden:
        target = target.with_hidden_units(net.hidden)
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
