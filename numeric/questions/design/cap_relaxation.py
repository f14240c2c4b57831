r"""Multipliers for bases under several kinds of caps, from a linear program.

The linear program minimizes the cost over the points x of the matroid's base polytope that
satisfy all caps.  The polytope has a rank inequality x(F) ≤ r(F) for each flat F; violated
inequalities are added as cuts.  They are found along the chains of flats of two greedy runs [1]_:
one in the order of the reduced costs (at the optimum its chain supports the Lagrangian bound), one
in the order of x.  The dual values of the caps are the multipliers; x suggests elements to try.

This module proves nothing: `algebra.matroids.branch_and_bound` rounds the multipliers and
computes the bound that they give in integers.

References
----------
.. [1] W. H. Cunningham, "Testing membership in matroid polyhedra", J. Combin. Theory B 36
   (1984).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from algebra.linalg.echelon import modular_echelon
from algebra.matroids.capped import CappedProblem
from algebra.matroids.lagrangian import SCALE, Hint, Relax

_ROUNDS = 60
_TOLERANCE = 1e-7
# Above this number of cuts, slack ones are dropped.
_MOST_CUTS = 6_000
# Bits of a cost that the linear program receives.
_BITS = 40


class CapRelaxation:
    """Hints for the branch and bound of one problem; rank inequalities are kept between calls.

    Costs beyond 40 bits are divided by a power of two, and the multipliers multiplied by it, so
    that doubles can represent them.  The rounding affects only the quality of the hint.

    Parameters
    ----------
    problem : CappedProblem
    """

    def __init__(self, problem: CappedProblem) -> None:
        columns, p, systems, costs, size = problem
        self.columns, self.p, self.size = columns, p, size
        largest = max((abs(int(c)) for c in costs), default=0)
        self.shift = max(0, largest.bit_length() - _BITS)
        self.costs = np.array([float(int(c) >> self.shift) for c in costs])
        self.systems = [(np.array(g, np.int64), np.array(k, np.int64)) for g, k in systems]
        E = columns.shape[1]
        blocks = [
            csr_array((np.ones(E), (group, np.arange(E))), shape=(len(cap), E))
            for group, cap in self.systems
        ]
        self.lines = vstack(blocks).tocsr() if blocks else csr_array((0, E))
        self.limits = np.concatenate([cap for _, cap in self.systems]).astype(float)
        self.cuts: csr_array = csr_array((0, E))
        self.ranks = np.zeros(0)

    def __call__(self, state: np.ndarray, best: int | None) -> Hint:
        """Multipliers and values, given the elements that are fixed."""
        solution = self._solve(state, elastic=False)
        if solution is None:
            # No point satisfies the caps: use the duals of the least violation, scaled up.
            solution = self._solve(state, elastic=True)
            if solution is None:
                return self._hint(np.zeros(len(self.limits)), np.zeros(len(self.costs)))
            x, duals, value = solution
            total = np.abs(self.costs).max(initial=1.0) * self.size + 1
            return self._hint(duals * (4 * total / max(value, 1e-6)), x)
        x, duals, _ = solution
        return self._hint(duals, x)

    def _hint(self, duals: np.ndarray, x: np.ndarray) -> Hint:
        # Python integers: multipliers that prove infeasibility may exceed 64 bits.
        whole = [max(0, int(v)) << self.shift for v in np.rint(duals * SCALE)]
        lines, start = [], 0
        for _, cap in self.systems:
            lines.append(tuple(whole[start : start + len(cap)]))
            start += len(cap)
        values = np.clip(np.rint(x * SCALE), 0, SCALE).astype(np.int64)
        return Hint(tuple(lines), tuple(values.tolist()))

    def _solve(
        self, state: np.ndarray, *, elastic: bool
    ) -> tuple[np.ndarray, np.ndarray, float] | None:
        """Point, dual values of the caps and optimal value; None if the program is infeasible."""
        E, L = len(self.costs), len(self.limits)
        low, high = (state == 1).astype(float), (state != -1).astype(float)
        costs = np.concatenate([np.zeros(E), np.ones(L)]) if elastic else self.costs
        bounds = np.column_stack([low, high])
        if elastic:
            bounds = np.vstack([bounds, np.column_stack([np.zeros(L), np.full(L, np.inf)])])
        best: tuple[np.ndarray, np.ndarray, float] | None = None
        for _ in range(_ROUNDS):
            table = vstack([self.lines, self.cuts]).tocsr()
            if elastic:
                slack = csr_array(
                    (-np.ones(L), (np.arange(L), np.arange(L))), shape=(table.shape[0], L)
                )
                table = csr_array(np.hstack([table.toarray(), slack.toarray()]))
            whole = np.concatenate([np.ones(E), np.zeros(len(costs) - E)])[None, :]
            found = linprog(
                costs, A_ub=table, b_ub=np.concatenate([self.limits, self.ranks]),
                A_eq=whole, b_eq=[self.size], bounds=bounds, method="highs",
            )  # fmt: skip
            if not found.success:
                return best if found.status != 2 else None
            x = found.x[:E]
            duals = -found.ineqlin.marginals[:L]
            best = (x, duals, float(found.fun))
            if not self._separate(x, duals, 0.0 if elastic else 1.0, state):
                break
        return best

    def _separate(self, x: np.ndarray, duals: np.ndarray, weight: float, state: np.ndarray) -> bool:
        """Add the violated rank inequalities; returns whether there were any."""
        reduced = weight * self.costs + self.lines.T @ duals
        scale = max(1.0, float(np.abs(reduced).max(initial=0)))
        first = np.lexsort((-x, np.rint(reduced / scale * 1e9), -state))
        second = np.lexsort((reduced, -np.rint(x * 1e9)))
        new_rows: list[np.ndarray] = []
        new_ranks: list[int] = []
        for order in (first, second):
            flats = self._chain(order)
            filled, ranks = flats @ x, np.arange(len(flats))
            violated = np.flatnonzero(filled > ranks + _TOLERANCE)
            new_rows += [flats[k] for k in violated]
            new_ranks += [int(ranks[k]) for k in violated]
        if not new_rows:
            return False
        if len(self.ranks) + len(new_ranks) > _MOST_CUTS:
            keep = np.flatnonzero(self.cuts @ x > self.ranks - 1e-3)
            self.cuts, self.ranks = self.cuts[keep], self.ranks[keep]
        self.cuts = vstack([self.cuts, csr_array(np.array(new_rows, float))]).tocsr()
        self.ranks = np.concatenate([self.ranks, np.array(new_ranks, float)])
        return True

    def _chain(self, order: np.ndarray) -> np.ndarray:
        """Closures of the first 0, 1, 2, … elements of the greedy basis in `order`, as rows."""
        table, pivots = modular_echelon(self.columns[:, order], self.p)
        rank = len(pivots)
        # An element is in the closure of the first k if it has no coordinate after the k-th.
        places = np.arange(1, rank + 1)[:, None]
        last = np.where(table != 0, places, 0).max(axis=0, initial=0)
        flats = np.zeros((rank + 1, len(order)), bool)
        flats[:, order] = last[None, :] <= np.arange(rank + 1)[:, None]
        return flats


def linear_relaxation(problem: CappedProblem) -> Relax:
    """The relaxation of one problem, for `algebra.matroids.optimum.optimum`."""
    return CapRelaxation(problem)
