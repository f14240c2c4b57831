"""Points that a file gives as a parametrization: distinct simple solutions, none of them real.

The points x = N(t) / (c q(t)), w(t) = 0, over Q.  What holds at all of them is decided modulo a
prime, where "yes" is a proof (`algebra.polynomials.quotient`); Sturm's theorem counts real ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from flint import fmpq_poly, fmpz, fmpz_poly, nmod_poly

from algebra.checker.checks import PROVED, CheckFailed, Say
from algebra.checker.records import Converted, Record, WholeText, read_form
from algebra.linalg.primes import random_prime
from algebra.polynomials.parametrization import Parametrization
from algebra.polynomials.quotient import Element, QuotientAlgebra
from algebra.time_limits import check_time

# Number of random primes tried before points are called singular.
_ATTEMPTS = 3

Terms = dict[tuple[int, ...], fmpz]


_Polynomial = Annotated[
    fmpz_poly,
    Converted(
        tuple[WholeText, ...],
        lambda value, place, context: fmpz_poly(
            list(read_form(tuple[WholeText, ...], value, place))
        ),
        lambda value: [str(c) for c in value.coeffs()],
    ),
]


@dataclass(frozen=True)
class ParametrizationTable(Record):
    """See `algebra.polynomials.parametrization.Parametrization`."""

    w: _Polynomial
    denominator: _Polynomial
    scale: WholeText
    numerators: tuple[_Polynomial, ...]


def check_points(
    equations: Sequence[Any],
    points: Parametrization,
    expected: int,
    seed: int,
    place: str,
    say: Say,
    further: Callable[[QuotientAlgebra, list[Element], random.Random], str] | None = None,
) -> None:
    """Check that points are distinct simple solutions of equations over Q, none of them real.

    Parameters
    ----------
    equations : sequence of fmpq_mpoly
        As many of them as there are unknowns, or more.
    points : Parametrization
        One polynomial for each unknown.
    expected : int
        Their number.
    seed : int
        It determines primes and linear forms.
    place : str
    say : callable
        Takes place, status and text of a result.
    further : callable, optional
        Of all points at once modulo a prime: what else is wrong with them, in words.

    Raises
    ------
    CheckFailed
    """
    if not points.is_proper():
        raise CheckFailed(place, "it is not a proper parametrization of the unknowns")
    if points.w.degree() != expected:
        raise CheckFailed(place, f"it has {points.w.degree()} points, not {expected}")
    for k, equation in enumerate(equations):
        if not points.satisfies(integer_terms(equation)):
            raise CheckFailed(place, f"its points do not solve equation {k} of the core")
    rng = random.Random(f"points/{seed}")
    complaint = ""
    for _ in range(_ATTEMPTS):
        p = random_prime(rng)
        try:
            complaint = _complaint(equations, points, p, rng, further)
        except BadPrime:
            complaint = "a denominator is divisible by each of the primes tried"
            continue
        if not complaint:
            break
    if complaint:
        raise CheckFailed(place, complaint)
    say(place, PROVED, f"{expected} distinct simple complex solutions of the instance")
    real = sturm_count(points.w)
    if real:
        raise CheckFailed(place, f"Sturm's theorem counts {real} real roots, not 0")
    say(place, PROVED, f"none of the {expected} is real (Sturm)")


class BadPrime(Exception):
    pass


def _complaint(
    equations: Sequence[Any],
    points: Parametrization,
    p: int,
    rng: random.Random,
    further: Callable[[QuotientAlgebra, list[Element], random.Random], str] | None,
) -> str:
    """What is wrong with the points modulo p, in words; "" if nothing is."""
    w = _modular(points.w, p)
    if w.degree() != points.w.degree() or w.gcd(w.derivative()).degree() != 0:
        raise BadPrime
    algebra = QuotientAlgebra(w)
    divisor = algebra.inverse(_modular(points.denominator, p) * int(points.scale % p) % w)
    if divisor is None:
        raise BadPrime
    root = [algebra.times(_modular(n, p) % w, divisor) for n in points.numerators]
    form = algebra.constant(0)
    for value in root:
        form = form + value * rng.randrange(1, p)
    if not algebra.separates(form):
        return "its points are not distinct: t ↦ point is not injective"
    rows = [
        [
            algebra.evaluate(modular_terms(e.derivative(k), p).items(), root)
            for k in range(len(root))
        ]
        for e in equations
    ]
    if not algebra.is_injective(rows, rng):
        return "its points are not simple roots of the core"
    return further(algebra, root, rng) if further else ""


def sturm_count(w: fmpz_poly) -> int:
    """The number of real roots of a squarefree polynomial that is not constant.

    Sturm's theorem: of w, w' and the negative remainders of each by the next, up to positive
    factors, the number of changes of sign falls by it from −∞ to ∞.

    Examples
    --------
    >>> sturm_count(fmpz_poly([0, -2, 0, 1])), sturm_count(fmpz_poly([1, 0, 1]))
    (3, 0)
    """
    chain = [w, w.derivative()]
    while chain[-1].degree() > 0:
        check_time()
        rest = -(fmpq_poly(chain[-2]) % fmpq_poly(chain[-1])).numer()
        chain.append(rest // rest.content())

    def changes(signs: list[bool]) -> int:
        return sum(a != b for a, b in pairwise(signs))

    right = [f.leading_coefficient() > 0 for f in chain]
    left = [sign == (f.degree() % 2 == 0) for f, sign in zip(chain, right, strict=True)]
    return changes(left) - changes(right)


def integer_terms(polynomial: Any) -> Terms:
    terms = polynomial.to_dict()
    common = fmpz(1)
    for c in terms.values():
        common = common.lcm(c.denominator)
    return {tuple(map(int, m)): (c.numerator * (common // c.denominator)) for m, c in terms.items()}


def modular_terms(polynomial: Any, p: int) -> dict[tuple[int, ...], int]:
    terms = {tuple(map(int, m)): residue_of(c, p) for m, c in polynomial.to_dict().items()}
    return {m: c for m, c in terms.items() if c}


def residue_of(value: Any, p: int) -> int:
    denominator = int(value.denominator % p)
    if not denominator:
        raise BadPrime
    return int(value.numerator % p) * pow(denominator, -1, p) % p


def _modular(polynomial: fmpz_poly, p: int) -> nmod_poly:
    return nmod_poly([int(c % p) for c in polynomial.coeffs()], p)


def constants(array: np.ndarray, algebra: QuotientAlgebra) -> np.ndarray:
    out = np.empty(array.shape, dtype=object)
    for cell in np.ndindex(array.shape):
        out[cell] = algebra.constant(residue_of(array[cell], algebra.p))
    return out
