r"""A trace test: whether all solutions of a generic instance have been found.

Monodromy (`numeric.monodromy`) finds solutions, but never says that none is missing.  The
sum of *all* points of a curve in a moving hyperplane is a linear function of the
hyperplane's offset; the sum of some of them is not.  Solutions alone are no hyperplane
section: some run away to infinity when the labels move.  So a larger set is completed and
tested, of which the solutions are a part.

The curve.  G : C^r → C^r maps the learnable weights to the (independent) labels, all else
fixed at random complex values; it is dominant, because the allocation is not minimal and
r = ρ (`numeric.chain.make_chain` checks both).  N is the number of points over generic
labels.  Over a random line Y_0 + tV it gives the curve C = {(w, t) : G(w) = Y_0 + tV}.  By
Bertini's theorem [1]_, applied r − 1 times, C is *irreducible* and smooth, for C^r is.
Its closure in P^r × P^1 meets a generic slice in t in N points, all of them finite, and a
generic slice λ(w) = 0 in a number δ of points, hence a generic form of bidegree (1, 1) in
N + δ [2]_.  One such section is known in advance: ``λ(w) t = 0``, with λ a random affine
function, holds the N solutions at the labels Y_0 (where t = 0) and the δ points where
λ(w) = 0.

The test.  In the chart where λ(w) = 0 and t = 0 are at infinity, with coordinates w/λ(w)
and 1/t, take parallel hyperplanes of a random direction,

    A(w)/λ(w) + 1/t + s = 0,  that is  A(w) t + λ(w) + s λ(w) t = 0,

s in C.  At s = ∞ this is the known section.  Let T(s) be the sum of w/λ(w) over a set of
points followed along s.

* All N + δ points: T is linear.  For finite s no point is at infinity: t = 0 forces
  λ(w) = 0, and λ(w) = 0 forces A(w) = 0 or t = 0, which a generic A and V avoid.  So T is
  entire; at s = ∞ the section is reduced (N + δ distinct points), so each 1/λ(w) grows at
  most like s, hence T is a polynomial of degree at most 1.
* A proper non-empty subset S: T is not linear.  Uniform position [3]_: the monodromy of C
  over all hyperplanes is the full symmetric group.  The hyperplane at infinity is not in
  the discriminant (its section is reduced), so a random line of hyperplanes through it,
  which is what our parallel ones are, has the same monodromy (blow up that point; the
  exceptional section is contracted, so the fundamental group of a generic line is mapped
  onto).  Some loop of s thus swaps a point of S with one outside and fixes all others.  If
  T were linear, it would return to itself, and the two would have the same w/λ(w) for all
  s: then, by the section's equation, the same t as well, which distinct points have not.

So, with probability one over the random choices and in exact arithmetic, T is linear if and
only if the set is complete, and then exactly N of its points have t = 0.  Nothing is assumed
of the monodromy loops that found the points.

In floating point, second divided differences of T at three values of s take the place of
"linear".  The residual is the norm of their sum over the sum of their norms; for a complete
set it is rounding error, for another one the missing points' share.  It must be below
`TOLERANCE` and a thousand times smaller than the share of any point that was found, for two
independent pencils, with distinct endpoints of all paths.  This is numerical evidence, not
a proof: paths that swap, or a missing set whose share is below all others', may deceive it.

References
----------
.. [1] J.-P. Jouanolou, Théorèmes de Bertini et applications, Birkhäuser 1983, Théorème 6.3.
.. [2] A. Leykin, J. I. Rodriguez, F. Sottile, "Trace test", Arnold Math. J. 4 (2018),
   arXiv 1608.00540: Sections 3 and 4 (multihomogeneous varieties by forms of bidegree (1, 1)).
.. [3] E. Arbarello, M. Cornalba, P. Griffiths, J. Harris, Geometry of Algebraic Curves I,
   Springer 1985, Chapter III §1 (p. 109).
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field

import numpy as np

from numeric.chain import Chain
from numeric.label_curve import LabelCurve, track

# Largest residual of a complete set, and how far below any point's own share it must be.
TOLERANCE = 1e-7
_MARGIN = 1e-3
# Points closer than this, relative to their size, are one.
_SAME = 1e-6
# Parts of the section λ(w) t = 0 are told apart by these bounds.
_ZERO, _NOT_ZERO = 1e-9, 1e-7

# Other ways to a section where paths to it were lost.
_DETOURS = 3

PASSED, FAILED, UNFINISHED = "passed", "failed", "unfinished"


@dataclass(frozen=True)
class TraceTest:
    """What a trace test found.

    Attributes
    ----------
    status : str
        "passed": the set is complete.  "failed": something is missing, or the numbers
        are too poor to tell.  "unfinished": a limit was met before.
    roots : ndarray of complex, shape (N, r)
        Points with t = 0: solutions at the parameters' own labels.  All of them where
        the test passed.
    points : int
        Number of points of the section, N + δ where the test passed.
    residual : float
        Largest residual of the last pencils.
    share : float
        Smallest share of a single point in the sums: the residual to expect at least
        where a point like it is missing.
    loops : int
        Monodromy loops run.
    note : str
        Why it did not pass.
    """

    status: str
    roots: np.ndarray = field(repr=False)
    points: int
    residual: float
    share: float
    loops: int
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether the roots are all there are."""
        return self.status == PASSED

    @property
    def root_count(self) -> int:
        """Number of roots found; N where the test passed."""
        return len(self.roots)

    def __str__(self) -> str:
        text = (
            f"trace test {self.status}: {self.root_count} solutions among {self.points} points, "
            f"residual {self.residual:.1e}, least share {self.share:.1e}"
        )
        return f"{text} ({self.note})" if self.note else text


@dataclass(frozen=True)
class Pencil:
    """The sections ``A(w) t + λ(w) + s λ(w) t = 0`` of a curve.

    Attributes
    ----------
    curve : LabelCurve
    at_infinity : ndarray of complex, shape (r + 1,)
        λ: constant, then coefficients.
    direction : ndarray of complex, shape (r + 1,)
        A.
    """

    curve: LabelCurve
    at_infinity: np.ndarray
    direction: np.ndarray

    def section(self, s: complex) -> np.ndarray:
        """The form at a finite s."""
        return np.column_stack([self.at_infinity, self.direction + s * self.at_infinity])

    @property
    def known(self) -> np.ndarray:
        """The form λ(w) t at s = ∞."""
        return np.column_stack([np.zeros_like(self.at_infinity), self.at_infinity])

    def coordinates(self, z: np.ndarray) -> np.ndarray:
        """w/λ(w) of points (w, t)."""
        w = z[:, :-1]
        return w / (self.at_infinity[0] + w @ self.at_infinity[1:])[:, None]


def trace_residual(
    pencil: Pencil, points: np.ndarray, values: np.ndarray, rng: np.random.Generator
) -> tuple[float, float] | None:
    """How far the sum over some points is from moving linearly.

    Parameters
    ----------
    pencil : Pencil
    points : ndarray of complex, shape (k, r + 1)
        Points of the section at s = ∞.
    values : ndarray of complex, shape (3,)
        Values of s.
    rng : numpy.random.Generator
        For detours.

    Returns
    -------
    residual : float
        Norm of the summed second divided differences over the sum of their norms: 0 for a
        complete set.
    share : float
        The smallest of these norms over their sum.
        None where k distinct points could not be brought to each section, or more were
        found there.

    Notes
    -----
    Lost paths are made good by other ways to the same section: k distinct points are
    wanted there, no matter which.  The test stays sound.  Three sets whose sums lie on
    one line for generic s are, with two values of s fixed, one set with a linear sum.
    """
    z = points
    forms = [pencil.known, *(pencil.section(s) for s in values)]
    seen = []
    for before, after in itertools.pairwise(forms):
        z = carry(pencil.curve, z, before, after, rng)
        if len(z) != len(points):
            return None
        seen.append(z)
    second = np.zeros_like(seen[0][:, :-1])
    for k, z in enumerate(seen):
        apart = np.prod([values[k] - values[j] for j in range(3) if j != k])
        second += pencil.coordinates(z) / apart
    norms = np.linalg.norm(second, axis=1)
    total = norms.sum()
    if not total > 0:
        return None
    return float(np.linalg.norm(second.sum(axis=0)) / total), float(norms.min() / total)


def carry(
    curve: LabelCurve,
    points: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Distinct points on another section, as many as there are, by detours where needed."""
    arrived = track(curve, points, before, after)
    lost = ~np.isin(np.arange(len(points)), distinct(arrived))
    for _ in range(_DETOURS):
        if not lost.any():
            break
        via = _gaussian(rng, *before.shape)
        again = track(curve, track(curve, points, before, via), via, after)
        # Points keep their places where they can: only lost ones are filled in.
        fresh = np.concatenate([arrived[~lost], again])
        fresh = fresh[distinct(fresh)][int((~lost).sum()) :]
        if len(fresh) > lost.sum():
            return np.concatenate([arrived[~lost], fresh])
        places = np.flatnonzero(lost)[: len(fresh)]
        arrived[places] = fresh
        lost[places] = False
    return arrived[~lost]


def distinct(points: np.ndarray) -> np.ndarray:
    """Indices of the first of each group of points that agree to within 1e-6."""
    kept: list[int] = []
    size = np.maximum(1.0, np.abs(points).max(axis=1, initial=0.0))
    for k in range(len(points)):
        if not np.isfinite(points[k]).all():
            continue
        gaps = np.abs(points[kept] - points[k]).max(axis=1, initial=0.0)
        if not (gaps <= _SAME * size[k]).any():
            kept.append(k)
    return np.array(kept, np.int64)


def random_pencil(curve: LabelCurve, at_infinity: np.ndarray, rng: np.random.Generator) -> Pencil:
    """A pencil of a random direction."""
    return Pencil(curve, at_infinity, _gaussian(rng, len(at_infinity)))


def _gaussian(rng: np.random.Generator, *shape: int) -> np.ndarray:
    pair = rng.standard_normal((2, *shape))
    return (pair[0] + 1j * pair[1]) / np.sqrt(2.0)


def trace_test(
    chain: Chain,
    parameters: np.ndarray,
    roots: np.ndarray,
    *,
    seed: int = 0,
    most_points: int = 1_500,
    most_loops: int = 60,
    timeout: float = 120.0,
) -> TraceTest:
    """Complete the known roots of an instance, and test that they are all.

    Parameters
    ----------
    chain : Chain
    parameters : ndarray of complex, shape (chain.size,)
        Of a random complex instance.
    roots : ndarray of complex, shape (k, r)
        Some roots of it, at least one.
    seed : int, optional
        Line, sections and loops follow from it.
    most_points, most_loops : int, optional
        Give up beyond.
    timeout : float, optional
        Give up after so many seconds.

    Returns
    -------
    TraceTest

    Notes
    -----
    Points of the section are collected by leading those known around random triangles of
    sections; the test is made whenever a loop brings nothing new.  It decides, the loops
    do not.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x7ACE,)))
    r = chain.unknowns
    start = parameters[chain.y_at :].reshape(-1, chain.samples)[tuple(chain.equations.T)]
    curve = LabelCurve(chain, parameters, _gaussian(rng, r) * max(1.0, np.abs(start).max()))
    at_infinity = _gaussian(rng, r + 1)
    known = Pencil(curve, at_infinity, at_infinity).known
    points = curve.refine(np.column_stack([roots, np.zeros(len(roots))]).astype(complex), known)
    points = points[distinct(points)]
    end = time.monotonic() + timeout
    residual, share, note, fresh = np.inf, 0.0, "", True
    loops = 0

    def result(status: str, why: str = "") -> TraceTest:
        solutions = points[_at_zero(points, at_infinity) > 0][:, :r]
        return TraceTest(status, solutions, len(points), residual, share, loops, why)

    if not len(points):
        return result(FAILED, "no root to start from")
    while True:
        if len(points) > most_points:
            return result(UNFINISHED, f"more than {most_points} points")
        if not fresh:
            found = [
                trace_residual(
                    random_pencil(curve, at_infinity, rng), points, _gaussian(rng, 3), rng
                )
                for _ in range(2)
            ]
            measured = [pair for pair in found if pair is not None]
            if len(measured) == len(found):
                residual = max(pair[0] for pair in measured)
                share = min(pair[1] for pair in measured)
                note = "points are missing, or too poorly known"
                if residual <= min(TOLERANCE, _MARGIN * share):
                    break
            else:
                note = "paths were lost"
        if loops >= most_loops or time.monotonic() > end:
            limit = f"{loops} loops" if loops >= most_loops else f"{timeout:g} s"
            return result(FAILED if note else UNFINISHED, f"{note or 'stopped'} after {limit}")
        corners = [known, _gaussian(rng, r + 1, 2), _gaussian(rng, r + 1, 2), known]
        z = points
        for before, after in itertools.pairwise(corners):
            z = track(curve, z, before, after)
        merged = np.concatenate([points, z])
        merged = merged[distinct(merged)]
        fresh = len(merged) > len(points)
        points = merged
        loops += 1
    if (_at_zero(points, at_infinity) == 0).any():
        return result(FAILED, "a point is near both t = 0 and λ(w) = 0")
    return result(PASSED)


def _at_zero(points: np.ndarray, at_infinity: np.ndarray) -> np.ndarray:
    """1 where t = 0 on the section λ(w) t = 0, −1 where λ(w) = 0, 0 where it is not clear."""
    w, t = points[:, :-1], np.abs(points[:, -1])
    scale = np.abs(at_infinity[0]) + np.abs(w) @ np.abs(at_infinity[1:])
    other = np.abs(at_infinity[0] + w @ at_infinity[1:]) / scale
    solution = (t <= _ZERO) & (other >= _NOT_ZERO)
    return np.where(solution, 1, np.where((other <= _ZERO) & (t >= _NOT_ZERO), -1, 0))
