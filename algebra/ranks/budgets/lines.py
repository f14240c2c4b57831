"""Budgets of whole matrices, rows and columns, and covers by them.

For their meaning and proof see `algebra.ranks.budgets.cover`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algebra.networks.base import Network
from algebra.networks.limits import Limit
from algebra.networks.protocols import limits_of
from algebra.problems.allocation import Allocation, Cell
from algebra.words import plural, some

# Largest number of lines that a sentence names; lines with one limit that are as many, or more,
# are one sentence.
_MOST_LINES = 8
_MANY = 4

Line = tuple[str, int]
Lines = tuple[Line, ...]


@dataclass(frozen=True)
class Budget:
    """A bound on the equations in which some cells take part, and the number of these that learn.

    Attributes
    ----------
    kind : str
        "total", "matrix", "row", "column" or "cross" (some rows and some columns).
    matrices : tuple of str
        The weight matrices to which it applies.
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
        """Learnable weights minus limit; positive if the budget is violated."""
        return self.learnable - self.limit

    @property
    def subject(self) -> str:
        """Its lines: "row 3 and column 0 of W", "row 1 of W1 and column 2 of W2"."""
        if self.kind in ("total", "matrix"):
            return "the network" if self.kind == "total" else self.matrices[0]
        parts = []
        for name in self.matrices:
            picked = []
            for noun, lines in (("row", self.rows), ("column", self.columns)):
                if indices := [str(index) for matrix, index in lines if matrix == name]:
                    picked.append(f"{plural(len(indices), noun)} {some(indices, _MOST_LINES)}")
            parts.append(f"{' and '.join(picked)} of {name}")
        return " and ".join(parts)

    @property
    def reason(self) -> str:
        """The budget as a sentence."""
        verbs = ("hold", "take") if self.kind == "cross" else ("has", "takes")
        link = f"but {verbs[1]} part in only" if self.excess > 0 else f"and {verbs[1]} part in"
        weights = plural(self.learnable, f"{self.learnable} learnable weight")
        return f"{self.subject} {verbs[0]} {weights} {link} {self.equations}"

    def cells(self, allocation: Allocation) -> tuple[Cell, ...]:
        """The learnable cells that the budget counts."""
        if self.kind in ("total", "matrix"):
            return tuple(cell for cell in allocation.cells if cell[0] in self.matrices)
        rows, columns = set(self.rows), set(self.columns)
        return tuple(c for c in allocation.cells if c[:2] in rows or (c[0], c[2]) in columns)

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Violation(Budget):
    """A budget that is exceeded: at least `excess` of its learnable weights are redundant."""


@dataclass(frozen=True)
class RankCover:
    """Budgets that cover an allocation, except `uncovered` cells, which are counted one by one."""

    budgets: tuple[Budget, ...]
    uncovered: int

    @property
    def limit(self) -> int:
        """Upper bound for the rank of the allocation's Jacobian."""
        return sum(budget.limit for budget in self.budgets) + self.uncovered

    def __str__(self) -> str:
        other = "other " if self.budgets else ""
        rest = plural(self.uncovered, f"{self.uncovered} {other}learnable weight")
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
        For a network kind whose budgets are not known; this applies to the functions below, too.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=8, T=2, b=2, d=4, m=1)
    >>> for budget in budgets(Allocation.from_cells(net, [("W", 3, j) for j in range(4)]))[:3]:
    ...     print(budget)
    the network has 4 learnable weights and takes part in dm = 4 equations
    W has 4 learnable weights and takes part in dm = 4 equations
    row 3 of W has 4 learnable weights but takes part in only Tm = 2 equations
    """
    network, names = allocation.network, allocation.matrices
    layers = limits_of(network)
    found = [Budget("total", names, (), (), allocation.size, *limit_of_matrices(network, names))]
    for name in names:
        rows, columns = allocation.row_counts(name), allocation.column_counts(name)
        found.append(
            Budget("matrix", (name,), (), (), sum(rows), *limit_of_matrices(network, (name,)))
        )
        row, column, one = layers[name].row, layers[name].column, (name,)
        for i in filter(rows.__getitem__, range(len(rows))):
            found.append(Budget("row", one, ((name, i),), (), rows[i], *row))
        for j in filter(columns.__getitem__, range(len(columns))):
            if column is not None:
                found.append(Budget("column", one, (), ((name, j),), columns[j], *column))
    return tuple(found)


def budget_sentences(found: Sequence[Budget]) -> tuple[str, ...]:
    """Budgets in words; many rows (or columns) of a matrix with one limit are one sentence.

    Parameters
    ----------
    found : sequence of Budget
        All of them exceeded, or none.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> everything = Allocation.rows(LinearEstimator(q=3, d=20, m=2), "W", range(20))
    >>> rows = [budget for budget in budgets(everything) if budget.kind == "row"]
    >>> budget_sentences(rows)[0][:59]
    'rows 0, 1, 2, 3, 4, 5, 6, 7 and 12 more of W have 3 learnab'
    """
    alike: dict[tuple[Any, ...], list[Budget]] = {}
    for k, budget in enumerate(found):
        is_line = budget.kind in ("row", "column")
        key = (budget.kind, budget.matrices, budget.equations) if is_line else (k,)
        alike.setdefault(key, []).append(budget)
    return tuple(
        text
        for own in alike.values()
        for text in ([_together(own)] if len(own) >= _MANY else map(str, own))
    )


def _together(lines: Sequence[Budget]) -> str:
    """Several rows, or columns, of a matrix that take part in equally many equations each."""
    rows, columns = (tuple(sum((getattr(b, k) for b in lines), ())) for k in ("rows", "columns"))
    least, most = min(b.learnable for b in lines), max(b.learnable for b in lines)
    subject = replace(lines[0], rows=rows, columns=columns).subject
    number = str(least) if least == most else f"{least} to {most}"
    link = "but" if lines[0].excess > 0 else "and"
    only = "only " * (lines[0].excess > 0)
    weights = plural(most, f"{number} learnable weight")
    return f"{subject} have {weights} each {link} take part in {only}{lines[0].equations} each"


def shortest_first(budget: Budget) -> tuple[Any, ...]:
    """Key that sorts budgets: those of fewest lines first, then the strongest."""
    kind = ("total", "matrix", "row", "column", "cross").index(budget.kind)
    return len(budget.rows + budget.columns), -budget.excess, kind, budget.rows, budget.columns


def line_cover(allocation: Allocation) -> RankCover:
    """Least cover by matrices, rows and columns: a minimum cut from source to sink."""
    # Imported here: most verdicts need no cover, and importing SciPy takes half a second.
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

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


def limit_of_matrices(network: Network, names: tuple[str, ...]) -> Limit:
    """Limit of whole matrices, named from the output on."""
    limits, chain = limits_of(network), network.chain()
    layers = [limits[name] for name in names]
    dm = limit = network.outputs
    for cut in range(len(layers)):
        D, M = max(layer.D for layer in layers), max(layer.M for layer in layers)
        u, v = max(x.D for x in layers[cut:]), max((x.M for x in layers[:cut]), default=0)
        limit = min(limit, u * M + D * v - u * v)
    if chain is not None and chain.recurrent is not None:
        (n, _), (_, b) = network.shapes[chain.recurrent], network.shapes[chain.names[-1]]
        limit = min(limit, n * (b + network.d - (chain.recurrent not in names)))
    letters = f"d{network.column_letter} = {dm}"
    if limit == dm:
        return dm, plural(dm, f"{letters} equation")
    return limit, plural(limit, f"{limit} independent equation") + f" (of {letters})"
