"""An exact match with the activation pattern of the endpoint of a search in doubles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from algebra.families.relu.equations import relu_system
from numeric.instances import Instance


def witness_at(instance: Instance, ends: Iterable[np.ndarray]) -> tuple[Any, ...] | None:
    """Rational weights that reproduce the labels, with the activation pattern of an endpoint.

    Parameters
    ----------
    instance : Instance
        Of a shallow ReLU net.
    ends : iterable of ndarray, each of shape (r,)
        Learnable weights, tried in order.

    Returns
    -------
    tuple of fmpq, or None
        In the closure of the first cell that has a match, and in the instance's box.  If a pattern
        leaves weights free one solution of its equations is tried, so that a match may be missed.
    """
    system = relu_system(instance.allocation, *instance.exact, instance.box)
    for end in ends:
        active = (instance.with_weights(end)["W1"] @ instance.X > 0)[list(system.units)]
        values = system.solve_pattern(active, np.zeros(active.shape, bool))
        if values is not None:
            return tuple(values)
    return None
