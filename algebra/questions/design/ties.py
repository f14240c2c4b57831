r"""Designs of the same cost: one that is spread out, their number, weights in all and in none.

Let B be a design, at a random point a basis of the columns' matroid, and A the other columns in its
coordinates: row e of A for e in B, column f for the other weights.  B without e and with f is a
basis if and only if A[e, f] ≠ 0; B without E and with F is one if and only if the minor of A on
E × F is not 0.

**Spread.**  A design as cheap, under the same caps, that fills rows and columns more evenly:
exchanges of weights of one cost decrease the sum of the squares of the lines' numbers of weights.

**Without caps** the cheapest designs are the bases of a matroid (Edmonds, Math. Programming 1,
1971), and the exchanges of B its fundamental circuits.  So e is in every cheapest design (a coloop
of it) if it has no exchange, and f in none (a loop) if it has none.

**With one kind of caps** they are the common bases of two matroids: the bases that are cheapest for
c1, and the sets that keep the caps and are cheapest for c2, where c = c1 + c2 is the weight
splitting that proves the cost.  Draw an arc from e to f if f may replace e in the first, and from f
to e if it may in the second.  For another common basis each of the two exchange graphs has a
perfect matching of the weights that leave with those that enter; together they are cycles.
Conversely the arcs of a shortest cycle through a weight have no short cuts that keep it, so both
matchings are the only ones, and exchanging the cycle gives a common basis (A. Schrijver,
Combinatorial Optimization, Springer 2003, Corollary 39.12a and Theorem 39.13).  So e is in every
design, or f in none, if and only if it is on no directed cycle.

**A least number.**  Order B by cost.  Let F_e be the weights f whose last e with A[e, f] ≠ 0 costs
as much as f and stands in the same line of each cap.  Replace any of the e, each by one of its F_e:
the minor of A is triangular without zeros on the diagonal, so the result is a basis; all are
different.  There are Π (1 + |F_e|).  Without caps let B' be another cheapest basis.  For each set E
of weights of B outside B' some weights of B' make B without E a basis again (multiple exchange, C.
Greene, Proc. Amer. Math. Soc. 39, 1973), and E tells them apart: there are 2^|B − B'|.

Entries are computed modulo primes at two random points: one that is not 0 is generically not 0; one
that is 0 at both is generically 0, but for a small probability.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from typing import Any

import numpy as np

from algebra.linalg.echelon import modular_echelon
from algebra.linalg.ranks import modular_rank
from algebra.matroids.intersection import Splitting
from algebra.networks.base import Cell
from algebra.questions.design.demand import Demand
from algebra.questions.design.result import CostEvidence, Design, SpreadEvidence, allocation_of
from algebra.ranks.generic_rank import allocation_rank

# Random points, and orders of the basis of which the largest product is taken.
_POINTS = 2
_ORDERS = 16
# Exchanges are made in rounds, all of one round at once.
_ROUNDS = 40


@dataclass(frozen=True)
class Ties:
    """The designs that cost as much as the cheapest one.

    Attributes
    ----------
    in_every, in_none : tuple of cells
        Free weights in every cheapest design, and in none of them.
    at_least : int
        A lower bound of their number.
    """

    in_every: tuple[Cell, ...]
    in_none: tuple[Cell, ...]
    at_least: int


def ties_of(demand: Demand, found: Design) -> Ties | None:
    """The ties of a design of least cost, or of goal "spread" under its cap.

    None with several kinds of caps, of other goals, and if the design may not be optimal.

    Parameters
    ----------
    demand : Demand
    found : Design
    """
    if found.goal not in ("cheapest", "spread") or found.cost_bound < found.cost:
        return None
    if not found.is_optimal or len(found.caps) > 1:
        return None
    assert isinstance(found.evidence, CostEvidence | SpreadEvidence)
    splitting = found.evidence.dual
    if not isinstance(splitting, Splitting):
        return None
    demand = replace(demand, caps=found.caps)
    basis, others = _sides(demand, found)
    meets = np.zeros((len(basis), len(others)), bool)
    for p, number in islice(demand.points(), _POINTS):
        table = _table(demand.problem_at(p, number).columns, p, basis, others)
        if table is None:
            return None
        meets |= table != 0
    level = _levels(demand.costs)
    second = [c * splitting.scale - f for c, f in zip(demand.costs, splitting.first, strict=True)]
    first_level, second_level = _levels(splitting.first), _levels(second)
    ((groups, caps),) = demand.all_groups()
    group = np.array(groups, np.int64)
    is_full = np.bincount(group[basis], minlength=len(caps)) >= np.array(caps)
    swaps = meets & (first_level[basis][:, None] == first_level[others][None])
    caps_of_one = _CapsMatroid(group, is_full, second_level, basis, others)
    left, entered = _on_cycles(swaps, caps_of_one)
    exchanged = 0
    if not found.caps:
        # A basis for c1 with as few of the weights of B as can be.
        own = set(basis)
        order = sorted(range(len(demand.free)), key=lambda k: (demand.costs[k], k in own))
        exchanged = len(set(demand.problem_at(p, number).matroid.greedy(order, len(basis))) - own)
    within = meets & (group[basis][:, None] == group[others][None])
    direct = swaps & caps_of_one.arcs()
    return Ties(
        in_every=tuple(demand.free[basis[k]] for k in np.flatnonzero(~left)),
        in_none=tuple(demand.free[others[k]] for k in np.flatnonzero(~entered)),
        at_least=max(
            1 + int(direct.sum()),
            2**exchanged,
            _least_number(meets, within, level[basis], level[others]),
        ),
    )


def spread_out(demand: Demand, found: Design) -> Design:
    """A design of the same cost and caps that fills rows and columns more evenly.

    Parameters
    ----------
    demand : Demand
    found : Design
        Its evidence, which does not depend on the weights chosen, is kept.
    """
    demand = replace(demand, caps=found.caps)
    p, number = next(demand.points())
    problem = demand.problem_at(p, number)
    basis, others = _sides(demand, found)
    if not basis or not others:
        return found
    for _ in range(_ROUNDS):
        table = _table(problem.columns, p, basis, others)
        if table is None:
            break
        swaps = _evening_swaps(demand, table != 0, basis, others)
        # One exchange alone is always possible.
        while len(swaps) > 1:
            rows, columns = map(list, zip(*swaps, strict=True))
            if modular_rank(table[np.ix_(rows, columns)], p) == len(swaps):
                break
            swaps = swaps[: len(swaps) // 2]
        if not swaps:
            break
        for e, f in swaps:
            basis[e], others[f] = others[f], basis[e]
    allocation = allocation_of(demand, sorted(basis))
    rank = allocation_rank(allocation, demand.support, demand.equations, demand.seed)
    if rank.rank != found.rank.rank or demand.cost(allocation.cells) != found.cost:
        raise ArithmeticError("an exchange changed a design's rank or cost: a bug")
    return replace(found, allocation=allocation, rank=rank)


def _sides(demand: Demand, found: Design) -> tuple[list[int], list[int]]:
    """The places of the weights that were chosen among the free ones, and of the others."""
    place = {cell: k for k, cell in enumerate(demand.free)}
    basis = [place[cell] for cell in found.allocation.cells if cell in place]
    return basis, sorted(set(place.values()) - set(basis))


def _table(columns: np.ndarray, p: int, basis: list[int], others: list[int]) -> Any:
    """The others in coordinates of the basis at a point; None if it is none there."""
    table, pivots = modular_echelon(columns[:, basis + others], p)
    if list(pivots) != list(range(len(basis))):
        return None
    return table[: len(basis), len(basis) :]


def _levels(costs: Sequence[int]) -> np.ndarray:
    """Costs of any size as small numbers in the same order."""
    level = {cost: k for k, cost in enumerate(sorted({int(cost) for cost in costs}))}
    return np.array([level[int(cost)] for cost in costs], np.int64)


def _evening_swaps(
    demand: Demand, meets: np.ndarray, basis: list[int], others: list[int]
) -> list[tuple[int, int]]:
    """Exchanges of different weights, each of which makes rows and columns more even."""
    cost = _levels(demand.costs)[others]
    own_cost = _levels(demand.costs)[basis]
    size = len(demand.free)
    lines = [np.array(demand.groups(line, size)[0], np.int64) for line in ("row", "column")]
    full = len(demand.cells)
    filled = [
        full - np.array(demand.groups(line, full)[1], np.int64)
        + np.bincount(groups[basis], minlength=groups.max() + 1)
        for line, groups in zip(("row", "column"), lines, strict=True)
    ]  # fmt: skip
    caps = [(np.array(groups, np.int64), np.array(left)) for groups, left in demand.all_groups()]
    room = [left - np.bincount(group[basis], minlength=len(left)) for group, left in caps]
    is_free = np.ones(len(others), bool)
    swaps: list[tuple[int, int]] = []
    fullness = [sum(int(f[g[b]]) for f, g in zip(filled, lines, strict=True)) for b in basis]
    for e in sorted(range(len(basis)), key=lambda k: (-fullness[k], k)):
        may = meets[e] & is_free & (cost == own_cost[e])
        for (group, _), left in zip(caps, room, strict=True):
            may &= (left[group[others]] > 0) | (group[others] == group[basis[e]])
        if not may.any():
            continue
        # Of the squares' sum, halved: one more in the new line, one less in the old one.
        more = np.zeros(len(others), np.int64)
        for groups, numbers in zip(lines, filled, strict=True):
            there, here = groups[others], groups[basis[e]]
            more += np.where(there == here, 0, numbers[there] - numbers[here] + 1)
        f = int(np.where(may, more, 1).argmin())
        if more[f] >= 0 or not may[f]:
            continue
        swaps.append((e, f))
        is_free[f] = False
        for groups, numbers in zip(lines, filled, strict=True):
            numbers[groups[others[f]]] += 1
            numbers[groups[basis[e]]] -= 1
        for (group, _), left in zip(caps, room, strict=True):
            left[group[others[f]]] -= 1
            left[group[basis[e]]] += 1
    return swaps


@dataclass(frozen=True)
class _CapsMatroid:
    """Exchanges that keep the caps, and the cost c2: f may replace e if both have the same c2, and
    the line of f is not full or that of e."""

    group: np.ndarray
    is_full: np.ndarray
    level: np.ndarray
    basis: list[int]
    others: list[int]

    def arcs(self) -> np.ndarray:
        """All of them, by e and f."""
        lines = self.group[self.basis][:, None] == self.group[self.others][None]
        costs = self.level[self.basis][:, None] == self.level[self.others][None]
        found: np.ndarray = costs & (lines | ~self.is_full[self.group[self.others]][None])
        return found


def _on_cycles(swaps: np.ndarray, caps: _CapsMatroid) -> tuple[np.ndarray, np.ndarray]:
    """Which weights of the basis, and which others, are on a directed cycle.

    Arcs go from e to f in `swaps`, and from f to e where the caps permit it.
    """
    back = caps.arcs()
    left, entered = np.zeros(len(swaps), bool), np.zeros(swaps.shape[1], bool)

    def closure(start: int, there: np.ndarray, home: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is reached from a weight of the basis, by at least one step."""
        seen, met = np.zeros_like(left), np.zeros_like(entered)
        new = np.array([start])
        while new.size:
            fresh = there[new].any(axis=0) & ~met
            met |= fresh
            reached = home[:, fresh].any(axis=1) & ~seen
            seen |= reached
            new = np.flatnonzero(reached)
        return seen, met

    for e in range(len(swaps)):
        if left[e]:
            continue
        ahead, met = closure(e, swaps, back)
        if ahead[e]:
            behind, led = closure(e, back, swaps)
            left |= ahead & behind
            entered |= met & led
    return left, entered


def _least_number(meets: np.ndarray, within: np.ndarray, own: np.ndarray, other: np.ndarray) -> int:
    """The largest of the products Π (1 + |F_e|) over some orders of the basis."""
    if not meets.size:
        return 1
    rng = random.Random("ties")
    best = 1
    columns = np.arange(meets.shape[1])
    for _ in range(_ORDERS):
        shuffled = sorted(range(len(own)), key=lambda k: (int(own[k]), rng.random()))
        rows = meets[shuffled]
        last = len(rows) - 1 - rows[::-1].argmax(axis=0)
        fits = within[shuffled][last, columns] & (own[shuffled][last] == other)
        sizes = np.bincount(last[fits], minlength=len(rows))
        best = max(best, prod(1 + int(size) for size in sizes))
    return best
