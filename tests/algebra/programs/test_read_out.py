"""The last matrix of a program: its labels are D z + e, also for programs read from files."""

import numpy as np
import pytest

from algebra.plugins.models.onnx import read_onnx
from algebra.programs.evaluate import evaluate
from algebra.programs.program import Builder
from algebra.programs.read_out import read_out
from matchprob import RNN, FeedForward
from tests.doubles import Doubles
from tests.onnx_models import save

NETWORKS = [
    FeedForward(3, (4, 2), 2, 1, activation="tanh", biases=True),
    RNN(n=3, T=3, b=2, d=2, m=2, activation="tanh"),
    RNN(n=3, T=3, b=1, d=2, m=2, activation="tanh", biases=True, read="all"),
]


def check(program):
    """Labels computed from the read-out are those of the program."""
    found, rng = read_out(program), np.random.default_rng(1)
    blocks = {
        block.name: rng.standard_normal((*block.shape, 3 if block.role == "sample" else 1))
        for block in program.blocks
    }
    nodes = [program.output, *(node for node, _ in found.values)]
    values = evaluate(program, Doubles(), blocks, nodes)
    labels = values[program.output].reshape(found.labels.size, -1)
    D = blocks[found.matrix].ravel()[found.weights]
    e = 0 if found.biases is None else blocks[found.bias].ravel()[found.biases][:, None, None]
    made = []
    for node, entries in found.values:
        z = values[node].reshape(-1, labels.shape[-1])[entries]
        made.append(np.einsum("ij,jts->its", D, z))
    np.testing.assert_allclose(np.concatenate(made, axis=1) + e, labels[found.labels])
    return found


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_networks_are_read_out(network):
    """The last matrix of the kinds, with the bias, at one step or at all."""
    found = check(network.program())
    assert found.matrix == network.output
    assert found.bias == network.output_bias


@pytest.mark.parametrize("name", ["mlp_tanh", "gru", "lstm"])
def test_models_are_read_out(name, tmp_path):
    """Exported layers, whatever the file calls their parameters and however it stores them."""
    check(read_onnx(save(name, tmp_path)).program)


def test_other_labels_have_no_read_out():
    """A matrix that occurs twice, labels that are values of a function, sums of two products."""
    build = Builder()
    D, x = build.weight("D", (2, 2)), build.sample("X", (2,))
    once = build.contract("ij,j->i", D, x)
    other = build.contract("ij,j->i", build.weight("E", (2, 2)), x)
    twice = build.contract("ij,j->i", D, build.apply("tanh", once))
    for labels in (build.apply("tanh", once), twice, build.add(once, other), x):
        assert read_out(build.program(labels)) is None
    assert read_out(build.program(once)).matrix == "D"
