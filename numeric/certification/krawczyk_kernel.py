"""Krawczyk's test, compiled: one driver for any system of equations.

`prove_all` uses only the values and the Jacobian of a system, at points and over polydiscs, by
tapes that run in discs (`numeric.equations.discs.run_discs`): those of the equations of a chain,
whose unknowns are the weights w, or of its lifted equations, whose unknowns are the states and w.
With weights of size R the equations in the weights alone have a condition number near R^K; the
lifted ones are bilinear and as well conditioned as the problem itself, and their Jacobian consists
of unknowns and data, so that its discs are exact.  The (real) roots of both correspond.

A proof rests on the last inclusion only (for the argument see `numeric.certification.krawczyk`):
where Newton's method starts, how often the inverse is computed and when it stops affect whether a
proof is found, never whether it is valid.  So these rules are chosen for few steps, and no bound on
the last step is required before the test.

A root is classified as real or non-real by its weights, in both systems: they determine the
root, and the states of real weights are real.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from numeric.equations.discs import OPTIONS, TINY, UNIT, Discs, make_discs, run_discs, size_up
from numeric.kernels import INNER, njit

if TYPE_CHECKING:
    from numeric.equations.system_forms import EquationTapes

FAILED, REAL, NONREAL = 0, 1, 2

_NEWTON = 10
# Relative steps: Newton's method has reached double precision; the present inverse is accurate
# enough; a step that decreases by less than a factor of ten is rounding error.
_END = 1e-13
_SQUARED = 1e-9
_KEEP = 1e-10
_NEAR = 1e-7


class DiscSystem(NamedTuple):
    """The equations of one instance.

    Attributes
    ----------
    tapes : EquationTapes
    x : Discs
        All slots.
    f : Discs
        Minus the values of the n equations, a view.
    J : Discs
        Their Jacobian, n×n, a view.
    """

    tapes: EquationTapes
    x: Discs
    f: Discs
    J: Discs


class KrawczykBuffers(NamedTuple):
    """Arrays of the test: vectors (n,) and matrices (n, n).

    Attributes
    ----------
    x, centre : ndarray of complex
        Newton's current point; the centre of the polydisc tested.
    rho, step, zero : ndarray of float
        The polydisc's radii; bounds of ``|C F|``; zeros.
    C : ndarray of complex
        An approximate inverse of the Jacobian.
    work : ndarray of complex
    row : ndarray of complex, shape (n,)
    slack : ndarray of float
    columns : ndarray of int, shape (n, n + 1)
    """

    x: np.ndarray
    centre: np.ndarray
    rho: np.ndarray
    step: np.ndarray
    zero: np.ndarray
    C: np.ndarray
    work: np.ndarray
    row: np.ndarray
    slack: np.ndarray
    columns: np.ndarray


def make_disc_system(tapes: EquationTapes, parameters: Discs) -> DiscSystem:
    """The equations for a parameter vector of discs."""
    x, n = make_discs(tapes.slots), len(tapes.places)
    x.mid[: len(parameters.mid)] = parameters.mid
    x.rad[: len(parameters.rad)] = parameters.rad
    f, J = slice(tapes.f, tapes.f + n), slice(tapes.jacobian, tapes.jacobian + n * n)
    return DiscSystem(
        tapes, x, Discs(x.mid[f], x.rad[f]),
        Discs(x.mid[J].reshape(n, n), x.rad[J].reshape(n, n)),
    )  # fmt: skip


def make_krawczyk_buffers(n: int) -> KrawczykBuffers:
    """Arrays for n unknowns."""
    return KrawczykBuffers(
        np.zeros(n, complex), np.zeros(n, complex), np.zeros(n), np.zeros(n), np.zeros(n),
        np.zeros((n, n), complex), np.zeros((n, n), complex), np.zeros(n, complex),
        np.zeros((n, n)), np.zeros((n, n + 1), np.int64),
    )  # fmt: skip


@njit(**OPTIONS, **INNER)
def _evaluate(system, x, rho, derivative):
    """The equations over the polydisc around x with radii rho, and the Jacobian if requested.

    False if a tape has no enclosure.
    """
    places = system.tapes.places
    for v in range(len(x)):
        system.x.mid[places[v]] = x[v]
        system.x.rad[places[v]] = rho[v]
    good = run_discs(system.x, system.tapes.values)
    if derivative:
        good = good and run_discs(system.x, system.tapes.derivatives)
    return good


@njit(inline="always", **OPTIONS)
def _begin(system, x, roots, number):
    """Newton's start: the weights and the states computed from them; False if not finite."""
    states, places = system.tapes.states, system.tapes.places
    for v in range(roots.shape[1]):
        root = roots[number, v]
        if not (np.isfinite(root.real) and np.isfinite(root.imag)):
            return False
        system.x.mid[places[states + v]] = root
        system.x.rad[places[states + v]] = 0.0
    if not run_discs(system.x, system.tapes.begin):
        return False
    for v in range(len(x)):
        x[v] = system.x.mid[places[v]]
    return True


@njit(inline="always", **OPTIONS)
def _newton(system, buffers):
    """Newton's method to the limit of double precision; False if it breaks down."""
    x, C, f = buffers.x, buffers.C, system.f.mid
    n = len(x)
    last = np.inf
    for sweep in range(_NEWTON):
        renew = last > _KEEP
        if not _evaluate(system, x, buffers.zero, renew):
            return False
        if renew and not approximate_inverse(system.J.mid, C, buffers.work):
            return False
        largest = 0.0
        for v in range(n):
            delta = 0j
            for e in range(n):
                delta += C[v, e] * f[e]
            x[v] += delta
            size = abs(delta) / (abs(x[v]) + 1e-3)
            # NaN must not count as small.
            largest = size if not size <= largest else largest
        if not np.isfinite(largest):
            return False
        # With a new inverse the error after a step is about the square of the step.
        if largest < _END or (renew and largest < _SQUARED):
            return True
        if largest < _NEAR and largest > 0.1 * last:
            return True
        if sweep > 3 and largest > 0.5 * last:
            return True
        last = largest
    return True


@njit(inline="always", **OPTIONS)
def _holds_one_root(system, buffers):
    """Whether some polydisc around the centre, with its radii in rho, holds exactly one root."""
    centre, rho, step = buffers.centre, buffers.rho, buffers.step
    # First the point itself for |C F|, then two polydiscs.
    for factor in (0.0, 2.0, 16.0):
        for v in range(len(rho)):
            rho[v] = factor * step[v] + 1e-16 * abs(centre[v]) if factor > 0.0 else 0.0
        if not _evaluate(system, centre, rho, factor > 0.0):
            return False
        if factor == 0.0:
            newton_step(buffers.C, system.f, step)
        elif contracts(buffers, system.J):
            return True
    return False


@njit(inline="always", **OPTIONS)
def _looks_real(x, first):
    most = 0.0
    for v in range(first, len(x)):
        most = max(most, abs(x[v].imag) / (abs(x[v]) + 1e-2))
    return most <= 1e-7


@njit(inline="always", **OPTIONS)
def _kind(system, buffers):
    """The proved kind of the root near x; its polydisc goes to centre and rho."""
    x, centre, rho, first = buffers.x, buffers.centre, buffers.rho, system.tapes.states
    # A root that looks real is first tested as a real one.
    for as_real in (True, False):
        if as_real and not _looks_real(x, first):
            continue
        for v in range(len(x)):
            centre[v] = complex(x[v].real, 0.0) if as_real else x[v]
        if not _holds_one_root(system, buffers):
            continue
        if as_real:
            return REAL
        for v in range(first, len(x)):
            if abs(centre[v].imag) > rho[v]:
                return NONREAL
    return FAILED


@njit(**OPTIONS)
def prove_all(system, buffers, parameters, first, roots, kind, radii):
    """Test the roots of instances whose kind is `FAILED`, with one system.

    Parameters
    ----------
    system : DiscSystem
        Its parameters are overwritten.
    buffers : KrawczykBuffers
    parameters : Discs, shape (instances, size)
        Parameter vectors.
    first : ndarray of int, shape (instances + 1,)
        Where the roots of each instance begin.
    roots : ndarray of complex, shape (·, r)
        Approximate roots of all instances one after the other; if the test succeeds, the
        polydisc's centre.
    kind : ndarray of int, shape (·,)
        Set to `REAL` or `NONREAL`.
    radii : ndarray of float, shape (·, r)
        Set if the test succeeds.
    """
    for k in range(len(parameters.mid)):
        for v in range(parameters.mid.shape[1]):
            system.x.mid[v] = parameters.mid[k, v]
            system.x.rad[v] = parameters.rad[k, v]
        for number in range(first[k], first[k + 1]):
            if kind[number] != FAILED or not _begin(system, buffers.x, roots, number):
                continue
            if not _newton(system, buffers):
                continue
            found = _kind(system, buffers)
            if found != FAILED:
                kind[number] = found
                for v in range(roots.shape[1]):
                    roots[number, v] = buffers.centre[system.tapes.states + v]
                    radii[number, v] = buffers.rho[system.tapes.states + v]


@njit(inline="always", **OPTIONS)
def approximate_inverse(J, C, work):
    """Gauss-Jordan inverse of J into C; False if a pivot vanishes.  Not rigorous."""
    r = len(J)
    for i in range(r):
        for j in range(r):
            work[i, j] = J[i, j]
            C[i, j] = 0j
        C[i, i] = 1.0 + 0j
    for k in range(r):
        best = -1.0
        pivot = k
        for i in range(k, r):
            size = abs(work[i, k].real) + abs(work[i, k].imag)
            if size > best:
                best = size
                pivot = i
        if not best > 0.0 or not np.isfinite(best):
            return False
        if pivot != k:
            for j in range(r):
                work[k, j], work[pivot, j] = work[pivot, j], work[k, j]
                C[k, j], C[pivot, j] = C[pivot, j], C[k, j]
        inverse = 1.0 / work[k, k]
        for j in range(k, r):
            work[k, j] *= inverse
        for j in range(r):
            C[k, j] *= inverse
        for i in range(r):
            f = work[i, k]
            if i == k or (f.real == 0.0 and f.imag == 0.0):
                continue
            for j in range(k, r):
                work[i, j] -= f * work[k, j]
            for j in range(r):
                C[i, j] -= f * C[k, j]
    return True


@njit(inline="always", **OPTIONS)
def newton_step(C, f, step):
    """Upper bounds of ``|C F|`` for F in the discs f, into step."""
    n = len(step)
    grow = 1.0 + (8.0 * n + 64.0) * UNIT
    for v in range(n):
        total = 0.0
        delta = 0j
        mass = 0.0
        for e in range(n):
            c = C[v, e]
            if c.real == 0.0 and c.imag == 0.0:
                continue
            delta += c * f.mid[e]
            size = size_up(c)
            total += size * f.rad[e]
            mass += size * size_up(f.mid[e])
        total += size_up(delta)
        total += (2.0 * n + 10.0) * UNIT * mass
        step[v] = total * grow + TINY


@njit(inline="always", **OPTIONS)
def contracts(buffers, J):
    """Whether ``step_i + Σ_j |I - C J|_ij ρ_j < ρ_i`` for every i and every J in its discs.

    Parameters
    ----------
    buffers : KrawczykBuffers
        C, rho and step are input; row, slack and columns are overwritten.
    J : Discs, shape (n, n)
    """
    C, rho, step = buffers.C, buffers.rho, buffers.step
    row, slack, columns = buffers.row, buffers.slack, buffers.columns
    n = len(rho)
    grow = 1.0 + (8.0 * n + 64.0) * UNIT
    # Bounds of what a disc of J and the rounding of its products may add, and J's non-zeros.
    for e in range(n):
        count = 0
        for j in range(n):
            y = J.mid[e, j]
            if y.real != 0.0 or y.imag != 0.0 or J.rad[e, j] != 0.0:
                slack[e, j] = J.rad[e, j] + (2.0 * n + 12.0) * UNIT * size_up(y)
                columns[e, count] = j
                count += 1
        columns[e, n] = count
        # Only Σ_j slack_ej ρ_j is needed.
        total = 0.0
        for q in range(count):
            total += slack[e, columns[e, q]] * rho[columns[e, q]]
        slack[e, 0] = total * grow
    for i in range(n):
        for j in range(n):
            row[j] = 0j
        total = 0.0
        for e in range(n):
            c = C[i, e]
            if c.real == 0.0 and c.imag == 0.0:
                continue
            total += size_up(c) * slack[e, 0]
            for q in range(columns[e, n]):
                j = columns[e, q]
                row[j] += c * J.mid[e, j]
        total *= grow
        # The subtraction of 1 on the diagonal rounds once.
        row[i] -= 1.0
        total += 4.0 * UNIT * rho[i]
        for j in range(n):
            total += size_up(row[j]) * rho[j]
        if not (total * grow + step[i]) * grow < rho[i]:
            return False
    return True


@njit(**OPTIONS, **INNER)
def _first_overlap(roots, radii, k, mirrored, more, more_radii, begin, end):
    """Index in `more` of a polydisc that may meet that of root k or of its mirror image, or -1.

    Indices from `begin` to `end` - 1 are searched.
    """
    for b in range(begin, end):
        apart = False
        for v in range(roots.shape[1]):
            re = roots[k, v].real - more[b, v].real
            im = (-roots[k, v].imag if mirrored else roots[k, v].imag) - more[b, v].imag
            size = np.sqrt(re * re + im * im)
            if size * (1.0 - 16.0 * UNIT) > (radii[k, v] + more_radii[b, v]) * (1.0 + 4.0 * UNIT):
                apart = True
                break
        if not apart:
            return b
    return -1


@njit(**OPTIONS)
def overlaps(roots, radii, more, more_radii, out):
    """Set `out` to the index in `more` of a polydisc that may meet that of each root, or to -1."""
    for a in range(len(roots)):
        out[a] = _first_overlap(roots, radii, a, False, more, more_radii, 0, len(more))


@njit(**OPTIONS)
def pool_roots(first, roots, radii, kind, pool, pool_radii, is_real, counts, new):
    """Add roots to pools whose polydiscs are disjoint, each if it is disjoint from all in its pool.

    Conjugates of non-real roots follow after all roots, so that the endpoint of a path itself
    counts as new.

    Parameters
    ----------
    first : ndarray of int, shape (pools + 1, 2)
        Where the roots of each pool begin, and where the pool does.
    roots, radii, kind : ndarray
        Roots of kind `FAILED` are ignored.
    pool, pool_radii, is_real : ndarray
        The pools, each with places for twice as many more.
    counts : ndarray of int, shape (pools,)
        Numbers of roots in the pools; updated.
    new : ndarray of bool
        Output: which roots were added.
    """
    for p in range(len(counts)):
        begin = first[p, 1]
        end = begin + counts[p]
        for mirrored in (False, True):
            for k in range(first[p, 0], first[p + 1, 0]):
                if kind[k] == FAILED or (mirrored and kind[k] != NONREAL):
                    continue
                if _first_overlap(roots, radii, k, mirrored, pool, pool_radii, begin, end) >= 0:
                    continue
                for v in range(roots.shape[1]):
                    z = roots[k, v]
                    pool[end, v] = complex(z.real, -z.imag) if mirrored else z
                    pool_radii[end, v] = radii[k, v]
                is_real[end] = kind[k] == REAL
                end += 1
                if not mirrored:
                    new[k] = True
        counts[p] = end - begin


@njit(**OPTIONS)
def conjugate_partners(first, roots, partner, unit):
    """Index of an earlier root of its instance that seems to be the conjugate of each root, or -1.

    Parameters
    ----------
    first : ndarray of int, shape (instances + 1,)
        Where the roots of each instance begin.
    roots : ndarray of complex, shape (·, r)
    partner : ndarray of int, shape (·,)
        Output.
    unit : ndarray of float, shape (·,)
        Overwritten.
    """
    count, r = roots.shape
    for i in range(count):
        largest, total = 0.0, 0.0
        for v in range(r):
            largest = max(largest, abs(roots[i, v]))
            total += abs(roots[i, v])
        # A root that was not found has no partner.
        unit[i] = largest + 1e-3 if np.isfinite(total) else np.nan
        partner[i] = -1
    for k in range(len(first) - 1):
        for i in range(first[k], first[k + 1]):
            for j in range(first[k], i):
                limit = 1e-7 * min(unit[i], unit[j]) if unit[i] + unit[j] > 0.0 else 0.0
                near = bool(limit > 0.0)
                v = 0
                while near and v < r:
                    near = abs(roots[i, v] - np.conj(roots[j, v])) < limit
                    v += 1
                if near:
                    # Only the first that is near counts, and only if it has no partner itself.
                    if partner[j] < 0:
                        partner[i] = j
                    break
