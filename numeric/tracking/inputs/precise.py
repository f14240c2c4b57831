"""The end of a path in the free inputs, in many bits, at the rational instance itself.

A line ends at an instance in doubles, whose rounding alone moves a root of condition 10^12 by
10^-4 of its size.  A last line leads from there to the instance itself, which is rational.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from flint import acb, acb_mat, ctx

from numeric.equations.inputs import InputsForm, Reduced, rational_inputs
from numeric.equations.lanes.inputs import make_inputs
from numeric.tracking.precise import ORDER, PreciseSystem, exact, follow_precisely
from numeric.trials.instances import Instance

# A path with larger unknowns diverges: the instance is special.
_FAR = 1e60
# Bits in which the weights follow from unknowns given as pairs.
_BITS = 256


def finish_inputs_path(
    form: InputsForm,
    instance: Instance,
    first: np.ndarray,
    second: Reduced,
    t: float,
    x: np.ndarray,
    is_exact: bool = False,
    low: np.ndarray | None = None,
    begun: float = 0.0,
) -> list[acb] | None:
    """Track a root from t to 1 on the line between two instances, then to the exact instance.

    Parameters
    ----------
    form : InputsForm
    instance : Instance
        The instance whose reduction is `second`.
    first : ndarray of complex, shape (form.size,)
        Parameters at t = 0.
    second : Reduced
    t : float
        The last t of the path, in [0, 1).
    x : ndarray of complex, shape (q,)
        Approximate unknowns there.
    is_exact : bool, optional
        Whether the point is on the line to the exact instance, not to its reduction in doubles.
    low : ndarray of complex, shape (q,), optional
        Low parts of the unknowns, if they are pairs.
    begun : float, optional
        Where on the line between the instances that line begins on which the path is at t.

    Returns
    -------
    list of acb or None
        All learnable weights at the instance, good to more than 30 digits; None if the
        path is lost again.
    """
    system = form.chain.once("precise inputs", lambda: PreciseSystem.of(make_inputs(form, ORDER)))
    ends: list[Callable[[], list[acb]]] = [
        lambda: exact(first),
        lambda: exact(second.vector),
        lambda: _middles(form, instance, second).vector.tolist(),
    ]
    corners = [lambda: _between(ends[0](), ends[2](), begun), ends[2]] if is_exact else ends
    saved = ctx.prec
    try:
        ctx.prec = _BITS
        begin = exact(x) if low is None else _sums(x, low)
        end = follow_precisely(system, corners, t, begin, _FAR)
        return None if end is None else _weights(form, instance, second, end)
    finally:
        ctx.prec = saved


def weights_of_pairs(
    form: InputsForm, instance: Instance, at: Reduced, high: np.ndarray, low: np.ndarray
) -> list[acb] | None:
    """All learnable weights for unknowns (q,) given as pairs; None if they are not determined."""
    saved = ctx.prec
    try:
        ctx.prec = _BITS
        return _weights(form, instance, at, _sums(high, low))
    finally:
        ctx.prec = saved


def _between(first: list[acb], second: list[acb], t: float) -> list[acb]:
    """The point at t on a line, rounded to the present precision."""
    return [(a + (b - a) * acb(t)).mid() for a, b in zip(first, second, strict=True)]


def _sums(high: np.ndarray, low: np.ndarray) -> list[acb]:
    """Pairs as points, at a precision that holds them."""
    return [a + b for a, b in zip(exact(high), exact(low), strict=True)]


def _weights(form: InputsForm, instance: Instance, at: Reduced, end: list[acb]) -> list[acb] | None:
    weights = form.weights_of(_middles(form, instance, at), np.array([end]), _solve)
    return [w.mid() for w in weights[0]] if all(w == w for w in weights[0]) else None


def _middles(form: InputsForm, instance: Instance, at: Reduced) -> Reduced:
    """The rational instance, its parameters rounded to points."""
    found = rational_inputs(form, instance, at)
    return replace(found, vector=np.array([acb(z).mid() for z in found.vector]))


def _solve(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions in balls, of midpoints."""
    found = [
        acb_mat(a.tolist()).mid().solve(acb_mat(y.tolist()).mid()).mid()
        for a, y in zip(matrices, right, strict=True)
    ]
    return np.array([x.tolist() for x in found])
