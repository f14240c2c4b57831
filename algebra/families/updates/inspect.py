r"""Inspection of problems with updates: sizes, dimensions, budgets, ranks.

**Budget of a low rank.**  Let the inputs of W have rank r_R and the maps after it rank r_L at a
generic point (L_s and R_s of the Jacobian, stacked over their places s).  A change dW changes the
labels by a linear function of 𝐋 dW 𝐑, and dW lies in the tangent space of the matrices of rank k,
so 𝐋 dW 𝐑 lies in that of the r_L×r_R matrices of rank k: the update takes part in at most k (r_L +
r_R − k) equations, for k up to the smaller of the two.
"""

from __future__ import annotations

import numpy as np

from algebra.linalg.primes import random_points
from algebra.linalg.ranks import modular_rank
from algebra.problems.problem import Problem
from algebra.problems.updates import LowRank
from algebra.ranks.generic_rank import network_rank
from algebra.ranks.jacobian import random_point, tangent_factors
from algebra.ranks.parametrized import learning_rank
from algebra.systems.equivalent_cells import as_cells
from algebra.systems.inspection import Inspection, UpdateReport
from algebra.words import plural


def inspect_updates(problem: Problem, seed: int = 0) -> Inspection:
    """Structure report without forms: `updates` describes each update, `skipped` the ranks."""
    plain = as_cells(problem).original
    network, support, learning = plain.network, plain.support, plain.learning
    whole = network_rank(network, support, seed)
    own = learning_rank(learning, whole.rank, seed)
    p, number = next(random_points(f"inspect/{seed}"))
    point = random_point(network, p, number, support)
    reports = []
    for name, update in learning.updates.items():
        shape = network.shapes[name]
        limit = None
        if isinstance(update, LowRank):
            L, R = tangent_factors(network, point, [name])[name]
            sides = modular_rank(L.reshape(-1, L.shape[-1]), p), modular_rank(np.hstack(list(R)), p)
            k = min(update.rank, *sides)
            limit = k * (sum(sides) - k)
        reports.append(
            UpdateReport(
                matrix=name,
                update=update.to_dict(),
                words=update.words(name, shape),
                parameters=update.size(shape),
                dimension=update.dimension(shape),
                equations=limit,
            )
        )
    words = (
        f"generic rank {own.rank}: "
        + plural(learning.size, f"{learning.size} parameter")
        + f" of dimension {learning.dimension} for "
        + plural(whole.rank, f"{whole.rank} independent equation"),
    )
    return Inspection(
        allocation=problem.learning.moving,
        prime=p,
        forms=(),
        skipped=words,
        budgets=(),
        violations=(),
        updates=tuple(reports),
        parameters=learning.size,
        rank=own.rank,
        equations=whole.rank,
    )
