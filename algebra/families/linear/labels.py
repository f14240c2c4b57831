"""The labels as polynomials in the learnable weights alone: for verification.

The labels of a linear network are linear in the samples, so an invertible combination of the
samples does not change the solutions.  Combinations are used that contain as few inputs of early
steps as possible: those labels have a lower degree in a recurrent matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algebra.linalg.modular import Residues, modular_echelon
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.polynomials.rings import PrimeField
from algebra.systems.instances import ModularInstance
from algebra.systems.root_count import has_short_labels


def count_by_labels(instance: ModularInstance, seconds: int) -> int | None:
    """N as the degree of the ideal of the labels minus the student's own.

    Parameters
    ----------
    instance : ModularInstance
        The student is its own teacher.
    seconds : int
        Time for msolve; its errors are raised.

    Returns
    -------
    int or None
        None if the network is not linear, the labels would be too long, or the ideal has infinitely
        many zeros.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> from algebra.problems.allocation import Allocation
    >>> from algebra.systems.instances import modular_instance
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> diagonal = Allocation.from_cells(net, [("W", 0, 0), ("W", 1, 1)])
    >>> count_by_labels(modular_instance(diagonal, 65521, 0), 10)
    2
    """
    equations = label_equations(instance)
    return quotient_degree(equations, timeout=seconds).degree if equations else None


def label_equations(instance: ModularInstance) -> list[Any]:
    """Labels of combined samples minus their values for the student; [] if they are too long."""
    return polynomial_weights(instance)[2] if has_short_labels(instance.allocation) else []


def polynomial_weights(
    instance: ModularInstance,
) -> tuple[dict[str, np.ndarray], list[int], list[Any]]:
    """Weights whose learnable entries are unknowns, and the equations of the labels.

    Parameters
    ----------
    instance : ModularInstance
        Of a linear network.

    Returns
    -------
    weights : dict of str to ndarray of nmod_mpoly
    root : list of int
        The student's own learnable weights.
    equations : list of nmod_mpoly
        Labels of combined samples minus their values for the student, without constants.
    """
    allocation, p = instance.allocation, instance.p
    ring = PrimeField(p).context([f"w{k}" for k in range(allocation.size)])
    constant = np.frompyfunc(lambda value: ring.constant(int(value)), 1, 1)
    weights = {name: constant(value) for name, value in instance.weights.items()}
    root = []
    for (name, i, j), unknown in zip(allocation.cells, ring.gens(), strict=True):
        root.append(int(instance.weights[name][i, j]))
        weights[name][i, j] = unknown
    labels = allocation.network.forward(weights, constant(_combined(instance.X, p)))
    equations = [y - y(*root) for y in np.asarray(labels).ravel() if not y.is_constant()]
    return weights, root, equations


def _combined(X: Residues, p: int) -> Residues:
    """The samples in echelon form: sample k is 0 up to its own pivot."""
    return modular_echelon(X.T % p, p)[0].T
