"""The end of a path in many bits, for roots near infinity.

If W gets a large eigenvalue R the states grow like R^k, their directions become nearly parallel,
and the equations' condition grows like a power of R.  Newton's basin shrinks with it: at a
condition of 10^12 a prediction must be right to about 8 digits, while Taylor coefficients computed
in doubles are right to 4, whatever the linear algebra, and the path becomes slow or is lost.  Such
paths are few.  Each is followed from its last point to the end in python-flint's arithmetic, by the
tapes of its own system (`numeric.equations.lanes.tape`).  On the line unknowns may grow to 10^35
and the condition to 10^50.  If 512 bits do not suffice, steps are halved repeatedly; then the path
continues with 1,024 bits.

A path that passes near infinity at t* grows like a power of 1/(t - t*), and a Taylor polynomial
reaches a fixed share of the way to t* only.  So all coordinates are predicted as fractions with one
denominator, as in `numeric.tracking.pade`: a pole of order k is a denominator of degree k, here at
most 8, and few steps lead past it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import acb, arb, ctx

from algebra.time_limits import check_time
from numeric.equations.balls import ONE, BallTape
from numeric.equations.lanes.tape import LaneSystem
from numeric.equations.system import ParameterSystem

# Precisions in order, and the number of halvings of a step after which the next one is used.
_BITS = (512, 1024)
_MOST_HALVINGS = 8
# Order of the series, for which `numeric.equations` makes the systems followed here.
ORDER = 26
# Target for the predictor's relative error, and the largest first Newton step accepted:
# well inside the basin at the worst condition observed.
_AIM = 1e-10
_BASIN = 1e-8
# The same limit for the point in doubles with which a path begins.
_ENTRY = 0.1
# Degree of the denominator of a prediction, the number of highest orders from which it follows, a
# bound of its coefficients' effect, and its least value.
_DEGREE = 8
_USED = _DEGREE + 5
_RIDGE = 1e-14
_LEAST = 1e-3
# Relative accuracy of the points, as a share of the bits.
_GOAL = 0.6
_SHORTEST = 1e-6
_MOST_STEPS = 200
# A path of a chain with larger weights diverges: the instance is special.
_FAR = 1e13


@dataclass(frozen=True)
class PreciseSystem:
    """A system of equations, its tapes prepared for ball arithmetic.

    Attributes
    ----------
    slots : LaneSystem
        For series of the order `ORDER`.
    expand : tuple of BallTape
        From a point to its Taylor coefficients.
    newton : BallTape
        A Newton step.
    """

    slots: LaneSystem
    expand: tuple[BallTape, ...]
    newton: BallTape

    @classmethod
    def of(cls, o: LaneSystem) -> PreciseSystem:
        """Prepare a system."""
        orders = [o.orders[0] + order * o.orders[1] for order in range(2, ORDER + 1)]
        expand = tuple(BallTape(table) for table in (o.point[0], o.series[0], *orders))
        return cls(o, expand, BallTape(o.newton[0]))


def follow_precisely(
    system: PreciseSystem,
    corners: Sequence[Callable[[], Sequence[acb]]],
    t: float,
    x: Sequence[acb],
    far: float,
) -> list[acb] | None:
    """Track a root to the end of a polygon of parameters, with more bits where it needs them.

    The precision of python-flint is afterwards that of the result.

    Parameters
    ----------
    system : PreciseSystem
    corners : sequence of callables
        Each returns a parameter vector, at the present precision.
    t : float
        Where the path begins on the first line, in [0, 1).
    x : sequence of acb
        Approximate coordinates there.
    far : float
        A path on which an unknown becomes larger is given up.

    Returns
    -------
    list of acb or None
        Coordinates at the last corner; None if the path is lost again.
    """
    left, leg, point = 1.0 - t, 0, list(x)
    for bits in _BITS:
        ctx.prec = bits
        while True:
            line = PreciseLine(system, corners[leg](), corners[leg + 1]())
            left, point = line.follow(left, point, far)
            if left > 0.0:
                break
            if leg + 2 == len(corners):
                return point
            leg, left = leg + 1, 1.0
    return None


class PreciseLine:
    """A system along a line of parameters; a place is given by `left`, the distance from its end.

    Parameters are ``second + left (first - second)``, since `left` may be tiny near the end.
    """

    def __init__(self, system: PreciseSystem, first: Sequence[acb], second: Sequence[acb]) -> None:
        self._tapes = system
        o = self.system = system.slots
        self._slots = [acb(0)] * o.slots
        self._slots[o.base : o.base + o.parameters] = second
        self._slots[o.slope : o.slope + o.parameters] = [
            (a - b).mid() for a, b in zip(first, second, strict=True)
        ]
        self._slots[o.scale : o.scale + o.size] = [ONE] * o.size
        self._solvers: dict[int, Any] = {}
        self._groups: list[int] = o.groups.tolist()
        self._floors: list[float] = np.sqrt(o.floors).tolist()

    def follow(self, left: float, guess: list[acb], far: float) -> tuple[float, list[acb]]:
        """Track as far as this precision allows; returns `left`, 0 at the end, and the point."""
        x = self.correct(left, guess, _ENTRY)
        if x is None:
            return left, guess
        halvings = 0
        for _ in range(_MOST_STEPS):
            if left == 0.0 or max(float(abs(z)) for z in x[: self.system.unknowns]) > far:
                break
            check_time()
            fraction = self._fraction(self.expand(left, x))
            step = min(left, fraction.reach)
            while True:
                aim = 0.0 if step >= 0.9 * left else left - step
                found = self.correct(aim, fraction.at(left - aim), _BASIN)
                if found is not None:
                    break
                halvings += 1
                step = (left - aim) * 0.5
                if step < _SHORTEST * left or halvings > _MOST_HALVINGS:
                    return left, x
            left, x = aim, found
        return left, x

    def correct(self, left: float, guess: Sequence[acb], basin: float) -> list[acb] | None:
        """Newton's method; None if the first step is larger than `basin` or if it fails."""
        o, last, goal = self.system, np.inf, 2.0 ** (-_GOAL * ctx.prec)
        self._slots[o.new : o.new + o.size] = guess
        for sweep in range(12):
            try:
                self._run(self._tapes.newton, left)
            except ZeroDivisionError:
                return None
            x = self._slots[o.new : o.new + o.size]
            size = self._size(self._slots[o.step : o.step + o.size], x)
            if not np.isfinite(size) or (sweep == 0 and size > basin):
                return None
            if size < goal:
                return x
            if sweep > 1 and size > 0.3 * last:
                return None
            last = size
        return None

    def expand(self, left: float, x: Sequence[acb]) -> list[list[acb]]:
        """Taylor coefficients 0 … `ORDER` of the coordinates as functions of `left`."""
        o = self.system
        self._slots[o.x : o.x + o.size] = x
        for tape in self._tapes.expand:
            self._run(tape, left)
        places = (o.x + order * o.size for order in range(ORDER + 1))
        return [self._slots[at : at + o.size] for at in places]

    def _fraction(self, series: list[list[acb]]) -> _Fraction:
        """Fractions with these Taylor coefficients."""
        unit = 1.0
        for order in (ORDER - 1, ORDER):
            size = self._size(series[order], series[0])
            unit = min(unit, (_AIM / (size + 1e-300)) ** (1.0 / order))
        factor = acb(1)
        for terms in series:
            terms[:] = [(z * factor).mid() for z in terms]
            factor *= -unit
        sizes = np.array([self._units(series[0])[g] if g >= 0 else np.inf for g in self._groups])
        last = np.array([[complex(z) for z in terms] for terms in series[-_USED:]]) / sizes
        return _Fraction.of(series, last, unit)

    def _run(self, tape: BallTape, left: float) -> None:
        tape.run(self._slots, t=arb(left), solvers=self._solvers, points=True)

    def _units(self, x: Sequence[acb]) -> list[float]:
        """The size of the largest coordinate of each group."""
        units = list(self._floors)
        for g, z in zip(self._groups, x, strict=True):
            if g >= 0:
                units[g] = max(units[g], float(abs(z).mid()))
        return units

    def _size(self, change: Sequence[acb], x: Sequence[acb]) -> float:
        """Largest change relative to the largest coordinate of its group."""
        units = self._units(x)
        pairs = zip(self._groups, change, strict=True)
        return max(float(abs(z).mid()) / units[g] for g, z in pairs if g >= 0)


def finish_chain_path(
    of: ParameterSystem,
    first: np.ndarray,
    second: np.ndarray,
    t: float,
    w: np.ndarray,
    states: np.ndarray,
) -> np.ndarray | None:
    """Follow a root of a system from t to 1 on the line between two parameter vectors.

    Matrices condensed to the weights stay small, and the additional digits make up for the
    cancellation in the powers of W; states are unknowns too, since with the weights alone the basin
    of convergence would be too small for the predictor.

    Parameters
    ----------
    of : ParameterSystem
    first, second : ndarray of complex
        Parameter vectors.
    t : float
        The last t of the path, in [0, 1).
    w : ndarray of complex
        Approximate root there.
    states : ndarray of complex
        The states that are unknowns too (`Tracked.lifts`), of a chain S_1, …, S_K: more accurate
        than those computed from w in double precision.

    Returns
    -------
    ndarray of complex or None
        The endpoint, or None if the path is lost again.
    """
    system = of.once("precise", lambda: PreciseSystem.of(of.lane_system(ORDER, False)))
    start = np.concatenate([w, states])
    saved = ctx.prec
    try:
        corners = [lambda vector=vector: exact(vector) for vector in (first, second)]
        end = follow_precisely(system, corners, t, exact(start), _FAR)
    finally:
        ctx.prec = saved
    if end is None:
        return None
    return np.array([complex(float(z.real.mid()), float(z.imag.mid())) for z in end[: len(w)]])


def exact(values: np.ndarray) -> list[acb]:
    """Doubles as exact balls."""
    return [acb(z.real, z.imag) for z in np.asarray(values, complex).tolist()]


@dataclass(frozen=True)
class _Fraction:
    """All coordinates as fractions with one denominator.

    Attributes
    ----------
    top : list of list of acb
        Coefficients of the numerators, one list for each order.
    bottom : list of acb
        Those of the denominator.
    unit : float
        The variable is the distance from the point, towards the end, divided by this number.
    reach : float
        The distance up to which the fractions are good.
    """

    top: list[list[acb]]
    bottom: list[acb]
    unit: float
    reach: float

    @classmethod
    def of(cls, series: list[list[acb]], last: np.ndarray, unit: float) -> _Fraction:
        """Fractions with given Taylor coefficients.

        The coefficients of the two highest orders of the numerators are made as small as possible
        and kept; the sizes of the three orders below tell how fast they decrease.

        Parameters
        ----------
        series : list of list of acb
        last : ndarray of complex, shape (_USED, ·)
            The coefficients of the highest orders, relative to the sizes of their coordinates.
        unit : float
        """
        # Row k: the coefficients of which that of the numerator of order K - k is a sum.
        rows = [last[_USED - 1 - k - _DEGREE : _USED - k][::-1] for k in range(_USED - _DEGREE)]
        fitted = np.concatenate(rows[:2], axis=1).T
        weight = np.linalg.norm(fitted[:, 1:], axis=0) + 1e-300
        matrix = np.concatenate([fitted[:, 1:] / weight, _RIDGE * np.eye(_DEGREE)])
        right = np.concatenate([-fitted[:, 0], np.zeros(_DEGREE)])
        c = np.concatenate([[1.0], np.linalg.lstsq(matrix, right, rcond=None)[0] / weight])
        first, *_, third, fourth, fifth = (float(np.abs(c @ row).max()) + 1e-300 for row in rows)
        growth = max(third / fourth, (third / fifth) ** 0.5)
        error = max(third * growth**3, first)
        reach = (_AIM / error) ** (1.0 / (len(series)))
        while reach > _LEAST and abs(np.polyval(c[::-1], reach)) < _LEAST:
            reach *= 0.8
        bottom = exact(c)
        top = [
            [
                sum((bottom[i] * y for i, y in enumerate(own) if i), own[0]).mid()
                for own in zip(*series[max(0, order - _DEGREE) : order + 1][::-1], strict=True)
            ]
            for order in range(len(series))
        ]
        return cls(top, bottom, unit, reach * unit)

    def at(self, step: float) -> list[acb]:
        """The coordinates at a distance from the point."""
        h, total, bottom = acb(step) / self.unit, self.top[-1], acb(0)
        for terms in self.top[-2::-1]:
            total = [(a * h + z).mid() for a, z in zip(total, terms, strict=True)]
        for z in reversed(self.bottom):
            bottom = bottom * h + z
        return [(z / bottom).mid() for z in total]
