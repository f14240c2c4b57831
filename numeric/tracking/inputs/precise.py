"""The end of a path in the free inputs, in many bits, at the rational instance itself.

A line ends at an instance in doubles, whose rounding alone moves a root of condition 10^12 by
10^-4 of its size.  A last line leads from there to the instance itself, which is rational.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from flint import acb, acb_mat, arb, ctx, fmpq_mat

from numeric.equations.inputs import InputsForm, Reduced
from numeric.equations.lanes.inputs import make_inputs
from numeric.instances import Instance
from numeric.tracking.precise import ORDER, PreciseSystem, exact, follow_precisely

# A path with larger unknowns diverges: the instance is special.
_FAR = 1e60


def finish_inputs_path(
    form: InputsForm,
    instance: Instance,
    first: np.ndarray,
    second: Reduced,
    t: float,
    x: np.ndarray,
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

    Returns
    -------
    list of acb or None
        All learnable weights at the instance, good to more than 30 digits; None if the
        path is lost again.
    """
    system = form.chain.once("precise inputs", lambda: PreciseSystem.of(make_inputs(form, ORDER)))
    corners = (
        lambda: exact(first),
        lambda: exact(second.vector),
        lambda: _rational(form, instance, second).vector.tolist(),
    )
    saved = ctx.prec
    try:
        end = follow_precisely(system, corners, t, exact(x), _FAR)
        if end is None:
            return None
        weights = form.weights_of(_rational(form, instance, second), np.array([end]), _solve)
        return [w.mid() for w in weights[0]] if all(w == w for w in weights[0]) else None
    finally:
        ctx.prec = saved


def _rational(form: InputsForm, instance: Instance, at: Reduced) -> Reduced:
    """The rational instance in balls; `at` fixes the basis V of the free directions."""
    chain, R = form.chain, form.learning.tolist()
    weights, X, Y = instance.exact
    chosen = chain.independent_samples(instance.X)
    drive = fmpq_mat(chain.network.drive(X[:, chosen]).tolist())
    labels = fmpq_mat(chain.label_columns(Y, chosen).tolist()) * drive.inv()
    D = weights["D"]
    DR = fmpq_mat(D[:, R].tolist())
    inverse = DR.transpose() * (DR * DR.transpose()).inv()
    W = np.array(weights["W"], dtype=object)
    W.reshape(-1)[chain.cells[:, 4] - chain.m_at[1]] = 0
    V = np.array([exact(row) for row in at.V])
    back = _balls(inverse.tolist())
    V = V - back @ (_balls(DR.tolist()) @ V)
    found = form.closed_loop(
        _balls(W), _balls(weights["B"]), _balls(D), _balls(labels.tolist()), back, V, acb(at.unit)
    )
    middles = np.array([acb(z).mid() for z in found.vector])
    return Reduced(middles, found.W, found.B, found.V, found.unit)


def _balls(values: Iterable[Iterable[Any]]) -> np.ndarray:
    """Rational entries as balls."""
    return np.array([[acb(arb(z)) for z in row] for row in values])


def _solve(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions in balls, of midpoints."""
    found = [
        acb_mat(a.tolist()).mid().solve(acb_mat(y.tolist()).mid()).mid()
        for a, y in zip(matrices, right, strict=True)
    ]
    return np.array([x.tolist() for x in found])
