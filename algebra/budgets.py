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
right ones grow.  So matrices before any cut have right factors in a space of dimension v,
those after it left factors in one of dimension u, and all together span at most U ⊗ R + L ⊗ V,
of dimension uM + Dv − uv; the **total** is the least of these.  A change of basis of the hidden
units does not show: of nb + n² + nd weights of a linear RNN n² are idle, of the nb + nd in B and
D alone n are (bases that commute with W); this leaves n(b + d) or n(b + d − 1).

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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import comb

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from algebra.allocation import Allocation, Cell
from algebra.errors import InputError
from algebra.networks import LinearEstimator, LinearFeedForward, LinearRNN, Network, ShallowReLU

Line = tuple[str, int]
Lines = tuple[Line, ...]
_Limit = tuple[int, str]

# The search for crosses goes through all sets of lines while (sets × lines) stays below this.
_EXACT = 1_000_000
_NEVER = 10**9
# Of the violated crosses only so many of each order are held against rows and columns.
_TRIED = 16


@dataclass(frozen=True)
class Budget:
    """How many equations some cells take part in, and how many of the cells learn.

    Attributes
    ----------
    kind : str
        "total", "matrix", "row", "column" or "cross" (some rows and some columns).
    matrices : tuple of str
        The weight matrices it speaks of.
    rows, columns : tuple of (str, int)
        Its lines: matrix and 0-based index.  Empty for "total" and "matrix".
    learnable : int
        Number of learnable weights among its cells.
    limit : int
        Upper bound for the rank of the labels' Jacobian on these cells.
    equations : str
        The limit in the papers' letters, such as "Tb = 4 equations".
    """

    kind: str
    matrices: tuple[str, ...]
    rows: Lines
    columns: Lines
    learnable: int
    limit: int
    equations: str

    @property
    def excess(self) -> int:
        """Learnable weights less limit; positive if the budget is violated."""
        return self.learnable - self.limit

    @property
    def subject(self) -> str:
        """What it speaks of: "row 3 and column 0 of W", "row 1 of W1 and column 2 of W2"."""
        if self.kind in ("total", "matrix"):
            return "the network" if self.kind == "total" else self.matrices[0]
        parts = []
        for name in self.matrices:
            picked = []
            for noun, lines in (("row", self.rows), ("column", self.columns)):
                if indices := [str(index) for matrix, index in lines if matrix == name]:
                    shown = ", ".join(indices[:8]) + (", …" if len(indices) > 8 else "")
                    picked.append(f"{_plural(len(indices), noun)} {shown}")
            parts.append(f"{' and '.join(picked)} of {name}")
        return " and ".join(parts)

    @property
    def reason(self) -> str:
        """The budget as a sentence."""
        verbs = ("hold", "take") if self.kind == "cross" else ("has", "takes")
        link = f"but {verbs[1]} part in only" if self.excess > 0 else f"and {verbs[1]} part in"
        weights = _plural(self.learnable, f"{self.learnable} learnable weight")
        return f"{self.subject} {verbs[0]} {weights} {link} {self.equations}"

    def cells(self, allocation: Allocation) -> tuple[Cell, ...]:
        """The learnable cells it speaks of."""
        if self.kind in ("total", "matrix"):
            return tuple(cell for cell in allocation.cells if cell[0] in self.matrices)
        rows, columns = set(self.rows), set(self.columns)
        return tuple(c for c in allocation.cells if c[:2] in rows or (c[0], c[2]) in columns)

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Violation(Budget):
    """A budget that is exceeded: at least `excess` of its learnable weights are wasted."""


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
        a violated one may be missed.
    """

    crosses: tuple[Violation, ...]
    exhaustive: bool


@dataclass(frozen=True)
class RankCover:
    """Budgets that cover an allocation, but for `uncovered` cells counted one by one."""

    budgets: tuple[Budget, ...]
    uncovered: int

    @property
    def limit(self) -> int:
        """Upper bound for the rank of the allocation's Jacobian."""
        return sum(budget.limit for budget in self.budgets) + self.uncovered

    def __str__(self) -> str:
        other = "other " if self.budgets else ""
        rest = _plural(self.uncovered, f"{self.uncovered} {other}learnable weight")
        lines = [*map(str, self.budgets), *([rest] if self.uncovered or not other else [])]
        return f"rank at most {self.limit}: " + "; ".join(lines)


def budgets(allocation: Allocation) -> tuple[Budget, ...]:
    """Budgets of the network, of its matrices and of each row and column that learns.

    Parameters
    ----------
    allocation : Allocation

    Returns
    -------
    tuple of Budget
        Without the crosses, of which there are exponentially many: see `violated_crosses`.

    Raises
    ------
    InputError
        For a network kind whose budgets are not known; so too in the functions below.

    Examples
    --------
    >>> net = LinearRNN(n=8, T=2, b=2, d=4, m=1)
    >>> for budget in budgets(Allocation.from_cells(net, [("W", 3, j) for j in range(4)]))[:3]:
    ...     print(budget)
    the network has 4 learnable weights and takes part in dm = 4 equations
    W has 4 learnable weights and takes part in dm = 4 equations
    row 3 of W has 4 learnable weights but takes part in only Tm = 2 equations
    """
    network, names = allocation.network, allocation.matrices
    layers = _layers(network)
    found = [Budget("total", names, (), (), allocation.size, *_total(network, names))]
    for name in names:
        rows, columns = allocation.row_counts(name), allocation.column_counts(name)
        found.append(Budget("matrix", (name,), (), (), sum(rows), *_total(network, (name,))))
        row, column, one = layers[name].row, layers[name].column, (name,)
        for i in filter(rows.__getitem__, range(len(rows))):
            found.append(Budget("row", one, ((name, i),), (), rows[i], *row))
        for j in filter(columns.__getitem__, range(len(columns))):
            if column is not None:
                found.append(Budget("column", one, (), ((name, j),), columns[j], *column))
    return tuple(found)


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
    >>> net = LinearEstimator(q=3, d=2, m=2)
    >>> cells = [("W", 0, 2), ("W", 1, 0), ("W", 1, 1), ("W", 1, 2)]
    >>> for violation in budget_violations(Allocation.from_cells(net, cells)):
    ...     print(violation)
    row 1 of W has 3 learnable weights but takes part in only m = 2 equations
    """
    found = [Violation(**vars(budget)) for budget in budgets(allocation) if budget.excess > 0]
    if len(allocation.matrices) == 1:
        found = [violation for violation in found if violation.kind != "matrix"]
    return tuple(sorted([*found, *violated_crosses(allocation).crosses], key=_order))


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
    Given the rows, each column gains its cells outside them less ρ(D − u), whatever the other
    columns: those that gain are taken.  So all sets of rows with u < D are gone through (or
    all sets of columns with v < M, if these are few enough); other sets reach everything.

    Examples
    --------
    >>> net = LinearFeedForward(q=2, widths=(2,), d=2, m=2)
    >>> cells = [("W1", 0, 0), ("W1", 0, 1), ("W2", 0, 1), ("W2", 1, 1)]
    >>> for cross in violated_crosses(Allocation.from_cells(net, cells)).crosses:
    ...     print(cross.subject, "->", cross.learnable, "weights,", cross.equations)
    row 0 of W1 and column 1 of W2 -> 4 weights, 2 + 2 − 1 = 3 equations
    """
    found: dict[tuple[Lines, Lines], Violation] = {}
    exhaustive = True
    for family in _families(allocation.network, allocation.matrices):
        strongest, shortest, complete = family.search(allocation)
        exhaustive &= complete
        for candidates in (strongest, shortest):
            for cross in candidates:
                part = Allocation(allocation.network, cross.cells(allocation))
                if cross.limit < min(_line_cover(part).limit, budgets(part)[0].limit):
                    old = found.get((cross.rows, cross.columns), cross)
                    found[cross.rows, cross.columns] = min(old, cross, key=lambda c: c.limit)
                    break
    return CrossSearch(tuple(sorted(found.values(), key=_order)), exhaustive)


def rank_cover(allocation: Allocation) -> RankCover:
    """Budgets that together bound the rank of an allocation's Jacobian.

    Parameters
    ----------
    allocation : Allocation

    Returns
    -------
    RankCover
        The total, or the best cover by matrices, rows and columns, after crosses were taken
        greedily.  Its limit is at most r and at most dm.

    Examples
    --------
    >>> print(rank_cover(Allocation.rows(LinearEstimator(q=4, d=2, m=3), "W", [0])))
    rank at most 3: row 0 of W has 4 learnable weights but takes part in only m = 3 equations
    """
    total = budgets(allocation)[0]
    best = RankCover((total,), 0) if total.excess > 0 else RankCover((), allocation.size)
    chosen: list[Budget] = []
    rest = allocation
    while True:
        lines = _line_cover(rest)
        cover = RankCover((*chosen, *lines.budgets), lines.uncovered)
        best = min(best, cover, key=lambda c: c.limit)
        crosses = violated_crosses(rest).crosses
        sums = [c.limit + _line_cover(rest.without(c.cells(rest))).limit for c in crosses]
        if not crosses or min(sums) >= lines.limit:
            break
        chosen.append(crosses[sums.index(min(sums))])
        rest = rest.without(chosen[-1].cells(rest))
    # What was found in the rest is stated of the whole allocation.
    stated = (replace(b, learnable=len(b.cells(allocation))) for b in best.budgets)
    return RankCover(tuple(stated), best.uncovered)


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
    >>> rank_bound(Allocation.columns(LinearEstimator(q=4, d=2, m=3), "W", [1, 2]))
    4
    """
    return rank_cover(allocation).limit


def _order(budget: Budget) -> tuple:
    kind = ("total", "matrix", "row", "column", "cross").index(budget.kind)
    return len(budget.rows + budget.columns), -budget.excess, kind, budget.rows, budget.columns


def _plural(count: int, text: str) -> str:
    return text + "s" * (count != 1)


@dataclass(frozen=True)
class _Layer:
    """Limits of a row and of a column, their λ and ρ, and the reach D, M of the matrix."""

    row: _Limit
    column: _Limit | None
    lam: int
    rho: int
    D: int
    M: int


def _least(*terms: tuple[str, int]) -> _Limit:
    letters, value = min(terms, key=lambda term: term[1])
    return value, _plural(value, f"{letters} = {value} equation")


def _layers(network: Network) -> dict[str, _Layer]:
    d, m = network.d, network.m
    match network:
        case LinearEstimator(q=q):
            row = _least(("m", m), ("q", q))
            return {"W": _Layer(row, _least(("d", d)), 1, 1, d, row[0])}
        case LinearFeedForward(q=q, widths=widths):
            sizes = [("q", q), *((f"n{k}", n) for k, n in enumerate(widths, 1))]
            rows = [_least(("m", m), *sizes[: k + 1]) for k in range(len(sizes))]
            columns = [_least(("d", d), *sizes[k + 1 :]) for k in range(len(sizes))]
            return {
                f"W{k}": _Layer(row, column, 1, 1, column[0], row[0])
                for k, (row, column) in enumerate(zip(rows, columns, strict=True), 1)
            }
        case LinearRNN(n=n, T=T, b=b):
            Tb, Tm, Td, dm = ("Tb", T * b), ("Tm", T * m), ("Td", T * d), ("dm", d * m)
            D, M, column = min(d, n), min(m, T * b), _least(Td, dm)
            return {
                "D": _Layer(_least(("m", m), Tb), _least(("d", d)), 1, 1, d, min(n, M)),
                "W": _Layer(_least(Tb, Tm, dm), column, T, T, D, min(M, T * n)),
                "B": _Layer(_least(Tm, dm), column, T, T, D, M),
            }
        case ShallowReLU(n=n):
            return {
                "W2": _Layer(_least(("m", m)), _least(("d", d)), 1, 1, d, min(n, m)),
                "W1": _Layer(_least(("m", m)), None, 1, _NEVER, min(n, d), m),
            }
    raise InputError(
        f"`network` ({network.kind!r}): equation budgets are known for linear, lrnn, lffn and "
        "relu nets only; use the generic rank instead"
    )


def _total(network: Network, names: tuple[str, ...]) -> _Limit:
    """Limit of whole matrices, named from the output on."""
    layers = [_layers(network)[name] for name in names]
    dm = limit = network.d * network.m
    for cut in range(len(layers)):
        D, M = max(layer.D for layer in layers), max(layer.M for layer in layers)
        u, v = max(x.D for x in layers[cut:]), max((x.M for x in layers[:cut]), default=0)
        limit = min(limit, u * M + D * v - u * v)
    if isinstance(network, LinearRNN):
        limit = min(limit, network.n * (network.b + network.d - ("W" not in names)))
    if limit == dm:
        return _least(("dm", dm))
    return limit, _plural(limit, f"{limit} independent equation") + f" (of dm = {dm})"


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
        found[0].sort(key=lambda cross: (-cross.excess, *_order(cross)))
        found[1].sort(key=_order)
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
    layers = _layers(network)
    lam, rho = {k: v.lam for k, v in layers.items()}, {k: v.rho for k, v in layers.items()}
    for chosen in dict.fromkeys([*((name,) for name in names), names] if names else []):
        D, M = max(layers[x].D for x in chosen), max(layers[x].M for x in chosen)
        yield _Family(chosen, lam, rho, D, M)
    if isinstance(network, LinearRNN) and "W" in names:
        n, T, b, d = network.n, network.T, network.b, network.d
        ones = dict.fromkeys(layers, 1)
        yield _Family(("W",), ones, ones, min(n, d), min(n, b), T)
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


def _line_cover(allocation: Allocation) -> RankCover:
    """Least cover by matrices, rows and columns: a minimum cut from source to sink."""
    nodes = [b for b in budgets(allocation) if b.kind != "total"]
    if not nodes:
        return RankCover((), 0)
    at = {(b.kind, b.matrices[0], *b.rows, *b.columns): k for k, b in enumerate(nodes, 1)}
    sink, edges = len(nodes) + 1, []
    for k, budget in enumerate(nodes, 1):
        # A budget that is not exceeded is never better than its cells.
        capacity = budget.limit if budget.excess > 0 else allocation.size + 1
        name = budget.matrices[0]
        start = at["matrix", name] if budget.kind == "row" else 0
        edges.append((k, sink, capacity) if budget.kind == "column" else (start, k, capacity))
    for name, i, j in allocation.cells:
        edges.append((at["row", name, (name, i)], at.get(("column", name, (name, j)), sink), 1))
    tails, heads, capacities = np.array(edges, np.int32).T
    graph = csr_array(coo_array((capacities, (tails, heads)), (sink + 1, sink + 1)))
    result = maximum_flow(graph, 0, sink)
    residual = csr_array(graph - result.flow)
    residual.eliminate_zeros()
    near = set(breadth_first_order(residual, 0, return_predecessors=False).tolist())
    cut = [b for b, (t, h, _) in zip(nodes, edges, strict=False) if t in near and h not in near]
    return RankCover(tuple(cut), int(result.flow_value) - sum(b.limit for b in cut))
