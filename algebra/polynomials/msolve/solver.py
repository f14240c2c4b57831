"""Complex solutions counted over GF(p), real solutions isolated over Q, with msolve.

msolve is a separate GPL program; it is run as a separate process on text files, in a private
directory, with one thread, a time limit and a memory limit.

Which results are proved.  Over GF(p) msolve prints a Gröbner basis, computed deterministically; the
monomials under its staircase are counted here.  Over Q msolve works modulo random primes and lifts,
so its answer is a claim.  Here its rational parametrization is proved to consist of solutions
(`Parametrization.satisfies`), real roots are isolated by FLINT from it, and the number of solutions
is compared with the number modulo two independent random primes of 31 bits.  Hence it is proved
that every box contains exactly one real solution.  That there are no others holds unless both
primes are among the finitely many bad ones of the system (their number is bounded explicitly in
[2]_); if the generic number of solutions is known, a comparison with `RealRoots.complex` proves
this, too.

References
----------
.. [1] J. Berthomieu, C. Eder, M. Safey El Din, "msolve: a library for solving polynomial
   systems", ISSAC 2021, 51-58.
.. [2] C. D'Andrea, A. Ostafe, I. Shparlinski, M. Sombra, "Reductions modulo primes of
   systems of polynomial equations and algebraic dynamical systems", Trans. Amer. Math.
   Soc. 371 (2019) 1169-1198.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq_mpoly, fmpz, nmod_mpoly, nmod_poly

from algebra.errors import InputError
from algebra.linalg.primes import PRIME_SIZES
from algebra.polynomials.msolve.process import (
    Deadline,
    MsolveFailed,
    run_msolve,
)
from algebra.polynomials.msolve.text import (
    claimed_parametrization,
    parse_basis,
    parse_nested,
    system_text,
)
from algebra.polynomials.parametrization import Parametrization
from algebra.polynomials.real_roots import RealRoots, elementary_roots, integer_terms
from algebra.polynomials.staircase import count_distinct, drl_key, is_finite, standard_monomials
from algebra.time_limits import checked

Terms = Mapping[tuple[int, ...], Any]
_PRIMES_TO_AGREE = 2
_PRIMES_TRIED = 6
_ATTEMPTS = 4


@dataclass(frozen=True)
class QuotientDegree:
    """The dimension of GF(p)[x] / I.

    Attributes
    ----------
    status : str
        "zero-dimensional", "positive-dimensional" or "empty" (1 lies in I).
    degree : int or None
        Number of solutions over the algebraic closure with multiplicity; 0 if empty, None
        if there are infinitely many.
    prime : int
    distinct : int or None
        Number of distinct solutions, if it was requested.
    """

    status: str
    degree: int | None
    prime: int
    distinct: int | None = None


def quotient_degree(
    polynomials: Sequence[nmod_mpoly],
    *,
    distinct: bool = False,
    timeout: float = 600,
    memory: int = 4096,
    seed: int = 0,
) -> QuotientDegree:
    """Number of solutions over the algebraic closure of GF(p), with multiplicity.

    Parameters
    ----------
    polynomials : sequence of nmod_mpoly
        In one context, whose modulus is a prime below 2^31.
    distinct : bool
        Count distinct solutions too (linear algebra on N×N matrices; see
        `algebra.polynomials.staircase.count_distinct` for its error).
    timeout : float
        Seconds.
    memory : int
        MiB that msolve may use.
    seed : int
        Seed of the random linear form that separates solutions.

    Raises
    ------
    InputError
        No polynomial, several contexts, a bad modulus, or no msolve.
    MsolveTimeout, MsolveFailed
        No answer.

    Examples
    --------
    >>> from flint import nmod_mpoly_ctx
    >>> x, y = nmod_mpoly_ctx.get(("x", "y"), modulus=65521).gens()
    >>> quotient_degree([x**2 - y, y**2 - x])
    QuotientDegree(status='zero-dimensional', degree=4, prime=65521, distinct=None)
    """
    context = _common_context(polynomials, nmod_mpoly)
    prime = int(context.modulus())
    if prime >= 2**31 or not context.is_prime():
        raise InputError(f"the modulus of `polynomials` ({prime}) must be a prime below 2^31")
    terms = [dict(checked(p.terms())) for p in polynomials]
    deadline = Deadline(timeout)
    return _degree(terms, context.nvars(), prime, distinct, deadline, memory, random.Random(seed))


def groebner_basis(
    polynomials: Sequence[nmod_mpoly], *, timeout: float = 600.0, memory: int = 4096
) -> list[dict[tuple[int, ...], int]]:
    """The reduced Gröbner basis over GF(p), degree reverse lexicographic, leading terms 1.

    Parameters
    ----------
    polynomials : sequence of nmod_mpoly
        In one context, whose modulus is a prime below 2^31.
    timeout : float
        Seconds.
    memory : int
        MiB that msolve may use.

    Raises
    ------
    InputError, MsolveTimeout, MsolveFailed
        As `quotient_degree`.

    Examples
    --------
    >>> from flint import nmod_mpoly_ctx
    >>> x, y = nmod_mpoly_ctx.get(("x", "y"), modulus=65521).gens()
    >>> groebner_basis([x**2 - y, x - y])[0] == {(1, 0): 1, (0, 1): 65520}
    True
    """
    context = _common_context(polynomials, nmod_mpoly)
    prime = int(context.modulus())
    if context.nvars() == 1:
        # msolve requires more than one unknown; here the basis is the greatest common divisor.
        common = _common_divisor([dict(checked(p.terms())) for p in polynomials], prime)
        return [{(k,): int(c) for k, c in enumerate(common.coeffs()) if int(c)}]
    terms = [dict(checked(p.terms())) for p in polynomials if len(p)]
    text = run_msolve(
        system_text(terms, context.nvars(), prime),
        ["-g", "2"],
        Deadline(timeout),
        memory,
    )
    return parse_basis(text, context.nvars(), prime)


def real_roots(
    polynomials: Sequence[fmpq_mpoly],
    *,
    precision: int = 64,
    timeout: int = 600,
    memory: int = 4096,
    seed: int = 0,
) -> RealRoots:
    """All real solutions of a zero-dimensional system over Q, in disjoint boxes.

    Parameters
    ----------
    polynomials : sequence of fmpq_mpoly
        In one context.
    precision : int
        The boxes' sides are at most 2^-precision long.
    timeout : int
        Seconds, for everything msolve does.
    memory : int
        MiB that msolve may use.
    seed : int
        For the random primes (and linear forms, if msolve's own does not separate).

    Returns
    -------
    RealRoots
        See there, and the module for what is proved.

    Raises
    ------
    InputError
        No polynomial, several contexts, or no msolve.
    MsolveTimeout, MsolveFailed
        No answer.  A false claim of msolve is a failure too.

    Examples
    --------
    >>> from flint import fmpq_mpoly_ctx
    >>> x, y = fmpq_mpoly_ctx.get(("x", "y")).gens()
    >>> result = real_roots([x**2 + y**2 - 4, x - y], precision=10)
    >>> result.status, len(result.roots), result.complex
    ('complete', 2, 2)
    """
    context = _common_context(polynomials, fmpq_mpoly)
    if precision < 1:
        raise InputError(f"`precision` ({precision}) must be at least 1 bit")
    names = tuple(context.names())
    terms = [t for p in polynomials if (t := integer_terms(p))]
    settled = elementary_roots(terms, names, precision)
    if settled is not None:
        return settled
    rng = random.Random(seed)
    deadline = Deadline(timeout)
    count, primes = _count_modulo_primes(terms, len(names), deadline, memory, rng)
    if count.status == "positive-dimensional":
        return RealRoots("positive-dimensional", names, primes=primes)
    if count.status == "empty":
        return RealRoots("none", names, complex=0, degree=0, primes=primes)
    assert count.degree is not None
    points = _proved_points(terms, len(names), count, primes, deadline, memory, rng)
    return RealRoots(
        "complete",
        names,
        roots=points.real_boxes(precision),
        complex=points.w.degree(),
        degree=count.degree,
        primes=primes,
        parametrization=points,
    )


def _common_context(polynomials: Sequence[Any], kind: type[Any]) -> Any:
    if not polynomials:
        raise InputError("`polynomials` is empty: give at least one equation")
    for k, polynomial in enumerate(polynomials):
        if not isinstance(polynomial, kind):
            raise InputError(
                f"`polynomials`[{k}] is {type(polynomial).__name__}, not {kind.__name__}"
            )
        if polynomial.context() is not polynomials[0].context():
            raise InputError(
                f"`polynomials`[{k}] is in {polynomial.context()}, `polynomials`[0] in "
                f"{polynomials[0].context()}: make them in one context"
            )
    return polynomials[0].context()


def _degree(
    terms: Sequence[Terms],
    variables: int,
    prime: int,
    distinct: bool,
    deadline: Deadline,
    memory: int,
    rng: random.Random,
) -> QuotientDegree:
    """`quotient_degree` of polynomials given by their terms."""
    terms = [t for t in terms if t]
    if any(sum(m) == 0 for t in terms if len(t) == 1 for m in t):
        return QuotientDegree("empty", 0, prime, 0 if distinct else None)
    if not terms:
        if variables:
            return QuotientDegree("positive-dimensional", None, prime)
        return QuotientDegree("zero-dimensional", 1, prime, 1 if distinct else None)
    if variables == 1:
        return _degree_one_unknown(terms, prime, distinct)
    text = run_msolve(
        system_text(terms, variables, prime), ["-g", "2" if distinct else "1"], deadline, memory
    )
    basis = parse_basis(text, variables, prime)
    leading = [max(g, key=drl_key) for g in basis]
    if not is_finite(leading, variables):
        return QuotientDegree("positive-dimensional", None, prime)
    degree = len(standard_monomials(leading, variables))
    if degree == 0:
        return QuotientDegree("empty", 0, prime, 0 if distinct else None)
    number = count_distinct(basis, variables, prime, rng) if distinct else None
    return QuotientDegree("zero-dimensional", degree, prime, number)


def _degree_one_unknown(terms: Sequence[Terms], prime: int, distinct: bool) -> QuotientDegree:
    common = _common_divisor(terms, prime)
    degree = common.degree()
    if degree == 0:
        return QuotientDegree("empty", 0, prime, 0 if distinct else None)
    number = sum(f.degree() for f, _ in common.factor_squarefree()[1]) if distinct else None
    return QuotientDegree("zero-dimensional", degree, prime, number)


def _common_divisor(terms: Sequence[Terms], prime: int) -> nmod_poly:
    """The monic greatest common divisor of polynomials in one unknown."""
    common = nmod_poly([], prime)
    for t in terms:
        dense = [0] * (max((m[0] for m in t), default=0) + 1)
        for (exponent,), coefficient in t.items():
            dense[exponent] = int(coefficient)
        common = common.gcd(nmod_poly(dense, prime))
    return common


def _count_modulo_primes(
    terms: Sequence[Terms], variables: int, deadline: Deadline, memory: int, rng: random.Random
) -> tuple[QuotientDegree, tuple[int, ...]]:
    """The count on which two random primes agree, and these primes."""
    votes: Counter[tuple[str, int | None]] = Counter()
    seen: dict[tuple[str, int | None], list[QuotientDegree]] = {}
    for _ in range(_PRIMES_TRIED):
        prime = _random_prime(rng)
        reduced = _reduce(terms, prime)
        # A prime that divides a coefficient is not representative.
        if any(len(r) < len(t) for r, t in zip(reduced, terms, strict=True)):
            continue
        count = _degree(reduced, variables, prime, False, deadline, memory, rng)
        key = (count.status, count.degree)
        votes[key] += 1
        seen.setdefault(key, []).append(count)
        if votes[key] == _PRIMES_TO_AGREE:
            return count, tuple(c.prime for c in seen[key])
    raise MsolveFailed(
        f"the number of solutions differs between random primes: {dict(votes)}; try another `seed`"
    )


def _proved_points(
    terms: Sequence[Terms],
    variables: int,
    count: QuotientDegree,
    primes: tuple[int, ...],
    deadline: Deadline,
    memory: int,
    rng: random.Random,
) -> Parametrization:
    """All complex solutions, as many as there are modulo the primes, proved to be solutions.

    If msolve's parametrization has fewer points than there are, its linear form did
    not separate them (or solutions are multiple); then a new unknown that is a random
    linear form is appended, last, and is used instead.
    """
    expected = count.degree
    complaint = ""
    for attempt in range(_ATTEMPTS):
        system, unknowns = list(terms), variables
        if attempt:
            system, unknowns = _with_linear_form(terms, variables, 4 * attempt, rng)
        text = run_msolve(system_text(system, unknowns, 0), ["-P", "2"], deadline, memory)
        claim = claimed_parametrization(parse_nested(text), unknowns)
        if isinstance(claim, str):
            complaint = f"msolve says {claim}, yet modulo {primes} there are {count.degree}"
            continue
        points, form = claim
        checks = [*({(*m, 0): c for m, c in t.items()} for t in system), form]
        if not points.is_proper() or not all(points.satisfies(f) for f in checks):
            complaint = "msolve's parametrization is not one of solutions"
            continue
        # t is a function of the other coordinates, so distinct t are distinct points.
        points = Parametrization(
            points.w, points.denominator, points.scale, points.numerators[:variables]
        )
        if points.w.degree() == expected:
            return points
        if expected == count.degree:
            expected = max(
                _degree(_reduce(terms, p), variables, p, True, deadline, memory, rng).distinct or 0
                for p in primes
            )
            if points.w.degree() == expected:
                return points
        complaint = f"msolve finds {points.w.degree()} of {expected} complex solutions"
    raise MsolveFailed(f"{complaint} ({_ATTEMPTS} attempts)")


def _with_linear_form(
    terms: Sequence[Terms], variables: int, bits: int, rng: random.Random
) -> tuple[list[Terms], int]:
    form: dict[tuple[int, ...], fmpz] = {}
    for i in range(variables):
        unit = tuple(int(i == j) for j in range(variables + 1))
        form[unit] = fmpz(rng.randrange(1, 2**bits))
    form[(0,) * variables + (1,)] = fmpz(-1)
    return [*({(*m, 0): c for m, c in t.items()} for t in terms), form], variables + 1


def _reduce(terms: Sequence[Terms], prime: int) -> list[dict[tuple[int, ...], int]]:
    return [{m: r for m, c in t.items() if (r := int(c % prime))} for t in terms]


def _random_prime(rng: random.Random) -> int:
    """A prime of the usual size, each equally likely."""
    bits = PRIME_SIZES.usual
    while True:
        candidate = rng.randrange((1 << bits - 1) + 1, 1 << bits, 2)
        if fmpz(candidate).is_prime():
            return candidate
