"""Ranks at random points are those of float64 derivatives; exactness."""

import random

import numpy as np
import pytest

from algebra.linalg.ranks import modular_rank
from algebra.plugins.models.onnx import read_onnx
from algebra.programs.degrees import entry_bound
from algebra.programs.generic import (
    Columns,
    Model,
    argued,
    arguments_differ,
    gradients,
    independent_rows,
    random_program_point,
)
from algebra.programs.program import Builder
from algebra.programs.tokens import token_samples
from tests.doubles import jacobian
from tests.onnx_models import MODELS, save
from tests.samples import many

SMOOTH = [
    "mlp_tanh", "mlp_sigmoid", "mlp_softplus", "mlp_mish", "mlp_gelu_tanh", "silu", "transformer",
    "rnn", "gru", "gru_first", "lstm", "embedding",
]  # fmt: skip
M = 6


def float_rank(read, mask, seed):
    """The rank of complex-step derivatives, columns scaled."""
    rng = np.random.default_rng(seed)
    weights = {n: rng.standard_normal(s) for n, s in read.program.weights.items()}
    samples = {n: rng.standard_normal((*s, M)) for n, s in read.program.samples.items()}
    samples |= token_samples(read.program, read.tokens, M)
    J = jacobian(read.program, weights, samples, mask)
    norms = np.linalg.norm(J, axis=0)
    J = J[:, norms > 1e-12] / norms[norms > 1e-12]
    values = np.linalg.svd(J, compute_uv=False) if J.size else np.zeros(1)
    return int((values > 1e-11 * max(values.max(), 1e-300)).sum())


@pytest.mark.parametrize("name", SMOOTH)
def test_ranks_equal_those_in_doubles(name, tmp_path):
    """Of random subsets of the parameters, with six samples: the largest of three draws."""
    assert set(SMOOTH) <= set(MODELS)
    read = read_onnx(save(name, tmp_path))
    model = Model(read.program, read.tokens)
    point = random_program_point(model, M, "test", strict=False)
    shapes = read.parameters
    columns = Columns(model, point, M, list(shapes))
    rng = np.random.default_rng(5)
    for _ in range(many(5)):
        mask = {n: rng.random(s) < rng.choice([0.1, 0.5]) for n, s in shapes.items()}
        cells = [(n, *map(int, c)) for n, own in mask.items() for c in np.argwhere(own)]
        if len(cells) > 90:
            cells = cells[:: len(cells) // 45]
            mask = {n: np.zeros(s, bool) for n, s in shapes.items()}
            for n, *place in cells:
                mask[n][tuple(place)] = True
        found = len(independent_rows(columns.of(cells), point.p))
        assert found == max(float_rank(read, mask, seed) for seed in range(3))


def two_layers(turn):
    """Two tanh units, whose rows are those of one weight if `turn` is ±1, and an output."""
    build = Builder()
    x, W = build.sample("x", (2,)), build.weight("W", (2, 2))
    a = build.contract("ij,j->i", W, x)
    if turn:
        a = build.multiply(build.index([0, 0], a), build.constant(np.array([1, turn])))
    h = build.apply("tanh", a)
    return build.program(build.contract("ij,j->i", build.weight("V", (1, 2)), h))


@pytest.mark.parametrize(("turn", "differ"), [(0, True), (1, False), (-1, False)])
def test_arguments_that_are_equal_or_opposite_are_seen(turn, differ):
    model = Model(two_layers(turn))
    point = random_program_point(model, 40, "differ")
    assert arguments_differ(model, point, 40) == differ


def test_of_ranks_at_points_without_meetings_few_are_too_small():
    """Modulo primes of 12 bits: at most the bound, while meetings are seen at most points."""
    model = Model(two_layers(0))
    m, count, low, met = 5, 400, 0, 0
    cells = [(n, *c) for n, s in model.program.weights.items() for c in np.ndindex(*s)]
    full = 0
    for seed in range(count):
        point = random_program_point(model, m, f"{seed}", bits=12)
        rank = len(independent_rows(Columns(model, point, m, ["V", "W"]).of(cells), point.p))
        full, differ = max(full, rank), arguments_differ(model, point, m)
        met += not differ
        low += differ and rank < m
    bound = entry_bound(model.program, m, differ=True)
    assert bound.meetings < entry_bound(model.program, m).meetings / 10
    assert full == m
    assert 0 < met < count
    assert low <= count * (m * (bound.degree + 1) + bound.meetings) / (1 << 11)


def test_what_one_sum_of_a_sample_hides_by_chance_another_shows():
    """Modulo a small prime: of 400 entries with an effect hardly one is missed by two sums."""
    build = Builder()
    x = build.sample("x", (1,))
    program = build.program(build.contract("ij,j->i", build.weight("W", (400, 1)), x))
    model = Model(program)
    hidden = []
    for seed in range(5):
        point = random_program_point(model, 1, f"{seed}", bits=7)
        found = gradients(model, point, 1, lambda: ["W"], random.Random(seed))
        first, second = (slopes != 0 for _, slopes in found)
        hidden.append((int((~first).sum()), int((~(first | second)).sum())))
    assert all(one > 0 and both <= 1 for one, both in hidden)


@pytest.mark.parametrize("name", ["mlp_tanh", "mlp_softplus", "silu", "gru", "lstm"])
def test_exponentials_are_exact(name, tmp_path):
    """The arguments of networks with exponentials are proved independent."""
    read = read_onnx(save(name, tmp_path))
    found = argued(Model(read.program), "0")
    assert found.is_exact
    assert "Ax–Schanuel" in found.words


def test_what_is_not_exact_says_so(tmp_path):
    """erf; a softplus within tanh; tanh of a, b and a + b, whose exponentials are related."""
    read = read_onnx(save("mlp_gelu", tmp_path))
    assert "erf" in argued(Model(read.program), "0").words
    read = read_onnx(save("mlp_mish", tmp_path))
    assert not argued(Model(read.program), "0").is_exact
    build = Builder()
    x = build.sample("x", (2,))
    related = build.contract("ij,j->i", build.constant([[1, 0], [0, 1], [1, 1]]), x)
    y = build.contract("i,i->", build.weight("w", (3,)), build.apply("tanh", related))
    found = argued(Model(build.program(build.reshaped(y, (1,)))), "0")
    assert not found.is_exact
    assert "exponentials" in found.words


def test_roots_that_depend_on_each_other_are_seen():
    """√u and √(4u) are related, √u and √v are not."""

    def root_program(second):
        build = Builder()
        x = build.sample("x", (2,))
        w = build.weight("w", (2,))
        both = build.joined([build.index([0], x), second(build, x)])
        return build.program(build.multiply(w, build.root(both)))

    independent = root_program(lambda build, x: build.index([1], x))
    related = root_program(lambda build, x: build.scale(build.index([0], x), 4))
    assert argued(Model(independent), "0").is_exact
    assert not argued(Model(related), "0").is_exact


def waves(*functions, factor=1):
    """Sines of U x before tanh of V of them: the labels are W tanh(V …)."""
    build = Builder()
    x, U = build.sample("x", (2,)), build.weight("U", (2, 2))
    inner = build.contract("ij,j->i", U, x)
    parts = [build.apply(name, build.scale(inner, factor**k)) for k, name in enumerate(functions)]
    h = build.joined(parts)
    V, W = build.weight("V", (2, 2 * len(parts))), build.weight("W", (1, 2))
    return build.program(
        build.contract("ij,j->i", W, build.apply("tanh", build.contract("ij,j->i", V, h)))
    )


def test_sines_are_exact_where_their_arguments_are_independent():
    """Angles are compared with each other only; equal angles are one, multiples are related."""
    for program in (waves("sin"), waves("sin", "cos"), waves("sin", "exp")):
        assert argued(Model(program), "0").is_exact
    assert not argued(Model(waves("sin", "sin", factor=2)), "0").is_exact


def test_sines_have_the_ranks_of_doubles():
    """Of all parameters, also where sin² + cos² = 1 makes labels dependent."""
    build = Builder()
    x, U, a = build.sample("x", (2,)), build.weight("U", (2, 2)), build.weight("a", (3,))
    inner = build.contract("ij,j->i", U, x)
    sine, cosine = build.apply("sin", inner), build.apply("cos", inner)
    circle = build.add(build.multiply(sine, sine), build.multiply(cosine, cosine))
    first = build.index([0, 2, 1], sine, circle)
    program = build.program(build.multiply(a, first))
    for own in (program, waves("sin", "cos")):
        model, names = Model(own), list(own.weights)
        columns = Columns(model, random_program_point(model, 8, "0"), 8, names)
        cells = [(n, *c) for n in names for c in np.ndindex(*own.weights[n])]
        rng = np.random.default_rng(0)
        weights = {n: rng.standard_normal(s) for n, s in own.weights.items()}
        every = {n: np.ones(s, bool) for n, s in own.weights.items()}
        J = jacobian(own, weights, {"x": rng.standard_normal((2, 8))}, every)
        assert modular_rank(columns.of(cells), columns.p) == np.linalg.matrix_rank(J, tol=1e-9)
