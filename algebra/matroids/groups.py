"""Groups of a matroid's columns, what they add to each other, and a search over sets of groups.

f(U), the rank of the columns of the groups U, is the rank function of a polymatroid: what a
group adds never grows with U.  A branch and bound over sets of groups takes a group in or bans
it; the leaves of its tree, each a set chosen and a set banned, cover all sets, and are the proof
of what the search found: the least of their bounds, found again at any time, is a bound of all.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from algebra.matroids.branch_and_bound import covers
from algebra.matroids.capped import Dual, DualError
from algebra.matroids.linear import LinearMatroid
from algebra.time_limits import OutOfTime

# Contractions kept for the nodes that come next.
_KEPT = 40


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


class Groups:
    """Groups of the columns of a linear matroid.

    Parameters
    ----------
    matroid : LinearMatroid
    members : sequence of sequence of int
        The columns of each group; no two groups share a column.

    Examples
    --------
    >>> matroid = LinearMatroid(np.array([[1, 0, 1, 2], [0, 1, 1, 0]]), 101)
    >>> groups = Groups(matroid, [[0, 3], [1], [2]])
    >>> groups.gains(frozenset({0}), [1, 2])
    (1, {1: 1, 2: 1})
    """

    def __init__(self, matroid: LinearMatroid, members: Sequence[Sequence[int] | np.ndarray]):
        self.matroid = matroid
        self.members = [np.asarray(group, np.int64) for group in members]
        self._quotients: dict[frozenset[int], tuple[LinearMatroid, int]] = {}

    def __len__(self) -> int:
        return len(self.members)

    def columns(self, groups: Iterable[int]) -> np.ndarray:
        """The columns of some groups, in their order."""
        chosen = [self.members[k] for k in groups]
        return np.sort(np.concatenate(chosen)) if chosen else np.zeros(0, np.int64)

    def rank(self, groups: Iterable[int]) -> int:
        """f of some groups."""
        return self.matroid.rank(self.columns(groups))

    def quotient(self, chosen: frozenset[int]) -> tuple[LinearMatroid, int]:
        """The columns with some groups projected away, and the rank of these."""
        if chosen not in self._quotients:
            # Most nodes add one group to another node's.
            less = next((chosen - {k} for k in chosen if chosen - {k} in self._quotients), None)
            whole, found = (self.matroid, 0) if less is None else self._quotients[less]
            made, more = whole.contract(self.columns(chosen - (less or frozenset())))
            if len(self._quotients) >= _KEPT:
                self._quotients.pop(next(iter(self._quotients)))
            self._quotients[chosen] = made, found + more
        return self._quotients[chosen]

    def gains(self, chosen: frozenset[int], others: Iterable[int]) -> tuple[int, dict[int, int]]:
        """f of the chosen groups, and what each of some others would add to it."""
        matroid, found = self.quotient(chosen)
        some = len(matroid.columns) > 0
        return found, {k: matroid.rank(self.members[k]) if some else 0 for k in others}

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
