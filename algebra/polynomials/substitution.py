r"""Substitution of affine forms into quadrics over GF(p).

A substitution of affine forms, :math:`x_a = \sum_i P_{ai} y_i` with P of K + 1 rows (the last one
is that of the constant), maps :math:`\sum c\,x_a x_b` to a sum over the terms of
:math:`c\,P_{ai} P_{bj}\, y_i y_j`.  If there are few terms they are expanded one by one and merged.
A polynomial with many is represented as a table: its rows are the unknowns in the sparser factors'
rows of P, its columns those in the other factors' rows, each row a sum of multiples of these.
Degrees, numbers of terms and occurring unknowns are computed from it without expansion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from algebra.linalg.modular import matmul
from algebra.linalg.residues import Residues
from algebra.polynomials.quadratic import Quadrics, merged
from algebra.time_limits import check_time

# Number of terms in memory at once while a substitution is expanded.
_AT_ONCE = 1_000_000
# Polynomials that may have more terms are expanded one by one, as tables.
_MANY = 4096


@dataclass(frozen=True, eq=False)
class Composed:
    """Quadrics with affine forms to be substituted for the unknowns; expanded piece by piece.

    Attributes
    ----------
    quadrics : Quadrics
    images : ndarray of int64, shape (unknowns + 1, new unknowns + 1)
        Row k is the affine form of unknown k, its constant last; the last row is that of 1.
    """

    quadrics: Quadrics
    images: Residues

    @property
    def count(self) -> int:
        """Number of polynomials."""
        return self.quadrics.count

    @property
    def unknowns(self) -> int:
        """Number of new unknowns."""
        return self.images.shape[1] - 1

    def then(self, images: Residues) -> Composed:
        """The composition with a further substitution."""
        return Composed(self.quadrics, compose(self.images, images, self.quadrics.p))

    def __getitem__(self, chosen: Sequence[int] | np.ndarray) -> Composed:
        part = Composed(self.quadrics[chosen], self.images)
        for name in ("_occupied", "_entries", "_support"):
            if name in self.__dict__:
                part.__dict__[name] = self.__dict__[name]
        return part

    def expanded(self) -> Quadrics:
        """All polynomials, expanded."""
        pieces = list(self.pieces())
        if not pieces:
            return merged(0, self.unknowns, self.quadrics.p, *(np.zeros(0, np.int64),) * 4)
        return Quadrics(
            self.count, self.unknowns, self.quadrics.p,
            np.concatenate([start + q.polynomial for start, q in pieces]),
            np.concatenate([q.first for _, q in pieces]),
            np.concatenate([q.second for _, q in pieces]),
            np.concatenate([q.coefficient for _, q in pieces]),
        )  # fmt: skip

    def pieces(self) -> Iterator[tuple[int, Quadrics]]:
        """The polynomials expanded, some at a time, with the index of the first."""
        for chosen, table in self._parts():
            start = int(chosen[0])
            yield (
                start,
                self._multiplied(chosen)
                if table is None
                else table.quadrics(self.quadrics.p, self.unknowns),
            )

    def survey(self) -> Survey:
        """Degree, number of terms and unknowns of each expanded polynomial."""
        degrees = np.full(self.count, -1)
        terms = np.zeros(self.count, np.int64)
        occurs = np.zeros((self.count, self.unknowns), bool)
        for chosen, table in self._parts():
            if table is None:
                q = self._multiplied(chosen)
                degrees[chosen], terms[chosen], occurs[chosen] = (
                    q.degrees, np.diff(q.starts), q.occurs,
                )  # fmt: skip
            else:
                (e,) = chosen
                degrees[e], terms[e] = table.survey(self.quadrics.p, self.unknowns, occurs[e])
        return Survey(degrees, terms, occurs)

    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Unknowns from the sparser factors of each polynomial's products, and from the others.

        Boolean, of shape (unknowns + 1, count): a product of two unknowns can occur only if one of
        them is on each side.
        """
        q = self.quadrics
        found = np.zeros((2, self.count, self.unknowns + 1), bool)
        quadratic = q.second < q.unknowns
        for e in range(q.count):
            terms = np.arange(q.starts[e], q.starts[e + 1])
            terms = terms[quadratic[terms]]
            for side, factors in zip(found, self._sides(q, terms), strict=True):
                side[e] = self._occupied[np.unique(factors)].any(axis=0)
        return np.ascontiguousarray(found[0].T), np.ascontiguousarray(found[1].T)

    def _parts(self) -> Iterator[tuple[np.ndarray, _FactorTable | None]]:
        """Polynomials in ascending order: one with its table, or several that are to be merged."""
        q, support = self.quadrics, self._support
        # A bound on the terms of each polynomial before equal monomials are added.
        work = np.zeros(q.count, np.int64)
        np.add.at(work, q.polynomial, support[q.first] * support[q.second])
        start = 0
        while start < q.count:
            check_time()
            if work[start] > _MANY and (table := self._table(start, int(work[start]))):
                yield np.array([start]), table
                start += 1
                continue
            total = np.cumsum(work[start:])
            stop = start + max(1, int(np.searchsorted(total, _AT_ONCE, side="right")))
            many = np.flatnonzero(work[start + 1 : stop] > _MANY)
            if len(many):
                stop = start + 1 + int(many[0])
            yield np.arange(start, stop), None
            start = stop

    def _multiplied(self, chosen: np.ndarray) -> Quadrics:
        """Some polynomials, term by term."""
        q, (near, far) = self.quadrics[chosen], self._sides(self.quadrics[chosen])
        at, term = self._rows(near)
        inner, entry = self._rows(far[term])
        index, value = self._entries
        p = q.p
        left = q.coefficient[term] * value[at] % p
        return merged(
            q.count, self.unknowns, p, q.polynomial[term][entry],
            index[at][entry], index[inner], left[entry] * value[inner] % p,
        )  # fmt: skip

    def _table(self, e: int, work: int) -> _FactorTable | None:
        """One polynomial as a table with the unknowns from its sparser factors as rows.

        None if most of the table would be empty.
        """
        terms = slice(int(self.quadrics.starts[e]), int(self.quadrics.starts[e + 1]))
        q, p = self.quadrics, self.quadrics.p
        near, far = self._sides(q, terms)
        at, term = self._rows(near)
        index, value = self._entries
        rows, row = _numbered(index[at], self.unknowns + 1)
        others, place = _numbered(far, q.unknowns + 1)
        columns = np.flatnonzero(self._occupied[others].any(axis=0))
        if len(rows) * len(columns) > 8 * work:
            return None
        images = self.images[np.ix_(others, columns)]
        # Each row is a sum of multiples of the other factors' images: all first summands, all
        # second ones, and so on.
        order = np.argsort(row, kind="stable")
        row, factor = row[order], (q.coefficient[terms][term] * value[at] % p)[order]
        source = place[term][order]
        nth = np.arange(len(row)) - np.searchsorted(row, row)
        entries = images[source[nth == 0]]
        entries *= factor[nth == 0][:, None]
        entries %= p
        for k in range(1, int(nth.max()) + 1):
            own = nth == k
            entries[row[own]] = (entries[row[own]] + images[source[own]] * factor[own][:, None]) % p
        return _FactorTable(rows, columns, entries)

    def _sides(
        self, q: Quadrics, terms: slice | np.ndarray = slice(None)
    ) -> tuple[np.ndarray, np.ndarray]:
        """For each term the factor with the sparser image, and the other."""
        first, second, support = q.first[terms], q.second[terms], self._support
        swap = support[first] > support[second]
        return np.where(swap, second, first), np.where(swap, first, second)

    def _rows(self, unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The positions in `_entries` of the images of some unknowns, and the unknown of each."""
        lengths = self._support[unknowns]
        starts = np.cumsum(self._support) - self._support
        offset = np.repeat(starts[unknowns] - np.cumsum(lengths) + lengths, lengths)
        return np.arange(len(offset)) + offset, np.repeat(np.arange(len(unknowns)), lengths)

    @cached_property
    def _occupied(self) -> np.ndarray:
        return np.asarray(self.images != 0)

    @cached_property
    def _support(self) -> np.ndarray:
        return np.asarray(np.count_nonzero(self.images, axis=1))

    @cached_property
    def _entries(self) -> tuple[np.ndarray, np.ndarray]:
        """The non-zero entries of the images, row by row: columns and values."""
        row, column = np.nonzero(self.images)
        return column, self.images[row, column]

    def coefficients(self, e: int, first: np.ndarray, second: np.ndarray) -> Residues:
        """Coefficients of some products of two unknowns in one polynomial, shape (N,).

        Parameters
        ----------
        e : int
        first, second : ndarray of int, shape (N,)
            New unknowns.
        """
        q, p = self.quadrics, self.quadrics.p
        terms = slice(int(q.starts[e]), int(q.starts[e + 1]))
        left, right = self.images[q.first[terms]], self.images[q.second[terms]]
        value = left[:, first] * right[:, second] % p
        crossed = np.flatnonzero(first != second)
        value[:, crossed] += left[:, second[crossed]] * right[:, first[crossed]] % p
        value %= p
        return np.asarray((value * q.coefficient[terms][:, None] % p).sum(axis=0) % p)


@dataclass(frozen=True, eq=False)
class Survey:
    """For each polynomial: degree, number of terms, and the unknowns that occur in it.

    Attributes
    ----------
    degrees, terms : ndarray of int, shape (count,)
    occurs : ndarray of bool, shape (count, unknowns)
    """

    degrees: np.ndarray
    terms: np.ndarray
    occurs: np.ndarray

    def kept(self, chosen: np.ndarray) -> Survey:
        """The survey of some of the polynomials."""
        return Survey(self.degrees[chosen], self.terms[chosen], self.occurs[chosen])

    def patterns(self) -> tuple[tuple[int, ...], ...]:
        """For each polynomial, the unknowns that occur in it."""
        return tuple(tuple(np.flatnonzero(row).tolist()) for row in self.occurs)


@dataclass(frozen=True, eq=False)
class _FactorTable:
    """One polynomial: entry (i, j) times the product of unknowns rows[i] and columns[j].

    A product of two of the `rows` may occur twice.
    """

    rows: np.ndarray
    columns: np.ndarray
    entries: Residues

    def _folded(self, p: int) -> tuple[np.ndarray, Residues]:
        """The columns that are also rows, and the coefficients in rows × rows, symmetric."""
        place = np.searchsorted(self.rows, self.columns)
        shared = self.rows[np.minimum(place, len(self.rows) - 1)] == self.columns
        both = np.zeros((len(self.rows), len(self.rows)), np.int64)
        both[:, place[shared]] = self.entries[:, shared]
        diagonal = both.diagonal().copy()
        both += both.T
        both %= p
        np.fill_diagonal(both, diagonal)
        return shared, both

    def survey(self, p: int, unknowns: int, occurs: np.ndarray) -> tuple[int, int]:
        """Degree and number of terms; marks the unknowns that occur."""
        shared, both = self._folded(p)
        single, double = self.entries != 0, both != 0
        single[:, shared] = False
        marked = np.zeros(unknowns + 1, bool)
        marked[self.columns] = single.any(axis=0)
        marked[self.rows] = single.any(axis=1) | double.any(axis=0)
        occurs[:] = marked[:unknowns]
        twice = int(np.count_nonzero(double)) + int(np.count_nonzero(double.diagonal()))
        count = int(np.count_nonzero(single)) + twice // 2
        # The constant is last among the rows and columns that contain it.
        inner, outer = self.rows[-1] < unknowns, self.columns[-1] < unknowns
        rows = slice(None) if inner else slice(-1)
        columns = slice(None) if outer else slice(-1)
        if single[rows, columns].any() or double[rows, rows].any():
            return 2, count
        return (int(occurs.any()) if count else -1), count

    def quadrics(self, p: int, unknowns: int) -> Quadrics:
        """The table as one polynomial."""
        shared, both = self._folded(p)
        columns, entries = self.columns[~shared], self.entries[:, ~shared]
        i, j = np.nonzero(entries)
        upper, lower = np.nonzero(np.triu(both))
        first = np.concatenate([self.rows[i], self.rows[upper]])
        second = np.concatenate([columns[j], self.rows[lower]])
        value = np.concatenate([entries[i, j], both[upper, lower]])
        return merged(1, unknowns, p, np.zeros(len(value), np.int64), first, second, value)


def _numbered(values: np.ndarray, bound: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values in ascending order, and the index of each; values are below a bound."""
    place = np.zeros(bound, np.int64)
    place[values] = 1
    distinct = np.flatnonzero(place)
    place[distinct] = np.arange(len(distinct))
    return distinct, place[values]


def compose(images: Residues, then: Residues, p: int) -> Residues:
    """The affine forms of two substitutions in succession; unit rows are only copied."""
    busy = np.flatnonzero((then != 0).sum(axis=1) != 1)
    simple = np.flatnonzero((then != 0).sum(axis=1) == 1)
    out = matmul(images[:, busy], then[busy], p)
    target = then[simple].argmax(axis=1)
    value = then[simple, target]
    order = np.argsort(target, kind="stable")
    simple, target, value = simple[order], target[order], value[order]
    columns, starts, sizes = np.unique(target, return_index=True, return_counts=True)
    alone = starts[sizes == 1]
    out[:, target[alone]] += images[:, simple[alone]] * value[alone] % p
    for start, size in zip(starts[sizes > 1], sizes[sizes > 1], strict=True):
        own = slice(int(start), int(start + size))
        out[:, target[start]] += matmul(images[:, simple[own]], value[own], p)
    out[:, columns] %= p
    return out
