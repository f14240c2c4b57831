"""Programs over GF(p): values at a point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.errors import Unfinished
from algebra.linalg.modular import Residues, added, inverses, matmul, times
from algebra.programs.arrays import ArrayArithmetic, Signs
from algebra.programs.program import Node

# Maps a node and its input values to values and slopes of its function
# (`algebra.networks.activation.formal_functions`, for example).
Functions = Callable[[Node, Residues], tuple[Residues, Residues]]


class NoResidues(Unfinished):
    """An operation that has no value over GF(p)."""


def _no_signs(node: Node, a: Residues) -> np.ndarray:
    raise NoResidues(
        f"residues have no sign, and {node.label or 'a value'} is chosen by one: give the "
        "activation pattern"
    )


@dataclass(frozen=True)
class ModularArithmetic(ArrayArithmetic):
    """Residues modulo a prime.

    Attributes
    ----------
    p : int
        A prime below 2^61.
    functions : callable
        Values and slopes of functions.
    signs : callable, optional
        The activation pattern; without it, programs that choose are refused.
    """

    p: int
    functions: Functions
    signs: Signs = _no_signs

    def number(self, value: Fraction | int) -> int:
        """A rational number's residue."""
        value = Fraction(value)
        return value.numerator * pow(value.denominator, -1, self.p) % self.p

    def constant(self, table: np.ndarray, denominator: int) -> Residues:
        residues = np.asarray(table % self.p, np.int64)[..., None]
        if denominator == 1:
            return residues
        inverse = np.full((1,) * residues.ndim, self.number(Fraction(1, denominator)), np.int64)
        return self.times(residues, inverse)

    def times(self, a: Residues, b: Residues) -> Residues:
        return times(a, b, self.p)

    def matmul(self, a: Residues, b: Residues) -> Residues:
        return matmul(a, b, self.p)

    def added(self, a: Residues, axes: tuple[int, ...]) -> Residues:
        return added(a, axes, self.p)

    def reduced(self, a: Residues) -> Residues:
        return a % self.p

    def reciprocals(self, node: Node, a: Residues) -> Residues:
        if not a.all():
            raise NoResidues(f"{node.label or 'a divisor'} is 0 modulo {self.p} at this point")
        return inverses(a, self.p)

    def root(self, node: Node, a: Residues) -> Residues:
        raise NoResidues(
            f"{node.label or 'a square root'}: half of all residues modulo a prime have no square "
            "root"
        )

    def apply(self, node: Node, name: str, a: Residues) -> Residues:
        return self.functions(node, a)[0]

    def slopes_of_function(self, node: Node, a: Residues, z: Residues) -> Residues:
        return self.functions(node, a)[1]
