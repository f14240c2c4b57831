"""The free inputs of an exact instance: its parameters in balls.

The reduction of an instance to its free inputs (`numeric.equations.inputs`) is exact over Q but for
the basis V of free directions.  Any real basis does; that of the instance in doubles is projected
onto the kernel of D_R, so that the unknowns are those of the paths.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from flint import acb, arb, fmpq_mat

from numeric.equations.inputs import InputsForm, Reduced
from numeric.instances import Instance


def rational_inputs(form: InputsForm, instance: Instance, at: Reduced) -> Reduced:
    """The rational instance in balls, at the present precision; `at` fixes the basis V."""
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
    V = np.array([[acb(float(z)) for z in row] for row in at.V.real])
    back = _balls(inverse.tolist())
    V = V - back @ (_balls(DR.tolist()) @ V)
    return form.closed_loop(
        _balls(W), _balls(weights["B"]), _balls(D), _balls(labels.tolist()), back, V, acb(at.unit)
    )


def _balls(values: Iterable[Iterable[Any]]) -> np.ndarray:
    """Rational entries as balls."""
    return np.array([[acb(arb(z)) for z in row] for row in values])
