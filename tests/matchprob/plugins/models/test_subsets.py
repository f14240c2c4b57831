"""Subsets of parameters by names, patterns, roles and mappings; models in all their forms."""

import math

import numpy as np
import pytest

import matchprob as mp
from algebra.plugins.models.onnx import Read, read_onnx
from matchprob.plugins.models.models import as_read
from matchprob.plugins.models.subsets import default_subsets, matching, named_subsets
from tests.onnx_models import save
from tests.onnx_operators import NETWORKS
from tests.refusals import refuses

BLOCK = "examples/data/block.onnx"


def test_patterns_roles_and_mappings():
    """One text is one subset, a list several, a mapping names them; roles find what is meant."""
    read = read_onnx(BLOCK)
    one, several = named_subsets(read, "*.bias"), named_subsets(read, ["biases", "norms"])
    assert [s.name for s in one] == ["*.bias"]
    assert [s.name for s in several] == ["biases", "norms"]
    assert several[0].weights == one[0].weights
    mine = named_subsets(read, {"mine": ["q.*", "v.*"], "all of it": "all"})
    assert [s.name for s in mine] == ["mine", "all of it"]
    assert mine[0].weights == ("q.weight", "q.bias", "v.weight", "v.bias")
    assert sum(math.prod(read.parameters[name]) for name in mine[1].weights) == 627
    small = ["*.bias", "norms"]
    found = mp.capacity(BLOCK, small, lora=1, on="q.weight", m=1).subsets
    assert [s.name for s in found] == [*small, "LoRA 1 on q.weight"]
    assert [s.name for s in mp.capacity(BLOCK, {"mine": "norms"}, m=1).subsets] == ["mine"]


def test_a_name_is_preferred_to_a_role():
    """A parameter that is called like a role is that parameter; a wrong name has near ones."""
    read = read_onnx(BLOCK)
    assert matching(read, "norm1.bias, q.*") == ["q.weight", "q.bias", "norm1.bias"] or set(
        matching(read, "norm1.bias, q.*")
    ) == {"q.weight", "q.bias", "norm1.bias"}
    found = str(refuses("no parameter is called 'q.wieght'", mp.capacity, BLOCK, "q.wieght"))
    assert "there are q.weight" in found
    assert "the roles biases, norms" in found
    refuses("names no parameter", mp.capacity, BLOCK, [[]])


def test_roles_of_a_transposed_convolution(tmp_path):
    """Its kernel is a matrix, to which updates apply, and its shift is a bias, to which none do."""
    net = NETWORKS["ConvTranspose"][0]()
    path = tmp_path / "net.onnx"
    path.write_bytes(net.SerializeToString())
    read = read_onnx(path)
    assert (read.roles["kernel"], read.roles["shift"]) == ("matrix", "bias")
    assert mp.capacity(read, lora=1, on="kernel", m=2).subsets[0].learnable == 2 + 9
    refuses(r"`on` \('shift'\) names no matrix", mp.capacity, read, lora=1, on="shift")


def test_low_rank_updates_are_not_those_of_updates():
    """If a part requires a gradient, default updates are those of the other matrices."""
    whole = read_onnx(BLOCK)
    part = Read(**{**vars(whole), "trainable": frozenset({"q.weight"})})
    names = {s.name: s for s in default_subsets(part)}
    assert names["what requires a gradient"].weights == ("q.weight",)
    assert "q.weight" not in names["LoRA 1"].names
    assert "q.weight" in {s.name: s for s in default_subsets(whole)}["LoRA 1"].names


def test_a_model_in_all_its_forms(tmp_path):
    """A file, what was read, a problem about it; a network of another kind says what to call."""
    path = str(save("mlp_tanh", tmp_path))
    problem = mp.Problem(mp.ProgramNetwork(path, m=3), {"*.bias": "all"})
    expected = mp.capacity(path, "*.bias").subsets
    for model in (read_onnx(path), problem, problem.network):
        assert mp.capacity(model, "*.bias").subsets == expected
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    refuses("`certify` says", mp.capacity, mp.Problem(net, {"W": [[1, 1], [0, 0]]}))
    refuses("must be the name of an ONNX file", mp.capacity, 7)
    refuses("`model` is none", as_read, path, np.zeros((1, 3)))


def test_what_was_read_is_one_line():
    """Parameters, inputs and labels, without tables of numbers."""
    text = repr(read_onnx(BLOCK))
    assert text == str(read_onnx(BLOCK))
    assert len(text) < 200
    assert "627 numbers" in text
    assert "3 labels" in text


def test_a_module_is_a_model():
    """A module, with inputs where it does not say what its forward takes."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    nn = torch.nn
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.LayerNorm(4), nn.Linear(4, 2))
    found = mp.capacity(net, "norms")
    assert found.subsets[0].learnable == 8
    x = torch.zeros(2, 3)
    assert mp.capacity(mp.from_torch(net, x), "norms").subsets == found.subsets
    assert mp.capacity(net, "norms", example_inputs=x).subsets == found.subsets
    assert mp.dimension(net).expected == mp.dimension(mp.from_torch(net, x)).expected
    refuses("example_inputs=x", mp.capacity, nn.Sequential(nn.Conv1d(1, 1, 1)))
    refuses("example_inputs=x", mp.dimension, nn.Sequential(nn.Conv1d(1, 1, 1)))


def test_a_check_of_what_requires_a_gradient():
    """Numbers of a module's parameters, those without effect, patterns that match nothing."""
    found = mp.capacity(BLOCK, ["*.bias", "nothing*"], check=True)
    assert found.unused == ("k.bias",)
    assert (found.trainable, found.effective) == (75, 67)
    assert set(found.to_dict()) >= {"trainable", "effective", "without_effect", "unmatched"}
    assert found.unmatched == ("nothing*",)
    assert "67 of 75" in str(found)
    whole = mp.capacity(BLOCK, check=True)
    assert (whole.trainable, whole.unused) == (627, ("k.bias",))


def test_dead_units_are_found_on_patterns():
    """A convolutional net with ReLU: the biases before batch normalization act, or it is said."""
    found = mp.capacity("examples/data/convnet.onnx", check=True)
    assert found.trainable == 219
    for one in found.without_effect:
        assert one.reason
