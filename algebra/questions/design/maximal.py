r"""The cheapest allocation that is certified maximal.

An allocation is certified maximal if its generic root count N is odd, in particular 1
(`algebra.certificates.certificate`), or, with more weights than equations, if a part of it has an
odd N.  Three searches are combined:

* *Theorem 3.5's form*: as many full rows as the equations need, each with min(Tb, Tm) weights (or
  columns of min(Td, Tm)), and allocations inside one single matrix.  Sets of rows are enumerated in
  the order of a bound on their cost.  This gives a good design early, also for large nets.
* *A few rows (columns) more*, and exchange moves, one weight for a cheaper one: fewer constraints,
  lower cost, and still few roots, so that counting them is fast.
* *All designs in order of cost* (`algebra.questions.design.ranked`): the first certified one is the
cheapest,
  which proves optimality.  The search ends when the next design is no cheaper than the best one
  found.

The bound is the cost up to which every design was counted.  A design whose roots could not be
counted in time may be maximal.  Verdicts are the same for allocations that differ by renaming
units, so on small nets each orbit is counted once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.errors import InputError
from algebra.linalg.echelon import modular_echelon
from algebra.matroids.linear import LinearMatroid
from algebra.matroids.optimum import TARGET, RelaxationMaker
from algebra.networks.base import Network
from algebra.problems.allocation import Allocation, Cell
from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import Demand, NoDesign, SearchUnfinished, line_of
from algebra.questions.design.odd_counts import Parity, ParityCounter
from algebra.questions.design.ranked import ranked_bases
from algebra.questions.design.result import (
    CountedRoots,
    Design,
    MaximalEvidence,
    allocation_of,
    design_of,
)
from algebra.systems.root_count import RootCounter
from algebra.time_limits import OutOfTime, unlimited
from algebra.work import end_of_part, has_passed, seconds_until

if TYPE_CHECKING:
    from algebra.questions.design.goals import SearchOptions

_FORM_TRIES = 60
_WIDER = 3
_WIDE_SETS = 20
_WIDE_RANKS = 8
# Shares of the time after which the three quick searches end.
_SHARES = (0.15, 0.4, 0.6)


@dataclass(frozen=True)
class Wording:
    """Names for the designs that precede the best one.

    Attributes
    ----------
    singular, plural : str
    """

    singular: str
    plural: str


BY_COST = Wording("design that costs less", "cheaper designs")
# For prices that count moves (`algebra.questions.design.repair`).
BY_MOVES = Wording("allocation that is nearer", "nearer or as near allocations")


class NoneMaximal(NoDesign):
    """All designs were counted, and none is certified maximal."""


@dataclass
class _BestMaximal:
    cost: Fraction | None = None
    allocation: Allocation | None = None
    known: Parity | None = None
    # Even root counts of designs found so far, with the least cost of their orbit.
    even: dict[tuple[Cell, ...], tuple[Fraction, CountedRoots]] = field(default_factory=dict)

    def keep(self, cost: Fraction, allocation: Allocation, known: Parity) -> None:
        """Keep a design that is cheaper than the best one so far."""
        if self.cost is None or cost < self.cost:
            self.cost, self.allocation, self.known = cost, allocation, known


def cheapest_maximal(
    demand: Demand,
    *,
    relaxation: RelaxationMaker | None = None,
    seconds: float = 60.0,
    timeout: float = 3.0,
    fallback: RootCounter | None = None,
    parity: Callable[[Allocation], Parity] | None = None,
    wording: Wording = BY_COST,
) -> Design:
    """The cheapest design that is certified maximal.

    Parameters
    ----------
    demand : Demand
    relaxation : callable, optional
        As for `algebra.questions.design.cheapest.cheapest`.
    seconds : float, optional
        Total time.
    timeout : float, optional
        Time for one root count.
    fallback : callable, optional
        Counts roots if msolve is missing or too slow.
    parity : callable, optional
        Finds whether an allocation's root count is odd; a `ParityCounter` by default.
    wording : Wording, optional
        Used in the text of the proof.

    Returns
    -------
    Design
        `bound` is the cost up to which every design was counted.

    Raises
    ------
    NoneMaximal
        If all designs under these demands were counted, and none is certified maximal.
    SearchUnfinished
        If none was found in the given time.

    Examples
    --------
    >>> from algebra.questions.design.demand import checked_demand
    >>> from algebra.networks.recurrent import LinearRNN
    >>> demand = checked_demand(LinearRNN(n=2, T=2, b=1, d=1, m=2), must=[("W", 0, 0)])
    >>> cheapest_maximal(demand).proof.startswith("maximal: N = 1")
    True
    """
    parity = parity or ParityCounter(demand, timeout, fallback)
    # Refuses impossible demands, with a reason.
    free = cheapest(demand, relaxation, seconds, goal="maximal")
    form_ends, wide_ends, exchange_ends, ends = (end_of_part(s * seconds) for s in (*_SHARES, 1.0))
    best = _BestMaximal()
    points: list[tuple[int, int]] = []
    error, bound = Fraction(1), None
    reached: _CountedInOrder | None = None
    try:
        for design in _forms(demand, relaxation, form_ends):
            if best.cost is None or design.cost < best.cost:
                known = parity(design.allocation)
                if known.odd:
                    best.keep(design.cost, design.allocation, known)
        if best.cost is None or best.cost > free.cost:
            _wider(demand, parity, best, wide_ends)
        if best.allocation is not None and best.cost != free.cost:
            _exchange(demand, parity, best, best.allocation, exchange_ends)
        for p, number in demand.points():
            if error < TARGET:
                break
            points.append((p, number))
            error *= demand.point_error
            reached = _in_order(demand, parity, best, p, number, ends)
            bound = reached.cost if bound is None else min(bound, reached.cost)
    except OutOfTime:
        # No non-minimal design costs less than the first one.
        points, error, bound = list(free.points), free.error, free.bound
        reached = _CountedInOrder(bound, len(getattr(parity, "known", ())), 0, is_late=True)
    assert bound is not None
    assert reached is not None
    if best.allocation is None:
        if reached.is_complete:
            raise NoneMaximal(
                "no allocation that satisfies these demands is certified maximal: the root counts "
                "of all that are not minimal were computed, and are even"
            )
        raise SearchUnfinished(
            "no allocation that is certified maximal was found in time: raise `seconds` and "
            f"`timeout`, or weaken the demands ({reached.text(wording)}; the "
            f"cheapest that is not minimal costs {free.cost})"
        )
    assert best.cost is not None
    assert best.known is not None
    bound = min(bound, best.cost)
    evidence = None
    if bound == best.cost:
        cheaper = tuple(roots for cost, roots in best.even.values() if cost < best.cost)
        evidence = MaximalEvidence(best.known.roots, cheaper)
    with unlimited():
        return design_of(
            demand, best.allocation, "maximal", error, points, bound=bound, cost_bound=bound,
            proof=f"maximal: {best.known.text}; {reached.text(wording)}",
            certificate=best.known.text, evidence=evidence,
        )  # fmt: skip


@dataclass(frozen=True)
class _CountedInOrder:
    """The designs counted so far, in the order of their cost.

    Attributes
    ----------
    cost : Fraction
        Every design that costs less has an even root count.
    counted, unknown : int
        Number of designs enumerated, and of those among them that could not be counted in time.
    is_late : bool
        Whether the search was stopped before the best design, or the last one, was reached.
    """

    cost: Fraction
    counted: int
    unknown: int
    is_late: bool = False

    @property
    def is_complete(self) -> bool:
        return not self.is_late and not self.unknown

    def text(self, wording: Wording) -> str:
        if self.is_late:
            return f"{self.counted} {wording.plural} were counted, not all of them"
        if self.unknown:
            return f"the roots of {self.unknown} {wording.plural} could not be counted in time"
        return f"every other {wording.singular} has even root counts"


def _in_order(
    demand: Demand, parity: Callable[[Allocation], Parity], best: _BestMaximal, p: int, number: int,
    ends: float,
) -> _CountedInOrder:  # fmt: skip
    """Count designs in order of cost, up to the best one known or the time limit."""
    fixed = demand.cost(sorted(demand.must))
    problem = demand.problem_at(p, number)
    # The bound if nothing remains open: the cost of the last design enumerated.
    cost = Fraction(problem.floor, demand.unit) + fixed
    first_unknown: Fraction | None = None
    unknown = counted = 0

    def reached(upto: Fraction, late: bool = False) -> _CountedInOrder:
        upto = upto if first_unknown is None else min(upto, first_unknown)
        return _CountedInOrder(upto, counted, unknown, late)

    ranked = ranked_bases(demand, problem.columns, p)
    try:
        for units, elements in ranked:
            cost = Fraction(units, demand.unit) + fixed
            if best.cost is not None and cost >= best.cost:
                break
            if _late(parity, ends):
                return reached(cost, late=True)
            allocation = allocation_of(demand, elements)
            known = parity(allocation)
            counted += 1
            if known.odd:
                best.keep(cost, allocation, known)
                break
            if known.odd is False:
                best.even.setdefault(known.roots.cells, (cost, known.roots))
            else:
                unknown += 1
                first_unknown = cost if first_unknown is None else first_unknown
    except SearchUnfinished:
        return reached(cost, late=True)
    # No more designs: the bound is above any cost.
    return reached(cost + 1 if best.cost is None else best.cost)


def _forms(demand: Demand, relaxation: RelaxationMaker | None, ends: float) -> Iterator[Design]:
    """Designs inside one matrix, and of full rows or columns, cheap ones first."""
    network = demand.network
    names = [n for n in network.shapes if any(c[0] == n for c in demand.cells)]
    for name in names:
        inside = [c for c in demand.cells if c[0] == name]
        if len(names) > 1 and (design := _inside(demand, inside, {}, relaxation)) is not None:
            yield design
    recurrent = _recurrent(network)
    for line, full in _lines(network):
        if demand.equations % full or dict(demand.caps).get(line, full) < full:
            continue
        for lines in islice(_line_sets(demand, line, full, demand.equations // full), _FORM_TRIES):
            if has_passed(ends):
                return
            inside = [c for c in demand.cells if c[0] == recurrent and line_of(c, line) in lines]
            design = _inside(demand, inside, {line: full}, relaxation)
            if design is not None:
                yield design


def _inside(
    demand: Demand, cells: Sequence[Cell], caps: Mapping[str, int],
    relaxation: RelaxationMaker | None,
) -> Design | None:  # fmt: skip
    """The cheapest design inside some weights; surplus weights may be elsewhere."""
    if not demand.must <= set(cells) or demand.extra:
        return None
    both = {**dict(demand.caps), **caps}
    part = replace(demand, cells=tuple(cells), caps=tuple(both.items()))
    try:
        return cheapest(part, relaxation, 10.0, goal="maximal")
    except (InputError, SearchUnfinished):
        return None


def _recurrent(network: Network) -> str | None:
    """The matrix that acts at every step, if there is one."""
    chain = network.chain()
    return None if chain is None else chain.recurrent


def _lines(network: Network) -> Iterator[tuple[str, int]]:
    """Rows and columns of the recurrent matrix, and the number of weights that count in one."""
    chain = network.chain()
    if chain is not None and chain.recurrent is not None:
        T, b = len(chain.steps), network.shapes[chain.names[-1]][1]
        yield "row", T * min(b, network.m)
        yield "column", T * min(network.d, network.columns)


def _wider(
    demand: Demand, parity: Callable[[Allocation], Parity], best: _BestMaximal, ends: float
) -> None:
    """Designs with a few more rows (or columns) than the form: cheaper, and with few roots."""
    if demand.extra:
        return
    name = _recurrent(demand.network)
    p, number = next(demand.points())
    for more in range(_WIDER):
        for line, full in _lines(demand.network):
            want = -(-demand.equations // full) + more
            for lines in islice(_line_sets(demand, line, full, want), _WIDE_SETS):
                cells = [c for c in demand.cells if c[0] == name and line_of(c, line) in lines]
                if not demand.must <= set(cells):
                    continue
                part = replace(demand, cells=tuple(cells))
                ranked = ranked_bases(part, part.columns(p, number), p)
                with suppress(SearchUnfinished):
                    for units, elements in islice(ranked, _WIDE_RANKS):
                        if _late(parity, ends):
                            return
                        cost = Fraction(units, part.unit) + demand.cost(sorted(demand.must))
                        if best.cost is not None and cost >= best.cost:
                            break
                        allocation = allocation_of(part, elements)
                        known = parity(allocation)
                        if known.odd:
                            best.keep(cost, allocation, known)
                            break


def _line_sets(demand: Demand, line: str, full: int, want: int) -> Iterator[frozenset[Any]]:
    """Sets of lines of W with enough weights, in the order of a lower bound on their cost."""
    p, number = next(demand.points())
    matroid = LinearMatroid(replace(demand, must=frozenset()).columns(p, number), p)
    place = {cell: k for k, cell in enumerate(demand.cells)}
    needed = {line_of(cell, line) for cell in demand.must}
    priced: list[tuple[Fraction, Any]] = []
    name = _recurrent(demand.network)
    for key in dict.fromkeys(line_of(c, line) for c in demand.cells if c[0] == name):
        cells = [c for c in demand.cells if c[0] == name and line_of(c, line) == key]
        cells.sort(key=lambda c: (c not in demand.must, demand.prices[c]))
        basis = matroid.greedy([place[c] for c in cells], full)
        if len(basis) == full:
            priced.append((demand.cost([demand.cells[k] for k in basis]), key))
    priced.sort(key=lambda entry: (entry[1] not in needed, entry[0]))
    if want > len(priced):
        return
    # Subsets of a sorted list in the order of their sums: one index moves by one at a time.
    first = tuple(range(want))
    heap = [(sum((priced[k][0] for k in first), Fraction(0)), first)]
    seen = {first}
    while heap:
        cost, chosen = heapq.heappop(heap)
        lines = frozenset(priced[k][1] for k in chosen)
        if needed <= lines:
            yield lines
        for k, place_in in enumerate(chosen):
            after = place_in + 1
            if after >= len(priced) or (k + 1 < want and chosen[k + 1] == after):
                continue
            new = (*chosen[:k], after, *chosen[k + 1 :])
            if new not in seen:
                seen.add(new)
                heapq.heappush(heap, (cost - priced[place_in][0] + priced[after][0], new))


def _late(parity: Callable[[Allocation], Parity], ends: float) -> bool:
    """Whether the time left is less than that of the slowest count so far."""
    return seconds_until(ends) < getattr(parity, "slowest", 0.0) or has_passed(ends)


def _exchange(
    demand: Demand, parity: Callable[[Allocation], Parity], best: _BestMaximal, start: Allocation,
    ends: float,
) -> None:  # fmt: skip
    """Exchange one weight for a cheaper one, as long as the allocation stays certified."""
    p, number = next(demand.points())
    columns = demand.columns(p, number)
    systems = demand.all_groups()
    place = {cell: k for k, cell in enumerate(demand.free)}
    basis = sorted(place[c] for c in start.cells if c in place)
    improved = True
    while improved and not _late(parity, ends):
        improved = False
        rest = [e for e in range(len(demand.free)) if e not in set(basis)]
        table, _ = modular_echelon(columns[:, basis + rest], p)
        swaps = [
            (demand.costs[x] - demand.costs[y], y, x)
            for row, y in enumerate(basis)
            for x, entry in zip(rest, table[row, len(basis) :], strict=True)
            if entry and demand.costs[x] < demand.costs[y]
        ]
        for gain, y, x in sorted(swaps):
            if _late(parity, ends):
                return
            new = sorted({*basis, x} - {y})
            if not all(
                (np.bincount([g[e] for e in new], minlength=len(k)) <= np.array(k)).all()
                for g, k in systems
            ):
                continue
            allocation = allocation_of(demand, new)
            known = parity(allocation)
            if known.odd:
                assert best.cost is not None
                cost = best.cost + Fraction(gain, demand.unit)
                best.keep(cost, allocation, known)
                basis, improved = new, True
                break


def search_maximal(demand: Demand, options: SearchOptions) -> Design:
    """The search of goal "maximal"."""
    return cheapest_maximal(
        demand, relaxation=options.relaxation, seconds=options.seconds, timeout=options.timeout,
        fallback=options.fallback,
    )  # fmt: skip
