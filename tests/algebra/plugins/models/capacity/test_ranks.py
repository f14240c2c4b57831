"""Numbers of samples that parameters can fit: published ranks, relations with their reasons."""

import math

import numpy as np
import pytest

from algebra.plugins.models.capacity import ranks
from algebra.plugins.models.capacity.ranks import capacities, largest_rank
from algebra.plugins.models.capacity.result import Subset
from algebra.plugins.models.onnx import read_onnx
from algebra.programs.generic import Model
from algebra.programs.program import Builder
from tests.onnx_models import save


@pytest.fixture(scope="module")
def block(tmp_path_factory):
    """A transformer block with 627 parameters."""
    return read_onnx(save("transformer", tmp_path_factory.mktemp("capacity")))


@pytest.mark.long
def test_biases_of_a_transformer_block(block):
    """75 biases have rank 34 and fit 11 samples; those of the keys have no effect."""
    names = tuple(n for n, role in block.roles.items() if "bias" in role)
    [found] = capacities(
        Model(block.program), [Subset("biases", names)], learnable=list(block.parameters)
    ).subsets
    assert (found.learnable, found.rank, found.redundant, found.capacity) == (75, 34, 41, 11)
    assert found.counting == 25
    assert found.teacher_capacity == 11
    assert found.is_whole
    dead = next(reason for reason in found.reasons if reason.rank == 0)
    assert dead.names == ("k.bias",)
    assert "softmax" in dead.reason


def test_a_rank_whose_arguments_do_not_meet_has_a_bound(monkeypatch):
    """2,000 units for 60 samples: too many pairs that might meet, but none does."""
    build = Builder()
    x, W, b = build.sample("x", (2,)), build.weight("W", (2000, 2)), build.weight("b", (2,))
    h = build.apply("tanh", build.contract("ij,j->i", W, x))
    y = build.add(build.contract("i->", h), build.contract("i->", b))
    model, subset = Model(build.program(y)), Subset("b", ("b",))
    [found] = capacities(model, [subset], m=60).subsets
    assert found.error_bound < 1e-9
    monkeypatch.setattr(ranks, "arguments_differ", lambda *_: False)
    [blind] = capacities(model, [subset], m=60).subsets
    assert blind.error_bound is None
    assert blind.rank == found.rank


@pytest.mark.long
def test_low_rank_updates_have_gauge(block):
    """W + U Vᵀ with k = 2 on two 8×8 matrices: 64 numbers, of which k² each are gauge."""
    [found] = capacities(
        Model(block.program),
        [Subset("LoRA 2", (), {"q.weight": 2, "v.weight": 2})],
        learnable=list(block.parameters),
    ).subsets
    assert (found.learnable, found.rank, found.capacity) == (64, 56, 18)


def test_gates_share_their_biases(tmp_path):
    """A GRU has two biases a gate, of which only the sum has an effect, except in the last gate."""
    read = read_onnx(save("gru", tmp_path))
    [found] = capacities(Model(read.program), [Subset("b", ("b",))]).subsets
    assert (found.learnable, found.rank, found.capacity) == (18, 12, 6)
    assert [reason.names for reason in found.reasons] == [("b",)]


def test_everything_meets_every_teacher(tmp_path):
    """A teacher's labels can be matched with all parameters, for any number of samples."""
    read = read_onnx(save("mlp_tanh", tmp_path))
    names = tuple(read.parameters)
    found = capacities(Model(read.program), [Subset("all", names)], learnable=names).subsets[0]
    assert found.teacher_capacity is None
    assert (found.rank, found.capacity) == (46, 23)


def whole_rank(build, output, m=None):
    """The dimension of the functions of a program: the rank with all weights."""
    program = build.program(build.reshaped(output, (math.prod(output.shape),)))
    names = tuple(program.weights)
    found = capacities(Model(program), [Subset("all", names)], m=m).subsets[0]
    assert found.is_whole
    return found.rank


@pytest.mark.parametrize(("d", "a"), [(2, 1), (3, 1), (3, 2), (4, 2), (3, 3)])
@pytest.mark.parametrize("soft", [False, True])
def test_single_head_attention(d, a, soft):
    """Softmax attention: the published a(2d − a) + d²; lightning: V and KᵀQ share a scale."""
    build, steps = Builder(), 4
    Q, K = build.weight("Q", (a, d)), build.weight("K", (a, d))
    V, X = build.weight("V", (d, d)), build.sample("X", (d, steps))
    scores = build.contract("ai,it,aj,js->ts", K, X, Q, X)
    if soft:
        powers = build.apply("exp", scores)
        total = build.invert(build.contract("ts->s", powers))
        scores = build.contract("ts,s->ts", powers, total)
    output = build.contract("vi,it,ts->vs", V, X, scores)
    assert whole_rank(build, output) == a * (2 * d - a) + d * d - (not soft)


@pytest.mark.parametrize("kernels", [(2, 2), (3, 2), (2, 3, 2)])
@pytest.mark.parametrize("r", [2, 3])
def test_polynomial_convolutions(kernels, r):
    """Layers of convolutions with powers between: |k| − L + 1, all entries less the scales."""
    build = Builder()
    size = sum(kernels) - len(kernels) + 1
    value = build.sample("x", (size,))
    for number, k in enumerate(kernels):
        if number:
            value = build.power(value, r)
        size -= k - 1
        patches = build.index(np.arange(size)[:, None] + np.arange(k), value)
        value = build.contract("pk,k->p", patches, build.weight(f"k{number}", (k,)))
    assert whole_rank(build, value) == sum(kernels) - len(kernels) + 1


@pytest.mark.parametrize(("sizes", "dimension"), [((5, 5, 3, 1), 32), ((5, 4, 3, 1), 25)])
def test_polynomial_networks_as_programs(sizes, dimension):
    """Published defective networks with squares, as programs."""
    build = Builder()
    value = build.sample("x", (sizes[0],))
    for k in range(1, len(sizes)):
        value = build.power(value, 2) if k > 1 else value
        value = build.contract("ij,j->i", build.weight(f"W{k}", sizes[k - 1 : k + 1][::-1]), value)
    assert whole_rank(build, value) == dimension


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (3, 3), (1, 4)])
def test_ranks_of_updates_beyond_the_sides_of_a_matrix(shape, rank):
    """The rank of W + U Vᵀ by U and V is that of an SVD, and meets the bound for all points."""
    build = Builder()
    x = build.sample("x", shape[1:])
    program = build.program(build.contract("ij,j->i", build.weight("W", shape), x))
    rng = np.random.default_rng(rank)
    U, V = rng.standard_normal((shape[0], rank)), rng.standard_normal((shape[1], rank))
    moved = [np.outer(e, V[:, k]) for e in np.eye(shape[0]) for k in range(rank)]
    moved += [np.outer(U[:, k], e) for e in np.eye(shape[1]) for k in range(rank)]
    expected = np.linalg.matrix_rank(np.reshape(moved, (len(moved), -1)))
    subset = Subset("update", (), {"W": rank})
    found = capacities(Model(program), [subset]).subsets[0]
    assert found.rank == expected == largest_rank(Model(program), subset)
    assert found.error_bound == 0


def test_full_ranks_need_no_bound(tmp_path):
    """Ranks as large as the counts permit are proved; a deficit is probable, with its bound."""
    read = read_onnx(save("mlp_tanh", tmp_path))
    names = tuple(read.parameters)
    found = capacities(Model(read.program), [Subset("l3", ("l3.weight", "l3.bias"))])
    assert found.error_bound == 0
    # Doubled biases are redundant: a deficit.
    build = Builder()
    x, hidden = build.sample("x", (3,)), build.weight("W", (4, 3))
    total = build.contract("ij,j->i", hidden, x)
    for name in ("b", "c"):
        total = build.add(total, build.weight(name, (4,)))
    program = build.program(build.apply("tanh", total))
    [lacking] = capacities(Model(program), [Subset("b, c", ("b", "c"))]).subsets
    assert lacking.redundant == 4
    assert 0 < lacking.error_bound < 2**-30
    assert len(names) == 6


@pytest.mark.parametrize("bits", [23, 61])
def test_large_ranks_without_a_bound_are_confirmed_by_a_short_prime(bits, monkeypatch):
    """At another point, for as few samples as determine them; a long prime where they differ."""
    build = Builder()
    x = build.sample("x", (3,))
    total = build.contract("ij,j->i", build.weight("W", (4, 3)), x)
    for name in ("b", "c"):
        total = build.add(total, build.weight(name, (4,)))
    model, subset = Model(build.program(build.apply("tanh", total))), Subset("b, c", ("b", "c"))
    [expected] = capacities(model, [subset], m=5).subsets
    found, own = [], ranks._ranks_at

    def recorded(model, subset, m, point, stream, some=False):
        out = own(model, subset, m, point, stream, some)
        found.append((m, point.p.bit_length()))
        return [0, *out[1:]] if bits == 61 and found[-1] == (2, 23) else out

    monkeypatch.setattr(ranks, "_ranks_at", recorded)
    monkeypatch.setattr(ranks, "_MOST_LONG", 0)
    monkeypatch.setattr(ranks, "LARGEST_ERROR", 0)
    [row] = capacities(model, [subset], m=5).subsets
    assert (row.growth, row.error_bound) == (expected.growth, None)
    assert found[:2] == [(5, 23), (2, 23)]
    assert ((5, 61) in found) == (bits == 61)


def test_more_samples_and_functions_weaken_the_bound():
    """It increases with the arguments that may be equal, and with the rows of a minor."""
    build = Builder()
    x = build.sample("x", (3,))
    total = build.contract("ij,j->i", build.weight("W", (4, 3)), x)
    for name in ("b", "c"):
        total = build.add(total, build.weight(name, (4,)))
    program = build.program(build.apply("tanh", total))
    bounds = [
        capacities(Model(program), [Subset("b, c", ("b", "c"))], m=m).error_bound
        for m in (3, 6, 12)
    ]
    assert bounds[0] < bounds[1] < bounds[2]


def test_a_bound_holds_at_points_with_roots_where_free_ones_agree(tmp_path):
    """A norm's ranks at points where roots exist are those with free roots."""
    build = Builder()
    x = build.contract("ij,j->i", build.weight("W", (3, 3)), build.sample("x", (3,)))
    x = build.add(x, build.weight("b", (3,)), build.weight("c", (3,)))
    square = build.add(build.contract("i,i->", x, x), build.constant(1))
    norm = build.invert(build.root(square))
    program = build.program(build.contract("i,->i", x, norm))
    model = Model(program)
    [found] = capacities(model, [Subset("b, c", ("b", "c"))], m=3).subsets
    assert found.redundant == 3
    assert found.error_bound is not None
    assert 0 < found.error_bound < 2**-30
