r"""A trace test: whether all solutions of a generic instance have been found.

Monodromy (`numeric.tracking.monodromy`) finds solutions, but cannot show that none is missing.  The
sum of *all* points of a curve in a moving hyperplane is a linear function of the
hyperplane's offset; the sum of a proper subset is not.  The solutions alone are no hyperplane
section: some diverge to infinity when the labels move.  Therefore a larger set is completed and
tested, which contains the solutions.

The curve.  G : C^r → C^r maps the learnable weights to the (independent) labels, all else
fixed at random complex values; it is dominant, because the allocation is not minimal and
r = ρ (`numeric.equations.program_system.make_system` checks both).  N is the number of points over
generic labels.  Over a random line Y_0 + tV it gives the curve C = {(w, t) : G(w) = Y_0 + tV}.  By
Bertini's theorem [1]_, applied r − 1 times, C is *irreducible* and smooth, because C^r is. Its
closure in P^r × P^1 meets a generic slice in t in N points, all of them finite, and a generic slice
λ(w) = 0 in a number δ of points, hence a generic form of bidegree (1, 1) in N + δ points [2]_.  One
such section is known in advance: ``λ(w) t = 0``, with λ a random affine function, holds the N
solutions at the labels Y_0 (where t = 0) and the δ points where λ(w) = 0.

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
  the discriminant (its section is reduced), so a random line of hyperplanes through it has
  the same monodromy, and the parallel hyperplanes are such a line.  (Blow up that point: the
  exceptional section is contracted, so the map from the fundamental group of a generic line is
  surjective.)  So some loop of s swaps a point of S with one outside and fixes all others.  If
  T were linear, it would return to itself, and the two points would have the same w/λ(w) for
  all s, and by the section's equation the same t: they would not be distinct.

So, with probability one over the random choices and in exact arithmetic, T is linear if and
only if the set is complete, and then exactly N of its points have t = 0.  This assumes nothing
about the monodromy loops that found the points.

In floating point, "linear" is tested by second divided differences of T at three values of s, in
the longest precision of the machine.  The residual is the norm of their sum over the
sum of their norms; for a complete set it is rounding error, otherwise the missing
points' share.  It must be below `TOLERANCE`, a thousand times smaller than the share of any
point that was found, and within the last Newton corrections and the rounding error of the
sum.  This is required for two pencils with independent λ, A and s (a point near λ(w) = t = 0 moves
almost linearly in one, not in both), with distinct endpoints of all paths.  The result is numerical
evidence, not a proof: missing points whose share is below rounding error would not be noticed.

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
from dataclasses import dataclass, field, replace

import numpy as np

from algebra.work import end_of_part, has_passed
from numeric.equations.system import ParameterSystem
from numeric.tracking.label_curve import LabelCurve, track_sections
from numeric.tracking.pencils import (
    Pencil,
    distinct_indices,
    gaussian,
    move_points,
    random_section,
    trace_residual,
)

# Largest residual of a complete set, its largest ratio to any point's own share, and its largest
# ratio to the estimated rounding error.
TOLERANCE = 1e-9
_MARGIN = 1e-3
_ROUNDING = 100.0
# Bounds that separate the two parts of the section λ(w) t = 0.
_ZERO = 1e-9
_NOT_ZERO = 1e-7
# Loops without a new point, while points are missing, before another line is tried.
_STALLED = 8
_LINES = 3

PASSED, FAILED, UNFINISHED = "passed", "failed", "unfinished"


@dataclass(frozen=True)
class TraceTest:
    """The result of a trace test.

    Attributes
    ----------
    status : str
        "passed": the set is complete.  "failed": points are missing, or the numbers are too
        inaccurate to decide.  "unfinished": a limit was reached.
    roots : ndarray of complex, shape (N, r)
        Points with t = 0: solutions for the parameters' own labels.  All of them if
        the test passed.
    points : int
        Number of points of the section, N + δ if the test passed.
    residual : float
        Largest residual of the last pencils.
    share : float
        Smallest share of a single point in the sums: the least residual to expect
        if a point like it is missing.
    loops : int
        Number of monodromy loops.
    note : str
        Why the test did not pass.
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
        """Whether `roots` are all solutions."""
        return self.status == PASSED

    @property
    def root_count(self) -> int:
        """Number of roots found; N if the test passed."""
        return len(self.roots)

    def __str__(self) -> str:
        text = (
            f"trace test {self.status}: {self.root_count} solutions found, {self.points} points of "
            "the section"
        )
        if np.isfinite(self.residual) and np.isfinite(self.share):
            text += f", residual {self.residual:.1e}, least share {self.share:.1e}"
        return f"{text} ({self.note})" if self.note else text


def trace_test(
    of: ParameterSystem,
    parameters: np.ndarray,
    roots: np.ndarray,
    *,
    seed: int = 0,
    most_points: int = 1_500,
    timeout: float = 120.0,
) -> TraceTest:
    """Complete the known roots of an instance, and test whether they are all.

    Parameters
    ----------
    of : ParameterSystem
    parameters : ndarray of complex, shape (of.size,)
        A random complex instance.
    roots : ndarray of complex, shape (k, r)
        Some of its roots, at least one.
    seed : int, optional
        Seed of the line, the sections and the loops.
    most_points : int, optional
        The search stops beyond this number of points.
    timeout : float, optional
        The search stops after this number of seconds.

    Returns
    -------
    TraceTest

    Notes
    -----
    Points of the section are collected by moving the known ones around random triangles of
    sections; the test is made whenever a loop gives no new point.  The test decides, not the loops.
    If further loops do not help, the search starts again with another line and another λ:
    some points are hard to reach from some sections.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x7ACE,)))
    end = end_of_part(timeout)
    loops = 0
    for _ in range(_LINES):
        search = _SectionSearch(of, parameters, roots, rng)
        found = search.run(most_points, end)
        loops += found.loops
        roots = found.roots
        if found.status != FAILED or not len(roots):
            break
    return replace(found, loops=loops)


class _SectionSearch:
    """Search for all points of one section ``λ(w) t = 0`` of one curve."""

    def __init__(
        self, of: ParameterSystem, parameters: np.ndarray, roots: np.ndarray,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        labels = of.equation_labels(parameters)
        direction = gaussian(rng, of.unknowns) * max(1.0, np.abs(labels).max(initial=0.0))
        self.rng = rng
        self.curve = LabelCurve(of, parameters, direction)
        self.at_infinity = gaussian(rng, of.unknowns + 1)
        self.known = Pencil(self.curve, self.at_infinity, self.at_infinity).known
        start = np.column_stack([roots, np.zeros(len(roots))]).astype(complex)
        points = self.curve.refine(start, self.known)
        self.points = points[distinct_indices(points)]
        self.loops = 0
        self._found_new = True
        self.residual, self.share = np.inf, 0.0

    def run(self, most_points: int, end: float) -> TraceTest:
        """Run loops and tests until a test passes or a limit is reached."""
        if not len(self.points):
            return self._result(FAILED, "no root to start from")
        stalled, note = 0, ""
        while True:
            if len(self.points) > most_points:
                return self._result(UNFINISHED, f"more than {most_points} points")
            if not self._found_new:
                note = self._measure()
                if not note:
                    break
                stalled += 1
            if stalled >= _STALLED:
                return self._result(FAILED, note)
            if has_passed(end):
                return self._result(
                    UNFINISHED, f"{note or 'points were still found'}; the time limit was reached"
                )
            self._loop()
            stalled *= not self._found_new
        if (self._places() == 0).any():
            return self._result(FAILED, "a point is near both t = 0 and λ(w) = 0")
        return self._result(PASSED)

    def _loop(self) -> None:
        """Move all points around a random triangle of sections; add the new ones."""
        r = self.curve.unknowns
        first, second = random_section(self.rng, r), random_section(self.rng, r)
        z = self.points
        for before, after in itertools.pairwise([self.known, first, second, self.known]):
            z = track_sections(self.curve, z, before, after)
        merged = np.concatenate([self.points, z])
        merged = merged[distinct_indices(merged)]
        self._found_new = len(merged) > len(self.points)
        self.points = merged
        self.loops += 1

    def _measure(self) -> str:
        """Test two independent pencils; returns the reason against completeness, or ""."""
        self.residual, self.share = 0.0, np.inf
        rng, points = self.rng, self.points
        for own in (self.at_infinity, gaussian(rng, len(self.at_infinity))):
            pencil = Pencil(self.curve, own, gaussian(rng, len(own)))
            if own is not self.at_infinity:
                points = move_points(self.curve, points, self.known, pencil.known, rng)
            found = None
            if len(points) == len(self.points):
                found = trace_residual(pencil, points, gaussian(rng, 3), rng)
            if found is None:
                self.residual, self.share = np.inf, 0.0
                return "paths were lost"
            residual, noise, share = found
            self.residual, self.share = max(self.residual, residual), min(self.share, share)
            if residual > min(TOLERANCE, _MARGIN * share, _ROUNDING * noise):
                return "points are missing, or not accurate enough"
        return ""

    def _places(self) -> np.ndarray:
        """1 where t = 0, −1 where λ(w) = 0, 0 where this is unclear."""
        w, t = self.points[:, :-1], np.abs(self.points[:, -1])
        constant, slopes = self.at_infinity[0], self.at_infinity[1:]
        scale = np.abs(constant) + np.abs(w) @ np.abs(slopes)
        other = np.abs(constant + w @ slopes) / scale
        solution = (t <= _ZERO) & (other >= _NOT_ZERO)
        return np.where(solution, 1, np.where((other <= _ZERO) & (t >= _NOT_ZERO), -1, 0))

    def _result(self, status: str, note: str = "") -> TraceTest:
        return TraceTest(
            status=status,
            roots=self.points[self._places() > 0][:, :-1],
            points=len(self.points),
            residual=self.residual,
            share=self.share,
            loops=self.loops,
            note=note,
        )
