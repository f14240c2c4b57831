"""Verification of certificates of problems with updates.

* The equivalence of updates to cells is proved again by the counts of `HasJacobian.enough_rank`
  and, if a low rank is smaller than the whole matrix, by the ranks of the matrix's inputs and of
  the maps after it, at a new point.  The certificate is then that of the cells, and is verified as
  such.
* Otherwise it is one of the parameters as weights, and verified by the same check as those of
  weights (`algebra.arguments.verify`).  J_θ is compared with forward-mode derivatives: the updates'
  own maps and the network's, evaluated with dual numbers in random directions of θ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from algebra.arguments.verify import check_claim
from algebra.checker.checks import (
    PROVED,
    Checked,
    CheckEffort,
    CheckFailed,
    Checklist,
    nested,
)
from algebra.checker.claim import Claim, Conclusion, verified
from algebra.linalg.primes import random_points
from algebra.linalg.ranks import modular_rank
from algebra.networks.base import Point
from algebra.problems.problem import Problem
from algebra.problems.updates import LowRank
from algebra.ranks.jacobian import random_point, tangent_factors
from algebra.ranks.parametrized import by_parameters
from algebra.systems.equivalent_cells import AsCells, as_cells

# Verifies the certificate of a problem of cells.
CellCheck = Callable[[Mapping[str, Any], CheckEffort], Checked]


def verify_updates(
    data: Mapping[str, Any], effort: CheckEffort, verify_cells: CellCheck
) -> Checked:
    """Verify the certificate of a problem with updates; `verify_cells` verifies those of cells."""

    def check(claim: Claim, checklist: Checklist) -> Conclusion:
        cells = as_cells(claim.problem)
        silent = "labels_vanish" in claim.evidence
        simpler = cells.moving if silent else cells.problem
        if silent or not simpler.updates:
            if not silent:
                _check_equivalences(cells, effort.seed, checklist)
            inner = {**data, "problem": simpler.to_dict(), "learnable": simpler.allocation.size}
            status = nested(verify_cells(inner, effort), checklist.say, "")
            return Conclusion(status, AsCells.theorem(claim.verdict))
        _check_equivalences(cells, effort.seed, checklist)
        moved = replace(claim, problem=by_parameters(simpler))
        return check_claim(moved, checklist, effort, claim.problem.features)

    return verified(data, check)


def _check_equivalences(cells: AsCells, seed: int, checklist: Checklist) -> None:
    """Updates equivalent to cells: ranks at a point must not exceed the counting bounds."""
    problem = cells.original
    network, updates = problem.network, problem.updates
    point = random_point(network, *next(random_points(f"equivalent/{seed}")), problem.support)
    for name, mask in cells.masks.items():
        update, shape = updates[name], network.shapes[name]
        text = f"{update.words(name, shape)} reaches what {int(mask.sum())} cells do"
        if isinstance(update, LowRank) and update.rank < min(shape):
            received, sent = _ranks_around(problem, point, name)
            if min(received, sent) > update.rank:
                raise CheckFailed(
                    f"problem.learnable.{name}",
                    f"{name} receives rank {received} and sends through rank {sent}: changes of "
                    f"rank {update.rank} do not reach all",
                )
            text += f": it receives rank {received}, what follows has rank {sent}"
        checklist.say(f"problem.learnable.{name}", PROVED, text)


def _ranks_around(problem: Problem, point: Point, name: str) -> tuple[int, int]:
    """Ranks of a matrix's inputs and of the maps after it, at a point."""
    L, R = tangent_factors(problem.network, point, [name])[name]
    received = np.hstack(list(R))
    followed = L.reshape(-1, L.shape[-1])
    return modular_rank(received, point.p), modular_rank(followed, point.p)
