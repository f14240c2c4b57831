"""Lowered networks compute the same labels and have the same ranks as the originals."""

import random

import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from algebra.plugins.normalization.certify import target_rank
from algebra.problems.reduction import lowered
from algebra.ranks.generic_rank import allocation_rank, network_rank
from matchprob import Allocation, NormNet, Problem
from tests.samples import many


def integers(rng, shape):
    """A matrix of odd integers: never 0, which could make points special."""
    return np.array(
        [[2 * rng.randint(-30, 30) + 1 for _ in range(shape[1])] for _ in range(shape[0])]
    )


def nets():
    """Strategy: small linear normalization nets."""
    return st.lists(st.integers(1, 3), min_size=2, max_size=3).flatmap(
        lambda widths: st.builds(
            lambda hidden, m: NormNet(tuple(widths), tuple(hidden), m, "linear"),
            st.lists(st.integers(1, 4), min_size=len(widths) - 1, max_size=len(widths) - 1),
            st.integers(1, 4),
        )
    )


def exact_rank(network, cells, rng):
    """Rank of the Jacobian by SymPy, differentiating the labels at a random integer point."""
    values = {name: integers(rng, shape) for name, shape in network.shapes.items()}
    X = integers(rng, network.input_shape)
    names = {cell: sympy.Symbol(f"{cell[0]}_{cell[1]}_{cell[2]}") for cell in cells}
    weights = {name: np.array(value, dtype=object) for name, value in values.items()}
    point = {}
    for (name, i, j), symbol in names.items():
        point[symbol] = int(values[name][i, j])
        weights[name][i, j] = symbol
    Y = network.forward(weights, X.astype(object)).ravel()
    return (
        sympy.Matrix([sympy.diff(y, s).subs(point) for y in Y for s in names.values()])
        .reshape(len(Y), len(names))
        .rank()
    )


@settings(max_examples=30, deadline=None)
@given(nets(), st.integers(0, 10**6))
def test_same_labels(network, seed):
    """The augmented matrices times the augmented samples give the network's labels."""
    rng = random.Random(seed)
    weights = {name: integers(rng, shape) for name, shape in network.shapes.items()}
    X = integers(rng, network.input_shape)
    lowering = lowered(Problem(network, {}))
    made = lowering.weights(weights, 1)
    assert {name: m.shape for name, m in made.items()} == dict(
        sorted(lowering.problem.network.shapes.items(), key=lambda item: int(item[0][1:]))
    )
    labels = lowering.problem.network.forward(made, lowering.samples(X, 1))
    assert np.array_equal(labels, network.forward(weights, X))


@settings(max_examples=30, deadline=None)
@given(nets(), st.integers(0, 10**6))
def test_same_teacher(network, seed):
    """The lowered teacher gives the teacher's labels if no hidden width is too small for it."""
    rng = random.Random(seed)
    teacher = {name: integers(rng, shape) for name, shape in network.teacher_shapes.items()}
    X = integers(rng, network.input_shape)
    lowering = lowered(Problem(network, {}))
    made = lowering.teacher(teacher, 1)
    labels = lowering.problem.network.forward(made, lowering.samples(X, 1))
    pairs = zip(network.widths, network.widths[1:], strict=False)
    if all(w >= min(pair) for w, pair in zip(network.hidden, pairs, strict=True)):
        assert np.array_equal(labels, network.teach(teacher, X))
    assert {name: m.shape for name, m in made.items()} == lowering.problem.network.shapes


@settings(max_examples=many(12), deadline=None)
@example(NormNet((1, 1, 1), (1, 1), 2, "linear"), 52)
@given(nets(), st.integers(0, 10**6))
def test_same_rank(network, seed):
    """An allocation's generic rank is SymPy's rank of the original network's Jacobian."""
    rng = random.Random(seed)
    every = [(n, i, j) for n, (r, c) in network.shapes.items() for i in range(r) for j in range(c)]
    cells = rng.sample(every, min(len(every), rng.randint(1, 6)))
    allocation = Allocation.from_cells(network, cells)
    inner = lowered(Problem.of(allocation)).problem
    found = allocation_rank(inner.allocation, inner.support).rank
    exact = max(exact_rank(network, allocation.cells, random.Random(seed + k)) for k in range(4))
    assert found == exact


def test_target_rank_is_that_of_affine_maps():
    """Wide targets reach all affine maps: d·min(m, q + 1); a narrow layer reaches fewer."""
    for m in range(1, 6):
        assert target_rank(NormNet.square(3, 2, 9, m)).rank == 3 * min(m, 4)
    # A of rank 1 (2 + 2 − 1 dimensions) and a shift (2).
    assert target_rank(NormNet((2, 1, 2), (2, 2), 4)).rank == 5


def test_whole_student_reaches_the_target_where_wide():
    """With all weights free the student's labels have the target's dimension, unless narrow."""
    for hidden, rank in ((2, 6), (1, 5)):
        net = NormNet((2, 2), (hidden,), 4, "linear")
        inner = lowered(Problem(net, {})).problem
        assert network_rank(inner.network, inner.support).rank == rank
    assert target_rank(NormNet((2, 2), (1,), 4)).rank == 6


@pytest.mark.parametrize("inner", [(2, 3), (3, 2, 4), (3, 1), (5, 2), (2,), (4, 3, 3)])
def test_a_student_of_several_layers_has_the_targets_labels(inner):
    """The lowered teacher, a student with copying units, unless a layer is too narrow."""
    for widths in ((2, 3), (3, 2)):
        net = NormNet(widths, (inner,), 4, "linear")
        rng = np.random.default_rng(0)
        teacher = {name: rng.integers(-9, 9, shape) for name, shape in net.teacher_shapes.items()}
        X, lowering = rng.integers(-9, 9, (widths[0], 4)), lowered(Problem(net, {}))
        student = lowering.teacher(teacher, 1)
        made = lowering.problem.network.forward(student, lowering.samples(X, 1))
        same = bool((made == net.teach(teacher, X)).all())
        assert same == (min(inner) >= min(widths))


def test_support_is_carried():
    """A zero of W1, a missing shift and a missing scale are zeros of the augmented matrices."""
    net = NormNet.square(2, 1, 2, 2, "linear")
    support = {"W1": np.array([[1, 0], [1, 1]]), "b1": np.array([[1], [0]])}
    lowering = lowered(Problem(net, {}, support=support))
    masks = lowering.problem.support
    assert masks["W1"].tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert masks["W2"].tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 1]]
    assert lowering.cell(("b1", 0, 0)) == ("W2", 0, 2)
    assert lowering.cell(("g2", 1, 0)) == ("W4", 1, 1)


def test_relu_is_not_lowered():
    """A ReLU network is polynomial on pieces only."""
    assert NormNet.square(2, 1, 4, 3).lower() is None
