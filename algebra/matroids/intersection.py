r"""Least-cost bases of a linear matroid under caps: weighted matroid intersection.

The weights of a network are the elements of a linear matroid M1: a set is independent if
its columns of the generic Jacobian are.  Caps on disjoint groups of weights (for instance rows)
make a partition matroid M2.  A least-cost set of given size that is independent in both is
found by successive shortest augmenting paths in the exchange graph [1]_, and proved optimal by
a *weight splitting* [2]_: costs c = c1 + c2 such that the set is cheapest for c1 in M1 and for
c2 in M2; every common independent set J of that size then costs
c1(J) + c2(J) ≥ c1(I) + c2(I).  Where no set is large enough, a set S of elements with
r1(S) + r2(E - S) below the required size proves it (matroid intersection theorem, Edmonds).

Without caps the algorithm is the greedy one.

References
----------
.. [1] A. Schrijver, Combinatorial Optimization, Springer 2003, Section 41.3.
.. [2] A. Frank, "A weighted matroid intersection algorithm", J. Algorithms 2 (1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from algebra.errors import DualError
from algebra.linalg.echelon import modular_echelon
from algebra.linalg.residues import times
from algebra.matroids.capped import CappedProblem

# Sums of costs up to this are computed in 64 bits, larger ones in Python's integers.
_WORD = np.iinfo(np.int64).max // 4


@dataclass(frozen=True)
class Splitting:
    """Costs c = c1 + c2: of the columns' matroid M1 and of the caps' matroid M2.

    Attributes
    ----------
    first : tuple of int
        c1 of every element, in units of 1/`scale`.
    scale : int
        At least 1.
    """

    first: tuple[int, ...] = field(repr=False)
    scale: int = 1

    def bound(self, problem: CappedProblem) -> int | None:
        """A lower bound of the cost of bases under the caps; None if there is no such basis.

        A basis J that keeps the first kind of caps costs c1(J) + c2(J), and each of the two at
        least the minimum over its own matroid.  Further kinds of caps can only increase it.  All
        sums are of Python's integers.
        """
        costs = [int(c) for c in problem.costs]
        if self.scale < 1:
            raise DualError(f"a splitting's scale ({self.scale}) must be at least 1")
        if len(self.first) != len(costs):
            raise DualError(f"a splitting of {len(self.first)} costs for {len(costs)} weights")
        best = problem.matroid.greedy(
            sorted(range(len(costs)), key=self.first.__getitem__), problem.size
        )
        if len(best) < problem.size:
            return None
        total = sum(self.first[e] for e in best)
        second = [c * self.scale - f for c, f in zip(costs, self.first, strict=True)]
        group, caps = problem.systems[0]
        left, taken = list(caps), 0
        for e in sorted(range(len(costs)), key=second.__getitem__):
            if taken < problem.size and left[group[e]] > 0:
                left[group[e]] -= 1
                total += second[e]
                taken += 1
        return -(-total // self.scale) if taken == problem.size else None


@dataclass(frozen=True)
class CommonBasis:
    """A least-cost set that is independent in both matroids.

    Attributes
    ----------
    elements : tuple of int
    cost : int
    splitting : Splitting
        It proves the cost.
    """

    elements: tuple[int, ...]
    cost: int
    splitting: Splitting = field(repr=False)


@dataclass(frozen=True)
class Shortage:
    """A proof that no common independent set has the required size.

    Attributes
    ----------
    largest : int
        Size of the largest one: ``rank + capped``.
    elements : tuple of int
        A set S with ``r1(S) = rank``.
    rank, capped : int
        r1(S), and the largest size under the caps outside S.
    """

    largest: int
    elements: tuple[int, ...] = field(repr=False)
    rank: int
    capped: int

    def bound(self, problem: CappedProblem) -> int | None:
        """None if r1(S) and the caps outside S are too small together.

        The rank and the caps are those of the problem, not the ones kept here.
        """
        inside = set(self.elements)
        if len(inside) < len(self.elements) or not all(0 <= e < len(problem.costs) for e in inside):
            raise DualError("a shortage names elements that do not exist, or one twice")
        group, caps = problem.systems[0]
        outside = [0] * len(caps)
        for e in range(len(problem.costs)):
            if e not in inside:
                outside[group[e]] += 1
        capped = sum(min(n, max(0, cap)) for n, cap in zip(outside, caps, strict=True))
        if problem.matroid.rank(sorted(inside)) + capped < problem.size:
            return None
        return problem.floor


class Tableau:
    """Columns in coordinates of an independent set, kept by pivoting modulo p."""

    def __init__(self, columns: np.ndarray, p: int, start: Sequence[int] = ()) -> None:
        self.table = np.array(columns, np.int64) % p
        self.p = p
        if start:
            order = np.array([*start, *sorted(set(range(self.table.shape[1])) - set(start))])
            reduced, pivots = modular_echelon(self.table[:, order], p)
            if list(pivots[: len(start)]) != list(range(len(start))):
                raise ArithmeticError("a tableau starts with a dependent set: a bug")
            # Further pivots are other coordinates of the rows that are free.
            self.table = np.zeros_like(self.table[: len(reduced)])
            self.table[:, order] = reduced
        self.row_of: dict[int, int] = {int(x): k for k, x in enumerate(start)}
        self.free = set(range(len(start), len(self.table)))

    def exchange(self, leave: Sequence[int], enter: Sequence[int]) -> None:
        """Remove elements and insert others."""
        for y in leave:
            self.free.add(self.row_of.pop(y))
        for x in enter:
            row = next((k for k in sorted(self.free) if self.table[k, x]), None)
            if row is None:
                raise ArithmeticError("an exchange left the matroid: a bug")
            self._pivot(row, x)
            self.free.discard(row)
            self.row_of[x] = row

    def _pivot(self, row: int, x: int) -> None:
        T, p = self.table, self.p
        T[row] = times(T[row], np.array(pow(int(T[row, x]), -1, p)), p)
        others = np.flatnonzero(T[:, x])
        others = others[others != row]
        T[others] = (T[others] - times(T[others, x][:, None], T[row], p)) % p

    def in_span(self) -> np.ndarray:
        """Which elements depend on the set."""
        rows = sorted(self.free)
        return np.logical_not(self.table[rows].any(axis=0))


def common_basis(problem: CappedProblem) -> CommonBasis | Shortage:
    """A least-cost set of `size` independent columns that keeps one kind of caps.

    Parameters
    ----------
    problem : CappedProblem
        With one system of caps.

    Returns
    -------
    CommonBasis or Shortage

    Examples
    --------
    >>> columns = np.array([[1, 0, 1], [0, 1, 1]])
    >>> common_basis(CappedProblem(columns, 101, [([0, 0, 1], [1, 1])], [1, 2, 5], 2)).elements
    (0, 2)
    """
    columns, p, ((groups, caps),), costs, size = problem
    E = columns.shape[1]
    group = np.array(groups, np.int64)
    cap = np.array(caps, np.int64)
    # One more for each step makes the paths with fewest arcs shortest.
    scale = 4 * E + 4
    # A path has at most 2E + 2 arcs: every distance is less than this.
    unreachable = (max((abs(int(x)) for x in costs), default=0) * scale + 1) * (2 * E + 4)
    c = np.array([int(x) * scale for x in costs], np.int64 if unreachable < _WORD else object)
    if (np.bincount(group, minlength=len(cap)) <= cap).all():
        # No cap can be violated: the greedy run needs no splitting of costs.
        order = np.argsort(c, kind="stable").tolist()
        basis = problem.matroid.greedy(order, size)
        if len(basis) < size:
            return Shortage(len(basis), tuple(range(E)), len(basis), 0)
        first = c
        elements = tuple(sorted(basis))
    else:
        start = _extreme_start(problem, group, cap)
        tableau = Tableau(columns, p, start)
        chosen = np.zeros(E, bool)
        chosen[start] = True
        while chosen.sum() < size:
            path = _shortest_path(tableau, chosen, group, cap, c, unreachable)
            if isinstance(path, np.ndarray):
                inside = np.flatnonzero(path)
                capped = int(np.minimum(np.bincount(group[~path], minlength=len(cap)), cap).sum())
                largest = int(chosen.sum())
                return Shortage(largest, tuple(inside.tolist()), largest - capped, capped)
            enter, leave = path[0::2], path[1::2]
            tableau.exchange(leave, enter)
            chosen[list(leave)] = False
            chosen[list(enter)] = True
        first = _splitting(tableau, chosen, group, cap, c, unreachable)
        elements = tuple(np.flatnonzero(chosen).tolist())
    cost = sum(int(costs[e]) for e in elements)
    return CommonBasis(elements, cost, Splitting(tuple(int(x) for x in first), scale))


def _extreme_start(problem: CappedProblem, group: np.ndarray, cap: np.ndarray) -> list[int]:
    """A common independent set that no other of its size undercuts; the search begins with it.

    The first k elements of a greedy run are a cheapest independent set of k elements, and so are k
    independent ones that complete those of all lower costs by elements of the next cost.  In the
    order of one cost the lines come in turns, so that many keep the caps.
    """
    costs = [int(x) for x in problem.costs]
    turn, seen = np.zeros(len(costs), np.int64), np.zeros(len(cap), np.int64)
    for e in range(len(costs)):
        turn[e] = seen[group[e]]
        seen[group[e]] += 1
    order = sorted(range(len(costs)), key=lambda e: (costs[e], turn[e], e))
    left, start = cap.copy(), list[int]()
    for e in problem.matroid.greedy(order, problem.size):
        if not left[group[e]]:
            dearest = costs[e]
            break
        left[group[e]] -= 1
        start.append(e)
    else:
        return start
    start = [e for e in start if costs[e] < dearest]
    waiting = [e for e in order if costs[e] == dearest]
    while waiting and len(start) < problem.size:
        # As many of each line as it has room for; those in the span of the set never enter.
        room = cap - np.bincount(group[start], minlength=len(cap))
        trial, later = list[int](), list[int]()
        for e in waiting:
            (trial if room[group[e]] > 0 else later).append(e)
            room[group[e]] -= 1
        if not trial:
            break
        start = problem.matroid.greedy([*start, *trial], problem.size)
        waiting = later
    return start


def _arcs(
    tableau: Tableau, chosen: np.ndarray, group: np.ndarray, cap: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Elements in and out of the set, arcs y → x of M1, what may join in M1 and in M2."""
    inside, outside = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    joins = ~tableau.in_span()[outside]
    rows = [tableau.row_of[int(y)] for y in inside]
    swaps = (tableau.table[rows][:, outside] != 0) | joins[None, :]
    used = np.bincount(group[inside], minlength=len(cap))
    fits = used[group[outside]] < cap[group[outside]]
    return inside, outside, swaps, joins, fits


def _relax_inside(
    distance_out: np.ndarray, outside: np.ndarray, inside: np.ndarray, fits: np.ndarray,
    group: np.ndarray, groups: int, unreachable: int,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Least distance over arcs x → y of M2, and the x it comes from (a place in `outside`)."""
    best = np.full(groups, unreachable, distance_out.dtype)
    source = np.full(groups, -1)
    order = np.argsort(distance_out, kind="stable")[::-1]
    best[group[outside[order]]] = distance_out[order]
    source[group[outside[order]]] = order
    reach, origin = best[group[inside]], source[group[inside]]
    if fits.any():
        k = int(np.flatnonzero(fits)[np.argmin(distance_out[fits])])
        better = distance_out[k] < reach
        reach, origin = np.where(better, distance_out[k], reach), np.where(better, k, origin)
    return reach, origin


def _shortest_path(
    tableau: Tableau, chosen: np.ndarray, group: np.ndarray, cap: np.ndarray, c: np.ndarray,
    unreachable: int,
) -> list[int] | np.ndarray:  # fmt: skip
    """Elements x0, y1, x1, … of a shortest augmenting path, or the set S if there is none."""
    inside, outside, swaps, joins, fits = _arcs(tableau, chosen, group, cap)
    distance_out = np.where(joins, c[outside] + 1, unreachable)
    distance_in = np.full(len(inside), unreachable, c.dtype)
    from_in, from_out = np.full(len(outside), -1), np.full(len(inside), -1)
    while True:
        reach, origin = _relax_inside(
            distance_out, outside, inside, fits, group, len(cap), unreachable
        )
        step = np.where(reach < unreachable, reach - c[inside] + 1, unreachable)
        better_in = step < distance_in
        distance_in[better_in], from_out[better_in] = step[better_in], origin[better_in]
        if not better_in.any():
            break
        through = np.where(swaps, distance_in[:, None], unreachable)
        y = through.argmin(axis=0)
        least = through[y, np.arange(len(outside))]
        step = np.where(least < unreachable, least + c[outside] + 1, unreachable)
        better_out = step < distance_out
        distance_out[better_out], from_in[better_out] = step[better_out], y[better_out]
        if not better_out.any():
            break
    ends = np.flatnonzero(fits & (distance_out < unreachable))
    if not len(ends):
        # Edmonds: elements not reached by a path are spanned by their chosen part.
        S = np.ones(len(c), bool)
        S[outside[distance_out < unreachable]] = False
        S[inside[distance_in < unreachable]] = False
        return S
    at = int(ends[np.argmin(distance_out[ends])])
    path = [int(outside[at])]
    while from_in[at] >= 0:
        y = int(from_in[at])
        path.append(int(inside[y]))
        at = int(from_out[y])
        path.append(int(outside[at]))
    return path[::-1]


def _splitting(
    tableau: Tableau, chosen: np.ndarray, group: np.ndarray, cap: np.ndarray, c: np.ndarray,
    unreachable: int,
) -> np.ndarray:  # fmt: skip
    """c1, with c2 = c - c1, from shortest distances in the exchange graph (no bad cycle)."""
    inside, outside, swaps, _, fits = _arcs(tableau, chosen, group, cap)
    d_out, d_in = np.zeros(len(outside), c.dtype), np.zeros(len(inside), c.dtype)
    for _ in range(len(c) + 2):
        reach, _ = _relax_inside(d_out, outside, inside, fits, group, len(cap), unreachable)
        new_in = np.minimum(d_in, np.where(reach < unreachable, reach - c[inside], d_in))
        new_out = d_out
        if len(inside) and len(outside):
            least = np.where(swaps, new_in[:, None], unreachable).min(axis=0)
            new_out = np.minimum(d_out, np.where(least < unreachable, least + c[outside], d_out))
        if (new_in == d_in).all() and (new_out == d_out).all():
            break
        d_in, d_out = new_in, new_out
    else:
        raise ArithmeticError("a cheaper exchange is left: a bug")
    first = np.zeros(len(c), c.dtype)
    first[outside], first[inside] = c[outside] - d_out, -d_in
    return first


def is_optimal(problem: CappedProblem, basis: CommonBasis) -> bool:
    """Check a basis and its weight splitting independently, by greedy runs.

    The set is independent, keeps the caps and has the given cost, and the splitting proves that
    no such set costs less.
    """
    chosen = list(basis.elements)
    if len(set(chosen)) != problem.size or not problem.keeps_caps(chosen):
        return False
    if sum(int(problem.costs[e]) for e in chosen) != basis.cost:
        return False
    if problem.matroid.rank(chosen) < problem.size:
        return False
    return basis.splitting.bound(problem) == basis.cost
