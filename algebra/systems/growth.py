r"""How solutions of large networks grow, and the equations of their limit.

A linear RNN with n units in which the cells (i_k, j_k) of W learn has, as n → ∞, the equations
F(ξ, c, n) = 0 of `algebra.networks.large` with w_k = √n ξ_k: polynomials in ξ, √n and the numbers
c, which are normal in the limit.  For generic c the solutions are N Puiseux series in 1/√n, so that
w_k ~ n^{g_k} with rational g: the *growth* of a solution.  If cells are joined (the tail of one is
the head of another), solutions have different growths.

**Theorem 17.** For each growth g of a finite list let N_g be the number of simple solutions without
zeros of the equations of largest size, with w = n^g ξ (`LimitNetwork`).  If the sum of all N_g is
N, then for almost all c the number of real solutions at large n is that of the real solutions of
all these systems together.  In particular (a) the limit of MP is the probability that one of them
has a real solution, and (b) it is 1 if some N_g is odd.

*Proof.*  Divided by its largest power of n, each equation with w = n^g ξ is its part of largest
size plus positive powers of n^{-1/q}.  By the implicit function theorem every simple solution of
these parts continues to one solution for large n, real if and only if it is real (the conjugate
solution continues to the conjugate).  Solutions of different g, or of one g without zeros, are
different at large n, so these are all N.  (a) By Theorem 16 (`algebra.networks.large`) the limit of
MP is the probability of a real solution at all large n.  (b) Solutions that are not real come in
conjugate pairs of equal growth. ∎

(For (b) the sum is not needed: the simple solutions of one growth suffice.)  With more cells than
equations the limit is 1 if it is 1 for some of the cells: the others may keep what they had.

Growths are *guessed* from one instance with √n = 2^120, solved over Q, and then *counted*: N_g
modulo a random prime (simple solutions lift to characteristic 0, so that a count is never too
large), N as in `algebra.systems.root_count`.  If the counts do not sum up to N, nothing is said:
some solution of the leading parts is multiple or has a zero.  Where it has no teacher, N_g is a
generic root count, and "maximal" certifies (b).

**Steps larger than the labels.**  With m ≥ Tb samples the equations are those of the entries of
each A_t.  If the products of a step are larger than every label, its equations have the label 0;
the problem then has a teacher with labels at the other steps.  With fewer samples each equation has
all steps: if none is larger than the labels its largest part is the sum of theirs, else it would
have to be freed of the larger steps first, and such growths are left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from flint import acb, arb, ctx, fmpq, fmpq_mpoly, fmpz_poly, nmod_mpoly_ctx

from algebra.errors import InputError
from algebra.linalg.primes import random_prime
from algebra.networks.large import HALF, LargeNetwork, LimitNetwork
from algebra.polynomials.msolve.solver import quotient_degree, real_roots
from algebra.polynomials.real_roots import integer_terms
from algebra.polynomials.rings import CoefficientRing, PrimeField, RationalField
from algebra.problems.allocation import Allocation
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import ALL, Problem
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.systems.forms import DIRECT
from algebra.systems.root_count import generic_root_count
from algebra.systems.system import build_system
from algebra.words import plural

# log2 √n, and bits in which solutions are computed.
_ROOT = 120
_BITS = (500, 2_000, 8_000)
# Bits of the random numbers of an instance.
_SMALL = 10
# Sizes of joined cells beyond which growths are not looked for.
_MOST = 8


class LimitUnknown(InputError):
    """MP has a limit, and its equations are not known."""


@dataclass(frozen=True)
class Limit:
    """The limit of a problem's networks as they become large.

    Attributes
    ----------
    parts : tuple of Problem
        Of kind ``limit``, one for each growth: MP tends to the probability that one of them has a
        real solution, for the same instance.  Some may be missing if one has an odd number.
    counts : tuple of int
        Their numbers of complex solutions; empty if no cells are joined, and there is one part.
    """

    parts: tuple[Problem, ...]
    counts: tuple[int, ...] = ()

    @property
    def odd(self) -> tuple[Problem, ...]:
        """The parts with an odd number of solutions, those with labels at every step first."""
        odd = [p for p, count in zip(self.parts, self.counts, strict=False) if count % 2]
        return tuple(sorted(odd, key=lambda part: part.teacher is not None))

    @property
    def deciding(self) -> tuple[Problem, ...]:
        """The parts that decide every instance: one of the `odd`, or all."""
        return self.odd[:1] or self.parts


def limit_of(problem: Problem, *, seed: int = 0, timeout: float = 60) -> Limit:
    """The limit of a linear RNN's match probability, with the same learnable cells of W.

    Parameters
    ----------
    problem : Problem
        Of kind ``lrnn``; cells of W learn.  Uniformly random cells tend to
        disjoint ones.
    seed : int, optional
        For the instances with which growths are looked for, and for primes.
    timeout : float, optional
        Seconds for each Gröbner basis.

    Returns
    -------
    Limit

    Raises
    ------
    LimitUnknown
        If the counts do not sum up.
    InputError
        If the theorem does not apply.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=4, T=2, b=1, d=1, m=2)
    >>> mask = [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    >>> found = limit_of(Problem(net, {"W": mask}))
    >>> [part.network.growth for part in found.parts], found.counts
    ([(Fraction(1, 4), Fraction(1, 2))], (2,))
    """
    network = problem.network
    cells = _cells(problem)
    sizes = {name: getattr(network, name) for name in ("T", "b", "d", "m")}
    if not {i for i, _ in cells} & {j for _, j in cells}:
        return Limit((_problem(LimitNetwork(cells=cells, **sizes)),))
    large = LargeNetwork(cells=cells, root=random_prime(random.Random(f"large/{seed}")), **sizes)
    everything = Allocation.from_masks(large, {"W": np.ones((len(cells), 1), np.int8)})
    whole = network_rank(large, None, seed).rank
    own = allocation_rank(everything, None, whole, seed).rank
    if own < whole:
        # Minimal: the leading parts of dependent equations are dependent, whichever growths.
        smallest = [Fraction(1, 2 * sizes["T"])] * len(cells)
        return Limit((_problem(LimitNetwork(cells=cells, growth=smallest, **sizes)),))
    if len(cells) > own and (odd := _odd_subset(problem, own, seed, timeout)):
        return odd
    if len(cells) > min(own, _MOST):
        raise LimitUnknown(
            f"{len(cells)} joined cells face {whole} equations: growths are found for as many "
            f"cells as equations, up to {_MOST}, and for more if some of them have an odd number "
            "of solutions; MP of these networks has a limit, which estimates at growing n approach"
        )
    roots = generic_root_count(everything, seed=seed, timeout=timeout, has_full_rank=True)
    parts, counts = [], []
    for growth in _growths(replace(large, root=1 << _ROOT), seed, timeout):
        try:
            part = _problem(LimitNetwork(cells=cells, growth=growth, **sizes))
        except InputError:
            # Fewer samples than inputs mix steps of different sizes.
            continue
        count = _count(part, seed, timeout)
        if count:
            parts.append(part)
            counts.append(count)
    found = Limit(tuple(parts), tuple(counts))
    if sum(counts) != roots.value and not found.odd:
        raise LimitUnknown(
            f"the networks with these {len(cells)} {plural(len(cells), 'cell')} have {roots.value} "
            "complex solutions, and not all of them are simple solutions of leading parts: MP has "
            "a limit, which estimates at growing n approach, but its equations are not of this kind"
        )
    return found


def _odd_subset(problem: Problem, size: int, seed: int, timeout: float) -> Limit | None:
    """The limit of so many of the cells, if one of its parts has an odd number of solutions."""
    for cells in combinations(problem.allocation.cells, size):
        some = Problem.of(Allocation.from_cells(problem.network, cells))
        with suppress(LimitUnknown):
            found = limit_of(some, seed=seed, timeout=timeout)
            counts = found.counts
            if not counts:
                (part,) = found.parts
                counts = (generic_root_count(part.allocation, seed=seed, timeout=timeout).value,)
            if (found := Limit(found.parts, counts)).odd:
                return Limit(found.odd[:1], (1,))
    return None


def need_covered(problem: Problem) -> None:
    """Refuse networks and laws for which the limit is not proved.

    Raises
    ------
    InputError
    """
    network, chain, what = problem.network, problem.network.chain(), ""
    is_plain = chain is not None and chain.recurrent == "W" and network.columns == network.m
    if not (is_plain or network.made_from_problems):
        what = f"a {network.title} network: it must be of kind lrnn"
    elif problem.distribution != Distribution() or problem.teacher is not None:
        what = "another law than normal weights, inputs and teacher ([distribution], [teacher])"
    elif problem.support or problem.values or problem.constraints or problem.updates:
        what = "[support], [values], [constraints] or updates"
    if what:
        raise InputError(f"the limit of large networks is not known for {what}")


def _cells(problem: Problem) -> tuple[tuple[int, int], ...]:
    """The learnable cells of W; what the theorem does not cover is refused."""
    need_covered(problem)
    what = ""
    if set(problem.learnable) != {"W"}:
        what = "learnable weights of D or B: all must be cells of W"
    elif problem.is_random:
        cells = problem.learnable["W"]
        if cells.rows is None and cells.columns is None:
            return tuple((2 * k, 2 * k + 1) for k in range(cells.budget))
        what = "random cells of some rows or columns: those of the whole W tend to disjoint ones"
    if what:
        raise InputError(f"the limit of large networks is not known for {what}")
    return tuple((i, j) for _, i, j in problem.allocation.cells)


def _problem(network: LimitNetwork) -> Problem:
    """All cells of a limit learn; the teacher is its own, or has the labels that are not 0."""
    teacher = None
    if network.needs_teacher:
        own = replace(network, cells=(), growth=(), labels=network.own_steps)
        teacher = Problem(own, {})
    return Problem(network, {"W": ALL}, teacher=teacher)


def _growths(network: LargeNetwork, seed: int, timeout: float) -> list[tuple[Fraction, ...]]:
    """The different growths of the solutions of one instance over Q, at a very large n."""
    rng = random.Random(f"growth/{seed}")

    def entry() -> fmpq:
        return fmpq(rng.choice((-1, 1)) * rng.randint(1 << _SMALL - 1, 1 << _SMALL), 1 << _SMALL)

    system, before = _system(network, network, RationalField(), entry), ctx.prec
    points = _points(system, seed, timeout)
    try:
        for bits in _BITS:
            ctx.prec = bits
            found = [[_growth(x, network.T) for x in point] for point in points()]
            if not any(None in point for point in found):
                known = {tuple(g for g in point if g is not None) for point in found}
                return sorted(known, reverse=True)
    finally:
        ctx.prec = before
    raise LimitUnknown("a solution of a random instance has a weight 0: no growth is known")


def _points(
    system: Sequence[fmpq_mpoly], seed: int, timeout: float
) -> Callable[[], Iterator[list[acb]]]:
    """All complex solutions of a system over Q, in balls of the present precision."""
    if len(system) == 1:
        terms = integer_terms(system[0])
        top = max(power for (power,) in terms)
        one = fmpz_poly([terms.get((power,), 0) for power in range(top + 1)])
        return lambda: ([root] for root in _roots(one))
    found = real_roots(system, precision=_BITS[0], timeout=max(1, round(timeout)), seed=seed)
    points = found.parametrization
    if points is None:
        # Linear: its solution is real.
        return lambda: ([acb(fmpq(*low.as_integer_ratio())) for low, _ in b] for b in found.roots)
    return lambda: (
        [above(t) / (points.denominator(t) * points.scale) for above in points.numerators]
        for t in _roots(points.w)
    )


def _roots(polynomial: fmpz_poly) -> list[Any]:
    """Complex roots in balls, which python-flint's stubs do not describe."""
    pairs: Any = polynomial.complex_roots()
    return [root for root, _ in pairs]


def _growth(value: acb, most: int) -> Fraction | None:
    """g of w = √n · value ~ n^g, 2g of denominator at most T; None if the precision is too low."""
    power = abs(value).log() / (arb(2).log() * 2 * _ROOT)
    if not power.rad() < 1:
        return None
    near = power.mid().fmpq()
    return HALF + Fraction(int(2 * near.p), int(near.q)).limit_denominator(most) / 2


def _count(part: Problem, seed: int, timeout: float) -> int:
    """N_g modulo a prime; 0 if a solution of the leading parts is multiple or has a zero."""
    network: Any = part.network
    labelled = network if part.teacher is None else part.teacher.network
    rng = random.Random(f"growth/{seed}/{network.growth}")
    p = random_prime(rng)
    field = PrimeField(p)
    system = _system(network, labelled, field, lambda: field.constant(rng.randrange(1, p)))
    names = [*system[0].context().names(), "inverse"]
    context = nmod_mpoly_ctx.get(names, modulus=p)
    equations = [
        context.from_dict({(*power, 0): c for power, c in equation.terms()}) for equation in system
    ]
    product = context.from_dict({(1,) * len(names): 1, (0,) * len(names): p - 1})
    seconds = max(1, round(timeout))
    every = quotient_degree(system, timeout=seconds)
    inside = quotient_degree([*equations, product], distinct=True, timeout=seconds)
    same = every.degree == inside.degree == inside.distinct
    return every.degree if same and every.degree else 0


def _system(
    network: LimitNetwork, labelled: LimitNetwork, ring: CoefficientRing, entry: Callable[[], Any]
) -> tuple[Any, ...]:
    """The equations of one random instance, in the weights alone.

    Parameters
    ----------
    network : LimitNetwork
    labelled : LimitNetwork
        The teacher's network, or the same.
    ring : CoefficientRing
    entry : callable
        A random number of the ring, not 0.
    """

    def drawn(shape: tuple[int, int]) -> np.ndarray:
        return np.array([entry() for _ in range(shape[0] * shape[1])], object).reshape(shape)

    weights = {name: drawn(shape) for name, shape in network.shapes.items()}
    X = drawn(network.input_shape)
    teacher = {name: drawn(shape) for name, shape in labelled.shapes.items()}
    teacher |= {name: teacher[name] * 0 for name in labelled.untaught.intersection(teacher)}
    everything = Allocation.from_masks(network, {"W": np.ones(network.shapes["W"], np.int8)})
    Y = labelled.teach(teacher, X)
    return build_system(everything, weights, X, Y, ring, DIRECT.name).equations
