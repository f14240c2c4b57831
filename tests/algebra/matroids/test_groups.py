"""Groups of columns: their gains, compared with ranks of unions."""

from itertools import chain, combinations

import numpy as np
import pytest

from algebra.matroids.groups import GroupLeaf, Groups, Span
from algebra.matroids.linear import LinearMatroid

P = 101


@pytest.mark.parametrize("seed", range(5))
def test_gains_are_differences_of_ranks(seed):
    """f(U + k) - f(U) for all U and k, independently of earlier calls."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 3, (5, 10)) * rng.integers(0, 2, (5, 10))
    members = [[0, 1, 2], [3], [], [4, 5], [6, 7, 8, 9]]
    groups = Groups.of_columns(LinearMatroid(table, P), members)
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
    """Groups neither chosen nor banned."""
    groups = Groups.of_columns(LinearMatroid(np.eye(3, dtype=np.int64), P), [[0], [1], [2]])
    assert groups.open(GroupLeaf((1,), (2,))) == [0]
    assert len(groups) == 3


@pytest.mark.parametrize("seed", range(3))
def test_spans_are_reduced_echelon_forms(seed):
    """Vector by vector: unit vectors at the pivots, the rank of all, and zero modulo the span."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2, (6, 7)) * rng.integers(0, 2, (6, 7))
    span = Span.empty(7)
    for k in range(6):
        span = span.extended(table[k : k + 1], P)
        assert len(span.rows) == LinearMatroid(table[: k + 1].T, P).rank()
        assert (span.rows[:, span.pivots] == np.eye(len(span.rows))).all()
        assert not span.left(table[: k + 1], P).any()
    assert sorted([*span.pivots, *span.others]) == list(range(7))


def test_what_a_union_is_at_most():
    """The sizes, the dimension and a given bound: the least of them."""
    table = np.ones((3, 6), np.int64)
    groups = Groups.of_columns(LinearMatroid(table, P), [[0], [1, 2], [3, 4, 5]])
    assert groups.most([], [0, 1, 2]).tolist() == [1, 2, 3]
    assert groups.most([1], [0, 2]).tolist() == [3, 3]
    groups.reach = lambda chosen, others: np.ones(len(others), np.int64)
    assert groups.most([1], [0, 2]).tolist() == [1, 1]
