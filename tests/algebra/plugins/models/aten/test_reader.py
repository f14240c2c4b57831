"""PyTorch modules: values are torch's, parameters keep their names, errors take one line."""

import sys

import numpy as np
import pytest

from algebra.errors import InputError
from algebra.plugins.models.aten.reader import read_torch
from tests.doubles import labels, weights_of
from tests.refusals import refuses
from tests.torch_modules import MODULES, Computes, F, nn, normal, torch

# The other modules use the same parts of the reader, with other entries of the table.
SHORT = ("mlp", "weighted_attention", "gru")


def samples_of(read, inputs, axis):
    """A module's argument for the samples of its program."""
    found = {}
    for name, x in zip(read.program.samples, inputs, strict=True):
        value = x.movedim(axis, -1).numpy()
        if name in read.tokens:
            value = np.moveaxis(np.eye(read.tokens[name])[value], -1, -2)
        found[name] = value
    return found


@pytest.mark.parametrize(
    "name", [n if n in SHORT else pytest.param(n, marks=pytest.mark.long) for n in MODULES]
)
def test_labels_are_torchs(name):
    """Labels of five samples with the module's weights are those of torch in binary64."""
    net, inputs, axis = MODULES[name]()
    read = read_torch(net, inputs, axis=axis)
    assert net.training, "the module's mode is as it was"
    with torch.no_grad():
        expected = net.eval()(*inputs).numpy()
    ours = labels(read.program, weights_of(read), samples_of(read, inputs, axis))
    assert np.allclose(ours.T, expected.reshape(5, -1), rtol=1e-12, atol=1e-12)


def test_parameters_keep_their_names():
    """Names, shapes and learnable parameters are the module's; statistics never learn."""
    net = nn.Sequential(nn.Conv1d(2, 3, 1), nn.BatchNorm1d(3), nn.Flatten(), nn.Linear(6, 1))
    net[3].weight.requires_grad_(False)
    read = read_torch(net, torch.zeros(1, 2, 2))
    shapes = {name: tuple(p.shape) for name, p in net.named_parameters()}
    assert read.parameters == shapes
    assert read.trainable == set(shapes) - {"3.weight"}
    assert read.buffers == {"1.running_mean", "1.running_var"}
    assert read.roles["0.weight"] == read.roles["3.weight"] == "matrix"
    assert (read.roles["1.bias"], read.roles["3.bias"]) == ("norm bias", "bias")


def test_tied_parameters_are_one():
    """A table that is also the read-out is one weight, with the name that torch lists."""
    read = read_torch(*MODULES["tokens"]()[:2])
    assert set(read.parameters) == {"table.weight", "place.weight"}
    assert list(read.tokens.values()) == [6]


def test_inputs_by_name():
    """A mapping names the arguments; float32 is read exactly, as the rational number it is."""
    net = nn.Bilinear(2, 1, 1, bias=False)
    net.weight.data.fill_(0.1)
    read = read_torch(net, {"input2": torch.zeros(3, 1), "input1": torch.zeros(3, 2)})
    assert read.program.samples == {"input1": (2,), "input2": (1,)}
    table, denominator = read.values["weight"]
    assert (int(table[0, 0, 0]), denominator) == (13421773, 1 << 27)


def test_the_example_is_kept():
    """The samples with which a module is read, also those of a forward with ``*inputs``."""
    net, inputs, _ = MODULES["two_inputs"]()
    read = read_torch(net, inputs)
    assert list(read.example) == ["inputs_0", "inputs_1"]
    assert all(map(np.array_equal, read.example.values(), inputs))


def refused(net, *inputs, **options):
    """The one line that refuses a module."""
    return str(refuses("", read_torch, net, inputs, **options))


def test_what_is_refused_in_one_line():
    """Unknown operators by node and module, mixed samples, half precision, odd inputs."""
    x = normal(3)
    odd = Computes(lambda s, h: torch.special.i0(h))
    found = refused(nn.Sequential(nn.Linear(3, 2), odd).double(), x)
    assert "node `i0` (i0.default) in `1`: the operator i0 is not known" in found
    assert "adds along the batch axis" in refused(Computes(lambda s, h: h - h.mean(0)), x)
    assert "combines samples" in refused(Computes(lambda s, h: h @ h.T), x)
    assert "depends on other samples" in refused(nn.BatchNorm1d(3, track_running_stats=False), x)
    assert "module.float()" in refused(nn.Linear(3, 2).half(), x)
    assert "torch.float16 numbers" in refused(Computes(lambda s, h: h * 2), x.half())
    assert "no sample along axis 0" in refused(nn.Identity(), torch.tensor(1.0))
    assert "torch.export cannot follow" in refused(
        Computes(lambda s, h: h if h.sum() > 0 else -h), x
    )
    assert "torch.export cannot follow" in refused(nn.Linear(4, 2).double(), x)
    assert "the module has 2 outputs" in refused(Computes(lambda s, h: (h, h)), x, output=2)
    assert "compares values that depend" in refused(Computes(lambda s, h: h * (h == 1)), x)
    assert "labels are random" in refused(Computes(lambda s, h: F.dropout(h)), x)
    assert "its values are random" in refused(Computes(lambda s, h: h + torch.rand(3)), x)
    turned = nn.Parameter(torch.ones(3, dtype=torch.complex64))
    assert "complex numbers" in refused(Computes(lambda s, h: (s.w * h).real, w=turned), x)
    found = refused(nn.Linear(3, 2).double(), x[0])
    assert "[1, N] X [3, 2].): if they are one sample without an axis" in found
    assert "must be a torch module" in refused(F.relu, x)


def test_without_the_package(monkeypatch):
    """Without torch the message has the command that installs it."""
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match="pip install torch"):
        read_torch(None, None)
