"""Krawczyk's test in pairs, compiled: see `numeric.certification.krawczyk_pairs`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

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
from numeric.equations.lanes.linalg import power_of_two
from numeric.equations.pairs import (
    IM,
    IM_LOW,
    PAIR_UNIT,
    RADIUS,
    RE,
    RE_LOW,
    SIZE,
    add_pairs,
    dot_add_pair_discs,
    multiply_pairs,
    run_pair_discs,
    set_size,
)
from numeric.kernels import INNER, njit

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
# Typed, because numba compiles a function once more for each literal.
_NO: Any = np.bool_(False)
_YES: Any = np.bool_(True)
_ADJACENT: Any = np.int64(1)


class PairSystem(NamedTuple):
    """The equations of one instance.

    Attributes
    ----------
    tapes : EquationTapes
    x : ndarray of float, shape (slots + n² + n, 6)
        All slots, in pairs; then those of an approximate inverse and of a row of products.
    discs : Discs
        All slots, in doubles.
    J : Discs
        The Jacobian, n×n, a view of `discs`.
    f : Discs
        Minus the values of the n equations, rounded to doubles.
    scaled : ndarray of complex, shape (n, n)
        An array for the scaled Jacobian.
    work : ndarray of float, shape (n, 2 n, 4)
        An array for the elimination in pairs.
    low, centre_low : ndarray of complex, shape (n,)
        Low parts of Newton's point and of the centre of the polydisc.
    inverse : int
        Slot of the inverse in pairs, row by row; the row of products follows it.
    """

    tapes: EquationTapes
    x: np.ndarray
    discs: Discs
    J: Discs
    f: Discs
    scaled: np.ndarray
    work: np.ndarray
    low: np.ndarray
    centre_low: np.ndarray
    inverse: int


@njit(**OPTIONS, **INNER)
def _evaluate(system, unit, x, low, rho, derivative, precise):
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
    if derivative and precise:
        good = good and run_pair_discs(system.x, tapes.derivatives, unit)
    elif derivative:
        # The Jacobian follows all other slots.
        for at in range(tapes.f):
            system.discs.mid[at] = complex(system.x[at, RE], system.x[at, IM])
            low_part = abs(system.x[at, RE_LOW]) + abs(system.x[at, IM_LOW])
            system.discs.rad[at] = (system.x[at, RADIUS] + low_part) * (1.0 + 8.0 * UNIT)
        good = good and run_discs(system.discs, tapes.derivatives)
    return good


@njit(**OPTIONS, **INNER)
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


@njit(inline="always", **OPTIONS)
def _multiply(x, y):
    """The product of complex numbers in pairs: (real part, its low part, imaginary part, low)."""
    re, re_low = multiply_pairs(x[0], x[1], y[0], y[1])
    high, low = multiply_pairs(x[2], x[3], y[2], y[3])
    re, re_low = add_pairs(re, re_low, -high, -low)
    im, im_low = multiply_pairs(x[0], x[1], y[2], y[3])
    high, low = multiply_pairs(x[2], x[3], y[0], y[1])
    im, im_low = add_pairs(im, im_low, high, low)
    return re, re_low, im, im_low


@njit(**OPTIONS, **INNER)
def _inverse(x):
    """The inverse of a complex number in pairs: a step of Newton's method from that in doubles."""
    y = 1.0 / complex(x[0], x[2])
    found = _multiply(x, (y.real, 0.0, y.imag, 0.0))
    rest = y * complex((1.0 - found[0]) - found[1], -found[2])
    re, re_low = add_pairs(y.real, 0.0, rest.real, 0.0)
    im, im_low = add_pairs(y.imag, 0.0, rest.imag, 0.0)
    return re, re_low, im, im_low


@njit(**OPTIONS, **INNER)
def _eliminate(A, k, pivot):
    """Divide row k of ``[J, I]`` by its entry in column k and subtract its multiples from others.

    First it is swapped with the row `pivot`.
    """
    n = len(A)
    for j in range(2 * n if pivot != k else 0):
        for part in range(4):
            A[k, j, part], A[pivot, j, part] = A[pivot, j, part], A[k, j, part]
    inverse = _inverse((A[k, k, 0], A[k, k, 1], A[k, k, 2], A[k, k, 3]))
    for j in range(k + 1, 2 * n):
        x = A[k, j]
        x[0], x[1], x[2], x[3] = _multiply((x[0], x[1], x[2], x[3]), inverse)
    for i in range(n):
        factor = (A[i, k, 0], A[i, k, 1], A[i, k, 2], A[i, k, 3])
        if i == k or (factor[0] == 0.0 and factor[2] == 0.0):
            continue
        for j in range(k + 1, 2 * n):
            x, to = A[k, j], A[i, j]
            if x[0] != 0.0 or x[2] != 0.0:
                re, re_low, im, im_low = _multiply((x[0], x[1], x[2], x[3]), factor)
                to[0], to[1] = add_pairs(to[0], to[1], -re, -re_low)
                to[2], to[3] = add_pairs(to[2], to[3], -im, -im_low)


@njit(**OPTIONS, **INNER)
def _invert_in_pairs(system, buffers):
    """`_invert` in pairs: Gauss-Jordan elimination, scaled by powers of two.  Not rigorous."""
    x, A, at = buffers.x, system.work, system.tapes.jacobian
    n = len(x)
    rows, columns = buffers.step, buffers.rho
    A[:] = 0.0
    for j in range(n):
        columns[j] = power_of_two(max(abs(x[j]), 1e-8))
    for i in range(n):
        largest = 0.0
        for j in range(n):
            for part in range(4):
                A[i, j, part] = system.x[at + i * n + j, part] * columns[j]
            largest = max(largest, abs(A[i, j, 0]) + abs(A[i, j, 2]))
        if not largest > 0.0 or not np.isfinite(largest):
            return False
        rows[i] = 1.0 / power_of_two(largest)
        for j in range(n):
            for part in range(4):
                A[i, j, part] *= rows[i]
        A[i, n + i, 0] = rows[i]
    for k in range(n):
        best, pivot = -1.0, k
        for i in range(k, n):
            size = abs(A[i, k, 0]) + abs(A[i, k, 2])
            if size > best:
                best, pivot = size, i
        if not best > 0.0 or not np.isfinite(best):
            return False
        _eliminate(A, k, pivot)
    for i in range(n):
        for j in range(n):
            to = system.inverse + i * n + j
            for part in range(4):
                system.x[to, part] = A[i, n + j, part] * columns[i]
            system.x[to, RADIUS] = 0.0
            set_size(system.x, to)
    return True


@njit(**OPTIONS, **INNER)
def _newton_step(system, buffers, unit, v, precise):
    """Component v of a step of Newton's method, as real and imaginary pairs."""
    n = len(buffers.x)
    if precise:
        to = system.inverse + n * n
        system.x[to] = 0.0
        dot_add_pair_discs(
            system.x, to, system.inverse + v * n, _ADJACENT, system.tapes.f, _ADJACENT, n, unit
        )
        step = system.x[to]
        return complex(step[RE], step[IM]), complex(step[RE_LOW], step[IM_LOW])
    delta = 0j
    for e in range(n):
        delta += buffers.C[v, e] * system.f.mid[e]
    return delta, 0j


@njit(**OPTIONS, **INNER)
def _newton(system, buffers, unit, precise):
    """Newton's method to the limit of pairs; False if it does not converge."""
    x, low = buffers.x, system.low
    n = len(x)
    last = np.inf
    for sweep in range(_NEWTON):
        renew = last > _KEEP
        if not _evaluate(system, unit, x, low, buffers.zero, renew, precise):
            return False
        if renew and not (
            _invert_in_pairs(system, buffers) if precise else _invert(system, buffers)
        ):
            return False
        largest = 0.0
        for v in range(n):
            delta, rest = _newton_step(system, buffers, unit, v, precise)
            re, re_low = add_pairs(x[v].real, low[v].real, delta.real, rest.real)
            im, im_low = add_pairs(x[v].imag, low[v].imag, delta.imag, rest.imag)
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


@njit(**OPTIONS, **INNER)
def _contracts_in_pairs(system, buffers, unit):
    """`contracts` with an inverse and a Jacobian in pairs.

    The entries of ``I - C J`` are enclosed like all sums of products.
    """
    x, rho, n = system.x, buffers.rho, len(buffers.rho)
    C, J, to = system.inverse, system.tapes.jacobian, system.inverse + n * n
    for i in range(n):
        # C J - I instead.
        for j in range(n):
            x[to + j] = 0.0
        x[to + i, RE], x[to + i, SIZE] = -1.0, 1.0
        total = 0.0
        for j in range(n):
            dot_add_pair_discs(x, to + j, C + i * n, _ADJACENT, J + j, n, n, unit)
            total += (x[to + j, SIZE] + x[to + j, RADIUS]) * rho[j]
        if not (total + buffers.step[i]) * (1.0 + (4.0 * n + 16.0) * UNIT) < rho[i]:
            return False
    return True


@njit(**OPTIONS, **INNER)
def _holds_one_root(system, buffers, unit, precise):
    """Whether some polydisc around the centre, with its radii in rho, holds exactly one root."""
    centre, low, rho, step = buffers.centre, system.centre_low, buffers.rho, buffers.step
    n = len(rho)
    if not _evaluate(system, unit, centre, low, buffers.zero, _NO, precise):
        return False
    if precise:
        to = system.inverse + n * n
        for v in range(n):
            _newton_step(system, buffers, unit, v, _YES)
            step[v] = (system.x[to, SIZE] + system.x[to, RADIUS]) * (1.0 + 4.0 * UNIT)
    else:
        newton_step(buffers.C, system.f, step)
    for factor in (2.0, 16.0):
        for v in range(n):
            rho[v] = factor * step[v] + UNIT * PAIR_UNIT * abs(centre[v])
        if not _evaluate(system, unit, centre, low, rho, _YES, precise):
            return False
        if precise:
            if _contracts_in_pairs(system, buffers, unit):
                return True
        elif contracts(buffers, system.J):
            return True
    return False


@njit(**OPTIONS, **INNER)
def _kind(system, buffers, weights, unit, precise):
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
        if not _holds_one_root(system, buffers, unit, precise):
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
        # First with an inverse in doubles, which is ten times as fast.
        for precise in (False, True):
            if not finite or kind[number] != FAILED:
                continue
            for v in range(n):
                buffers.x[v], system.low[v] = roots[number, v], lows[number, v]
            if not _newton(system, buffers, unit, precise):
                continue
            # Where the condition is large an inverse at a point 10^-6 away proves nothing.
            if precise and not (
                _evaluate(system, unit, buffers.x, system.low, buffers.zero, _YES, _YES)
                and _invert_in_pairs(system, buffers)
            ):
                continue
            kind[number] = _kind(system, buffers, weights, unit, precise)
        if kind[number] != FAILED:
            for v in range(n):
                low = system.centre_low[v]
                roots[number, v] = buffers.centre[v]
                radii[number, v] = (buffers.rho[v] + size_up(low)) * (1.0 + 4.0 * UNIT)
