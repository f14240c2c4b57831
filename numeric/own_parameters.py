"""The circuit's own parameters, as rationals: measured ones, and instance 0 of a seed for others.

With ReLU ranks depend on the activation pattern, so they are computed at given parameters and
samples (`algebra.networks.own_point`).  Measured weights of [values] without jitter are exact;
everything else is drawn as for instance 0 (`numeric.instances.draw_instance`), whose doubles are
rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from flint import fmpq

from algebra.errors import InputError
from algebra.memory_limits import check_memory
from algebra.networks.activated import ActivatedNetwork
from algebra.problems.laws.values import Values
from algebra.problems.problem import Problem
from algebra.problems.updates import LowRank
from algebra.questions.record.target import NEW
from numeric.instances import draw_entries, draw_instance, to_rational
from numeric.streams import stream

# Of an entry: a double, a rational with its place, and marks of those that exist.
_BYTES = 150


def at_own_parameters(problem: Problem, seed: int, target: str | Sequence[str] = ()) -> Problem:
    """The problem of a network with ReLU at its own parameters; any other problem unchanged.

    Parameters
    ----------
    problem : Problem
    seed : int
        Of the parameters that are not measured.
    target : str or sequence of str, optional
        If it is "samples=new", as many new samples as there are samples are drawn as well.

    Raises
    ------
    InputError
        If only a part of a matrix is measured, or the network learns by low ranks.
    """
    network = problem.network
    if not network.has_kinks or network.own_point is not None:
        return problem
    assert isinstance(network, ActivatedNetwork)
    if any(isinstance(update, LowRank) for update in problem.updates.values()):
        raise InputError("low-rank updates have no parameters of their own: take gains or ties")
    cells = sum(rows * columns for rows, columns in network.shapes.values())
    check_memory(
        _BYTES * cells,
        f"exact activity with ReLU (every entry of the matrices, {cells} of them, is a rational)",
    )
    measured = problem.values.numbers
    for name in {cell[0] for cell in measured}:
        exists = np.argwhere(problem.support.get(name, np.ones(network.shapes[name])))
        for i, j in exists.tolist():
            if (name, i, j) not in measured:
                raise InputError(
                    f"values.{name}[{i}][{j}] is missing: with ReLU ranks are those at the "
                    f"circuit's own parameters; give all of {name}, or none (instance 0 of the "
                    "seed)"
                )
    own = Problem(network, {}, problem.support, problem.distribution, values=problem.values)
    drawn = draw_instance(own, seed, 0)
    weights = {name: to_rational(table) for name, table in drawn.weights.items()}
    if not problem.values.jitter:
        for (name, i, j), value in measured.items():
            weights[name][i, j] = fmpq(value.numerator, value.denominator)
    X = drawn.X
    if NEW in ((target,) if isinstance(target, str) else target):
        law = problem.distribution.inputs
        X = np.concatenate([X, draw_entries(stream(seed, 0, "new samples"), law, X.shape)], axis=1)
    found = network.at_parameters(weights, to_rational(X), problem.support)
    # The jitter of measured weights is what is known of them before a recording.
    kept = problem.values if problem.values.jitter else Values()
    return replace(problem, network=found, values=kept)
