"""Bases under caps by trying every set, with the lines of each cap counted here."""

from itertools import combinations

import numpy as np

from algebra.linalg.ranks import modular_rank


def keeps(asked, chosen):
    """Whether a set is independent and exceeds no cap."""
    columns = asked.columns[:, list(chosen)]
    return modular_rank(columns, asked.p) == len(chosen) and all(
        (np.bincount([group[e] for e in chosen], minlength=len(caps)) <= caps).all()
        for group, caps in asked.systems
    )


def feasible(asked):
    """All sets of the demanded size that `keeps` allows."""
    return [e for e in combinations(range(len(asked.costs)), asked.size) if keeps(asked, e)]


def cost_of(asked, chosen):
    """The sum of the costs of a set."""
    return sum(asked.costs[e] for e in chosen)


def least_cost(asked):
    """The cost of the cheapest feasible set; None if there is none."""
    return min((cost_of(asked, chosen) for chosen in feasible(asked)), default=None)
