"""Root counts of many allocations: certified maximal, or not, by an odd count.

A full certificate (`algebra.arguments.certify`) also searches instances without real
solutions; a search over hundreds of allocations only needs N, once for each orbit of the renamings
of units.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

from algebra.errors import InputError
from algebra.polynomials.msolve.process import MsolveMissing, find_msolve
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.symmetry import SymmetryGroup
from algebra.questions.design.demand import Demand
from algebra.questions.design.result import CountedRoots
from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.matroid import candidate_bases
from algebra.systems.root_count import RootCounter, RootCountError, generic_root_count

_LARGEST_GROUP = 2_000
_PARTS = 12
# If an over-complete allocation has at most this many parts, all are counted.
_ALL_PARTS = 500


@dataclass(frozen=True)
class Parity:
    """The known parity of one allocation's root count.

    Attributes
    ----------
    odd : bool or None
        Whether an odd root count certifies it as maximal; None if counting failed, or if more
        weights than equations learn and not all parts were counted.
    text : str
        In words.
    roots : CountedRoots
        The counts; only the odd one if there is one.
    """

    odd: bool | None
    text: str
    roots: CountedRoots


def renamings(demand: Demand) -> SymmetryGroup | None:
    """The renamings of units, which change no root count; None if there are too many."""
    names = [n for n in demand.network.shapes if any(c[0] == n for c in demand.cells)]
    try:
        group = SymmetryGroup(demand.network, names, demand.support)
    except InputError:
        return None
    return group if group.order <= _LARGEST_GROUP else None


class ParityCounter:
    """Determines whether root counts are odd, once for each orbit of allocations.

    Parameters
    ----------
    demand : Demand
    timeout : float
        Time for one root count.
    fallback : callable, optional
        As for `algebra.systems.root_count.generic_root_count`; used if msolve is not installed.
    """

    def __init__(self, demand: Demand, timeout: float, fallback: RootCounter | None = None) -> None:
        self.demand, self.timeout = demand, timeout
        try:
            find_msolve()
            # Counts that msolve does not finish in time are skipped: the search has other
            # candidates.
            self.fallback = None
        except MsolveMissing:
            self.fallback = fallback
        self.known: dict[tuple[Cell, ...], Parity] = {}
        # Duration of the slowest count so far: on large nets one may exceed the search's time.
        self.slowest = 0.0
        self.group = renamings(demand)

    def __call__(self, allocation: Allocation) -> Parity:
        """The parity of an allocation that is not minimal."""
        if self.group is not None:
            allocation = self.group.canonical(allocation)
        if allocation.cells not in self.known:
            began = time.monotonic()
            self.known[allocation.cells] = self._count(allocation)
            self.slowest = max(self.slowest, time.monotonic() - began)
        return self.known[allocation.cells]

    def _parts(self, allocation: Allocation) -> Iterator[tuple[Cell, ...]]:
        """Full-rank parts with as many weights as equations: likely ones first, or all if few."""
        demand = self.demand
        equations, support = demand.equations, demand.support
        if allocation.size == equations:
            yield allocation.cells
            return
        yield from candidate_bases(allocation, equations, support, demand.seed, _PARTS)
        if comb(allocation.size, equations) > _ALL_PARTS:
            return
        for cells in combinations(allocation.cells, equations):
            part = Allocation.from_cells(demand.network, cells)
            if allocation_rank(part, support, equations, demand.seed).rank == equations:
                yield part.cells

    def _count(self, allocation: Allocation) -> Parity:
        demand = self.demand
        failed, even, seen = "", [], set()
        for cells in self._parts(allocation):
            if cells in seen:
                continue
            seen.add(cells)
            part = Allocation.from_cells(demand.network, cells)
            try:
                roots = generic_root_count(
                    part, demand.support, seed=demand.seed, timeout=self.timeout,
                    fallback=self.fallback,
                )  # fmt: skip
            except RootCountError as error:
                failed = str(error)
                continue
            if roots.value % 2:
                where = "" if part.size == allocation.size else f"{part.size} of the weights have "
                counted = CountedRoots(allocation.cells, ((cells, roots.value),))
                return Parity(True, f"{where}N = {roots.value}, {roots.how}", counted)
            even.append((cells, roots.value))
        counted = CountedRoots(allocation.cells, tuple(even))
        if comb(allocation.size, demand.equations) > _ALL_PARTS:
            failed = failed or f"{len(even)} of its parts have even root counts"
        if failed or not even:
            return Parity(None, failed or "no part of it was found", counted)
        return Parity(False, "N = " + ", ".join(str(n) for _, n in even), counted)
