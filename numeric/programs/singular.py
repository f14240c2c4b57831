"""Singular values of the Jacobian of a program at its own weights, in doubles.

A rank says how many directions there are, and not how weak the weakest is: labels along a direction
whose singular value is 6,000 times smaller than the largest need changes 6,000 times as large.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from operator import matmul, truediv
from typing import Any, NamedTuple

import numpy as np

from algebra.programs.arrays import EntryArithmetic, placed
from algebra.programs.generic import Model, work_of_sample
from algebra.programs.jacobian import program_jacobian
from algebra.programs.program import Node
from numeric.programs.patterns import FUNCTIONS, doubles

# Entries of the Jacobian, and multiplications of a sweep, up to which they are found.
_MOST_ENTRIES = 2_000_000
_MOST_WORK = 2_000_000_000
_SLOPES: dict[str, Callable[[Any, Any], Any]] = {
    "cos": lambda a, _: -np.sin(a),
    "erf": lambda a, _: 2 / math.sqrt(math.pi) * np.exp(-a * a),
    "exp": lambda _, z: z,
    "log": lambda a, _: 1 / a,
    "sigmoid": lambda _, z: z * (1 - z),
    "sin": lambda a, _: np.cos(a),
    "softplus": lambda a, _: FUNCTIONS["sigmoid"](a),
    "tanh": lambda _, z: 1 - z * z,
}


class _Function(NamedTuple):
    """A function of one variable in doubles."""

    name: str

    def values(self, a: Any) -> Any:
        """Values of an array."""
        return FUNCTIONS[self.name](a)

    def slopes(self, a: Any, z: Any) -> Any:
        """Derivatives at `a`, where the values are `z`."""
        return _SLOPES[self.name](a, z)


class _Doubles(EntryArithmetic):
    """Doubles with the derivatives of functions."""

    def __init__(self) -> None:
        super().__init__(lambda node: _Function(node.name), matmul, truediv)

    def constant(self, table: np.ndarray, denominator: int) -> np.ndarray:
        return doubles(table, denominator)[..., None]

    def root(self, node: Node, a: np.ndarray) -> np.ndarray:
        return np.asarray(np.sqrt(a))


def extreme_singular_values(
    model: Model, names: Collection[str], m: int
) -> tuple[float, float] | None:
    """The smallest and the largest singular value of the Jacobian of the labels of m samples.

    Parameters
    ----------
    model : Model
        With values for all weights.
    names : collection of str
        The weights that learn.
    m : int
        Of the model's own samples, or of those that its pattern is of.

    Returns
    -------
    tuple of (float, float), or None
        Of as many directions as there are labels; None if the Jacobian is too large, or values are
        no numbers.
    """
    program, drawn = model.program, getattr(model.patterns, "samples", None)
    cells = [(name, *at) for name in names for at in np.ndindex(*program.weights[name])]
    work = m * work_of_sample(program, frozenset(names), with_signs=False)
    if model.outputs * m * len(cells) > _MOST_ENTRIES or work > _MOST_WORK:
        return None
    if model.inputs:
        samples = {name: doubles(*own)[..., :m] for name, own in model.inputs.items()}
    elif drawn is not None:
        samples = drawn(m)
    else:
        return None
    weights = {n: doubles(*model.values[n]).reshape(s) for n, s in program.weights.items()}
    blocks = placed(program, weights, samples)
    with np.errstate(all="ignore"):
        found = program_jacobian(program, _Doubles(), blocks, cells)
    if not np.isfinite(found).all():
        return None
    values = np.linalg.svd(found, compute_uv=False)
    return float(values[-1]), float(values[0])
