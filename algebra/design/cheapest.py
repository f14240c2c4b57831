r"""Allocations chosen for a purpose: the cheapest that is not minimal, the most spread one.

An allocation is not minimal exactly where its columns of the generic Jacobian have the rank ρ of
the whole network's (`algebra.ranks.jacobian`): the non-minimal allocations of ρ weights are the
bases
of a linear matroid.  Without caps a greedy choice is cheapest; with caps on the rows, or the
columns, or the matrices, weighted matroid intersection is (`algebra.matroids.intersection`); with
several kinds of caps at once a branch and bound is (`algebra.matroids.branch_and_bound`).

What is proved.  The matroid is computed at random points over GF(p).  Sets that are independent
there are independent generically, so the design is *surely* not minimal.  That nothing cheaper
exists: let B be a cheapest basis generically, a set that does not depend on the random point.
Unless B is dependent there, which happens with a probability below `deficit_error`, the design
found at this point costs no more than B.  With k independent points, of which the cheapest
design is taken, the bound is its k-th power.  At the second point nothing is searched anew where
the first one's certificate (a weight splitting, or the leaves of a tree) holds there too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.design.demand import TARGET, Demand, SearchUnfinished, demand, line_of
from algebra.design.reasons import crossing_text, shortage_text
from algebra.errors import InputError
from algebra.linalg.modular import rank as rank_of
from algebra.matroids.branch_and_bound import CappedBasis, capped_basis, certified_bound
from algebra.matroids.intersection import CommonBasis, Shortage, common_basis, is_optimal
from algebra.matroids.lagrangian import Relax, System
from algebra.networks.base import Network
from algebra.problems.allocation import Allocation, Cell
from algebra.ranks.jacobian import GenericRank, allocation_rank

# Makes the relaxation of one problem: columns, p, systems of caps, costs, size.
RelaxationMaker = Callable[[np.ndarray, int, Sequence[System], Sequence[int], int], Relax]


@dataclass(frozen=True)
class Design:
    """A chosen allocation.

    Attributes
    ----------
    allocation : Allocation
    goal : str
    cost : Fraction
        Of all its weights.
    rank : GenericRank
        Of the allocation: it equals the network's, with a proof.
    caps : tuple of (str, int)
        The caps kept: kind of line and number.
    value, bound : Fraction
        What the goal minimizes, and the value that no allocation falls below.
    error : Fraction
        Bound on the probability that the bound is wrong.
    points : tuple of (int, int)
        Prime and number of each random point used.
    proof : str
        Why nothing is better, or how far that is known.
    measure : str
        What `value` counts; empty for the cost.
    evidence : mapping
        Plain data from which the least cost is proved again (`algebra.design.proof`).
    """

    allocation: Allocation
    goal: str
    cost: Fraction
    rank: GenericRank
    caps: tuple[tuple[str, int], ...]
    value: Fraction
    bound: Fraction
    error: Fraction
    points: tuple[tuple[int, int], ...] = field(repr=False)
    proof: str = ""
    measure: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __hash__(self) -> int:
        return hash((self.allocation, self.goal))

    @property
    def is_optimal(self) -> bool:
        """Whether value and bound meet."""
        return self.value == self.bound

    @property
    def largest(self) -> dict[str, int]:
        """Most learnable weights in one row and in one column."""
        a = self.allocation
        return {
            "row": max((c for n in a.matrices for c in a.row_counts(n)), default=0),
            "column": max((c for n in a.matrices for c in a.column_counts(n)), default=0),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "goal": self.goal,
            "cells": [list(cell) for cell in self.allocation.cells],
            "learnable": self.allocation.size,
            "cost": str(self.cost),
            "equations": self.rank.rank,
            "caps": dict(self.caps),
            "measure": self.measure or "cost",
            "value": str(self.value),
            "bound": str(self.bound),
            "optimal": self.is_optimal,
            "proof": self.proof,
            "error_bound": float_text(self.error),
            "points": [list(point) for point in self.points],
            "largest": self.largest,
        }


def float_text(value: Fraction) -> str:
    """A bound as a short decimal text, rounded up."""
    if value == 0:
        return "0"
    exponent = 0
    while value < 1:
        value, exponent = value * 10, exponent + 1
    return f"{-(-value.numerator * 10 // value.denominator) / 10:.1f}e-{exponent}"


def least_cost(
    network: Network,
    *,
    allowed: Sequence[Cell] | None = None,
    forbidden: Sequence[Cell] = (),
    must: Sequence[Cell] = (),
    costs: Mapping[Cell, Fraction] | None = None,
    caps: Mapping[str, int] | None = None,
    budget: int | None = None,
    support: Mapping[str, np.ndarray] | None = None,
    seed: int = 0,
    goal: str = "cheapest",
    relaxation: RelaxationMaker | None = None,
    seconds: float | None = None,
) -> Design:
    """The cheapest allocation that is not minimal.

    Parameters
    ----------
    network : Network
    allowed, forbidden, must, costs, caps, budget, support, seed
        See `algebra.design.demand.demand`.
    goal : str, optional
        Name of the result.
    relaxation : callable, optional
        Makes the relaxation that guides the search where there are several kinds of caps
        (`numeric.cap_relaxation.linear_relaxation`); what it says is checked exactly.
    seconds : float, optional
        Time for that search; the bound of the result says what was reached.

    Raises
    ------
    InputError
        Where no such allocation exists, with the reason.

    Examples
    --------
    >>> from algebra.networks.base import LinearEstimator
    >>> net = LinearEstimator(q=3, d=2, m=2)
    >>> least_cost(net, costs={("W", 0, 0): Fraction(9)}).allocation.row_counts("W")
    [2, 2]
    """
    asked = demand(
        network, allowed=allowed, forbidden=forbidden, must=must, costs=costs, caps=caps,
        budget=budget, support=support, seed=seed,
    )  # fmt: skip
    return cheapest(asked, goal, relaxation, seconds)


def cheapest(
    asked: Demand,
    goal: str = "cheapest",
    relaxation: RelaxationMaker | None = None,
    seconds: float | None = None,
) -> Design:
    """`least_cost` of a demand that is already checked."""
    if len(asked.caps) > 1:
        return _crossing(asked, goal, relaxation, seconds)
    ((groups, caps),) = asked.all_groups()
    best: CommonBasis | Shortage | None = None
    points: list[tuple[int, int]] = []
    error = Fraction(1)
    for p, number in asked.points():
        if error < TARGET:
            break
        points.append((p, number))
        columns = asked.columns(p, number)
        error *= asked.point_error
        if isinstance(best, CommonBasis) and is_optimal(
            columns, p, groups, caps, asked.costs, best
        ):
            continue
        if isinstance(best, Shortage) and _still_short(columns, p, best):
            continue
        found = common_basis(columns, p, groups, caps, asked.costs, asked.wanted)
        if isinstance(found, Shortage):
            best = best or found
            continue
        if not is_optimal(columns, p, groups, caps, asked.costs, found):
            raise ArithmeticError("a design's optimality certificate does not check: a bug")
        if not isinstance(best, CommonBasis) or found.cost < best.cost:
            best = found
    assert best is not None
    if isinstance(best, Shortage):
        raise InputError(shortage_text(best, asked))
    proof = f"a weight splitting checks at {len(points)} random points"
    allocation = allocation_of(asked, best.elements)
    evidence = {"kind": "splitting", "first": best.first.tolist(), "scale": best.scale}
    return made(asked, allocation, goal, error, points, proof, evidence=evidence)


def _crossing(
    asked: Demand, goal: str, relaxation: RelaxationMaker | None, seconds: float | None
) -> Design:
    """Several kinds of caps: branch and bound at the first point, its leaves at the others."""
    systems = asked.all_groups()
    points: list[tuple[int, int]] = []
    error = Fraction(1)
    best: CappedBasis | None = None
    bound: int | None = None
    for p, number in asked.points():
        if error < TARGET:
            break
        points.append((p, number))
        error *= asked.point_error
        columns = asked.columns(p, number)
        task = (columns, p, systems, asked.costs, asked.wanted)
        if best is not None:
            now = certified_bound(*task, best.leaves, best.cost)
            if now == bound:
                continue
        relax = relaxation(*task) if relaxation else None
        found = capped_basis(*task, relax=relax, seconds=seconds)
        if best is None or (found.cost is not None and (best.cost or 0) >= found.cost):
            best = found
        known = [b for b in (bound, found.bound) if b is not None]
        bound = min(known, default=None)
    assert best is not None
    if best.elements is None:
        if bound is not None:
            raise SearchUnfinished(
                f"no allocation under these caps was found in {best.nodes} branches of the search, "
                "nor was it shown that there is none: allow more with --seconds, or loosen a cap"
            )
        raise InputError(crossing_text(asked, best))
    assert bound is not None
    proof = (
        f"a tree of {len(best.leaves)} leaves with their multipliers checks at {len(points)} "
        "random points"
    )
    fixed = asked.cost(sorted(asked.must))
    found_bound = Fraction(bound, asked.unit) + fixed
    allocation = allocation_of(asked, best.elements)
    leaves = [
        [list(a.inside), list(a.outside), [list(lines) for lines in a.multipliers]]
        for a in best.leaves
    ]
    evidence = {"kind": "tree", "leaves": leaves}
    return made(asked, allocation, goal, error, points, proof, bound=found_bound, evidence=evidence)


def allocation_of(asked: Demand, elements: Sequence[int]) -> Allocation:
    """What must learn and the chosen free weights."""
    return Allocation.from_cells(asked.network, [*asked.must, *(asked.free[k] for k in elements)])


def made(
    asked: Demand,
    allocation: Allocation,
    goal: str,
    error: Fraction,
    points: Sequence[tuple[int, int]],
    proof: str,
    *,
    value: Fraction | None = None,
    bound: Fraction | None = None,
    measure: str = "",
    evidence: Mapping[str, Any] | None = None,
) -> Design:
    """The design of an allocation, its rank proved; the cost is the value by default."""
    rank = allocation_rank(allocation, asked.support, asked.equations, asked.seed)
    if rank.rank != asked.equations:
        raise ArithmeticError("a design is minimal: a bug")
    cost = asked.cost(allocation.cells)
    value = cost if value is None else value
    return Design(
        allocation, goal, cost, rank, asked.caps, value, value if bound is None else bound,
        error, tuple(points), proof, measure, evidence or {},
    )  # fmt: skip


def most_spread(
    asked: Demand,
    line: str = "row",
    relaxation: RelaxationMaker | None = None,
    seconds: float | None = None,
) -> Design:
    """The cheapest of the allocations whose fullest row (or column) is as empty as it can be.

    Parameters
    ----------
    asked : Demand
        With caps on other lines than `line`, or none.
    line : {"row", "column", "matrix"}
    relaxation, seconds
        As for `least_cost`.

    Notes
    -----
    The smallest cap that admits a design, by bisection: a cap that admits none is refused with
    a reason, so the next larger one is the least.

    Examples
    --------
    >>> from algebra.networks.base import LinearEstimator
    >>> most_spread(demand(LinearEstimator(q=3, d=2, m=2))).value
    Fraction(2, 1)
    """
    if any(kind == line for kind, _ in asked.caps):
        raise InputError(f"goal 'spread' finds the least cap of a {line} itself: give none")

    def under(number: int) -> Design:
        caps = (*asked.caps, (line, number))
        return cheapest(replace(asked, caps=caps), "spread", relaxation, seconds)

    low = max(Counter(line_of(c, line) for c in asked.must).values(), default=1)
    best = cheapest(asked, "spread", relaxation, seconds)
    high = fullest(best.allocation, line)
    reason = f"every weight alone in its {line}"
    while low < high:
        middle = (low + high) // 2
        try:
            best = under(middle)
            high = min(middle, fullest(best.allocation, line))
        except InputError as error:
            low, reason = middle + 1, str(error)
    best = under(high)
    proof = f"with one less, {reason}" if high > 1 else reason
    if not best.is_optimal:
        proof += f"; its cost is {best.cost}, at least {best.bound} for any so spread"
    value = Fraction(high)
    return replace(
        best, value=value, bound=value, proof=proof, measure=f"weights in the fullest {line}"
    )


def fullest(allocation: Allocation, line: str) -> int:
    """Most learnable weights in one line."""
    count: Callable[[str], Sequence[int]]
    if line == "matrix":
        return max(sum(allocation.row_counts(name)) for name in allocation.matrices)
    count = allocation.row_counts if line == "row" else allocation.column_counts
    return max(c for name in allocation.matrices for c in count(name))


def _still_short(columns: np.ndarray, p: int, found: Shortage) -> bool:
    return not found.elements or rank_of(columns[:, list(found.elements)], p) <= found.rank
