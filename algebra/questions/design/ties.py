r"""How many designs are as cheap: weights in every cheapest design, in none, and a least number.

Without caps the cheapest designs are the optimal bases B of a matroid.  Let A be its columns in
coordinates of one of them: row e of A for e in B, column f for the other weights.  B without e and
with f is a basis if and only if A[e, f] ≠ 0, and then costs no less; it is another cheapest design
if and only if f costs as much as e.  The cheapest designs are the bases of a matroid themselves
(Edmonds, Math. Programming 1, 1971), and these exchanges are its fundamental circuits.  So

* e is in every cheapest design (a coloop of it) if e has no exchange, and
* f is in none (a loop) if f has none.

**A least number.**  Order B by cost.  Let F_e be the weights f whose last e with A[e, f] ≠ 0 costs
as much as f.  Replace any of the e, each by one of its F_e: the minor of A is triangular without
zeros on the diagonal, so the result is a basis; all are different.  There are Π (1 + |F_e|).

Entries are computed modulo primes at two random points: one that is not 0 is generically not 0; one
that is 0 at both is generically 0, but for a small probability.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import islice
from math import prod

import numpy as np

from algebra.linalg.modular import modular_echelon
from algebra.networks.base import Cell
from algebra.questions.design.demand import Demand
from algebra.questions.design.result import Design

# Random points, and orders of the basis of which the largest product is taken.
_POINTS, _ORDERS = 2, 16


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
    """The ties of a cheapest design; None with caps, of other goals, and if it may not be optimal.

    Parameters
    ----------
    demand : Demand
    found : Design
    """
    if found.goal != "cheapest" or found.caps or not found.is_optimal:
        return None
    place = {cell: k for k, cell in enumerate(demand.free)}
    basis = [place[cell] for cell in found.allocation.cells if cell in place]
    others = sorted(set(place.values()) - set(basis))
    meets = np.zeros((len(basis), len(others)), bool)
    for p, number in islice(demand.points(), _POINTS):
        columns = demand.problem_at(p, number).columns[:, basis + others]
        table, pivots = modular_echelon(columns, p)
        if list(pivots) != list(range(len(basis))):
            return None
        meets |= table[: len(basis), len(basis) :] != 0
    costs = [int(cost) for cost in demand.costs]
    level = {cost: k for k, cost in enumerate(sorted(set(costs)))}
    own = np.array([level[costs[k]] for k in basis], np.int64)
    other = np.array([level[costs[k]] for k in others], np.int64)
    swaps = meets & (own[:, None] == other[None])
    return Ties(
        in_every=tuple(demand.free[basis[k]] for k in np.flatnonzero(~swaps.any(axis=1))),
        in_none=tuple(demand.free[others[k]] for k in np.flatnonzero(~swaps.any(axis=0))),
        at_least=max(1 + int(swaps.sum()), _least_number(meets, own, other)),
    )


def _least_number(meets: np.ndarray, own: np.ndarray, other: np.ndarray) -> int:
    """The largest of the products Π (1 + |F_e|) over some orders of the basis."""
    if not meets.size:
        return 1
    rng = random.Random("ties")
    best = 1
    for _ in range(_ORDERS):
        shuffled = sorted(range(len(own)), key=lambda k: (int(own[k]), rng.random()))
        rows = meets[shuffled]
        last = len(rows) - 1 - rows[::-1].argmax(axis=0)
        fits = rows.any(axis=0) & (own[shuffled][last] == other)
        sizes = np.bincount(last[fits], minlength=len(rows))
        best = max(best, prod(1 + int(size) for size in sizes))
    return best
