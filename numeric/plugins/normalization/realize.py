"""One instance of a normalization network realized layer by layer, in rationals."""

from __future__ import annotations

import numpy as np

from algebra.linalg.rational import rational_echelon
from algebra.plugins.normalization.blocks import solved_layer
from algebra.plugins.normalization.dense import norm_bound
from algebra.plugins.normalization.network import NormNet
from algebra.plugins.normalization.scales import Unreachable, solve_both_scales, solve_scales
from numeric.trials.instances import Instance, to_rational


def realize_instance(instance: Instance) -> tuple[dict[str, np.ndarray] | None, str]:
    """Scales and shifts that match an instance, by realizing each layer on its samples.

    Parameters
    ----------
    instance : Instance
        For a `NormNet` with an allocation of whole columns of scales and shifts; its weights
        are doubles, that is, rationals.

    Returns
    -------
    weights : dict or None
        The student's matrices in rationals, for which the network's outputs were checked to be
        the labels exactly; None if the construction does not apply.
    note : str
    """
    network = instance.problem.network
    assert isinstance(network, NormNet)
    masks = instance.allocation.masks
    weights, X, Y = instance.exact
    if instance.known_teacher is None:
        return None, "the construction realizes a teacher's layers, and labels are arbitrary"
    student = {name: value.copy() for name, value in weights.items()}
    solved = [solved_layer(instance.problem, k + 1) for k in range(network.depth)]
    for block, first in zip(network.blocks, solved, strict=True):
        needed = (f"g{first}", *(f"b{j}" for j in block))
        if not all(masks[name].all() for name in needed):
            return None, f"the construction needs all of {', '.join(needed)} to learn"
    teacher = {name: to_rational(value) for name, value in instance.teacher.items()}
    state = X
    for k, (block, first) in enumerate(zip(network.blocks, solved, strict=True), start=1):
        second = block[-1]
        goal = teacher[f"T{k}"] @ state + teacher[f"t{k}"]
        base = _independent(state[:, 1:] - state[:, :1])
        if base.shape[1]:
            W1, W2 = weights[f"W{block[0]}"] @ base, weights[f"W{second}"]
            for j in range(block[0], first):
                W1 = weights[f"W{j + 1}"] @ (student[f"g{j}"] * W1)
            for j in range(second - 1, first, -1):
                W2 = W2 @ (student[f"g{j}"] * weights[f"W{j}"])
            want = teacher[f"T{k}"] @ base
            try:
                if masks[f"g{second}"].all():
                    gamma, output = solve_both_scales(W2, W1, want, layer=k)
                else:
                    output = weights[f"g{second}"][:, 0]
                    if any(entry == 0 for entry in output):
                        return None, f"layer {k}: an output scale is 0"
                    gamma = solve_scales(W2, W1, want / output[:, None], layer=k)
            except Unreachable as failure:
                return None, f"{failure}; this proves nothing"
            student[f"g{first}"] = gamma[:, None]
            student[f"g{second}"] = output[:, None]
        hidden = state
        for j in block[:-1]:
            linear = student[f"g{j}"] * (weights[f"W{j}"] @ hidden)
            shift = np.array([[norm_bound(row)] for row in linear], dtype=object)
            student[f"b{j}"] = shift
            hidden = linear + shift
        made = student[f"g{second}"] * (weights[f"W{second}"] @ hidden)
        student[f"b{second}"] = (goal - made)[:, :1]
        state = goal * (goal > 0)
    if any(entry != 0 for entry in (network.forward(student, X) - Y).ravel()):
        return None, "the construction does not give the labels"
    return student, "realized exactly, layer by layer"


def _independent(columns: np.ndarray) -> np.ndarray:
    """A maximal set of independent columns, by exact elimination."""
    return columns[:, rational_echelon(columns, columns.shape[1])[1]]
