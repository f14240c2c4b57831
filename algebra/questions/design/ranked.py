r"""Bases in order of cost, the cheapest first.

The cheapest basis of a family is followed by the cheapest of its parts: the bases without its first
element, those with the first but without the second, and so on (Lawler's partition [1]_). Without
caps the cheapest basis that lacks an element differs by one exchange, so a step needs one reduced
echelon form.  With caps each part is solved by matroid intersection, or by branch and bound if caps
cross, and only when it is next in order.

References
----------
.. [1] E. L. Lawler, "A procedure for computing the k best solutions to discrete optimization
   problems and its application to the shortest path problem", Management Science 18 (1972).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from algebra.linalg.echelon import modular_echelon
from algebra.matroids.capped import CappedProblem
from algebra.matroids.linear import LinearMatroid
from algebra.matroids.optimum import optimum
from algebra.questions.design.demand import Demand, SearchUnfinished

Ranked = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, order=True)
class _Part:
    """A family: all bases with some elements and without others; `elements` is its cheapest."""

    cost: int
    solved: int
    number: int
    elements: tuple[int, ...]
    inside: frozenset[int]
    outside: frozenset[int]


def ranked_bases(demand: Demand, columns: np.ndarray, p: int) -> Iterator[Ranked]:
    """Costs and elements of all designs at one random point, in order of cost.

    Parameters
    ----------
    demand : Demand
    columns : ndarray of int64
        `Demand.columns` of the point.
    p : int

    Yields
    ------
    cost : int
        Cost of the free weights, in units of the demand.
    elements : tuple of int
        Positions among the free weights.

    Raises
    ------
    SearchUnfinished
        If several kinds of caps make the search of one step too long.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from algebra.questions.design.demand import checked_demand
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> costs = {("W", 0, j): Fraction(j) for j in range(3)}
    >>> demand = checked_demand(LinearEstimator(q=3, d=1, m=2), costs=costs)
    >>> p, number = next(demand.points())
    >>> list(ranked_bases(demand, demand.columns(p, number), p))
    [(1, (0, 1)), (2, (0, 2)), (3, (1, 2))]
    """
    return (_exchanging if not demand.caps else _solving)(demand, columns, p)


def _exchanging(demand: Demand, columns: np.ndarray, p: int) -> Iterator[Ranked]:
    costs, size = demand.costs, demand.wanted
    order = sorted(range(len(costs)), key=costs.__getitem__)
    first = LinearMatroid(columns, p).greedy(order, size)
    if len(first) < size:
        return
    none: frozenset[int] = frozenset()
    heap = [_Part(sum(costs[e] for e in first), 1, 0, tuple(sorted(first)), none, none)]
    count = 0
    place = np.array(costs, dtype=object)
    while heap:
        part = heapq.heappop(heap)
        yield part.cost, part.elements
        basis = list(part.elements)
        rest = [e for e in order if e not in set(basis)]
        table, _ = modular_echelon(columns[:, basis + rest], p)
        swaps = table[:, len(basis) :] != 0
        able = np.array([e not in part.outside for e in rest], bool)
        inside = part.inside
        for row, y in enumerate(basis):
            if y in part.inside:
                continue
            # `rest` is in order of cost, so the first that fits is the cheapest.
            fits = np.flatnonzero(swaps[row] & able)
            if len(fits):
                x = rest[int(fits[0])]
                count += 1
                new = tuple(sorted({*part.elements, x} - {y}))
                cost = part.cost + int(place[x] - place[y])
                heapq.heappush(heap, _Part(cost, 1, count, new, inside, part.outside | {y}))
            inside = inside | {y}


def _solving(demand: Demand, columns: np.ndarray, p: int) -> Iterator[Ranked]:
    none: frozenset[int] = frozenset()
    heap = [_Part(sum(sorted(demand.costs)[: demand.wanted]), 0, 0, (), none, none)]
    count = 0
    while heap:
        part = heapq.heappop(heap)
        if not part.solved:
            found = _solve(demand, columns, p, part.inside, part.outside)
            if found is not None:
                again = _Part(found[0], 1, part.number, found[1], part.inside, part.outside)
                heapq.heappush(heap, again)
            continue
        yield part.cost, part.elements
        inside = part.inside
        for y in part.elements:
            if y in part.inside:
                continue
            count += 1
            heapq.heappush(heap, _Part(part.cost, 0, count, (), inside, part.outside | {y}))
            inside = inside | {y}


def _solve(
    demand: Demand, columns: np.ndarray, p: int, inside: frozenset[int], outside: frozenset[int]
) -> Ranked | None:
    """The cheapest design with and without some elements, under the caps."""
    left = [e for e in range(columns.shape[1]) if e not in inside and e not in outside]
    rest = LinearMatroid(columns, p).contract(sorted(inside))[0].restrict(left)
    systems = []
    for group, caps in demand.all_groups():
        used = np.bincount([group[e] for e in inside], minlength=len(caps)).tolist()
        systems.append(([group[e] for e in left], [c - u for c, u in zip(caps, used, strict=True)]))
    costs = [demand.costs[e] for e in left]
    wanted = demand.wanted - len(inside)
    found = optimum(CappedProblem(rest.columns, p, systems, costs, wanted))
    if found.is_infeasible:
        return None
    if found.elements is None or found.bound is None or found.cost != found.bound:
        raise SearchUnfinished("the designs under these caps could not be put in order of cost")
    own = sum(demand.costs[e] for e in inside)
    return own + found.bound, tuple(sorted({*inside, *(left[k] for k in found.elements)}))
