"""The cheapest groups that contain given vectors, compared with all sets of groups."""

from itertools import combinations

import numpy as np
import pytest

from algebra.errors import DualError
from algebra.linalg.ranks import modular_rank
from algebra.matroids.containing import ContainingProblem, cheapest_containing, containing_bound
from algebra.matroids.groups import GroupLeaf, Groups
from tests.samples import many

P = 10007


def problem_of(rng, dimension=6, count=7, caps=None, start=()):
    """Sparse groups of one or two vectors, costs, and vectors in the span of all."""
    parts = [
        rng.integers(1, 5, (rng.integers(1, 3), dimension)) * (rng.random(dimension) < 0.35)
        for _ in range(count)
    ]
    whole = np.concatenate(parts)
    vectors = rng.integers(0, P, (int(rng.integers(1, 3)), len(whole))) @ whole % P
    vectors = vectors[: modular_rank(vectors, P)]
    costs = rng.integers(1, 4, count).tolist()
    groups = Groups(parts.__getitem__, [len(part) for part in parts], dimension, P)
    systems = [] if caps is None else [([0] * count, [caps])]
    return ContainingProblem(
        groups, costs, len(vectors), frozenset(start), systems, vectors=vectors
    ), parts


def by_force(problem, parts):
    """The least cost over all sets, by ranks of stacked rows; None if there is none."""
    best = None
    count = len(parts)
    for size in range(count + 1):
        for chosen in combinations(range(count), size):
            if not problem.start <= set(chosen) or not problem.keeps_caps(chosen):
                continue
            rows = [parts[k] for k in chosen] + [np.zeros((1, problem.groups.dimension), int)]
            known = np.concatenate(rows)
            more = np.concatenate([known, problem.vectors])
            if modular_rank(more, P) == modular_rank(known, P):
                cost = problem.cost(chosen)
                best = cost if best is None else min(best, cost)
    return best


@pytest.mark.parametrize("caps", [None, 2])
def test_the_cost_is_the_least_of_all_sets(caps):
    """With and without a cap and required groups the cost is the least, and the proof says so."""
    rng = np.random.default_rng(5)
    for number in range(many(60)):
        problem, parts = problem_of(rng, caps=caps, start=(1,) if number % 3 == 0 else ())
        found, best = cheapest_containing(problem), by_force(problem, parts)
        assert found.cost == best
        assert found.bound == best
        again = ContainingProblem(
            problem.groups, problem.costs, problem.wanted, problem.start, problem.systems,
            vectors=problem.vectors,
        )  # fmt: skip
        assert containing_bound(again, found.leaves, problem.cuts) == best


def test_forged_cuts_and_leaves_are_found():
    """A set that is no cut, a group that does not exist and leaves that miss sets are errors."""
    problem, _ = problem_of(np.random.default_rng(1))
    whole = [GroupLeaf((), ())]
    with pytest.raises(DualError, match="outside a cut"):
        containing_bound(problem, whole, [[]])
    with pytest.raises(DualError, match="does not exist"):
        containing_bound(problem, whole, [[77]])
    with pytest.raises(DualError):
        containing_bound(problem, [GroupLeaf((0,), ())], [])


def test_useless_groups_are_useful_together():
    """Two groups that contain nothing alone contain the vectors together."""
    parts = [np.array([[1, 0]]), np.array([[0, 1]])]
    groups = Groups(parts.__getitem__, [1, 1], 2, P)
    problem = ContainingProblem(groups, (1, 1), 1, vectors=np.array([[1, 1]]))
    assert [problem.missing({k}) for k in (0, 1)] == [1, 1]
    assert cheapest_containing(problem).chosen == (0, 1)
