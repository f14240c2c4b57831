"""Structure of a system of equations: matchings, Dulmage–Mendelsohn, block triangular form.

A system is given by its *patterns*: for each equation the indices of the unknowns that actually
occur in it (after expansion, without terms that cancel).  This module is independent of networks
and polynomials; it is bipartite graph theory between equations and unknowns, and its results hold
for every system with these patterns.

A set of equations with fewer unknowns than equations cannot be solved for generic coefficients;
such sets make up the overdetermined part.  The well-constrained part is a sequence of blocks that
can be solved one after the other.

Examples
--------
>>> patterns = [{0}, {0, 1}, {1, 2, 3}, {2, 3}]
>>> form = block_triangular_form(patterns, 4)
>>> for block in form.blocks:
...     print(block)
1 equation in 1 unknown: equations 0; unknowns 0
1 equation in 1 unknown: equations 1; unknowns 1
2 equations in 2 unknowns: equations 2, 3; unknowns 2, 3

References
----------
.. [1] A. L. Dulmage, N. S. Mendelsohn, "Coverings of bipartite graphs", Canadian J. Math.
   10 (1958) 517–534.
.. [2] A. Pothen, C.-J. Fan, "Computing the block triangular form of a sparse matrix",
   ACM Trans. Math. Softw. 16 (1990) 303–324.
.. [3] J. E. Hopcroft, R. M. Karp, "An n^{5/2} algorithm for maximum matchings in bipartite
   graphs", SIAM J. Comput. 2 (1973) 225–231.
.. [4] H. N. Gabow, "Path-based depth-first search for strong and biconnected components",
   Inform. Process. Lett. 74 (2000) 107–114.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import chain

import numpy as np

from algebra.errors import InputError
from algebra.words import plural

Patterns = Sequence[Collection[int]]

# With more entries SciPy's csgraph is used, which takes a tenth of a second to load.
_MANY_ENTRIES = 20_000


@dataclass(frozen=True)
class EquationBlock:
    """Some equations and some unknowns, each in ascending order."""

    equations: tuple[int, ...]
    unknowns: tuple[int, ...]

    def __bool__(self) -> bool:
        return bool(self.equations or self.unknowns)

    def __str__(self) -> str:
        return (
            f"{_count(self.equations, 'equation')} in {_count(self.unknowns, 'unknown')}: "
            f"equations {_short(self.equations)}; unknowns {_short(self.unknowns)}"
        )


@dataclass(frozen=True)
class BlockTriangularForm:
    """Fine Dulmage–Mendelsohn decomposition.

    Attributes
    ----------
    overdetermined : EquationBlock
        More equations than unknowns (both empty if there is no such part).  Its equations contain
        no other unknowns.
    blocks : tuple of EquationBlock
        Blocks of the well-constrained part in solving order: each uses only unknowns of itself,
        of earlier blocks and of the overdetermined part.  Each has as many equations as
        unknowns and cannot be split further.
    underdetermined : EquationBlock
        More unknowns than equations; its unknowns occur in no other equations.

    Notes
    -----
    The over- and the underdetermined part are unique, and so are the blocks as sets: they do not
    depend on the matching nor on the order of equations and unknowns.  The order of the blocks is
    one of the possible ones: among the blocks that may be next, the one with the smallest equation
    is.
    """

    overdetermined: EquationBlock
    blocks: tuple[EquationBlock, ...]
    underdetermined: EquationBlock

    @property
    def parts(self) -> tuple[EquationBlock, ...]:
        """All parts in the order of the permuted matrix: over, square blocks, under."""
        return (self.overdetermined, *self.blocks, self.underdetermined)

    @property
    def row_order(self) -> tuple[int, ...]:
        """Equations in an order that makes the incidence matrix lower block triangular."""
        return tuple(chain.from_iterable(part.equations for part in self.parts))

    @property
    def column_order(self) -> tuple[int, ...]:
        """Unknowns in the order corresponding to `row_order`."""
        return tuple(chain.from_iterable(part.unknowns for part in self.parts))

    def __str__(self) -> str:
        names = ["overdetermined", *map("block {}".format, range(len(self.blocks)))]
        named = zip([*names, "underdetermined"], self.parts, strict=True)
        return "\n".join(f"{name}: {part}" for name, part in named if part)


def block_triangular_form(patterns: Patterns | np.ndarray, unknowns: int) -> BlockTriangularForm:
    """Order a system so that it can be solved block by block.

    Parameters
    ----------
    patterns : sequence of collection of int, or ndarray of bool
        For each equation the unknowns that occur in it; or the incidence matrix, of shape
        (equations, unknowns).
    unknowns : int
        Number of unknowns.

    Returns
    -------
    BlockTriangularForm

    Raises
    ------
    InputError
        If a pattern contains an unknown that does not exist.

    Notes
    -----
    With a maximum matching, the overdetermined part is the set reached by alternating paths from
    the unmatched equations, the underdetermined part that reached from the unmatched unknowns [1]_.

    On the square part the matching is perfect.  Let equation e point to e' if the unknown
    matched with e' occurs in e: e' must then be solved before or together with e.  The
    strongly connected components are the blocks; they do not depend on the matching [2]_.

    Examples
    --------
    >>> form = block_triangular_form([{0, 1}, {1}, {1}], 2)
    >>> form.overdetermined
    EquationBlock(equations=(1, 2), unknowns=(1,))
    >>> form.blocks
    (EquationBlock(equations=(0,), unknowns=(0,)),)
    >>> form.row_order, form.column_order
    ((1, 2, 0), (1, 0))
    """
    matrix = incidence_matrix(patterns, unknowns)
    mate = maximum_matching(matrix)
    owner = np.full(unknowns, -1)
    owner[mate[mate >= 0]] = np.flatnonzero(mate >= 0)
    over = _alternating(matrix, owner, mate < 0)
    under = _alternating(matrix.T, mate, owner < 0)
    square = np.flatnonzero(~(over[0] | under[1]))
    inside = mate[square]
    # Node k is the k-th equation of the square part together with its matched unknown.
    blocks = [
        _block(square[nodes], inside[nodes])
        for nodes in _solving_order(matrix[np.ix_(square, inside)])
    ]
    parts = [_block(*map(np.flatnonzero, part)) for part in (over, under[::-1])]
    return BlockTriangularForm(parts[0], tuple(blocks), parts[1])


def maximum_matching(matrix: np.ndarray) -> np.ndarray:
    """A maximum matching of equations with unknowns that occur in them.

    Parameters
    ----------
    matrix : ndarray of bool, shape (equations, unknowns)

    Returns
    -------
    ndarray of int, shape (equations,)
        The unknown of each equation; −1 for an equation that is not matched.

    Notes
    -----
    Each equation in turn gets an unknown by a shortest alternating path, if there is one (Berge's
    theorem).  Large graphs go to SciPy, for Hopcroft and Karp's algorithm [3]_.
    """
    if np.count_nonzero(matrix) > _MANY_ENTRIES:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_bipartite_matching

        return maximum_bipartite_matching(csr_array(matrix), perm_type="column")
    occurring = _occurring(matrix)
    mate, owner = [-1] * len(matrix), [-1] * matrix.shape[1]
    for start in range(len(matrix)):
        # The equation from which each unknown was reached.
        came: dict[int, int] = {}
        todo, end = [start], -1
        for e in todo:
            new = [u for u in occurring[e] if u not in came]
            came.update(dict.fromkeys(new, e))
            end = next((u for u in new if owner[u] < 0), -1)
            if end >= 0:
                break
            todo += [owner[u] for u in new]
        while end >= 0:
            e = came[end]
            owner[end], mate[e], end = e, end, mate[e]
    return np.array(mate, dtype=int)


def _occurring(matrix: np.ndarray) -> list[list[int]]:
    """The columns of the entries of each row."""
    rows, columns = np.nonzero(matrix)
    ends = np.cumsum(np.bincount(rows, minlength=len(matrix)))
    return [part.tolist() for part in np.split(columns, ends[:-1])] if len(matrix) else []


def _alternating(
    matrix: np.ndarray, owner: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns on alternating paths from some rows, as masks; `owner` is each column's
    row, or −1."""
    rows, columns = starts.copy(), np.zeros(matrix.shape[1], bool)
    new = np.flatnonzero(rows)
    while len(new):
        met = matrix[new].any(axis=0) & ~columns
        columns |= met
        new = owner[met]
        new = new[(new >= 0) & ~rows[new]]
        rows[new] = True
    return rows, columns


def _solving_order(arrows: np.ndarray) -> Iterator[np.ndarray]:
    """The strongly connected components of a graph, each after those that its arrows lead to.

    Among those that may be next, the one with the smallest node is.
    """
    tails, heads = np.nonzero(arrows)
    if len(tails) > _MANY_ENTRIES:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        label = connected_components(csr_array(arrows), connection="strong")[1]
    else:
        label = np.array(strong_components(_occurring(arrows)), dtype=int)
    # Components are numbered by their first node.
    _, first = np.unique(label, return_index=True)
    label = np.argsort(np.argsort(first))[label]
    nodes_of = np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label))[:-1])
    before = np.zeros((len(first), len(first)), bool)
    before[label[tails], label[heads]] = True
    np.fill_diagonal(before, False)
    order = TopologicalSorter(dict(enumerate(_occurring(before))))
    order.prepare()
    ready = list(order.get_ready())
    heapq.heapify(ready)
    while ready:
        component = heapq.heappop(ready)
        yield nodes_of[component]
        order.done(component)
        for new in order.get_ready():
            heapq.heappush(ready, new)


def strong_components(heads: Sequence[Sequence[int]]) -> list[int]:
    """The number of the strongly connected component of each node, by Gabow's algorithm [4]_.

    Parameters
    ----------
    heads : sequence of sequences of int
        The nodes to which each node has an arrow.

    Examples
    --------
    >>> strong_components([[1], [0], [1]])
    [0, 0, 1]
    """
    met, label = [-1] * len(heads), [-1] * len(heads)
    rest = [iter(own) for own in heads]
    # Nodes without a component, in the order of their visits, and the first of each group of them
    # that is known to be connected.
    path: list[int] = []
    firsts: list[int] = []
    visits = components = 0
    for root in range(len(heads)):
        todo = [root] if met[root] < 0 else []
        while todo:
            node = todo[-1]
            if met[node] < 0:
                met[node], visits = visits, visits + 1
                path.append(node)
                firsts.append(node)
            for head in rest[node]:
                if met[head] < 0:
                    todo.append(head)
                    break
                if label[head] < 0:
                    while met[firsts[-1]] > met[head]:
                        firsts.pop()
            else:
                todo.pop()
                if firsts[-1] == node:
                    firsts.pop()
                    while label[node] < 0:
                        label[path.pop()] = components
                    components += 1
    return label


def incidence_matrix(patterns: Patterns | np.ndarray, unknowns: int) -> np.ndarray:
    """A boolean matrix, shape (equations, unknowns): the unknowns that occur in each equation."""
    if isinstance(patterns, np.ndarray):
        return patterns
    rows = _checked(patterns, unknowns)
    matrix = np.zeros((len(rows), unknowns), bool)
    for e, row in enumerate(rows):
        matrix[e, row] = True
    return matrix


def _checked(patterns: Patterns, unknowns: int) -> list[list[int]]:
    """The patterns as ascending lists without repetition."""
    if isinstance(unknowns, bool) or not isinstance(unknowns, int) or unknowns < 0:
        raise InputError(f"`unknowns` ({unknowns!r}) must be a whole number, at least 0")
    rows = [sorted(set(pattern)) for pattern in patterns]
    for e, row in enumerate(rows):
        if row and not (row[0] >= 0 and row[-1] < unknowns):
            bad = row[0] if row[0] < 0 else row[-1]
            raise InputError(
                f"`patterns`[{e}] names unknown {bad}, but `unknowns` ({unknowns}) allows "
                f"only 0 to {unknowns - 1}"
            )
    return rows


def _block(equations: np.ndarray, unknowns: np.ndarray) -> EquationBlock:
    return EquationBlock(tuple(np.sort(equations).tolist()), tuple(np.sort(unknowns).tolist()))


def _count(items: Collection[object], noun: str) -> str:
    return plural(len(items), f"{len(items)} {noun}")


def _short(items: Sequence[int], most: int = 8) -> str:
    shown = ", ".join(map(str, items[:most])) or "none"
    return shown + (f", … {items[-1]}" if len(items) > most else "")
