r"""Verification of a witness without real solutions: from its rationals, real roots by Sturm.

**Theorem.** Let A be an allocation with r = ρ learnable weights and generic root count N, and let
z₀ = (c₀, X₀, Y₀) be a rational instance: fixed weights, samples and the labels of a teacher t₀.
Suppose

(a) its equations f(c₀, w; X₀) = Y₀ have N distinct complex solutions w among their solutions,
(b) at each of them the Jacobian with respect to w has rank r,
(c) none of them is real,
(d) the variety I of instances, {(c, X, Y): Y in the closure of the labels of all networks on X},
    is smooth at z₀.

Then MP < 1.

*Proof.* S = {(c, X, w)} is an affine space and maps to I by (c, X, w) ↦ (c, X, f(c, w; X)).  Both
have the same dimension, as r = ρ, and N is the degree of the map: a generic instance has exactly
N solutions.  By (b) the differential is injective at the N points over z₀, by (d) its target has
the same dimension: the map is a local isomorphism there.  So there are N disjoint neighbourhoods
of the w and a neighbourhood U of z₀ in I such that every instance in U has one solution in each,
and by (c) U can be so small that none of these is real.  A generic instance in U has no others.
Labels of teachers near t₀ with fixed weights near c₀ and samples near X₀ lie in U; such (c, X, t)
fill an open set, and all but a null set of them are generic.  That set has positive probability
where the laws have densities that are positive near it; where they are positive near 0 only
(uniform laws), all matrices and samples are scaled into reach first: the map is homogeneous in
each of them, so real solutions stay real solutions. ∎

Nothing is assumed about other solutions of the instance: whether a solution lies outside the chart
of an elimination, at infinity, or in a component of positive dimension, N solutions stay near the
given ones, and a generic instance near z₀ has no more.  So solutions that elimination loses do not
matter, but additional ones would: it must be proved that each point of the core is a solution of
the equations.

**Verification.**  The instance's core is computed again.  Elimination by linear equations with
constant coefficients is an isomorphism of schemes; a block set aside (`DeferredBlock`), linear in
its own unknowns, is one over the points where its matrix is regular.  With the points given as x =
N(t) / (c q(t)), w(t) = 0:

1. w is squarefree, q has no root in common with it (`Parametrization.is_proper`), deg w = N, and w
   divides each equation of the core at x(t), over Z: the points are roots of the core;
2. some linear form of the coordinates takes N different values: the points are distinct; with
   t a non-real root the conjugate of the point is that of the conjugate root, so a point is real
   only where t is;
3. the Jacobian of the core is injective at all points, and so are the matrices of the blocks set
   aside: with the isomorphisms this is (a) and (b);
4. Sturm's theorem counts no real root of w: (c);
5. (d) holds if ρ is the number of labels (I is an affine space), and if ρ is the dimension of *all*
   matrices A U of rank at most the narrowest layer, U of full rank and the labels of full rank w:
   the variety of matrices of rank at most w is smooth at those of rank w, and I is a bundle of such
   over the U of full rank.  In other cases it is not known for an instance chosen by the writer:
   the verifier then searches a witness at another instance (`algebra.families.linear.verify`).

2 and 3 are decided modulo a prime, where "yes" is a proof (`algebra.polynomials.quotient`).  The
weights computed from the points are also put into the network modulo that prime, as a check of
elimination itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from flint import fmpz, fmpz_poly, nmod_poly

from algebra.certificates.checks import PROVED, UNFINISHED, CheckFailed, Say
from algebra.families.linear.evidence import Witness
from algebra.linalg.modular import random_prime
from algebra.linalg.rational import rational_rank
from algebra.networks.chain import need_chain
from algebra.polynomials.parametrization import Parametrization
from algebra.polynomials.quotient import Element, QuotientAlgebra
from algebra.problems.problem import Problem
from algebra.systems.core import CoreSystem, FunctionPoints
from algebra.systems.instances import rational_core

PLACE = "evidence.no_real_root"
# Number of random primes tried before points are called singular.
_ATTEMPTS = 3

Terms = dict[tuple[int, ...], fmpz]


def check_no_real_root(
    problem: Problem, witness: Witness, expected: int, equations: int, seed: int, say: Say
) -> str:
    """Check an instance with N simple solutions, none of them real: see the module's theorem.

    Parameters
    ----------
    problem : Problem
    witness : Witness
        ``evidence.no_real_root`` of a certificate.
    expected : int
        The generic root count N.
    equations : int
        Generic rank ρ of the whole network.
    seed : int
        It determines primes and linear forms.
    say : callable
        Takes place, status and text of a result.

    Returns
    -------
    str
        "proved", or "unfinished" if (d) is not known.

    Raises
    ------
    CheckFailed
        If a statement of the witness does not hold.
    """
    if (witness.complex, witness.real) != (expected, 0):
        text = f"claims {witness.complex} complex and {witness.real} real solutions of {expected}"
        raise CheckFailed(PLACE, text)
    Y = problem.network.forward(witness.teacher, witness.X)
    allocation = problem.allocation
    core = rational_core(
        allocation, witness.weights, witness.X, Y, witness.form, order=witness.order
    )
    if not core.consistent or not core.equations:
        raise CheckFailed(PLACE, "the instance is degenerate: its core has no finite set of roots")
    if core.unknowns != witness.unknowns:
        raise CheckFailed(f"{PLACE}.unknowns", "they are not the unknowns of the core")
    points = _points(core, witness)
    place = f"{PLACE}.parametrization" if witness.points is not None else PLACE

    def further(algebra: QuotientAlgebra, root: list[Element], rng: random.Random) -> str:
        return _mismatch(problem, witness, Y, core, algebra, root, rng)

    if len(points.numerators) != len(core.unknowns):
        raise CheckFailed(place, "it is not a proper parametrization of the unknowns")
    check_points(core.equations, points, expected, seed, place, say, further)
    if is_smooth(problem, witness.X, Y, equations):
        say(PLACE, PROVED, "instances near it have as many solutions near these")
        return PROVED
    return UNFINISHED


def _points(core: CoreSystem, witness: Witness) -> Parametrization:
    """The given points; for a core in one unknown, the roots of its equations."""
    if witness.points is not None:
        return witness.points
    if len(core.unknowns) != 1:
        raise CheckFailed(f"{PLACE}.parametrization", "is missing")
    w = fmpz_poly()
    for equation in core.equations:
        terms = _integer_terms(equation)
        dense = [fmpz(0)] * (max(m[0] for m in terms) + 1)
        for (exponent,), coefficient in terms.items():
            dense[exponent] = coefficient
        w = w.gcd(fmpz_poly(dense))
    return Parametrization(w, fmpz_poly([1]), fmpz(1), (fmpz_poly([0, 1]),))


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
        if not points.satisfies(_integer_terms(equation)):
            raise CheckFailed(place, f"its points do not solve equation {k} of the core")
    rng = random.Random(f"points/{seed}")
    complaint = ""
    for _ in range(_ATTEMPTS):
        p = random_prime(rng)
        try:
            complaint = _complaint(equations, points, p, rng, further)
        except _BadPrime:
            complaint = "a denominator is divisible by each of the primes tried"
            continue
        if not complaint:
            break
    if complaint:
        raise CheckFailed(place, complaint)
    say(place, PROVED, f"{expected} distinct simple complex solutions of the instance")
    real = _real_roots(points.w)
    if real:
        raise CheckFailed(place, f"Sturm's theorem counts {real} real roots, not 0")
    say(place, PROVED, f"none of the {expected} is real (Sturm)")


class _BadPrime(Exception):
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
        raise _BadPrime
    algebra = QuotientAlgebra(w)
    divisor = algebra.inverse(_modular(points.denominator, p) * int(points.scale % p) % w)
    if divisor is None:
        raise _BadPrime
    root = [algebra.times(_modular(n, p) % w, divisor) for n in points.numerators]
    form = algebra.constant(0)
    for value in root:
        form = form + value * rng.randrange(1, p)
    if not algebra.separates(form):
        return "its points are not distinct: t ↦ point is not injective"
    rows = [
        [
            algebra.evaluate(_modular_terms(e.derivative(k), p).items(), root)
            for k in range(len(root))
        ]
        for e in equations
    ]
    if not algebra.is_injective(rows, rng):
        return "its points are not simple roots of the core"
    return further(algebra, root, rng) if further else ""


def _mismatch(
    problem: Problem,
    witness: Witness,
    Y: np.ndarray,
    core: CoreSystem,
    algebra: QuotientAlgebra,
    root: list[Element],
    rng: random.Random,
) -> str:
    """Why the points of the core are no solutions of the instance; "" if they are."""
    p = algebra.p

    def terms(polynomial: Any) -> Iterable[tuple[tuple[int, ...], int]]:
        return _modular_terms(polynomial, p).items()

    values = core.stage_values(root, FunctionPoints(algebra, terms, rng))
    if values is None:
        return "a block of the equations that elimination put aside is singular at a point"
    weights = _weights(problem, witness, core, values, algebra)

    def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        product = np.empty((a.shape[0], b.shape[1]), dtype=object)
        for i, j in np.ndindex(product.shape):
            total = algebra.constant(0)
            for k in range(a.shape[1]):
                total = total + a[i, k] * b[k, j]
            product[i, j] = total % algebra.w
        return product

    X = _constants(witness.X, algebra)
    labels = problem.network.forward(weights, X, matmul)
    if any(labels[cell] != algebra.constant(_residue(Y[cell], p)) for cell in np.ndindex(Y.shape)):
        return "the weights that follow from its points do not give the labels"
    return ""


def _weights(
    problem: Problem,
    witness: Witness,
    core: CoreSystem,
    values: list[Element],
    algebra: QuotientAlgebra,
) -> dict[str, np.ndarray]:
    weights = {name: _constants(value, algebra) for name, value in witness.weights.items()}
    for (name, i, j), image in zip(problem.allocation.cells, core.stage_images, strict=False):
        weights[name][i, j] = algebra.evaluate(_modular_terms(image, algebra.p).items(), values)
    return weights


def is_smooth(problem: Problem, X: np.ndarray, Y: np.ndarray, equations: int) -> bool:
    """Whether the variety of instances is known to be smooth at this instance: see (d) and 5."""
    if equations == Y.size:
        return True
    if problem.network.chain() is None:
        return False
    network = need_chain(problem.network)
    if network.drive(X) is not X:
        return False
    d, (inputs, m) = Y.shape[0], X.shape
    free = min(inputs, m)
    width = min(*network.inner_widths, d, free) if network.inner_widths else min(d, free)
    return (
        equations == width * (d + free - width)
        and rational_rank(X) == free
        and rational_rank(Y) == width
    )


def _real_roots(w: fmpz_poly) -> int:
    """The number of real roots of a squarefree polynomial, by SymPy's Sturm sequences."""
    # Imported here, since the import takes longer than most commands.
    import sympy

    coefficients = [int(c) for c in w.coeffs()][::-1]
    return int(sympy.Poly(coefficients, sympy.Symbol("t")).count_roots())


def _integer_terms(polynomial: Any) -> Terms:
    terms = polynomial.to_dict()
    common = fmpz(1)
    for c in terms.values():
        common = common.lcm(c.denominator)
    return {tuple(map(int, m)): (c.numerator * (common // c.denominator)) for m, c in terms.items()}


def _modular_terms(polynomial: Any, p: int) -> dict[tuple[int, ...], int]:
    terms = {tuple(map(int, m)): _residue(c, p) for m, c in polynomial.to_dict().items()}
    return {m: c for m, c in terms.items() if c}


def _residue(value: Any, p: int) -> int:
    denominator = int(value.denominator % p)
    if not denominator:
        raise _BadPrime
    return int(value.numerator % p) * pow(denominator, -1, p) % p


def _modular(polynomial: fmpz_poly, p: int) -> nmod_poly:
    return nmod_poly([int(c % p) for c in polynomial.coeffs()], p)


def _constants(array: np.ndarray, algebra: QuotientAlgebra) -> np.ndarray:
    out = np.empty(array.shape, dtype=object)
    for cell in np.ndindex(array.shape):
        out[cell] = algebra.constant(_residue(array[cell], algebra.p))
    return out
