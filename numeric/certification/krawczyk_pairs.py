r"""Krawczyk's test in pairs of doubles, in the free inputs of a recurrent net.

The equations in the weights multiply by W at every step, so that their condition grows like a power
of W: near infinity neither doubles nor the lifted equations decide.  In the free inputs u
(`numeric.equations.inputs`) all equations are bilinear, there are fewer of them than lifted ones,
and in pairs (`numeric.equations.pairs`) Newton's method reaches about 30 digits.  The test is that
of `numeric.certification.krawczyk`: F at the centre is enclosed in pairs; the Jacobian, whose
discs need only be small compared with 1, in doubles, its entries taken from the values in pairs.
Above a condition of about 10^15 an inverse in doubles is none: the approximate inverse C and the
Jacobian are pairs too then, and entries of ``C J - I`` are enclosed as sums of products of pairs.

*What a proved root proves.*  Unknowns are the weights w of all learning rows and u, parameters are
those of the exact rational instance, enclosed (`numeric.equations.inputs`).  Let (w, u) be
a root, and ``F_k = α_k + Σ β_{k-l} u_l``.  By construction rows that do not learn satisfy ``F_k = W
F_{k-1}``, and D F_k is the coefficient of the labels; by the equations the learning rows satisfy it
too.  So ``F_k = W^k B``, and w reproduces the labels.  Coefficients are real: the argument about
real roots holds, a root is real if and only if w is (w determines u), and different w are different
roots.
"""

from __future__ import annotations

import numpy as np
from flint import acb, ctx

from numeric.certification.krawczyk import FAILED, Certified
from numeric.certification.krawczyk_kernel import make_krawczyk_buffers
from numeric.certification.krawczyk_pairs_kernel import PairSystem, prove_pairs
from numeric.equations.discs import Discs, make_discs
from numeric.equations.inputs import InputsForm, Reduced, rational_inputs
from numeric.equations.pairs import PAIR_UNIT, enclose_in_pairs, make_pair_discs
from numeric.equations.system_forms import write_inputs_equations
from numeric.kernels import call
from numeric.trials.instances import Instance

# Bits of the balls that enclose the parameters: more than pairs have.
_BITS = 192


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
        n, discs = len(tapes.places), make_discs(tapes.slots)
        x = make_pair_discs(tapes.slots + n * n + n)
        x[: len(parameters)] = parameters
        J = slice(tapes.jacobian, tapes.jacobian + n * n)
        self._system = PairSystem(
            tapes, x, discs, Discs(discs.mid[J].reshape(n, n), discs.rad[J].reshape(n, n)),
            make_discs(n), np.zeros((n, n), complex), np.zeros((n, 2 * n, 4)),
            np.zeros(n, complex), np.zeros(n, complex), tapes.slots,
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
