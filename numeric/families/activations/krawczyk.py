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
from algebra.linalg.krawczyk import ball, has_solution, krawczyk_radii, newton_limit
from algebra.networks.activated import ActivatedNetwork
from algebra.programs.balls import as_balls, ball_product
from numeric.trials.instances import Instance

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

    def at(self, x: Sequence[Any]) -> tuple[arb_mat, arb_mat]:
        """f and f' at a point or over a box."""
        return self.residual(x), self.jacobian(x)


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
            at, least = ActivationBallSystem(instance).at, arb(2) ** (8 - bits)
            if has_solution(at, [arb(float(w)) for w in weights], _NEAR, (4, 4**6), least):
                return True
    finally:
        ctx.prec = before
    return False


def _enclosed(system: ActivationBallSystem, start: np.ndarray) -> SolutionBox | None:
    goal = arb(2) ** (-(ctx.prec * 3) // 5)
    x = newton_limit(system.at, [arb(float(v)) for v in start], _POLISH, goal, arb(1))
    if x is None:
        return None
    radii = krawczyk_radii(system.at, x, (4, 4**6, 4**12), arb(2) ** (-ctx.prec + 8))
    if radii is None:
        return None
    balls = tuple(ball(z, radius) for z, radius in zip(x, radii, strict=True))
    return SolutionBox(np.array([float(z.mid()) for z in balls]), balls)
