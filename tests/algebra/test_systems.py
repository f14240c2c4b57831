"""Systems: the papers' equations literally, and lifted equal to un-lifted."""

import random

import numpy as np
import pytest
import sympy
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from algebra.allocation import Allocation
from algebra.errors import InputError
from algebra.networks import LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU
from algebra.rings import PrimeField, RationalField
from algebra.rootcount import _known_solution
from algebra.systems import build_system, forms, symbolic_system

FIELD = PrimeField()
NETS = [
    LinearEstimator(q=2, d=2, m=2),
    LinearRNN(n=2, T=2, b=1, d=1, m=2),
    LinearRNN(n=3, T=3, b=2, d=2, m=4),
    LinearRNN(n=2, T=1, b=2, d=1, m=3),
    LinearFeedForward(q=2, widths=(3,), d=2, m=2),
    LinearFeedForward(q=2, widths=(2, 3), d=1, m=3),
]


def random_parts(network, rng):
    weights = {n: FIELD.random_array(s, rng) for n, s in network.shapes.items()}
    return weights, FIELD.random_array(network.input_shape, rng)


def random_allocation(network, rng):
    cells = [
        (name, i, j)
        for name, (rows, columns) in network.shapes.items()
        for i in range(rows)
        for j in range(columns)
    ]
    return Allocation.from_cells(network, rng.sample(cells, rng.randint(1, len(cells))))


def values_at(system, point):
    return [e(*point) if hasattr(e, "monoms") else e for e in system.equations]


@given(st.sampled_from(NETS), st.integers(0, 10**6))
def test_lifted_and_unlifted_have_the_same_solutions(network, seed):
    """A student solves a lifted system (with its own F) exactly if it solves the direct one."""
    rng = random.Random(seed)
    allocation = random_allocation(network, rng)
    weights, X = random_parts(network, rng)
    other, _ = random_parts(network, rng)
    for Y, solves in (
        (network.forward(weights, X), True),
        (network.forward(other, X), False),
    ):
        for form in (*forms(network, allocation), "direct"):
            system = build_system(allocation, weights, X, Y, FIELD, form)
            known = _known_solution(allocation, weights, X, FIELD, form)
            point = [FIELD.constant(known[name]) for name in system.unknowns]
            assert all(v == 0 for v in values_at(system, point)) == solves


def test_auxiliary_unknowns_follow_from_the_weights():
    """Lemma 3.3: at a solution F_t = W^(T−t+1) B, whatever the labels."""
    net = LinearRNN(n=2, T=3, b=1, d=1, m=3)
    allocation = Allocation.rows(net, "W", [0])
    rng = random.Random(2)
    weights, X = random_parts(net, rng)
    known = _known_solution(allocation, weights, X, FIELD, "B")
    power = weights["B"]
    for t in range(net.T, 0, -1):
        power = weights["W"] @ power
        for i in range(net.n):
            assert known[f"F_{i}_{t - 1}"] == int(power[i, 0])


def test_lemma_33_as_printed():
    """B form of B.1.1, symbol by symbol: W (F_2 | B) = F, D F X = Y."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    system = symbolic_system(Allocation.from_masks(net, W=[[1, 0], [0, 1]]), "B")
    s = sympy.Symbol
    F = sympy.Matrix(2, 2, lambda i, j: s(f"F_{i}_{j}"))
    W = sympy.Matrix(2, 2, lambda i, j: s(f"W_{i}_{j}"))
    B = sympy.Matrix([s("B_0_0"), s("B_1_0")])
    D = sympy.Matrix([[s("D_0_0"), s("D_0_1")]])
    X = sympy.Matrix(2, 2, lambda i, j: s(f"X_{i}_{j}"))
    Y = sympy.Matrix([[s("Y_0_0"), s("Y_0_1")]])
    expected = [*(W * F[:, 1].row_join(B) - F), *(D * F * X - Y)]
    assert [sympy.expand(a - b) for a, b in zip(system.equations, expected, strict=True)] == [0] * 6
    assert system.unknowns == ("W_0_0", "W_1_1", "F_0_0", "F_0_1", "F_1_0", "F_1_1")


def test_direct_equals_the_papers_formula():
    """Eq. 3.3: Y = D Σ_t W^(T−t+1) B X_t, expanded by SymPy."""
    net = LinearRNN(n=2, T=3, b=1, d=1, m=1)
    system = symbolic_system(Allocation.rows(net, "W", [0, 1]), "direct")
    s = sympy.Symbol
    W = sympy.Matrix(2, 2, lambda i, j: s(f"W_{i}_{j}"))
    B = sympy.Matrix([s("B_0_0"), s("B_1_0")])
    D = sympy.Matrix([[s("D_0_0"), s("D_0_1")]])
    value = sum((D * W ** (3 - t) * B * s(f"X_{t}_0") for t in range(3)), sympy.zeros(1, 1))
    assert sympy.expand(system.equations[0] - (value[0] - s("Y_0_0"))) == 0


def test_solution_sets_agree_over_q():
    """A tiny net with small rationals: SymPy solves both systems to the same weights."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    rng = random.Random(8)

    def draw(shape):
        out = np.empty(shape, dtype=object)
        for cell in np.ndindex(shape):
            out[cell] = fmpq(rng.randint(-4, 4))
        return out

    allocation = Allocation.from_masks(net, W=[[1, 0], [0, 1]])
    weights = {n: draw(s) for n, s in net.shapes.items()}
    teacher = {n: draw(s) for n, s in net.shapes.items()}
    X = draw(net.input_shape)
    Y = net.forward(teacher, X)
    solutions = []
    for form in ("B", "D", "direct"):
        system = build_system(allocation, weights, X, Y, RationalField(), form)
        unknowns = sympy.symbols(system.unknowns)
        polynomials = [
            sum(
                sympy.Rational(int(c.p), int(c.q))
                * sympy.prod([u ** int(k) for u, k in zip(unknowns, m, strict=True)])
                for m, c in e.to_dict().items()
            )
            for e in system.equations
        ]
        found = sympy.solve(polynomials, unknowns, dict=True)
        solutions.append({tuple(sympy.simplify(f[u]) for u in unknowns[:2]) for f in found})
    assert len(solutions[0]) == 2
    assert solutions[0] == solutions[1] == solutions[2]


def test_bad_forms():
    """Forms that do not fit, and ReLU networks, are refused."""
    net = LinearEstimator(q=1, d=1, m=1)
    with pytest.raises(InputError, match="`form` \\('B'\\)"):
        symbolic_system(Allocation.from_masks(net, W=[[1]]), "B")
    relu = ShallowReLU(q=1, n=1, d=1, m=1)
    with pytest.raises(InputError, match="activation pattern"):
        symbolic_system(Allocation.from_masks(relu, W1=[[1]]), "direct")
