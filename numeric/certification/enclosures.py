"""Boxes around the real solutions of counted instances, each proved to hold exactly one.

An engine that works in rationals returns boxes with its counts (`InstanceCount.boxes`).  For the
others the solutions, which are doubles, are certified again: Krawczyk's test gives each a polydisc
with exactly one solution, which is real (`numeric.certification.krawczyk`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.polynomials.parametrization import Box
from algebra.systems.enclosure import outward
from numeric.certification.pool import CertifiedPools
from numeric.trials.count_result import CountResult
from numeric.trials.counts import InstanceCount
from numeric.trials.instances import Instance

RATIONAL, CERTIFIED = "rational", "certified"


@dataclass(frozen=True)
class Enclosure:
    """A box that holds one real solution.

    Attributes
    ----------
    box : tuple of (Fraction, Fraction)
        For each learnable weight, in the allocation's order, a lower and an upper end.  The box
        holds one solution of the instance, and the boxes of different solutions are disjoint.
    how : str
        "rational" (exact arithmetic over Q) or "certified" (Krawczyk's test in doubles or balls).
    """

    box: Box
    how: str

    def texts(self) -> list[list[str]]:
        """The ends as texts: decimals if they are finite decimals, else fractions.

        Examples
        --------
        >>> Enclosure(((Fraction(1, 4), Fraction(1, 2)), (Fraction(1, 3),) * 2), "rational").texts()
        [['0.25', '0.5'], ['1/3', '1/3']]
        """
        return [[exact_text(low), exact_text(high)] for low, high in self.box]


def exact_text(value: Fraction) -> str:
    """An exact text of a rational: a decimal if it has one with few digits, else a fraction."""
    q = value.denominator
    for prime in (2, 5):
        while q % prime == 0:
            q //= prime
    if q != 1 or value.denominator > 10**60:
        return str(value)
    digits = 0
    while value.denominator > 1 and (value * 10**digits).denominator > 1:
        digits += 1
    number = abs(value.numerator) * 10**digits // value.denominator
    text = str(number).rjust(digits + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{text[:-digits]}.{text[-digits:]}" if digits else text)


def enclosures(found: CountResult) -> list[list[Enclosure | None]]:
    """For each count, an enclosure of each of its solutions.

    Parameters
    ----------
    found : CountResult
        A count that holds its instances or its problem.

    Returns
    -------
    list of list of Enclosure or None
        None for a solution that could not be certified.
    """
    pools = None if found.problem is None else CertifiedPools(found.problem.support)
    out: list[list[Enclosure | None]] = []
    for count in found.instances:
        if not count.solutions:
            out.append([])
        elif len(count.boxes) == len(count.solutions):
            out.append([Enclosure(box, RATIONAL) for box in count.boxes])
        elif found.given is not None:
            # Krawczyk's test needs a teacher's labels.
            out.append([None] * len(count.solutions))
        else:
            instance = found.instance(count)
            assert pools is not None
            out.append(_certified(count, instance, pools))
    return out


def _certified(
    count: InstanceCount, instance: Instance, pools: CertifiedPools
) -> list[Enclosure | None]:
    solutions = np.array(count.solutions)
    found: list[Enclosure | None] = [None] * len(solutions)
    pool = pools.of(instance, solutions)
    if pool is None or not len(pool):
        return found
    # Each solution belongs to the nearest root.
    distance = np.abs(solutions[:, None, :] - pool.roots.real[None]).max(axis=2)
    for k in range(len(pool)):
        nearest = int(distance[:, k].argmin())
        found[nearest] = Enclosure(_box(pool.roots[k].real, pool.radii[k]), CERTIFIED)
    return found


def _box(middle: np.ndarray, radii: np.ndarray) -> Box:
    """The real part of a polydisc; the ends are exact, rounded outward to a multiple of 10^-18."""
    ends = (
        (Fraction(float(x)) - Fraction(float(r)), Fraction(float(x)) + Fraction(float(r)))
        for x, r in zip(middle, np.broadcast_to(radii, middle.shape), strict=True)
    )
    return tuple(outward(interval, 18) for interval in ends)
