"""Quick rulings on many allocations: certified maximal, or not, by an odd root count.

A full certificate (`algebra.certificates.certificate`) also looks for instances without real
solutions; a
search among hundreds of allocations only asks for N, and asks once for each orbit of the renamings
of units.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from algebra.design.demand import Demand
from algebra.errors import InputError
from algebra.polynomials.msolve.process import MsolveMissing, find_msolve
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.symmetry import SymmetryGroup
from algebra.ranks.matroid import candidate_bases
from algebra.systems.root_count import RootCounter, RootCountError, generic_root_count

_LARGEST_GROUP, _PARTS = 2_000, 12


@dataclass(frozen=True)
class Ruling:
    """What is known of one allocation.

    Attributes
    ----------
    odd : bool or None
        Whether an odd root count certifies it as maximal; None where counting failed.
    text : str
        In words.
    """

    odd: bool | None
    text: str


class Judge:
    """Rules on allocations by their root counts, once for each orbit.

    Parameters
    ----------
    asked : Demand
    timeout : float
        Seconds for one root count.
    fallback : callable, optional
        As for `algebra.systems.root_count.generic_root_count`; used where msolve is not installed.
    """

    def __init__(self, asked: Demand, timeout: float, fallback: RootCounter | None = None) -> None:
        self.asked, self.timeout = asked, timeout
        try:
            find_msolve()
            # What msolve cannot count in time is passed over: the search has other candidates.
            self.fallback = None
        except MsolveMissing:
            self.fallback = fallback
        self.known: dict[tuple[Cell, ...], Ruling] = {}
        # Seconds of the slowest ruling so far: on large nets one may outlast a search.
        self.slowest = 0.0
        self.group: SymmetryGroup | None = None
        try:
            names = [n for n in asked.network.shapes if any(c[0] == n for c in asked.cells)]
            group = SymmetryGroup(asked.network, names, asked.support)
            if group.order <= _LARGEST_GROUP:
                self.group = group
        except InputError:
            pass

    def __call__(self, allocation: Allocation) -> Ruling:
        """The ruling of an allocation that is not minimal."""
        if self.group is not None:
            allocation = self.group.canonical(allocation)
        if allocation.cells not in self.known:
            began = time.monotonic()
            self.known[allocation.cells] = self._rule(allocation)
            self.slowest = max(self.slowest, time.monotonic() - began)
        return self.known[allocation.cells]

    def _rule(self, allocation: Allocation) -> Ruling:
        asked = self.asked
        parts: Iterator[tuple[Cell, ...]] = iter([allocation.cells])
        if allocation.size > asked.equations:
            parts = candidate_bases(allocation, asked.equations, asked.support, asked.seed, _PARTS)
        failed, even = "", []
        for cells in parts:
            part = Allocation.from_cells(asked.network, cells)
            try:
                roots = generic_root_count(
                    part, asked.support, seed=asked.seed, timeout=self.timeout,
                    fallback=self.fallback,
                )  # fmt: skip
            except RootCountError as error:
                failed = str(error)
                continue
            if roots.value % 2:
                where = "" if part.size == allocation.size else f"{part.size} of the weights have "
                return Ruling(True, f"{where}N = {roots.value}, {roots.how}")
            even.append(roots.value)
        if failed:
            return Ruling(None, failed)
        return Ruling(False, "N = " + ", ".join(map(str, even)))
