r"""Krawczyk's test in pairs of doubles, in the free inputs of a recurrent net.

The equations in the weights multiply by W at every step, so that their condition grows like a power
of W: near infinity neither doubles nor the lifted equations decide.  In the free inputs u
(`numeric.equations.inputs`) all equations are bilinear, there are fewer of them than lifted ones,
and in pairs (`numeric.equations.pairs`) Newton's method reaches about 30 digits.  The test is that
of `numeric.certification.krawczyk`: F at the centre is enclosed in pairs; the Jacobian, whose
discs need only be small compared with 1, in doubles, its entries taken from the values in pairs.

*What a proved root proves.*  Unknowns are the weights w of all learning rows and u, parameters are
those of the exact rational instance, enclosed (`numeric.equations.rational_inputs`).  Let (w, u) be
a root, and ``F_k = α_k + Σ β_{k-l} u_l``.  By construction rows that do not learn satisfy ``F_k = W
F_{k-1}``, and D F_k is the coefficient of the labels; by the equations the learning rows satisfy it
too.  So ``F_k = W^k B``, and w reproduces the labels.  Coefficients are real: the argument about
real roots holds, a root is real if and only if w is (w determines u), and different w are different
roots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import acb, ctx

from numeric.certification.krawczyk_kernel import (
    FAILED,
    NONREAL,
    REAL,
    approximate_inverse,
    contracts,
    make_krawczyk_buffers,
    newton_step,
)
from numeric.equations.discs import OPTIONS, TINY, UNIT, Discs, make_discs, run_discs, size_up
from numeric.equations.pairs import (
    IM,
    IM_LOW,
    PAIR_UNIT,
    RADIUS,
    RE,
    RE_LOW,
    add_pairs,
    enclose_in_pairs,
    make_pair_discs,
    run_pair_discs,
    set_size,
)
from numeric.kernels import call, njit

if TYPE_CHECKING:
    from numeric.certification.krawczyk import Certified
    from numeric.equations.inputs import InputsForm, Reduced
    from numeric.equations.system_forms import EquationTapes
    from numeric.instances import Instance

# Bits of the balls that enclose the parameters: more than pairs have.
_BITS = 192
_NEWTON = 12
# Relative steps of Newton's method: the limit of pairs; the inverse is kept; a step that no longer
# decreases by a factor of ten is rounding error; the largest last step of a root worth testing.
_END, _KEEP, _NEAR, _WORTH = 1e-29, 1e-6, 1e-17, 1e-9
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


class InputsTarget:
    """An exact instance in its free inputs, enclosed in pairs.

    Parameters
    ----------
    form : InputsForm
    instance : Instance
    at : Reduced
        The instance's reduction in doubles.
    """

    def __init__(self, form: InputsForm, instance: Instance, at: Reduced) -> None:
        # Loaded here: what a file with kernels imports at module level is in their key.
        from numeric.equations.rational_inputs import rational_inputs
        from numeric.equations.system_forms import write_inputs_equations

        self.form, self.at = form, at
        whole = form.whole
        tapes = form.chain.once("inputs equations", lambda: write_inputs_equations(whole))
        saved = ctx.prec
        try:
            ctx.prec = _BITS
            vector = [acb(z) for z in rational_inputs(whole, instance, at).vector]
            if not all(z.imag == 0 for z in vector):
                raise ArithmeticError("the parameters are not real")
            parameters = self._parameters = enclose_in_pairs(vector)
        finally:
            ctx.prec = saved
        n, x, discs = len(tapes.places), make_pair_discs(tapes.slots), make_discs(tapes.slots)
        x[: len(parameters)] = parameters
        J = slice(tapes.jacobian, tapes.jacobian + n * n)
        self._system = PairSystem(
            tapes, x, discs, Discs(discs.mid[J].reshape(n, n), discs.rad[J].reshape(n, n)),
            make_discs(n), np.zeros((n, n), complex), np.zeros(n, complex),
            np.zeros(n, complex),
        )  # fmt: skip
        self._buffers = make_krawczyk_buffers(n)

    @property
    def parameters(self) -> np.ndarray:
        """The parameters of `form` itself in pairs, shape (form.size, 6)."""
        form, n = self.form, self.form.shape[0]
        fixed = form.whole.size - len(form.learning) * n
        rows = np.searchsorted(form.learning, form.rows)
        places = fixed + (rows[:, None] * n + np.arange(n)).ravel()
        return self._parameters[np.concatenate([np.arange(fixed), places])]

    def certify_pairs(self, high: np.ndarray, low: np.ndarray) -> Certified:
        """Krawczyk's test for approximate roots in the unknowns of `form`, given as pairs.

        Parameters
        ----------
        high, low : ndarray of complex, shape (·, q)
        """
        form, order = self.form, self.form.whole.numbers
        weights = form.weights_of(self.at, high)
        lows = np.zeros((len(low), form.whole.unknowns), complex)
        lows[:, np.searchsorted(order, form.numbers)] = low[:, : len(form.numbers)]
        lows[:, len(order) :] = low[:, len(form.numbers) :]
        return self.certify(weights, high[:, len(form.numbers) :], lows)

    def certify(
        self, weights: np.ndarray, inputs: np.ndarray, lows: np.ndarray | None = None
    ) -> Certified:
        """Krawczyk's test for each approximate root.

        Parameters
        ----------
        weights : ndarray of complex, shape (·, r)
            All learnable weights.
        inputs : ndarray of complex, shape (·, eTb)
        lows : ndarray of complex, shape (·, r + eTb), optional
            Low parts of all unknowns, in the order of `InputsForm.whole`.
        """
        from numeric.certification.krawczyk import Certified

        order, unit = self.form.whole.numbers, self.at.unit
        x = np.column_stack([weights[:, order] * unit, inputs]).astype(complex)
        kind, radii = np.full(len(x), FAILED), np.full(x.shape, np.inf)
        lows = np.zeros_like(x) if lows is None else lows
        call(prove_pairs, self._system, self._buffers, len(order), PAIR_UNIT, x, lows, kind, radii)
        found = Certified(kind, weights.astype(complex), np.full(weights.shape, np.inf))
        done = kind != FAILED
        r = len(order)
        # The unit of time is a power of two: nothing is rounded.
        found.roots[np.ix_(done, order)] = x[done, :r] / unit
        found.radii[np.ix_(done, order)] = radii[done, :r] / unit
        return found


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
