r"""As many weights as equations, N even: an instance without real solutions, solved exactly.

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
   the verifier then searches a witness at another instance.

2 and 3 are decided modulo a prime, where "yes" is a proof (`algebra.polynomials.quotient`).  The
weights computed from the points are also put into the network modulo that prime, as a check of
elimination itself.

**Search.**  The instances are those of `algebra.systems.instances`, with entries short enough for
msolve to be fast.

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py` it decides 3, none of them alone:
balls or a definite form decide them too.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpz, fmpz_poly

from algebra.arguments.argument import OF_ALL, Argument, Claimed, FoundEvidence
from algebra.arguments.points import (
    check_points,
    constants,
    integer_terms,
    modular_terms,
    residue_of,
)
from algebra.arguments.witness import Witness
from algebra.checker.checks import (
    PROBABLE,
    PROVED,
    UNFINISHED,
    CheckFailed,
    Say,
    weakest,
)
from algebra.checker.premises import DENSE, GENERIC_LABELS, NEARBY, NOISY, RESTING
from algebra.checker.verdicts import INTERMEDIATE
from algebra.linalg.rational import rational_rank
from algebra.networks.chain import need_chain
from algebra.polynomials.parametrization import Parametrization
from algebra.polynomials.quotient import Element, QuotientAlgebra
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.systems.core import CoreSystem, FunctionPoints
from algebra.systems.instances import rational_core
from algebra.time_limits import phase, time_left

if TYPE_CHECKING:
    from algebra.arguments.case import Case

PLACE = "evidence.no_real_root"


def search(case: Case) -> FoundEvidence | None:
    """An instance among those that are solved exactly."""
    # Loaded here, as below: a check of a given instance solves nothing.
    from algebra.arguments.solved_instances import search_instances

    return search_instances(case)


def check(problem: Problem, witness: Witness, claimed: Claimed) -> str:
    """An instance with N simple solutions, none of them real; and N, counted again."""
    assert claimed.roots is not None
    expected, equations, seed, say = (
        claimed.roots.value, claimed.equations, claimed.seed, claimed.say
    )  # fmt: skip
    found = _check_instance(problem, witness, expected, equations, seed, say)
    if found == UNFINISHED:
        found = _own_instance(problem, claimed)
    from algebra.arguments.recount import check_root_count

    return weakest(found, check_root_count(problem, problem.allocation, claimed.roots, claimed))


def _own_instance(problem: Problem, claimed: Claimed) -> str:
    """An instance drawn by the verifier, since that of the file may be singular.

    The singular points of the variety of instances are a smaller variety, and a random instance
    lies on it with probability 0.
    """
    from algebra.arguments.solved_instances import find_witness
    from algebra.systems.root_count import RootCount

    roots = claimed.roots
    assert roots is not None
    seconds = min(claimed.seconds / 2, time_left() / 2)
    count = RootCount(roots.value, roots.rule, roots.form, (), (), claimed.seed)
    text = "that all solutions persist near the witness is not known"
    with phase("another instance without real solutions"):
        own, tried = find_witness(problem, count, claimed.seed + 7_777_777, seconds)
    if own is None:
        claimed.say(PLACE, UNFINISHED, f"{text}, and no other instance was found: {tried}")
        return UNFINISHED
    _check_instance(problem, own, roots.value, claimed.equations, claimed.seed, lambda *_: None)
    claimed.say(PLACE, PROBABLE, f"{text}; another random instance has no real solution either")
    return PROBABLE


def _check_instance(
    problem: Problem, witness: Witness, expected: int, equations: int, seed: int, say: Say
) -> str:
    """The instance has `expected` simple solutions, none of them real: see the module's theorem.

    "Unfinished" if (d) is not known.
    """
    if (witness.complex, witness.real) != (expected, 0):
        text = f"claims {witness.complex} complex and {witness.real} real solutions of {expected}"
        raise CheckFailed(PLACE, text)
    Y = problem.network.forward(witness.teacher, witness.X)
    allocation = problem.allocation
    core = rational_core(allocation, witness.weights, witness.X, Y, witness.form)
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
        terms = integer_terms(equation)
        dense = [fmpz(0)] * (max(m[0] for m in terms) + 1)
        for (exponent,), coefficient in terms.items():
            dense[exponent] = coefficient
        w = w.gcd(fmpz_poly(dense))
    return Parametrization(w, fmpz_poly([1]), fmpz(1), (fmpz_poly([0, 1]),))


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
        return modular_terms(polynomial, p).items()

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

    X = constants(witness.X, algebra)
    labels = problem.network.forward(weights, X, matmul)
    if any(
        labels[cell] != algebra.constant(residue_of(Y[cell], p)) for cell in np.ndindex(Y.shape)
    ):
        return "the weights that follow from its points do not give the labels"
    return ""


def _weights(
    problem: Problem,
    witness: Witness,
    core: CoreSystem,
    values: list[Element],
    algebra: QuotientAlgebra,
) -> dict[str, np.ndarray]:
    weights = {name: constants(value, algebra) for name, value in witness.weights.items()}
    for (name, i, j), image in zip(problem.allocation.cells, core.stage_images, strict=False):
        weights[name][i, j] = algebra.evaluate(modular_terms(image, algebra.p).items(), values)
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


# A sentence for instances whose solutions are all known.
PERSISTS = (
    "MP < 1: almost every instance has {solutions}, and the certificate contains an instance with "
    "no real solution. Solutions depend continuously on the instance, so nearby instances have no "
    "match either."
)
ARGUMENT = Argument(
    name="no_real_root",
    form=Witness,
    why={INTERMEDIATE: PERSISTS},
    search=search,
    check=check,
    covers={
        INTERMEDIATE: {
            **NEARBY,
            Feature.EXACT: "the instance has the exact numbers; all others move",
            Feature.ARBITRARY_LABELS: GENERIC_LABELS,
            Feature.NOISE: NOISY,
            Feature.DENSE_TARGET: DENSE,
            Feature.RESTING_TEACHER: RESTING,
            Feature.POLYNOMIAL: "solutions of any polynomial system move continuously",
        }
    },
    counts=OF_ALL,
)
