r"""Allocations chosen for a purpose: the cheapest that is not minimal, the most spread one.

An allocation is not minimal exactly where its columns of the generic Jacobian have the rank ρ of
the whole network's (`algebra.jacobian`): the non-minimal allocations of ρ weights are the bases
of a linear matroid.  Without caps a greedy choice is cheapest; with caps on the rows, or the
columns, or the matrices, weighted matroid intersection is (`algebra.matroid_intersection`).

What is proved.  The matroid is computed at random points over GF(p).  Sets that are independent
there are independent generically, so the design is *surely* not minimal.  That nothing cheaper
exists: let B be a cheapest basis generically, a set that does not depend on the random point.
Unless B is dependent there, which happens with a probability below `deficit_error`, the design
found at this point costs no more than B.  With k independent points, of which the cheapest
design is taken, the bound is its k-th power.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from algebra.allocation import Allocation, Cell
from algebra.errors import InputError
from algebra.jacobian import (
    GenericRank,
    all_cells,
    allocation_rank,
    deficit_error,
    jacobian,
    network_rank,
    random_point,
    tangent_factors,
)
from algebra.matroid_intersection import CommonBasis, Shortage, common_basis, is_optimal
from algebra.modular import random_prime
from algebra.networks import Network

LINES = ("row", "column", "matrix")
# Points are added until the error bound of an optimum is below this.
TARGET = Fraction(1, 1 << 30)


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
    cap : tuple of (str, int) or None
        The caps kept: kind of line and number.
    error : Fraction
        Bound on the probability that a better design exists.
    points : tuple of (int, int)
        Prime and number of each random point used.
    """

    allocation: Allocation
    goal: str
    cost: Fraction
    rank: GenericRank
    cap: tuple[str, int] | None
    error: Fraction
    points: tuple[tuple[int, int], ...] = field(repr=False)

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
            "cap": list(self.cap) if self.cap else None,
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
    costs: Mapping[Cell, Fraction] | None = None,
    budget: int | None = None,
    cap: tuple[str, int] | None = None,
    must: Sequence[Cell] = (),
    support: Mapping[str, np.ndarray] | None = None,
    seed: int = 0,
    goal: str = "cheapest",
) -> Design:
    """The cheapest allocation that is not minimal.

    Parameters
    ----------
    network : Network
    allowed : sequence of cells, optional
        Weights that may learn; all by default.
    costs : mapping of cell to Fraction, optional
        1 for those not named.
    budget : int, optional
        Number of weights; the number ρ of independent equations by default, more only
        without a cap.
    cap : (line, number), optional
        At most so many in a "row", in a "column" or in a "matrix".
    must : sequence of cells, optional
        Weights that learn in any case.
    support : mapping of str to mask, optional
    seed : int, optional

    Raises
    ------
    InputError
        Where no such allocation exists, with the reason.

    Examples
    --------
    >>> from algebra.networks import LinearEstimator
    >>> net = LinearEstimator(q=3, d=2, m=2)
    >>> least_cost(net, costs={("W", 0, 0): Fraction(9)}).allocation.row_counts("W")
    [2, 2]
    """
    cells, fixed = _cells(network, allowed, must, support)
    prices = {cell: Fraction((costs or {}).get(cell, 1)) for cell in cells}
    whole = network_rank(network, support, seed).rank
    size = whole if budget is None else budget
    _check_budget(size, whole, cells, fixed, cap)
    groups, caps = _groups(network, cells, cap)
    unit = lcm(*(price.denominator for price in prices.values())) if prices else 1
    # What must learn is taken first: it costs less than anything.
    discount = sum(abs(int(p * unit)) for p in prices.values()) + 1 if fixed else 0
    whole_costs = [int(prices[c] * unit) - (discount if c in fixed else 0) for c in cells]
    best: CommonBasis | Shortage | None = None
    best_columns: np.ndarray | None = None
    points: list[tuple[int, int]] = []
    error = Fraction(1)
    rng = random.Random(f"design/{seed}")
    while error >= TARGET:
        p, number = random_prime(rng), rng.randrange(1 << 32)
        points.append((p, number))
        columns = _columns(network, cells, p, number, support)
        found = common_basis(columns, p, groups, caps, whole_costs, whole)
        if isinstance(found, CommonBasis):
            if not is_optimal(columns, p, groups, caps, whole_costs, found):
                raise ArithmeticError("a design's optimality certificate does not check: a bug")
            if not isinstance(best, CommonBasis) or found.cost < best.cost:
                best, best_columns = found, columns
        elif best is None:
            best = found
        error *= deficit_error(network, whole)
    assert best is not None
    if isinstance(best, Shortage):
        raise InputError(_shortage_text(best, whole, cells, cap))
    assert best_columns is not None
    chosen = {cells[k] for k in best.elements} | fixed
    if cap is not None and len(chosen) > whole:
        raise InputError(
            f"`must` has {len(fixed)} weights that depend on each other: with a cap every weight "
            f"of the design must count, {whole} in all"
        )
    rest = sorted((c for c in cells if c not in chosen), key=lambda c: (prices[c], cells.index(c)))
    chosen |= set(rest[: max(0, size - len(chosen))])
    allocation = Allocation.from_cells(network, sorted(chosen, key=cells.index))
    rank = allocation_rank(allocation, support, whole, seed)
    if rank.rank != whole:
        raise ArithmeticError("a design is minimal: a bug")
    total = sum((prices[c] for c in chosen), Fraction(0))
    return Design(allocation, goal, total, rank, cap, error, tuple(points))


def most_spread(network: Network, line: str = "row", **options: Any) -> Design:
    """The cheapest of the allocations whose fullest row (or column) is as empty as it can be.

    Parameters
    ----------
    network : Network
    line : {"row", "column", "matrix"}
    **options
        As for `least_cost`, without `cap`.

    Notes
    -----
    The smallest cap that admits a design, by bisection: a cap that admits none is refused with
    a reason, so the next larger one is the least.
    """
    free = least_cost(network, **options)
    low, high, best = 1, _fullest(free.allocation, line), free
    while low < high:
        middle = (low + high) // 2
        try:
            best = least_cost(network, cap=(line, middle), goal="spread", **options)
            high = middle
        except InputError:
            low = middle + 1
    return least_cost(network, cap=(line, low), goal="spread", **options) if low else best


def _fullest(allocation: Allocation, line: str) -> int:
    count: Callable[[str], Sequence[int]]
    if line == "matrix":
        return max(sum(allocation.row_counts(name)) for name in allocation.matrices)
    count = allocation.row_counts if line == "row" else allocation.column_counts
    return max(c for name in allocation.matrices for c in count(name))


def _cells(
    network: Network,
    allowed: Sequence[Cell] | None,
    must: Sequence[Cell],
    support: Mapping[str, np.ndarray] | None,
) -> tuple[list[Cell], set[Cell]]:
    exist = all_cells(network, support)
    known = set(exist)
    for name, wanted in (("allowed", allowed or ()), ("must", must)):
        for cell in wanted:
            if cell not in known:
                raise InputError(f"`{name}`: {cell} is no weight of this network")
    chosen = set(exist if allowed is None else allowed) | set(must)
    return [cell for cell in exist if cell in chosen], set(must)


def _check_budget(
    size: int, whole: int, cells: Sequence[Cell], fixed: set[Cell], cap: tuple[str, int] | None
) -> None:
    if size < whole:
        raise InputError(
            f"`budget` ({size}) is too small: {whole} independent equations need {whole} weights"
        )
    if size > len(cells):
        raise InputError(f"`budget` ({size}): only {len(cells)} weights may learn")
    if cap is not None:
        line, number = cap
        if line not in LINES:
            raise InputError(f"`cap`: {line!r} must be one of " + ", ".join(LINES))
        if number < 0:
            raise InputError(f"`cap` ({number}) must not be negative")
        if size != whole:
            raise InputError(
                f"`budget` ({size}) with a cap must be the number of equations, {whole}"
            )


def _groups(
    network: Network, cells: Sequence[Cell], cap: tuple[str, int] | None
) -> tuple[list[int], list[int]]:
    if cap is None:
        return [0] * len(cells), [len(cells)]
    part = {"row": lambda c: c[:2], "column": lambda c: (c[0], c[2]), "matrix": lambda c: c[0]}
    names = [part[cap[0]](cell) for cell in cells]
    index = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return [index[name] for name in names], [cap[1]] * len(index)


def _columns(
    network: Network,
    cells: Sequence[Cell],
    p: int,
    number: int,
    support: Mapping[str, np.ndarray] | None,
) -> np.ndarray:
    point = random_point(network, p, number, support)
    factors = tangent_factors(network, point, sorted({cell[0] for cell in cells}))
    return jacobian(factors, cells, p)


def _shortage_text(
    found: Shortage, whole: int, cells: Sequence[Cell], cap: tuple[str, int] | None
) -> str:
    """The reason of Edmonds' theorem in words."""
    inside = len(found.elements)
    if cap is None:
        return (
            f"no allocation of the {len(cells)} weights that may learn is free of MP = 0: they "
            f"take part in only {found.rank} of {whole} independent equations"
        )
    outside = len(cells) - inside
    return (
        f"no allocation with at most {cap[1]} weights in a {cap[0]}: {outside} of the allowed "
        f"weights lie in lines whose caps leave {found.capped}, and the other {inside} take part "
        f"in only {found.rank} independent equations: {found.capped} + {found.rank} = "
        f"{found.largest} of {whole}"
    )
