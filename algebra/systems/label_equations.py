r"""The labels of a random instance as polynomials in the learnable weights alone."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from algebra.linalg.residues import random_residues
from algebra.polynomials.rings import PrimeField
from algebra.problems.problem import Problem
from algebra.systems.root_count import need_short_labels


def written_labels(problem: Problem, p: int, rng: random.Random, most_terms: int) -> list[Any]:
    """The labels of a linear network minus those at random weights, at a random instance modulo p.

    Parameters
    ----------
    problem : Problem
    p : int
    rng : random.Random
        It determines the instance.
    most_terms : int

    Raises
    ------
    RootCountError
        If they would have more than `most_terms` terms together.
    """
    allocation, network = problem.allocation, problem.network
    need_short_labels(allocation, most_terms)
    weights = {name: random_residues(shape, p, rng) for name, shape in network.shapes.items()}
    for name, mask in problem.support.items():
        weights[name] = weights[name] * np.asarray(mask, np.int64)
    X = random_residues(network.input_shape, p, rng)
    ring = PrimeField(p).context([f"t{k}" for k in range(allocation.size)])
    unknowns = list(ring.gens())
    constant = np.frompyfunc(lambda value: ring.constant(int(value)), 1, 1)
    matrices = {name: constant(value) for name, value in weights.items()}
    for (name, i, j), unknown in zip(allocation.cells, unknowns, strict=True):
        matrices[name][i, j] = unknown
    labels = np.asarray(network.forward(matrices, constant(X))).ravel()
    root = [int(v) for v in random_residues((len(unknowns),), p, rng)]
    return [y - ring.constant(int(y(*root))) for y in labels if not y.is_constant()]
