"""The goal of each block of a frozen network: a layer of the target, possibly rescaled.

A target's hidden units may be permuted and multiplied by positive numbers
(`algebra.plugins.normalization.hidden_orders`).  Factors are rounded to doubles; the layers that
then define the same function are exact products of doubles, stored as balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from algebra.plugins.normalization.dense import DenseNet
from algebra.plugins.normalization.hidden_orders import NotRealized, align
from algebra.plugins.normalization.hidden_scales import solution_count
from algebra.programs.balls import as_balls
from numeric.trials.instances import to_double

# Blocks with more complex solutions for their hidden units' scales are not solved.
_MOST_SOLUTIONS = 20


@dataclass(frozen=True)
class BlockGoal:
    """The goal of a block: a layer of the target, its units in some order and scale.

    Attributes
    ----------
    weight, shift : ndarray of float, shapes (n, m) and (n,)
        Midpoints of `exact_weight` and `exact_shift`.
    exact_weight, exact_shift : ndarray of balls, shapes (n, m) and (n, 1)
        The goal itself.
    output : ndarray of float, shape (n,), or None
        The scales of the even layer, if they are known in advance.
    """

    weight: np.ndarray
    shift: np.ndarray
    exact_weight: np.ndarray
    exact_shift: np.ndarray
    output: np.ndarray | None = None


def own_goals(weights: Sequence[np.ndarray], shifts: Sequence[np.ndarray]) -> list[BlockGoal]:
    """The target's layers, unchanged."""
    return [
        BlockGoal(W, b, as_balls(W), as_balls(b[:, None]))
        for W, b in zip(weights, shifts, strict=True)
    ]


def aligned_goals(
    weights: Sequence[np.ndarray],
    shifts: Sequence[np.ndarray],
    frozen: Sequence[np.ndarray],
    second_scales: bool,
) -> list[BlockGoal] | str:
    """The target with hidden units in an order and scale that the blocks realize.

    Returns
    -------
    list of BlockGoal or str
        A text that says why there are none, if none are found.
    """
    if not second_scales:
        return "not realized with the hidden units' own scales; second_scales tries others"
    sizes = [
        (max(1, int(W.any(axis=1).sum())), W.shape[1], len(frozen[2 * k]))
        for k, W in enumerate(weights)
    ]
    if any(solution_count(*size) == 0 for size in sizes[1:]):
        return "too narrow for a realization layer by layer of a generic target"
    if any((solution_count(*size) or 0) > _MOST_SOLUTIONS for size in sizes[1:]):
        return "not realized with the hidden units' own scales; others were not tried"
    try:
        found = align(DenseNet.of(weights, shifts), frozen, rational=False)
    except NotRealized as failure:
        return str(failure)
    factors = [np.ones(weights[0].shape[1])]
    orders = [np.arange(weights[0].shape[1])]
    for units in found.units:
        factors.append(to_double(np.array(units.factors, dtype=object)))
        orders.append(np.array(units.order))
    factors.append(np.ones(len(weights[-1])))
    orders.append(np.arange(len(weights[-1])))
    goals = []
    for k, (W, b) in enumerate(zip(weights, shifts, strict=True)):
        own, before = factors[k + 1], factors[k]
        W, b = W[orders[k + 1]][:, orders[k]], b[orders[k + 1]]
        rows = as_balls(own[:, None])
        exact, shift = rows * as_balls(W) / as_balls(before), rows * as_balls(b[:, None])
        delta = to_double(np.array(found.blocks[k].delta, dtype=object))
        # An output without inputs has the scale 0.
        output = np.where(W.any(axis=1), own / delta, 0.0)
        goals.append(BlockGoal(own[:, None] * W / before, own * b, exact, shift, output))
    return goals
