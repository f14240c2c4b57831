"""Groups of columns: what they add to each other, against ranks of unions."""

from itertools import chain, combinations

import numpy as np
import pytest

from algebra.matroids.groups import GroupLeaf, Groups
from algebra.matroids.linear import LinearMatroid

P = 101


@pytest.mark.parametrize("seed", range(5))
def test_gains_are_differences_of_ranks(seed):
    """f(U + k) - f(U) for all U and k, whatever was asked before."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 3, (5, 10)) * rng.integers(0, 2, (5, 10))
    members = [[0, 1, 2], [3], [], [4, 5], [6, 7, 8, 9]]
    groups = Groups(LinearMatroid(table, P), members)
    everything = range(len(members))
    for size in everything:
        for chosen in combinations(everything, size):
            found, gains = groups.gains(frozenset(chosen), everything)
            assert found == groups.rank(chosen)
            union = LinearMatroid(table, P).rank
            assert found == union(list(chain(*(members[k] for k in chosen))))
            for k in everything:
                assert found + gains[k] == groups.rank({*chosen, k})


def test_open_groups():
    """Those neither chosen nor banned."""
    groups = Groups(LinearMatroid(np.eye(3, dtype=np.int64), P), [[0], [1], [2]])
    assert groups.open(GroupLeaf((1,), (2,))) == [0]
    assert len(groups) == 3
