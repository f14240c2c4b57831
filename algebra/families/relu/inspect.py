"""Inspection of shallow ReLU nets: counting and ranks over activation patterns."""

from __future__ import annotations

import random

from algebra.families.relu.patterns import (
    patterns_left_by_D3,
    patterns_left_by_D4,
    sample_pattern_ranks,
)
from algebra.linalg.modular import random_prime
from algebra.networks.base import Support
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
        skipped=tuple(_pattern_words(allocation, seed)),
        budgets=budgets(allocation),
        violations=budget_violations(allocation),
    )


def _pattern_words(allocation: Allocation, seed: int) -> list[str]:
    """Results of counting and ranks on the activation patterns of a ReLU net."""
    network = allocation.network
    counts = [c for c in allocation.row_counts("W1") if c]
    units = len(counts)
    words = [
        f"the equations hold for one activation pattern at a time: {units} learning units on "
        f"{network.m} samples, 2^{units * network.m} patterns"
    ]
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
