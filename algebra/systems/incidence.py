"""Structure of a system of equations: matchings, Dulmage–Mendelsohn, block triangular form.

A system is given by its *patterns*: for each equation the indices of the unknowns that
truly occur in it (after expansion: no terms that cancel).  Nothing here knows of networks
or polynomials; it is bipartite graph theory between equations and unknowns, and what it
says holds for every system with these patterns.

An equation set with fewer unknowns than equations cannot be solved for generic
coefficients; `dulmage_mendelsohn` finds where this happens.  The well-constrained rest
splits into blocks that can be solved one after the other; `block_triangular_form` finds
them.

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
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import chain, repeat

import numpy as np

from algebra.errors import InputError
from algebra.linalg.bitsets import bit_rows, matched, reached, strong_components
from algebra.networks.limits import plural

# Incidence matrices of so many entries are ordered as bit sets; larger ones by SciPy, in memory
# that grows with the entries that are set only.
_ENTRIES = 1 << 28

Patterns = Sequence[Collection[int]]
_Lists = list[list[int]]
_Mates = Sequence[int | None]
_Sets = tuple[set[int], set[int]]


@dataclass(frozen=True)
class Block:
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
class Matching:
    """A maximum matching of equations with unknowns.

    Attributes
    ----------
    unknown_of : tuple of int or None
        For each equation the unknown it is matched with.
    equation_of : tuple of int or None
        For each unknown the equation it is matched with.

    Notes
    -----
    Only the *size* is a property of the patterns; which pairs are matched is a choice
    (always the same one for the same input).
    """

    unknown_of: tuple[int | None, ...]
    equation_of: tuple[int | None, ...]

    @property
    def size(self) -> int:
        """Number of matched pairs: the generic rank of a matrix with these patterns."""
        return sum(unknown is not None for unknown in self.unknown_of)

    def __str__(self) -> str:
        return (
            f"{self.size} of {_count(self.unknown_of, 'equation')} matched with "
            f"{_count(self.equation_of, 'unknown')}"
        )


@dataclass(frozen=True)
class DulmageMendelsohn:
    """Coarse Dulmage–Mendelsohn decomposition.

    Attributes
    ----------
    overdetermined : Block
        More equations than unknowns (both empty if there is no such part).  Its equations
        hold no other unknowns.
    square : Block
        The well-constrained part; besides its own unknowns its equations may hold those of
        the overdetermined part.
    underdetermined : Block
        More unknowns than equations; its unknowns occur in no other equations.
    matching : Matching
        The maximum matching it was computed from.
    hall_violator : Block or None
        A set of equations and all unknowns that occur in them, one fewer: these equations
        alone cannot be solved generically.  No proper subset of the equations has this
        defect.  None if every equation can be matched.
    unknown_violator : Block or None
        The same for unknowns: a set of unknowns and all equations they occur in, one fewer;
        inclusion-minimal.  These unknowns cannot be isolated.

    Notes
    -----
    The three parts are unique: they do not depend on the matching nor on the order of
    equations and unknowns.  The members of the matching and the choice of the violators
    are *not* unique (there may be many, of different sizes).
    """

    overdetermined: Block
    square: Block
    underdetermined: Block
    matching: Matching
    hall_violator: Block | None
    unknown_violator: Block | None

    def __str__(self) -> str:
        parts = ("overdetermined", "square", "underdetermined")
        return "\n".join(f"{name}: {block}" for name in parts if (block := getattr(self, name)))


@dataclass(frozen=True)
class BlockTriangularForm:
    """Fine decomposition: `DulmageMendelsohn` with its square part split into blocks.

    Attributes
    ----------
    blocks : tuple of Block
        Blocks of the square part in solving order: each uses only unknowns of itself, of
        earlier blocks and of the overdetermined part.  Each has as many equations as
        unknowns and cannot be split further.

    Notes
    -----
    The blocks are unique as sets.  Their order is one of the possible ones: among blocks
    that could come next, the one with the smallest equation does.
    """

    overdetermined: Block
    blocks: tuple[Block, ...]
    underdetermined: Block

    @property
    def parts(self) -> tuple[Block, ...]:
        """All parts in the order of the permuted matrix: over, square blocks, under."""
        return (self.overdetermined, *self.blocks, self.underdetermined)

    @property
    def row_order(self) -> tuple[int, ...]:
        """Equations in an order that makes the incidence matrix lower block triangular."""
        return tuple(chain.from_iterable(part.equations for part in self.parts))

    @property
    def column_order(self) -> tuple[int, ...]:
        """Unknowns in the order that goes with `row_order`."""
        return tuple(chain.from_iterable(part.unknowns for part in self.parts))

    def __str__(self) -> str:
        names = ["overdetermined", *map("block {}".format, range(len(self.blocks)))]
        named = zip([*names, "underdetermined"], self.parts, strict=True)
        return "\n".join(f"{name}: {part}" for name, part in named if part)


def maximum_matching(patterns: Patterns, unknowns: int) -> Matching:
    """Match as many equations as possible with distinct unknowns that occur in them.

    Parameters
    ----------
    patterns : sequence of collection of int
        For each equation the unknowns that occur in it.
    unknowns : int
        Number of unknowns.

    Returns
    -------
    Matching

    Raises
    ------
    InputError
        Where a pattern names an unknown that is not there; so too in the functions below.

    Notes
    -----
    Hopcroft–Karp, O(E √V), as SciPy has it: networkx' version searches by recursion
    and stops with a RecursionError on chains of some thousand equations.

    Examples
    --------
    >>> print(maximum_matching([{0, 1}, {0}, {0, 1}], 3))
    2 of 3 equations matched with 3 unknowns
    """
    return _match(_checked(patterns, unknowns), unknowns)


def dulmage_mendelsohn(patterns: Patterns, unknowns: int) -> DulmageMendelsohn:
    """Split a system into its over-, well- and underdetermined parts.

    Parameters
    ----------
    patterns, unknowns
        As for `maximum_matching`.

    Returns
    -------
    DulmageMendelsohn

    Notes
    -----
    With a maximum matching, the overdetermined part is what alternating paths reach from
    the unmatched equations, the underdetermined part what they reach from the unmatched
    unknowns [1]_.

    Let S be the equations reached from *one* unmatched equation e.  All their unknowns are
    matched within S, so they are |S| − 1.  Flipping the path from e to any e' in S gives a
    matching that leaves only e' of S out; so S without e' can be matched, and S is an
    inclusion-minimal violator of Hall's condition.  The smallest of these S (over e) is
    reported; a smallest one of all is NP-hard to find.

    Examples
    --------
    >>> parts = dulmage_mendelsohn([{0}, {0}, {1, 2}], 3)
    >>> print(parts)
    overdetermined: 2 equations in 1 unknown: equations 0, 1; unknowns 0
    underdetermined: 1 equation in 2 unknowns: equations 2; unknowns 1, 2
    """
    rows = _checked(patterns, unknowns)
    return _decompose(rows, _transposed(rows, unknowns), _match(rows, unknowns))


def block_triangular_form(patterns: Patterns | np.ndarray, unknowns: int) -> BlockTriangularForm:
    """Order a system so that it can be solved block by block.

    Parameters
    ----------
    patterns, unknowns
        As for `maximum_matching`; or the incidence matrix, boolean, of shape
        (equations, unknowns).

    Returns
    -------
    BlockTriangularForm

    Notes
    -----
    On the square part the matching is perfect.  Let equation e point to e' if the unknown
    matched with e' occurs in e: e' must then be solved before or together with e.  The
    strongly connected components are the blocks; they do not depend on the matching [2]_.

    Examples
    --------
    >>> form = block_triangular_form([{0, 1}, {1}, {1}], 2)
    >>> form.overdetermined, form.blocks
    (Block(equations=(1, 2), unknowns=(1,)), (Block(equations=(0,), unknowns=(0,)),))
    >>> form.row_order, form.column_order
    ((1, 2, 0), (1, 0))
    """
    entries = patterns.size if isinstance(patterns, np.ndarray) else len(patterns) * unknowns
    if entries <= _ENTRIES:
        return _dense_form(_incidence(patterns, unknowns))
    return _sparse_form(_checked(_listed(patterns), unknowns), unknowns)


def _listed(patterns: Patterns | np.ndarray) -> Patterns:
    if isinstance(patterns, np.ndarray):
        return [np.flatnonzero(row).tolist() for row in patterns]
    return patterns


def _incidence(patterns: Patterns | np.ndarray, unknowns: int) -> np.ndarray:
    """The incidence matrix, shape (equations, unknowns)."""
    if isinstance(patterns, np.ndarray):
        return patterns
    rows = _checked(patterns, unknowns)
    matrix = np.zeros((len(rows), unknowns), bool)
    for e, row in enumerate(rows):
        matrix[e, row] = True
    return matrix


def _dense_form(matrix: np.ndarray) -> BlockTriangularForm:
    count, unknowns = matrix.shape
    rows = bit_rows(matrix)
    mate, owner = matched(rows, unknowns)
    spare = [e for e, u in enumerate(mate) if u is None]
    loose = [u for u, e in enumerate(owner) if e is None]
    over = reached(spare, rows, owner) if spare else (set[int](), set[int]())
    under = reached(loose, bit_rows(matrix.T), mate) if loose else (set[int](), set[int]())
    square = [e for e in range(count) if e not in over[0] and e not in under[1]]
    inside = [u for e in square if (u := mate[e]) is not None]
    # Node k is the k-th equation of the square part and the unknown it is matched with.
    arrows = matrix[np.ix_(square, inside)]
    label = strong_components(arrows)
    # Components are renumbered by their first equation: the order in which ties are decided.
    _, first = np.unique(label, return_index=True)
    number = np.argsort(np.argsort(first))
    label = number[label]
    earlier = np.zeros((len(first), len(first)), bool)
    later, sooner = np.nonzero(arrows)
    earlier[label[later], label[sooner]] = True
    np.fill_diagonal(earlier, False)
    nodes = np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label))[:-1])
    blocks = []
    waits = earlier.sum(axis=1)
    ready = np.flatnonzero(waits == 0).tolist()
    while ready:
        component = heapq.heappop(ready)
        own = nodes[component].tolist()
        blocks.append(_block((square[k] for k in own), (inside[k] for k in own)))
        freed = earlier[:, component]
        waits -= freed
        for k in np.flatnonzero(freed & (waits == 0)).tolist():
            heapq.heappush(ready, k)
    return BlockTriangularForm(_block(*over), tuple(blocks), _block(under[1], under[0]))


def _sparse_form(rows: _Lists, unknowns: int) -> BlockTriangularForm:
    matching = _match(rows, unknowns)
    parts = _decompose(rows, _transposed(rows, unknowns), matching)
    inside = np.zeros(len(rows), bool)
    inside[list(parts.square.equations)] = True
    equation = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    owner = np.array([-1 if e is None else e for e in matching.equation_of], int)
    earlier = owner[np.fromiter(chain.from_iterable(rows), int, len(equation))]
    kept = inside[equation] & (earlier >= 0) & inside[earlier]
    equation, earlier = equation[kept], earlier[kept]
    label = _strong_components(earlier, equation, len(rows))

    members: dict[int, list[int]] = {}
    for e in parts.square.equations:
        members.setdefault(int(label[e]), []).append(e)
    order: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(members, ()))
    links = np.unique(label[earlier] * len(rows) + label[equation])
    pairs = map(divmod, links.tolist(), repeat(len(rows)))
    for before, after in pairs:
        if before != after:
            order.add(after, before)
    blocks = []
    for node in _sorted_topologically(order, {node: own[0] for node, own in members.items()}):
        mates = (u for e in members[node] if (u := matching.unknown_of[e]) is not None)
        blocks.append(_block(members[node], mates))
    return BlockTriangularForm(parts.overdetermined, tuple(blocks), parts.underdetermined)


def _sorted_topologically(order: TopologicalSorter[int], keys: Mapping[int, int]) -> Iterator[int]:
    """The one topological order that always takes the ready node with the smallest key."""
    order.prepare()
    ready: list[tuple[int, int]] = []
    while order.is_active():
        for node in order.get_ready():
            heapq.heappush(ready, (keys[node], node))
        _, node = heapq.heappop(ready)
        order.done(node)
        yield node


def _checked(patterns: Patterns, unknowns: int) -> _Lists:
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


def _transposed(rows: _Lists, unknowns: int) -> _Lists:
    columns: _Lists = [[] for _ in range(unknowns)]
    for e, row in enumerate(rows):
        for u in row:
            columns[u].append(e)
    return columns


def _match(rows: _Lists, unknowns: int) -> Matching:
    if not rows or not unknowns:
        return Matching((None,) * len(rows), (None,) * unknowns)
    # Loaded here: SciPy takes longer than most commands.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    starts = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    indices = np.fromiter(chain.from_iterable(rows), np.int32, starts[-1])
    graph = csr_array((np.ones(len(indices), np.int8), indices, starts), (len(rows), unknowns))
    owner: list[int | None] = [None] * unknowns
    mates = [int(u) for u in maximum_bipartite_matching(graph, perm_type="column")]
    for e, u in enumerate(mates):
        if u >= 0:
            owner[u] = e
    return Matching(tuple(None if u < 0 else u for u in mates), tuple(owner))


def _strong_components(tails: np.ndarray, heads: np.ndarray, nodes: int) -> np.ndarray:
    """A label for each node, the same for those that reach each other."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = csr_array((np.ones(len(tails), bool), (tails, heads)), (nodes, nodes))
    return np.asarray(connected_components(graph, connection="strong")[1], np.int64)


def _reach(
    starts: Iterable[int], rows: _Lists, owner: _Mates, limit: int | None = None
) -> _Sets | None:
    """Equations and unknowns on alternating paths from `starts`; None once above `limit`."""
    equations, unknowns = set(starts), set[int]()
    stack = list(equations)
    while stack:
        for u in rows[stack.pop()]:
            if u not in unknowns:
                unknowns.add(u)
                following = owner[u]
                if following is not None and following not in equations:
                    equations.add(following)
                    stack.append(following)
        if limit is not None and len(equations) > limit:
            return None
    return equations, unknowns


def _smallest(starts: Iterable[int], rows: _Lists, owner: _Mates) -> _Sets | None:
    best: _Sets | None = None
    for start in starts:
        found = _reach([start], rows, owner, None if best is None else len(best[0]) - 1)
        best = found or best
    return best


def _decompose(rows: _Lists, columns: _Lists, matching: Matching) -> DulmageMendelsohn:
    spare_equations = [e for e, unknown in enumerate(matching.unknown_of) if unknown is None]
    spare_unknowns = [u for u, equation in enumerate(matching.equation_of) if equation is None]
    over = _reach(spare_equations, rows, matching.equation_of) or (set(), set())
    under = _reach(spare_unknowns, columns, matching.unknown_of) or (set(), set())
    hall = _smallest(spare_equations, rows, matching.equation_of)
    loose = _smallest(spare_unknowns, columns, matching.unknown_of)
    square = (set(range(len(rows))) - over[0] - under[1], set(range(len(columns))) - over[1])
    return DulmageMendelsohn(
        overdetermined=_block(*over),
        square=_block(square[0], square[1] - under[0]),
        underdetermined=_block(under[1], under[0]),
        matching=matching,
        hall_violator=None if hall is None else _block(*hall),
        unknown_violator=None if loose is None else _block(loose[1], loose[0]),
    )


def _block(equations: Iterable[int], unknowns: Iterable[int]) -> Block:
    return Block(tuple(sorted(equations)), tuple(sorted(unknowns)))


def _count(items: Collection[object], noun: str) -> str:
    return plural(len(items), f"{len(items)} {noun}")


def _short(items: Sequence[int], most: int = 8) -> str:
    shown = ", ".join(map(str, items[:most])) or "none"
    return shown + (f", … {items[-1]}" if len(items) > most else "")
