r"""Parameters without any effect on the labels of a recurrent network: no path leads to a label.

A label at step T is read from units that D reads; these depend on units with synapses to them one
step before, and so on.  So a weight into unit i (of W, a bias, a leak) has an effect on a label
only if a path of at most T - 1 synapses leads from i to a unit that is read, and only if its
presynaptic unit is ever different from 0: if it has an input or a bias, or such a unit sends to it,
or if φ(0) ≠ 0.  The number of the others is an upper bound of every rank of labels: a rank that
meets it is proved at one point, and the kernel consists of the parameters without effect.

With ReLU, at given parameters, a weight has an effect only if it is passed on by the activation
pattern (`algebra.networks.rnn.UnitPaths.moves`): parameters of units that are silent move nothing,
not even states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from algebra.networks.activated import ActivatedNetwork
from algebra.networks.base import Cell, Network, Support
from algebra.ranks.jacobian import base_of


def have_effect(
    network: Network, cells: Sequence[Cell], support: Support | None, *, on_states: bool = False
) -> np.ndarray:
    """Which parameters may have an effect on a label; all of a network of another kind.

    Parameters
    ----------
    network : Network
        Perhaps with the parameters of updates as weights.
    cells : sequence of cells
    support : mapping of str to mask or None
    on_states : bool, optional
        Whether an effect on some state is enough: every weight may have one, except with ReLU.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> from algebra.networks.rnn import RNN
    >>> net = RNN(n=2, T=2, b=1, d=1, m=2, biases=True)
    >>> read = {"D": [[1, 0]], "W": [[1, 0], [1, 1]]}
    >>> have_effect(net, [("W", 0, 0), ("W", 1, 0), ("c", 1, 0)], read).tolist()
    [True, False, False]
    """
    is_read = not on_states and bool(support and "D" in support)
    has_pattern = getattr(base_of(network), "own_point", None) is not None
    found = paths_of(network, cells, support) if is_read or has_pattern else None
    if found is None:
        return np.ones(len(cells), bool)
    paths, moved = found
    effective = np.zeros(len(cells), bool)
    for name, (rows, columns, numbers) in moved.items():
        kept = paths.moves(name, rows, columns)
        if is_read:
            kept &= paths.effects(name, rows, columns)
        effective[numbers[kept]] = True
    return effective


def paths_of(
    network: Network, cells: Sequence[Cell], support: Support | None
) -> tuple[Any, dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]] | None:
    """The paths between units, and the weights that each parameter moves.

    Parameters
    ----------
    network, cells, support
        As for `have_effect`.

    Returns
    -------
    paths : UnitPaths
        See `algebra.networks.rnn`.
    moved : dict of str to (rows, columns, numbers)
        By matrix; a number is the place of the parameter among the cells.
    None
        If the network is of another kind, or low ranks learn.
    """
    own = base_of(network)
    paths = own.paths(support or {}) if isinstance(own, ActivatedNetwork) else None
    if paths is None:
        return None
    parameters = network.parameters_of
    places: dict[str, list[tuple[int, int, int]]] = {}
    for number, (name, i, j) in enumerate(cells):
        places.setdefault(name, []).append((i, j, number))
    moved: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    for name, entries in places.items():
        table = np.array(entries, np.int64).T
        if name not in parameters:
            parts = table[0], table[1], table[2]
        else:
            matrix, update, _, shape = parameters[name]
            if len(update.arrays(own.shapes[matrix])) > 1:
                return None
            rows, columns = paths.cells(matrix)
            number_of = np.full(shape[0] * shape[1] + 1, -1)
            number_of[table[0] + 1] = table[2]
            numbers = number_of[update.numbers_at(own.shapes[matrix], rows, columns)]
            parts = rows[numbers >= 0], columns[numbers >= 0], numbers[numbers >= 0]
            name = matrix
        before = moved.get(name, tuple(part[:0] for part in parts))
        first, second, third = map(np.concatenate, zip(before, parts, strict=True))
        moved[name] = first, second, third
    return paths, moved
