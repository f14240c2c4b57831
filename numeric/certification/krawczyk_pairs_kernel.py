"""Krawczyk's test in pairs, compiled: see `numeric.certification.krawczyk_pairs`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from numeric.certification.krawczyk_kernel import (
    FAILED,
    NONREAL,
    REAL,
    approximate_inverse,
    contracts,
    newton_step,
)
from numeric.equations.discs import OPTIONS, TINY, UNIT, Discs, run_discs, size_up
from numeric.equations.pairs import (
    IM,
    IM_LOW,
    PAIR_UNIT,
    RADIUS,
    RE,
    RE_LOW,
    add_pairs,
    run_pair_discs,
    set_size,
)
from numeric.kernels import njit

if TYPE_CHECKING:
    from numeric.equations.system_forms import EquationTapes

_NEWTON = 12
# Relative steps of Newton's method: the limit of pairs; the inverse is kept; a step that no longer
# decreases by a factor of ten is rounding error; the largest last step of a root worth testing.
_END = 1e-29
_KEEP = 1e-6
_NEAR = 1e-17
_WORTH = 1e-9
# Relative imaginary part below which a root is first tested as a real one.
_LOOKS_REAL = 1e-7


class PairSystem(NamedTuple):
    """The equations of one instance.

    Attributes
    ----------
    tapes : EquationTapes
    x : ndarray of float, shape (slots, 6)
        All slots, in pairs.
    discs : Discs
        All slots, in doubles.
    J : Discs
        The Jacobian, n×n, a view of `discs`.
    f : Discs
        Minus the values of the n equations, rounded to doubles.
    scaled : ndarray of complex, shape (n, n)
        An array for the scaled Jacobian.
    low, centre_low : ndarray of complex, shape (n,)
        Low parts of Newton's point and of the centre of the polydisc.
    """

    tapes: EquationTapes
    x: np.ndarray
    discs: Discs
    J: Discs
    f: Discs
    scaled: np.ndarray
    low: np.ndarray
    centre_low: np.ndarray


@njit(**OPTIONS)
def _evaluate(system, unit, x, low, rho, derivative):
    """The equations over the polydisc around x + low with radii rho, and perhaps the Jacobian.

    False if a tape has no enclosure.
    """
    tapes = system.tapes
    for v in range(len(x)):
        at = tapes.places[v]
        system.x[at, RE], system.x[at, RE_LOW] = x[v].real, low[v].real
        system.x[at, IM], system.x[at, IM_LOW] = x[v].imag, low[v].imag
        system.x[at, RADIUS] = rho[v]
        set_size(system.x, at)
    good = run_pair_discs(system.x, tapes.values, unit)
    for e in range(len(x)):
        at = tapes.f + e
        system.f.mid[e] = complex(system.x[at, RE], system.x[at, IM])
        low_part = abs(system.x[at, RE_LOW]) + abs(system.x[at, IM_LOW])
        system.f.rad[e] = (system.x[at, RADIUS] + low_part) * (1.0 + 8.0 * UNIT) + TINY
    if derivative:
        # The Jacobian follows all other slots.
        for at in range(tapes.f):
            system.discs.mid[at] = complex(system.x[at, RE], system.x[at, IM])
            low_part = abs(system.x[at, RE_LOW]) + abs(system.x[at, IM_LOW])
            system.discs.rad[at] = (system.x[at, RADIUS] + low_part) * (1.0 + 8.0 * UNIT)
        good = good and run_discs(system.discs, tapes.derivatives)
    return good


@njit(**OPTIONS)
def _invert(system, buffers):
    """An approximate inverse of the Jacobian, whose rows and columns are scaled for it."""
    J, C, scaled, x, work = system.J.mid, buffers.C, system.scaled, buffers.x, buffers.work
    n = len(x)
    rows, columns = buffers.step, buffers.rho
    for j in range(n):
        columns[j] = max(abs(x[j]), 1e-8)
    for i in range(n):
        largest = 0.0
        for j in range(n):
            scaled[i, j] = J[i, j] * columns[j]
            largest = max(largest, abs(scaled[i, j].real) + abs(scaled[i, j].imag))
        if not largest > 0.0 or not np.isfinite(largest):
            return False
        rows[i] = 1.0 / largest
        for j in range(n):
            scaled[i, j] *= rows[i]
    if not approximate_inverse(scaled, C, work):
        return False
    for i in range(n):
        for j in range(n):
            C[i, j] *= columns[i] * rows[j]
    return True


@njit(**OPTIONS)
def _newton(system, buffers, unit):
    """Newton's method to the limit of pairs; False if it does not converge."""
    x, low, C, f = buffers.x, system.low, buffers.C, system.f.mid
    n = len(x)
    last = np.inf
    for sweep in range(_NEWTON):
        renew = last > _KEEP
        if not _evaluate(system, unit, x, low, buffers.zero, renew):
            return False
        if renew and not _invert(system, buffers):
            return False
        largest = 0.0
        for v in range(n):
            delta = 0j
            for e in range(n):
                delta += C[v, e] * f[e]
            re, re_low = add_pairs(x[v].real, low[v].real, delta.real, 0.0)
            im, im_low = add_pairs(x[v].imag, low[v].imag, delta.imag, 0.0)
            x[v], low[v] = complex(re, im), complex(re_low, im_low)
            size = abs(delta) / (abs(x[v]) + 1e-8)
            # NaN must not count as small.
            largest = size if not size <= largest else largest
        if not np.isfinite(largest):
            return False
        if largest < _END or (largest < _NEAR and largest > 0.1 * last):
            return True
        if sweep > 3 and largest > 0.5 * last:
            return largest < _WORTH
        last = largest
    return last < _WORTH


@njit(**OPTIONS)
def _holds_one_root(system, buffers, unit):
    """Whether some polydisc around the centre, with its radii in rho, holds exactly one root."""
    centre, low, rho, step = buffers.centre, system.centre_low, buffers.rho, buffers.step
    if not _evaluate(system, unit, centre, low, buffers.zero, False):
        return False
    newton_step(buffers.C, system.f, step)
    for factor in (2.0, 16.0):
        for v in range(len(rho)):
            rho[v] = factor * step[v] + UNIT * PAIR_UNIT * abs(centre[v])
        if not _evaluate(system, unit, centre, low, rho, True):
            return False
        if contracts(buffers, system.J):
            return True
    return False


@njit(**OPTIONS)
def _kind(system, buffers, weights, unit):
    """The proved kind of the root near x; its polydisc goes to centre, centre_low and rho."""
    x, centre, rho, low = buffers.x, buffers.centre, buffers.rho, system.centre_low
    most = 0.0
    for v in range(weights):
        most = max(most, abs(x[v].imag) / (abs(x[v]) + 1e-8))
    # A root that looks real is first tested as a real one.
    for as_real in (True, False):
        if as_real and not most <= _LOOKS_REAL:
            continue
        for v in range(len(x)):
            centre[v] = complex(x[v].real, 0.0) if as_real else x[v]
            low[v] = complex(system.low[v].real, 0.0) if as_real else system.low[v]
        if not _holds_one_root(system, buffers, unit):
            continue
        if as_real:
            return REAL
        for v in range(weights):
            if (abs(centre[v].imag) - abs(low[v].imag)) * (1.0 - 4.0 * UNIT) > rho[v]:
                return NONREAL
    return FAILED


@njit(**OPTIONS)
def prove_pairs(system, buffers, weights, unit, roots, lows, kind, radii):
    """Test approximate roots.

    Parameters
    ----------
    system : PairSystem
    buffers : KrawczykBuffers
    weights : int
        Number of unknowns that are weights, the first ones.
    unit : float
        `numeric.equations.pairs.PAIR_UNIT`.
    roots, lows : ndarray of complex, shape (·, n)
        Approximate roots as pairs; if the test succeeds, high parts of the polydisc's centre.
    kind : ndarray of int, shape (·,)
        Set to `FAILED`, `REAL` or `NONREAL`.
    radii : ndarray of float, shape (·, n)
        Set if the test succeeds: radii about the high parts.
    """
    n = roots.shape[1]
    for number in range(len(roots)):
        kind[number] = FAILED
        finite = True
        for v in range(n):
            finite &= np.isfinite(roots[number, v].real) and np.isfinite(roots[number, v].imag)
            buffers.x[v], system.low[v] = roots[number, v], lows[number, v]
        if not finite or not _newton(system, buffers, unit):
            continue
        kind[number] = _kind(system, buffers, weights, unit)
        if kind[number] != FAILED:
            for v in range(n):
                low = system.centre_low[v]
                roots[number, v] = buffers.centre[v]
                radii[number, v] = (buffers.rho[v] + size_up(low)) * (1.0 + 4.0 * UNIT)
