"""Groups of two kinds against brute force over all pairs of sets."""

from itertools import combinations

import numpy as np
import pytest

from algebra.linalg.ranks import modular_rank
from algebra.matroids.containing import cheapest_containing, containing_bound
from algebra.matroids.pairs import PairedProblem, pair_groups
from tests.samples import P, many


def problem_of(rng):
    """Random vectors of small rank, and a space in the span of all."""
    firsts, seconds, dimension = rng.integers(1, 5), rng.integers(0, 4), rng.integers(1, 6)
    shape = firsts, seconds + 1, rng.integers(1, 3), dimension
    table = rng.integers(0, 3, shape) * (rng.random(shape) < 0.4)
    # The vectors of a second group often repeat those without it.
    table = np.where(rng.random((*shape[:2], 1, 1)) < 0.3, table[:, :1], table)
    rows = table.reshape(-1, dimension)
    vectors = rng.integers(0, 5, (rng.integers(1, 4), len(rows))) @ rows
    kept = [k for k in range(len(vectors)) if modular_rank(vectors[: k + 1], P) == k + 1]
    groups = pair_groups(lambda r, s: table[r, s], [shape[2]] * firsts, int(seconds), dimension, P)
    costs = rng.integers(0, 4, firsts + seconds).tolist()
    given = {"vectors": vectors[kept], "cell": lambda r, s: table[r, s]}
    return PairedProblem(groups, costs, len(kept), **given, sizes=[shape[2]] * firsts), table


def least(problem, table):
    """The least cost by brute force."""
    firsts, best = len(problem.sizes), None
    every = range(len(problem.costs))
    for size in range(len(every) + 1):
        for chosen in combinations(every, size):
            numbers = [0, *(k - firsts + 1 for k in chosen if k >= firsts)]
            some = [k for k in chosen if k < firsts]
            rows = table[np.ix_(some, numbers)].reshape(-1, table.shape[-1])
            whole = np.concatenate([rows, problem.vectors])
            if modular_rank(whole, P) == modular_rank(rows, P):
                cost = sum(problem.costs[k] for k in chosen)
                best = cost if best is None else min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(many(160)))
def test_cheapest_pairs_equal_brute_force_and_are_proved_by_their_leaves(seed):
    """The cost is the least one of all sets, and leaves with cuts bound it without the search."""
    problem, table = problem_of(np.random.default_rng(seed))
    found = cheapest_containing(problem)
    assert found.cost == found.bound == least(problem, table)
    again, _ = problem_of(np.random.default_rng(seed))
    assert containing_bound(again, found.leaves, problem.cuts) >= found.cost
    every = frozenset(range(len(problem)))
    assert all(problem.missing(every - cut) for cut in problem.cuts)


@pytest.mark.parametrize("seed", range(many(40)))
def test_bounds_hold_for_every_set_of_a_leaf(seed):
    """The bounds by ranks are never above the cost of a solution, with few vectors or many."""
    for is_small in (True, False):
        problem, table = problem_of(np.random.default_rng(seed))
        problem.groups.is_small = is_small
        assert problem.bound(problem.whole) <= least(problem, table)
