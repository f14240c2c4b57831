r"""The cheapest spanning groups of vectors, under caps on the number of each class: exact.

With f the rank of the vectors of a set of groups, the problem is to find a set U of least cost with
f(U) ≥ wanted: a *submodular cover* [1]_, which is NP-hard in general; greedy choices lose at most a
factor of log(largest rank of a group).  It is solved by branch and bound
(`algebra.matroids.groups.branch`).  Three bounds hold for the sets U ⊇ C of a leaf, C chosen, E the
chosen and the open groups:

- *Infeasible*: f(E) < wanted, or more of C in a class than its cap.
- *Essential groups*: an open g with f(E - g) < wanted is in every U.  All are found at once: let
  [I A] be the reduced echelon form of the open vectors as columns after projecting C away,
  k = f(E) - f(C) its rows.  By duality (r*(g) = |g| + r(E - g) - r(E)) removing g lowers the rank
  by :math:`|g ∩ P| - rank A[g ∩ P, N - g]`, P the pivots and N the others.  This needs all vectors
  at once: it is omitted if they are very many, and if upper bounds of f alone prove the cost.
- *Knapsack*: with C and the essential groups chosen, and g_k the gain of the open group k,
  f(U) ≤ f(C) + Σ g_k over the others of U (gains never grow), so that U costs at
  least as much as the cheapest groups whose g_k sum up to wanted - f(C) (Wolsey's inequality for
  C [1]_, and the knapsack problem over it solved exactly).
- *Needed groups*: if a column is not zero in the vectors of one group only, this group is in every
  U that spans all vectors.  These groups are known without elimination; they are chosen first.
- *Pairs*: U has one open group in addition to C, which reaches the required rank, or at least two.

The knapsack needs few of the g_k: with upper bounds of some it is still a bound, and if the
groups that it takes have their true g_k it is that of all true ones, since these groups are then a
solution of both.  So the gain of a group is computed when the knapsack takes it, and an unknown
gain is bounded by the gain with respect to fewer groups, and by the number of weights on which its
outputs can depend.

References
----------
.. [1] L. A. Wolsey, "An analysis of the greedy algorithm for the submodular set covering
   problem", Combinatorica 2 (1982) 385-393.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from algebra.matroids.capped import System
from algebra.matroids.exchange import Exchange
from algebra.matroids.groups import GroupLeaf, Groups, branch, least_rating
from algebra.time_limits import check_time
from algebra.work import has_passed

# Sums of costs below this are computed in 64 bits, larger ones in Python's integers.
_WORD = 1 << 61
# Largest number of entries of vectors whose exchange is computed.
_TABLE = 1 << 26
# Nodes whose closure is kept: first a leaf's bound is computed, then it is branched on.
_KEPT = 256


@dataclass
class _SpanningNode:
    """Quantities computed from a leaf.

    Attributes
    ----------
    chosen : frozenset of int
        Including the essential groups.
    found : int
        Their f.
    gains : dict of int to int
        Upper bounds of the gains of open groups; only positive ones.
    exact : set of int
        Groups whose gain is known exactly.
    """

    chosen: frozenset[int]
    found: int
    gains: dict[int, int]
    exact: set[int]


@dataclass(frozen=True, eq=False)
class SpanningProblem:
    """A problem of choosing groups.

    Attributes
    ----------
    groups : Groups
        Of columns of a matroid.
    costs : sequence of int
        Costs of the groups; none is negative.
    wanted : int
        The required rank.
    start : frozenset of int
        Groups that are chosen in any case.
    systems : sequence of (classes, caps)
        Largest number of groups of each class.
    needed : frozenset of int
        Groups known to be in every set of the required rank.

    Examples
    --------
    >>> from algebra.matroids.linear import LinearMatroid
    >>> matroid = LinearMatroid(np.array([[1, 0, 1, 2], [0, 1, 1, 0]]), 101)
    >>> groups = Groups.of_columns(matroid, [[0, 3], [1], [2]])
    >>> problem = SpanningProblem(groups, (1, 1, 3), 2)
    >>> found = cheapest_groups(problem)
    >>> found.chosen, found.cost, found.bound
    ((0, 1), 2, 2)
    """

    groups: Groups
    costs: Sequence[int]
    wanted: int
    start: frozenset[int] = frozenset()
    systems: Sequence[System] = ()
    needed: frozenset[int] = frozenset()
    _nodes: dict[tuple[frozenset[int], frozenset[int]], _SpanningNode | None] = field(
        default_factory=dict, repr=False
    )

    @cached_property
    def unaffordable(self) -> int:
        """A number above the cost of all groups together."""
        return sum(self.costs) + 1

    @property
    def whole(self) -> GroupLeaf:
        """The leaf of all sets."""
        return GroupLeaf(tuple(sorted(self.start)), ())

    def cost(self, chosen: Iterable[int]) -> int:
        """The cost of some groups."""
        return sum(self.costs[k] for k in chosen)

    def remaining_caps(self, chosen: Iterable[int]) -> list[list[int]]:
        """The remaining capacity of each class under the caps."""
        left = [list(caps) for _, caps in self.systems]
        for k in chosen:
            for (classes, _), caps in zip(self.systems, left, strict=True):
                caps[classes[k]] -= 1
        return left

    def keeps_caps(self, chosen: Iterable[int]) -> bool:
        """Whether no class has more than its cap."""
        return all(n >= 0 for caps in self.remaining_caps(chosen) for n in caps)

    def spans(self, chosen: Iterable[int]) -> bool:
        """Whether some groups have the required rank."""
        chosen = list(chosen)
        if not chosen:
            return self.wanted <= 0
        if self.groups.most(chosen[1:], chosen[:1])[0] < self.wanted:
            return False
        return self.groups.rank(chosen) >= self.wanted

    def able(self, chosen: Iterable[int], leaf: GroupLeaf) -> list[int] | None:
        """The open groups that the caps permit with the chosen ones.

        None if these violate caps, or if a needed group is banned.
        """
        remaining = self.remaining_caps(chosen)
        if any(n < 0 for caps in remaining for n in caps) or self.needed & {*leaf.banned}:
            return None
        return [
            k
            for k in self.groups.open(leaf)
            if k not in self.needed
            and all(caps[of[k]] > 0 for (of, _), caps in zip(self.systems, remaining, strict=True))
        ]

    def node(self, leaf: GroupLeaf) -> _SpanningNode | None:
        """The node of a leaf; None if the leaf contains no set."""
        key = frozenset(leaf.chosen), frozenset(leaf.banned)
        if key not in self._nodes:
            if len(self._nodes) >= _KEPT:
                self._nodes.pop(next(iter(self._nodes)))
            self._nodes[key] = self.new_node(leaf, self.groups.is_small)
        return self._nodes[key]

    def new_node(self, leaf: GroupLeaf, with_essential: bool) -> _SpanningNode | None:
        """The node of a leaf, with its essential groups or without."""
        check_time()
        chosen = self.needed.union(leaf.chosen)
        others = self.able(chosen, leaf)
        if others is None:
            return None
        if with_essential:
            essential = self._essential(chosen, others)
            if essential is None or not self.keeps_caps(chosen | essential):
                return None
            chosen |= essential
            others = [k for k in others if k not in essential]
        found = self.groups.span(chosen).rank
        most = dict(zip(others, (self.groups.most(chosen, others) - found).tolist(), strict=True))
        before = self._parent(leaf)
        exact: set[int] = set()
        if before is not None and before.chosen <= chosen:
            for k, gain in before.gains.items():
                most[k] = min(most.get(k, 0), gain)
            if before.chosen == chosen:
                exact = before.exact.intersection(others)
            most = {k: gain for k, gain in most.items() if k in before.gains}
        return _SpanningNode(
            chosen, found, {k: most[k] for k in others if most.get(k, 0) > 0}, exact
        )

    def _parent(self, leaf: GroupLeaf) -> _SpanningNode | None:
        """The node of the leaf from which this one was made, if it is kept."""
        for chosen, banned in (
            (leaf.chosen, leaf.banned[:-1]),
            (leaf.chosen[:-1], leaf.banned),
        ):
            if len(chosen) + len(banned) < len(leaf.chosen) + len(leaf.banned):
                found = self._nodes.get((frozenset(chosen), frozenset(banned)))
                if found is not None:
                    return found
        return None

    def _essential(self, chosen: frozenset[int], others: list[int]) -> frozenset[int] | None:
        """Groups without which the others do not reach the rank; None if all do not."""
        need = self.wanted - self.groups.span(chosen).rank
        if need <= 0:
            return frozenset()
        parts = self.groups.left(chosen, others)
        exchange = Exchange.of(parts, self.groups.p)
        spare = len(exchange.basis) - need
        if spare < 0:
            return None
        return frozenset(k for number, k in enumerate(others) if exchange.is_needed(number, spare))

    def without_unneeded(self, chosen: frozenset[int], order: Iterable[int]) -> frozenset[int]:
        """Spanning groups, without those of `order` that can be left out one after the other."""
        if sum(self.groups.sizes[k] for k in chosen) * self.groups.dimension > _TABLE:
            for k in order:
                check_time()
                if self.spans(chosen - {k}):
                    chosen -= {k}
            return chosen
        place = {k: number for number, k in enumerate(sorted(chosen))}
        exchange = Exchange.of([self.groups.part(k) for k in place], self.groups.p)
        for k in order:
            check_time()
            if not exchange.is_needed(place[k], len(exchange.basis) - self.wanted):
                exchange = exchange.removed(place[k])
                chosen -= {k}
        return chosen

    def bound(
        self, leaf: GroupLeaf, enough: int | None = None, ends: float = math.inf
    ) -> int | None:
        """A lower bound of the cost of sets in the leaf; None if it contains none.

        The computation stops when a bound of `enough` is reached.  If there are very many vectors,
        it also stops at a moment of the monotonic clock, with the bound found by then.
        """
        ends = math.inf if self.groups.is_small else ends
        if enough is not None:
            quick = self.quick_bound(leaf)
            if quick is None or quick >= enough:
                return quick
        node = self.node(leaf)
        if node is None:
            return None
        while True:
            more = self.knapsack(node.gains, self.wanted - node.found)
            if more is None:
                return None
            cost = self.cost(node.chosen) + more[0]
            stale = [k for k in more[1] if k not in node.exact]
            if not stale or (enough is not None and cost >= enough) or has_passed(ends):
                return cost
            for k, gain in self.groups.gains(node.chosen, stale)[1].items():
                self.record_gain(node, k, gain)

    def known_bound(self) -> int | None:
        """A lower bound of all costs, from the known gains; None if no groups span."""
        quick = self.quick_bound(self.whole)
        node = self._nodes.get((self.start, frozenset()))
        if quick is None or node is None:
            return quick
        more = self.knapsack(node.gains, self.wanted - node.found)
        return None if more is None else max(quick, self.cost(node.chosen) + more[0])

    def record_gain(self, node: _SpanningNode, k: int, gain: int) -> None:
        """Record the gain of a group."""
        node.exact.add(k)
        node.gains[k] = gain
        if not gain:
            del node.gains[k]

    def quick_bound(self, leaf: GroupLeaf) -> int | None:
        """A bound from upper bounds of f, without a rank; None if the leaf contains no set."""
        chosen = sorted(self.needed.union(leaf.chosen))
        able = self.able(chosen, leaf)
        if able is None:
            return None
        cost, reached = self.cost(chosen), 0
        if chosen:
            reached = int(self.groups.most(chosen[1:], chosen[:1])[0])
        if reached >= self.wanted:
            return cost
        more = self.knapsack({k: self._alone[k] for k in able}, self.wanted - reached)
        if more is None:
            return None
        # Either one group is added and suffices, or at least two are added.
        is_enough = self.groups.most(chosen, able) >= self.wanted
        added = [self.costs[k] for k, one in zip(able, is_enough, strict=True) if one]
        if len(able) > 1:
            added.append(sum(sorted(self.costs[k] for k in able)[:2]))
        return cost + max(more[0], min(added)) if added else None

    @cached_property
    def _alone(self) -> list[int]:
        """Upper bounds of f of each group."""
        found: list[int] = self.groups.most([], range(len(self.groups))).tolist()
        return found

    def knapsack(self, gains: dict[int, int], need: int) -> tuple[int, list[int]] | None:
        """The least cost of groups whose gains sum up to the required rank, and such groups."""
        if need <= 0:
            return 0, []
        word = np.int64 if self.unaffordable < _WORD else object
        table = np.full(need + 1, self.unaffordable, word)
        table[0] = 0
        used = []
        for k, gain in gains.items():
            before = np.concatenate(
                [np.full(min(gain, need + 1), table[0]), table[: -gain or None]]
            )
            other = before[: need + 1] + self.costs[k]
            better = other < table
            used.append((k, gain, better))
            table = np.where(better, other, table)
        if table[need] >= self.unaffordable:
            return None
        at, chosen = need, []
        for k, gain, better in reversed(used):
            if better[at]:
                chosen.append(k)
                at = max(0, at - gain)
        return int(table[need]), chosen


@dataclass(frozen=True)
class CheapestGroups:
    """Spanning groups and a bound of their cost.

    Attributes
    ----------
    chosen : tuple of int or None
        None if none was found.
    cost : int or None
    bound : int or None
        A lower bound of the cost of spanning groups; None if there are none.
    leaves : tuple of GroupLeaf
        They prove the bound: `spanning_bound`.
    interrupt : KeyboardInterrupt, OutOfTime or None
        The exception that ended the search.
    """

    chosen: tuple[int, ...] | None
    cost: int | None
    bound: int | None
    leaves: tuple[GroupLeaf, ...] = field(repr=False)
    interrupt: BaseException | None = None


class _SpanningSearch:
    """The search of one problem: see `algebra.matroids.groups.Space`."""

    def __init__(self, problem: SpanningProblem, known: frozenset[int] | None, ends: float) -> None:
        self.problem, self.start, self.ends = problem, problem.start, ends
        self.chosen: frozenset[int] | None = None
        self.best: int = problem.unaffordable
        if known is not None and problem.keeps_caps(known) and problem.spans(known):
            self._improve(known)

    def keep(self, chosen: frozenset[int]) -> None:
        """Store groups that span under the caps, without unneeded groups, if they are cheaper."""
        problem = self.problem
        if not problem.keeps_caps(chosen) or not problem.spans(chosen):
            return
        self._improve(chosen)
        if not has_passed(self.ends):
            order = sorted(chosen - self.start, key=lambda k: (-problem.costs[k], k))
            self._improve(problem.without_unneeded(chosen, order))

    def _improve(self, chosen: frozenset[int]) -> None:
        if (cost := self.problem.cost(chosen)) < self.best:
            self.best, self.chosen = cost, chosen

    def grow(self, node: _SpanningNode | None, by_cost: bool) -> None:
        """Keep the result of a greedy choice from a node.

        The gain of a group never increases.  So if a group is still the best one after its gain is
        computed again, it is the best of all.
        """
        problem, groups = self.problem, self.problem.groups
        if node is None:
            return
        chosen, found, gains = node.chosen, node.found, dict(node.gains)
        while found < problem.wanted:
            remaining = problem.remaining_caps(chosen)
            able = [
                k
                for k in gains
                if all(
                    caps[of[k]] > 0
                    for (of, _), caps in zip(problem.systems, remaining, strict=True)
                )
            ]
            recomputed: set[int] = set()
            while able:
                k = max(able, key=lambda k: (self._worth(k, gains[k], by_cost), -k))
                if k in recomputed:
                    break
                recomputed.add(k)
                if chosen != node.chosen or k not in node.exact:
                    gains[k] = groups.gains(chosen, [k])[1][k]
                if chosen == node.chosen:
                    problem.record_gain(node, k, gains[k])
                if not gains[k]:
                    able.remove(k)
            else:
                return
            chosen |= {k}
            found += gains.pop(k)
            most = groups.most(chosen, list(gains)) - found
            gains = {
                k: min(gain, int(left)) for (k, gain), left in zip(gains.items(), most, strict=True)
            }
        self.keep(chosen)

    def _worth(self, k: int, gain: int, by_cost: bool) -> tuple[int, int]:
        cost = self.problem.costs[k]
        return (gain * self.problem.unaffordable // max(1, cost) if by_cost else gain, -cost)

    def bound(self, leaf: GroupLeaf) -> int | None:
        """See `SpanningProblem.bound`."""
        return self.problem.bound(leaf, self.best, self.ends)

    def is_late(self, bound: int) -> bool:
        """Whether the time limit has passed."""
        return has_passed(self.ends)

    def settle(self, leaf: GroupLeaf) -> GroupLeaf | None:
        """The leaf, if its groups span together with the essential ones."""
        node = self.problem.node(leaf)
        assert node is not None
        more = self.problem.knapsack(node.gains, self.problem.wanted - node.found)
        assert more is not None
        # If the set of the bound's solution spans, it is the best of the leaf.
        self.keep(node.chosen.union(more[1]))
        return leaf if node.found >= self.problem.wanted else None

    def next_group(self, leaf: GroupLeaf) -> int:
        """The group of the largest gain in the solution of the bound."""
        node = self.problem.node(leaf)
        assert node is not None
        more = self.problem.knapsack(node.gains, self.problem.wanted - node.found)
        assert more is not None
        return max(more[1], key=lambda k: (node.gains[k], -self.problem.costs[k], -k))


def greedy_groups(problem: SpanningProblem) -> frozenset[int] | None:
    """Groups that span: at each step the one of the largest gain, or of the largest per cost.

    Returns
    -------
    frozenset of int or None
        The cheaper choice, without groups that are not needed; None if the caps permit neither,
        nor all groups.
    """
    search = _SpanningSearch(problem, None, math.inf)
    ways = [True, False] if len(set(problem.costs)) > 1 else [True]
    # A choice needs the vectors of few groups, the essential groups those of all.
    is_proved = False
    if problem.groups.reach is not None:
        node = problem.new_node(problem.whole, False)
        for by_cost in ways:
            search.grow(node, by_cost)
        bound = problem.quick_bound(problem.whole)
        is_proved = bound is not None and bound >= search.best
    if problem.groups.reach is None or (problem.groups.is_small and not is_proved):
        for by_cost in ways:
            search.grow(problem.node(problem.whole), by_cost)
    if search.chosen is None:
        search.keep(frozenset(range(len(problem.groups))))
    return search.chosen


def cheapest_groups(
    problem: SpanningProblem, known: frozenset[int] | None = None, ends: float = math.inf
) -> CheapestGroups:
    """Groups that span at the least cost.

    Parameters
    ----------
    problem : SpanningProblem
    known : frozenset of int, optional
        Groups that span; `greedy_groups` by default.
    ends : float, optional
        Moment of the monotonic clock at which the search ends.

    Returns
    -------
    CheapestGroups
    """
    known = greedy_groups(problem) if known is None else known
    search = _SpanningSearch(problem, known, ends)
    leaves, least, interrupt = branch(search)
    cost = None if search.chosen is None else search.best
    bounds = [b for b in (least, cost) if b is not None]
    chosen = None if search.chosen is None else tuple(sorted(search.chosen))
    return CheapestGroups(chosen, cost, min(bounds, default=None), tuple(leaves), interrupt)


def ranked(groups: Groups, chosen: Iterable[int]) -> list[tuple[int, int]]:
    """Some groups ordered by gain, at each step the one of the largest gain.

    Returns
    -------
    list of (int, int)
        The group, and its gain with respect to those before it.
    """
    span: frozenset[int] = frozenset()
    left, found = dict.fromkeys(sorted(chosen), groups.dimension), []
    while left:
        # Gains never increase: a group that is still the best after a new computation is the best.
        most = groups.most(span, list(left)) - groups.span(span).rank
        left = {k: min(old, int(new)) for (k, old), new in zip(left.items(), most, strict=True)}
        recomputed: set[int] = set()
        while (best := max(left, key=lambda k: (left[k], -k))) not in recomputed:
            recomputed.add(best)
            left[best] = groups.gains(span, [best])[1][best]
        found.append((best, left.pop(best)))
        span |= {best}
    return found


def spanning_bound(
    problem: SpanningProblem, leaves: Sequence[GroupLeaf], enough: int | None = None
) -> int | None:
    """A lower bound of the cost of groups that span, from the leaves of a search alone.

    The computation stops at a bound of `enough`.

    Returns
    -------
    int or None
        None if no groups span.

    Raises
    ------
    DualError
        If the leaves do not cover all sets of groups.
    """
    found: int | None = least_rating(
        problem.groups, problem.start, leaves, lambda leaf: problem.bound(leaf, enough)
    )
    return found
