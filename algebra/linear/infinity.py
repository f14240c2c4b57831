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
(`numeric.chains.places`).  M belongs to one cone of the fan, and is often small where all N are in
the thousands.  If r − ρ = 1, s ↦ s^v x takes solutions of \hat f = 0 to solutions, v has no common
factor, and a place is an orbit: fixing x_k counts it |v_k| times.  So weights of odd growth are
fixed.

"Generic" means: over the field of the instance's data.  Its labels may be a student's, since the
ranks are equal.  M is the degree of the ideal of \hat f and y Π x_k = 1 at one random instance
modulo a prime, and "simple" is that as many of its points are distinct.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations, product
from math import gcd
from typing import Annotated

import numpy as np

from algebra.certificates.checks import PROBABLE, UNFINISHED, CheckFailed, Say
from algebra.certificates.records import Counts, Primes, Record
from algebra.declarations import Keyword, Size
from algebra.linalg.modular import modular_echelon, modular_rank, random_prime
from algebra.phases import phase
from algebra.polynomials.msolve.process import MsolveFailed, MsolveMissing, MsolveTimeout
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.polynomials.rings import PrimeField
from algebra.problems.laws.values import pins
from algebra.problems.problem import Problem
from algebra.systems.root_count import RootCountError
from algebra.systems.update_roots import FIRST, update_equations
from algebra.time_limits import check_time, end_of_part, has_passed

PLACE = "evidence.at_infinity"
# Growths that are tried, and the largest that a file may have.
_GROWTHS = (-1, 0, 1, 2)
LARGEST_GROWTH = 16
_Growth = Annotated[int, Keyword("minimum", -LARGEST_GROWTH), Keyword("maximum", LARGEST_GROWTH)]
# All growths of so many weights are tried in random order; of more weights, random ones.
_MOST_VECTORS = 5_000
# Ways to fix r − ρ of the weights, for one vector of growths; seconds for each count.
_SLICES, _SECONDS = 2, 2
# Growths that are given: terms of a leading part up to which they are counted at once, the number
# after which one of the others is counted, and the largest share of the time for a count.
_FEW_TERMS, _GROUP, _SHARE = 8, 3, 1 / 8
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


class _LabelSystem:
    """The label equations of a random instance modulo p as a matrix: equations by monomials."""

    def __init__(self, problem: Problem, p: int, rng: random.Random) -> None:
        self.p, self.rng = p, rng
        equations = update_equations(problem, p, rng, FIRST, _MOST_TERMS)
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

    def count(self, growth: Sequence[int], fixed: Sequence[int], seconds: int) -> int | None:
        """M; None where there are infinitely many solutions, or multiple ones."""
        p = self.p
        kept = [k for k in range(len(growth)) if k not in fixed]
        ring = PrimeField(p).context([*(f"x{k}" for k in kept), "y"])
        values = [self.rng.randrange(1, p) for _ in fixed]
        equations = []
        for form in self.leading(growth):
            terms: dict[tuple[int, ...], int] = {}
            for monomial, coefficient in form:
                for k, value in zip(fixed, values, strict=True):
                    coefficient = coefficient * pow(value, monomial[k], p) % p
                key = (*(monomial[k] for k in kept), 0)
                terms[key] = (terms.get(key, 0) + coefficient) % p
            equations.append(ring.from_dict(terms))
        ones = (1,) * (len(kept) + 1)
        equations.append(ring.from_dict({ones: 1, (0,) * len(ones): p - 1}))
        found = quotient_degree(equations, distinct=True, timeout=seconds)
        return found.degree if found.degree == found.distinct else None


def solution_at_infinity(
    problem: Problem,
    equations: int,
    seed: int,
    seconds: float,
    growths: Iterable[tuple[int, ...]] | None = None,
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
    if pins(problem.student()) or problem.network.chain() is None:
        return None
    rng, end = random.Random(f"infinity/{seed}"), end_of_part(seconds)
    try:
        system, other = (_LabelSystem(problem, random_prime(rng), rng) for _ in range(2))
    except RootCountError:
        return None
    if system.rank != equations:
        return None
    tried, limit = _growths(problem.allocation.size, rng), _SECONDS
    if growths is not None:
        tried = _sparsest_first(system, growths)
        limit = max(_SECONDS, round(seconds * _SHARE))
    seen = set()
    with phase("solutions at infinity"):
        for growth in tried:
            check_time()
            if has_passed(end):
                return None
            forms = system.leading(growth)
            key = tuple(tuple(monomial for monomial, _ in form) for form in forms)
            # A sum of one term has no solution without a zero entry.
            if key in seen or any(len(form) == 1 for form in forms):
                continue
            seen.add(key)
            slices = system.slices(growth, forms)
            rng.shuffle(slices)
            # A fixed weight of growth ± 1 counts each place once.
            slices.sort(key=lambda fixed: -sum(abs(growth[k]) == 1 for k in fixed))
            if growths is not None:
                slices.sort(key=lambda fixed: _cost(growth, forms, fixed))
            for fixed in slices[:_SLICES]:
                try:
                    value = system.count(growth, fixed, limit)
                    if value and value % 2 and other.count(growth, fixed, limit) == value:
                        return AtInfinity(growth, fixed, value, (system.p, other.p))
                except (MsolveTimeout, MsolveFailed):
                    continue
                except MsolveMissing:
                    return None
    return None


def _sparsest_first(
    system: _LabelSystem, growths: Iterable[tuple[int, ...]]
) -> Iterator[tuple[int, ...]]:
    """Growths whose leading parts have few terms at once, the others later, the sparsest first."""
    waiting: list[tuple[int, tuple[int, ...]]] = []
    usable = (v for v in growths if max(map(abs, v)) <= LARGEST_GROWTH)
    for number, growth in enumerate(usable, start=1):
        terms = sum(map(len, system.leading(growth)))
        if terms <= _FEW_TERMS * system.rank:
            yield growth
        else:
            heappush(waiting, (terms, growth))
        if number % _GROUP == 0 and waiting:
            yield heappop(waiting)[1]
    while waiting:
        yield heappop(waiting)[1]


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


def check_infinity(
    problem: Problem, claimed: AtInfinity, equations: int, seed: int, seconds: float, say: Say
) -> str:
    """An odd number of simple solutions at infinity, counted again modulo another prime.

    Parameters
    ----------
    problem : Problem
    claimed : AtInfinity
        ``evidence.at_infinity`` of a certificate.
    equations : int
        Generic rank ρ of the whole network, and of the allocation.
    seed : int
        Prime, instance and fixed weights follow from it.
    seconds : float
        For the Gröbner basis.
    say : callable
        Takes place, status and text of what was found.

    Returns
    -------
    str
        "probable" or "unfinished".

    Raises
    ------
    CheckFailed
    """
    size = problem.allocation.size
    if len(claimed.growth) != size:
        raise CheckFailed(f"{PLACE}.growth", f"{len(claimed.growth)} numbers for {size} weights")
    if len(claimed.fixed) != size - equations:
        text = f"{len(claimed.fixed)} weights are fixed, of {size} with {equations} equations"
        raise CheckFailed(f"{PLACE}.fixed", text)
    if len({k for k in claimed.fixed if k < size}) < len(claimed.fixed):
        raise CheckFailed(f"{PLACE}.fixed", f"are not different weights of {size}")
    if claimed.solutions % 2 == 0:
        raise CheckFailed(f"{PLACE}.solutions", f"{claimed.solutions} is even: it proves nothing")
    if pins(problem.student()):
        raise CheckFailed(PLACE, "weights that are exact numbers ([values]) are not known here")
    rng = random.Random(f"recount at infinity/{seed}")
    p = random_prime(rng)
    while p in claimed.primes:
        p = random_prime(rng)
    try:
        system = _LabelSystem(problem, p, rng)
        if system.rank != equations:
            text = f"{system.rank} independent label equations, not {equations}"
            raise CheckFailed(PLACE, text)
        found = system.count(claimed.growth, claimed.fixed, max(1, round(seconds)))
    except (RootCountError, MsolveTimeout, MsolveFailed, MsolveMissing) as error:
        text = f"{claimed.solutions} solutions at infinity; not counted again: {error}"
        say(PLACE, UNFINISHED, text)
        return UNFINISHED
    if found != claimed.solutions:
        number = "infinitely many or multiple ones" if found is None else found
        text = f"solutions counted again modulo {p}: {number}, not {claimed.solutions}"
        raise CheckFailed(f"{PLACE}.solutions", text)
    say(PLACE, PROBABLE, f"{found} simple solutions at infinity again, modulo {p}")
    return PROBABLE
