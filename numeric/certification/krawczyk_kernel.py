"""Krawczyk's test, compiled: one driver for the equations in the weights and the lifted ones.

`prove_all` uses only the residual and the Jacobian of a system, at points and over
polydiscs: those of `numeric.chains.discs`, whose unknowns are the weights w, or those of
`numeric.chains.lifted_discs`, whose unknowns are the states and w.  A proof rests on
the last inclusion only (for the argument see `numeric.certification.krawczyk`): where Newton's
method starts, how often the inverse is computed and when it stops affect whether a proof is
found, never whether it is valid.  So these rules are chosen for few steps, and no bound on the
last step is required before the test.

A root is classified as real or non-real by its weights, in both systems: they determine the
root, and the states of real weights are real.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.chains.discs import (
    OPTIONS,
    TINY,
    UNIT,
    Discs,
    jacobian,
    jacobian_arrays,
    make_discs,
    read_out,
    residual,
    size_up,
    states,
)
from numeric.chains.lifted_discs import lifted_jacobian, lifted_residual
from numeric.chains.table import ChainTable
from numeric.kernels import njit

FAILED, REAL, NONREAL = 0, 1, 2

_NEWTON = 10
# Relative steps: Newton's method has reached double precision; the present inverse is accurate
# enough; a step that decreases by less than a factor of ten is rounding error.
_END, _KEEP, _NEAR = 1e-13, 1e-10, 1e-7


class System(NamedTuple):
    """The equations of one chain, and arrays for them.

    Attributes
    ----------
    chain : ChainTable
    states : int
        Number of unknowns that are states; they precede the weights.
    p, S, Z, Y : Discs
        Parameters, states, the input of D, labels.
    products, adjoints, hidden : Discs
        Arrays for the residual and the Jacobian.
    f : Discs
        Values of the n equations.
    J : Discs
        Their Jacobian, n×n.
    """

    chain: ChainTable
    states: int
    p: Discs
    S: Discs
    Z: Discs
    Y: Discs
    products: Discs
    adjoints: Discs
    hidden: Discs
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


def make_system(t: ChainTable, lifted: bool, p: Discs) -> System:
    """The equations of a chain for a parameter vector p of discs, which is overwritten."""
    states = t.states - int(t.s_at[1]) if lifted else 0
    n = states + t.unknowns
    return System(
        t, states, p, make_discs(t.states), make_discs(t.z_size),
        make_discs(t.labels * t.samples), make_discs(t.states), *jacobian_arrays(t),
        make_discs(n), make_discs(n, n),
    )  # fmt: skip


def make_krawczyk_buffers(n: int) -> KrawczykBuffers:
    """Arrays for n unknowns."""
    return KrawczykBuffers(
        np.zeros(n, complex), np.zeros(n, complex), np.zeros(n), np.zeros(n), np.zeros(n),
        np.zeros((n, n), complex), np.zeros((n, n), complex), np.zeros(n, complex),
        np.zeros((n, n)), np.zeros((n, n + 1), np.int64),
    )  # fmt: skip


@njit(**OPTIONS)
def _evaluate(system, x, rho, derivative, lifted):
    """The residual over the polydisc around x with radii rho, and the Jacobian if requested."""
    s, t, p, S, Z = system, system.chain, system.p, system.S, system.Z
    for v in range(t.unknowns):
        p.mid[t.cells[v, 4]] = x[s.states + v]
        p.rad[t.cells[v, 4]] = rho[s.states + v]
    if lifted is not None:
        first = t.s_at[1]
        for e in range(first):
            S.mid[e] = p.mid[t.s0_at + e]
            S.rad[e] = p.rad[t.s0_at + e]
        for e in range(s.states):
            S.mid[first + e] = x[e]
            S.rad[first + e] = rho[e]
        read_out(t, p, S, Z)
        lifted_residual(t, p, S, Z, s.Y, s.products, s.f)
        if derivative:
            lifted_jacobian(t, p, S, Z, s.J)
    else:
        states(t, p, S)
        read_out(t, p, S, Z)
        residual(t, p, Z, s.Y, s.f)
        if derivative:
            jacobian(t, p, S, Z, s.adjoints, s.hidden, s.J)


@njit(inline="always", **OPTIONS)
def _begin(system, x, root, lifted):
    """Newton's start: the weights and the states computed from them; False if not finite."""
    t = system.chain
    for v in range(t.unknowns):
        if not (np.isfinite(root[v].real) and np.isfinite(root[v].imag)):
            return False
        x[system.states + v] = root[v]
        system.p.mid[t.cells[v, 4]] = root[v]
        system.p.rad[t.cells[v, 4]] = 0.0
    if lifted is not None:
        states(t, system.p, system.S)
        for e in range(system.states):
            x[e] = system.S.mid[t.s_at[1] + e]
    return True


@njit(inline="always", **OPTIONS)
def _newton(system, buffers, lifted):
    """Newton's method to the limit of double precision; False if it breaks down."""
    x, C, f = buffers.x, buffers.C, system.f.mid
    n = len(x)
    last = np.inf
    for sweep in range(_NEWTON):
        renew = last > _KEEP
        _evaluate(system, x, buffers.zero, renew, lifted)
        if renew and not approximate_inverse(system.J.mid, C, buffers.work):
            return False
        largest = 0.0
        for v in range(n):
            delta = 0j
            for e in range(n):
                delta += C[v, e] * f[e]
            x[v] -= delta
            size = abs(delta) / (abs(x[v]) + 1e-3)
            # NaN must not count as small.
            largest = size if not size <= largest else largest
        if not np.isfinite(largest):
            return False
        if largest < _END or (largest < _NEAR and largest > 0.1 * last):
            return True
        if sweep > 3 and largest > 0.5 * last:
            return True
        last = largest
    return True


@njit(inline="always", **OPTIONS)
def _holds_one_root(system, buffers, lifted):
    """Whether some polydisc around the centre, with its radii in rho, holds exactly one root."""
    centre, rho, step = buffers.centre, buffers.rho, buffers.step
    # First the point itself for |C F|, then two polydiscs.
    for factor in (0.0, 2.0, 16.0):
        for v in range(len(rho)):
            rho[v] = factor * step[v] + 1e-16 * abs(centre[v]) if factor > 0.0 else 0.0
        _evaluate(system, centre, rho, factor > 0.0, lifted)
        if factor == 0.0:
            newton_step(buffers.C, system.f, step)
        elif contracts(buffers, system.J):
            return True
    return False


@njit(**OPTIONS)
def _looks_real(x, first):
    most = 0.0
    for v in range(first, len(x)):
        most = max(most, abs(x[v].imag) / (abs(x[v]) + 1e-2))
    return most <= 1e-7


@njit(inline="always", **OPTIONS)
def _kind(system, buffers, lifted):
    """The proved kind of the root near x; its polydisc goes to centre and rho."""
    x, centre, rho, first = buffers.x, buffers.centre, buffers.rho, system.states
    # A root that looks real is first tested as a real one.
    for as_real in (True, False):
        if as_real and not _looks_real(x, first):
            continue
        for v in range(len(x)):
            centre[v] = complex(x[v].real, 0.0) if as_real else x[v]
        if not _holds_one_root(system, buffers, lifted):
            continue
        if as_real:
            return REAL
        for v in range(first, len(x)):
            if abs(centre[v].imag) > rho[v]:
                return NONREAL
    return FAILED


@njit(**OPTIONS)
def prove_all(system, buffers, roots, kind, radii, lifted):
    """Test the roots whose kind is `FAILED`, with one system.

    Parameters
    ----------
    system : System
    buffers : KrawczykBuffers
    roots : ndarray of complex, shape (·, r)
        Approximate roots; if the test succeeds, the polydisc's centre.
    kind : ndarray of int, shape (·,)
        Set to `REAL` or `NONREAL`.
    radii : ndarray of float, shape (·, r)
        Set if the test succeeds.
    lifted : True or None
        Whether the states are unknowns too; None is a type of its own, for which the functions of
        the lifted equations are not compiled.
    """
    for number in range(len(roots)):
        if kind[number] != FAILED or not _begin(system, buffers.x, roots[number], lifted):
            continue
        if not _newton(system, buffers, lifted):
            continue
        found = _kind(system, buffers, lifted)
        if found != FAILED:
            kind[number] = found
            for v in range(roots.shape[1]):
                roots[number, v] = buffers.centre[system.states + v]
                radii[number, v] = buffers.rho[system.states + v]


@njit(**OPTIONS)
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


@njit(**OPTIONS)
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


@njit(**OPTIONS)
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


@njit(**OPTIONS)
def overlaps(roots, radii, more, more_radii):
    """Index in `more` of a polydisc that may meet that of each root, or -1."""
    r = roots.shape[1]
    out = np.full(len(roots), -1)
    for a in range(len(roots)):
        for b in range(len(more)):
            apart = False
            for v in range(r):
                gap = roots[a, v] - more[b, v]
                size = np.sqrt(gap.real * gap.real + gap.imag * gap.imag)
                if size * (1.0 - 16.0 * UNIT) > (radii[a, v] + more_radii[b, v]) * (
                    1.0 + 4.0 * UNIT
                ):
                    apart = True
                    break
            if not apart:
                out[a] = b
                break
    return out
