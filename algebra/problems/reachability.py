"""Paths through the weights that exist: whether any input reaches an output.

With structural zeros (a sparse connectome) there may be no path; then every label is 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from algebra.networks.base import Network


def labels_vanish(network: Network, support: Mapping[str, np.ndarray]) -> bool:
    """Whether structural zeros make every label 0, for all weights and samples.

    Notes
    -----
    Put all existing weights and all samples to 1, so that nothing cancels: an entry of the labels
    is then 0 only if no path leads to it from any input, and in this case it is 0 for all weights
    and samples (a ReLU unit without incoming path is 0).  Conversely an entry that is positive at
    this point is not identically 0.
    """
    masks = {name: _mask(network, support, name) for name in network.shapes}
    if all(mask.all() for mask in masks.values()):
        return False
    ones = {name: mask.astype(np.int64).astype(object) for name, mask in masks.items()}
    X = np.ones(network.input_shape, dtype=np.int64).astype(object)
    return not np.asarray(network.reached(ones, X) != 0).any()


def inputs_that_reach(network: Network, support: Mapping[str, np.ndarray]) -> np.ndarray:
    """The inputs from which a path leads to some output, found by backward search.

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
        # The recurrent matrix acts between 1 and T times.
        for _ in range(len(chain.steps) - 1 if chain and name == chain.recurrent else 0):
            step = mask[step].any(axis=0)
            reached = reached | step
    return np.asarray(reached)


def _mask(network: Network, support: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    return np.asarray(support.get(name, np.ones(network.shapes[name]))) != 0
