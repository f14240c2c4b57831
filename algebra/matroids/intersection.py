r"""Least-cost bases of a linear matroid under caps: weighted matroid intersection.

The weights of a network are the elements of a linear matroid M1: a set is independent where
its columns of the generic Jacobian are.  Caps on disjoint groups of weights (so many in a row)
make a partition matroid M2.  A set of given size that is independent in both, at least cost, is
found by successive shortest augmenting paths in the exchange graph [1]_, and proved optimal by
a *weight splitting* [2]_: costs c = c1 + c2 such that the set is cheapest for c1 in M1 and for
c2 in M2; every common independent set J of that size then costs
c1(J) + c2(J) ≥ c1(I) + c2(I).  Where no set is large enough, a set S of elements with
r1(S) + r2(E - S) below the wanted size says why (matroid intersection theorem, Edmonds).

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

from algebra.errors import InputError
from algebra.linalg.modular import echelon

_FAR = np.iinfo(np.int64).max // 4


@dataclass(frozen=True)
class CommonBasis:
    """A least-cost set that is independent in both matroids.

    Attributes
    ----------
    elements : tuple of int
    cost : int
    first, second : ndarray of int
        A weight splitting: costs of every element in M1 and in M2, scaled by `scale`.
    scale : int
    """

    elements: tuple[int, ...]
    cost: int
    first: np.ndarray = field(repr=False)
    second: np.ndarray = field(repr=False)
    scale: int = 1


@dataclass(frozen=True)
class Shortage:
    """Why no common independent set is as large as wanted.

    Attributes
    ----------
    largest : int
        Size of the largest one: ``rank + capped``.
    elements : tuple of int
        A set S with ``r1(S) = rank``.
    rank, capped : int
        r1(S), and what the caps leave outside S.
    """

    largest: int
    elements: tuple[int, ...]
    rank: int
    capped: int


def greedy(columns: np.ndarray, p: int, order: Sequence[int], size: int) -> list[int]:
    """The first independent columns in an order, at most `size`."""
    order = list(order)
    stop = min(len(order), 2 * size + 16)
    while True:
        _, pivots = echelon(columns[:, order[:stop]], p)
        if len(pivots) >= size or stop == len(order):
            return [order[k] for k in pivots[:size]]
        stop = min(len(order), 2 * stop)


class Tableau:
    """Columns in coordinates of an independent set, kept by pivoting modulo p."""

    def __init__(self, columns: np.ndarray, p: int) -> None:
        self.table = np.array(columns, np.int64) % p
        self.p = p
        self.row_of: dict[int, int] = {}
        self.free = set(range(len(self.table)))

    def exchange(self, leave: Sequence[int], enter: Sequence[int]) -> None:
        """Take elements out and put others in."""
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
        T[row] = T[row] * pow(int(T[row, x]), -1, p) % p
        others = np.flatnonzero(T[:, x])
        others = others[others != row]
        T[others] = (T[others] - T[others, x][:, None] * T[row] % p) % p

    def in_span(self) -> np.ndarray:
        """Which elements depend on the set."""
        rows = sorted(self.free)
        return np.logical_not(self.table[rows].any(axis=0))


def common_basis(
    columns: np.ndarray,
    p: int,
    groups: Sequence[int],
    caps: Sequence[int],
    costs: Sequence[int],
    size: int,
) -> CommonBasis | Shortage:
    """A least-cost set of `size` independent columns with at most ``caps[g]`` of each group.

    Parameters
    ----------
    columns : ndarray of int64, shape (·, E)
        Residues modulo p.
    p : int
        A prime below 2^31.
    groups : sequence of int, length E
        Group of each element.
    caps : sequence of int
        At most so many of each group.
    costs : sequence of int, length E
    size : int

    Returns
    -------
    CommonBasis or Shortage

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[1, 0, 1], [0, 1, 1]])
    >>> common_basis(columns, 101, [0, 0, 1], [1, 1], [1, 2, 5], 2).elements
    (0, 2)
    """
    E = columns.shape[1]
    group = np.array(groups, np.int64)
    cap = np.array(caps, np.int64)
    cost = np.array(costs, dtype=object)
    # One more for each step makes shortest paths the ones with fewest arcs.
    scale = 4 * E + 4
    if E and max(abs(int(c)) for c in costs) * scale * (E + 1) >= _FAR:
        raise InputError("costs are too large: give them in larger units")
    c = np.array([int(x) * scale for x in costs], np.int64)
    if (np.bincount(group, minlength=len(cap)) <= cap).all():
        # No cap can be broken: the greedy run, whose costs need no splitting.
        order = np.argsort(c, kind="stable").tolist()
        basis = greedy(columns, p, order, size)
        if len(basis) < size:
            return Shortage(len(basis), tuple(range(E)), len(basis), 0)
        return CommonBasis(
            tuple(sorted(basis)), int(sum(cost[basis])), c, np.zeros(E, np.int64), scale
        )
    tableau = Tableau(columns, p)
    chosen = np.zeros(E, bool)
    while chosen.sum() < size:
        path = _shortest_path(tableau, chosen, group, cap, c)
        if isinstance(path, np.ndarray):
            inside = np.flatnonzero(path)
            capped = int(np.minimum(np.bincount(group[~path], minlength=len(cap)), cap).sum())
            largest = int(chosen.sum())
            return Shortage(largest, tuple(inside.tolist()), largest - capped, capped)
        enter, leave = path[0::2], path[1::2]
        tableau.exchange(leave, enter)
        chosen[list(leave)] = False
        chosen[list(enter)] = True
    first, second = _splitting(tableau, chosen, group, cap, c)
    elements = tuple(np.flatnonzero(chosen).tolist())
    return CommonBasis(elements, int(sum(cost[list(elements)])), first, second, scale)


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
    far_out: np.ndarray, outside: np.ndarray, inside: np.ndarray, fits: np.ndarray,
    group: np.ndarray, groups: int,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Least distance over arcs x → y of M2, and the x it comes from (a place in `outside`)."""
    best = np.full(groups, _FAR)
    source = np.full(groups, -1)
    order = np.argsort(far_out, kind="stable")[::-1]
    best[group[outside[order]]] = far_out[order]
    source[group[outside[order]]] = order
    reach, origin = best[group[inside]], source[group[inside]]
    if fits.any():
        k = int(np.flatnonzero(fits)[np.argmin(far_out[fits])])
        better = far_out[k] < reach
        reach, origin = np.where(better, far_out[k], reach), np.where(better, k, origin)
    return reach, origin


def _shortest_path(
    tableau: Tableau, chosen: np.ndarray, group: np.ndarray, cap: np.ndarray, c: np.ndarray
) -> list[int] | np.ndarray:
    """Elements x0, y1, x1, … of a shortest augmenting path, or the set S where there is none."""
    inside, outside, swaps, joins, fits = _arcs(tableau, chosen, group, cap)
    far_out = np.where(joins, c[outside] + 1, _FAR)
    far_in = np.full(len(inside), _FAR)
    from_in, from_out = np.full(len(outside), -1), np.full(len(inside), -1)
    while True:
        reach, origin = _relax_inside(far_out, outside, inside, fits, group, len(cap))
        step = np.where(reach < _FAR, reach - c[inside] + 1, _FAR)
        better_in = step < far_in
        far_in[better_in], from_out[better_in] = step[better_in], origin[better_in]
        if not better_in.any():
            break
        through = np.where(swaps, far_in[:, None], _FAR)
        y = through.argmin(axis=0)
        least = through[y, np.arange(len(outside))]
        step = np.where(least < _FAR, least + c[outside] + 1, _FAR)
        better_out = step < far_out
        far_out[better_out], from_in[better_out] = step[better_out], y[better_out]
        if not better_out.any():
            break
    ends = np.flatnonzero(fits & (far_out < _FAR))
    if not len(ends):
        # Edmonds: what no path from a joining element reaches is spanned by its chosen part.
        S = np.ones(len(c), bool)
        S[outside[far_out < _FAR]] = False
        S[inside[far_in < _FAR]] = False
        return S
    at = int(ends[np.argmin(far_out[ends])])
    path = [int(outside[at])]
    while from_in[at] >= 0:
        y = int(from_in[at])
        path.append(int(inside[y]))
        at = int(from_out[y])
        path.append(int(outside[at]))
    return path[::-1]


def _splitting(
    tableau: Tableau, chosen: np.ndarray, group: np.ndarray, cap: np.ndarray, c: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Costs c1 + c2 = c from shortest distances in the exchange graph, which has no bad cycle."""
    inside, outside, swaps, _, fits = _arcs(tableau, chosen, group, cap)
    d_out, d_in = np.zeros(len(outside), np.int64), np.zeros(len(inside), np.int64)
    for _ in range(len(c) + 2):
        reach, _ = _relax_inside(d_out, outside, inside, fits, group, len(cap))
        new_in = np.minimum(d_in, np.where(reach < _FAR, reach - c[inside], d_in))
        new_out = d_out
        if len(inside) and len(outside):
            least = np.where(swaps, new_in[:, None], _FAR).min(axis=0)
            new_out = np.minimum(d_out, np.where(least < _FAR, least + c[outside], d_out))
        if (new_in == d_in).all() and (new_out == d_out).all():
            break
        d_in, d_out = new_in, new_out
    else:
        raise ArithmeticError("a cheaper exchange is left: a bug")
    first = np.zeros(len(c), np.int64)
    first[outside], first[inside] = c[outside] - d_out, -d_in
    return first, c - first


def is_optimal(
    columns: np.ndarray,
    p: int,
    groups: Sequence[int],
    caps: Sequence[int],
    costs: Sequence[int],
    basis: CommonBasis,
) -> bool:
    """Check a basis and its weight splitting from scratch.

    Two greedy runs: the set must be as cheap for c1 as the cheapest independent set of its
    size in M1, and for c2 as the cheapest in M2.
    """
    c = np.array([int(x) * basis.scale for x in costs], np.int64)
    chosen = list(basis.elements)
    if not np.array_equal(basis.first + basis.second, c):
        return False
    if int(c[chosen].sum()) != basis.cost * basis.scale:
        return False
    used = np.bincount([groups[k] for k in chosen], minlength=len(caps))
    if (used > np.array(caps)).any():
        return False
    best = greedy(columns, p, np.argsort(basis.first, kind="stable").tolist(), len(chosen))
    if len(best) < len(chosen) or basis.first[best].sum() != basis.first[chosen].sum():
        return False
    if len(greedy(columns, p, chosen, len(chosen))) < len(chosen):
        return False
    left = np.array(caps, np.int64)
    total = found = 0
    for x in np.argsort(basis.second, kind="stable").tolist():
        if found == len(chosen):
            break
        if left[groups[x]] > 0:
            left[groups[x]] -= 1
            total += int(basis.second[x])
            found += 1
    return bool(total == int(basis.second[chosen].sum()))
