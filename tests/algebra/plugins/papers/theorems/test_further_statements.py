"""What the papers say besides their theorems: each line of docs/further-statements.md about it."""

from fractions import Fraction
from itertools import product
from math import factorial, prod

import numpy as np
import pytest

from algebra.plugins.papers.structure import structure_of
from algebra.ranks.generic_rank import allocation_rank, network_rank
from matchprob import Allocation, LinearFeedForward, LinearRNN


def rank(matrix):
    """Of a matrix of small integers."""
    return int(np.linalg.matrix_rank(np.asarray(matrix, float)))


@pytest.mark.parametrize(
    "sizes", [(1, 3, 1, 1), (2, 2, 1, 1), (2, 4, 1, 1), (2, 5, 1, 2), (2, 5, 2, 2)]
)
def test_theorem_B1_bounds_the_dimension_of_the_functions(sizes):
    """No network depends on more than n(d + b) numbers, attained where n is not the bottleneck."""
    n, T, b, d = sizes
    whole = network_rank(LinearRNN(n=n, T=T, b=b, d=d, m=T * b)).rank
    assert whole == min(T * b * d, n * (d + b))


def test_theorem_B1_condition_does_not_prevent_degeneration():
    """T b d ≤ n(d + b) in both, but a 3×3 matrix of rank 2 has 8 numbers, not 9; and with n = T =
    3, b = d = 2 the 4×4 Hankel matrix of D W B, D W² B, D W³ B has rank 3: one number less."""
    assert network_rank(LinearRNN(n=2, T=1, b=3, d=3, m=3)).rank == 8
    assert network_rank(LinearRNN(n=3, T=3, b=2, d=2, m=6)).rank == 11


def expectation(values):
    """The mean of exact values with their probabilities."""
    return sum(value * weight for value, weight in values)


def test_lemma_B10_needs_independence():
    """With v3 = v2 (v1² − 1) all three are uncorrelated, v1 v2 and v1 v3 are not."""
    law = [(-2, Fraction(1, 8)), (0, Fraction(3, 4)), (2, Fraction(1, 8))]
    cases = [((v, s, s * (v * v - 1)), p * Fraction(1, 2)) for (v, p), s in product(law, (-1, 1))]
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert expectation((v[a] * v[b], p) for v, p in cases) == 0
    assert all(expectation((v[a], p) for v, p in cases) == 0 for a in range(3))
    products = [((v[0] * v[1], v[0] * v[2]), p) for v, p in cases]
    assert expectation((x * y, p) for (x, y), p in products) == 3


def test_corollary_B11_is_not_about_powers_of_one_matrix():
    """The rows of W are independent, those of W W are correlated: B depends on A."""
    found = []
    for entries in product((-1, 1), repeat=4):
        square = np.linalg.matrix_power(np.array(entries).reshape(2, 2), 2)
        found.append((int(square[0, 0]), int(square[1, 1])))
    mean = [Fraction(sum(column), 16) for column in zip(*found, strict=True)]
    covariance = Fraction(sum(x * y for x, y in found), 16) - mean[0] * mean[1]
    assert covariance == 1


def test_lemma_B12_counts_the_right_factor_wrongly():
    """With m = 2, d = 3, k = 1 one u may be used md = 6 times, but gives rank mk = 2 of 6."""
    rng = np.random.default_rng(0)
    u = rng.integers(1, 50, (1, 3))
    products = [(rng.integers(-50, 50, (2, 1)) @ u).ravel() for _ in range(6)]
    assert rank(products) == 2


def test_lemma_B12_fails_with_mk_too():
    """d = m = 2, cells (0,1) (0,2) (1,0) (2,0): no factor more than twice, rank 3 of 4."""
    rng = np.random.default_rng(1)
    left, right = rng.integers(-50, 50, (2, 3, 2))
    cells = [(0, 1), (0, 2), (1, 0), (2, 0)]
    assert rank([np.outer(left[i], right[j]).ravel() for i, j in cells]) == 3


def gaussian_moment(factors):
    """E of a product of independent standard normal variables, given by their names."""
    powers = [factors.count(name) for name in set(factors)]
    if any(p % 2 for p in powers):
        return 0
    return prod(factorial(p) // (2 ** (p // 2) * factorial(p // 2)) for p in powers)


@pytest.mark.parametrize("n", [4, 10, 40])
def test_lemma_B13_bound_fails_for_variances(n):
    """E (W²)_{01}² is 1/n, above the bound 4!/(2² 2! n²) = 3/n² for n > 3."""
    total = sum(
        gaussian_moment([(0, p), (p, 1), (0, q), (q, 1)]) for p, q in product(range(n), repeat=2)
    )
    variance = Fraction(total, n**2)
    assert variance == Fraction(1, n) > Fraction(3, n**2)


def test_F1_surplus_weights_do_not_repair_the_conditions():
    """Five weights for four equations, one row with one too many, and still rank 3 of 4."""
    net = LinearFeedForward(q=4, widths=(3,), d=2, m=2)
    cells = [("W1", 0, 1), ("W1", 0, 2), ("W1", 0, 3), ("W1", 1, 0), ("W1", 2, 0)]
    assert network_rank(net).rank == 4
    assert allocation_rank(Allocation.from_cells(net, cells)).rank == 3


@pytest.mark.parametrize("m", [2, 3, 6])
def test_F1_dependent_samples_count_once(m):
    """More than T b samples determine no more than T b of them."""
    assert network_rank(LinearRNN(n=3, T=2, b=1, d=2, m=m)).rank == 4


def test_lemma_D1_with_the_sign_of_an_inactive_unit_corrected():
    """(2P − I) v ≥ 0 if and only if relu(v) = P v; an inactive unit may have v = 0."""
    for v, p in product((-2, 0, 3), (0, 1)):
        assert ((2 * p - 1) * v >= 0) == (max(v, 0) == p * v)
    assert (2 * 0 - 1) * 0 >= 0


def test_fact_1_holds_and_remark_4_fails_for_wide_second_factors():
    """Without a common vector AB has full rank; with l > n there always is a common one."""
    A, B = np.array([[1, 0, 0]]), np.array([[1, 0], [0, 1], [0, 0]])
    assert rank(A @ B) == min(1, 2)
    kernel = np.array([[0, 0], [1, 0], [0, 1]])
    assert rank(np.hstack([kernel, B])) < kernel.shape[1] + B.shape[1]


def test_remark_4_holds_for_narrow_second_factors():
    """For l ≤ n: AB has rank l exactly if the kernel of A and the columns of B are independent."""
    for entries in product((0, 1), repeat=8):
        A = np.array(entries[:6]).reshape(2, 3)
        if rank(A) < 2:
            continue
        kernel = np.cross(A[0], A[1])
        for B in (np.array([[*entries[6:], 1]]).T, np.array([[1, *entries[6:]]]).T):
            apart = rank(np.column_stack([kernel, B])) == 2
            assert (rank(A @ B) == 1) == apart


@pytest.mark.parametrize("k", [1, 2, 3])
def test_more_rows_mean_fewer_linear_equations(k):
    """Each row of W without learnable weights makes its T b equations linear."""
    net = LinearRNN(n=4, T=3, b=1, d=1, m=3)
    cells = [("W", i % k, i) for i in range(3)]
    found = structure_of(Allocation.from_cells(net, cells))
    assert found["quadratic"] == k * (net.T - 1)
    assert found["linear"] == net.n * net.T - k * (net.T - 1) + net.m


def test_constraints_of_layers_do_not_apply_independently():
    """One row of W1 and one column of W2 meet each layer's conditions; together rank 3 of 4."""
    net = LinearFeedForward(q=2, widths=(2,), d=2, m=2)
    cells = [("W1", 0, 0), ("W1", 0, 1), ("W2", 0, 0), ("W2", 1, 0)]
    assert allocation_rank(Allocation.from_cells(net, cells)).rank == 3
    assert network_rank(net).rank == 4
