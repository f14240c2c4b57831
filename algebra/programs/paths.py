"""Which values paths lead to, and which weights begin them: programs over 0 and 1.

Terms are counted as if none cancelled another one, and any number of them as 1: of values that are
0 for all weights and samples this gives 0, and of derivatives as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.linalg.sparse import SparseMatrix
from algebra.programs.arrays import Array, EntryArithmetic, Signs, placed
from algebra.programs.program import Node, Program


class Paths(EntryArithmetic):
    """Entries that are 0 for want of a path, or 1.

    Parameters
    ----------
    vanishes : callable
        Whether the function of a node is 0 at 0.
    signs : callable, optional
        The activation pattern; by default, each value may be chosen.
    """

    def __init__(self, vanishes: Callable[[Node], bool], signs: Signs | None = None) -> None:
        super().__init__(
            number=lambda numerator, _: int(numerator != 0),
            signs=signs or (lambda node, a: np.ones(1, bool)),
        )
        self.vanishes, self.has_pattern = vanishes, signs is not None

    def reduced(self, a: Array) -> Array:
        return np.minimum(a, 1)

    def added(self, a: Array, axes: tuple[int, ...]) -> Array:
        return np.minimum(super().added(a, axes), 1)

    def sum_of_products(self, factors: list[tuple[str, Any]], result: str) -> Array:
        return np.minimum(super().sum_of_products(factors, result), 1)

    def scale(self, node: Node, a: Array, factor: Fraction) -> Array:
        return a if factor else a * 0

    def apply(self, node: Node, name: str, a: Array) -> Array:
        return a if self.vanishes(node) else a * 0 + 1

    def slopes_of_function(self, node: Node, a: Array, z: Array) -> Array:
        return a * 0 + 1

    def choose(self, node: Node, sign: Array, positive: Array, other: Array) -> Array:
        if self.has_pattern:
            return super().choose(node, sign, positive, other)
        return np.maximum(positive, other)

    def kept(self, a: Array, where: Array) -> Array:
        return super().kept(a, where) if self.has_pattern else a

    def reciprocals(self, node: Node, a: Array) -> Array:
        return a * 0 + 1

    def root(self, node: Node, a: Array) -> Array:
        return a


def existing(program: Program, support: Mapping[str, Any], samples: int = 1) -> dict[str, Any]:
    """The blocks of a program: 1 for every weight that exists and for every input."""
    found: dict[str, Any] = {}
    for name, shape in program.weights.items():
        mask = support.get(name)
        if isinstance(mask, SparseMatrix):
            found[name] = mask.with_values((mask.values != 0).astype(np.int64))
        else:
            exists = np.ones(shape) if mask is None else np.asarray(mask) != 0
            found[name] = exists.astype(np.int64).reshape(shape)
    ones = {name: np.ones((*shape, samples), np.int64) for name, shape in program.samples.items()}
    return placed(program, found, ones)
