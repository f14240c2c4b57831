r"""Values of a program in doubles with bounds of their errors; matrices that are surely regular.

A value is an array with two numbers (`Bounded`): no entry of the exact value differs from that of
the array by more than `error`, and no entry of either is larger than `size`.  Bounds are those of
sums in any order of addition (Higham, *Accuracy and Stability of Numerical Algorithms*, 2002,
section 3.1): a sum of n products differs from the exact one by at most n u / (1 − n u) times the
sum of their absolute values, with u = 2^-53.  Each bound is enlarged by more than it may be
rounded.

**Regular matrices.**  If ‖I − R A‖ < 1 for some matrix R, then A is regular (Rump, *Verification
methods*, Acta Numerica 19, 2010, section 10.1).  With R an approximate inverse of the array A' and
|A − A'| ≤ e, it suffices that ‖I − R A'‖ + ‖R‖ n e < 1, in the norm of rows and with all errors of
rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from algebra.errors import Unfinished
from algebra.programs.arrays import EntryArithmetic
from algebra.programs.patches import Patched, Patches
from algebra.programs.program import Node

UNIT = 2.0**-53
# Larger than the rounding of a bound; the error of a product that underflows.
_MORE = 1 + 2.0**-30
_TINY = 2.0**-1000


class NotBounded(Unfinished):
    """A value for which no bound of the error is known."""


class Bounded(NamedTuple):
    """An array, a bound of its error, and one of its entries and of the exact ones."""

    value: Any
    error: float
    size: float


def enclosed(value: np.ndarray, error: float = 0.0) -> Bounded:
    """An array with a given error."""
    size = max(float(value.max(initial=0)), -float(value.min(initial=0)))
    return _bounded(value, error, size)


def _bounded(value: Any, error: float, size: float) -> Bounded:
    error = error * _MORE + _TINY
    return Bounded(value, error, size * _MORE + error)


class BoundedArithmetic:
    """Sums, products, quotients, roots, maxima and other choices by signs that are known.

    Parameters
    ----------
    base : EntryArithmetic
        Doubles.
    maxima : mapping of int to bool
        The choices of a larger value by the `id` of the node, and whether the smaller one is 0.
    """

    forms_patches = True

    def __init__(self, base: EntryArithmetic, maxima: Mapping[int, bool]) -> None:
        self._base, self._maxima = base, maxima

    def constant(self, table: np.ndarray, denominator: int) -> Bounded:
        value = self._base.constant(table, denominator)
        found = enclosed(value)
        return _bounded(value, UNIT * found.size, found.size)

    def add(self, node: Node, *terms: Bounded) -> Bounded:
        size = sum(term.size for term in terms)
        error = sum(term.error for term in terms) + len(terms) * UNIT * size
        return _bounded(self._base.add(node, *(term.value for term in terms)), error, size)

    def multiply(self, node: Node, a: Bounded, b: Bounded) -> Bounded:
        size = a.size * b.size
        error = a.error * b.size + b.error * a.size + UNIT * size
        return _bounded(self._base.multiply(node, a.value, b.value), error, size)

    def scale(self, node: Node, a: Bounded, factor: Fraction) -> Bounded:
        size = abs(factor.numerator / factor.denominator) * a.size
        error = abs(factor.numerator / factor.denominator) * a.error + 4 * UNIT * size
        return _bounded(self._base.scale(node, a.value, factor), error, size)

    def contract(self, node: Node, letters: str, *factors: Bounded) -> Bounded:
        groups, _, result = letters.partition("->")
        split = groups.split(",")
        shapes = [factor.value.shape for factor in factors]
        lengths = {
            c: n for g, shape in zip(split, shapes, strict=True)
            for c, n in zip(g, shape, strict=False)
        }  # fmt: skip
        summed = [c for c in lengths if c not in result]

        def largest(sizes: Sequence[float]) -> float:
            """A bound of sums of absolute values of products of such entries."""
            found = [math.prod(sizes) * math.prod(lengths[c] for c in summed)]
            for k, factor in enumerate(factors):
                if (
                    factor.value.shape[-1] > 1
                    or sizes[k] != factor.size
                    or isinstance(factor.value, Patched)
                ):
                    continue
                # The rows of a matrix by their own sums of absolute values.
                axes = tuple(j for j, c in enumerate(split[k]) if c in summed)
                rows = float(np.abs(factor.value).sum(axis=axes).max(initial=0)) + (
                    factor.error * math.prod(lengths[c] for c in set(split[k]) & set(summed))
                )
                others = math.prod(size for j, size in enumerate(sizes) if j != k)
                rest = math.prod(lengths[c] for c in summed if c not in split[k])
                found.append(rows * others * rest * _MORE)
            return min(found)

        sizes = [factor.size for factor in factors]
        size = largest(sizes)
        error = (math.prod(lengths[c] for c in summed) + len(factors)) * UNIT * _MORE * size
        for k, factor in enumerate(factors):
            if factor.error > _TINY:
                error += largest([*sizes[:k], factor.error, *sizes[k + 1 :]])
        found = self._base.contract(node, letters, *(factor.value for factor in factors))
        return _bounded(found, error, size)

    def index(self, node: Node, where: np.ndarray, *parts: Bounded) -> Bounded:
        found = self._base.index(node, where, *(part.value for part in parts))
        return _bounded(found, max(p.error for p in parts), max(p.size for p in parts))

    def patches(self, places: Patches, a: Bounded) -> Bounded:
        return _bounded(self._base.patches(places, a.value), a.error, a.size)

    def power(self, node: Node, a: Bounded, exponent: int) -> Bounded:
        size = a.size**exponent
        error = exponent * (a.error * a.size ** max(exponent - 1, 0) + 2 * UNIT * size)
        return _bounded(self._base.power(node, a.value, exponent), error, max(size, 1.0))

    def invert(self, node: Node, a: Bounded) -> Bounded:
        least = float(np.abs(a.value).min(initial=np.inf))
        low = least - a.error
        if not low > 0:
            raise NotBounded("a divisor that may be 0")
        return _bounded(1 / a.value, a.error / (least * low) + UNIT / least, 1 / low)

    def root(self, node: Node, a: Bounded) -> Bounded:
        low = float(a.value.min(initial=np.inf)) - a.error
        if not low > 0:
            raise NotBounded("a root of a value that may be 0")
        size = math.sqrt(a.size)
        return _bounded(np.sqrt(a.value), a.error / math.sqrt(low) + UNIT * size, size)

    def apply(self, node: Node, name: str, a: Bounded) -> Bounded:
        raise NotBounded(f"{name}: no bound of its error in doubles")

    def choose(self, node: Node, sign: Bounded, first: Bounded, second: Bounded) -> Bounded:
        error, size = max(first.error, second.error), max(first.size, second.size)
        if id(node) in self._maxima:
            other = 0 if self._maxima[id(node)] else second.value
            # Maxima differ by no more than the values do.
            return _bounded(np.maximum(first.value, other), error, size)
        if not float(np.abs(sign.value).min(initial=np.inf)) > sign.error:
            raise NotBounded("a choice by the sign of a value that may be 0")
        return _bounded(np.where(sign.value > 0, first.value, second.value), error, size)


def surely_regular(a: np.ndarray, error: float) -> bool:
    """Whether all square matrices that differ from one by no more than an error are regular."""
    n = len(a)
    if not n or not np.isfinite(a).all():
        return False
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return False
    rounding = (n + 2) * UNIT * (np.abs(inverse) @ np.abs(a) + np.eye(n))
    rest = np.abs(inverse @ a - np.eye(n)) + rounding
    norm = float(rest.sum(axis=1).max()) + float(np.abs(inverse).sum(axis=1).max()) * n * error
    return bool(norm * (1 + 4 * n * UNIT) * _MORE < 1)
