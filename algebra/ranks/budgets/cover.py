r"""Equation budgets: rows, columns and crosses with more learnable weights than equations.

Counting only: each `Budget` bounds, in the papers' words, the rank of the Jacobian of the labels
restricted to some cells.  The bounds hold at *every* weight and sample, hence for structural
zeros, dependent samples and discrete laws too.  A violation by `excess` means rank J_A ≤ r −
excess; where that is below the rank of the whole network's Jacobian (dm for independent
samples and wide layers), the allocation is minimal.  No violation proves nothing.

Notes
-----
Moving cell (i, j) of a matrix moves the labels by ``Σ_s L_s[:, i] ⊗ R_s[j, :]``, where

====================  ==============================================================
linear RNN, W         L_s = D W^{T−s}, R_s = h_s (s = 1..T)
linear RNN, B         L_s = D W^{T−s+1}, R_s = X_s (s = 1..T)
linear RNN, D         L = I, R = W h_T
layer l of W_L…W_1 X  L = W_L … W_{l+1}, R = W_{l−1} … W_1 X (linear estimator: L = I)
shallow ReLU, W2      L = I, R = relu(W1 X)
shallow ReLU, W1      L = W2, R = X, in row i without the samples where unit i is silent
====================  ==============================================================

*Reach.*  The columns of all L_s of a matrix lie in a space of dimension D (d, or a narrower
layer on the way out), the rows of all R_s in one of dimension M (m, or Tb, q, a narrower layer
on the way in): a **matrix** has rank ≤ DM.  From the output on, the left spaces shrink and the
right ones grow.  So matrices before any cut have right factors in a space of dimension v, those
after it left factors in one of dimension u, and all together span at most U ⊗ R + L ⊗ V, of
dimension uM + Dv − uv; the **total** is the least of these.  A change of basis of the hidden units
has no effect on labels: of nb + n² + nd weights of a linear RNN n² are redundant, of the nb + nd in
B and D alone n are (bases that commute with W); this leaves n(b + d) or n(b + d − 1).

*Lines.*  With C = (B, WB, …, W^{T−1}B) and O = (D; DW; …; DW^{T−1}), each h_s is C times a
matrix.  A change P of W acts through ``P C``, Tb numbers a row, and through the ``P h_s``, Tm a
row: a **row** has rank ≤ min(Tb, Tm, dm).  It also acts through ``O P``, Td numbers a column: a
**column** has rank ≤ min(Td, dm), and *not* min(Td, Tm), for one sample moves all d outputs.
Likewise rows of B: min(Tm, dm), its columns: min(Td, dm).  With a single s: rows M, columns D.
Units of a ReLU layer mask differently, so columns of its W1 have no budget of their own.

*Crosses*, the cells in some rows or some columns, of any matrices; what both reach counts once.

- A row adds λ dimensions to U, a column ρ to V (T in W and B, else 1).  With u = Σλ ≤ D and
  v = Σρ ≤ M the rank is ≤ uM + Dv − uv.  (For a ReLU net's W1: rows only.)
- Over the ring A = k[θ]/θ^T, with O(θ) = Σ D W^k θ^k and C(θ) = Σ W^k B θ^k, the change of the
  labels is a linear function of ``O_i ⊗ C_j`` in A^{d×b} for a cell of W, of ``(O W)_i ⊗ e_j``
  for B, of ``e_i ⊗ (W C)_j`` for D.  So u rows and v columns have rank ≤ T(ub + dv − uv).
  Where only W learns, min(d, n) and min(b, n) take the places of d and b.

All these grow with u ≤ D and v ≤ M, so that bounds for the dimensions suffice.

*Covers.*  If budgets and single cells cover the allocation, the sum of their limits bounds its
rank.  The best cover by rows, columns and matrices is a minimum cut, found by maximum flow.

References
----------
.. [1] O. Schlisselberg, R. Darshan, "The impact of allocation strategies in subset learning on
   the expressive power of neural networks", arXiv 2502.06300, Theorems 3.1, 3.2, 3.4, 4.1.
"""

from __future__ import annotations

from dataclasses import replace

from algebra.problems.allocation import Allocation
from algebra.ranks.budgets.crosses import MOST_CELLS, violated_crosses
from algebra.ranks.budgets.lines import (
    Budget,
    RankCover,
    Violation,
    budgets,
    line_cover,
    shortest_first,
)


def budget_violations(allocation: Allocation) -> tuple[Violation, ...]:
    """The budgets an allocation exceeds: shortest first, then strongest.

    Parameters
    ----------
    allocation : Allocation

    Returns
    -------
    tuple of Violation
        None found proves nothing.  Crosses are those of `violated_crosses`.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> net = LinearEstimator(q=3, d=2, m=2)
    >>> cells = [("W", 0, 2), ("W", 1, 0), ("W", 1, 1), ("W", 1, 2)]
    >>> for violation in budget_violations(Allocation.from_cells(net, cells)):
    ...     print(violation)
    row 1 of W has 3 learnable weights but takes part in only m = 2 equations
    """
    found = [Violation(**vars(budget)) for budget in budgets(allocation) if budget.excess > 0]
    if len(allocation.matrices) == 1:
        found = [violation for violation in found if violation.kind != "matrix"]
    return tuple(sorted([*found, *violated_crosses(allocation).crosses], key=shortest_first))


def rank_cover(allocation: Allocation) -> RankCover:
    """Budgets that together bound the rank of an allocation's Jacobian.

    Parameters
    ----------
    allocation : Allocation

    Returns
    -------
    RankCover
        The total, or the best cover by matrices, rows and columns, after crosses were taken
        greedily; of more than `MOST_CELLS` cells the best that takes each matrix whole, or by its
        rows, or by its columns.  Its limit is at most r and at most dm.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> print(rank_cover(Allocation.rows(LinearEstimator(q=4, d=2, m=3), "W", [0])))
    rank at most 3: row 0 of W has 4 learnable weights but takes part in only m = 3 equations
    """
    total = budgets(allocation)[0]
    best = RankCover((total,), 0) if total.excess > 0 else RankCover((), allocation.size)
    if allocation.size > MOST_CELLS:
        return min(best, _matrix_by_matrix(allocation), key=lambda c: c.limit)
    chosen: list[Budget] = []
    rest = allocation
    while True:
        lines = line_cover(rest)
        cover = RankCover((*chosen, *lines.budgets), lines.uncovered)
        best = min(best, cover, key=lambda c: c.limit)
        crosses = violated_crosses(rest).crosses
        sums = [c.limit + line_cover(rest.without(c.cells(rest))).limit for c in crosses]
        if not crosses or min(sums) >= lines.limit:
            break
        chosen.append(crosses[sums.index(min(sums))])
        rest = rest.without(chosen[-1].cells(rest))
    # The result on the remaining part is stated for the whole allocation.
    stated = (replace(b, learnable=len(b.cells(allocation))) for b in best.budgets)
    return RankCover(tuple(stated), best.uncovered)


def _matrix_by_matrix(allocation: Allocation) -> RankCover:
    """The least cover in which each matrix is covered by lines of one kind: no flow is needed."""
    chosen: list[Budget] = []
    found = budgets(allocation)
    for name in allocation.matrices:
        own = [budget for budget in found if budget.matrices == (name,)]
        ways = [
            [b for b in own if b.kind == kind and b.excess > 0]
            for kind in ("matrix", "row", "column")
        ]
        chosen += max(ways, key=lambda way: sum(b.excess for b in way))
    return RankCover(tuple(chosen), allocation.size - sum(b.learnable for b in chosen))


def rank_bound(allocation: Allocation) -> int:
    """Upper bound for the rank of an allocation's Jacobian, at every point.

    Parameters
    ----------
    allocation : Allocation

    Returns
    -------
    int
        The limit of `rank_cover`.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> rank_bound(Allocation.columns(LinearEstimator(q=4, d=2, m=3), "W", [1, 2]))
    4
    """
    return rank_cover(allocation).limit
