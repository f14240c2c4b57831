"""Crosses, the cells of some rows and some columns, that hold more weights than equations.

The bounds are proved in `algebra.ranks.budgets.cover` ("Crosses" there).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import comb

import numpy as np

from algebra.networks.base import Network
from algebra.networks.protocols import limits_of
from algebra.problems.allocation import Allocation
from algebra.ranks.budgets.lines import Line, Lines, Violation, budgets, line_cover, shortest_first

# The search for crosses enumerates all sets of lines while (sets × lines) stays below this.
_EXACT = 1_000_000
# With more cells no crosses are searched: rows, columns and matrices give good bounds.
MOST_CELLS = 200_000
# Number of the violated crosses of each order that are compared with rows and columns.
_TRIED = 16


@dataclass(frozen=True)
class CrossSearch:
    """Violated crosses that rows, columns and matrices by themselves do not explain.

    Attributes
    ----------
    crosses : tuple of Violation
        For each of the bounds the strongest cross and the one of fewest lines.
    exhaustive : bool
        True if all sets of rows and columns were considered.  False for larger allocations:
        then only single lines, pairs and the k fullest lines are completed to crosses, and
        a violated one may be missed.  With more than `MOST_CELLS` cells none is searched.
    """

    crosses: tuple[Violation, ...]
    exhaustive: bool


def violated_crosses(allocation: Allocation) -> CrossSearch:
    """Search for crosses that hold more learnable weights than equations.

    Parameters
    ----------
    allocation : Allocation

    Returns
    -------
    CrossSearch

    Notes
    -----
    Given the rows, each column gains its cells outside them minus ρ(D − u), independently of the
    other columns: those that gain are taken.  So all sets of rows with u < D are enumerated (or
    all sets of columns with v < M, if these are few enough); other sets reach everything.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearFeedForward
    >>> net = LinearFeedForward(q=2, widths=(2,), d=2, m=2)
    >>> cells = [("W1", 0, 0), ("W1", 0, 1), ("W2", 0, 1), ("W2", 1, 1)]
    >>> for cross in violated_crosses(Allocation.from_cells(net, cells)).crosses:
    ...     print(cross.subject, "->", cross.learnable, "weights,", cross.equations)
    row 0 of W1 and column 1 of W2 -> 4 weights, 2 + 2 − 1 = 3 equations
    """
    if allocation.size > MOST_CELLS:
        return CrossSearch((), False)
    found: dict[tuple[Lines, Lines], Violation] = {}
    exhaustive = True
    for family in _families(allocation.network, allocation.matrices):
        strongest, shortest, complete = family.search(allocation)
        exhaustive &= complete
        for candidates in (strongest, shortest):
            for cross in candidates:
                part = Allocation(allocation.network, cross.cells(allocation))
                if cross.limit < min(line_cover(part).limit, budgets(part)[0].limit):
                    old = found.get((cross.rows, cross.columns), cross)
                    found[cross.rows, cross.columns] = min(old, cross, key=lambda c: c.limit)
                    break
    return CrossSearch(tuple(sorted(found.values(), key=shortest_first)), exhaustive)


@dataclass(frozen=True)
class _Family:
    """One bound for crosses over some matrices: scale · (uM + Dv − uv)."""

    names: tuple[str, ...]
    lam: dict[str, int]
    rho: dict[str, int]
    D: int
    M: int
    scale: int = 1

    def search(self, allocation: Allocation) -> tuple[list[Violation], list[Violation], bool]:
        """Candidates, the strongest and the shortest first, and whether that was exhaustive."""
        cells = [cell for cell in allocation.cells if cell[0] in self.names]
        rows = sorted({(name, i) for name, i, _ in cells})
        columns = sorted({(name, j) for name, _, j in cells})
        row, column = ({line: k for k, line in enumerate(x)} for x in (rows, columns))
        Z = np.zeros((len(rows), len(columns)), np.int64)
        for name, i, j in cells:
            Z[row[name, i], column[name, j]] = 1
        lam = np.array([self.lam[name] for name, _ in rows], np.int64)
        rho = np.array([self.rho[name] for name, _ in columns], np.int64)
        sides = [(Z, lam, rho, self.D, self.M), (Z.T, rho, lam, self.M, self.D)]
        sets = [_sets(side[0], side[1], side[3]) for side in sides]
        used = [k for k in (0, 1) if sets[k][1]]
        used = [min(used, key=lambda k: len(sets[k][0]))] if used else [0, 1]
        found: tuple[list[Violation], list[Violation]] = ([], [])
        for k in used:
            for group, pairs in zip(
                found, _candidates(sets[k][0], sides[k], self.scale), strict=True
            ):
                for pair in pairs:
                    one, other = pair[::-1] if k else pair
                    group.append(
                        self.cross([rows[i] for i in one], [columns[j] for j in other], allocation)
                    )
        found[0].sort(key=lambda cross: (-cross.excess, *shortest_first(cross)))
        found[1].sort(key=shortest_first)
        return *found, len(used) == 1

    def cross(self, rows: list[Line], columns: list[Line], allocation: Allocation) -> Violation:
        """The cross of these lines."""
        u, v = sum(self.lam[name] for name, _ in rows), sum(self.rho[name] for name, _ in columns)
        parts = [self.scale * x for x in (u * self.M, self.D * v, u * v)]
        limit = parts[0] + parts[1] - parts[2]
        text = f"{parts[0]} + {parts[1]} − {parts[2]} = {limit} equations"
        names = tuple(dict.fromkeys(name for name, _ in (*rows, *columns)))
        found = Violation(
            "cross", names, tuple(sorted(rows)), tuple(sorted(columns)), 0, limit, text
        )
        return replace(found, learnable=len(found.cells(allocation)))


def _families(network: Network, names: tuple[str, ...]) -> Iterator[_Family]:
    layers, linear = limits_of(network), network.chain()
    lam, rho = {k: v.lam for k, v in layers.items()}, {k: v.rho for k, v in layers.items()}
    for chosen in dict.fromkeys([*((name,) for name in names), names] if names else []):
        D, M = max(layers[x].D for x in chosen), max(layers[x].M for x in chosen)
        yield _Family(chosen, lam, rho, D, M)
    if linear is not None and linear.recurrent in names:
        assert linear.recurrent is not None
        W, T, d = linear.recurrent, len(linear.steps), network.d
        n, b = network.shapes[W][0], network.shapes[linear.names[-1]][1]
        ones = dict.fromkeys(layers, 1)
        yield _Family((W,), ones, ones, min(n, d), min(n, b), T)
        if len(names) > 1:
            yield _Family(names, ones, ones, d, b, T)


def _sets(Z: np.ndarray, weight: np.ndarray, cap: int) -> tuple[np.ndarray, bool]:
    """Sets of rows (0/1) of weight below the cap: all, or singles, pairs and fullest rows."""
    pool = [int(i) for i in np.argsort(-Z.sum(1), kind="stable") if weight[i] < cap]
    most = min(len(pool), (cap - 1) // min((int(weight[i]) for i in pool), default=1))
    count = sum(comb(len(pool), k) for k in range(1, most + 1))
    complete = count * (sum(Z.shape) + 1) <= _EXACT
    if complete:
        picks = chain.from_iterable(combinations(pool, k) for k in range(1, most + 1))
    else:
        pairs = combinations(pool[:40], 2)
        picks = chain(combinations(pool, 1), pairs, (tuple(pool[:k]) for k in range(3, most + 1)))
    listed = [pick for pick in picks if sum(weight[i] for i in pick) < cap]
    sets = np.zeros((len(listed), len(weight)), np.int64)
    for k, pick in enumerate(listed):
        sets[k, list(pick)] = 1
    return sets, complete


def _candidates(
    sets: np.ndarray, side: tuple[np.ndarray, np.ndarray, np.ndarray, int, int], scale: int
) -> list[list[tuple[list[int], list[int]]]]:
    """Sets of rows, completed by columns: the strongest and the shortest violated crosses."""
    Z, lam, rho, D, M = side
    if not sets.size or not Z.size:
        return [[], []]
    u = sets @ lam
    gain = (1 - sets) @ Z - scale * np.outer(D - u, rho)
    order = np.argsort(-gain, axis=1, kind="stable")
    gain = np.take_along_axis(gain, order, axis=1)
    excess = (sets @ Z.sum(1) - scale * u * M)[:, None] + np.cumsum(gain, axis=1)
    useful = (gain > 0).sum(1)
    picked = []
    for count in (useful, np.argmax(excess > 0, axis=1) + 1):
        value = np.take_along_axis(excess, np.maximum(count, 1)[:, None] - 1, axis=1)[:, 0]
        violated = (count > 0) & (count <= useful) & (value > 0)
        lines = sets.sum(1) + count
        keys = (lines, -value) if count is useful else (-value, lines)
        best = [k for k in np.lexsort(keys).tolist() if violated[k]][:_TRIED]
        picked.append(
            [(np.flatnonzero(sets[k]).tolist(), order[k, : count[k]].tolist()) for k in best]
        )
    return picked
