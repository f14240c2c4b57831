r"""Parameters without any effect on the labels of a recurrent network: no path leads to a label.

A label at step T is read from units that D reads; these depend on units with synapses to them one
step before, and so on.  So a weight into unit i (of W, a bias, a leak) has an effect on a label
only if a path of at most T - 1 synapses leads from i to a unit that is read, and only if its
presynaptic unit is ever different from 0: if it has an input or a bias, or such a unit sends to it,
or if φ(0) ≠ 0.  The number of the others is an upper bound of every rank of labels: a rank that
meets it is proved at one point, and the kernel consists of the parameters without effect.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from algebra.networks.activated import ActivatedNetwork
from algebra.networks.base import Cell, Network, Support
from algebra.ranks.jacobian import base_of
from algebra.ranks.parametrized import Parametrized


def have_effect(network: Network, cells: Sequence[Cell], support: Support | None) -> np.ndarray:
    """Which parameters may have an effect on a label; all of a network of another kind.

    Parameters
    ----------
    network : Network
        Perhaps with the parameters of updates as weights.
    cells : sequence of cells
    support : mapping of str to mask or None

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
    own = base_of(network)
    paths = own.paths(support or {}) if isinstance(own, ActivatedNetwork) else None
    if paths is None:
        return np.ones(len(cells), bool)
    parameters = network.parameters_of if isinstance(network, Parametrized) else {}
    known: dict[str, np.ndarray] = {}
    found = []
    for name, i, j in cells:
        if name not in parameters:
            found.append(bool(paths.effects(name, i, j)))
            continue
        if name not in known:
            matrix, update, _, shape = parameters[name]
            known[name] = np.ones(shape[0] * shape[1], bool)
            if len(update.arrays(own.shapes[matrix])) == 1:
                rows, columns = paths.cells(matrix)
                numbers = update.numbers_at(own.shapes[matrix], rows, columns)
                numbers = numbers[np.broadcast_to(paths.effects(matrix, rows, columns), rows.shape)]
                known[name] &= np.bincount(numbers, minlength=len(known[name]) + 1)[1:] > 0
        found.append(bool(known[name][i]))
    return np.array(found, bool)
