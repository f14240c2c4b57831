"""Programs with dual numbers: values with their derivatives in one direction, in forward mode.

This computes the Jacobian independently of `algebra.programs.jacobian`, which uses reverse mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.linalg.residues import Residues
from algebra.programs.program import Node
from algebra.programs.residues import ModularArithmetic


@dataclass(frozen=True)
class DualValue:
    """value + ε·tangent with ε² = 0; both have the batch axis last."""

    value: Residues
    tangent: Residues


@dataclass(frozen=True)
class DualArithmetic:
    """Dual numbers over GF(p).

    Attributes
    ----------
    base : ModularArithmetic
        Arithmetic of the values.
    """

    base: ModularArithmetic

    def constant(self, table: np.ndarray, denominator: int) -> DualValue:
        value = self.base.constant(table, denominator)
        return DualValue(value, np.zeros_like(value))

    def add(self, node: Node, *terms: DualValue) -> DualValue:
        return DualValue(
            self.base.add(node, *(term.value for term in terms)),
            self.base.add(node, *(term.tangent for term in terms)),
        )

    def multiply(self, node: Node, a: DualValue, b: DualValue) -> DualValue:
        base = self.base
        moved = (
            base.multiply(node, a.value, b.tangent),
            base.multiply(node, a.tangent, b.value),
        )
        return DualValue(base.multiply(node, a.value, b.value), base.add(node, *moved))

    def scale(self, node: Node, a: DualValue, factor: Fraction) -> DualValue:
        base = self.base
        return DualValue(base.scale(node, a.value, factor), base.scale(node, a.tangent, factor))

    def contract(self, node: Node, letters: str, *factors: DualValue) -> DualValue:
        values = [factor.value for factor in factors]
        moved = [
            self.base.contract(node, letters, *values[:k], factor.tangent, *values[k + 1 :])
            for k, factor in enumerate(factors)
            if factor.tangent.any()
        ]
        value = self.base.contract(node, letters, *values)
        return DualValue(value, self.base.add(node, *moved) if moved else np.zeros_like(value))

    def index(self, node: Node, where: np.ndarray, *parts: DualValue) -> DualValue:
        return DualValue(
            self.base.index(node, where, *(part.value for part in parts)),
            self.base.index(node, where, *(part.tangent for part in parts)),
        )

    def power(self, node: Node, a: DualValue, exponent: int) -> DualValue:
        return self._mapped(node, a, self.base.power(node, a.value, exponent))

    def invert(self, node: Node, a: DualValue) -> DualValue:
        return self._mapped(node, a, self.base.invert(node, a.value))

    def root(self, node: Node, a: DualValue) -> DualValue:
        return self._mapped(node, a, self.base.root(node, a.value))

    def apply(self, node: Node, name: str, a: DualValue) -> DualValue:
        return self._mapped(node, a, self.base.apply(node, name, a.value))

    def choose(
        self, node: Node, sign: DualValue, positive: DualValue, other: DualValue
    ) -> DualValue:
        return DualValue(
            self.base.choose(node, sign.value, positive.value, other.value),
            self.base.choose(node, sign.value, positive.tangent, other.tangent),
        )

    def _mapped(self, node: Node, a: DualValue, value: Residues) -> DualValue:
        return DualValue(
            value, self.base.multiply(node, self.base.slopes(node, a.value, value), a.tangent)
        )
