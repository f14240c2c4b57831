"""Decision of one ReLU instance: floating-point search, exact proofs.

A match is reported only with a rational witness that reproduces the labels in the whole
network.  "No match" requires a complete tree; a leaf that rounding leaves in doubt is
refuted over Q, and if evidence is requested, every leaf is.
If this fails the result is "undetermined".
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from algebra.plugins.relu.equations import relu_system
from algebra.plugins.relu.leaves import Leaf, refutes
from numeric.plugins.relu.cells import CellTree
from numeric.plugins.relu.decision import MATCH, MOST_NODES, NONE, UNDETERMINED, ReluDecision
from numeric.plugins.relu.hull import hull_fits
from numeric.plugins.relu.pairs import active_at, decide_boxed, decide_pairs, has_bounds
from numeric.trials.instances import Instance

# Largest number of nodes of the first tree, and with at least three weights per unit.  A node costs
# 6 to 60 µs in it and 100 µs in the second tree, which has far fewer nodes but needs some ms for
# the units' vertices before.
FIRST_NODES = 20
FIRST_NODES_WIDE = 1_000


def decide(
    instance: Instance, *, certify: bool = False, most_nodes: int = MOST_NODES
) -> ReluDecision:
    """Decide whether an instance of a network of ReLU layers has a match.

    Parameters
    ----------
    instance : Instance
    certify : bool, optional
        Whether "no match" comes with verified refutations of all leaves.
    most_nodes : int, optional
        Nodes after which the instance is abandoned as undetermined.

    Returns
    -------
    ReluDecision

    Raises
    ------
    InputError
        If the network has no ReLU layers, or a learnable weight multiplies a unit that depends on
        others.

    Notes
    -----
    A first, cheap tree branches on the pairs (u, v) of `numeric.plugins.relu.pairs_kernel`.  If it
    becomes large, or evidence is requested, a second tree branches on cells with the tighter
    programs of
    `numeric.plugins.relu.hull`, unless it has too many columns.  That is for nets with one hidden
    layer in which nothing else learns; others have only the first tree.  Under constraints too only
    the first tree is searched, with rows for the intervals (`numeric.plugins.relu.pairs`).
    """
    began = time.perf_counter()
    if has_bounds(instance):
        found = decide_boxed(instance, certify=certify, most_nodes=most_nodes)
        return replace(found, seconds=time.perf_counter() - began, teacher=instance.known_teacher)
    doubles = relu_system(instance.allocation, instance.weights, instance.X, instance.labels)
    if not doubles.units:
        found = _decide_linear(instance)
    elif not hull_fits(instance):
        found = decide_pairs(instance, certify=certify, most_nodes=most_nodes)
    else:
        found = ReluDecision(UNDETERMINED)
        if not certify:
            wide = instance.allocation.size >= 3 * len(doubles.units)
            first = FIRST_NODES_WIDE if wide else FIRST_NODES
            found = decide_pairs(instance, most_nodes=min(first, most_nodes))
        if found.verdict == UNDETERMINED:
            found = decide_cells(instance, certify=certify, most_nodes=most_nodes)
    return replace(found, seconds=time.perf_counter() - began, teacher=instance.known_teacher)


def decide_cells(
    instance: Instance, *, certify: bool = False, most_nodes: int = MOST_NODES
) -> ReluDecision:
    """Decide by branching on activation cells; see `decide` for the parameters."""
    return CellTree(instance).decide(certify=certify, most_nodes=most_nodes)


def _decide_linear(instance: Instance) -> ReluDecision:
    """Decide an instance in which no unit moves, over Q.

    Its equations are linear.
    """
    system = relu_system(instance.allocation, *instance.exact)
    empty = np.zeros((0, system.X.shape[1]), bool)
    one = ReluDecision(UNDETERMINED, system=system, nodes=1, note="linear")
    witness = system.solve_pattern(empty, empty)
    if witness is not None:
        return replace(one, verdict=MATCH, witness=tuple(witness))
    mu = system.linear_farkas()
    if mu is not None:
        leaf = Leaf(np.zeros(empty.shape, int), mu, np.empty(empty.shape, dtype=object))
        if refutes(system, (leaf,)):
            return replace(one, verdict=NONE, leaves=(leaf,), leaf_count=1)
    return one


def witness_at(instance: Instance, ends: Iterable[np.ndarray]) -> tuple[Any, ...] | None:
    """Rational weights that reproduce the labels, with the activation pattern of an endpoint.

    Parameters
    ----------
    instance : Instance
        Of a network of ReLU layers.
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
        active = active_at(instance, end, system)
        values = system.solve_pattern(active, np.zeros(active.shape, bool))
        if values is not None:
            return tuple(values)
    return None
