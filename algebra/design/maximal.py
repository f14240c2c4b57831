r"""The cheapest allocation that is certified maximal.

An allocation is certified maximal where its generic root count N is odd, in particular 1
(`algebra.certificates.certificate`); where more weights learn than there are equations, where a
part of it has an odd N.  Three searches work together:

* *Theorem 3.5's form*: as many full rows as the equations need, each with min(Tb, Tm) weights
  (or columns of min(Td, Tm)), and the allocations inside one single matrix.  Sets of rows are
  gone through in the order of a bound on their cost.  This gives a good design early, also
  for large nets.
* *A few rows (columns) more than that*, and exchange moves, one weight for a cheaper one: fewer
  constraints, lower cost, and still few roots, so that counting them is quick.
* *All designs in the order of their cost* (`algebra.design.ranked`): the first that is certified
  is the cheapest of all, and that is the proof of optimality.  The search ends where the next
  design is no cheaper than the one in hand.

The bound is the cost up to which every design was counted.  A design whose roots could not be
counted in time counts as one that might be maximal.  Verdicts are the same for allocations that
differ by renaming units, so on small nets each orbit is counted once.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from algebra.design.cheapest import Design, RelaxationMaker, allocation_of, cheapest, made
from algebra.design.demand import TARGET, Demand, SearchUnfinished, line_of
from algebra.design.odd_counts import Judge, Ruling
from algebra.design.ranked import ranked_bases
from algebra.errors import InputError
from algebra.linalg.modular import echelon
from algebra.matroids.intersection import greedy
from algebra.networks.base import LinearRNN
from algebra.problems.allocation import Allocation, Cell
from algebra.systems.root_count import RootCounter

_FORM_TRIES = 60
_WIDER, _WIDE_SETS, _WIDE_RANKS = 3, 20, 8
# Parts of the time after which the three quick searches end.
_SHARES = (0.15, 0.4, 0.6)


class NoneMaximal(InputError):
    """All designs were counted, and none is certified maximal."""


@dataclass
class _Best:
    cost: Fraction | None = None
    allocation: Allocation | None = None
    text: str = ""

    def offer(self, cost: Fraction, allocation: Allocation, text: str) -> None:
        if self.cost is None or cost < self.cost:
            self.cost, self.allocation, self.text = cost, allocation, text


def cheapest_maximal(
    asked: Demand,
    *,
    relaxation: RelaxationMaker | None = None,
    seconds: float = 60.0,
    timeout: float = 3.0,
    fallback: RootCounter | None = None,
    judge: Callable[[Allocation], Ruling] | None = None,
) -> Design:
    """The cheapest design that is certified maximal.

    Parameters
    ----------
    asked : Demand
    relaxation : callable, optional
        As for `algebra.design.cheapest.least_cost`.
    seconds : float, optional
        Time in all.
    timeout : float, optional
        Seconds for one root count.
    fallback : callable, optional
        Counts roots where msolve is missing or too slow.
    judge : callable, optional
        Rules on allocations; a `Judge` by default.

    Returns
    -------
    Design
        `bound` is the cost up to which every design was counted.

    Raises
    ------
    NoneMaximal
        Where no design under these demands is certified maximal, all having been counted.
    SearchUnfinished
        Where none was found in the time given.

    Examples
    --------
    >>> from algebra.design.demand import demand
    >>> asked = demand(LinearRNN(n=2, T=2, b=1, d=1, m=2), must=[("W", 0, 0)])
    >>> cheapest_maximal(asked).proof.startswith("maximal: N = 1")
    True
    """
    judge = judge or Judge(asked, timeout, fallback)
    # Refuses, with a reason, what is impossible.
    free = cheapest(asked, "maximal", relaxation, seconds)
    began = time.monotonic()
    form_ends, wide_ends, exchange_ends = (began + share * seconds for share in _SHARES)
    best = _Best()
    for design in _forms(asked, relaxation, form_ends):
        if best.cost is None or design.cost < best.cost:
            ruling = judge(design.allocation)
            if ruling.odd:
                best.offer(design.cost, design.allocation, ruling.text)
    if best.cost is None or best.cost > free.cost:
        _wider(asked, judge, best, wide_ends)
    if best.allocation is not None and best.cost != free.cost:
        _exchange(asked, judge, best, best.allocation, exchange_ends)
    points: list[tuple[int, int]] = []
    error, bound, notes = Fraction(1), None, ""
    for p, number in asked.points():
        if error < TARGET:
            break
        points.append((p, number))
        error *= asked.point_error
        reached, notes = _in_order(asked, judge, best, p, number, began + seconds)
        bound = reached if bound is None else min(bound, reached)
    assert bound is not None
    if best.allocation is None:
        if notes == _ALL:
            raise NoneMaximal(
                "no allocation under these demands is certified maximal: the root counts of all "
                "that are not minimal were found, and are even"
            )
        raise SearchUnfinished(
            f"no allocation that is certified maximal was found in {seconds:g} s: allow more with "
            f"--seconds, or loosen the demands ({notes})"
        )
    assert best.cost is not None
    return made(
        asked, best.allocation, "maximal", error, points, f"maximal: {best.text}; {notes}",
        bound=min(bound, best.cost),
    )  # fmt: skip


_ALL = "every other design that costs less has even root counts"


def _in_order(
    asked: Demand, judge: Callable[[Allocation], Ruling], best: _Best, p: int, number: int,
    ends: float,
) -> tuple[Fraction, str]:  # fmt: skip
    """Count designs in the order of their cost; the cost reached, and what that means."""
    fixed = asked.cost(sorted(asked.must))
    open_cost, unknown = None, 0
    cost = None
    for counted, (units, elements) in enumerate(ranked_bases(asked, asked.columns(p, number), p)):
        cost = Fraction(units, asked.unit) + fixed
        if best.cost is not None and cost >= best.cost:
            break
        if _late(judge, ends):
            text = f"{counted} cheaper designs were counted, not all there are"
            return min(cost, open_cost if open_cost is not None else cost), text
        allocation = allocation_of(asked, elements)
        ruling = judge(allocation)
        if ruling.odd:
            best.offer(cost, allocation, ruling.text)
            break
        if ruling.odd is None:
            unknown += 1
            open_cost = cost if open_cost is None else open_cost
    if open_cost is not None:
        return open_cost, f"the roots of {unknown} cheaper designs could not be counted in time"
    if best.cost is None:
        # No more designs: a bound that nothing can reach.
        return (cost or Fraction(0)) + 1, _ALL
    return best.cost, _ALL


def _forms(asked: Demand, relaxation: RelaxationMaker | None, ends: float) -> Iterator[Design]:
    """Designs in one matrix, and in full rows or columns, cheap ones first."""
    network = asked.network
    names = [n for n in network.shapes if any(c[0] == n for c in asked.cells)]
    for name in names:
        inside = [c for c in asked.cells if c[0] == name]
        if len(names) > 1 and (design := _inside(asked, inside, {}, relaxation)) is not None:
            yield design
    if not isinstance(network, LinearRNN):
        return
    for line, full in _lines(network):
        if asked.equations % full or dict(asked.caps).get(line, full) < full:
            continue
        for lines in islice(_line_sets(asked, line, full, asked.equations // full), _FORM_TRIES):
            if time.monotonic() > ends:
                return
            inside = [c for c in asked.cells if c[0] == "W" and line_of(c, line) in lines]
            design = _inside(asked, inside, {line: full}, relaxation)
            if design is not None:
                yield design


def _inside(
    asked: Demand, cells: Sequence[Cell], caps: Mapping[str, int],
    relaxation: RelaxationMaker | None,
) -> Design | None:  # fmt: skip
    """The cheapest design inside some weights; more weights than equations from anywhere."""
    if not asked.must <= set(cells) or asked.extra:
        return None
    both = {**dict(asked.caps), **caps}
    part = replace(asked, cells=tuple(cells), caps=tuple(both.items()))
    try:
        return cheapest(part, "maximal", relaxation, 10.0)
    except (InputError, SearchUnfinished):
        return None


def _lines(network: LinearRNN) -> Iterator[tuple[str, int]]:
    """Rows and columns, and how many weights count in one."""
    yield "row", network.T * min(network.b, network.m)
    yield "column", network.T * min(network.d, network.m)


def _wider(asked: Demand, judge: Callable[[Allocation], Ruling], best: _Best, ends: float) -> None:
    """A few more rows (or columns) than the form has: cheaper, and few roots."""
    if not isinstance(asked.network, LinearRNN) or asked.extra:
        return
    p, number = next(asked.points())
    for more in range(_WIDER):
        for line, full in _lines(asked.network):
            want = -(-asked.equations // full) + more
            for lines in islice(_line_sets(asked, line, full, want), _WIDE_SETS):
                cells = [c for c in asked.cells if c[0] == "W" and line_of(c, line) in lines]
                if not asked.must <= set(cells):
                    continue
                part = replace(asked, cells=tuple(cells))
                ranked = ranked_bases(part, part.columns(p, number), p)
                for units, elements in islice(ranked, _WIDE_RANKS):
                    if _late(judge, ends):
                        return
                    cost = Fraction(units, part.unit) + asked.cost(sorted(asked.must))
                    if best.cost is not None and cost >= best.cost:
                        break
                    allocation = allocation_of(part, elements)
                    ruling = judge(allocation)
                    if ruling.odd:
                        best.offer(cost, allocation, ruling.text)
                        break


def _line_sets(asked: Demand, line: str, full: int, want: int) -> Iterator[frozenset[Any]]:
    """Sets of lines of W with enough weights, in the order of a lower bound on their cost."""
    p, number = next(asked.points())
    columns = replace(asked, must=frozenset()).columns(p, number)
    place = {cell: k for k, cell in enumerate(asked.cells)}
    needed = {line_of(cell, line) for cell in asked.must}
    priced: list[tuple[Fraction, Any]] = []
    for key in dict.fromkeys(line_of(c, line) for c in asked.cells if c[0] == "W"):
        cells = [c for c in asked.cells if c[0] == "W" and line_of(c, line) == key]
        cells.sort(key=lambda c: (c not in asked.must, asked.prices[c]))
        basis = greedy(columns, p, [place[c] for c in cells], full)
        if len(basis) == full:
            priced.append((asked.cost([asked.cells[k] for k in basis]), key))
    priced.sort(key=lambda entry: (entry[1] not in needed, entry[0]))
    if want > len(priced):
        return
    # Subsets of a sorted list in the order of their sums: move one place on at a time.
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


def _late(judge: Callable[[Allocation], Ruling], ends: float) -> bool:
    """Whether there is no time for another ruling, as long as the slowest so far."""
    return time.monotonic() + getattr(judge, "slowest", 0.0) > ends


def _exchange(
    asked: Demand, judge: Callable[[Allocation], Ruling], best: _Best, start: Allocation,
    ends: float,
) -> None:  # fmt: skip
    """One weight for a cheaper one, as long as the allocation stays certified."""
    p, number = next(asked.points())
    columns = asked.columns(p, number)
    systems = asked.all_groups()
    place = {cell: k for k, cell in enumerate(asked.free)}
    basis = sorted(place[c] for c in start.cells if c in place)
    improved = True
    while improved and not _late(judge, ends):
        improved = False
        rest = [e for e in range(len(asked.free)) if e not in set(basis)]
        table, _ = echelon(columns[:, basis + rest], p)
        swaps = [
            (asked.costs[x] - asked.costs[y], y, x)
            for row, y in enumerate(basis)
            for x, entry in zip(rest, table[row, len(basis) :], strict=True)
            if entry and asked.costs[x] < asked.costs[y]
        ]
        for gain, y, x in sorted(swaps):
            if _late(judge, ends):
                return
            new = sorted({*basis, x} - {y})
            if not all(
                (np.bincount([g[e] for e in new], minlength=len(k)) <= np.array(k)).all()
                for g, k in systems
            ):
                continue
            allocation = allocation_of(asked, new)
            ruling = judge(allocation)
            if ruling.odd:
                assert best.cost is not None
                cost = best.cost + Fraction(gain, asked.unit)
                best.offer(cost, allocation, ruling.text)
                basis, improved = new, True
                break
