r"""More weights than equations: maximal because some products of matrices may have any entries.

Let r > ρ weights of a chain of matrices learn (``D W ⋯ W B`` for a recurrent net).  The factors in
the order in which they act, B, W, …, W, D, have number 0, 1, …; a *partial product* is that of some
consecutive ones, such as W B, D W or W², but not of all of them.

**Theorem.** Choose r − ρ entries g of partial products such that labels and g together have a
Jacobian of rank r in the learnable weights.  Then for generic instances and generic values c there
is the same number M of complex students with g = c, all simple.  If M is odd, MP = 1.

*Proof.* {(fixed weights, samples, w, Y, c): Y = f(w), c = g(w)} is a graph over (fixed weights,
samples, w), hence irreducible, and by the rank it maps generically finitely onto a dense part of
all (instance, c).  Fibres of generic points have the same number of points, simple since the
characteristic is 0.  For real instances and values non-real ones occur in pairs. ∎

Sub-allocations are the case in which entries g are weights.  M is the degree of the divisor of
poles of such a function on the students (a function on the students), and where a row of W goes
to infinity while its products with the states stay finite, entries of W B have no pole: so M is
often far below all N, and often odd where these are even.  In the example n = 2, T = 3, b = d = 1,
m = 3 with all of W, parts of three weights have even N, but once an entry of D W is fixed, the
weights are rational in the data (M = 1).

M is the degree of the ideal of the equations at a random instance, modulo primes; the student that
gives labels and values is one of its points, so the equations are consistent.

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py` it decides 5, three of
them alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import nmod_mat

from algebra.arguments.argument import (
    Argument,
    Claimed,
    FoundEvidence,
    counted_note,
)
from algebra.arguments.large_recount import counted_modulo, polynomial_weights
from algebra.checker.checks import CheckFailed
from algebra.checker.premises import SAME_NUMBER
from algebra.checker.records import Primes, Record
from algebra.checker.verdicts import MAXIMAL
from algebra.declarations import Count, Size
from algebra.linalg.primes import random_prime
from algebra.networks.chain import need_chain
from algebra.polynomials.msolve.process import MsolveFailed, MsolveMissing, MsolveTimeout
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.polynomials.rings import PrimeField
from algebra.problems.problem import Problem
from algebra.systems.instances import modular_instance
from algebra.systems.root_count import has_short_labels, with_few_samples
from algebra.time_limits import check_time, phase
from algebra.words import plural
from algebra.work import end_of_part, has_passed, spend

if TYPE_CHECKING:
    from algebra.arguments.case import Case

PLACE = "evidence.partial_products"
# Seconds for each count of the search, and number of counts that may take longer before it ends.
_SECONDS = 1
# Work of a choice of entries besides the counts.
_CHOICE = 1 / 100
_LATE = 3
# Largest number of choices of entries.
_MOST_CHOICES = 60

# Numbers of the first and the last factor, row and column of the product.
Entry = tuple[Count, Count, Count, Count]


@dataclass(frozen=True)
class FixedProducts(Record):
    """Entries of partial products that are fixed, and the number of students.

    Attributes
    ----------
    entries : tuple of (int, int, int, int)
        r − ρ of them.
    solutions : int
        M.
    primes : tuple of int
        Primes modulo which it was counted.
    """

    entries: tuple[Entry, ...]
    solutions: Size
    primes: Primes


def search(case: Case) -> FoundEvidence | None:
    """Entries of products of matrices that an odd number of students has."""
    if not case.has_surplus:
        return None
    seconds = case.seconds if case.effort.limits.subsets else 0
    found = fixed_products(case.problem, case.equations, case.effort.seed, seconds)
    if found is None:
        text = "no odd number of students with fixed products of matrices was found"
        case.tried[ARGUMENT.name] = text
        return None
    number = plural(found.solutions, f"{found.solutions} student")
    rule = f"{number}, odd, with fixed entries of products of matrices"
    return FoundEvidence(MAXIMAL, rule, found, note=counted_note(number, found.primes))


def fixed_products(
    problem: Problem, equations: int, seed: int, seconds: float
) -> FixedProducts | None:
    """Entries for which the number of students is odd, if any are found.

    Parameters
    ----------
    problem : Problem
        With more learnable cells than equations, of full rank.
    equations : int
        The network's generic rank ρ.
    seed : int
    seconds : float
        Time limit of the search.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=3, b=1, d=1, m=4)
    >>> found = fixed_products(Problem(net, {"W": [[1, 1], [1, 1]]}), 3, 0, 10)
    >>> found.solutions
    1
    """
    if not _applies(problem) or seconds <= 0:
        return None
    rng, end, late = random.Random(f"partial products/{seed}"), end_of_part(seconds), 0
    first, second = (_Instance(problem, random_prime(rng), rng) for _ in range(2))
    with phase("students with fixed products of matrices"):
        for entries in first.choices(problem.allocation.size - equations, rng):
            check_time()
            spend(_CHOICE)
            if has_passed(end) or late == _LATE:
                return None
            try:
                found = first.count(entries, _SECONDS)
                if found and found % 2 and second.count(entries, 4 * _SECONDS) == found:
                    return FixedProducts(entries, found, (first.p, second.p))
            except (MsolveTimeout, MsolveFailed):
                late += 1
            except MsolveMissing:
                return None
    return None


def check(problem: Problem, found: FixedProducts, claimed: Claimed) -> str:
    """An odd number of students with fixed entries, counted again modulo another prime.

    The equations are written anew: products by their definition, entry by entry, and labels of
    samples that FLINT brings to echelon form.
    """
    if not has_short_labels(with_few_samples(problem.allocation)):
        raise CheckFailed(PLACE, "the network is no chain of matrices, or has long labels")
    size, number = problem.allocation.size, found.solutions
    if len(found.entries) != size - claimed.equations:
        text = f"{len(found.entries)} entries are fixed, of {size} weights with "
        raise CheckFailed(f"{PLACE}.entries", f"{text}{claimed.equations} equations")
    if number % 2 == 0:
        raise CheckFailed(f"{PLACE}.solutions", f"{number} is even: it proves nothing")

    def count(p: int, rng: random.Random) -> int | None:
        equations = _equations_again(problem, found.entries, p, rng)
        return quotient_degree(equations, timeout=max(1, round(claimed.seconds))).degree

    return counted_modulo(
        number, found.primes, "students with these entries", count, claimed.seed,
        f"{PLACE}.solutions", claimed.say,
    )  # fmt: skip


def _equations_again(
    problem: Problem, entries: Sequence[Entry], p: int, rng: random.Random
) -> list[Any]:
    """The labels and entries of products of a student, minus their values at a random one."""
    few = with_few_samples(problem.allocation)
    instance = modular_instance(few, p, rng.randrange(1 << 32), problem.student())
    network, layout = need_chain(few.network), need_chain(few.network).chain()
    numbers = {cell: k for k, cell in enumerate(few.cells)}
    ring = PrimeField(p).context([f"w{k}" for k in numbers.values()])
    unknowns = ring.gens()
    root = [int(instance.weights[name][i, j]) for name, i, j in few.cells]

    def factor(name: str) -> np.ndarray:
        table = np.empty(network.shapes[name], object)
        for (i, j), value in np.ndenumerate(instance.weights[name]):
            at = numbers.get((name, i, j))
            table[i, j] = ring.constant(int(value)) if at is None else unknowns[at]
        return table

    names = (*(() if layout.start is None else (layout.start,)), *layout.steps, layout.output)
    factors = [factor(name) for name in names]
    weights = {name: factor(name) for name in network.shapes}
    reduced, rank = nmod_mat([[int(x) for x in row] for row in instance.X.T % p], p).rref()
    samples = np.empty((reduced.ncols(), rank), object)
    for i, k in np.ndindex(samples.shape):
        samples[i, k] = ring.constant(int(reduced[k, i]))
    functions = list(np.ravel(network.forward(weights, samples)))
    for k, (first, last, row, column) in enumerate(entries):
        proper = first < last < len(factors) and last - first < len(factors) - 1
        if not (proper and row < len(factors[last]) and column < len(factors[first][0])):
            text = f"{[first, last, row, column]} is no entry of a partial product"
            raise CheckFailed(f"{PLACE}.entries[{k}]", text)
        vector = [line[column] for line in factors[first]]
        for number in range(first + 1, last + 1):
            vector = [
                sum((a * b for a, b in zip(line, vector, strict=True)), ring.constant(0))
                for line in factors[number]
            ]
        if vector[row].is_constant():
            text = f"{[first, last, row, column]} is the same for all students"
            raise CheckFailed(f"{PLACE}.entries[{k}]", text)
        functions.append(vector[row])
    return [g - g(*root) for g in functions if not g.is_constant()]


def _applies(problem: Problem) -> bool:
    """Whether the network is a chain with short labels."""
    return has_short_labels(with_few_samples(problem.allocation))


class _Instance:
    """Labels and partial products of a random instance modulo p, as polynomials in the weights."""

    def __init__(self, problem: Problem, p: int, rng: random.Random) -> None:
        self.p = p
        few = with_few_samples(problem.allocation)
        drawn = modular_instance(few, p, rng.randrange(1 << 32), problem.student())
        layout = need_chain(few.network).chain()
        start = () if layout.start is None else (layout.start,)
        names = (*start, *layout.steps, layout.output)
        self.learning = [name in few.matrices for name in names]
        weights, self.root, self.labels = polynomial_weights(drawn)
        self.factors = [weights[name] for name in names]
        self.products: dict[tuple[int, int], Any] = {}

    def product(self, first: int, last: int) -> Any:
        """The product of consecutive factors, the last one at the left."""
        key = (first, last)
        if key not in self.products:
            self.products[key] = (
                self.factors[first] if first == last
                else self.factors[last] @ self.product(first, last - 1)
            )  # fmt: skip
        return self.products[key]

    def has(self, entry: Entry) -> bool:
        """Whether there is such an entry of a partial product."""
        first, last, row, column = entry
        if not (first < last < len(self.factors) and last - first < len(self.factors) - 1):
            return False
        return row < len(self.factors[last]) and column < self.factors[first].shape[1]

    def count(self, entries: Sequence[Entry], seconds: int) -> int | None:
        """M; None where there are infinitely many students."""
        conditions = [
            self.product(first, last)[row, column] for first, last, row, column in entries
        ]
        if any(g.is_constant() for g in conditions):
            return None
        equations = [*self.labels, *(g - g(*self.root) for g in conditions)]
        return quotient_degree(equations, timeout=seconds).degree

    def choices(self, number: int, rng: random.Random) -> Iterator[tuple[Entry, ...]]:
        """Entries to fix, those of products of two factors before sets with some of three."""
        short, long = (self._entries(length, rng) for length in (1, 2))
        with_long = (
            chosen for chosen in _some(short + long, number, rng)
            if not set(long).isdisjoint(chosen)
        )  # fmt: skip
        yield from islice(chain(_some(short, number, rng), with_long), _MOST_CHOICES)

    def _entries(self, length: int, rng: random.Random) -> list[Entry]:
        """Entries of the products of so many factors and one more, in random order.

        Inputs that enter by fixed weights, and outputs that are read by such, can be mixed at will:
        one of them stands for all.
        """
        end, found = len(self.factors) - 1, list[Entry]()
        for first in range(end + 1 - length):
            last = first + length
            if length == end or self._repeats(first, length):
                continue
            product = self.product(first, last)
            rows, columns = product.shape
            rows = 1 if last == end and not self.learning[-1] else rows
            columns = 1 if first == 0 and not self.learning[0] else columns
            found += [
                (first, last, i, j) for i in range(rows) for j in range(columns)
                if not product[i, j].is_constant()
            ]  # fmt: skip
        rng.shuffle(found)
        return found

    def _repeats(self, first: int, length: int) -> bool:
        """Whether the product is that of the factors one place earlier: a power of W."""
        return first > 0 and all(
            self.factors[k] is self.factors[k - 1] for k in range(first, first + length + 1)
        )


def _some(entries: list[Entry], number: int, rng: random.Random) -> Iterator[tuple[Entry, ...]]:
    """Sets of entries: all of one, otherwise random ones."""
    if number == 1 or len(entries) < 8:
        yield from combinations(entries, number)
        return
    for _ in range(_MOST_CHOICES):
        yield tuple(rng.sample(entries, number))


ARGUMENT = Argument(
    name="partial_products",
    form=FixedProducts,
    why={
        MAXIMAL: "MP = 1: if as many entries of products of weight matrices as there are surplus "
        "weights are given any values, the number of complex solutions is odd, so at least one is "
        "real."
    },
    search=search,
    check=check,
    covers={MAXIMAL: SAME_NUMBER},
)
