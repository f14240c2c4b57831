"""How many samples parameters can fit: published ranks, and relations with their reasons."""

from __future__ import annotations

import math

import numpy as np
import pytest

from algebra.programs import Builder
from algebra.programs.capacity import Subset, capacities
from algebra.programs.generic import Model
from algebra.programs.onnx import read_onnx
from tests.onnx_models import save


@pytest.fixture(scope="module")
def block(tmp_path_factory):
    """A transformer block with 627 parameters."""
    return read_onnx(save("transformer", tmp_path_factory.mktemp("capacity")))


@pytest.mark.long
def test_biases_of_a_transformer_block(block):
    """75 biases have rank 34 and fit 11 samples; those of the keys do nothing."""
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
    """A GRU has two biases a gate, of which only the sum acts but for the last gate."""
    read = read_onnx(save("gru", tmp_path))
    [found] = capacities(Model(read.program), [Subset("b", ("b",))]).subsets
    assert (found.learnable, found.rank, found.capacity) == (18, 12, 6)
    assert [reason.names for reason in found.reasons] == [("b",)]


def test_everything_meets_every_teacher(tmp_path):
    """A teacher's labels can be met with all parameters, for any number of samples."""
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
    """Published defective networks with squares, written as programs."""
    build = Builder()
    value = build.sample("x", (sizes[0],))
    for k in range(1, len(sizes)):
        value = build.power(value, 2) if k > 1 else value
        value = build.contract("ij,j->i", build.weight(f"W{k}", sizes[k - 1 : k + 1][::-1]), value)
    assert whole_rank(build, value) == dimension
