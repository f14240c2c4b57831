"""Certified, distinct real solutions of an instance of a network with activations.

The counterpart of `numeric.certification.pool` for networks that are not chains: the same fields,
from Krawczyk's test in ball arithmetic, for polynomial and analytic activations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from numeric.families.activations.krawczyk import SolutionBox, enclose
from numeric.trials.instances import Instance


@dataclass(frozen=True, eq=False)
class EnclosedPool:
    """Real solutions in boxes that are pairwise disjoint.

    Attributes
    ----------
    enclosures : tuple of SolutionBox
    roots : ndarray of complex, shape (·, r)
        Centres of the boxes, as doubles.
    radii : ndarray of float, shape (·, r)
        In each weight an upper bound of the distance of the solution from the centre.
    """

    enclosures: tuple[SolutionBox, ...]
    roots: np.ndarray
    radii: np.ndarray

    def __len__(self) -> int:
        return len(self.enclosures)


def enclosed_pool(instance: Instance, solutions: np.ndarray) -> EnclosedPool | None:
    """The certified and distinct solutions among approximate ones.

    Parameters
    ----------
    instance : Instance
        An instance of a network with activations.
    solutions : ndarray of float, shape (·, r)
        Approximate solutions.

    Returns
    -------
    EnclosedPool or None
        None if the numbers of labels and of learnable weights differ: Krawczyk's test needs a
        square system.
    """
    r = instance.allocation.size
    if r != instance.problem.network.outputs:
        return None
    kept: list[SolutionBox] = []
    for start in solutions:
        box = enclose(instance, np.asarray(start, float))
        if box is not None and not any(box.overlaps(other) for other in kept):
            kept.append(box)
    middles = np.array([box.middle for box in kept]).reshape(len(kept), r)
    radii = np.array([_radii(box) for box in kept]).reshape(len(kept), r)
    return EnclosedPool(tuple(kept), middles.astype(complex), radii)


def _radii(box: SolutionBox) -> list[float]:
    return [
        math.nextafter(float(abs(ball - float(x)).upper()), math.inf)
        for ball, x in zip(box.balls, box.middle, strict=True)
    ]
