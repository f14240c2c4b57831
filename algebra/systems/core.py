"""The core of a system: the result of exact elimination, and back substitution to the weights.

`algebra.systems.elimination` computes it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.polynomials.quotient import Element, QuotientAlgebra
from algebra.systems.incidence import incidence_matrix
from algebra.systems.system import PolynomialSystem

# Exponents and coefficients modulo a prime.
Terms = Iterable[tuple[Sequence[int], int]]


@dataclass(frozen=True)
class DeferredBlock:
    """A linear block set aside: it is solved for `unknowns` after the core.

    Attributes
    ----------
    unknowns : tuple of int
        Positions in `CoreSystem.stage_unknowns`.
    equations : tuple
        Polynomials in the stage ring, of degree at most 1 in these unknowns.
    """

    unknowns: tuple[int, ...]
    equations: tuple[Any, ...]


class Core:
    """The equations and unknowns that remain after exact elimination.

    Attributes
    ----------
    system : PolynomialSystem or QuadraticSystem
        The original system.
    unknowns : tuple of str
        The unknowns of the core, a subset of the system's.
    equations : tuple
        Polynomials in these unknowns; empty if elimination solved everything.
    equation_count : int
        Their number.
    consistent : bool
        False if elimination found the equation 1 = 0: there is no solution, not even a complex one.
    stage_unknowns : tuple of str
        Unknowns after step 1, in which deferred blocks are expressed.
    deferred : tuple of DeferredBlock
        In the order in which they are to be solved.
    deferred_unknowns : tuple of tuple of int
        Their unknowns, by position in `stage_unknowns`.
    stage_images : tuple
        Each unknown of the system as a polynomial in the stage ring.
    core_images : tuple
        Each stage unknown that is not deferred as a polynomial in the core ring.
    kept : tuple of int
        The stage unknowns that a core root fixes: all that are not deferred.
    degrees : tuple of int
        Total degree of each equation of the core.
    patterns : tuple of tuple of int
        For each equation of the core, the unknowns that occur in it.
    occurs : ndarray of bool, shape (equations, unknowns)
        `patterns` as a matrix.
    terms : int
        Number of non-zero terms.
    """

    system: Any
    unknowns: tuple[str, ...]
    consistent: bool
    stage_unknowns: tuple[str, ...]

    if TYPE_CHECKING:

        @property
        def equations(self) -> tuple[Any, ...]: ...
        @property
        def equation_count(self) -> int: ...
        @property
        def deferred(self) -> tuple[DeferredBlock, ...]: ...
        @property
        def deferred_unknowns(self) -> tuple[tuple[int, ...], ...]: ...
        @property
        def stage_images(self) -> tuple[Any, ...]: ...
        @property
        def core_images(self) -> tuple[Any, ...]: ...
        @property
        def degrees(self) -> tuple[int, ...]: ...
        @property
        def patterns(self) -> tuple[tuple[int, ...], ...]: ...
        @property
        def occurs(self) -> np.ndarray: ...
        @property
        def terms(self) -> int: ...

    @property
    def is_linear(self) -> bool:
        """Whether no equation remains: there is one solution (or none)."""
        return not self.equation_count and not self.unknowns

    @property
    def is_square(self) -> bool:
        """Whether the core has as many equations as unknowns."""
        return self.equation_count == len(self.unknowns)

    @property
    def bezout(self) -> int:
        """The Bézout bound on the number of isolated roots: product of the degrees."""
        return prod(self.degrees)

    @property
    def density(self) -> tuple[int, int]:
        """Numbers of non-zero and of possible terms at these degrees."""
        return self.terms, sum(comb(len(self.unknowns) + d, d) for d in self.degrees)

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The stage unknowns that a core root fixes: all that are not deferred."""
        deferred = {k for block in self.deferred_unknowns for k in block}
        return tuple(k for k in range(len(self.stage_unknowns)) if k not in deferred)

    def stage_values(self, root: Sequence[Any], at: PointAlgebra) -> list[Any] | None:
        """All unknowns after step 1 of the elimination, at a root of the core.

        Parameters
        ----------
        root : sequence
            Elements of `at`, one for each core unknown.
        at : PointAlgebra

        Returns
        -------
        list or None
            In the order of `stage_unknowns`; None if a deferred block is singular at this root.
        """
        values = {
            k: at.value(image, root) for k, image in zip(self.kept, self.core_images, strict=True)
        }
        for block in self.deferred:
            rows, right = [], []
            for equation in block.equations:
                constant, row = at.affine(equation, block.unknowns, values)
                rows.append(row)
                right.append(-constant)
            solved = at.solve(rows, right)
            if solved is None:
                return None
            values |= dict(zip(block.unknowns, solved, strict=True))
        return [values[k] for k in range(len(self.stage_unknowns))]

    def back_substitute(
        self, root: Sequence[Any], at: PointAlgebra | None = None
    ) -> tuple[Any, ...] | None:
        """The weights of a root of the core, exactly.

        Parameters
        ----------
        root : sequence
            Elements of `at`, one for each core unknown.
        at : PointAlgebra, optional
            The field of the coefficients by default.

        Returns
        -------
        tuple or None
            The learnable weights in the allocation's order; None if a deferred block is singular at
            this root.
        """
        at = at or FieldPoints(self.system.ring)
        full = self.stage_values(root, at)
        if full is None:
            return None
        return tuple(at.value(e, full) for e in self.stage_images[: self.system.weights])

    def __str__(self) -> str:
        if not self.consistent:
            what = "contradiction, no solution"
        elif self.is_linear:
            what = "empty (the system is linear)"
        else:
            what = (
                f"{self.equation_count} equations in {len(self.unknowns)} unknowns, degrees at "
                f"most {max(self.degrees, default=0)}, Bézout bound {self.bezout}"
            )
        return f"core of the {self.system.form} form: {what}"


@dataclass(frozen=True)
class CoreSystem(Core):
    """The core of a system of polynomials of python-flint; the attributes are those of `Core`."""

    system: PolynomialSystem
    unknowns: tuple[str, ...]
    equations: tuple[Any, ...]
    consistent: bool
    stage_unknowns: tuple[str, ...]
    deferred: tuple[DeferredBlock, ...]
    stage_images: tuple[Any, ...]
    core_images: tuple[Any, ...]

    @property
    def equation_count(self) -> int:
        return len(self.equations)

    @property
    def deferred_unknowns(self) -> tuple[tuple[int, ...], ...]:
        return tuple(block.unknowns for block in self.deferred)

    @cached_property
    def degrees(self) -> tuple[int, ...]:
        """Total degree of each equation of the core."""
        return tuple(int(e.total_degree()) for e in self.equations)

    @cached_property
    def patterns(self) -> tuple[tuple[int, ...], ...]:
        """For each equation of the core, the unknowns that occur in it."""
        return tuple(pattern_of(e) for e in self.equations)

    @property
    def occurs(self) -> np.ndarray:
        """`patterns` as a matrix."""
        return incidence_matrix(self.patterns, len(self.unknowns))

    @property
    def terms(self) -> int:
        """Number of non-zero terms."""
        return sum(map(len, self.equations))


def pattern_of(polynomial: Any) -> tuple[int, ...]:
    """The unknowns that occur in a polynomial, by position."""
    return tuple(k for k, degree in enumerate(polynomial.degrees()) if degree > 0)


def pivot_of(row: Sequence[Any]) -> int:
    """Position of the first entry that is not 0."""
    return next(k for k, entry in enumerate(row) if entry != 0)


class PointAlgebra:
    """The ring in which the coordinates of a core's points are: a field, balls, or functions.

    The coefficients of the polynomials act on it.
    """

    def constant(self, value: Any) -> Any:
        """A number as an element."""
        raise NotImplementedError

    def times(self, a: Any, b: Any) -> Any:
        """The product of two elements, or of a coefficient and an element."""
        return a * b

    def power(self, a: Any, exponent: int) -> Any:
        """An element's power, exponent 1 or more."""
        return a**exponent

    def terms(self, polynomial: Any) -> Iterable[tuple[Sequence[int], Any]]:
        """Exponents and coefficients of a polynomial."""
        return polynomial.to_dict().items()  # type: ignore[no-any-return]

    def solve(self, rows: list[list[Any]], right: list[Any]) -> list[Any] | None:
        """The solution of square linear equations; None if they are, or may be, singular."""
        raise NotImplementedError

    def affine(
        self, polynomial: Any, own: Sequence[int], values: Mapping[int, Any]
    ) -> tuple[Any, list[Any]]:
        """Constant and coefficients at a point, in a block's own unknowns."""
        constant = self.constant(0)
        coefficients = [self.constant(0)] * len(own)
        place = {k: c for c, k in enumerate(own)}
        for monomial, coefficient in self.terms(polynomial):
            value, target = coefficient, None
            for k, exponent in enumerate(monomial):
                if not exponent:
                    continue
                if k in place:
                    target = place[k]
                else:
                    value = self.times(value, self.power(values[k], int(exponent)))
            if target is None:
                constant = constant + value
            else:
                coefficients[target] = coefficients[target] + value
        return constant, coefficients

    def value(self, polynomial: Any, values: Sequence[Any]) -> Any:
        """The value of a polynomial at elements."""
        return self.affine(polynomial, (), dict(enumerate(values)))[0]


@dataclass(frozen=True)
class FieldPoints(PointAlgebra):
    """Points over the field of the coefficients.

    Attributes
    ----------
    field : CoefficientRing
    """

    field: Any

    def constant(self, value: Any) -> Any:
        return self.field.constant(value)

    def solve(self, rows: list[list[Any]], right: list[Any]) -> list[Any] | None:
        size = len(right)
        table = [[*row, -value] for row, value in zip(rows, right, strict=True)]
        reduced = self.field.rref(table, size + 1)
        if [pivot_of(row) for row in reduced] != list(range(size)):
            return None
        return [-row[-1] for row in reduced]

    def value(self, polynomial: Any, values: Sequence[Any]) -> Any:
        return polynomial(*values)


@dataclass(frozen=True)
class FunctionPoints(PointAlgebra):
    """All points of a core at once: the functions on them, modulo a prime.

    Attributes
    ----------
    algebra : QuotientAlgebra
    residues : callable
        Exponents and coefficients modulo the prime of one of the core's polynomials.
    rng : random.Random
        For random combinations of the equations of the deferred blocks.
    """

    algebra: QuotientAlgebra
    residues: Callable[[Any], Terms]
    rng: random.Random

    def constant(self, value: Any) -> Element:
        return self.algebra.constant(value)

    def times(self, a: Element, b: Element) -> Element:
        return self.algebra.times(a, b)

    def power(self, a: Element, exponent: int) -> Element:
        return self.algebra.power(a, exponent)

    def terms(self, polynomial: Any) -> Iterable[tuple[Sequence[int], Element]]:
        return ((m, self.algebra.constant(c)) for m, c in self.residues(polynomial))

    def solve(self, rows: list[list[Any]], right: list[Any]) -> list[Any] | None:
        return self.algebra.solve(rows, right, len(right), self.rng)
