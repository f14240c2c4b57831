"""Inner blocks of deep targets: numbers of scales of hidden units, of real and positive ones."""

import random
from collections import Counter
from math import comb

import numpy as np
import pytest
from flint import fmpq

from algebra.linalg.ranks import modular_rank
from algebra.linalg.rational import rational_solution
from algebra.linalg.residues import rational_residues
from algebra.plugins.normalization.hidden_scales import (
    IMPOSSIBLE,
    IRRATIONAL,
    NO_POSITIVE,
    NO_REAL,
    NOT_FOUND,
    RATIONAL,
    bilinear_forms,
    find_hidden_scales,
    least_inner_width,
    shows_no_solution,
    solution_count,
)
from algebra.plugins.normalization.khatri_rao import khatri_rao
from tests.samples import many


def draw(rng, rows, columns, denominator=64):
    """A Gaussian matrix on a grid of rationals."""
    return np.array(
        [[fmpq(round(rng.gauss(0, 1) * denominator) or 1, denominator) for _ in range(columns)]
         for _ in range(rows)],
        dtype=object,
    )  # fmt: skip


def block(rng, n, m, w):
    """Frozen matrices and a target of an inner block."""
    return draw(rng, n, w), draw(rng, w, m), draw(rng, n, m)


def quadratic(W2, W1, target):
    """By hand for d = 2: coefficients of det(Σ ε_j b_j), which vanishes at ε_2/ε_1 = t."""
    F, G = bilinear_forms(W2, W1, target)
    return (
        F[0, 0] * G[1, 0] - F[1, 0] * G[0, 0],
        F[0, 0] * G[1, 1] + F[0, 1] * G[1, 0] - F[1, 0] * G[0, 1] - F[1, 1] * G[0, 0],
        F[0, 1] * G[1, 1] - F[1, 1] * G[0, 1],
    )


def test_two_by_two_by_the_signs_of_a_quadratic():
    """Random 2×2 targets at two units: the result agrees with Descartes' rule."""
    rng = random.Random(2)
    seen = Counter()
    trials = many(2000)
    for _ in range(trials):
        data = block(rng, 2, 2, 2)
        c, b, a = quadratic(*data)
        found = find_hidden_scales(*data)
        seen[found.status] += 1
        discriminant = b * b - 4 * a * c
        if a * c == 0 or discriminant == 0:
            continue
        if discriminant < 0:
            assert found.status == NO_REAL
        elif a * c > 0 and a * b > 0:
            assert found.status == NO_POSITIVE
        else:
            assert found.is_realized
            assert found.positive == (1 if a * c < 0 else 2)
    assert 0.6 * trials < seen[RATIONAL] + seen[IRRATIONAL] < 0.775 * trials
    assert seen[IMPOSSIBLE] == 0
    assert seen[NOT_FOUND] < 10


@pytest.mark.parametrize(("n", "m"), [(2, 3), (3, 2), (3, 3)])
def test_as_many_complex_solutions_as_the_segre_variety_s_degree(n, m):
    """At (n−1)(m−1) + 1 units there are C(n+m−2, n−1); an irrational one solves the system."""
    rng = random.Random(10 * n + m)
    w = least_inner_width(n, m)
    for _ in range(3):
        W2, W1, target = block(rng, n, m, w)
        found = find_hidden_scales(W2, W1, target)
        assert found.complex == comb(n + m - 2, n - 1) == solution_count(n, m, w)
        assert found.status in (IRRATIONAL, NO_POSITIVE, NO_REAL)
        if found.status == IRRATIONAL:
            assert all(low > 0 for low, _ in found.box[n - 1 :])
            residual = max(
                abs(sum(B[i, j] * found.delta[i] * found.epsilon[j]
                        for i in range(n) for j in range(m)))
                for B in bilinear_forms(W2, W1, target)
            )  # fmt: skip
            assert residual < fmpq(1, 2**50)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 3), (2, 4)])
def test_planted_scales_are_found(n, m):
    """A target made from rational scales is realized by them at the least width, over Q."""
    rng = random.Random(n + m)
    w = least_inner_width(n, m)
    W2, W1 = draw(rng, n, w), draw(rng, w, m)
    made = W2 @ (draw(rng, w, 1) * W1)
    epsilon = np.array([fmpq(1), *(fmpq(k + 2, 3) for k in range(m - 1))], dtype=object)
    found = find_hidden_scales(W2, W1, made / epsilon)
    assert found.status == RATIONAL
    K = khatri_rao(W2, W1.T)
    goal = np.array(found.delta)[:, None] * (made / epsilon) * np.array(found.epsilon)
    assert all(entry > 0 for entry in found.epsilon)
    assert rational_solution(K, goal.ravel(), w) is not None


@pytest.mark.parametrize("d", [2, 3, 4])
def test_below_the_least_width_a_prime_is_the_proof(d):
    """(d−1)² units are impossible, by a rank modulo a prime; one more is never refuted so."""
    rng = random.Random(d)
    data = block(rng, d, d, least_inner_width(d, d) - 1)
    found = find_hidden_scales(*data)
    assert found.status == IMPOSSIBLE
    assert shows_no_solution(bilinear_forms(*data), found.prime)
    planted = draw(rng, d, 1) @ draw(rng, 1, d)
    W2, W1 = data[:2]
    made = W2 @ (draw(rng, len(W1), 1) * W1)
    assert not shows_no_solution(bilinear_forms(W2, W1, made * planted), found.prime)
    positive = np.array([abs(entry) for entry in draw(rng, 1, d)[0]], dtype=object)
    special = find_hidden_scales(W2, W1, made * positive)
    assert special.status == RATIONAL
    assert special.epsilon == tuple(positive[0] / entry for entry in positive)
    assert solution_count(d, d, len(W1)) == 0


def test_between_the_widths_a_curve_is_sliced():
    """d = 3 with six units: a curve of solutions, with positive scales in most cases."""
    rng = random.Random(36)
    seen = Counter(find_hidden_scales(*block(rng, 3, 3, 6)).status for _ in range(6))
    assert seen[IRRATIONAL] >= 4
    assert set(seen) <= {IRRATIONAL, RATIONAL, NOT_FOUND, IMPOSSIBLE}


def test_signs_can_refute_a_curve():
    """If an equation requires that positive numbers add up to 0, linear programs prove it."""
    rng = random.Random(9)
    W2, W1, target = block(rng, 3, 3, 6)
    W1[:, 2] = -W1[:, 0] - W1[:, 1]
    # Then K's left kernel is e_i ⊗ (1, 1, 1): the equations are δ_i Σ target_ij ε_j = 0.
    target[0] = [abs(entry) for entry in target[0]]
    assert len(bilinear_forms(W2, W1, target)) == 3
    found = find_hidden_scales(W2, W1, target)
    assert found.status == IMPOSSIBLE
    assert "signs" in found.note
    target[0, 0] = -target[0, 0]
    target[1:] = target[0]
    assert find_hidden_scales(W2, W1, target).status != IMPOSSIBLE


def test_rows_of_zeros_ask_nothing():
    """An output without inputs has the scale 0 and no equations."""
    rng = random.Random(8)
    W2, W1, target = block(rng, 3, 2, 2)
    target[1] = fmpq(0)
    found = find_hidden_scales(W2, W1, target)
    small = find_hidden_scales(W2[[0, 2]], W1, target[[0, 2]])
    assert found.status == small.status
    assert found.complex == small.complex == 2
    assert find_hidden_scales(W2, W1, target * 0).status == RATIONAL


@pytest.mark.parametrize("d", [2, 3, 4, 5, 6])
def test_the_jacobian_is_full_at_the_least_width(d):
    """The map (γ, δ, ε) to targets is dominant at (d−1)² + 1 units: rank d² modulo a prime."""
    rng = random.Random(60 + d)
    p = 2**31 - 1
    for missing in (0, 1):
        w = least_inner_width(d, d) - missing
        W2, W1 = draw(rng, d, w), draw(rng, w, d)
        goal = W2 @ (draw(rng, w, 1) * W1)
        columns = [khatri_rao(W2, W1.T)]
        for i in range(d):
            row, column = goal * fmpq(0), goal * fmpq(0)
            row[i], column[:, i] = goal[i], goal[:, i]
            columns += [row.reshape(-1, 1), column.reshape(-1, 1)]
        jacobian = rational_residues(np.concatenate(columns, axis=1), p)
        assert modular_rank(jacobian, p) == d * d - missing
