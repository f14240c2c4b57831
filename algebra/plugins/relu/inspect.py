"""Inspection of networks of ReLU layers: counting, and ranks of patterns of shallow ones."""

from __future__ import annotations

import random

from algebra.linalg.primes import random_prime
from algebra.networks.base import Support
from algebra.plugins.relu.equations import moving_units
from algebra.plugins.relu.network import ShallowReLU
from algebra.plugins.relu.patterns import (
    patterns_left_by_D3,
    patterns_left_by_D4,
    sample_pattern_ranks,
)
from algebra.problems.allocation import Allocation
from algebra.ranks.budgets.cover import budget_violations
from algebra.ranks.budgets.lines import budgets
from algebra.systems.inspection import Inspection


def inspect_relu(
    allocation: Allocation, support: Support, seed: int = 0, all_forms: bool = False
) -> Inspection:
    """Structure report of a shallow ReLU net; no form holds for all patterns at once."""
    return Inspection(
        allocation=allocation,
        prime=random_prime(random.Random(f"inspect/{seed}")),
        forms=(),
        skipped=tuple(_pattern_words(allocation, support, seed)),
        budgets=budgets(allocation),
        violations=budget_violations(allocation),
    )


def _pattern_words(allocation: Allocation, support: Support, seed: int) -> list[str]:
    """Results of counting and ranks on the activation patterns of a ReLU net."""
    network = allocation.network
    units = len(moving_units(allocation, support))
    words = [
        f"the equations hold for one activation pattern at a time: {units} units that depend on "
        f"learnable weights, on {network.m} samples, 2^{units * network.m} patterns"
    ]
    if not isinstance(network, ShallowReLU):
        return words
    counts = [c for c in allocation.row_counts("W1") if c]
    if allocation.matrices == ("W1",) and allocation.size == network.outputs:
        words.append(
            f"Lemma D.3 leaves {patterns_left_by_D3(units, network.d, network.m)} of them, "
            f"Lemma D.4 {patterns_left_by_D4(counts, network.m)} (where no right-hand side is 0)"
        )
    if allocation.size:
        ranks = sample_pattern_ranks(allocation, seed=seed)
        words.append(
            f"rank of the linear system: {ranks.ranks[0]} of {ranks.needed} with all units "
            f"active; full for {ranks.full} of {len(ranks.ranks)} random patterns"
        )
    return words
