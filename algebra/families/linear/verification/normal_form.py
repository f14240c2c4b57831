r"""A recurrent net all of whose W learns, with one unit more than inputs and outputs: normal form.

**Theorem.**  Linear recurrent network, n = b + 1 = d + 1, all of W learns and nothing else, one
weight more than there are independent equations, ρ = dm.  Let R be the problem of the same sizes
in which B and D are 0 except on their diagonals, and all of W but the entry (0, n − 1) learns.  If
R has MP < 1, shown by an instance near which no instance has a real solution, so has the given
problem.

*Proof.*  Let z span the kernel of D.  Where D B is regular, which it is generically, Q = (B | z)
is regular, Q⁻¹ B = (I; 0) and D Q = (D B | 0).  So W' = Q⁻¹ W Q is a bijection from the real
students of the instance (B, D, X, Y) to those of the instance H(X, (D B)⁻¹ Y), in which B = (I; 0)
and D = (I | 0).  In the same way Q = diag(β, 1) leads from an instance of R, with the diagonals β
and δ, not 0, and the fixed entry c ≠ 0, to H(X, diag(βδ)⁻¹ Y), where the students are those with a
certain entry c' ≠ 0.  Conjugation with diag(1, …, 1, λ) changes no label of H and divides the entry
(0, n − 1) by λ.  So H has a real student whose entry (0, n − 1) is not 0 if and only if each
instance of R that leads to it has a real solution.

The students in which this entry is 0 have n² − 1 = ρ parameters, and their labels are constant on
the orbits of that conjugation, which are curves for almost all of them: they fill a set of
dimension below ρ, a null set of labels for each X.

Let z₀ be the witness of R.  The labels are free, as ρ = dm, and no instance of R near z₀ has a real
solution; (β, δ, c, X, Y) ↦ (X, diag(βδ)⁻¹ Y) is open.  So H has no real student whose entry is not
0 in a neighbourhood of the image of z₀.  z₀ with its teacher is an instance of the given problem
too (of some W), and (B, D, X, Y) ↦ (X, (D B)⁻¹ Y) is continuous near it: almost no instance near z₀
has a real student. ∎

That instances near a witness of R have no real solution is the theorem of
`algebra.families.linear.verification.witness`.  A maximal R proves nothing here: its teachers are
fewer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from algebra.certificates.certificate import INTERMEDIATE
from algebra.certificates.checks import CheckFailed, Checklist, Say
from algebra.certificates.claim import Claim
from algebra.networks.recurrent import LinearRNN
from algebra.problems.problem import Problem
from algebra.questions.theorems.statements import what_theorems_say


def normal_problem(problem: Problem) -> Problem | None:
    """The problem R of the theorem; None where it does not apply.

    Parameters
    ----------
    problem : Problem
        With a fixed allocation.

    Examples
    --------
    >>> net = LinearRNN(n=2, T=5, b=1, d=1, m=3)
    >>> found = normal_problem(Problem(net, {"W": [[1, 1], [1, 1]]}))
    >>> found.allocation.size, found.support["D"].tolist()
    (3, [[1, 0]])
    """
    network, allocation = problem.network, problem.allocation
    if type(network) is not LinearRNN:
        return None
    n = network.n
    if problem.is_restricted or not n == network.b + 1 == network.d + 1:
        return None
    if allocation.matrices != ("W",) or not (allocation.size == n * n == network.d * network.m + 1):
        return None
    learns = np.ones((n, n), np.int64)
    learns[0, n - 1] = 0
    diagonals = {"B": np.eye(n, n - 1, dtype=np.int64), "D": np.eye(n - 1, n, dtype=np.int64)}
    return Problem(network, {"W": learns}, diagonals)


def check_normal_form(
    problem: Problem, equations: int, data: object, place: str, say: Say,
    check: Callable[[Claim, Checklist], str],
) -> str:  # fmt: skip
    """Check the certificate of the normal form inside another one.

    Parameters
    ----------
    problem : Problem
        The normal form R.
    equations : int
        Those of the given problem.
    data : object
        The certificate of R.
    place : str
    say : callable
        Takes place, status and text of what was found.
    check : callable
        Verifies a claim, and returns the status of its verdict.

    Returns
    -------
    str
        The status of R's verdict.

    Raises
    ------
    CheckFailed
    """
    inner = Claim.from_dict(data, place)
    if inner.problem != problem:
        raise CheckFailed(f"{place}.problem", "it is another problem's")
    if inner.verdict != INTERMEDIATE or inner.equations != equations:
        text = f"{inner.verdict} with {inner.equations} equations: MP < 1 does not follow"
        raise CheckFailed(f"{place}.verdict", text)
    within = Checklist()

    def inside(other: str) -> str:
        return other if other.startswith(place) else f"{place}.{other}"

    try:
        status = check(inner, within)
        inner.check_words(what_theorems_say(problem.network, problem.allocation), within.say)
    except CheckFailed as failure:
        raise CheckFailed(inside(failure.place), str(failure)) from None
    finally:
        for found in within.checks:
            say(inside(found.place), found.status, found.text)
    return status
