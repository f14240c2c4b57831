"""Lemmas D.3 and D.4 compared with enumeration and with linear systems over GF(p)."""

from itertools import product

import numpy as np
import pytest
from flint import nmod_mat
from hypothesis import given
from hypothesis import strategies as st
from matchprob.plugins.papers.figures.papers.paper1_relu import patterns_left

from algebra.plugins.relu.patterns import patterns_left_by_D3, patterns_left_by_D4

PRIME = 2**31 - 1


def pattern_infeasible_by_D3(pattern, d):
    """Lemma D.3: some sample has fewer than d active learning units."""
    return bool((np.asarray(pattern).sum(axis=0) < d).any())


def pattern_infeasible_by_D4(pattern, row_counts):
    """Lemma D.4: some unit is active on fewer samples than it has weights."""
    return bool((np.asarray(pattern).sum(axis=1) < np.asarray(row_counts)).any())


def test_relu_lemmas():
    """The numbers of patterns that D.3, D.4 and both leave, by enumeration."""
    every = [np.array(bits).reshape(3, 3) for bits in product([0, 1], repeat=9)]
    counts = [2, 2, 1]
    by_d3 = [not pattern_infeasible_by_D3(p, 2) for p in every]
    by_d4 = [not pattern_infeasible_by_D4(p, counts) for p in every]
    assert patterns_left_by_D3(3, 2, 3) == sum(by_d3)
    assert patterns_left_by_D4(counts, 3) == sum(by_d4)
    assert patterns_left(counts, 2, 3) == sum(a and b for a, b in zip(by_d3, by_d4, strict=True))


def solvable(pattern, learns, d, rng):
    """Whether one random instance with this pattern has a solution over GF(p).

    The unknowns are the learnable weights of W1 (mask `learns`); W2, X and the right-hand side are
    random.
    """
    k, m = pattern.shape
    q = learns.shape[1]
    W2, X = rng.integers(1, PRIME, (d, k)), rng.integers(1, PRIME, (q, m))
    cells = list(zip(*np.nonzero(learns), strict=True))
    rows = [
        [int(W2[a, i]) * int(X[j, s]) * int(pattern[i, s]) for i, j in cells]
        for a in range(d)
        for s in range(m)
    ]
    right = [int(v) for v in rng.integers(1, PRIME, d * m)]
    plain = nmod_mat(len(rows), len(cells), [v for row in rows for v in row], PRIME)
    extended = [v for row, y in zip(rows, right, strict=True) for v in (*row, y)]
    full = nmod_mat(len(rows), len(cells) + 1, extended, PRIME)
    return plain.rank() == full.rank()


@pytest.mark.parametrize(("d", "m", "q", "counts"), [(2, 3, 3, (3, 3)), (2, 2, 2, (2, 1, 1))])
def test_patterns_that_the_lemmas_exclude_have_no_solution(d, m, q, counts):
    """For no pattern that a lemma excludes does a random system have a solution."""
    rng = np.random.default_rng(3)
    learns = np.array([[j < r for j in range(q)] for r in counts])
    excluded = 0
    for bits in product([0, 1], repeat=len(counts) * m):
        pattern = np.array(bits).reshape(len(counts), m)
        if pattern_infeasible_by_D3(pattern, d) or pattern_infeasible_by_D4(pattern, counts):
            excluded += 1
            assert not solvable(pattern, learns, d, rng)
    assert 0 < excluded < 2 ** (len(counts) * m)
    assert 2 ** (len(counts) * m) - excluded == patterns_left(counts, d, m)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.integers(1, 3), st.integers(1, 4))
def test_both_lemmas_leave_at_most_what_each_leaves(counts, d, m):
    """The joint number is no larger than either, and never negative."""
    both = patterns_left(counts, d, m)
    each = patterns_left_by_D3(len(counts), d, m), patterns_left_by_D4(counts, m)
    assert 0 <= both <= min(each)
