"""Inspection of programs: ranks; nothing is eliminated, and counts are of parameters."""

from __future__ import annotations

import random
from dataclasses import replace

from algebra.arguments.certify import generic_ranks
from algebra.linalg.primes import random_prime
from algebra.networks.base import Support
from algebra.plugins.models.network import FILE, ProgramNetwork
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.ranks.pieces import on_pattern
from algebra.systems.inspection import Inspection
from algebra.words import plural


def inspect_program(
    allocation: Allocation, support: Support, seed: int = 0, all_forms: bool = False
) -> Inspection:
    """Structure report of an allocation of a program: the ranks, and whether they are exact."""
    problem = Problem(allocation.network, allocation.masks, support)
    network = allocation.network
    assert isinstance(network, ProgramNetwork)
    where = " at the weights of the file" if network.weights == FILE else ""
    problem = replace(problem, network=network.at_file(allocation.masks, support))
    if network.is_piecewise:
        problem = on_pattern(problem, 0)
        where += " on one activation pattern or choice of tokens"
    whole, own = generic_ranks(problem, seed)
    assert isinstance(problem.network, ProgramNetwork)
    why = problem.network.why_exact(support, seed) or "upper bounds: values are formal"
    size = allocation.size
    words = (
        f"generic rank {own.rank}{where}: "
        + plural(size, f"{size} parameter")
        + plural(whole.rank, f" for {whole.rank} independent equation"),
        f"ranks: {why}",
    )
    return Inspection(
        allocation=allocation,
        prime=random_prime(random.Random(f"inspect/{seed}")),
        forms=(),
        skipped=words,
        budgets=(),
        violations=(),
        rank=own.rank,
        equations=whole.rank,
    )
