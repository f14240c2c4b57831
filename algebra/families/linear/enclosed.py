r"""All solutions of a rational instance enclosed by balls, none of which is real: MP < 1.

Given N, the theorem of `algebra.families.linear.verification.witness` needs N distinct simple
solutions of one instance, none real.  There they are points of a parametrization over Q; here no
ideal is needed, and each is enclosed by Krawczyk's test, in python-flint's ball arithmetic: about a
point x take a polydisc ``B = {|z_j - x_j| ≤ ρ_j}`` and a regular matrix C.  If

.. math:: |C F(x)|_i + \sum_j |I - C F'(B)|_{ij} ρ_j < ρ_i \quad\text{for every } i,

with F(x) and F'(B) enclosed, then z ↦ z − C F(z) maps B into itself and contracts it: B contains
exactly one solution of F, and it is simple [1]_.  The instance is real, so the complex conjugate of
B also contains exactly one.  If all these polydiscs, N/2 and their conjugates, are pairwise
disjoint, there are N distinct simple solutions, and none is real: a real one would lie in a
polydisc and in its conjugate.

**The equations F.**  There are as many as weights, so that F' is square, and a solution of F is one
of the instance.  The labels of any network of the kind are A X with some matrix A (for a recurrent
net the samples X contain all steps' inputs), so the labels of samples that span all others
determine those of all.  If ρ = dκ, κ the rank of X, the equations of such samples are F. If a layer
of width w is narrower than both d and κ, labels have rank w at most; if the block of the first w
rows and of w of these samples is regular at the instance, a matrix of rank w is determined by those
rows and columns, and their equations are F.  This proves (a) and (b) of the theorem, and (c) is
proved as above; (d) is verified as there.

References
----------
.. [1] R. Krawczyk, Computing 4 (1969) 187-201.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from flint import acb, acb_mat, arb, ctx

from algebra.certificates.family import NonRealInstance
from algebra.families.linear.evidence import Enclosed
from algebra.families.linear.verification.enclosed import label_equations
from algebra.families.linear.verification.witness import is_smooth
from algebra.linalg.krawczyk import krawczyk_radii, newton_limit
from algebra.networks.chain import need_chain
from algebra.problems.problem import Problem
from algebra.time_limits import check_time

# Precisions in bits, tried in order, and the number of Newton steps at each.
_PRECISIONS = (128, 256, 512)
_NEWTON = 12

Box = tuple[list[acb], list[arb]]


def enclosed_evidence(
    problem: Problem, guess: NonRealInstance, count: int
) -> dict[str, Any] | None:
    """An instance as evidence, if balls prove that it has `count` solutions, none of them real."""
    if 2 * len(guess.solutions) != count:
        return None
    Y = problem.network.forward(guess.teacher, guess.X)
    points = [[acb(arb(re), arb(im)) for re, im in point] for point in guess.solutions]
    if _complaint(problem, guess.weights, guess.X, Y, points):
        return None
    return Enclosed(guess.weights, guess.teacher, guess.X, tuple(guess.solutions)).to_dict()


def _complaint(
    problem: Problem,
    weights: Mapping[str, np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    points: Sequence[Sequence[acb]],
) -> str:
    """Why the points are not distinct simple non-real solutions; "" if they are."""
    chosen = label_equations(problem, X, Y)
    if chosen is None or not is_smooth(problem, X, Y, len(chosen)):
        return "no square system of label equations determines the solutions at this instance"
    boxes: list[Box] = []
    before = ctx.prec
    try:
        for k, point in enumerate(points):
            for bits in _PRECISIONS:
                check_time()
                ctx.prec = bits
                box = _Equations(problem, weights, X, Y, chosen).enclose(list(point))
                if box is not None:
                    break
            else:
                return f"Krawczyk's test shows no solution near point {k}"
            boxes.append(box)
        ctx.prec = _PRECISIONS[-1]
        mirrored = [([z.conjugate() for z in centre], radii) for centre, radii in boxes]
        for number, (one, other) in enumerate(combinations([*boxes, *mirrored], 2)):
            if number % 1000 == 0:
                check_time()
            if not any(
                abs(a - b) > q + s
                for a, b, q, s in zip(one[0], other[0], one[1], other[1], strict=True)
            ):
                return "the balls of two solutions, or of one and a conjugate, are not disjoint"
    finally:
        ctx.prec = before
    return ""


class _Equations:
    """The label equations of an instance and their Jacobian, at the current precision."""

    def __init__(
        self,
        problem: Problem,
        weights: Mapping[str, np.ndarray],
        X: np.ndarray,
        Y: np.ndarray,
        chosen: list[tuple[int, int]],
    ) -> None:
        exact = np.frompyfunc(lambda value: acb(arb(value)), 1, 1)
        self.network, self.chosen = need_chain(problem.network), chosen
        self.cells = problem.allocation.cells
        self.weights = {name: exact(value) for name, value in weights.items()}
        self.X, self.Y = exact(X), exact(Y)

    def enclose(self, x: list[acb]) -> Box | None:
        """A polydisc that contains exactly one solution, near an approximate one; None if none is
        found."""
        goal = arb(2) ** (-(ctx.prec * 3) // 5)
        found = newton_limit(self.at, x, _NEWTON, goal, arb(1))
        if found is None:
            return None
        radii = krawczyk_radii(self.at, found, (4,), arb(2) ** (-ctx.prec))
        return None if radii is None else (found, radii)

    def at(self, x: Sequence[acb]) -> tuple[acb_mat, acb_mat]:
        """Enclosed residuals and Jacobian at given weights."""
        weights = {name: value.copy() for name, value in self.weights.items()}
        for (name, i, j), value in zip(self.cells, x, strict=True):
            weights[name][i, j] = value
        labels = self.network.forward(weights, self.X, _product)
        J = self.network.jacobian(weights, self.X, self.cells, _product)
        J = J.reshape(*labels.shape, len(x))
        F = acb_mat(len(x), 1, [labels[at] - self.Y[at] for at in self.chosen])
        return F, acb_mat([list(J[at]) for at in self.chosen])


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product of matrices of balls and rationals, by python-flint."""
    left, right = (acb_mat(x.shape[0], x.shape[1], list(map(acb, x.flat))) for x in (a, b))
    out = np.empty(a.shape[0] * b.shape[1], dtype=object)
    out[:] = (left * right).entries()
    return out.reshape(a.shape[0], b.shape[1])
