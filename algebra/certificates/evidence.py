"""Evidence of a certificate as plain data, and reasons in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import GenericRank, random_point
from algebra.ranks.matroid import smallest_circuit
from algebra.systems.root_count import RootCount

# Witness points with more entries are given by their seed only.
_LARGEST_POINT = 20_000


def circuit_reason(allocation: Allocation, support: Mapping[str, np.ndarray], seed: int) -> str:
    """Where no budget is violated: weights that depend on each other."""
    cells = smallest_circuit(allocation, support, seed)
    names = " ".join(f"{name}[{i},{j}]" for name, i, j in cells)
    return f"no budget is violated, but these {len(cells)} depend on each other: {names}"


def rank_evidence(problem: Problem, found: GenericRank) -> dict[str, Any]:
    """A generic rank with its witness: the point itself, where it is not too long."""
    data: dict[str, Any] = {
        "rank": found.rank,
        "upper_bound": found.upper,
        "proved": found.is_proved,
        "witness": [found.p, found.seed],
        "points": [list(point) for point in found.points],
    }
    network = problem.network
    if network.parameters + network.input_shape[0] * network.m <= _LARGEST_POINT:
        point = random_point(network, found.p, found.seed, problem.support)
        data["witness_point"] = {
            "weights": {name: value.tolist() for name, value in point.weights.items()},
            "X": point.X.tolist(),
        }
    return data


def root_evidence(roots: RootCount) -> dict[str, Any]:
    """A root count, and how it was found."""
    data: dict[str, Any] = {
        "value": roots.value,
        "rule": roots.rule,
        "form": roots.form,
        "blocks": list(roots.blocks),
        "primes": list(roots.primes),
        "seed": roots.seed,
    }
    if roots.trace is not None:
        data["trace"] = asdict(roots.trace)
    return data
