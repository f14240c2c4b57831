"""Groups of vectors modulo p, what they add to each other, and a search over sets of groups.

f(U), the rank of the vectors of the groups U, is the rank function of a polymatroid: what a
group adds never grows with U.  A branch and bound over sets of groups takes a group in or bans
it; the leaves of its tree, each a set chosen and a set banned, cover all sets, and are the proof
of what the search found: the least of their bounds, found again at any time, is a bound of all.

The vectors of a group are made when they are first asked for: a recording of 300 neurons has
180,000 rows, and a few neurons of them are enough for an answer and its proof.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from algebra.linalg import modular
from algebra.linalg.modular import Residues, echelon, matmul
from algebra.matroids.branch_and_bound import covers
from algebra.matroids.capped import Dual, DualError
from algebra.matroids.linear import LinearMatroid
from algebra.time_limits import OutOfTime, check_time

# Spans kept for the nodes that come next.
_KEPT = 40
# Entries of all vectors up to which questions about all groups at once are asked.
_WHOLE = 1 << 24


@dataclass(frozen=True)
class GroupLeaf:
    """A part of a search over sets of groups.

    Attributes
    ----------
    chosen, banned : tuple of int
        Groups that every set of this part has, or lacks.
    dual : Dual or None
        Bounds what the chosen groups alone allow, where that is a question of its own.
    """

    chosen: tuple[int, ...]
    banned: tuple[int, ...]
    dual: Dual | None = field(default=None, repr=False)


class Span(NamedTuple):
    """The span of some vectors.

    Attributes
    ----------
    rows : ndarray of int64
        Its reduced echelon form.
    pivots, others : ndarray of int
        The columns with a pivot, and without.
    """

    rows: Residues
    pivots: np.ndarray
    others: np.ndarray

    def left(self, vectors: Residues, p: int) -> Residues:
        """Vectors modulo the span: their coordinates in the columns without a pivot."""
        if not len(self.pivots):
            return vectors
        taken = matmul(vectors[:, self.pivots], self.rows[:, self.others], p)
        rest = vectors[:, self.others] - taken
        rest += (rest >> 63) & p
        return rest

    def extended(self, vectors: Residues, p: int) -> Span:
        """The span of these vectors too."""
        table, pivots = echelon(self.left(vectors, p), p)
        if not pivots:
            return self
        new = np.zeros((len(table), self.rows.shape[1]), np.int64)
        new[:, self.others] = table
        fresh = self.others[pivots]
        old = self.rows - matmul(self.rows[:, fresh], new, p)
        old += (old >> 63) & p
        return Span(
            np.concatenate([old, new]),
            np.concatenate([self.pivots, fresh]),
            np.delete(self.others, pivots),
        )

    @classmethod
    def empty(cls, dimension: int) -> Span:
        """The span of no vector."""
        none = np.zeros(0, np.int64)
        return cls(np.zeros((0, dimension), np.int64), none, np.arange(dimension))


class Groups:
    """Groups of vectors modulo p.

    Parameters
    ----------
    part : callable
        The vectors of a group, a row each.
    sizes : sequence of int
        How many vectors each group has.
    dimension : int
        Of the vectors.
    p : int
        A prime.
    reach : callable, optional
        Of some groups and each of some others: what f of all these is at most.

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
        # Whether there are few enough vectors to treat all of them at once.
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
        """What f of the chosen groups and of each of some others is at most."""
        chosen = list(chosen)
        size = sum(self.sizes[k] for k in chosen)
        found = np.array([size + self.sizes[k] for k in others], np.int64)
        if self.reach is not None:
            found = np.minimum(found, self.reach(chosen, others))
        return np.minimum(found, self.dimension)

    def rank(self, groups: Iterable[int]) -> int:
        """f of some groups."""
        chosen = frozenset(groups)
        if chosen in self._spans:
            return len(self._spans[chosen].rows)
        return modular.rank(np.concatenate([self.part(k) for k in sorted(chosen)]), self.p)

    def span(self, chosen: frozenset[int]) -> Span:
        """The span of some groups."""
        if chosen not in self._spans:
            # Most nodes add one group to another node's.
            less = max((known for known in self._spans if known < chosen), key=len)
            found = self._spans[less]
            for k in sorted(chosen - less):
                check_time()
                found = found.extended(self.part(k), self.p)
            if len(self._spans) >= _KEPT:
                self._spans.pop(next(known for known in self._spans if known))
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
        """f of the chosen groups, and what each of some others would add to it."""
        others, ranks = list(others), {}
        found = len(self.span(chosen).rows)
        # What is large is treated group by group.
        step = max(1, len(others)) if self.is_small else 1
        for start in range(0, len(others), step):
            some = others[start : start + step]
            for k, part in zip(some, self.left(chosen, some), strict=True):
                check_time()
                ranks[k] = modular.rank(part, self.p)
        return found, ranks

    def open(self, leaf: GroupLeaf) -> list[int]:
        """Groups neither chosen nor banned."""
        closed = {*leaf.chosen, *leaf.banned}
        return [k for k in range(len(self)) if k not in closed]


class Space(Protocol):
    """What is searched: sets of groups, and what is the best of them.

    Ratings are of any ordered type; the search looks for the least.
    """

    @property
    def start(self) -> frozenset[int]:
        """Groups that every set has."""

    @property
    def best(self) -> Any:
        """The rating of the best that was found; it falls as the search goes on."""

    def bound(self, leaf: GroupLeaf) -> Any | None:
        """A rating that nothing of the leaf falls below; None where nothing is in it."""

    def settle(self, leaf: GroupLeaf) -> GroupLeaf | None:
        """The leaf with its proof, if no group is left to choose."""

    def next_group(self, leaf: GroupLeaf) -> int:
        """The open group to branch on."""

    def is_late(self, bound: Any) -> bool:
        """Whether leaves of this bound are left as they are."""


def branch(
    space: Space,
) -> tuple[list[GroupLeaf], Any | None, BaseException | None]:
    """Search all sets of groups, the part with the least bound first.

    An interrupt (or the time limit) ends the search; the leaves still cover all sets.

    Returns
    -------
    leaves : list of GroupLeaf
    least : rating or None
        The least of their bounds; None where nothing is in any of them.
    interrupt : KeyboardInterrupt, OutOfTime or None
        What ended the search.
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
    """The rating that nothing falls below, from the leaves of a search alone.

    Parameters
    ----------
    groups : Groups
    start : frozenset of int
        Groups that every set has.
    leaves : sequence of GroupLeaf
    bound : callable
        A rating that nothing of a leaf falls below; None where nothing is in it.

    Returns
    -------
    rating or None
        None where nothing is in any leaf.

    Raises
    ------
    DualError
        Where the leaves do not cover all sets of groups.
    """
    known = range(len(groups))
    for leaf in leaves:
        if not all(k in known for k in (*leaf.chosen, *leaf.banned)):
            raise DualError("a leaf names a group that does not exist")
    if any(start & set(leaf.banned) for leaf in leaves):
        raise DualError("a leaf bans a group that must be there")
    conditions = [(frozenset(leaf.chosen) - start, frozenset(leaf.banned)) for leaf in leaves]
    if not covers(conditions):
        raise DualError("the leaves of the search do not cover all sets of groups")
    full = [GroupLeaf(tuple({*leaf.chosen, *start}), leaf.banned, leaf.dual) for leaf in leaves]
    return min((found for leaf in full if (found := bound(leaf)) is not None), default=None)
