r"""A whole column of W learns, as many outputs as hidden units, one sample: the real degree.

**Theorem.** Let a linear recurrent network have d = n and m = 1, and let exactly column k of W
learn.  For generic fixed weights and samples the map from this column to the labels is proper.
Generic labels have :math:`N = \binom{T+n-1}{n}` complex preimages, and the real degree of the map
is, up to sign, the number of partitions in an n×(T−1) box that are their own complement: 0 if n and
T − 1 are both odd, otherwise :math:`\binom{⌊n/2⌋+⌊(T-1)/2⌋}{⌊n/2⌋}`.  If it is not 0 every label is
reached, and an allocation that contains this column has MP = 1.

*Proof.* Write W = W_0 + u e_k^T, column k of W_0 being 0, and let q_j = e_k^T W_0^{j−1} be the
rows of Q.  Q and D are regular for generic fixed weights.  With v = Q u the row q_j W is q_{j+1}
+ v_j q_1 for j < n, and q_n W = v_n q_1 + Σ a_i q_i with fixed a_i.  In the coordinates z = Q h a
step is

.. math:: z_j ↦ z_{j+1} + v_j z_1 \quad (j < n), \qquad z_n ↦ v_n z_1 + Σ a_i z_i,

and the labels are those of z = Σ_t Q W^{T−t+1} B x_t in other coordinates.  Give v_j the weight
j. By induction z_j has weight at most s + j − 1 after s steps, and its part of that weight comes
from β_1 = q_1 B x_1 alone, without the a_i.  So the map is F = β_1 G + terms of less weight, with
G(v) = C(v)^T e_1 of weights T, …, T + n − 1, where C has first column v and ones above the
diagonal, and β_1 ≠ 0 generically.

*F is proper, over C too:* G has no zero but 0.  The h_s in 1/(1 − v_1 θ − … − v_n θ^n) = Σ h_s
θ^s are the first entries of C^s e_1, so G(v) = 0 makes h_s = 0 for all s ≥ T: the series is a
polynomial whose inverse is one, hence 1, and v = 0.  As G is quasi-homogeneous, |F| → ∞ with v.
So F has Π (T + j − 1) / Π j preimages, and the degree of G, with which it is homotopic through
proper maps.

*The degree:* H = (h_T, …, h_{T+n−1}) is U(v) G, U lower triangular with ones, quasi-homogeneous;
U may be deformed to I.  By the theorem of Eisenbud, Levine and Khimshiashvili [1]_ the degree of
H is the signature of (p, q) ↦ ℓ(pq) on R[v]/(h_T, …, h_{T+n−1}), ℓ a functional that is not 0 on
the socle (positive on the Jacobian; else −ℓ).  With v_j = (−1)^{j−1} e_j this is the cohomology
of the Grassmannian of n-planes in n + T − 1 dimensions, and ℓ may be integration [2]_.  Its
Schubert classes are a basis; the dual of λ is the complement of λ in the n×(T−1) box.  Pairs λ ≠
λ^∨ contribute 0 to the signature, each λ = λ^∨ one.  (Such λ are lattice paths that a half turn
maps to themselves.)

A proper map of degree ≠ 0 is onto.  With the other cells at any values this column does it all. ∎

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py` it decides none: few have d = n
and one sample.

References
----------
.. [1] D. Eisenbud, H. I. Levine, "An algebraic formula for the degree of a C^∞ map germ",
   Ann. of Math. 106 (1977) 19-44.
.. [2] W. Fulton, *Young Tableaux*, Cambridge 1997, §9.4.
"""

from __future__ import annotations

import random
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from flint import nmod_mat

from algebra.arguments.argument import Argument, Claimed, FoundEvidence
from algebra.checker.checks import PROVED, CheckFailed
from algebra.checker.premises import ALMOST_ALL
from algebra.checker.verdicts import MAXIMAL
from algebra.declarations import Count
from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank
from algebra.networks.chain import need_chain
from algebra.problems.laws.pinned import prime_for
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import random_point

if TYPE_CHECKING:
    from algebra.arguments.case import Case

PLACE = "evidence.whole_column"
# Number of random points at which a generic condition may be verified.
_ATTEMPTS = 3


def real_degree(n: int, steps: int) -> int:
    """Real degree of the map from a column of n weights to the labels, up to sign: see the module.

    Examples
    --------
    >>> [[real_degree(n, T) for T in (1, 2, 3, 4, 5)] for n in (1, 2, 3, 4)]
    [[1, 0, 1, 0, 1], [1, 1, 2, 2, 3], [1, 0, 2, 0, 3], [1, 1, 3, 3, 6]]
    """
    if n % 2 and (steps - 1) % 2:
        return 0
    return comb(n // 2 + (steps - 1) // 2, n // 2)


def search(case: Case) -> FoundEvidence | None:
    """A column that reaches all labels."""
    column = whole_column(case.problem, case.effort.seed)
    if column is None:
        return None
    rule = f"column {column} of W is mapped onto all labels: a proper map of degree ≠ 0"
    return FoundEvidence(MAXIMAL, rule, column)


def whole_column(problem: Problem, seed: int = 0) -> int | None:
    """A column of W that reaches all labels by the theorem; None if there is none.

    Parameters
    ----------
    problem : Problem
        A linear network with a fixed allocation.
    seed : int, optional
        It determines the points.
    """
    if problem.network.chain() is None:
        return None
    mask = problem.allocation.masks.get(need_chain(problem.network).chain().recurrent or "")
    if mask is None:
        return None
    for column in np.flatnonzero(np.asarray(mask).all(axis=0)).tolist():
        if not _complaint(problem, column, seed):
            return int(column)
    return None


def check(problem: Problem, column: int, claimed: Claimed) -> str:
    """Column k of W learns, and the theorem applies to it: determinants at a random point."""
    network = problem.network
    if network.chain() is None:
        raise CheckFailed(PLACE, "the network is no chain of matrices")
    chain = need_chain(network).chain()
    name, start = chain.recurrent, chain.start
    if name is None or start is None:
        raise CheckFailed(PLACE, "no matrix acts at every step")
    n, steps = network.shapes[name][0], len(chain.steps)
    if network.shapes[chain.output][0] != n or network.columns != 1:
        raise CheckFailed(PLACE, f"it needs d = n = {n} and m = 1")
    learning = set(problem.allocation.cells)
    if column >= n or any((name, i, column) not in learning for i in range(n)):
        raise CheckFailed(PLACE, f"column {column} of {name} does not learn as a whole")
    if n * (steps - 1) % 2:
        text = "n (T − 1) is odd: no partition is its own complement, so the degree is 0"
        raise CheckFailed(PLACE, text)
    rng = random.Random(f"verify whole column/{claimed.seed}")
    for _ in range(_ATTEMPTS):
        p = prime_for(problem.student(), rng)
        point = random_point(network, p, rng.randrange(1 << 32), problem.student())
        if network.drive(point.X) is not point.X:
            raise CheckFailed(PLACE, "the network is not read at the end only")
        W, D, B = (nmod_mat(point.weights[own].tolist(), p) for own in (name, chain.output, start))
        row = nmod_mat([[int(k == column) for k in range(n)]], p)
        krylov = []
        for _ in range(n):
            krylov.append(row.entries())
            row = row * W
            # Column k of W_0 is 0.
            row[0, column] = 0
        inputs = nmod_mat(point.X[: B.ncols(), :1].tolist(), p)
        first = (B * inputs)[column, 0]
        if int(nmod_mat(n, n, [v for line in krylov for v in line], p).det() * D.det() * first):
            text = f"column {column} of {name} is mapped to the labels by a proper map, degree ≠ 0"
            claimed.say(PLACE, PROVED, text)
            return PROVED
    text = "structural zeros make D, the rows e W^s or the first input of this unit degenerate"
    raise CheckFailed(PLACE, text)


def _complaint(problem: Problem, column: int, seed: int) -> str:
    """Why the theorem does not show that the column reaches all labels; "" if it does.

    If D and Q are regular and β_1 ≠ 0 at one point modulo a prime, they are so generically.
    """
    if problem.network.chain() is None:
        return "the network is no chain of matrices"
    network, masks = need_chain(problem.network), problem.allocation.masks
    chain, n = network.chain(), network.inner_widths[0] if network.inner_widths else 0
    name, start = chain.recurrent, chain.start
    if name is None or start is None:
        return "no matrix acts at every step"
    if (network.d, network.columns) != (n, 1):
        text = f"{network.d} outputs, {network.columns} columns of labels"
        return f"{text}: it needs d = n = {n} and m = 1"
    if column >= n or not np.asarray(masks.get(name, np.zeros((n, n))))[:, column].all():
        return f"column {column} of {name} does not learn as a whole"
    if not real_degree(n, network.steps):
        return "n and T − 1 are odd: the degree is 0, which proves nothing"
    rng = random.Random(f"whole column/{seed}")
    for _ in range(_ATTEMPTS):
        p = prime_for(problem.student(), rng)
        point = random_point(network, p, rng.randrange(1 << 32), problem.student())
        inputs = network.drive(point.X)
        if inputs is not point.X:
            return "the network is not read at the end only"
        W = point.weights[name].copy()
        W[:, column] = 0
        rows = [np.eye(n, dtype=np.int64)[[column]]]
        for _ in range(n - 1):
            rows.append(matmul(rows[-1], W, p))
        first = matmul(point.weights[start][[column]], inputs[: network.step_inputs], p)
        if (
            modular_rank(np.vstack(rows), p) == n == modular_rank(point.weights[chain.output], p)
            and first[0, 0]
        ):
            return ""
    return "structural zeros make D, the rows e W^s or the first input of this unit degenerate"


ARGUMENT = Argument(
    name="whole_column",
    form=Count,
    why={
        MAXIMAL: "MP = 1: a whole column of W learns, and it is mapped to the labels by a proper "
        "map whose real degree is not 0, so every label is reached."
    },
    search=search,
    check=check,
    covers={
        MAXIMAL: {
            **ALMOST_ALL,
            Feature.EXACT: "the determinants are not 0 at a point with the exact numbers",
            Feature.ARBITRARY_LABELS: "a proper map of degree ≠ 0 reaches every label",
        }
    },
)
