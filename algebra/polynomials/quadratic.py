r"""Polynomials of degree at most two over GF(p), as arrays of terms.

Every lifted form is at most quadratic (`algebra.systems.forms`).  A batch of such polynomials
in K unknowns is four parallel arrays: the polynomial, two factors a ≤ b and the coefficient
of each term; the factor K represents 1, so that (K, K) is a constant and (a, K) linear.
The size of a term does not depend on the number of unknowns, unlike that of exponent vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from algebra.linalg.modular import matmul
from algebra.linalg.residues import Residues
from algebra.time_limits import checked


class DegreeAboveTwo(ArithmeticError):
    """A product is not quadratic; general polynomials are needed."""


@dataclass(frozen=True, eq=False)
class Quadrics:
    """Polynomials of degree at most two: each monomial once, without zeros.

    Attributes
    ----------
    count, unknowns : int
        Number of polynomials and of unknowns K.
    p : int
    polynomial, first, second, coefficient : ndarray of int64
        Of each term; first ≤ second ≤ K.  In ascending order of the polynomial.
    """

    count: int
    unknowns: int
    p: int
    polynomial: np.ndarray
    first: np.ndarray
    second: np.ndarray
    coefficient: Residues

    @property
    def terms(self) -> int:
        """Number of terms."""
        return len(self.polynomial)

    @cached_property
    def starts(self) -> np.ndarray:
        """Position of each polynomial's first term, and the end."""
        return np.searchsorted(self.polynomial, np.arange(self.count + 1))

    @cached_property
    def degrees(self) -> np.ndarray:
        """Total degree of each polynomial; −1 for 0."""
        found = np.full(self.count, -1)
        found[self.polynomial] = 0
        found[self.polynomial[self.first < self.unknowns]] = 1
        found[self.polynomial[self.second < self.unknowns]] = 2
        return found

    @cached_property
    def occurs(self) -> np.ndarray:
        """The unknowns that occur in each polynomial, shape (count, unknowns)."""
        found = np.zeros((self.count, self.unknowns + 1), bool)
        found[self.polynomial, self.first] = True
        found[self.polynomial, self.second] = True
        return found[:, : self.unknowns]

    def patterns(self) -> list[list[int]]:
        """For each polynomial, the unknowns that occur in it."""
        return [np.flatnonzero(row).tolist() for row in self.occurs]

    def __getitem__(self, chosen: Sequence[int] | np.ndarray) -> Quadrics:
        """Some of the polynomials, in the order given."""
        chosen = np.asarray(chosen, np.int64)
        sizes = self.starts[chosen + 1] - self.starts[chosen]
        offset = np.repeat(self.starts[chosen] - np.cumsum(sizes) + sizes, sizes)
        at = np.arange(len(offset)) + offset
        return Quadrics(
            len(chosen), self.unknowns, self.p, np.repeat(np.arange(len(chosen)), sizes),
            self.first[at], self.second[at], self.coefficient[at],
        )  # fmt: skip

    def degree_in(self, part: np.ndarray) -> np.ndarray:
        """Each polynomial's degree in part of the unknowns.

        Parameters
        ----------
        part : ndarray of bool, shape (count, unknowns) or (unknowns,)
            The unknowns that count, for each polynomial or for all.
        """
        inside = np.zeros((self.count, self.unknowns + 1), np.int64)
        inside[:, : self.unknowns] = part
        degree = inside[self.polynomial, self.first] + inside[self.polynomial, self.second]
        found = np.zeros(self.count, np.int64)
        for value in (1, 2):
            found[self.polynomial[degree == value]] = value
        return found

    def linear_rows(self) -> Residues:
        """Coefficients of the polynomials' linear terms, the constant in the last column."""
        rows = np.zeros((self.count, self.unknowns + 1), np.int64)
        linear = self.second == self.unknowns
        rows[self.polynomial[linear], self.first[linear]] = self.coefficient[linear]
        return rows

    def affine_in(self, own: Sequence[int], values: Residues) -> Residues:
        """Coefficients of `own` unknowns, with the others set to values; the constant is last.

        The polynomials must be of degree at most 1 in these unknowns.
        """
        place = np.full(self.unknowns + 1, len(own))
        place[np.asarray(own, np.int64)] = np.arange(len(own))
        at = np.append(values % self.p, 1)
        at[np.asarray(own, np.int64)] = 1
        value = self.coefficient * at[self.first] % self.p * at[self.second] % self.p
        column = np.minimum(place[self.first], place[self.second])
        rows = np.zeros((self.count, len(own) + 1), np.int64)
        np.add.at(rows, (self.polynomial, column), value)
        return rows % self.p

    def combine(self, mix: Residues) -> Quadrics:
        """Linear combinations of the polynomials, one a row of `mix` (residues)."""
        rows, members = np.nonzero(mix)
        sizes = (self.starts[1:] - self.starts[:-1])[members]
        offset = np.repeat(self.starts[members] - np.cumsum(sizes) + sizes, sizes)
        at = np.arange(len(offset)) + offset
        value = np.repeat(mix[rows, members], sizes) * self.coefficient[at] % self.p
        return merged(
            mix.shape[0], self.unknowns, self.p, np.repeat(rows, sizes),
            self.first[at], self.second[at], value,
        )  # fmt: skip

    def polynomials(self, context: Any) -> list[Any]:
        """As polynomials of a ring of python-flint with these unknowns."""
        generators = context.gens()
        one = context.constant(1)
        if not generators:
            return [context.constant(int(c)) for c in self._constants()]
        unit = [tuple(map(int, row)) for row in np.eye(self.unknowns, dtype=int)]
        zero = (0,) * self.unknowns
        made = []
        for e in range(self.count):
            terms = {}
            for t in checked(range(int(self.starts[e]), int(self.starts[e + 1]))):
                a, b = int(self.first[t]), int(self.second[t])
                monomial = zero if a == self.unknowns else unit[a]
                if b < self.unknowns:
                    step = unit[b]
                    monomial = tuple(x + y for x, y in zip(monomial, step, strict=True))
                terms[monomial] = int(self.coefficient[t])
            made.append(context.from_dict(terms) if terms else 0 * one)
        return made

    def _constants(self) -> np.ndarray:
        found = np.zeros(self.count, np.int64)
        found[self.polynomial] = self.coefficient
        return found


def merged(
    count: int,
    unknowns: int,
    p: int,
    polynomial: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    coefficient: Residues,
) -> Quadrics:
    """Polynomials from terms in any order: equal monomials are added, zeros dropped."""
    k = unknowns + 1
    key = (polynomial * k + np.minimum(first, second)) * k + np.maximum(first, second)
    order = np.argsort(key, kind="stable")
    key, coefficient = key[order], coefficient[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    total = np.add.reduceat(coefficient, starts) % p if len(key) else coefficient
    kept = total != 0
    key = key[starts][kept]
    return Quadrics(count, unknowns, p, key // (k * k), key // k % k, key % k, total[kept])


class QuadraticArray:
    """An array of polynomials of degree at most two, with sums, products and moves of entries.

    It has enough of an array's interface for the equations of a form to be evaluated in one way for
    these and for object arrays of ring elements (`algebra.programs.residues`).

    Parameters
    ----------
    shape : tuple of int
    entries : Quadrics
        In row-major order.
    """

    # NumPy then leaves ``ndarray - QuadraticArray`` to this class.
    __array_ufunc__ = None

    def __init__(self, shape: tuple[int, ...], entries: Quadrics) -> None:
        self.shape = shape
        self.entries = entries

    @classmethod
    def of(
        cls, values: Residues, p: int, unknowns: int, generators: np.ndarray | None = None
    ) -> QuadraticArray:
        """Entries that are constants, or single unknowns if `generators` is not −1."""
        position = np.arange(values.size)
        constant = np.full(values.size, unknowns)
        first, coefficient = constant, values.ravel() % p
        if generators is not None:
            known = generators.ravel() < 0
            first = np.where(known, unknowns, generators.ravel())
            coefficient = np.where(known, coefficient, 1)
        return cls(
            values.shape, merged(values.size, unknowns, p, position, first, constant, coefficient)
        )

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def product(self, other: QuadraticArray) -> QuadraticArray:
        """The product of two stacks of matrices: the last two axes are those of a matrix."""
        left, right = self.entries, other.entries
        p, k = left.p, left.unknowns
        *stack, rows, inner = self.shape
        columns = other.shape[-1]
        shape = (*stack, rows, columns)
        if (left.first == k).all() and (right.first == k).all():
            return self.of(matmul(self._values(), other._values(), p), p, k)
        # Join the terms of column s on the left with those of row s on the right.
        place = left.polynomial // (rows * inner) * inner + left.polynomial % inner
        order = np.argsort(place, kind="stable")
        place = place[order]
        starts = np.searchsorted(
            right.polynomial, np.arange(math.prod(stack) * inner + 1) * columns
        )
        lengths = (starts[1:] - starts[:-1])[place]
        i = np.repeat(order, lengths)
        offset = np.repeat(starts[place] - np.cumsum(lengths) + lengths, lengths)
        j = np.arange(len(offset)) + offset
        factors = np.stack([left.first[i], left.second[i], right.first[j], right.second[j]])
        factors.sort(axis=0)
        if (factors[2] != k).any():
            raise DegreeAboveTwo("a product is of degree above two")
        position = left.polynomial[i] // inner * columns + right.polynomial[j] % columns
        value = left.coefficient[i] * right.coefficient[j] % p
        entries = merged(math.prod(shape), k, p, position, factors[0], factors[1], value)
        return QuadraticArray(shape, entries)

    def _values(self) -> Residues:
        return self.entries._constants().reshape(self.shape)

    def __sub__(self, other: QuadraticArray) -> QuadraticArray:
        return total([self, -other])

    def __neg__(self) -> QuadraticArray:
        entries = self.entries
        negative = -entries.coefficient % entries.p
        return QuadraticArray(self.shape, replace(entries, coefficient=negative))

    def reshape(self, *shape: Any) -> QuadraticArray:
        """The same entries in row-major order, as NumPy takes shapes."""
        return QuadraticArray(self._numbers().reshape(*shape).shape, self.entries)

    def transpose(self, order: Sequence[int]) -> QuadraticArray:
        """The axes in another order."""
        return self.at(self._numbers().transpose(order))

    def broadcast(self, shape: tuple[int, ...]) -> QuadraticArray:
        """The array broadcast to a shape by NumPy's rules."""
        return self.at(np.broadcast_to(self._numbers(), shape))

    def at(self, places: np.ndarray) -> QuadraticArray:
        """An array of the shape of `places`: the entries with these numbers in row-major order."""
        chosen, count = places.ravel(), self.entries.count
        same = len(chosen) == count and np.array_equal(chosen, np.arange(count))
        return QuadraticArray(places.shape, self.entries if same else self.entries[chosen])

    def _numbers(self) -> np.ndarray:
        return np.arange(self.entries.count).reshape(self.shape)

    def __getitem__(self, index: Any) -> QuadraticArray:
        """Entries by an index as NumPy's arrays take it."""
        return self.at(np.asarray(self._numbers()[index]))


def total(terms: Sequence[QuadraticArray]) -> QuadraticArray:
    """The sum of arrays, broadcast to one shape."""
    shape = np.broadcast_shapes(*(term.shape for term in terms))
    parts = [term.broadcast(shape).entries for term in terms]
    entries = merged(
        parts[0].count, parts[0].unknowns, parts[0].p,
        np.concatenate([e.polynomial for e in parts]), np.concatenate([e.first for e in parts]),
        np.concatenate([e.second for e in parts]), np.concatenate([e.coefficient for e in parts]),
    )  # fmt: skip
    return QuadraticArray(shape, entries)


def beside(blocks: Sequence[Any]) -> Any:
    """Arrays one after another along the second axis: NumPy's, or `QuadraticArray`."""
    return _joined(blocks, 1)


def stacked(blocks: Sequence[Any]) -> Any:
    """Arrays one after another along the first axis: NumPy's, or `QuadraticArray`."""
    return _joined(blocks, 0)


def _joined(blocks: Sequence[Any], axis: int) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    if not isinstance(blocks[0], QuadraticArray):
        return np.concatenate(blocks, axis=axis)
    every = chained([block.entries for block in blocks])
    ends = np.cumsum([block.entries.count for block in blocks])
    numbers = [
        np.arange(end - b.entries.count, end).reshape(b.shape)
        for b, end in zip(blocks, ends.tolist(), strict=True)
    ]
    places = np.concatenate(numbers, axis=axis)
    return QuadraticArray((every.count,), every).at(places)


def chained(parts: Sequence[Quadrics]) -> Quadrics:
    """Polynomials one after another."""
    ends = np.cumsum([part.count for part in parts])
    offsets = [int(end) - part.count for part, end in zip(parts, ends, strict=True)]
    return Quadrics(
        int(ends[-1]), parts[0].unknowns, parts[0].p,
        np.concatenate([e.polynomial + o for e, o in zip(parts, offsets, strict=True)]),
        np.concatenate([e.first for e in parts]), np.concatenate([e.second for e in parts]),
        np.concatenate([e.coefficient for e in parts]),
    )  # fmt: skip
