"""Inspection of networks with activations: budgets, and the system if it is polynomial."""

from __future__ import annotations

import random

from algebra.families.linear.inspect import inspect_linear
from algebra.linalg.primes import random_prime
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.base import Support
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.problems.reduction import lowered
from algebra.ranks.budgets.cover import budget_violations
from algebra.ranks.budgets.lines import budgets
from algebra.systems.inspection import Inspection

# Systems of more unknowns are described only by their size.
LARGEST = 400


def inspect_activated(
    allocation: Allocation, support: Support, seed: int = 0, all_forms: bool = False
) -> Inspection:
    """Structure report of an allocation of a network with activations."""
    network = allocation.network
    assert isinstance(network, ActivatedNetwork)
    reduction = lowered(Problem(network, allocation.masks, support))
    if reduction is not None:
        return inspect_linear(reduction.problem.allocation, support, seed=seed, all_forms=all_forms)
    if network.activation.is_polynomial:
        return inspect_linear(allocation, support, seed, all_forms, LARGEST)
    return Inspection(
        allocation=allocation,
        prime=random_prime(random.Random(f"inspect/{seed}")),
        forms=(),
        skipped=(
            f"{network.activation} is not a polynomial: there is no polynomial system, and counts "
            "of solutions are lower bounds",
        ),
        budgets=budgets(allocation),
        violations=budget_violations(allocation),
    )
