r"""Least-cost bases under several kinds of caps at once: branch and bound, exact.

With caps on the rows *and* on the columns a design is a common basis of three matroids, a
problem that is NP-hard in general.  It is solved by branch and bound over *Lagrangian bounds*
[1]_: for any multipliers λ ≥ 0 of the capped lines, each basis I that keeps the caps costs

.. math:: c(I) ≥ c(I) + Σ_g λ_g (|I ∩ g| - cap_g) ≥ \min_B (c + λ)(B) - Σ_g λ_g cap_g,

where the minimum over all bases B of the linear matroid is found by a greedy run.  In terms
of matroid intersection this is a splitting of the costs into one part for each matroid.  The
bound holds for any multipliers, so their origin does not matter: by default they come from
subgradient steps in integers, or from a linear program that is solved in
floating point (`numeric.questions.design.cap_relaxation`).  All arithmetic that proves something is
in integers.

A branch includes an element or excludes it.  The leaves of the tree, each with its
multipliers, are the certificate: `Tree.bound` runs the greedy algorithm once per leaf.
If no basis keeps the caps, multipliers whose bound exceeds the cost of any basis prove it; at
the root alone they are a Hall-type condition (`counting_reason`).

References
----------
.. [1] M. L. Fisher, "The Lagrangian relaxation method for solving integer programming
   problems", Management Science 27 (1981).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from algebra.errors import DualError
from algebra.matroids.capped import CappedProblem, Optimum
from algebra.matroids.lagrangian import SCALE, Hint, LagrangianLeaf, LagrangianSearch, Lines, Relax
from algebra.work import end_of_part, has_passed


@dataclass(frozen=True)
class Tree:
    """The leaves of a branch and bound, each with its multipliers.

    Attributes
    ----------
    leaves : tuple of LagrangianLeaf
        Together they cover all sets.
    """

    leaves: tuple[LagrangianLeaf, ...] = field(repr=False)

    def bound(self, problem: CappedProblem) -> int | None:
        """A lower bound of the cost of bases under the caps; None if there is no such basis.

        Every set is in some leaf, and each leaf's Lagrangian bound holds for any multipliers.
        """
        search = LagrangianSearch(problem)
        E = len(search.costs)
        shape = [len(caps) for _, caps in search.systems]
        for leaf in self.leaves:
            if not all(0 <= e < E for e in (*leaf.inside, *leaf.outside)):
                raise DualError("a leaf names an element that does not exist")
            if [len(lines) for lines in leaf.multipliers] != shape:
                raise DualError("a leaf has not one multiplier for each line under a cap")
        if not conditions_cover([(frozenset(a.inside), frozenset(a.outside)) for a in self.leaves]):
            raise DualError("the leaves of a tree do not cover all sets")
        least: int | None = None
        for leaf in self.leaves:
            state = np.zeros(E, np.int64)
            state[list(leaf.inside)] = 1
            state[list(leaf.outside)] = -1
            if not search.propagate(state):
                continue
            inside = tuple(np.flatnonzero(state == 1).tolist())
            outside = tuple(np.flatnonzero(state == -1).tolist())
            found = search.bound(LagrangianLeaf(inside, outside, leaf.multipliers))
            if found is None or found[0] >= search.ceiling:
                continue
            value, basis = found
            if not (state == 0).any() and not search.is_feasible(basis):
                continue
            least = value if least is None else min(least, value)
        return least


def capped_basis(
    problem: CappedProblem,
    *,
    relax: Relax | None = None,
    nodes: int = 100_000,
    seconds: float | None = None,
) -> Optimum:
    """A least-cost set of `size` independent columns that keeps several kinds of caps.

    Parameters
    ----------
    problem : CappedProblem
    relax : callable, optional
        The source of multipliers; see `algebra.matroids.lagrangian.Relax`.
    nodes : int, optional
        Largest number of branches.
    seconds : float, optional
        Time limit.

    Returns
    -------
    Optimum
        Optimal if the search finished; otherwise with a valid bound.

    Examples
    --------
    >>> columns = np.array([[1, 0, 1, 1], [0, 1, 1, 2]])
    >>> rows, lines = ([0, 0, 1, 1], [1, 1]), ([0, 1, 0, 1], [1, 1])
    >>> found = capped_basis(CappedProblem(columns, 101, [rows, lines], [1, 2, 5, 1], 2))
    >>> found.elements, found.cost, found.is_optimal
    ((0, 3), 2, True)
    """
    search = LagrangianSearch(problem, relax)
    ends = math.inf if seconds is None else end_of_part(seconds)
    start = np.zeros(len(search.costs), np.int64)
    heap: list[tuple[int, int, int, np.ndarray, Lines]] = []
    none = tuple((0,) * len(cap) for _, cap in search.systems)
    heapq.heappush(heap, (problem.floor, 0, 0, start, none))
    leaves: list[LagrangianLeaf] = []
    count = 0

    def leaf_of(state: np.ndarray, multipliers: Lines) -> LagrangianLeaf:
        inside = tuple(np.flatnonzero(state == 1).tolist())
        return LagrangianLeaf(inside, tuple(np.flatnonzero(state == -1).tolist()), multipliers)

    while heap:
        bound, depth, _, state, inherited = heapq.heappop(heap)
        given = leaf_of(state, inherited)
        if search.cost is not None and bound >= search.cost:
            leaves.append(given)
            continue
        late = has_passed(ends)
        if count >= nodes or late:
            leaves.append(given)
            leaves += [leaf_of(s, lines) for _, _, _, s, lines in heap]
            break
        count += 1
        # Consequences of the caps are not part of the leaf: the check derives them again.
        inner = state.copy()
        if not search.propagate(inner):
            leaves.append(given)
            continue
        # Without open elements there is nothing to relax: the bound is the set's own cost.
        decided = not (inner == 0).any()
        hint = Hint(inherited, ()) if decided else search.relax(inner, search.cost)
        inner_leaf = leaf_of(inner, hint.multipliers)
        found = search.bound(inner_leaf)
        if found is None or found[0] >= search.ceiling:
            leaves.append(leaf_of(state, hint.multipliers))
            continue
        value, basis = found
        multipliers = hint.multipliers
        if value < bound:
            value, multipliers = bound, inherited
        search.keep(basis)
        if not decided:
            search.complete(inner, hint.values)
        if search.cost is not None and value >= search.cost:
            leaves.append(leaf_of(state, multipliers))
            continue
        branch = _branching_element(search, inner, hint.values, basis)
        if branch is None:
            # Everything is decided, and the only remaining basis violates the caps.
            leaves.append(leaf_of(state, multipliers))
            continue
        for choice in (1, -1):
            child = state.copy()
            child[branch] = choice
            # A different number for each branch, because arrays cannot break a tie.
            number = 2 * count + (choice > 0)
            heapq.heappush(heap, (value, depth - 1, number, child, multipliers))
    tree = Tree(tuple(leaves))
    known = [b for b in (tree.bound(problem), search.cost) if b is not None]
    return Optimum(search.best, search.cost, min(known, default=None), tree, count)


def _branching_element(
    search: LagrangianSearch, state: np.ndarray, values: Sequence[int], basis: Sequence[int]
) -> int | None:
    """The open element with the least decided value; else one of an overfull line."""
    undecided = [e for e in range(len(values)) if state[e] == 0 and 0 < values[e] < SCALE]
    if undecided:
        return min(undecided, key=lambda e: (abs(2 * values[e] - SCALE), -values[e], e))
    full = search.overfull(basis)
    for e in basis:
        lines = {(s, group[e]) for s, (group, _) in enumerate(search.systems)}
        if state[e] == 0 and lines & full:
            return int(e)
    left = np.flatnonzero(state == 0)
    return int(left[0]) if len(left) else None


def conditions_cover(parts: list[tuple[frozenset[int], frozenset[int]]]) -> bool:
    """Whether every set satisfies one of the conditions (included, excluded) of a tree's leaves.

    The element of the root's branch is in the conditions of all leaves; without
    such an element it is not a tree, and the answer is False.
    """
    stack = [parts]
    while stack:
        now = stack.pop()
        if not now:
            return False
        if any(not inside and not outside for inside, outside in now):
            continue
        common = frozenset.intersection(*(inside | outside for inside, outside in now))
        if not common:
            return False
        e = min(common)
        stack.append([(i - {e}, o) for i, o in now if e not in o])
        stack.append([(i, o - {e}) for i, o in now if e not in i])
    return True


def counting_reason(
    problem: CappedProblem, multipliers: Lines
) -> tuple[list[tuple[int, int, int]], int, int] | None:
    """Multipliers as a Hall-type condition, if they are one.

    Returns
    -------
    lines : list of (system, line, weight)
        Lines of the condition, with integer weights.
    needed : int
        Lower bound of the weight of every basis in them (an element counts once per line).
    left : int
        The largest weight under their caps; less than `needed`.  None if it is not less.
    """
    systems = problem.systems
    biggest = max((v for lines in multipliers for v in lines), default=0)
    for parts in range(1, 7) if biggest else ():
        # The same multipliers, rounded to a few integer weights.
        rounded = tuple(
            tuple((2 * parts * v + biggest) // (2 * biggest) for v in lines)
            for lines in multipliers
        )
        weight = [0] * len(problem.costs)
        left = 0
        for (group, cap), lines in zip(systems, rounded, strict=True):
            weight = [w + lines[g] for w, g in zip(weight, group, strict=True)]
            left += sum(v * k for v, k in zip(lines, cap, strict=True))
        order = sorted(range(len(weight)), key=weight.__getitem__)
        needed = sum(weight[e] for e in problem.matroid.greedy(order, problem.size))
        if needed > left:
            named = [(s, g, v) for s, lines in enumerate(rounded) for g, v in enumerate(lines) if v]
            return named, needed, left
    return None
