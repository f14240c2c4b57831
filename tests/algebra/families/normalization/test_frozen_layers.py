"""Several frozen layers for one layer of the target (docs/normalization.md, Theorem 15)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import matchprob as mp
from benchmarks.bench_frozen_depth import discriminant, problem


def integers(seed: int, count: int) -> list[np.ndarray]:
    """Invertible 2 × 2 matrices without zeros, of fractions."""
    rng = np.random.default_rng(seed)
    found: list[np.ndarray] = []
    while len(found) < count:
        M = rng.integers(1, 10, (2, 2)) * rng.choice([-1, 1], (2, 2))
        if M[0, 0] * M[1, 1] != M[0, 1] * M[1, 0]:
            found.append(np.array([[Fraction(int(x)) for x in row] for row in M]))
    return found


def diagonal(a: Fraction, b: Fraction) -> np.ndarray:
    return np.array([[a, Fraction(0)], [Fraction(0), b]])


def solved(A: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """The solution of two linear equations."""
    (a, b), (c, d) = A
    e, f = right
    return [(e * d - b * f) / (a * d - b * c), (a * f - e * c) / (a * d - b * c)]


def inverse(M: np.ndarray) -> np.ndarray:
    (a, b), (c, d) = M
    return np.array([[d, -b], [-c, a]]) / (a * d - b * c)


@pytest.mark.parametrize(("frozen", "rank"), [(2, 2), (3, 3), (4, 4), (5, 4)])
def test_up_to_three_layers_are_minimal(frozen, rank):
    """Scales up to factors that cancel: one for each layer more."""
    found = mp.certify(problem(2, 2, frozen), timeout=2)
    assert found.rank == rank
    assert (found.verdict == "minimal") == (frozen < 4)


@pytest.mark.parametrize(("seed", "real"), [(0, 2), (1, 2), (2, 2), (21, 0), (35, 0), (36, 0)])
def test_four_layers_realize_some_targets_and_not_others(seed, real):
    """SymPy's real solutions, two scales fixed, are those that the discriminant says."""
    *frozen, target = integers(seed, 5)
    a, b, c, d = sp.symbols("a b c d")
    W1, W2, W3, W4, goal = (sp.Matrix(2, 2, [sp.Rational(x) for x in M.ravel()])
                            for M in (*frozen, target))  # fmt: skip
    made = W4 * sp.diag(1, c) * W3 * sp.diag(a, b) * W2 * sp.diag(1, d) * W1
    basis = sp.groebner(list(made - goal), a, b, c, d, order="lex")
    assert basis.is_zero_dimensional
    last = sp.Poly(basis.exprs[-1], d)
    assert last.degree() == 2
    value = discriminant(np.array(frozen, float), np.array(target, float))
    assert last.count_roots() == real == (2 if value > 0 else 0)


@pytest.mark.parametrize("seed", range(20))
def test_five_layers_realize_every_target_by_rational_scales(seed):
    """The theorem's formulas, multiplied out over the rationals."""
    W1, W2, W3, W4, W5, target = integers(seed, 6)
    P = inverse(W5) @ target @ inverse(W1)
    r = -W4[0, 0] * W3[0, 0] / (W4[0, 1] * W3[1, 0])
    B = W4 @ diagonal(Fraction(1), r) @ W3
    assert B[0, 0] == 0
    v1, v2 = W2
    t, second = solved([[Fraction(0), B[0, 1] * v2[0]], [-P[0, 1], B[0, 1] * v2[1]]],
                       [P[0, 0], Fraction(0)])  # fmt: skip
    s, first = solved([[P[1, k] * (1, t)[k], -B[1, 0] * v1[k]] for k in range(2)],
                      [B[1, 1] * second * v2[k] for k in range(2)])  # fmt: skip
    made = (W5 @ diagonal(Fraction(1), 1 / s) @ W4 @ diagonal(Fraction(1), r) @ W3
            @ diagonal(first, second) @ W2 @ diagonal(Fraction(1), 1 / t) @ W1)  # fmt: skip
    assert (made == target).all()
