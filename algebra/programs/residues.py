"""Programs over GF(p): values at a point, and polynomials of degree at most two in unknowns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.errors import Unfinished
from algebra.linalg.modular import matmul
from algebra.linalg.residues import Residues, inverses, times
from algebra.linalg.short_primes import BITS, as_doubles, unsigned
from algebra.linalg.sparse_blocks import SparseBlock, sparse_contraction
from algebra.linalg.sums import added, sum_of
from algebra.polynomials.quadratic import DegreeAboveTwo, QuadraticArray, stacked, total
from algebra.programs.arrays import ArrayArithmetic, Signs
from algebra.programs.patches import Patched, Patches
from algebra.programs.program import Node

# Maps a node and its input values to values and slopes of its function
# (formal values: `algebra.networks.activation`).
Functions = Callable[[Node, Residues], tuple[Residues, Residues]]


class NoResidues(Unfinished):
    """An operation that has no value over GF(p)."""


def _no_signs(node: Node, a: Residues) -> np.ndarray:
    raise NoResidues(
        f"residues have no sign, and {node.label or 'a value'} is chosen by one: give the "
        "activation pattern"
    )


def _no_functions(node: Node, a: Residues) -> tuple[Residues, Residues]:
    raise NoResidues(f"{node.name}: no values of this function are known")


@dataclass(frozen=True)
class ModularArithmetic(ArrayArithmetic):
    """Residues modulo a prime.

    Attributes
    ----------
    p : int
        A prime below 2^61.
    functions : callable, optional
        Values and slopes of functions; without them programs that apply one are refused.
    signs : callable, optional
        The activation pattern; without it, programs that choose are refused.
    """

    p: int
    functions: Functions = _no_functions
    signs: Signs = _no_signs

    forms_patches = True

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

    def patches(self, places: Patches, a: Residues) -> Patched:
        """Signed doubles modulo a short prime: once, and not for each patch of an entry."""
        if self.p >= 1 << BITS:
            return super().patches(places, a)
        return super().patches(places, as_doubles(a.reshape(places.channels, -1), self.p))

    def times(self, a: Residues, b: Residues) -> Residues:
        return times(unsigned(a, self.p), unsigned(b, self.p), self.p)

    def matmul(self, a: Residues, b: Residues) -> Residues:
        return matmul(a, b, self.p)

    def added(self, a: Residues, axes: tuple[int, ...]) -> Residues:
        return added(unsigned(a, self.p), axes, self.p)

    def sum_of_products(self, factors: list[tuple[str, Any]], result: str) -> Residues:
        """Also with one sparse matrix among two factors."""
        if not any(isinstance(value, SparseBlock) for _, value in factors):
            return super().sum_of_products(factors, result)
        found = sparse_contraction(factors, result, lambda matrix, b: matrix.product(b, self.p))
        return np.asarray(found)

    def reduced(self, a: Residues) -> Residues:
        return a % self.p

    def kept(self, a: Residues, where: np.ndarray) -> Residues:
        return np.asarray(a * where)

    def add(self, node: Node, *terms: Residues) -> Residues:
        total = terms[0]
        for term in terms[1:]:
            total = sum_of(total, term, self.p)
        return total

    def reciprocals(self, node: Node, a: Residues) -> Residues:
        if not a.all():
            # By chance, with a probability of 1/p each, or always: at given weights and samples.
            raise NoResidues(
                f"{node.label or 'a divisor'} is 0 at this point (the length of a vector of zeros, "
                "for example), where there are no derivatives"
            )
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


@dataclass(frozen=True)
class QuadraticArithmetic(ArrayArithmetic):
    """Polynomials of degree at most two (`algebra.polynomials.quadratic`).

    An operation whose result has a higher degree, or is no polynomial, raises `DegreeAboveTwo`.

    Attributes
    ----------
    p : int
        A prime below 2^31.
    unknowns : int
    """

    p: int
    unknowns: int

    def constant(self, table: np.ndarray, denominator: int) -> Any:
        residues = np.asarray(table % self.p, np.int64) * pow(denominator, -1, self.p)
        return QuadraticArray.of(residues[..., None], self.p, self.unknowns)

    def times(self, a: Any, b: Any) -> Any:
        shape = np.broadcast_shapes(a.shape, b.shape)
        a, b = (x.broadcast(shape).reshape((*shape, 1, 1)) for x in (a, b))
        return a.product(b).reshape(shape)

    def matmul(self, a: Any, b: Any) -> Any:
        return a.product(b)

    def added(self, a: Any, axes: tuple[int, ...]) -> Any:
        kept = [k for k in range(a.ndim) if k not in axes]
        shape = tuple(a.shape[k] for k in kept)
        rows = a.transpose([*kept, *axes]).reshape((int(np.prod(shape)), -1))
        return total([rows[:, k] for k in range(rows.shape[1])]).reshape(shape)

    def add(self, node: Node, *terms: Any) -> Any:
        return total(terms)

    def index(self, node: Node, where: np.ndarray, *parts: Any) -> Any:
        batch = max(part.shape[-1] for part in parts)
        flat = [part.broadcast((*part.shape[:-1], batch)).reshape((-1, batch)) for part in parts]
        zero = QuadraticArray.of(np.zeros((1, batch), np.int64), self.p, self.unknowns)
        return stacked([*flat, zero])[where]

    def power(self, node: Node, a: Any, exponent: int) -> Any:
        result = self.constant(np.ones(a.shape[:-1], np.int64), 1)
        for _ in range(exponent):
            result = self.times(result, a)
        return result

    def reciprocals(self, node: Node, a: Any) -> Any:
        raise DegreeAboveTwo(f"{node.op}: no polynomial")

    def root(self, node: Node, a: Any) -> Any:
        return self.reciprocals(node, a)

    def apply(self, node: Node, name: str, a: Any) -> Any:
        return self.reciprocals(node, a)

    def choose(self, node: Node, sign: Any, positive: Any, other: Any) -> Any:
        return self.reciprocals(node, sign)

    def slopes_of_function(self, node: Node, a: Any, z: Any) -> Any:
        return self.reciprocals(node, a)
