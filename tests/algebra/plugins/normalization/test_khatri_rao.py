"""Khatri–Rao products: ranks compared with brute force, SymPy and the paper's counterexample."""

import random
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.linalg.primes import random_prime
from algebra.plugins.normalization.khatri_rao import (
    khatri_rao,
    khatri_rao_rank,
    product_patterns,
    structural_rank,
    structural_ranks,
    width_needed,
)
from algebra.ranks.generic_rank import allocation_rank
from benchmarks.bench_sparse_masks import modular_ranks
from matchprob import Allocation, LinearEstimator
from tests.refusals import refuses
from tests.samples import many


def bits(rows, columns):
    """Strategy: 0/1 matrices of a size."""
    row = st.lists(st.integers(0, 1), min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows).map(np.array)


def recursive_determinant(pattern):
    """Definition 4 of the second paper, literally."""
    if len(pattern) == 1:
        return int(pattern[0, 0])
    rest = [np.delete(pattern[:, 1:], i, axis=0) for i in range(len(pattern))]
    return max(int(pattern[i, 0]) * recursive_determinant(rest[i]) for i in range(len(pattern)))


def test_lemma_1():
    """C X B = W* if and only if (C ⊙ Bᵀ) vecd(X) = vec(W*), symbol by symbol."""
    n, m, w = 2, 3, 4
    C = np.array(sympy.MatrixSymbol("C", n, w).as_explicit())
    B = np.array(sympy.MatrixSymbol("B", w, m).as_explicit())
    x = np.array(sympy.symbols(f"x:{w}"))
    left = (C @ np.diag(x) @ B).ravel()
    right = khatri_rao(C, B.T) @ x
    assert all(sympy.expand(a - b) == 0 for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 2), (2, 5), (4, 3), (6, 6)])
def test_lemma_2(n, m):
    """The dense product has full rank at w = nm, a proof, and one less at nm − 1."""
    full, less = khatri_rao_rank(n, m, n * m), khatri_rao_rank(n, m, n * m - 1)
    assert full.is_proved
    assert (full.rank, less.rank) == (n * m, n * m - 1)


@given(bits(3, 3))
def test_full_structural_rank_is_definition_4(pattern):
    """The matching agrees with the recursive definition."""
    assert (structural_rank(pattern) == len(pattern)) == bool(recursive_determinant(pattern))


@given(bits(3, 4))
def test_structural_rank_by_permutations(pattern):
    """The matching's size is the best over all injections of rows into columns."""
    best = max(int(sum(pattern[i, c[i]] for i in range(3))) for c in permutations(range(4), 3))
    assert structural_rank(pattern) == best


@settings(max_examples=many(60))
@given(bits(2, 4), bits(2, 4))
def test_structural_rank_is_the_generic_rank(left, right):
    """SymPy's rank of the symbolic product is the matching's size."""
    A = np.array([[sympy.Symbol(f"a{i}{j}") * left[i, j] for j in range(4)] for i in range(2)])
    B = np.array([[sympy.Symbol(f"b{i}{j}") * right[i, j] for j in range(4)] for i in range(2)])
    values = {s: k**2 + 2 for k, s in enumerate(sorted(sympy.Matrix(A).free_symbols, key=str))}
    values |= {s: k**3 + 5 for k, s in enumerate(sorted(sympy.Matrix(B).free_symbols, key=str))}
    determinant = sympy.Matrix(khatri_rao(A, B)).det(method="berkowitz").expand()
    pattern = product_patterns(left, right)
    assert (determinant != 0) == (structural_rank(pattern) == len(pattern))
    assert sympy.Matrix(khatri_rao(A, B)).subs(values).rank() <= structural_rank(pattern)


def test_random_masks_agree():
    """Matching and rank modulo p agree on 6000 random masks of several sizes and densities."""
    rng = random.Random(7)
    draws = np.random.default_rng(7)
    for n, m, w, density in [(2, 2, 4, 0.5), (3, 3, 9, 0.45), (2, 3, 8, 0.4), (3, 3, 7, 0.6)]:
        left, right = (draws.random((1500, size, w)) < density for size in (n, m))
        structural = structural_ranks(product_patterns(left, right))
        modular = modular_ranks(left, right, random_prime(rng), rng)
        assert np.array_equal(structural, modular)
        assert 0 < (structural == n * m).sum() < 1500 or w < n * m


def test_masks_are_proved_one_at_a_time():
    """A sparse pattern's rank is proved, and a column of zeros lowers it by one."""
    left = np.ones((2, 4), int)
    left[:, 2] = 0
    found = khatri_rao_rank(2, 2, 4, left=left)
    assert (found.rank, found.is_proved) == (3, True)


def test_shared_factors_break_it():
    """The first paper's columns z_j ⊗ a_i share factors: full matching, deficient rank."""
    net = LinearEstimator(q=3, d=2, m=2)
    net_cells = [("W", 0, 1), ("W", 0, 2), ("W", 1, 0), ("W", 1, 1)]
    assert allocation_rank(Allocation.from_cells(net, net_cells)).rank == 4
    # Layers on both sides: cells (0,1), (0,2), (1,0), (2,0) of a middle layer.
    from algebra.networks.feedforward import LinearFeedForward

    deep = LinearFeedForward(q=3, widths=(3, 3), d=2, m=2)
    cells = [("W2", 0, 1), ("W2", 0, 2), ("W2", 1, 0), ("W2", 2, 0)]
    assert structural_rank(np.ones((4, 4), int)) == 4
    assert allocation_rank(Allocation.from_cells(deep, cells)).rank == 3


def test_no_columns_no_rank():
    """A matrix without columns has rank 0, in a batch too."""
    assert structural_ranks(np.zeros((3, 2, 0), int)).tolist() == [0, 0, 0]
    assert khatri_rao_rank(2, 2, 0).rank == 0


def test_batches_are_cut(monkeypatch):
    """Many patterns at once give the same results as one at a time."""
    monkeypatch.setattr("algebra.plugins.normalization.khatri_rao._AT_ONCE", 40)
    patterns = np.random.default_rng(0).random((9, 3, 4)) < 0.4
    assert structural_ranks(patterns).tolist() == [structural_rank(p) for p in patterns]


@pytest.mark.parametrize(
    "call",
    [
        lambda: khatri_rao(np.ones((2, 3)), np.ones((2, 4))),
        lambda: khatri_rao_rank(2, 2, 4, left=np.ones((2, 3))),
        lambda: width_needed(3, 3, target_rank=4),
    ],
)
def test_sizes_that_do_not_fit(call):
    """Sizes that do not fit are rejected."""
    refuses("", call)


def no_product(cells, p):
    """P(Σ u_i v_j = 0) over a set of cells (i, j), u and v independent Bernoulli(p), exactly."""
    rows = sorted({i for i, _ in cells})
    total = Fraction(0)
    for ones in product((0, 1), repeat=len(rows)):
        alive = {i for i, u in zip(rows, ones, strict=True) if u}
        touched = {j for i, j in cells if i in alive}
        chance = p ** len(alive) * (1 - p) ** (len(rows) - len(alive))
        total += chance * (1 - p) ** len(touched)
    return total


def test_a_step_of_lemma_10_is_false_and_the_lemma_is_true():
    """Second paper: a = (1, 1), p = 0.6 violates the bound by the h×h square, 0.496 > 0.294."""
    p = Fraction(3, 5)
    column = no_product([(0, 0), (1, 0)], p)
    square = no_product(list(product(range(2), repeat=2)), p)
    assert (column, square) == (Fraction(496, 1000), Fraction(2944, 10000))
    # With p ≥ √(qd), by a matching of n/d edges, for all sets of cells, p and d ≤ 3.
    for d in (1, 2, 3):
        cells = list(product(range(d), repeat=2))
        for number in range(1, 2 ** len(cells)):
            chosen = [cell for k, cell in enumerate(cells) if number >> k & 1]
            grid = np.zeros((d, d), int)
            grid[tuple(np.array(chosen).T)] = 1
            edges = structural_rank(grid)
            assert edges * d >= len(chosen)
            for p in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
                assert no_product(chosen, p) <= (1 - p * p) ** edges
                assert no_product(chosen, p) <= (1 - p * p / d) ** len(chosen)
