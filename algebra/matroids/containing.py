r"""The cheapest groups of vectors whose span contains given vectors: exact.

Groups of vectors and a space V in the span of all groups are given.  A set U of groups *contains* V
if V lies in the span of its vectors.  This is a property of sets that grow, but not a rank: of two
groups each may be useless alone, and both together contain V.  So the greedy choice has no
guarantee, and for single vectors and a line V the problem is the shortest circuit through an
element, which is NP-hard [1]_.  The search is exact because of its cuts:

**Cuts.**  Let M be a set of groups that does not contain V.  Every set that contains V has a group
outside M, for a subset of M spans less than M.  The groups outside M are a *cut*; if M is largest
possible, none of its subsets is one.  Conversely a set that meets all cuts contains V, as otherwise
the groups outside it were a cut.  So the cheapest sets that contain V are the cheapest sets that
meet all cuts, of which the search makes those that it needs.

**Bounds** of the sets U ⊇ C of a leaf, C chosen, E the chosen and the open groups:

- *Infeasible*: E does not contain V, or misses a cut, or C exceeds a cap.
- *Cuts*: the cheapest open groups that meet the cuts which C does not meet.  They are found by
  branching on the groups of a smallest cut; disjoint cuts bound what is left, since each costs its
  cheapest group, and bound all if the branches are too many.
- *Knapsack*: with k = dim(C + V) - dim C, the ranks of the other groups of U sum up to at least k.

A file contains cuts and the leaves; that a cut is one is a statement about the groups outside it.

References
----------
.. [1] A. Vardy, "The intractability of computing the minimum distance of a code", IEEE Trans.
   Inform. Theory 43 (1997) 1757-1766.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from algebra.errors import DualError
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues
from algebra.matroids.groups import GroupLeaf, branch, least_rating
from algebra.matroids.spanning import CheapestGroups, SpanningProblem
from algebra.time_limits import OutOfTime, check_time
from algebra.work import has_passed

# Largest number of branches for the cheapest groups that meet the cuts of a leaf.
_BRANCHES = 2000


@dataclass(frozen=True, eq=False)
class ContainingProblem(SpanningProblem):
    """A problem of choosing groups whose span contains given vectors.

    Attributes
    ----------
    vectors : ndarray of int64
        One vector per row, linearly independent, in the span of all groups.
    cuts : list of frozenset of int
        Sets of groups that every solution meets; the search adds to them.

    Examples
    --------
    >>> from algebra.matroids.groups import Groups
    >>> from algebra.matroids.linear import LinearMatroid
    >>> matroid = LinearMatroid(np.array([[1, 0, 1], [0, 1, 1]]), 101)
    >>> groups = Groups.of_columns(matroid, [[0], [1], [2]])
    >>> problem = ContainingProblem(groups, (1, 1, 3), 1, vectors=np.array([[1, 1]]))
    >>> found = cheapest_containing(problem)
    >>> found.chosen, found.cost, found.bound
    ((0, 1), 2, 2)
    """

    vectors: Residues = field(default_factory=lambda: np.zeros((0, 0), np.int64), repr=False)
    cuts: list[frozenset[int]] = field(default_factory=list, repr=False)

    def missing(self, chosen: Iterable[int]) -> int:
        """k = dim(C + V) - dim C."""
        left = self.groups.span(frozenset(chosen)).left(self.vectors, self.groups.p)
        return modular_rank(left, self.groups.p) if left.any() else 0

    def spans(self, chosen: Iterable[int]) -> bool:
        """Whether some groups contain the vectors."""
        return not self.missing(chosen)

    def without_unneeded(self, chosen: frozenset[int], order: Iterable[int]) -> frozenset[int]:
        """A solution without those of `order` that can be left out one after the other."""
        return deque(self.reduced(chosen, order), maxlen=1)[0]

    def reduced(self, chosen: frozenset[int], order: Iterable[int]) -> Iterator[frozenset[int]]:
        """A solution, and after each of `order` that can be left out the solution without it."""
        yield chosen
        for k in order:
            check_time()
            if self.spans(chosen - {k}):
                chosen -= {k}
                yield chosen

    @cached_property
    def ranks(self) -> list[int]:
        """Upper bounds of the ranks of single groups; the ranks if the groups are few."""
        if self.groups.is_small:
            return [modular_rank(self.groups.part(k), self.groups.p) for k in range(len(self))]
        found: list[int] = self.groups.most([], range(len(self))).tolist()
        return found

    def __len__(self) -> int:
        return len(self.groups)

    def cut(self, chosen: Iterable[int], first: Iterable[int] = ()) -> frozenset[int]:
        """A cut that does not meet some groups, which do not contain the vectors.

        Parameters
        ----------
        chosen : iterable of int
        first : iterable of int, optional
            Groups that are kept out of the cut before others.
        """
        groups, p = self.groups, self.groups.p
        chosen = frozenset(chosen)
        span, outside = groups.span(chosen), list[int]()
        others = sorted(range(len(self)), key=lambda k: (-self.costs[k], k))
        for k in dict.fromkeys([*first, *others]):
            check_time()
            if k in chosen or not span.left(groups.part(k), p).any():
                continue
            more = span.extended(groups.part(k), p)
            if more.left(self.vectors, p).any():
                span = more
            else:
                outside.append(k)
        return frozenset(outside)

    def bound(
        self, leaf: GroupLeaf, enough: int | None = None, ends: float = math.inf
    ) -> int | None:
        """A lower bound of the cost of solutions in the leaf; None if it contains none."""
        check_time()
        chosen = frozenset(leaf.chosen)
        able = self.able(chosen, leaf)
        if able is None:
            return None
        need, within, cost = self.missing(chosen), frozenset(able), self.cost(chosen)
        if not need:
            return cost
        if not able or (self.groups.is_small and not self.spans(chosen | within)):
            return None
        met = self._meeting([cut & within for cut in self.cuts if not cut & chosen])
        if met is None:
            return None
        more = self.by_ranks(chosen, able, need)
        return None if more is None else cost + max(met, more)

    def by_ranks(self, chosen: frozenset[int], able: list[int], need: int) -> int | None:
        """A lower bound of the cost of open groups, from ranks; None if they do not suffice.

        Parameters
        ----------
        chosen : frozenset of int
        able : list of int
            The open groups that the caps permit.
        need : int
            `missing` of the chosen groups.
        """
        more = self.knapsack({k: self.ranks[k] for k in able if self.ranks[k]}, need)
        return None if more is None else more[0]

    def starts(self) -> Iterator[frozenset[int]]:
        """Sets that may be solutions, of small cost, for the search to start from."""
        yield from ()

    def _meeting(self, cuts: list[frozenset[int]]) -> int | None:
        """A lower bound of the cost of groups that meet some cuts; None if one is empty.

        It is the least cost, unless there are too many branches.
        """
        first = self._packed(cuts)
        if first is None or not cuts:
            return first
        best, count = self.unaffordable, 0
        stack: list[tuple[int, list[frozenset[int]]]] = [(0, cuts)]
        while stack:
            count += 1
            if count > _BRANCHES:
                return first
            cost, left = stack.pop()
            least = self._packed(left)
            if least is None or cost + least >= best:
                continue
            if not left:
                best = cost
                continue
            closed = set[int]()
            small = min(left, key=lambda cut: (len(cut), sorted(cut)))
            for k in sorted(small, key=lambda k: (self.costs[k], k), reverse=True):
                # Sets with k; those with the groups before it are in the branches of these.
                rest = [cut - closed for cut in left if k not in cut]
                stack.append((cost + self.costs[k], rest))
                closed.add(k)
        return best

    def _packed(self, cuts: list[frozenset[int]]) -> int | None:
        """The cost of disjoint cuts; None if a cut is empty."""
        used, total = set[int](), 0
        for cut in sorted(cuts, key=lambda cut: (len(cut), sorted(cut))):
            if not cut:
                return None
            if not cut & used:
                used |= cut
                total += min(self.costs[k] for k in cut)
        return total


class _ContainingSearch:
    """The search of one problem: see `algebra.matroids.groups.Space`."""

    def __init__(self, problem: ContainingProblem, ends: float) -> None:
        self.problem, self.start, self.ends = problem, problem.start, ends
        self.chosen: frozenset[int] | None = None
        self.best: int = problem.unaffordable

    def keep(self, chosen: frozenset[int]) -> None:
        """Store a solution that keeps the caps, without unneeded groups, if it is cheaper.

        If the time is over meanwhile, it is stored without some of them.
        """
        problem = self.problem
        if not problem.keeps_caps(chosen) or not problem.spans(chosen):
            return
        order = sorted(chosen - self.start, key=lambda k: (-problem.costs[k], k))
        for less in problem.reduced(chosen, order):
            if (cost := problem.cost(less)) < self.best:
                self.best, self.chosen = cost, less

    def bound(self, leaf: GroupLeaf) -> int | None:
        """See `ContainingProblem.bound`."""
        return self.problem.bound(leaf, self.best)

    def is_late(self, bound: int) -> bool:
        """Whether the time limit has passed."""
        return has_passed(self.ends)

    def settle(self, leaf: GroupLeaf) -> GroupLeaf | None:
        """The leaf, if its chosen groups contain the vectors; otherwise a cut and a completion."""
        problem, chosen = self.problem, frozenset(leaf.chosen)
        if problem.spans(chosen):
            self.keep(chosen)
            return leaf
        while not problem.spans(chosen):
            able = problem.able(chosen, leaf)
            if problem.groups.is_small:
                cut = problem.cut(chosen, leaf.banned)
                if cut not in problem.cuts:
                    problem.cuts.append(cut)
                able = [k for k in able or () if k in cut]
            if not able:
                return None
            chosen |= {min(able, key=self._order)}
        self.keep(chosen)
        return None

    def _order(self, k: int) -> tuple[int, int, int]:
        return self.problem.costs[k], -self.problem.ranks[k], k

    def next_group(self, leaf: GroupLeaf) -> int:
        """A group of the smallest cut that is not met, the one in most of such cuts."""
        chosen = frozenset(leaf.chosen)
        able = frozenset(self.problem.able(chosen, leaf) or ())
        open_ = [cut & able for cut in self.problem.cuts if not cut & chosen]
        few = min(open_, key=len, default=able)
        return max(few, key=lambda k: (sum(k in cut for cut in open_), self.problem.ranks[k], -k))


def cheapest_containing(
    problem: ContainingProblem, known: frozenset[int] | None = None, ends: float = math.inf
) -> CheapestGroups:
    """The cheapest groups whose span contains the vectors.

    Parameters
    ----------
    problem : ContainingProblem
    known : frozenset of int, optional
        A solution.
    ends : float, optional
        Moment of the monotonic clock at which the search ends.
    """
    search = _ContainingSearch(problem, ends)
    try:
        for start in problem.starts():
            search.keep(start)
            least = problem.bound(problem.whole)
            if has_passed(ends) or least is None or search.best <= least:
                break
        if known is not None and search.chosen is None:
            search.keep(known)
        leaves, least, interrupt = branch(search)
    except (KeyboardInterrupt, OutOfTime) as end:
        # Before the search: the bound of all sets from their numbers alone.
        leaves, least, interrupt = [problem.whole], problem.quick_bound(problem.whole), end
    if least is not None and interrupt is None:
        # With the cuts found since, a leaf's bound may be another one: it is that of the proof.
        fresh = replace(problem, cuts=list(problem.cuts), _nodes={})
        least = containing_bound(fresh, leaves, (), search.best)
    cost = None if search.chosen is None else search.best
    bounds = [b for b in (least, cost) if b is not None]
    chosen = None if search.chosen is None else tuple(sorted(search.chosen))
    return CheapestGroups(chosen, cost, min(bounds, default=None), tuple(leaves), interrupt)


def containing_bound(
    problem: ContainingProblem, leaves: Sequence[GroupLeaf], cuts: Iterable[Iterable[int]],
    enough: int | None = None,
) -> int | None:  # fmt: skip
    """A lower bound of the cost of solutions, from leaves and cuts alone.

    Returns
    -------
    int or None
        None if there are no solutions.

    Raises
    ------
    DualError
        If the leaves do not cover all sets of groups, or a cut is none.
    """
    everything = frozenset(range(len(problem)))
    for cut in map(frozenset, cuts):
        check_time()
        if not cut <= everything:
            raise DualError("a cut names a group that does not exist")
        if problem.spans(everything - cut):
            raise DualError("the groups outside a cut determine the target")
        problem.cuts.append(cut)
    found: int | None = least_rating(
        problem.groups, problem.start, leaves, lambda leaf: problem.bound(leaf, enough)
    )
    return found
