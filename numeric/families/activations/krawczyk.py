r"""A proved enclosure of a solution: Krawczyk's test for networks with activations, in balls.

The system f(w) = 0 are the labels minus the teacher's, as many as weights; the test is that of
`algebra.linalg.krawczyk`.  It is computed in ball arithmetic from the instance's doubles, which are
rationals; the teacher's labels are enclosed, not rounded.  So a box that passes the test contains a
real match of the instance itself, not of a rounded one.

References
----------
.. [1] R. Krawczyk, "Newton-Algorithmen zur Bestimmung von Nullstellen mit Fehlerschranken",
   Computing 4 (1969) 187-201; S. M. Rump, Acta Numerica 19 (2010), section 13.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

from algebra.families.activations.charts import ChartEquations
from algebra.families.activations.decision import BALLS
from algebra.linalg.krawczyk import (
    ball,
    krawczyk_radii,
    newton_limit,
    part_of,
    placed,
    regular_part,
)
from algebra.networks.activated import ActivatedNetwork
from algebra.programs.balls import as_balls, ball_product
from numeric.instances import Instance

_PRECISIONS = (106, 212, 424)
_POLISH = 4
# Relative size of the box in which labels that are the wanted ones are left out.
_NEAR = arb(2) ** -29


@dataclass(frozen=True)
class SolutionBox:
    """A box that contains exactly one solution.

    Attributes
    ----------
    middle : ndarray of float, shape (r,)
        The centre, rounded to doubles.
    balls : tuple of arb
        The box, one ball for each learnable weight.
    """

    middle: np.ndarray
    balls: tuple[Any, ...]

    def overlaps(self, other: SolutionBox) -> bool:
        """Whether the boxes have a point in common: then they may contain the same solution."""
        return all(a.overlaps(b) for a, b in zip(self.balls, other.balls, strict=True))


class ActivationBallSystem:
    """The equations of an instance in ball arithmetic.

    Parameters
    ----------
    instance : Instance
        An instance of a network with activations, with as many learnable weights as labels.
    """

    def __init__(self, instance: Instance) -> None:
        network = instance.allocation.network
        self.network, self.cells = network, instance.allocation.cells
        self.weights = {name: as_balls(value) for name, value in instance.weights.items()}
        self.X = as_balls(instance.X)
        # Of ReLU the mean value theorem needs all slopes between points of a box.
        self._charts: ChartEquations | None = None
        if isinstance(network, ActivatedNetwork) and network.activation.is_piecewise:
            self._charts = ChartEquations(network, self.cells, self.weights, self.X, BALLS)
        if instance.drawn_labels is not None:
            self.labels = as_balls(instance.drawn_labels).ravel()
            return
        teacher = {name: as_balls(value) for name, value in instance.teacher.items()}
        if self._charts is not None:
            self.labels = np.array(self._charts.labels(teacher), dtype=object)
            return
        self.labels = network.forward(teacher, self.X, ball_product).ravel()

    def _student(self, x: Sequence[Any]) -> dict[str, np.ndarray]:
        student = {name: value.copy() for name, value in self.weights.items()}
        for (name, i, j), value in zip(self.cells, x, strict=True):
            student[name][i, j] = value
        return student

    def residual(self, x: Sequence[Any]) -> arb_mat:
        """f at a point or over a box, as a column."""
        if self._charts is not None:
            return arb_mat([[f] for f in self._charts.residuals(x, self.labels)])
        found = self.network.forward(self._student(x), self.X, ball_product).ravel()
        return arb_mat(len(found), 1, list(found - self.labels))

    def jacobian(self, x: Sequence[Any]) -> arb_mat:
        """f' at a point or over a box."""
        if self._charts is not None:
            slopes, _ = self._charts.derivatives(x, [None] * len(self._charts.groups))
            return arb_mat(slopes)
        found = self.network.jacobian(self._student(x), self.X, self.cells, ball_product)
        return arb_mat(found.tolist())


def enclose(instance: Instance, start: np.ndarray) -> SolutionBox | None:
    """A box that contains exactly one solution, near an approximate solution.

    Parameters
    ----------
    instance : Instance
        An instance of a network with activations, with as many learnable weights as labels.
    start : ndarray of float, shape (r,)
        An approximate solution.

    Returns
    -------
    SolutionBox or None
        None if the test fails at every precision.
    """
    before = ctx.prec
    try:
        for bits in _PRECISIONS:
            ctx.prec = bits
            found = _enclosed(ActivationBallSystem(instance), start)
            if found is not None:
                return found
    finally:
        ctx.prec = before
    return None


def is_near_a_match(instance: Instance, weights: np.ndarray) -> bool:
    """Whether a match is proved near some weights, also where matches form families.

    Labels that are the wanted ones for all weights nearby are left out, and some weights are kept.

    Parameters
    ----------
    instance : Instance
        Of a network with activations.
    weights : ndarray of float, shape (r,)
    """
    before = ctx.prec
    try:
        for bits in _PRECISIONS:
            ctx.prec = bits
            if _has_match(ActivationBallSystem(instance), [arb(float(w)) for w in weights]):
                return True
    finally:
        ctx.prec = before
    return False


def _has_match(system: ActivationBallSystem, near: list[arb]) -> bool:
    def at(x: Sequence[arb]) -> tuple[arb_mat, arb_mat]:
        return system.residual(x), system.jacobian(x)

    part = regular_part(*at([ball(z, _NEAR * (1 + abs(z))) for z in near]))
    if part is None or not part[0]:
        return part is not None
    rows, columns = part
    own, goal = part_of(at, near, rows, columns), arb(2) ** (-(ctx.prec * 3) // 5)
    x = newton_limit(own, [near[j] for j in columns], _POLISH, goal, arb(1))
    radii = None if x is None else krawczyk_radii(own, x, (4, 4**6), arb(2) ** (-ctx.prec + 8))
    if x is None or radii is None:
        return False
    box = [ball(z, radius) for z, radius in zip(x, radii, strict=True)]
    left = set(range(system.residual(near).nrows())) - set(rows)
    values = system.residual(placed(near, columns, box))
    return all(values[i, 0].is_zero() for i in left)


def _enclosed(system: ActivationBallSystem, start: np.ndarray) -> SolutionBox | None:
    def at(x: Sequence[arb]) -> tuple[arb_mat, arb_mat]:
        return system.residual(x), system.jacobian(x)

    goal = arb(2) ** (-(ctx.prec * 3) // 5)
    x = newton_limit(at, [arb(float(v)) for v in start], _POLISH, goal, arb(1))
    if x is None:
        return None
    radii = krawczyk_radii(at, x, (4, 4**6, 4**12), arb(2) ** (-ctx.prec + 8))
    if radii is None:
        return None
    balls = tuple(ball(z, radius) for z, radius in zip(x, radii, strict=True))
    return SolutionBox(np.array([float(z.mid()) for z in balls]), balls)
