r"""Narrow blocks of deep ReLU targets: positive scales of the hidden units that realize them.

Between two layers of a target, z ↦ σ(W* z + b*) and the next, hidden units may be multiplied by
positive numbers D = diag(D_1, …): σ(D h) = D σ(h).  So block k of the frozen network need not equal
W*_k itself; with ε = the inverse scales of its inputs and δ_i = (D_k)_i / (Γ_2k)_i it must satisfy

.. math:: W_{2k} \, \mathrm{diag}(γ) \, W_{2k-1} = \mathrm{diag}(δ) \, W^*_k \, \mathrm{diag}(ε),
          \qquad ε_j > 0, \; δ_i \ne 0,

where Γ_2k is tuned.  The scales D_k do not couple the blocks: Γ_2k = D_k/δ satisfies every
condition of the next block.  The first block has ε = 1 (its inputs are given), the last D = 1.

*Elimination of γ.*  Let y_1, …, y_c be a basis of the left kernel of K = W_2k ⊙ W_{2k-1}ᵀ, nm × w,
c = nm − w for a K of full rank.  By Fredholm's alternative there is a γ if and only if

.. math:: δ^T B_r ε = 0, \quad r = 1, …, c, \qquad (B_r)_{ij} = (y_r)_{ij} W^*_{ij} :

c bilinear equations on P^{n-1} × P^{m-1}, of dimension n + m − 2.

**Theorem.**  For generic data and w < nm there is *no* solution with all δ_i, ε_j ≠ 0 if w ≤ (n −
1)(m − 1); there are finitely many, all simple, exactly C(n + m − 2, n − 1), if w = (n − 1)(m − 1) +
1; above, they form a variety of dimension f = w − (n − 1)(m − 1) − 1 ≥ 1.

*Proof.*  They are the intersection, in the torus of P^{nm-1}, of the linear space spanned by the
columns of K with W* ∘ {δ ε^T}, a translate of the torus of the Segre variety.  W* is generic in
the torus, which acts transitively on itself; by Kleiman's theorem (characteristic 0) the
intersection is transversal, so it has the dimension above and is reduced.  Its number of points for
f = 0 is an intersection number of tropical cycles: of the Segre torus with the linear space, whose
tropical variety depends only on its matroid.  That matroid is uniform: every w rows of K have a
nonzero minor by "structural rank = generic rank" (`algebra.plugins.normalization.khatri_rao`).  A
generic linear space has the same matroid and meets the Segre variety in its degree, C(n + m − 2, n
− 1). ∎

The equations are hyperplane sections of the Segre variety, of degree C(n + m − 2, n − 1); by the
refined theorem of Bézout their common zeros have at most that many irreducible components.  So a
list of this many solutions, each with a nonsingular Jacobian (checked in balls) and therefore a
component, is complete, whatever primes were used to find it.

**Status of one block.**

* "rational": an exact solution over Q.
* "irrational": a real solution with positive ε, in boxes proved to contain exactly one
  (`algebra.polynomials.real_roots`).
* "no real solution", "no positive solution": all C(n + m − 2, n − 1) complex solutions are known,
  and none is real, or none of the real ones has ε of one sign.  Also "no positive solution" if c =
  n and det(Σ_j ε_j (B_r)_ij)_{ri}, a form of degree n in ε, times some power of Σ ε has
  coefficients of one sign only: by Pólya's theorem such a power exists if and only if the form has
  no zero with ε ≥ 0, ε ≠ 0.
* "impossible": c > n + m − 2 and the ideal contains all monomials of bidegree (1, n), by a rank
  modulo a prime, which is at most the rank over Q; so there is no complex solution.  Or, for f > 0,
  no matrix with the signs of any δ ε^T satisfies the linear equations: a linear program over Q for
  each choice of the signs of δ.
* "not found": none of these; nothing is claimed.

The paper's argument and all statements here are about realizations *layer by layer*: every layer of
the target is equal to one block, up to order and positive scales of hidden units.

References
----------
.. [1] A. Giannou, S. Rajput, D. Papailiopoulos, "The expressive power of tuning only the
   normalization layers", COLT 2023 (arXiv 2302.07937).
.. [2] S. L. Kleiman, "The transversality of a general translate", Compositio Math. 28 (1974).
.. [3] W. Fulton, *Intersection Theory*, 2nd ed., Springer 1998, Example 8.4.6.
.. [4] D. Maclagan, B. Sturmfels, *Introduction to Tropical Geometry*, AMS 2015, sections 4.2, 6.7.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from math import comb
from typing import Any

import numpy as np
from flint import acb, acb_mat, ctx, fmpq, fmpq_mpoly_ctx, fmpz, fmpz_poly

from algebra.linalg.primes import random_prime
from algebra.linalg.ranks import modular_rank
from algebra.linalg.rational import Rationals, rational_kernel
from algebra.linalg.rational_lp import INFEASIBLE, OPTIMAL, maximize
from algebra.linalg.residues import rational_residues
from algebra.plugins.normalization.khatri_rao import khatri_rao
from algebra.plugins.normalization.scales import without_zeros
from algebra.polynomials.msolve.process import MsolveFailed, MsolveTimeout
from algebra.polynomials.msolve.solver import real_roots
from algebra.polynomials.parametrization import Box, Parametrization, are_disjoint
from algebra.systems.degeneracy import maximal_minors
from algebra.time_limits import check_time, time_left

RATIONAL, IRRATIONAL = "rational", "irrational"
NO_REAL, NO_POSITIVE, IMPOSSIBLE = "no real solution", "no positive solution", "impossible"
NOT_FOUND = "not found"

# Sides of the boxes are at most 2^-_BITS long; if a sign is undecided, smaller boxes are used.
_BITS = 80
_MOST_BITS = 1280
# Numbers of slices of a variety of positive dimension, and of points on linear ones.
_SLICES = 24
_PRIMES = 3
# Largest power of Σ ε that is tried in Pólya's theorem.
_POLYA = 24
# Largest number of sign patterns of δ, each a linear program.
_MOST_PATTERNS = 64
# msolve occasionally does not finish on a system that it solves at once in another attempt.
_SECONDS = (10, 60)


@dataclass(frozen=True)
class HiddenScales:
    """Scales with which a block realizes a layer of the target, or the reason why none are known.

    Attributes
    ----------
    status : str
        See the module's docstring.
    delta, epsilon : tuple of fmpq
        The solution: exact if it is rational, the midpoint of its box if it is irrational,
        otherwise empty.  The first nonzero row's δ and ε_1 are 1; δ of a zero row is 1.
    box : tuple of intervals
        If it is irrational: pairs of exact bounds for δ and ε, which enclose it and no other
        solution.
    complex, real, positive : int or None
        Numbers of solutions, for a system with finitely many.
    prime : int
        If the status is "impossible" by a rank modulo a prime.
    note : str
        The outcome of the search, in words.
    """

    status: str
    delta: tuple[fmpq, ...] = ()
    epsilon: tuple[fmpq, ...] = ()
    box: Box = ()
    complex: int | None = None
    real: int | None = None
    positive: int | None = None
    prime: int = 0
    note: str = ""

    @property
    def is_realized(self) -> bool:
        """Whether a solution is known, as a rational or in a box."""
        return self.status in (RATIONAL, IRRATIONAL)

    @property
    def is_refuted(self) -> bool:
        """Whether it is proved that there is no solution."""
        return self.status in (NO_REAL, NO_POSITIVE, IMPOSSIBLE)


def least_inner_width(rows: int, columns: int) -> int:
    """Smallest width of an inner block at which some generic targets are realized.

    Examples
    --------
    >>> [least_inner_width(d, d) for d in (1, 2, 3, 4)]
    [1, 2, 5, 10]
    """
    return (rows - 1) * (columns - 1) + 1


def solution_count(rows: int, columns: int, width: int) -> int | None:
    """Number of complex solutions of a generic inner block up to scaling; None if infinite.

    Examples
    --------
    >>> [solution_count(d, d, least_inner_width(d, d)) for d in (2, 3, 4, 5)]
    [2, 6, 20, 70]
    >>> solution_count(3, 3, 4), solution_count(3, 3, 6)
    (0, None)
    """
    least = least_inner_width(rows, columns)
    if width < least:
        return 0
    return comb(rows + columns - 2, rows - 1) if width == least else None


def bilinear_forms(W2: Rationals, W1: Rationals, target: Rationals) -> list[Rationals]:
    """The matrices B_r such that δᵀ B_r ε = 0 for all r if and only if a γ exists."""
    K = khatri_rao(W2, W1.T)
    return [
        np.array(y, dtype=object).reshape(target.shape) * target
        for y in rational_kernel(K.T, len(K))
    ]


def find_hidden_scales(
    W2: Rationals, W1: Rationals, target: Rationals, *, seed: int = 0
) -> HiddenScales:
    """Positive ε and nonzero δ with W_2 diag(γ) W_1 = diag(δ) target diag(ε) for some γ.

    Parameters
    ----------
    W2, W1, target : arrays of fmpq, n×w, w×m and n×m
    seed : int, optional
        For primes and slices.

    Returns
    -------
    HiddenScales

    Examples
    --------
    >>> import numpy as np
    >>> from algebra.plugins.normalization.dense import rational_array
    >>> W2, W1 = rational_array([[1, 1], [2, -1]], "W2"), rational_array([[1, 2], [3, 1]], "W1")
    >>> target = rational_array([[0.5, 0.1875], [-0.125, 0.1875]], "target")
    >>> found = find_hidden_scales(W2, W1, target)
    >>> found.status, found.epsilon, found.complex
    ('rational', (1, 2), 2)
    """
    kept = [i for i in range(len(target)) if any(entry != 0 for entry in target[i])]
    if not kept:
        ones = (fmpq(1),)
        return HiddenScales(RATIONAL, ones * len(target), ones * target.shape[1])
    found = _ScaleSearch(bilinear_forms(W2[kept], W1, target[kept]), target[kept].shape, seed).run()
    if len(kept) == len(target) or not found.is_realized:
        return found
    # An output without inputs has the scale 0: it gives no condition on δ.
    delta = [fmpq(1)] * len(target)
    for i, value in zip(kept, found.delta, strict=True):
        delta[i] = value
    return replace(found, delta=tuple(delta))


class _ScaleSearch:
    """The bilinear equations of one block, and the methods that decide them."""

    def __init__(self, forms: list[Rationals], shape: tuple[int, int], seed: int) -> None:
        self.forms, (self.n, self.m) = forms, shape
        self.seed = seed
        self.rng = random.Random(f"hidden-scales/1/{seed}")

    def run(self) -> HiddenScales:
        ones = (fmpq(1),) * self.m
        for number in range(_SLICES if len(self.forms) < self.n else 1):
            epsilon = ones if not number else tuple(self._positive() for _ in range(self.m))
            delta = self._given_epsilon(epsilon)
            if delta is not None:
                return HiddenScales(RATIONAL, delta, epsilon, note="linear equations")
        surplus = len(self.forms) - (self.n + self.m - 2)
        if surplus > 0:
            return self._overdetermined()
        if len(self.forms) < self.n:
            return HiddenScales(NOT_FOUND, note="no inverse scales without a 0 were found")
        return self._finite() if surplus == 0 else self._slices(-surplus)

    def _given_epsilon(self, epsilon: Sequence[fmpq]) -> tuple[fmpq, ...] | None:
        """δ without a 0 that solves the equations, which are linear for given ε; first entry 1."""
        rows = [list(B @ np.array(epsilon, dtype=object)) for B in self.forms]
        null = rational_kernel(rows, self.n)
        if not null or any(all(v[i] == 0 for v in null) for i in range(self.n)):
            return None
        total = without_zeros(null)
        return tuple(total / total[0])

    def _positive(self) -> fmpq:
        return fmpq(2 ** self.rng.randrange(5) * self.rng.randrange(8, 16), 64)

    def _overdetermined(self) -> HiddenScales:
        """A prime modulo which all monomials of bidegree (1, n) lie in the ideal."""
        rng = random.Random(f"hidden-scales/prime/{self.seed}")
        for _ in range(_PRIMES):
            p = random_prime(rng)
            try:
                if shows_no_solution(self.forms, p):
                    note = (
                        f"{len(self.forms)} bilinear equations without a complex solution "
                        f"(proved modulo {p})"
                    )
                    return HiddenScales(IMPOSSIBLE, complex=0, real=0, positive=0, prime=p,
                                        note=note)  # fmt: skip
            except ZeroDivisionError:
                continue
        found = self._solved({})
        best = None if isinstance(found, str) else self._best(*found)[0]
        if best is None:
            return HiddenScales(NOT_FOUND, note="more equations than unknowns, in special position")
        status, delta, epsilon, box = best
        return HiddenScales(status, delta, epsilon, box, note="more equations than unknowns")

    def _finite(self) -> HiddenScales:
        """All solutions of the square system; complete if their number is the Bézout number."""
        found = self._solved({})
        if isinstance(found, str):
            return HiddenScales(NOT_FOUND, note=found)
        points, boxes = found
        most = comb(self.n + self.m - 2, self.n - 1)
        best, positive, open_signs = self._best(points, boxes)
        count, real = points.w.degree(), len(boxes)
        if best is not None:
            status, delta, epsilon, box = best
            note = f"{count} complex solutions, {real} real, {positive} with positive scales"
            return HiddenScales(status, delta, epsilon, box, count, real, positive, note=note)
        if open_signs or count != most or not self._all_simple(points):
            note = f"{count} of at most {most} complex solutions, {real} real, none positive"
            return HiddenScales(NOT_FOUND, complex=count, real=real, note=note)
        note = f"all {count} complex solutions are known: {real} real, none with positive scales"
        return HiddenScales(
            NO_POSITIVE if real else NO_REAL, complex=count, real=real, positive=0, note=note
        )

    def _slices(self, dimension: int) -> HiddenScales:
        """Points on a variety of positive dimension, with some of the ε given."""
        if len(self.forms) == self.n and self._determinant_keeps_its_sign():
            note = (
                "the determinant of the equations for δ has one sign wherever all ε are positive "
                "(Pólya's theorem)"
            )
            return HiddenScales(NO_POSITIVE, positive=0, note=note)
        if 2 ** (self.n - 1) <= _MOST_PATTERNS and all(self._no_matrix(s) for s in self._signs()):
            note = "no signs of the scales agree with the linear equations (exact linear programs)"
            return HiddenScales(IMPOSSIBLE, positive=0, note=note)
        for number in range(_SLICES):
            check_time()
            which = self.rng.sample(range(1, self.m), dimension)
            given = {j: fmpq(1) if not number else self._positive() for j in which}
            found = self._solved(given)
            if isinstance(found, str):
                continue
            best = self._best(*found, given)[0]
            if best is not None:
                status, delta, epsilon, box = best
                note = f"on slice {number + 1} of a variety of dimension {dimension}"
                return HiddenScales(status, delta, epsilon, box, note=note)
        note = f"{_SLICES} slices of a variety of dimension {dimension} have no positive solution"
        return HiddenScales(NOT_FOUND, note=note)

    def _determinant_keeps_its_sign(self) -> bool:
        """n equations M(ε) δ = 0: whether some (Σ ε)^k det M(ε) has coefficients of one sign only.

        Then det M(ε) ≠ 0 for ε > 0, and δ = 0 is the only solution there.
        """
        context = fmpq_mpoly_ctx.get(tuple(f"e{j}" for j in range(self.m)))
        epsilon = context.gens()
        rows = [
            [sum((b * e for b, e in zip(row, epsilon, strict=True)), context.constant(0))
             for row in B]
            for B in self.forms
        ]  # fmt: skip
        (determinant,) = maximal_minors(rows)[1]
        total = sum(epsilon, context.constant(0))
        for _ in range(_POLYA):
            signs = {coefficient > 0 for _, coefficient in determinant.terms()}
            if len(signs) == 1:
                return True
            determinant = determinant * total
        return False

    def _signs(self) -> Iterator[tuple[int, ...]]:
        for rest in product((1, -1), repeat=self.n - 1):
            yield (1, *rest)

    def _no_matrix(self, signs: Sequence[int]) -> bool:
        """Whether no Z with all entries positive has Σ signs_i (B_r)_ij Z_ij = 0 for all r.

        With Z = t + P, P ≥ 0, t + Σ P = 1 the maximum of t is then 0, or there is no such Z.
        """
        check_time()
        rows = []
        for B in self.forms:
            row = [s * entry for s, line in zip(signs, B, strict=True) for entry in line]
            rows.append([*row, sum(row, fmpq(0))])
        unknowns = self.n * self.m + 1
        rows.append([fmpq(1)] * unknowns)
        right = [fmpq(0)] * len(self.forms) + [fmpq(1)]
        found = maximize(rows, right, [fmpq(int(k == unknowns - 1)) for k in range(unknowns)])
        return found.status == INFEASIBLE or (found.status == OPTIMAL and found.value == 0)

    def _solved(self, given: dict[int, fmpq]) -> tuple[Parametrization, tuple[Box, ...]] | str:
        """All solutions with δ_1 = ε_1 = 1 and these ε, or the reason why they are not known."""
        free = [j for j in range(1, self.m) if j not in given]
        if self.n == 2 and len(free) == 1 and len(self.forms) == 2:
            points = self._quadratic(given, free[0])
            if points is not None:
                return points, points.real_boxes(_BITS)
        names = (*(f"d{i}" for i in range(1, self.n)), *(f"e{j}" for j in free))
        context = fmpq_mpoly_ctx.get(names)
        one, unknowns = context.constant(1), context.gens()
        delta = [one, *unknowns[: self.n - 1]]
        epsilon = [one] * self.m
        for j, value in given.items():
            epsilon[j] = value * one
        for j, unknown in zip(free, unknowns[self.n - 1 :], strict=True):
            epsilon[j] = unknown
        equations = [
            sum((B[i, j] * delta[i] * epsilon[j] for i in range(self.n) for j in range(self.m)),
                context.constant(0))
            for B in self.forms
        ]  # fmt: skip
        for seed, seconds in enumerate(_SECONDS, self.seed):
            limit = max(1, round(time_left(seconds)))
            try:
                roots = real_roots(equations, precision=_BITS, timeout=limit, seed=seed)
                break
            except MsolveTimeout:
                failed = f"msolve did not list the solutions within {limit} s"
            except MsolveFailed as failure:
                failed = f"msolve: {failure}"
        else:
            return failed
        if roots.status != "complete" or roots.parametrization is None:
            return "special data: not finitely many solutions"
        return roots.parametrization, roots.roots

    def _quadratic(self, given: dict[int, fmpq], free: int) -> Parametrization | None:
        """n = 2 and one free ε, in two equations a_r(t) + δ b_r(t) = 0: no solver is needed."""
        lines = []
        for B in self.forms:
            for row in B:
                fixed = sum((row[j] * given.get(j, fmpq(1)) for j in range(self.m) if j != free),
                            fmpq(0))  # fmt: skip
                lines.append((fixed, row[free]))
        common = fmpz(1)
        for pair in lines:
            for entry in pair:
                common = common.lcm(entry.q)
        a, b, c, d = (fmpz_poly([int(x * common) for x in pair]) for pair in lines)
        w, t = a * d - b * c, fmpz_poly([0, 1])
        # δ = −a/b from the first equation.
        points = Parametrization(w, b, fmpz(1), (-a, t * b))
        return points if points.is_proper() else None

    def _best(
        self,
        points: Parametrization,
        boxes: tuple[Box, ...],
        given: dict[int, fmpq] | None = None,
    ) -> tuple[tuple[str, tuple[fmpq, ...], tuple[fmpq, ...], Box] | None, int, bool]:
        """A solution with ε > 0, δ ≠ 0, rational if possible; how many; whether signs are open."""
        given = given or {}
        good: list[Box] = []
        bits, undecided = _BITS, list(boxes)
        while undecided and bits <= _MOST_BITS:
            good += [box for box in undecided if self._obeys(box)]
            undecided = [box for box in undecided if self._obeys(box) is None]
            if undecided:
                bits *= 2
                close = points.real_boxes(bits)
                undecided = [b for b in close if not all(are_disjoint((b, u)) for u in undecided)]
        exact = [x for x in _rational_points(points) if self._obeys(tuple((v, v) for v in x))]
        if exact:
            return (RATIONAL, *self._filled(exact[0], given), ()), len(good), bool(undecided)
        if good:
            middle = tuple(
                fmpq(v.numerator, v.denominator) for v in ((a + b) / 2 for a, b in good[0])
            )
            return (IRRATIONAL, *self._filled(middle, given), good[0]), len(good), bool(undecided)
        return None, 0, bool(undecided)

    def _obeys(self, box: Sequence[tuple[Any, Any]]) -> bool | None:
        """Whether δ ≠ 0 and ε > 0 on a whole box; None if the box is too wide to decide."""
        for i, (low, high) in enumerate(box):
            if i < self.n - 1:
                if low == high == 0:
                    return False
                if low <= 0 <= high:
                    return None
            elif high <= 0:
                return False
            elif low <= 0:
                return None
        return True

    def _all_simple(self, points: Parametrization) -> bool:
        """Whether the Jacobian of the square system is provably nonsingular at every point."""
        bits = 128
        while bits <= _MOST_BITS:
            with ctx.workprec(bits):
                roots: list[Any] = points.w.complex_roots()  # pairs (root, multiplicity)
                balls = [self._jacobian(points, t) for t, _ in roots]
                if not any(J is None or J.det().contains(0) for J in balls):
                    return True
            bits *= 2
        return False

    def _jacobian(self, points: Parametrization, t: acb) -> acb_mat | None:
        divisor = points.denominator(t) * points.scale
        if divisor.contains(0):
            return None
        x = [acb(1), *(numerator(t) / divisor for numerator in points.numerators)]
        delta, epsilon = np.array(x[: self.n]), np.array([acb(1), *x[self.n :]])
        return acb_mat([[*(B @ epsilon)[1:], *(delta @ B)[1:]] for B in self.forms])

    def _filled(
        self, x: Sequence[fmpq], given: dict[int, fmpq]
    ) -> tuple[tuple[fmpq, ...], tuple[fmpq, ...]]:
        rest = iter(x[self.n - 1 :])
        epsilon = [fmpq(1)] + [given[j] if j in given else next(rest) for j in range(1, self.m)]
        return (fmpq(1), *x[: self.n - 1]), tuple(epsilon)


def shows_no_solution(forms: Sequence[Rationals], p: int) -> bool:
    """Whether a prime proves that bilinear forms have no common zero δ, ε ≠ 0.

    If all monomials of bidegree (1, n) lie in the ideal modulo p, they do over Q: the rank of the
    forms' multiples over Q is at least that modulo p.  At a common zero they would all vanish.

    Raises
    ------
    ZeroDivisionError
        If p divides a denominator.
    """
    n, m = forms[0].shape
    high = {e: k for k, e in enumerate(combinations_with_replacement(range(m), n))}
    rows = []
    for B in (rational_residues(B, p) for B in forms):
        for low in combinations_with_replacement(range(m), n - 1):
            row = np.zeros(n * len(high), np.int64)
            for j in range(m):
                row[high[tuple(sorted((*low, j)))] :: len(high)] = B[:, j]
            rows.append(row)
    return modular_rank(np.array(rows), p) == n * len(high)


def _rational_points(points: Parametrization) -> list[tuple[fmpq, ...]]:
    """The points at the rational roots of w, exactly."""
    found = []
    for factor, _ in points.w.factor()[1]:
        if factor.degree() == 1:
            t = fmpq(-factor[0], factor[1])
            divisor = points.denominator(t) * points.scale
            found.append(tuple(numerator(t) / divisor for numerator in points.numerators))
    return found
