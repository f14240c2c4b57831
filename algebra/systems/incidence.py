"""Structure of a system of equations: matchings, Dulmage–Mendelsohn, block triangular form.

A system is given by its *patterns*: for each equation the indices of the unknowns that
truly occur in it (after expansion: no terms that cancel).  Nothing here knows of networks
or polynomials; it is bipartite graph theory between equations and unknowns, and what it
says holds for every system with these patterns.

An equation set with fewer unknowns than equations cannot be solved for generic
coefficients; the overdetermined part is where this happens.  The well-constrained rest
splits into blocks that can be solved one after the other.

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
from typing import NamedTuple

import numpy as np

from algebra.errors import InputError
from algebra.networks.limits import plural

# Systems of so few equations are ordered without SciPy, which takes longer to load.
_FEW = 64

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


class _Matching(NamedTuple):
    """A maximum matching: for each equation its unknown, for each unknown its equation, or None.

    Only its size is a property of the patterns; which pairs are matched is a choice (always the
    same one for the same input).
    """

    unknown_of: tuple[int | None, ...]
    equation_of: tuple[int | None, ...]


@dataclass(frozen=True)
class BlockTriangularForm:
    """Fine Dulmage–Mendelsohn decomposition.

    Attributes
    ----------
    overdetermined : Block
        More equations than unknowns (both empty if there is no such part).  Its equations
        hold no other unknowns.
    blocks : tuple of Block
        Blocks of the well-constrained part in solving order: each uses only unknowns of itself,
        of earlier blocks and of the overdetermined part.  Each has as many equations as
        unknowns and cannot be split further.
    underdetermined : Block
        More unknowns than equations; its unknowns occur in no other equations.

    Notes
    -----
    The over- and the underdetermined part are unique, and so are the blocks as sets: they do not
    depend on the matching nor on the order of equations and unknowns.  The order of the blocks is
    one of the possible ones: among blocks that could come next, the one with the smallest equation
    does.
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


def block_triangular_form(patterns: Patterns, unknowns: int) -> BlockTriangularForm:
    """Order a system so that it can be solved block by block.

    Parameters
    ----------
    patterns : sequence of collection of int
        For each equation the unknowns that occur in it.
    unknowns : int
        Number of unknowns.

    Returns
    -------
    BlockTriangularForm

    Raises
    ------
    InputError
        Where a pattern names an unknown that is not there.

    Notes
    -----
    With a maximum matching, the overdetermined part is what alternating paths reach from
    the unmatched equations, the underdetermined part what they reach from the unmatched
    unknowns [1]_.

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
    rows = _checked(patterns, unknowns)
    matching = _match_few(rows, unknowns) if len(rows) <= _FEW else _match(rows, unknowns)
    over = _reach(rows, matching.unknown_of, matching.equation_of)
    under = _reach(_transposed(rows, unknowns), matching.equation_of, matching.unknown_of)
    square = sorted(set(range(len(rows))) - over[0] - under[1])
    inside = np.zeros(len(rows), bool)
    inside[square] = True
    equation = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    owner = np.array([-1 if e is None else e for e in matching.equation_of], int)
    earlier = owner[np.fromiter(chain.from_iterable(rows), int, len(equation))]
    kept = inside[equation] & (earlier >= 0) & inside[earlier]
    equation, earlier = equation[kept], earlier[kept]
    label = _strong_components(earlier, equation, len(rows))

    members: dict[int, list[int]] = {}
    for e in square:
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
    return BlockTriangularForm(_block(*over), tuple(blocks), _block(*under[::-1]))


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


def _match(rows: _Lists, unknowns: int) -> _Matching:
    """Hopcroft–Karp, O(E √V), as SciPy has it.

    networkx' version searches by recursion and stops with a RecursionError on chains of some
    thousand equations.
    """
    if not rows or not unknowns:
        return _Matching((None,) * len(rows), (None,) * unknowns)
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
    return _Matching(tuple(None if u < 0 else u for u in mates), tuple(owner))


def _match_few(rows: _Lists, unknowns: int) -> _Matching:
    """A maximum matching by augmenting paths, without SciPy; not always the one of `_match`."""
    owner: list[int | None] = [None] * unknowns

    def augment(e: int, seen: set[int]) -> bool:
        for u in rows[e]:
            if u not in seen:
                seen.add(u)
                holder = owner[u]
                if holder is None or augment(holder, seen):
                    owner[u] = e
                    return True
        return False

    for e in range(len(rows)):
        augment(e, set())
    mates: list[int | None] = [None] * len(rows)
    for u, holder in enumerate(owner):
        if holder is not None:
            mates[holder] = u
    return _Matching(tuple(mates), tuple(owner))


def _strong_components(tails: np.ndarray, heads: np.ndarray, nodes: int) -> np.ndarray:
    """A label for each node, the same for those that reach each other."""
    if nodes <= _FEW:
        reached = np.eye(nodes, dtype=bool)
        reached[tails, heads] = True
        for _ in range(nodes.bit_length()):
            reached = reached @ reached
        return (reached & reached.T).argmax(axis=1) if nodes else np.arange(0)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = csr_array((np.ones(len(tails), bool), (tails, heads)), (nodes, nodes))
    return np.asarray(connected_components(graph, connection="strong")[1], np.int64)


def _reach(rows: _Lists, mates: _Mates, owner: _Mates) -> _Sets:
    """Equations and unknowns on alternating paths from the equations without a mate."""
    equations, unknowns = {e for e, mate in enumerate(mates) if mate is None}, set[int]()
    stack = list(equations)
    while stack:
        for u in rows[stack.pop()]:
            if u not in unknowns:
                unknowns.add(u)
                following = owner[u]
                if following is not None and following not in equations:
                    equations.add(following)
                    stack.append(following)
    return equations, unknowns


def _block(equations: Iterable[int], unknowns: Iterable[int]) -> Block:
    return Block(tuple(sorted(equations)), tuple(sorted(unknowns)))


def _count(items: Collection[object], noun: str) -> str:
    return plural(len(items), f"{len(items)} {noun}")


def _short(items: Sequence[int], most: int = 8) -> str:
    shown = ", ".join(map(str, items[:most])) or "none"
    return shown + (f", … {items[-1]}" if len(items) > most else "")
