"""Parameters without any effect on the labels or states of a recurrent network: no path is theirs.

A label at step T is read from units that D reads; these depend on units with synapses to them one
step before, and so on.  So a weight has an effect on a label only if the derivative has a term that
structural zeros leave, and, at given parameters of ReLU networks, the activation pattern: one sweep
over 0 and 1 (`algebra.programs.paths`).  The number of the others is an upper bound of every rank:
a rank that meets it is proved at one point, and the kernel consists of the parameters without
effect.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from algebra.networks.activated import ActivatedNetwork
from algebra.networks.base import LABELS, STATES, Cell, Network, Support
from algebra.networks.masks import held
from algebra.programs.jacobian import Sweep, factors
from algebra.programs.paths import Paths, existing
from algebra.ranks.jacobian import base_of
from algebra.time_limits import check_time


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
    own: Any = base_of(network)
    is_read = not on_states and bool(support and "D" in support)
    if not is_read and own.own_point is None:
        return np.ones(len(cells), bool)
    found = paths_of(network, cells, support)
    if found is None:
        return np.ones(len(cells), bool)
    sweep = _sweep(own, STATES if on_states else LABELS, support or {}, set(found[1]))
    effective = np.zeros(len(cells), bool)
    for name, (left, right) in factors(sweep, found[1]).items():
        rows, columns, numbers = found[1][name]
        for L, R in zip(left != 0, right != 0, strict=True):
            sent = np.atleast_2d(L.any(axis=0))
            for c in range(R.shape[1]):
                check_time()
                effective[numbers[sent[min(c, len(sent) - 1), rows] & R[columns, c]]] = True
    return effective


def _sweep(network: ActivatedNetwork, what: str, support: Support, names: Collection[str]) -> Sweep:
    """The sums of some readings over units, differentiated over 0 and 1."""
    program, nodes = network.recorded(what)
    own, signs = network.own_point, None
    if own is not None:
        own = own.first(network.m)
        signs = network.on_pattern(own.signs)
    arithmetic = Paths(network.vanishes_at_zero, signs)
    masks = {name: held(support, name) for name in network.shapes}
    blocks = existing(program, masks, 1 if own is None else network.m)
    ones = np.ones((1, *program.nodes[nodes[0]].shape, 1), np.int64)
    targets = [(node, None) for node in nodes]
    return Sweep(program, arithmetic, blocks, names, targets=targets, covector=ones)


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
