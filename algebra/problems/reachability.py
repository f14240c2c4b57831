"""Paths through the weights that exist: whether any input reaches an output.

With structural zeros (a sparse connectome) there may be none.  Then every label is 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from algebra.networks.base import Network


def labels_vanish(network: Network, support: Mapping[str, np.ndarray]) -> bool:
    """Whether structural zeros make every label 0, for all weights and samples.

    Notes
    -----
    With all weights that exist and all samples 1 nothing cancels: an entry of the labels
    is 0 there only where no path leads to it from any input.  Then it is 0 everywhere
    (hidden units of a ReLU net keep no path where there is none).  Conversely an entry
    that is positive there is no constant 0.
    """
    masks = {name: _mask(network, support, name) for name in network.shapes}
    if all(mask.all() for mask in masks.values()):
        return False
    ones = {name: mask.astype(np.int64).astype(object) for name, mask in masks.items()}
    X = np.ones(network.input_shape, dtype=np.int64).astype(object)
    return not np.asarray(network.reached(ones, X) != 0).any()


def inputs_that_reach(network: Network, support: Mapping[str, np.ndarray]) -> np.ndarray:
    """The inputs from which a path leads to some output, found backwards from there.

    Returns
    -------
    ndarray of bool
        One for each column of the first matrix.
    """
    last, *others = network.shapes
    chain = network.chain()
    reached = _mask(network, support, last).any(axis=0)
    for name in others:
        mask, step = _mask(network, support, name), reached
        reached = step = mask[step].any(axis=0)
        # The recurrent matrix acts between once and T times.
        for _ in range(len(chain.steps) - 1 if chain and name == chain.recurrent else 0):
            step = mask[step].any(axis=0)
            reached = reached | step
    return np.asarray(reached)


def _mask(network: Network, support: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    return np.asarray(support.get(name, np.ones(network.shapes[name]))) != 0
