r"""The cheapest groups of two kinds whose pairs span given vectors: exact.

Groups of a first kind, R, and of a second, S, are given, and vectors Z_rs for each r in R and each
s in S or s = 0.  Chosen groups R' and S' have the vectors Z_rs with r in R' and s in S' or s = 0.
The problem is to find the cheapest R' ∪ S' whose vectors span a space that contains a given V.

That the vectors contain V is a property of sets that grow.  So the theorem on cuts of
`algebra.matroids.containing` holds, and its search and its proofs are those of this problem; but
the vectors of a group depend on the groups of the other kind, so no rank of single groups bounds a
leaf.  Bounds of the sets R' ∪ S' of a leaf, with C chosen, E the chosen and the open groups, and V
of dimension v:

- *Each kind with all of the other*: R' contains V together with all of E's second kind, and then a
  group has vectors of its own.  So the gains of open r with respect to C's first kind, there, sum
  up to at least what is missing (Wolsey's inequality, as in `algebra.matroids.spanning`); in the
  same way S' with all of E's first kind.  The costs of both kinds add up.
- *By number*: if S' has k groups, r has at most (k + 1) n_r independent vectors, n_r the largest
  rank of a Z_rs, and at most as many as with all of S.  These numbers sum up to at least v.  For
  each k the k cheapest second groups and a knapsack over the first ones bound the cost; the least
  of these bounds holds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues
from algebra.matroids.containing import ContainingProblem
from algebra.matroids.groups import GroupLeaf, Groups, Span
from algebra.time_limits import check_time

# Vectors by which a span is extended at once, and spans that are kept.
_TOGETHER = 512
_KEPT = 40
# Numbers of second groups, and random orders of the groups, from which a search starts.
_FAVOURED = 3
_TRIES = 2
# Pairs: a group of the first kind, and one of the second by its number from 1, or 0.
Pair = tuple[int, int]


def pair_groups(
    cell: Callable[[int, int], Residues], sizes: list[int], seconds: int, dimension: int, p: int
) -> Groups:
    """Groups of both kinds, each with all of the other.

    Parameters
    ----------
    cell : callable
        Z_rs of r and s.
    sizes : list of int
        Number of vectors of each Z_rs, for each r.
    seconds : int
        Number of groups of the second kind.
    dimension, p : int
    """
    firsts = range(len(sizes))

    def part(k: int) -> Residues:
        pairs = (
            [(k, s) for s in range(seconds + 1)]
            if k < len(sizes)
            else [(r, k - len(sizes) + 1) for r in firsts]
        )
        return np.concatenate([cell(*pair) for pair in pairs])

    every = [size * (seconds + 1) for size in sizes] + [sum(sizes)] * seconds
    return Groups(part, every, dimension, p)


@dataclass(frozen=True, eq=False)
class PairedProblem(ContainingProblem):
    """A problem of choosing groups of two kinds.

    Attributes
    ----------
    groups : Groups
        Of `pair_groups`: those of the first kind, then those of the second.
    cell : callable
        Z_rs of r and s.
    sizes : list of int
        Number of vectors of each Z_rs, for each r.

    Examples
    --------
    >>> from algebra.matroids.containing import cheapest_containing
    >>> parts = {(0, 0): [[1, 0]], (0, 1): [[0, 1]], (1, 0): [[1, 0]], (1, 1): [[1, 0]]}
    >>> def cell(r, s):
    ...     return np.array(parts[r, s])
    >>> groups = pair_groups(cell, [1, 1], 1, 2, 101)
    >>> problem = PairedProblem(
    ...     groups, (1, 1, 2), 2, vectors=np.eye(2, dtype=np.int64), cell=cell, sizes=[1, 1]
    ... )
    >>> found = cheapest_containing(problem)
    >>> found.chosen, found.cost, found.bound
    ((0, 2), 3, 3)
    """

    cell: Callable[[int, int], Residues] = field(kw_only=True, repr=False)
    sizes: list[int] = field(kw_only=True, repr=False)
    _spans: dict[frozenset[int], Span] = field(default_factory=dict, repr=False)

    def split(self, groups: Iterable[int]) -> tuple[list[int], list[int]]:
        """Groups of the first kind, and those of the second."""
        every = sorted(groups)
        return [k for k in every if k < len(self.sizes)], [k for k in every if k >= len(self.sizes)]

    def pairs(self, groups: Iterable[int]) -> set[Pair]:
        """The pairs whose vectors some groups have."""
        firsts, seconds = self.split(groups)
        numbers = [0, *(k - len(self.sizes) + 1 for k in seconds)]
        return {(r, s) for r in firsts for s in numbers}

    def _extended(self, span: Span, pairs: Iterable[Pair]) -> Span:
        """A span with the vectors of further pairs."""
        parts, count = list[Residues](), 0
        for r, s in sorted(pairs, key=lambda pair: (pair[1], pair[0])):
            if span.rank == self.groups.dimension:
                return span
            parts.append(self.cell(r, s))
            count += len(parts[-1])
            if count >= _TOGETHER:
                check_time()
                span, parts, count = span.extended(np.concatenate(parts), self.groups.p), [], 0
        return span.extended(np.concatenate(parts), self.groups.p) if count else span

    def span(self, chosen: frozenset[int]) -> Span:
        """The span of the vectors of some groups."""
        if chosen not in self._spans:
            less = max((known for known in self._spans if known <= chosen), key=len, default=None)
            before = Span.empty(self.groups.dimension) if less is None else self._spans[less]
            new = self.pairs(chosen) - (set() if less is None else self.pairs(less))
            if len(self._spans) >= _KEPT:
                self._spans.pop(next(iter(self._spans)))
            self._spans[chosen] = self._extended(before, new)
        return self._spans[chosen]

    def missing(self, chosen: Iterable[int]) -> int:
        """dim(C + V) - dim C, with C the span of the vectors of some groups."""
        left = self.span(frozenset(chosen)).left(self.vectors, self.groups.p)
        return modular_rank(left, self.groups.p) if left.any() else 0

    def cut(self, chosen: Iterable[int], first: Iterable[int] = ()) -> frozenset[int]:
        """See `ContainingProblem.cut`."""
        kept = frozenset(chosen)
        span, outside = self.span(kept), list[int]()
        others = sorted(range(len(self)), key=lambda k: (-self.costs[k], k))
        for k in dict.fromkeys([*first, *others]):
            check_time()
            if k in kept:
                continue
            more = self._extended(span, self.pairs(kept | {k}) - self.pairs(kept))
            if more.left(self.vectors, self.groups.p).any():
                span, kept = more, kept | {k}
            else:
                outside.append(k)
        return frozenset(outside)

    @cached_property
    def each(self) -> list[int]:
        """n_r, the largest rank of a Z_rs, for each r; an upper bound if there are many vectors."""
        if not self.groups.is_small:
            return [min(size, self.groups.dimension) for size in self.sizes]
        seconds = range(len(self) - len(self.sizes) + 1)
        p = self.groups.p
        return [
            max(modular_rank(self.cell(r, s), p) for s in seconds) for r in range(len(self.sizes))
        ]

    def _gains(self, fixed: frozenset[int], groups: Iterable[int]) -> dict[int, int]:
        """The increase of the rank by each of some groups."""
        span, known, p = self.span(fixed), self.pairs(fixed), self.groups.p
        found = {}
        for k in groups:
            check_time()
            new = sorted(self.pairs(fixed | {k}) - known)
            if new:
                left = span.left(np.concatenate([self.cell(*pair) for pair in new]), p)
                found[k] = modular_rank(left, p) if left.any() else 0
        return {k: gain for k, gain in found.items() if gain}

    def by_ranks(self, chosen: frozenset[int], able: list[int], need: int) -> int | None:
        """The bounds of the module, for the cost of groups beside the chosen ones."""
        (firsts, seconds), least = self.split(able), [0, 0]
        most = self.groups.dimension
        if self.groups.is_small:
            for number, (own, other) in enumerate(((firsts, seconds), (seconds, firsts))):
                fixed = chosen.union(other)
                more = self.knapsack(self._gains(fixed, own), self.missing(fixed))
                if more is None:
                    return None
                least[number] = more[0]
            most = self.span(chosen.union(seconds)).rank
        totals = [
            max(cost, least[1]) + max(found, least[0])
            for cost, found, _ in self._by_number(chosen, able, most)
        ]
        return min(totals, default=None)

    def quick_bound(self, leaf: GroupLeaf) -> int | None:
        """See `SpanningProblem.quick_bound`."""
        chosen = frozenset(leaf.chosen)
        if (able := self.able(chosen, leaf)) is None:
            return None
        found = self._by_number(chosen, able, self.groups.dimension, self._sizes_with)
        least = min((cost + other for cost, other, _ in found), default=None)
        return None if least is None else self.cost(chosen) + least

    def _sizes_with(self, count: int) -> list[int]:
        """The numbers of vectors of the first groups, with so many of the second."""
        return [min((count + 1) * size, self.groups.dimension) for size in self.sizes]

    def _by_number(
        self, chosen: frozenset[int], able: list[int], most: int,
        numbers_with: Callable[[int], list[int]] | None = None,
    ) -> Iterator[tuple[int, int, int]]:  # fmt: skip
        """Bounds of the costs of both kinds, the second first, for each number of second groups.

        At most as many vectors of the chosen groups are independent as `most`.  `numbers_with` has
        bounds of the ranks of the first groups, by default `_numbers`.
        """
        (known, driven), (firsts, seconds) = self.split(chosen), self.split(able)
        added = np.cumsum([0, *sorted(self.costs[k] for k in seconds)]).tolist()
        for count, cost in enumerate(added):
            numbers = (numbers_with or self._numbers)(len(driven) + count)
            reached = min(most, sum(numbers[r] for r in known))
            open_ = {r: numbers[r] for r in firsts if numbers[r]}
            found = self.knapsack(open_, len(self.vectors) - reached)
            if found is not None:
                yield cost, found[0], count
                if not found[0]:
                    # More of the second kind cost more.
                    break

    def _numbers(self, count: int) -> list[int]:
        """Upper bounds of the ranks of the first groups, with so many of the second."""
        pairs = zip(self.ranks, self.each, strict=False)
        return [min(whole, (count + 1) * one) for whole, one in pairs]

    def starts(self) -> Iterator[frozenset[int]]:
        """Sets with the numbers of second groups that the bounds by number favour."""
        able = self.able(self.start, self.whole) or []
        favoured = sorted(
            (one + other, count)
            for one, other, count in self._by_number(self.start, able, self.groups.dimension)
        )
        rng = random.Random(len(self))
        for _, count in favoured[:_FAVOURED] * _TRIES:
            firsts, seconds = (
                sorted(rng.sample(own, len(own)), key=self.costs.__getitem__)
                for own in self.split(able)
            )
            chosen = self.start.union(seconds[:count])
            numbers = self._numbers(len(self.split(chosen)[1]))
            reached = sum(numbers[r] for r in self.split(chosen)[0])
            for r in firsts:
                check_time()
                if reached >= len(self.vectors) and self.spans(chosen):
                    break
                chosen, reached = chosen | {r}, reached + numbers[r]
            yield chosen
