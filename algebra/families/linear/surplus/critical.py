r"""More weights than equations: the students nearest to a given point.

Let r ≥ ρ weights learn, with a Jacobian of rank ρ, and let ρ be the number of labels f, those of
samples that determine the labels of all others.  For an instance z (fixed weights, samples, labels
Y) and a point a in R^r consider the equations

.. math:: f(w) = Y, \quad w - a = J(w)^T λ

in r weights w and ρ multipliers λ: w is a critical point of the distance from a on the variety of
students.

**Theorem.** There is a number C such that these equations have C complex solutions for generic z
and a, all simple.  (1) If C is odd, MP = 1.  (2) If for one rational z₀ and a₀ there are C distinct
simple solutions, none of them real, MP < 1.

*Proof.* {(fixed weights, samples, w, λ)} is an affine space.  It maps to the pairs (z, a) by Y =
f(w) and a = w − J(w)^T λ, and has their dimension.  Where a fibre has an isolated point the map is
dominant, and a generic pair has the same finite number C of preimages, all simple since the
characteristic is 0.  (1) Non-real solutions occur in conjugate pairs, so a real pair has a real
solution, and its w is a student.  (2) Near each of the C solutions the map is a local isomorphism,
so every pair near (z₀, a₀) has a solution near each of them, none real, and a generic pair has no
others.  Labels of teachers near that of z₀ fill a neighbourhood of Y₀, because ρ is the number of
labels, so such instances have positive probability; almost all are generic, together with almost
all points near a₀.  Let z be one of them.  Its real students form a closed set, and at each of them
J has rank ρ (generic smoothness).  If there were one, one would be nearest to a.  There w − a is
orthogonal to the kernel of J, so it is J^T λ for a real λ: a real solution. ∎

C is the Euclidean distance degree of the variety [1]_.  It is counted modulo primes, as N is.  If
r − ρ = 1 the students form a curve; on each of its branches that go to infinity at both ends there
is an odd number of real critical points, and on each oval an even one.  So C is odd if an odd
number of places lies at infinity, whatever their growths are
(`algebra.families.linear.surplus.infinity` needs leading parts that are independent).

References
----------
.. [1] J. Draisma, E. Horobeţ, G. Ottaviani, B. Sturmfels, R. R. Thomas, "The Euclidean distance
   degree of an algebraic variety", Found. Comput. Math. 16 (2016) 99-149.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from algebra.certificates.checks import CheckFailed, Say
from algebra.families.linear.evidence import CriticalInstance, CriticalPoints
from algebra.families.linear.recount import counted_modulo
from algebra.families.linear.verification.witness import check_points
from algebra.linalg.modular import random_prime
from algebra.phases import phase
from algebra.polynomials.msolve.process import MsolveFailed, MsolveMissing, MsolveTimeout
from algebra.polynomials.msolve.solver import quotient_degree, real_roots
from algebra.polynomials.rings import PrimeField, RationalField
from algebra.problems.allocation import Allocation
from algebra.problems.laws.values import pins
from algebra.problems.problem import Problem
from algebra.systems.forms import DIRECT
from algebra.systems.instances import modular_instance, rational_instance
from algebra.systems.root_count import has_short_labels, with_few_samples
from algebra.systems.system import build_system
from algebra.time_limits import check_time, end_of_part, has_passed

PLACE = "evidence.critical_points"
# With more unknowns, weights and multipliers, they are too many to be counted in a few seconds.
_MOST_UNKNOWNS = 20
# With more critical points an instance without real ones is not searched: one takes too long.
_MOST_SOLVED = 40
# Seconds for the critical points of one instance.
_SECONDS = 2


def number_of_critical_points(
    problem: Problem, equations: int, seed: int, seconds: float
) -> CriticalPoints | None:
    """C, modulo two primes; None where the theorem does not apply, or it is out of reach.

    Parameters
    ----------
    problem : Problem
        With more learnable cells than equations, of full rank.
    equations : int
        The network's generic rank ρ.
    seed : int
    seconds : float
        For each prime.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=3, b=2, d=1, m=3)
    >>> number_of_critical_points(Problem(net, {"W": [[1, 1], [1, 1]]}), 3, 0, 10).number
    27
    """
    if not _applies(problem, equations) or seconds <= 0:
        return None
    rng = random.Random(f"critical points/{seed}")
    primes = (random_prime(rng), random_prime(rng))
    try:
        first, second = (_count(problem, p, seed, seconds) for p in primes)
    except (MsolveTimeout, MsolveFailed, MsolveMissing):
        return None
    return CriticalPoints(first, primes) if first and first == second else None


def instance_without_real_points(
    problem: Problem, found: CriticalPoints, seed: int, seconds: float
) -> tuple[CriticalPoints | None, str]:
    """An instance and a point with C distinct simple critical points, none of them real.

    Parameters
    ----------
    problem : Problem
    found : CriticalPoints
        Their number, which is even.
    seed : int
    seconds : float
        Time limit of the search.

    Returns
    -------
    found : CriticalPoints or None
        With an instance.
    tried : str
        The attempts, in words.
    """
    if found.number > _MOST_SOLVED:
        return None, str(found)
    few, end, solved = _few(problem), end_of_part(seconds), 0
    with phase("instances without critical points of the distance"):
        for index in count():
            if has_passed(end):
                return None, f"{found}, real ones in each of {solved} instances"
            check_time()
            student, teacher, X = rational_instance(few, seed, index)
            X = _in_normal_form(few, X)
            try:
                roots = real_roots(_rational(few, student, teacher, X), timeout=_SECONDS)
            except (MsolveTimeout, MsolveFailed):
                return None, str(found)
            except MsolveMissing as missing:
                return None, f"{found}; {missing}"
            if not roots.complex == roots.degree == found.number or roots.parametrization is None:
                continue
            solved += 1
            if not roots.roots:
                instance = CriticalInstance(student, teacher, X, roots.parametrization)
                return replace(found, instance=instance), str(found)
    raise AssertionError("unreachable")


def check_critical(
    problem: Problem, claimed: CriticalPoints, equations: int, seed: int, seconds: float, say: Say
) -> str:
    """C is counted again modulo another prime; the points of an instance are verified.

    Parameters
    ----------
    problem : Problem
    claimed : CriticalPoints
        ``evidence.critical_points`` of a certificate.
    equations : int
        Generic rank ρ of the whole network, and of the allocation.
    seed : int
        Prime and instance follow from it.
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
    if not _applies(problem, equations):
        raise CheckFailed(PLACE, "the theorem does not apply to this problem")
    instance, number = claimed.instance, claimed.number
    if instance is None and number % 2 == 0:
        raise CheckFailed(f"{PLACE}.number", f"{number} is even: it proves nothing")
    if instance is not None:
        few, place = _few(problem), f"{PLACE}.instance.parametrization"
        system = _rational(few, instance.weights, instance.teacher, instance.X)
        unknowns = few.allocation.size + equations
        if len(instance.points.numerators) != unknowns:
            raise CheckFailed(place, f"it must have {unknowns} coordinates")
        check_points(system, instance.points, number, seed, place, say)
    return counted_modulo(
        number, claimed.primes, "critical points of the distance",
        lambda p, rng: _count(problem, p, rng.randrange(1 << 32), seconds),
        seed, f"{PLACE}.number", say,
    )  # fmt: skip


def _applies(problem: Problem, equations: int) -> bool:
    """Whether ρ is the number of labels of a linear network's samples, and they are short."""
    few = with_few_samples(problem.allocation)
    return (
        not pins(problem.student())
        and has_short_labels(few)
        and equations == few.network.outputs
        and few.size + equations <= _MOST_UNKNOWNS
    )


def _few(problem: Problem) -> Problem:
    """The problem with only as many samples as determine the labels of all."""
    allocation = with_few_samples(problem.allocation)
    return Problem(
        allocation.network, allocation.masks, problem.support, distribution=problem.distribution
    )


def _in_normal_form(problem: Problem, X: np.ndarray) -> np.ndarray:
    """The samples with the identity as their first rows, where only their span matters.

    Labels are linear in the samples, so combinations of samples change no student; these have
    labels of lower degree in a recurrent matrix.
    """
    if problem.network.drive(X) is not X:
        return X
    found = X.copy()
    for i, j in np.ndindex(X.shape[1], X.shape[1]):
        found[i, j] = X[i, j] * 0 + int(i == j)
    return found


def _count(problem: Problem, p: int, seed: int, seconds: float) -> int | None:
    """C at a random instance modulo p; None where there are infinitely many."""
    few = _few(problem)
    drawn = modular_instance(
        few.allocation, p, seed, few.student(), key="critical points", teacher=True
    )
    drawn = replace(drawn, X=_in_normal_form(few, drawn.X))
    equations = critical_equations(
        few.allocation, drawn.weights, drawn.X, drawn.Y, PrimeField(p)
    )  # fmt: skip
    with phase(f"critical points, a Gröbner basis of {len(equations)} equations"):
        return quotient_degree(equations, timeout=max(1, round(seconds))).degree


def _rational(
    problem: Problem,
    student: Mapping[str, np.ndarray],
    teacher: Mapping[str, np.ndarray],
    X: np.ndarray,
) -> list[Any]:
    """The equations of a rational instance; the student's learnable weights are the point."""
    Y = problem.network.forward(teacher, X)
    return critical_equations(problem.allocation, student, X, Y, RationalField())


def critical_equations(
    allocation: Allocation,
    weights: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    ring: PrimeField | RationalField,
) -> list[Any]:
    """The equations of the theorem, in the learnable weights, then the multipliers.

    Parameters
    ----------
    allocation : Allocation
    weights : mapping of str to ndarray
        The fixed weights; those of learnable cells are the coordinates of the point a.
    X, Y : ndarray
        Samples and labels.
    ring : PrimeField or RationalField

    Returns
    -------
    list of polynomials
        As many as weights and labels.

    Examples
    --------
    The points on w² = 4 (D = B = 1, X = (1, 0)) and their distance from 3:

    >>> from algebra.networks.recurrent import LinearRNN
    >>> from flint import fmpq
    >>> net = LinearRNN(n=1, T=2, b=1, d=1, m=1)
    >>> one = np.array([[fmpq(1)]], dtype=object)
    >>> X = np.array([[fmpq(1)], [fmpq(0)]], dtype=object)
    >>> for f in critical_equations(
    ...     Allocation.from_cells(net, [("W", 0, 0)]), {"W": 3 * one, "B": one, "D": one},
    ...     X, 4 * one, RationalField(),
    ... ):
    ...     print(f)
    W_0_0^2 - 4
    -2*W_0_0*multiplier_0 + W_0_0 - 3
    """
    system = build_system(allocation, weights, X, Y, ring, DIRECT.name)
    labels, size = system.polynomials, allocation.size
    names = [*system.unknowns, *(f"multiplier_{k}" for k in range(len(labels)))]
    context = ring.context(names)
    zeros = (0,) * len(labels)
    found = [context.from_dict({(*m, *zeros): c for m, c in f.terms()}) for f in labels]
    unknowns = context.gens()
    for k, (name, i, j) in enumerate(allocation.cells):
        force = unknowns[k] - context.constant(ring.constant(weights[name][i, j]))
        for multiplier, f in zip(unknowns[size:], found[: len(labels)], strict=True):
            force = force - multiplier * f.derivative(k)
        found.append(force)
    return found
