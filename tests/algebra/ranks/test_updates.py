"""Ranks with updates: compared with SymPy, SVD in doubles, whole matrices, transposition."""

import random

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.polys.matrices import DomainMatrix

from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.parametrized import learning_rank
from matchprob import RNN, FeedForward, LinearEstimator, LinearFeedForward, LinearRNN, Problem
from tests.samples import many


def random_update(rng, shape):
    """Any update that fits a matrix, as in a file."""
    kind = rng.choice(["lora", "rows", "columns", "tied"])
    if kind == "lora":
        return {"lora": rng.randint(1, min(shape))}
    if kind == "tied":
        return {"tied": [[rng.randint(0, 3) for _ in range(shape[1])] for _ in range(shape[0])]}
    return {"gain": kind}


def random_problem(rng, net):
    """Some matrices with updates, some with cells."""
    learnable = {}
    for name, shape in net.shapes.items():
        choice = rng.random()
        if choice < 0.5:
            learnable[name] = random_update(rng, shape)
        elif choice < 0.7:
            mask = [[rng.randint(0, 1) for _ in range(shape[1])] for _ in range(shape[0])]
            learnable[name] = mask
    if not any(isinstance(value, dict) for value in learnable.values()):
        name = rng.choice(list(net.shapes))
        learnable[name] = random_update(rng, net.shapes[name])
    return Problem(net, learnable)


def parameters(learning, make):
    """Drawn weights and parameters, made one by one; gains are generic too."""
    drawn = {
        name: np.array([[make() for _ in range(c)] for _ in range(r)])
        for name, (r, c) in learning.network.shapes.items()
    }
    return drawn, np.array([make() for _ in range(learning.size)])


def student(learning, drawn, theta):
    """The student's weights: cells replaced, updates applied by their own maps."""
    weights = {name: value.copy() for name, value in drawn.items()}
    kind = np.result_type(theta, *drawn.values())
    weights = {name: value.astype(kind) for name, value in weights.items()}
    for (name, i, j), value in zip(learning.cells, theta, strict=False):
        weights[name][i, j] = value
    at = len(learning.cells)
    for name, update in learning.updates.items():
        values = {}
        for letter, own in update.arrays(learning.network.shapes[name]).items():
            values[letter] = theta[at : at + own[0] * own[1]].reshape(own)
            at += own[0] * own[1]
        weights[name] = update.apply(weights[name], values)
    return weights


@pytest.mark.parametrize("seed", range(many(40)))
def test_against_sympy(seed):
    """The rank is that of SymPy's Jacobian at a random integer point, over the rationals."""
    rng = random.Random(seed)
    net = rng.choice(
        [
            LinearRNN(n=2, T=2, b=1, d=1, m=2),
            LinearRNN(n=2, T=2, b=2, d=2, m=2),
            LinearFeedForward(q=2, widths=(2,), d=2, m=2),
            LinearEstimator(q=3, d=2, m=2),
            FeedForward(q=2, widths=(2,), d=1, m=2, biases=True,
                        activation={"polynomial": [0, 1, 1]}),
        ]
    )  # fmt: skip
    learning = random_problem(rng, net).learning
    if not learning.size:
        return
    drawn, at = parameters(learning, lambda: rng.choice([-1, 1]) * rng.randint(1, 997))
    theta = np.array(sympy.symbols(f"t:{learning.size}"), object)
    X = np.array(
        [[rng.randint(-997, 997) for _ in range(net.m)] for _ in range(net.input_shape[0])], object
    )
    weights = student(learning, {n: v.astype(object) for n, v in drawn.items()}, theta)
    Y = sympy.Matrix(list(np.asarray(net.forward(weights, X)).ravel()))
    point = dict(zip(theta, map(sympy.Integer, at.tolist()), strict=True))
    J = Y.jacobian(list(theta)).xreplace(point)
    assert learning_rank(learning, seed=seed).rank == DomainMatrix.from_Matrix(J).to_field().rank()


def labels(net, weights, X):
    """The labels in complex doubles, implemented again for networks with tanh."""
    if isinstance(net, RNN):
        h = np.zeros((net.n, net.m), complex)
        for t in range(net.T):
            h = np.tanh(weights["W"] @ (h + weights["B"] @ X[t * net.b : (t + 1) * net.b])
                        + weights["c"])  # fmt: skip
        return weights["D"] @ h + weights["e"]
    if isinstance(net, FeedForward):
        return weights["W2"] @ np.tanh(weights["W1"] @ X + weights["c1"]) + weights["e"]
    return net.forward(weights, X)


def test_against_singular_values():
    """Small nets of every kind: the rank of the Jacobian in doubles, by complex steps."""
    rng = random.Random(5)
    for _ in range(many(200)):
        n, b, d, m = (rng.randint(1, 4) for _ in range(4))
        net = rng.choice(
            [
                LinearRNN(n=n, T=rng.randint(1, 3), b=b, d=d, m=m),
                LinearFeedForward(q=b, widths=(n, rng.randint(1, 3)), d=d, m=m),
                LinearEstimator(q=b, d=d, m=m),
                RNN(n=n, T=2, b=b, d=d, m=m, activation="tanh", biases=True),
                FeedForward(q=b, widths=(n,), d=d, m=m, activation="tanh", biases=True),
            ]
        )
        learning = random_problem(rng, net).learning
        if not learning.size:
            continue
        drawn, theta = parameters(learning, lambda: rng.gauss(0, 1))
        X = np.array([[rng.gauss(0, 1) for _ in range(m)] for _ in range(net.input_shape[0])])
        J = np.empty((net.outputs, learning.size))
        for k in range(learning.size):
            moved = theta.astype(complex)
            moved[k] += 1e-30j
            J[:, k] = np.asarray(labels(net, student(learning, drawn, moved), X)).imag.ravel()
        values = np.linalg.svd(J / 1e-30, compute_uv=False)
        seen = int((values > 1e-9 * max(values.max(), 1e-9)).sum())
        assert learning_rank(learning).rank == seen, (net, learning)


NETS = st.builds(
    LinearRNN,
    n=st.integers(1, 4), T=st.integers(1, 3), b=st.integers(1, 2), d=st.integers(1, 2),
    m=st.integers(1, 3),
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(net=NETS, name=st.sampled_from(["W", "B", "D"]))
def test_full_rank_is_the_whole_matrix(net, name):
    """The same holds for every rank that suffices for the network (`enough_rank`)."""
    whole = Problem(net, {name: "all"})
    expected = allocation_rank(whole.allocation).rank
    for k in {min(net.shapes[name]), net.enough_rank(name)}:
        assert learning_rank(Problem(net, {name: {"lora": k}}).learning).rank == expected


@settings(max_examples=25, deadline=None)
@given(net=NETS, seed=st.integers(0, 999))
def test_ties_of_different_numbers_are_cells(net, seed):
    """All numbers different: the rank of the cells; all equal: at most 1."""
    rng = random.Random(seed)
    mask = np.array([[rng.randint(0, 1) for _ in range(net.n)] for _ in range(net.n)])
    numbers = mask * (1 + np.arange(net.n**2).reshape(net.n, net.n))
    rank = learning_rank(Problem(net, {"W": {"tied": numbers.tolist()}}).learning).rank
    assert rank == allocation_rank(Problem(net, {"W": mask}).allocation).rank
    assert learning_rank(Problem(net, {"W": {"tied": mask.tolist()}}).learning).rank <= 1


@settings(max_examples=25, deadline=None)
@given(net=NETS, k=st.integers(1, 4), line=st.sampled_from(["rows", "columns"]))
def test_transposition(net, k, line):
    """With as many samples as inputs the mirrored network has the mirrored ranks."""
    n, T, b, d = net.n, net.T, net.b, net.d
    net = LinearRNN(n=n, T=T, b=b, d=d, m=T * b)
    mirror = LinearRNN(n=n, T=T, b=d, d=b, m=T * d)
    k = min(k, n)
    other = {"rows": "columns", "columns": "rows"}[line]
    for here, there in (({"lora": k}, {"lora": k}), ({"gain": line}, {"gain": other})):
        assert (
            learning_rank(Problem(net, {"W": here}).learning).rank
            == learning_rank(Problem(mirror, {"W": there}).learning).rank
        )


@settings(max_examples=30, deadline=None)
@given(net=NETS, k=st.integers(1, 4))
def test_gains_are_a_diagonal(net, k):
    """One factor for each row of a column vector, or column of a row vector, is the vector."""
    for name, line in (("D", "columns"), ("B", "rows")):
        shape = net.shapes[name]
        if shape[0 if line == "columns" else 1] == 1:
            gains = learning_rank(Problem(net, {name: {"gain": line}}).learning).rank
            assert gains == allocation_rank(Problem(net, {name: "all"}).allocation).rank


def test_deep_linear_ranks_add_up():
    """min(Σ k, q, d) is the rank of what low-rank updates of all layers can change."""
    for q, d, ranks in ((4, 4, (1, 1)), (4, 4, (2, 1)), (4, 4, (2, 2)), (3, 5, (1, 1)),
                        (5, 4, (1, 1, 1)), (4, 4, (2, 1, 1))):  # fmt: skip
        net = LinearFeedForward(q=q, widths=(5,) * (len(ranks) - 1), d=d, m=q)
        learnable = {f"W{l}": {"lora": k} for l, k in enumerate(ranks, 1)}  # noqa: E741
        total = min(sum(ranks), q, d)
        found = learning_rank(Problem(net, learnable).learning).rank
        assert found == total * (q + d - total)
        assert network_rank(net).rank == q * d
