"""Groups of vectors modulo p, their gains in rank, and a search over sets of groups.

f(U), the rank of the vectors of the groups U, is the rank function of a polymatroid: the gain
of a group never grows with U.  A branch and bound over sets of groups includes a group or excludes
it.  The leaves of its tree, each with its included and excluded groups, cover all sets and prove
the result: the least of their bounds, which can be recomputed, is a bound for all sets.

The vectors of a group are computed when they are first needed: a recording of 300 neurons has
180,000 rows, and the rows of a few neurons suffice for a result and its proof.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from algebra.errors import DualError
from algebra.linalg.echelon import modular_echelon
from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues
from algebra.matroids.branch_and_bound import conditions_cover
from algebra.matroids.capped import Dual
from algebra.matroids.linear import LinearMatroid
from algebra.time_limits import OutOfTime, check_time

# Number of spans kept for further nodes, and of their entries.
_KEPT = 40
_MOST = 1 << 26
# Largest number of entries of all vectors for computations with all groups at once.
_WHOLE = 1 << 24


@dataclass(frozen=True)
class GroupLeaf:
    """A part of a search over sets of groups.

    Attributes
    ----------
    chosen, banned : tuple of int
        Groups that every set of this part contains, or does not contain.
    dual : Dual or None
        A bound for the chosen groups alone, if this is a problem of its own.
    """

    chosen: tuple[int, ...]
    banned: tuple[int, ...]
    dual: Dual | None = field(default=None, repr=False)


class Span(NamedTuple):
    """The span of some vectors: its reduced echelon form, without the unit vectors.

    Attributes
    ----------
    table : ndarray of int64, shape (rank, dimension - rank)
        The entries in the columns without a pivot.
    pivots, others : ndarray of int
        The columns with a pivot, one for each row, and without.
    """

    table: Residues
    pivots: np.ndarray
    others: np.ndarray

    @property
    def rank(self) -> int:
        """Dimension of the span."""
        return len(self.pivots)

    @property
    def rows(self) -> Residues:
        """A basis: the reduced echelon form, up to the order of rows."""
        out = np.zeros((len(self.pivots), len(self.pivots) + len(self.others)), np.int64)
        out[np.arange(len(out)), self.pivots] = 1
        out[:, self.others] = self.table
        return out

    def kernel(self, p: int) -> Residues:
        """A basis of the vectors that are orthogonal to the span, in reduced echelon form.

        Up to the order of columns.
        """
        out = np.zeros((len(self.others), len(self.pivots) + len(self.others)), np.int64)
        out[np.arange(len(out)), self.others] = 1
        out[:, self.pivots] = -self.table.T % p
        return out

    def left(self, vectors: Residues, p: int) -> Residues:
        """Vectors modulo the span: their coordinates in the columns without a pivot."""
        if not len(self.pivots):
            return vectors
        rest = vectors[:, self.others] - matmul(vectors[:, self.pivots], self.table, p)
        rest += (rest >> 63) & p
        return rest

    def extended(self, vectors: Residues, p: int) -> Span:
        """The span extended by these vectors."""
        table, pivots = modular_echelon(self.left(vectors, p), p)
        if not pivots:
            return self
        others = np.delete(np.arange(len(self.others)), pivots)
        new = table[:, others]
        old = self.table[:, others] - matmul(self.table[:, pivots], new, p)
        old += (old >> 63) & p
        return Span(
            np.concatenate([old, new]),
            np.concatenate([self.pivots, self.others[pivots]]),
            self.others[others],
        )

    @classmethod
    def empty(cls, dimension: int) -> Span:
        """The zero space."""
        none = np.zeros(0, np.int64)
        return cls(np.zeros((0, dimension), np.int64), none, np.arange(dimension))


class Groups:
    """Groups of vectors modulo p.

    Parameters
    ----------
    part : callable
        The vectors of a group, one per row.
    sizes : sequence of int
        Number of vectors of each group.
    dimension : int
        Of the vectors.
    p : int
        A prime.
    reach : callable, optional
        Upper bounds of f of some groups together with each of some others.

    Examples
    --------
    >>> matroid = LinearMatroid(np.array([[1, 0, 1, 2], [0, 1, 1, 0]]), 101)
    >>> groups = Groups.of_columns(matroid, [[0, 3], [1], [2]])
    >>> groups.gains(frozenset({0}), [1, 2])
    (1, {1: 1, 2: 1})
    """

    def __init__(
        self,
        part: Callable[[int], Residues],
        sizes: Sequence[int],
        dimension: int,
        p: int,
        reach: Callable[[Iterable[int], Sequence[int]], np.ndarray] | None = None,
    ) -> None:
        self.part, self.sizes, self.dimension, self.p = part, list(sizes), dimension, p
        self.reach = reach
        # Groups that are the only ones with an entry other than 0 in some column.
        self.indispensable = frozenset[int]()
        # Whether there are few enough vectors for computations with all of them.
        self.is_small = sum(sizes) * dimension <= _WHOLE
        self._spans = {frozenset[int](): Span.empty(dimension)}

    @classmethod
    def of_columns(
        cls, matroid: LinearMatroid, members: Sequence[Sequence[int] | np.ndarray]
    ) -> Groups:
        """Groups of the columns of a linear matroid; no two groups share a column."""
        parts = [np.ascontiguousarray(matroid.columns[:, list(group)].T) for group in members]
        sizes = [len(part) for part in parts]
        return cls(parts.__getitem__, sizes, len(matroid.columns), matroid.p)

    def __len__(self) -> int:
        return len(self.sizes)

    def most(self, chosen: Iterable[int], others: Sequence[int]) -> np.ndarray:
        """Upper bounds of f of the chosen groups together with each of some others."""
        chosen = list(chosen)
        size = sum(self.sizes[k] for k in chosen)
        found = np.array([size + self.sizes[k] for k in others], np.int64)
        if self.reach is not None:
            found = np.minimum(found, self.reach(chosen, others))
        return np.minimum(found, self.dimension)

    def rank(self, groups: Iterable[int]) -> int:
        """f of some groups."""
        chosen = frozenset(groups)
        less = self._known(chosen)
        found, rest = self._spans[less], sorted(chosen - less)
        if not rest:
            return found.rank
        whole = found.left(np.concatenate([self.part(k) for k in rest]), self.p)
        return found.rank + modular_rank(whole, self.p, overwrite=True)

    def _known(self, chosen: frozenset[int]) -> frozenset[int]:
        """The largest subset whose span is kept."""
        return max((known for known in self._spans if known <= chosen), key=len)

    def span(self, chosen: frozenset[int]) -> Span:
        """The span of some groups."""
        if chosen not in self._spans:
            # Most nodes add one group to the groups of another node.
            less = self._known(chosen)
            found = self._spans[less]
            for k in sorted(chosen - less):
                check_time()
                found = found.extended(self.part(k), self.p)
            held = sum(span.table.size for span in self._spans.values())
            for known in [known for known in self._spans if known]:
                if len(self._spans) < _KEPT and held + found.table.size <= _MOST:
                    break
                held -= self._spans.pop(known).table.size
            self._spans[chosen] = found
        return self._spans[chosen]

    def left(self, chosen: frozenset[int], others: Sequence[int]) -> list[Residues]:
        """The vectors of some groups modulo the span of the chosen ones."""
        span = self.span(chosen)
        parts = [self.part(k) for k in others]
        ends = np.cumsum([0, *map(len, parts)])
        if not ends[-1]:
            return [np.zeros((0, len(span.others)), np.int64) for _ in parts]
        whole = span.left(np.concatenate(parts), self.p)
        return [whole[a:b] for a, b in pairwise(ends)]

    def gains(self, chosen: frozenset[int], others: Iterable[int]) -> tuple[int, dict[int, int]]:
        """f of the chosen groups, and the gain of each of some others."""
        others, ranks = list(others), {}
        found = self.span(chosen).rank
        # Large vectors are handled group by group.
        step = max(1, len(others)) if self.is_small else 1
        for start in range(0, len(others), step):
            some = others[start : start + step]
            for k, part in zip(some, self.left(chosen, some), strict=True):
                check_time()
                ranks[k] = modular_rank(part, self.p)
        return found, ranks

    def open(self, leaf: GroupLeaf) -> list[int]:
        """Groups neither chosen nor banned."""
        closed = {*leaf.chosen, *leaf.banned}
        return [k for k in range(len(self)) if k not in closed]


class Space(Protocol):
    """A search problem: sets of groups and their ratings.

    Ratings are of any ordered type; the search minimizes them.
    """

    @property
    def start(self) -> frozenset[int]:
        """Groups that every set contains."""

    @property
    def best(self) -> Any:
        """The best rating found so far."""

    def bound(self, leaf: GroupLeaf) -> Any | None:
        """A lower bound of the ratings in the leaf; None if the leaf contains no set."""

    def settle(self, leaf: GroupLeaf) -> GroupLeaf | None:
        """The leaf with its proof, if no group is left to choose."""

    def next_group(self, leaf: GroupLeaf) -> int:
        """The open group to branch on."""

    def is_late(self, bound: Any) -> bool:
        """Whether leaves with this bound are left unfinished."""


def branch(
    space: Space,
) -> tuple[list[GroupLeaf], Any | None, BaseException | None]:
    """Search all sets of groups, the part with the least bound first.

    An interrupt (or the time limit) ends the search; the leaves still cover all sets.

    Returns
    -------
    leaves : list of GroupLeaf
    least : rating or None
        The least of their bounds; None if no leaf contains a set.
    interrupt : KeyboardInterrupt, OutOfTime or None
        The exception that ended the search.
    """
    leaves: list[GroupLeaf] = []
    known: list[Any] = []
    root = GroupLeaf(tuple(sorted(space.start)), ())
    heap: list[tuple[Any, int, int, GroupLeaf]] = []

    def close(leaf: GroupLeaf, bound: Any | None) -> None:
        leaves.append(leaf)
        if bound is not None:
            known.append(bound)

    def rest() -> None:
        for bound, _, _, leaf in heap:
            close(leaf, bound)

    first = space.bound(root)
    if first is None:
        return [root], None, None
    heap.append((first, 0, 0, root))
    count = 0
    interrupt: BaseException | None = None
    while heap:
        bound, _, _, leaf = heapq.heappop(heap)
        if bound >= space.best:
            close(leaf, bound)
            continue
        if space.is_late(bound):
            close(leaf, bound)
            rest()
            break
        made: list[tuple[GroupLeaf, Any | None]] = []
        try:
            settled = space.settle(leaf)
            if settled is None:
                k = space.next_group(leaf)
                for child in (
                    GroupLeaf((*leaf.chosen, k), leaf.banned),
                    GroupLeaf(leaf.chosen, (*leaf.banned, k)),
                ):
                    made.append((child, space.bound(child)))
        except (KeyboardInterrupt, OutOfTime) as end:
            close(leaf, bound)
            rest()
            interrupt = end
            break
        if settled is not None:
            close(settled, bound)
            continue
        for child, value in made:
            count += 1
            if value is None or max(bound, value) >= space.best:
                close(child, value)
            else:
                heapq.heappush(heap, (max(bound, value), -len(child.chosen), count, child))
    return leaves, min(known, default=None), interrupt


def least_rating(
    groups: Groups,
    start: frozenset[int],
    leaves: Sequence[GroupLeaf],
    bound: Callable[[GroupLeaf], Any | None],
) -> Any | None:
    """A lower bound of all ratings, from the leaves of a search alone.

    Parameters
    ----------
    groups : Groups
    start : frozenset of int
        Groups that every set contains.
    leaves : sequence of GroupLeaf
    bound : callable
        A lower bound of the ratings in a leaf; None if the leaf contains no set.

    Returns
    -------
    rating or None
        None if no leaf contains a set.

    Raises
    ------
    DualError
        If the leaves do not cover all sets of groups.
    """
    known = range(len(groups))
    for leaf in leaves:
        if not all(k in known for k in (*leaf.chosen, *leaf.banned)):
            raise DualError("a leaf names a group that does not exist")
    if any(start & set(leaf.banned) for leaf in leaves):
        raise DualError("a leaf bans a group that must be there")
    conditions = [(frozenset(leaf.chosen) - start, frozenset(leaf.banned)) for leaf in leaves]
    if not conditions_cover(conditions):
        raise DualError("the leaves of the search do not cover all sets of groups")
    full = [GroupLeaf(tuple({*leaf.chosen, *start}), leaf.banned, leaf.dual) for leaf in leaves]
    return min((found for leaf in full if (found := bound(leaf)) is not None), default=None)
