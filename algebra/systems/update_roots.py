r"""The number of complex solutions of a generic instance if matrices learn by updates.

The unknowns are θ itself: cells, gains, ties, and for a low rank U' and V in the *chart* U = (I;
U') (or (U'; I)), which contains every matrix of rank k except for a subset of smaller dimension,
each once: this fixes the gauge.  The equations are f(w(W, θ)) = Y for the labels.

**Theorem.** Let the students have dimension ρ = rank J = rank J_θ.  Then there is a number N such
that a generic instance (W, X, teacher) has N complex solutions, all simple.  If N is odd, MP = 1.

*Proof.* {(W, X, Y, θ) : Y = f(w(W, θ))} is a graph over (W, X, θ), hence irreducible; by rank J_θ =
ρ it maps onto a dense part of {(W, X, Y) : Y a label of some network}, which has the same
dimension.  Generic fibres are finite, with the same number of points, simple since the
characteristic is 0.  Solutions outside the chart form a set of smaller dimension, whose image does
not contain generic instances.  Instances of teachers are generic in the image.  Non-real solutions
of a real instance occur in conjugate pairs, so if their number is odd there is a real θ. ∎

N is the degree of the equations' ideal at a random instance over GF(p), with labels from a student
(see `algebra.systems.root_count` for cells): the counts modulo two primes must agree.
"""

from __future__ import annotations

import random
from math import comb
from typing import Any

import numpy as np

from algebra.declarations import DEGREE
from algebra.linalg.modular import random_prime, random_residues
from algebra.networks.limits import plural
from algebra.polynomials.msolve.process import (
    MsolveDied,
    MsolveFailed,
    MsolveMissing,
    MsolveTimeout,
)
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.polynomials.rings import PrimeField
from algebra.problems.problem import Problem
from algebra.problems.updates import LowRank
from algebra.ranks.root_count_error import by_primes, label_degree
from algebra.systems.root_count import RootCount, RootCountError
from algebra.time_limits import phase

# Largest number of terms of all labels together for which they are written out.
_MOST_TERMS = 200_000
FIRST, LAST = 0, 1
FORM = "direct"


def update_root_count(
    problem: Problem, *, seed: int = 0, timeout: float = 60, primes: int = 2
) -> RootCount:
    """N of a problem with updates, of full rank and without surplus dimensions.

    Parameters
    ----------
    problem : Problem
        Its network is a chain of matrices.
    seed : int, optional
    timeout : float, optional
        Seconds for each Gröbner basis.
    primes : int, optional

    Raises
    ------
    RootCountError
        If it cannot be computed.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> update_root_count(Problem(net, {"W": {"tied": [[1, 0], [0, 2]]}})).value
    2
    """
    rng = random.Random(f"root-count of updates/{seed}")
    used = [random_prime(rng) for _ in range(primes)]
    found = [count_at(problem, p, rng, FIRST, timeout) for p in used]
    if len(set(found)) != 1:
        raise RootCountError(f"the counts modulo {used} differ: {found}")
    learning = problem.learning
    certainty = by_primes(
        problem.network, learning.matrices, learning.dimension, found[0], primes, learning.updates
    )
    return RootCount(found[0], DEGREE, FORM, (found[0],), tuple(used), seed, certainty=certainty)


def count_at(problem: Problem, p: int, rng: random.Random, chart: int, timeout: float) -> int:
    """The degree of the ideal of one random instance modulo p.

    Raises
    ------
    RootCountError
    """
    equations = update_equations(problem, p, rng, chart)
    try:
        size = plural(len(equations), f"{len(equations)} equation")
        with phase(f"generic root count, a Gröbner basis of {size}"):
            degree = quotient_degree(equations, timeout=max(1, round(timeout)))
    except MsolveTimeout:
        text = f"the Gröbner basis of {size} was not finished in its share of the time"
        raise RootCountError(text) from None
    except (MsolveDied, MsolveFailed, MsolveMissing) as error:
        raise RootCountError(str(error)) from None
    if degree.degree is None or degree.degree < 1:
        raise RootCountError(f"the equations are not zero-dimensional: {degree}")
    return degree.degree


def update_equations(
    problem: Problem, p: int, rng: random.Random, chart: int, most_terms: int = _MOST_TERMS
) -> list[Any]:
    """The labels as polynomials in θ minus those at a random θ, at a random instance modulo p.

    Raises
    ------
    RootCountError
        If they would have more than `most_terms` terms together.
    """
    learning, network = problem.learning, problem.network
    chain = network.chain()
    if chain is None:
        raise RootCountError("equations in the parameters are written for linear networks only")
    _check_length(problem, most_terms)
    weights = {name: random_residues(shape, p, rng) for name, shape in network.shapes.items()}
    for name, mask in problem.support.items():
        weights[name] = weights[name] * np.asarray(mask, np.int64)
    X = random_residues(network.input_shape, p, rng)
    field = PrimeField(p)
    names = [f"t{k}" for k in range(learning.dimension)]
    ring = field.context(names)
    unknowns = list(ring.gens())
    constant = np.frompyfunc(lambda value: ring.constant(int(value)), 1, 1)
    matrices = {name: constant(value) for name, value in weights.items()}
    at = 0
    for name, i, j in learning.cells:
        matrices[name][i, j] = unknowns[at]
        at += 1
    for name, update in learning.updates.items():
        shape = network.shapes[name]
        values = {}
        for letter, own in update.arrays(shape).items():
            array = np.empty(own, dtype=object)
            places = list(np.ndindex(own))
            if isinstance(update, LowRank) and letter == "U":
                k = update.rank
                fixed = range(k) if chart == FIRST else range(shape[0] - k, shape[0])
                for a, i in enumerate(fixed):
                    array[i] = [ring.constant(int(a == c)) for c in range(k)]
                places = [place for place in places if place[0] not in fixed]
            for place in places:
                array[place] = unknowns[at]
                at += 1
            values[letter] = array
        matrices[name] = update.apply(matrices[name], values)
    labels = np.asarray(network.forward(matrices, constant(X))).ravel()
    root = [int(v) for v in random_residues((len(unknowns),), p, rng)]
    return [y - ring.constant(int(y(*root))) for y in labels if not y.is_constant()]


def _check_length(problem: Problem, most_terms: int) -> None:
    """Refuse labels with so many terms that expanding them would take too long."""
    learning, chain = problem.learning, problem.network.chain()
    assert chain is not None
    degree = label_degree(problem.network, learning.matrices, learning.updates)
    terms = comb(learning.dimension + degree, degree) * problem.network.outputs
    if terms > most_terms:
        raise RootCountError(
            f"the labels are polynomials of degree {degree} in {learning.dimension} parameters: "
            "too long to be written out"
        )
