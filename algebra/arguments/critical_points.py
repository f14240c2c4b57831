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
(`algebra.arguments.at_infinity` needs leading parts that are independent).

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py` it decides none alone; without
definite forms or fixed products it decides four.

References
----------
.. [1] J. Draisma, E. Horobeţ, G. Ottaviani, B. Sturmfels, R. R. Thomas, "The Euclidean distance
   degree of an algebraic variety", Found. Comput. Math. 16 (2016) 99-149.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from algebra.arguments.argument import (
    Argument,
    Claimed,
    FoundEvidence,
    counted_note,
)
from algebra.arguments.evidence import Entry, Weights, need_drawn
from algebra.arguments.large_recount import counted_modulo
from algebra.arguments.points import ParametrizationTable, check_points
from algebra.checker.arrays import matrix
from algebra.checker.checks import CheckFailed
from algebra.checker.premises import GENERIC_LABELS, NEARBY, NOISY, SAME_NUMBER
from algebra.checker.records import Context, Primes, Record, table
from algebra.checker.verdicts import INTERMEDIATE, MAXIMAL
from algebra.declarations import Size, named_key
from algebra.linalg.primes import random_prime
from algebra.polynomials.msolve.process import MsolveFailed, MsolveMissing, MsolveTimeout
from algebra.polynomials.msolve.solver import quotient_degree, real_roots
from algebra.polynomials.parametrization import Parametrization
from algebra.polynomials.rings import PrimeField, RationalField
from algebra.problems.allocation import Allocation
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.systems.forms import DIRECT
from algebra.systems.instances import modular_instance, rational_instance
from algebra.systems.root_count import has_short_labels, with_few_samples
from algebra.systems.system import build_system
from algebra.time_limits import check_time, phase
from algebra.words import plural
from algebra.work import end_of_part, has_passed

if TYPE_CHECKING:
    from algebra.arguments.case import Case

PLACE = "evidence.critical_points"
# With more unknowns, weights and multipliers, they are too many to be counted in a few seconds.
_MOST_UNKNOWNS = 20
# With more critical points an instance without real ones is not searched: one takes too long.
_MOST_SOLVED = 40
# Seconds for the critical points of one instance.
_SECONDS = 2


def _few_samples(context: Context) -> tuple[int, int]:
    return with_few_samples(context["problem"].allocation).network.input_shape


_FewSamples = Annotated[np.ndarray, matrix(_few_samples, Entry)]


@dataclass(frozen=True)
class CriticalInstance(Record):
    """A rational instance and a point with all critical points of the distance from it.

    Attributes
    ----------
    weights : mapping of str to ndarray of fmpq
        Those of learnable cells are the coordinates of the point.
    teacher : mapping of str to ndarray of fmpq
    X : ndarray of fmpq
        Of as many samples as determine the labels of all.
    points : Parametrization
        Of the learnable weights, then the multipliers.
    """

    weights: Weights
    teacher: Weights
    X: _FewSamples
    points: Annotated[Parametrization, table(Parametrization, ParametrizationTable)] = field(
        metadata=named_key("parametrization")
    )

    def check(self, place: str, context: Context) -> None:
        """The instance must be drawable."""
        need_drawn(context["problem"], self.weights, self.teacher, place)


@dataclass(frozen=True)
class CriticalPoints(Record):
    """Critical points of the distance from a point.

    Attributes
    ----------
    number : int
        For a generic instance and a generic point.
    primes : tuple of int
        Primes modulo which they were counted.
    instance : CriticalInstance or None
        None if the number is odd; otherwise one whose critical points are not real.
    """

    number: Size
    primes: Primes
    instance: CriticalInstance | None = None

    @property
    def verdict(self) -> str:
        """The verdict for which they are an argument."""
        return MAXIMAL if self.instance is None else INTERMEDIATE

    def __str__(self) -> str:
        return plural(self.number, f"{self.number} critical point") + " of the distance"


def search(case: Case) -> FoundEvidence | None:
    """The number of critical points of the distance, if there are few: odd, or none of them
    real."""
    if not case.has_surplus:
        return None
    problem, seed, limits = case.problem, case.effort.seed, case.effort.limits
    seconds = case.seconds if limits.subsets else 0
    found = number_of_critical_points(problem, case.equations, seed, seconds)
    if found is None:
        case.tried[ARGUMENT.name] = "critical points of the distance were not counted"
        return None
    text, note = str(found), counted_note(str(found), found.primes)
    if found.number % 2:
        return FoundEvidence(MAXIMAL, f"{text}, odd", found, note=note)
    other = None
    if INTERMEDIATE in case.covered:
        other, text = instance_without_real_points(problem, found, seed, limits.searched)
    if other is None:
        case.tried[ARGUMENT.name] = text
        return None
    return FoundEvidence(INTERMEDIATE, f"an instance with {found}, none real", other, note=note)


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


def check(problem: Problem, found: CriticalPoints, claimed: Claimed) -> str:
    """C is counted again modulo another prime; the points of an instance are verified."""
    equations = claimed.equations
    if claimed.verdict != found.verdict:
        raise CheckFailed(PLACE, f"is an argument for {found.verdict}, not {claimed.verdict}")
    few = with_few_samples(problem.allocation)
    unknowns = few.size + equations
    is_long = not has_short_labels(few) or unknowns > _MOST_UNKNOWNS
    if is_long or equations != few.network.outputs:
        raise CheckFailed(PLACE, "the theorem does not apply to this problem")
    instance, number = found.instance, found.number
    if instance is None and number % 2 == 0:
        raise CheckFailed(f"{PLACE}.number", f"{number} is even: it proves nothing")
    if instance is not None:
        place, X = f"{PLACE}.instance.parametrization", instance.X
        if len(instance.points.numerators) != unknowns:
            raise CheckFailed(place, f"it must have {unknowns} coordinates")
        Y = few.network.forward(instance.teacher, X)
        system = stationary_equations(few, instance.weights, X, Y, RationalField())
        check_points(system, instance.points, number, claimed.seed, place, claimed.say)

    def count_again(p: int, rng: random.Random) -> int | None:
        drawn = modular_instance(
            few, p, rng.randrange(1 << 32), problem.student(), key="verify critical points",
            teacher=True,
        )  # fmt: skip
        X = drawn.X.copy()
        if few.network.drive(X) is X:
            # Only the span of the samples matters: with these, labels have lower degrees.
            X[: X.shape[1]] = np.eye(X.shape[1], dtype=X.dtype)
        Y = replace(drawn, X=X).Y
        system = stationary_equations(few, drawn.weights, X, Y, PrimeField(p))
        return quotient_degree(system, timeout=max(1, round(claimed.seconds))).degree

    return counted_modulo(
        number, found.primes, "critical points of the distance", count_again,
        claimed.seed, f"{PLACE}.number", claimed.say,
    )  # fmt: skip


def stationary_equations(
    allocation: Allocation,
    weights: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    ring: PrimeField | RationalField,
) -> list[Any]:
    """The same equations as derivatives of one function, |w − a|² / 2 − Σ λ_j (f_j(w) − Y_j).

    The labels are those of the network's own map, evaluated with unknowns.
    """
    size = allocation.size
    names = [*(f"w{k}" for k in range(size)), *(f"l{k}" for k in range(Y.size))]
    context = ring.context(names)
    unknowns = context.gens()
    constant = np.frompyfunc(lambda value: context.constant(ring.constant(value)), 1, 1)
    own = {name: constant(value) for name, value in weights.items()}
    points = [own[name][i, j] for name, i, j in allocation.cells]
    for (name, i, j), unknown in zip(allocation.cells, unknowns, strict=False):
        own[name][i, j] = unknown
    labels = np.asarray(allocation.network.forward(own, constant(X))) - constant(Y)
    # Without halves: the derivative of |w − a|² / 2 is written down.
    total = context.constant(ring.constant(0))
    for multiplier, label in zip(unknowns[size:], labels.ravel(), strict=True):
        total = total + multiplier * label
    slopes = [w - a - total.derivative(k) for k, (w, a) in enumerate(
        zip(unknowns[:size], points, strict=True)
    )]  # fmt: skip
    return [*labels.ravel(), *slopes]


def _applies(problem: Problem, equations: int) -> bool:
    """Whether ρ is the number of labels of a linear network's samples, and they are short."""
    few = with_few_samples(problem.allocation)
    return (
        has_short_labels(few)
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


ARGUMENT = Argument(
    name="critical_points",
    form=CriticalPoints,
    why={
        MAXIMAL: "MP = 1: the distance of a student from a given point has an odd number of "
        "complex critical points among all students of an instance, so at least one of them is "
        "real.",
        INTERMEDIATE: "MP < 1: the student nearest to a given point would be a real critical point "
        "of the distance, and the certificate contains an instance in which none of these is real. "
        "The same holds for all instances near it.",
    },
    search=search,
    check=check,
    covers={
        MAXIMAL: SAME_NUMBER,
        INTERMEDIATE: {
            **NEARBY,
            Feature.ARBITRARY_LABELS: GENERIC_LABELS,
            Feature.NOISE: NOISY,
        },
    },
)
