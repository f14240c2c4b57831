r"""More weights than equations: maximal because some weights may go to infinity.

Let r > ρ cells learn, let f_1, …, f_ρ be a basis of the span of the label equations (labels less
their targets, polynomials in the learnable weights w), and give weight k a whole number v_k, its
*growth*.  Along w_k = s^{v_k} x_k a monomial grows like s to its weighted degree; the basis can be
chosen so that the parts \hat f_j of highest weighted degree e_j are linearly independent (echelon
form, monomials in the order of their weighted degrees).  Then

.. math:: s^{-e_j} f_j(s^v x) = \hat f_j(x) + O(1/s)

as s → ∞, with all derivatives, on compact sets of x without zeros.

**Theorem.** Let r − ρ of the x be fixed at random numbers, and let the system \hat f = 0 in the
other ρ have, for generic instances, finitely many solutions without a zero entry, an odd number M
of them, all simple.  Then MP = 1.

*Proof.* The system is real, and its non-real solutions come in conjugate pairs: one, x*, is real.
It is a regular zero of \hat f, so by the implicit function theorem s^{−e} f(s^v x) has a zero near
x* for every large s: real weights with the labels of the target. ∎

It is a place at infinity of the fibre {f = 0}, a variety of dimension r − ρ, that conjugation maps
to itself, and near such a place the fibre has real points.  With v = 0 it is the argument by an odd
N of a sub-allocation.  Fewer monomials are left in \hat f than in f, M is smaller than N, and it
may be odd where all N are even: for n = 5, T = 4, b = 2, d = 3, m = 1 and the cells (0,4) (3,1)
(3,3) (4,0) (4,4) all ten sub-allocations of three weights have even N, but with the growths
(−1, 2, 0, 2, 0) there is M = 1.

**Which growths.**  Vectors v with isolated solutions are rational points of the tropical variety of
{f = 0}, a fan of dimension r − ρ in R^r.  Of vectors drawn at random hardly any lies on it if r is
large; they are tried, and those at the ends of paths to infinity that were followed numerically
(`numeric.arguments.growths`).  M belongs to one cone of the fan, and is often small where all N are
in the thousands.  If r − ρ = 1, s ↦ s^v x takes solutions of \hat f = 0 to solutions, v has no
common factor, and a place is an orbit: fixing x_k counts it |v_k| times.  So weights of odd growth
are fixed.

"Generic" means: over the field of the instance's data.  Its labels may be a student's, since the
ranks are equal.  M is the degree of the ideal of \hat f at one random instance modulo a prime with
the zeros excluded: y x_i x_j x_k = 1, with an own y for each three unknowns (one y for all of them
gives an equation of high degree, which made the Gröbner basis of some systems seven times as slow).
"Simple" is that as many of its points are distinct.

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py` it decides 6.  Two of
the four that were decided again on a loaded machine stay undecided without it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations, product
from math import gcd
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from algebra.arguments.argument import (
    Argument,
    Claimed,
    FoundEvidence,
    counted_note,
)
from algebra.arguments.large_recount import counted_modulo
from algebra.arguments.sub_allocation import parts_of
from algebra.checker.checks import CheckFailed
from algebra.checker.premises import SAME_NUMBER
from algebra.checker.records import Counts, Primes, Record
from algebra.checker.verdicts import MAXIMAL
from algebra.declarations import Keyword, Size
from algebra.linalg.echelon import modular_echelon
from algebra.linalg.primes import random_prime
from algebra.linalg.ranks import modular_rank
from algebra.polynomials.msolve.process import MsolveFailed, MsolveMissing, MsolveTimeout
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.polynomials.rings import PrimeField
from algebra.problems.problem import Problem
from algebra.systems.label_equations import written_labels
from algebra.systems.root_count import RootCountError
from algebra.time_limits import OutOfTime, check_time, phase
from algebra.words import plural
from algebra.work import end_of_part, has_passed, now, spend

if TYPE_CHECKING:
    from algebra.arguments.case import Case

PLACE = "evidence.at_infinity"
# Growths that are tried, and the largest that a file may have.
_GROWTHS = (-1, 0, 1, 2)
LARGEST_GROWTH = 16
_Growth = Annotated[int, Keyword("minimum", -LARGEST_GROWTH), Keyword("maximum", LARGEST_GROWTH)]
# All growths of so many weights are tried in random order; of more weights, random ones.
_MOST_VECTORS = 5_000
# Ways to fix r − ρ of the weights, for one random vector of growths.
_SLICES = 2
# Seconds for each count.
_SECONDS = 2
# Work of a growth besides its counts.
_GROWTH = 1 / 100
# Growths that are given: seconds for the first count.
_FIRST_SECONDS = 1 / 4
# By how much longer the next count may take.
_LONGER = 8
# Unknowns whose product is said not to be 0 in one equation.
_TOGETHER = 3
# Largest bound on the number of terms of all labels for which they are written out: most have far
# fewer.
_MOST_TERMS = 1_000_000


@dataclass(frozen=True)
class AtInfinity(Record):
    """Growths of the weights, which of them are fixed, and the number of solutions.

    Attributes
    ----------
    growth : tuple of int
        v, for each learnable weight.
    fixed : tuple of int
        Positions of r − ρ weights.
    solutions : int
        M.
    primes : tuple of int
        Primes modulo which it was counted.
    """

    growth: tuple[_Growth, ...]
    fixed: Counts
    solutions: Size
    primes: Primes


Terms = list[tuple[tuple[int, ...], int]]
Growth = tuple[int, ...]


class _LabelSystem:
    """The label equations of a random instance modulo p as a matrix: equations by monomials."""

    def __init__(self, problem: Problem, p: int, rng: random.Random) -> None:
        self.p, self.rng = p, rng
        equations = written_labels(problem, p, rng, _MOST_TERMS)
        terms = [dict(f.terms()) for f in equations]
        place = {
            monomial: k for k, monomial in enumerate(dict.fromkeys(m for t in terms for m in t))
        }
        self.monomials = np.array([[int(e) for e in m] for m in place], np.int64)
        self.rows = np.zeros((len(terms), len(place)), np.int64)
        for row, own in zip(self.rows, terms, strict=True):
            for monomial, coefficient in own.items():
                row[place[monomial]] = int(coefficient)

    @cached_property
    def rank(self) -> int:
        """Number of independent equations."""
        return modular_rank(self.rows, self.p)

    def leading(self, growth: Sequence[int]) -> list[Terms]:
        """The terms of each leading part."""
        degrees = self.monomials @ np.array(growth)
        order = np.argsort(-degrees, kind="stable")
        table, pivots = modular_echelon(self.rows[:, order], self.p)
        degrees = degrees[order]
        forms = []
        for row, pivot in zip(table, pivots, strict=False):
            own = np.flatnonzero((degrees == degrees[pivot]) & (row != 0))
            forms.append([
                (tuple(exponents), coefficient)
                for exponents, coefficient in zip(
                    self.monomials[order[own]].tolist(), row[own].tolist(), strict=True
                )
            ])  # fmt: skip
        return forms

    def slices(self, growth: Sequence[int], forms: list[Terms]) -> list[tuple[int, ...]]:
        """Weights to fix, such that the others are determined at a generic point."""
        r, p = len(growth), self.p
        point = [self.rng.randrange(1, p) for _ in range(r)]
        jacobian = np.zeros((len(forms), r), np.int64)
        for row, terms in zip(jacobian, forms, strict=True):
            for monomial, coefficient in terms:
                value = coefficient
                for x, e in zip(point, monomial, strict=True):
                    value = value * pow(x, e, p) % p
                # Column k times x_k: the rank is the same.
                row += np.array(monomial) * value % p
        jacobian %= p
        found = []
        for fixed in combinations(range(r), r - len(forms)):
            kept = [k for k in range(r) if k not in fixed]
            if any(growth[k] for k in fixed) and modular_rank(jacobian[:, kept], p) == len(forms):
                found.append(fixed)
        return found

    def count(
        self, growth: Sequence[int], fixed: Sequence[int], seconds: float, distinct: bool = True
    ) -> int | None:
        """M; None where there are infinitely many solutions, or multiple ones.

        Not `distinct`: multiple ones are counted as often.  This takes a quarter less time.
        """
        p = self.p
        kept = [k for k in range(len(growth)) if k not in fixed]
        groups = -(-len(kept) // _TOGETHER)
        ring = PrimeField(p).context([*(f"x{k}" for k in kept), *(f"y{k}" for k in range(groups))])
        values = [self.rng.randrange(1, p) for _ in fixed]
        nothing = (0,) * groups
        equations = []
        for form in self.leading(growth):
            terms: dict[tuple[int, ...], int] = {}
            for monomial, coefficient in form:
                for k, value in zip(fixed, values, strict=True):
                    coefficient = coefficient * pow(value, monomial[k], p) % p
                key = (*(monomial[k] for k in kept), *nothing)
                terms[key] = (terms.get(key, 0) + coefficient) % p
            equations.append(ring.from_dict(terms))
        for group in range(groups):
            own = [int(k % groups == group) for k in range(len(kept))]
            key = (*own, *(int(k == group) for k in range(groups)))
            equations.append(ring.from_dict({key: 1, (0,) * len(key): p - 1}))
        found = quotient_degree(equations, distinct=distinct, timeout=seconds)
        return found.degree if not distinct or found.degree == found.distinct else None


def search(case: Case) -> FoundEvidence | None:
    """Growths at the ends of paths, or random ones: the paths first if no part was counted.

    Parts that are out of reach would need far more time than is left.
    """
    if not case.has_surplus or not case.effort.limits.subsets:
        return None
    problem, seed, follow = case.problem, case.effort.seed, case.effort.tools.growths
    found, text = None, case.tried.get(ARGUMENT.name, "")
    if (case.attempt > 0) == (parts_of(case).quick > 0):
        text += "; " * bool(text)
        if follow is None:
            case.tried[ARGUMENT.name] = f"{text}no paths to infinity were followed"
            return None
        # Of what a call's other searches leave.
        seconds = max(0, case.effort.limits.work - now()) * 3 / 4
        with suppress(OutOfTime):
            growths = follow(problem, case.equations)
            found = solution_at_infinity(problem, case.equations, seed, seconds, growths)
        text += "no odd number of solutions was found at the ends of paths that were followed"
    else:
        found = solution_at_infinity(problem, case.equations, seed, case.seconds)
        text += "; " * bool(text) + "no odd number of solutions at infinity was found"
    case.tried[ARGUMENT.name] = text
    if found is None:
        return None
    number = plural(found.solutions, f"{found.solutions} solution")
    rule = f"real solutions near infinity: {number} there, odd"
    return FoundEvidence(
        MAXIMAL, rule, found, note=counted_note(f"{number} at infinity", found.primes)
    )


def solution_at_infinity(
    problem: Problem,
    equations: int,
    seed: int,
    seconds: float,
    growths: Iterable[Growth] | None = None,
) -> AtInfinity | None:
    """Growths of the weights with an odd number of simple solutions at infinity, if any are found.

    Parameters
    ----------
    problem : Problem
        With more learnable cells than equations, of full rank.
    equations : int
        The network's generic rank ρ.
    seed : int
    seconds : float
        Time limit of the search.
    growths : iterable of tuple of int, optional
        Vectors to try; random ones by default.
    """
    if problem.network.chain() is None:
        return None
    rng, end = random.Random(f"infinity/{seed}"), end_of_part(seconds)
    try:
        system, other = (_LabelSystem(problem, random_prime(rng), rng) for _ in range(2))
    except RootCountError:
        return None
    if system.rank != equations:
        return None
    search = _Search(system, other, end)
    with phase("solutions at infinity"), suppress(MsolveMissing):
        if growths is None:
            return search.among(_growths(problem.allocation.size, rng))
        return search.at_ends(growths)
    return None


class _Search:
    """Growths are tried for an odd number of solutions, until a time.

    Parameters
    ----------
    system, other : _LabelSystem
        Of two instances modulo two primes.
    end : float
        On the monotonic clock.
    """

    def __init__(self, system: _LabelSystem, other: _LabelSystem, end: float) -> None:
        self.system, self.other, self.end = system, other, end
        self.seen: set[tuple[tuple[tuple[int, ...], ...], ...]] = set()

    def among(self, growths: Iterable[Growth]) -> AtInfinity | None:
        """Each of many growths, of which few have isolated solutions, with the same limit."""
        for growth in growths:
            check_time()
            spend(_GROWTH)
            if has_passed(self.end):
                return None
            for fixed in self._slices(growth)[1][:_SLICES]:
                with suppress(MsolveTimeout):
                    found = self._counted(growth, fixed, _SECONDS)
                    if found is not None:
                        return found
        return None

    def at_ends(self, growths: Iterable[Growth]) -> AtInfinity | None:
        """Growths that take time to find, most of them with solutions, of very different numbers.

        As much time is given to counts as to growths.  All are counted with a small limit first,
        those with the fewest terms before the others; then those that were not finished, with the
        next limit, as soon as there is time for it.
        """
        waiting: list[tuple[float, int, Growth, tuple[int, ...]]] = []
        source, exhausted = iter(growths), False
        # Seconds that growths took, less those of counts.
        surplus: float = 0
        while not has_passed(self.end):
            check_time()
            began = now()
            needed = waiting[0][0] - _FIRST_SECONDS if waiting else math.inf
            if not exhausted and surplus <= needed:
                growth = next(source, None)
                exhausted = growth is None
                if growth is not None and max(map(abs, growth)) <= LARGEST_GROWTH:
                    # Where a fixed weight has odd growth, the parity is that of all such slices.
                    terms, slices = self._slices(growth)
                    for fixed in slices[:1]:
                        heappush(waiting, (_FIRST_SECONDS, terms, growth, fixed))
                spend(_GROWTH)
                surplus += now() - began
            elif waiting:
                limit, terms, growth, fixed = heappop(waiting)
                try:
                    found = self._counted(growth, fixed, limit)
                except MsolveTimeout:
                    heappush(waiting, (_LONGER * limit, terms, growth, fixed))
                else:
                    if found is not None:
                        return found
                surplus -= now() - began
            else:
                break
        return None

    def _slices(self, growth: Growth) -> tuple[int, list[tuple[int, ...]]]:
        """The number of terms of the leading parts, and which weights to fix, the fastest count
        first; none if the same leading parts were seen before."""
        forms = self.system.leading(growth)
        key = tuple(tuple(monomial for monomial, _ in form) for form in forms)
        terms = sum(map(len, forms))
        # A sum of one term has no solution without a zero entry.
        if key in self.seen or any(len(form) == 1 for form in forms):
            return terms, []
        self.seen.add(key)
        slices = self.system.slices(growth, forms)
        return terms, sorted(slices, key=lambda fixed: _cost(growth, forms, fixed))

    def _counted(self, growth: Growth, fixed: tuple[int, ...], seconds: float) -> AtInfinity | None:
        """The evidence, where the number is odd modulo both primes."""
        try:
            value = self.system.count(growth, fixed, seconds, distinct=False)
            if value and value % 2 and self.other.count(growth, fixed, 2 * seconds) == value:
                return AtInfinity(growth, fixed, value, (self.system.p, self.other.p))
        except MsolveFailed:
            pass
        return None


def _cost(growth: Sequence[int], forms: list[Terms], fixed: Sequence[int]) -> tuple[int, ...]:
    """An estimate of the time for a count with these weights fixed.

    A fixed weight of even growth counts each place an even number of times.
    """
    kept = [k for k in range(len(growth)) if k not in fixed]
    degrees = [max(sum(monomial[k] for k in kept) for monomial, _ in form) for form in forms]
    return (
        sum(growth[k] % 2 == 0 for k in fixed),
        sum(abs(growth[k]) for k in fixed),
        sum(degrees),
        sum(sum(monomial[k] for k in kept) for form in forms for monomial, _ in form),
    )


def _growths(size: int, rng: random.Random) -> Iterator[tuple[int, ...]]:
    """Vectors of growths without a common factor, not all at most 0."""
    if len(_GROWTHS) ** size <= _MOST_VECTORS:
        every = [v for v in product(_GROWTHS, repeat=size) if max(v) > 0 and gcd(*v) == 1]
        rng.shuffle(every)
        yield from every
        return
    for _ in range(_MOST_VECTORS):
        growth = [0] * size
        for k in rng.sample(range(size), rng.randint(1, size)):
            growth[k] = rng.choice((1, 1, 1, 2, 2, -1))
        if max(growth) > 0 and gcd(*growth) == 1:
            yield tuple(growth)


def check(problem: Problem, found: AtInfinity, claimed: Claimed) -> str:
    """An odd number of simple solutions at infinity, counted again modulo another prime."""
    equations = claimed.equations
    size = problem.allocation.size
    if len(found.growth) != size:
        raise CheckFailed(f"{PLACE}.growth", f"{len(found.growth)} numbers for {size} weights")
    if len(found.fixed) != size - equations:
        text = f"{len(found.fixed)} weights are fixed, of {size} with {equations} equations"
        raise CheckFailed(f"{PLACE}.fixed", text)
    if len({k for k in found.fixed if k < size}) < len(found.fixed):
        raise CheckFailed(f"{PLACE}.fixed", f"are not different weights of {size}")
    if found.solutions % 2 == 0:
        raise CheckFailed(f"{PLACE}.solutions", f"{found.solutions} is even: it proves nothing")

    def count(p: int, rng: random.Random) -> int | None:
        labels = written_labels(problem, p, rng, _MOST_TERMS)
        parts = leading_parts([dict(f.terms()) for f in labels], found.growth, p)
        if len(parts) != equations:
            text = f"{len(parts)} independent label equations, not {equations}"
            raise CheckFailed(PLACE, text)
        values = {k: rng.randrange(1, p) for k in found.fixed}
        return _count_without_zeros(parts, values, size, p, max(1, round(claimed.seconds)))

    return counted_modulo(
        found.solutions, found.primes, "solutions at infinity", count,
        claimed.seed, f"{PLACE}.solutions", claimed.say,
    )  # fmt: skip


def leading_parts(
    polynomials: list[dict[tuple[int, ...], Any]], growth: Sequence[int], p: int
) -> list[dict[tuple[int, ...], int]]:
    """Independent parts of highest weighted degree, of combinations of polynomials modulo p.

    One pivot after the other is eliminated, monomials of high degree first.

    Examples
    --------
    >>> leading_parts([{(1, 0): 1, (0, 1): 1, (0, 0): 5}, {(1, 0): 1, (0, 0): 1}], (1, 0), 101)
    [{(1, 0): 1}, {(0, 0): 97, (0, 1): 100}]
    """

    def degree(monomial: tuple[int, ...]) -> int:
        return sum(v * int(e) for v, e in zip(growth, monomial, strict=True))

    left = [{m: int(c) % p for m, c in f.items() if int(c) % p} for f in polynomials]
    parts = []
    for pivot in sorted({m for f in left for m in f}, key=lambda m: (-degree(m), m)):
        own = next((f for f in left if pivot in f), None)
        if own is None:
            continue
        left = [f for f in left if f is not own]
        inverse = pow(own[pivot], -1, p)
        for f in left:
            check_time()
            factor = f.get(pivot, 0) * inverse % p
            if factor:
                for m, c in own.items():
                    f[m] = (f.get(m, 0) - factor * c) % p
                    if not f[m]:
                        del f[m]
        parts.append({m: c for m, c in own.items() if degree(m) == degree(pivot)})
    return parts


def _count_without_zeros(
    parts: list[dict[tuple[int, ...], int]], fixed: dict[int, int], size: int, p: int, seconds: int
) -> int | None:
    """Solutions without a zero entry, some unknowns fixed; None if infinitely many or multiple."""
    kept = [k for k in range(size) if k not in fixed]
    # An inverse for the product of each two unknowns.
    pairs = [kept[k : k + 2] for k in range(0, len(kept), 2)]
    names = [f"x{k}" for k in kept] + [f"inverse{k}" for k in range(len(pairs))]
    ring = PrimeField(p).context(names)
    unknown = dict(
        zip([*kept, *(("inverse", k) for k in range(len(pairs)))], ring.gens(), strict=True)
    )
    equations = []
    for part in parts:
        total = ring.constant(0)
        for monomial, coefficient in part.items():
            term = ring.constant(coefficient)
            for k, e in enumerate(monomial):
                term = term * (fixed[k] if k in fixed else unknown[k]) ** int(e)
            total = total + term
        equations.append(total)
    for k, pair in enumerate(pairs):
        term = unknown["inverse", k]
        for one in pair:
            term = term * unknown[one]
        equations.append(term - 1)
    found = quotient_degree(equations, distinct=True, timeout=seconds)
    return found.degree if found.degree == found.distinct else None


ARGUMENT = Argument(
    name="at_infinity",
    form=AtInfinity,
    why={
        MAXIMAL: "MP = 1: in the limit in which some weights grow without bound, the equations "
        "have an odd number of complex solutions, so at least one is real. Near it lie real "
        "solutions of the equations themselves, with large weights."
    },
    search=search,
    check=check,
    covers={MAXIMAL: SAME_NUMBER},
)
