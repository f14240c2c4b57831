"""The circuit's own parameters, as rationals: measured ones, and instance 0 of a seed for others.

With ReLU ranks depend on the activation pattern, so they are computed at given parameters and
samples (`algebra.networks.own_point`).  Measured weights of [values] without jitter are exact;
everything else is drawn as for instance 0 (`numeric.trials.instances.draw_existing`), whose doubles
are rationals.  Of a large circuit only the weights that exist are held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from flint import fmpq

from algebra.errors import InputError
from algebra.linalg.sparse import SparseMatrix
from algebra.memory_limits import check_memory
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.masks import held
from algebra.plugins.circuits.target import NEW
from algebra.problems.laws.values import Values
from algebra.problems.problem import Problem
from algebra.problems.updates import LowRank
from algebra.time_limits import checked
from numeric.trials.instances import draw_entries, draw_existing, to_rational
from numeric.trials.streams import stream

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
    masks = {name: held(problem.support, name) for name in network.shapes}
    cells = sum(
        len(masks[name].rows) if isinstance(masks[name], SparseMatrix) else rows * columns
        for name, (rows, columns) in network.shapes.items()
    )
    check_memory(
        _BYTES * cells,
        f"exact activity with ReLU (every entry of the matrices, {cells} of them, is a rational)",
    )
    measured = problem.values.numbers
    for name in {cell[0] for cell in measured}:
        mask = masks[name]
        mask = np.ones(network.shapes[name]) if mask is None else mask
        exists = mask if isinstance(mask, SparseMatrix) else SparseMatrix.of(mask)
        for i, j in checked(zip(exists.rows.tolist(), exists.columns.tolist(), strict=True)):
            if (name, i, j) not in measured:
                raise InputError(
                    f"values.{name}[{i}][{j}] is missing: with ReLU ranks are those at the "
                    f"circuit's own parameters; give all of {name}, or none (instance 0 of the "
                    "seed)"
                )
    own = Problem(network, {}, problem.support, problem.distribution, values=problem.values)
    drawn, X = draw_existing(own, seed, 0)
    weights = {name: to_rational(table) for name, table in drawn.items()}
    if not problem.values.jitter:
        for (name, i, j), value in measured.items():
            table, number = weights[name], fmpq(value.numerator, value.denominator)
            if isinstance(table, SparseMatrix):
                table.values[table.places(i, j)] = number
            else:
                table[i, j] = number
    if NEW in ((target,) if isinstance(target, str) else target):
        law = problem.distribution.inputs
        X = np.concatenate([X, draw_entries(stream(seed, 0, "new samples"), law, X.shape)], axis=1)
    found = network.at_parameters(weights, to_rational(X), problem.support)
    # The jitter of measured weights is what is known of them before a recording.
    kept = problem.values if problem.values.jitter else Values()
    return replace(problem, network=found, values=kept)
