"""Programs with dual numbers: values with their derivatives in one direction, in forward mode.

This computes the Jacobian independently of `algebra.programs.jacobian`, which uses reverse mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.linalg.residues import Residues
from algebra.programs.patches import Patches
from algebra.programs.program import Node
from algebra.programs.residues import ModularArithmetic


@dataclass(frozen=True)
class DualValue:
    """value + ε·tangent with ε² = 0; both have the batch axis last.

    Of a tangent that is 0 one entry is in memory, and nothing is computed with it.
    """

    value: Any
    tangent: Any

    @classmethod
    def of(cls, value: Any, tangent: Any = None) -> DualValue:
        """A value with a tangent, by default 0."""
        if tangent is None or (isinstance(tangent, np.ndarray) and not tangent.any()):
            tangent = np.broadcast_to(np.zeros((), np.int64), value.shape)
        return cls(value, tangent)

    @property
    def moves(self) -> bool:
        """Whether the tangent may be other than 0."""
        own = self.tangent
        return not isinstance(own, np.ndarray) or any(own.strides) or bool(own.any())


@dataclass(frozen=True)
class DualArithmetic:
    """Dual numbers over GF(p).

    Attributes
    ----------
    base : ModularArithmetic
        Arithmetic of the values.
    """

    base: ModularArithmetic

    @property
    def forms_patches(self) -> bool:
        """As the base does."""
        return self.base.forms_patches

    def constant(self, table: np.ndarray, denominator: int) -> DualValue:
        return DualValue.of(self.base.constant(table, denominator))

    def add(self, node: Node, *terms: DualValue) -> DualValue:
        return self._sum(
            node, self.base.add(node, *(term.value for term in terms)),
            [term.tangent for term in terms if term.moves],
        )  # fmt: skip

    def multiply(self, node: Node, a: DualValue, b: DualValue) -> DualValue:
        base = self.base
        moved = [base.multiply(node, a.value, b.tangent)] if b.moves else []
        moved += [base.multiply(node, a.tangent, b.value)] if a.moves else []
        return self._sum(node, base.multiply(node, a.value, b.value), moved)

    def scale(self, node: Node, a: DualValue, factor: Fraction) -> DualValue:
        moved = self.base.scale(node, a.tangent, factor) if a.moves else None
        return DualValue.of(self.base.scale(node, a.value, factor), moved)

    def contract(self, node: Node, letters: str, *factors: DualValue) -> DualValue:
        values = [factor.value for factor in factors]
        moved = [
            self.base.contract(node, letters, *values[:k], factor.tangent, *values[k + 1 :])
            for k, factor in enumerate(factors)
            if factor.moves
        ]
        return self._sum(node, self.base.contract(node, letters, *values), moved)

    def index(self, node: Node, where: np.ndarray, *parts: DualValue) -> DualValue:
        moves = any(part.moves for part in parts)
        return DualValue.of(
            self.base.index(node, where, *(part.value for part in parts)),
            self.base.index(node, where, *(part.tangent for part in parts)) if moves else None,
        )

    def patches(self, places: Patches, a: DualValue) -> DualValue:
        moved = self.base.patches(places, a.tangent) if a.moves else None
        return DualValue.of(self.base.patches(places, a.value), moved)

    def power(self, node: Node, a: DualValue, exponent: int) -> DualValue:
        return self._mapped(node, a, self.base.power(node, a.value, exponent))

    def invert(self, node: Node, a: DualValue) -> DualValue:
        return self._mapped(node, a, self.base.invert(node, a.value))

    def root(self, node: Node, a: DualValue) -> DualValue:
        return self._mapped(node, a, self.base.root(node, a.value))

    def apply(self, node: Node, name: str, a: DualValue) -> DualValue:
        return self._mapped(node, a, self.base.apply(node, name, a.value))

    def choose(
        self, node: Node, sign: DualValue | None, positive: DualValue, other: DualValue
    ) -> DualValue:
        by: Any = None if sign is None else sign.value
        moves = positive.moves or other.moves
        return DualValue.of(
            self.base.choose(node, by, positive.value, other.value),
            self.base.choose(node, by, positive.tangent, other.tangent) if moves else None,
        )

    def _sum(self, node: Node, value: Any, moved: Sequence[Any]) -> DualValue:
        """A value with the sum of some tangents."""
        return DualValue.of(value, self.base.add(node, *moved) if moved else None)

    def _mapped(self, node: Node, a: DualValue, value: Residues) -> DualValue:
        if not a.moves:
            return DualValue.of(value)
        slopes = self.base.slopes(node, a.value, value)
        return DualValue.of(value, self.base.multiply(node, slopes, a.tangent))
