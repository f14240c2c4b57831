"""How many samples parameters can fit: published ranks, and relations with their reasons."""

from __future__ import annotations

import pytest

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
