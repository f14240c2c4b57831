"""Verdicts on programs: compared with other kinds, published ranks, activation patterns."""

import json

import pytest

from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.questions.identify.identification import identify
from matchprob import FeedForward, Problem, ProgramNetwork
from tests.onnx_models import MODELS, onnx, save
from tests.refusals import refuses


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def problem(folder, name, m, *learn):
    return Problem(ProgramNetwork(str(save(name, folder)), m), dict.fromkeys(learn, "all"))


@pytest.mark.parametrize(
    ("name", "m", "learn", "verdict", "evidence"),
    [
        ("mlp_tanh", 4, ("*.bias",), "intermediate", {"stuck_output"}),
        ("mlp_tanh", 6, ("*.bias",), "minimal", set()),
        ("mlp_tanh", 5, ("l3.*",), "maximal", {"affine_part"}),
        ("mlp_tanh", 5, ("l2.bias", "l3.*"), "maximal", {"affine_part"}),
        ("mlp_tanh", 3, ("*",), "maximal", {"everything_learns"}),
        ("mlp_gelu", 3, ("l1.*",), "undecided", {"regular_minor"}),
        ("mlp_gelu", 6, ("*.bias",), "minimal", {"regular_minor"}),
        ("mlp_relu", 4, ("*.weight",), "undecided", {"pattern"}),
        ("mlp_relu", 3, ("*",), "maximal", {"everything_learns", "pattern"}),
        ("embedding", 2, ("table",), "undecided", {"pattern", "regular_minor"}),
        ("gru", 2, ("head.*",), "maximal", {"affine_part"}),
        ("transformer", 2, ("head.*",), "maximal", {"affine_part", "regular_minor"}),
    ],
)
def test_verdicts_with_evidence_that_holds(folder, name, m, learn, verdict, evidence):
    """Each rule decides, and its certificate is verified from the text alone."""
    found = certify(problem(folder, name, m, *learn), timeout=60)
    assert found.verdict == verdict
    assert set(found.evidence) - {"network_rank", "allocation_rank"} == evidence
    checked = verify(json.loads(found.to_json()))
    assert checked.holds, checked
    assert checked.verdict == verdict


@pytest.mark.parametrize("learn", ["*.bias", "l1.*", "l2.*", "*.weight"])
def test_ranks_are_those_of_the_kind_ffn(folder, learn):
    """A tanh network read from a file, and the same problem of kind ffn (transposed)."""
    ours = problem(folder, "mlp_tanh", 7, learn)
    net = FeedForward(3, (4, 4), 2, 7, activation="tanh", biases=True)
    names = {"weight": "W", "bias": "c"}
    learnable = {}
    for name in ours.learnable:
        layer, part = name.removeprefix("l").split(".")
        learnable["e" if (layer, part) == ("3", "bias") else names[part] + layer] = "all"
    mine, theirs = certify(ours), certify(Problem(net, learnable))
    assert (mine.rank, mine.equations) == (theirs.rank, theirs.equations)
    assert (mine.verdict == "minimal") == (theirs.verdict == "minimal")


def test_a_bias_before_a_norm_does_nothing(folder):
    """In a transformer block k.bias has rank 0: minimal, by a deficit with a bound."""
    ours = problem(folder, "transformer", 1, "k.bias")
    found = certify(ours, timeout=60)
    assert (found.verdict, found.rank) == ("minimal", 0)
    assert verify(json.loads(found.to_json())).holds


def test_a_deficit_carries_its_bound(folder):
    """The first layer's six weights for one sample too many: probable, with the stated error."""
    found = certify(problem(folder, "silu", 6, "down.bias", "gate.weight"), timeout=60)
    assert found.verdict in ("minimal", "undecided")
    if found.rank < min(found.learnable, found.equations):
        assert 0 < found.error_bound < 2**-50


def test_a_rank_on_one_piece_is_no_verdict(folder):
    """Biases of a ReLU network with fewer directions than labels, on each pattern drawn."""
    found = certify(problem(folder, "mlp_relu", 6, "*.bias"), timeout=60)
    assert found.verdict == "undecided"
    assert found.rank < found.equations
    assert "other activation patterns" in found.tried[0]


@pytest.fixture
def silent(folder):
    """A tanh network whose read-out has rows that are 0 in the file."""

    def made(rows):
        model = MODELS["mlp_tanh"]()
        for tensor in model.graph.initializer:
            if tensor.name == "l3.weight":
                array = onnx.numpy_helper.to_array(tensor).copy()
                array[rows] = 0
                tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
        path = folder / f"silent{len(rows)}.onnx"
        onnx.save(model, str(path))
        return str(path)

    return made


@pytest.mark.parametrize(
    ("rows", "learn", "rank"),
    [
        ([0, 1, 2, 3], {"l1.*": "all", "l2.*": "all"}, 0),
        ([0, 1, 2, 3], {"l3.bias": "all", "l1.*": "all"}, 2),
        ([0, 1, 2], {"l2.bias": "all"}, 1),
        ([0, 1, 2], {"l3.weight": [[1, 1], [0, 0], [0, 0], [0, 0]]}, 2),
    ],
)
def test_at_the_weights_of_the_file(silent, rows, learn, rank):
    """Ranks of learnable parameters are those at the file's numbers, of the network at any."""
    path = silent(rows)
    there = certify(Problem(ProgramNetwork(path, 2, weights="file"), learn), timeout=60)
    anywhere = certify(Problem(ProgramNetwork(path, 2), learn), timeout=60)
    assert (there.rank, there.equations) == (rank, 4)
    assert anywhere.rank >= rank
    assert there.verdict == "minimal"
    data = json.loads(there.to_json())
    assert verify(data).holds
    if anywhere.rank > rank:
        data["problem"]["network"]["weights"] = "generic"
        failed = [check.place for check in verify(data).checks if check.status == "failed"]
        assert failed[0] == "evidence.allocation_rank"


def test_questions_that_are_not_asked_at_the_weights_of_a_file(silent):
    """Updates, and verbs that need generic ranks, are refused in one line."""
    net = ProgramNetwork(silent([0]), 2, weights="file")
    refuses("masks of cells", certify, Problem(net, {"l2.weight": {"lora": 1}}))
    refuses("weights of its file", identify, Problem(net, {"l2.weight": "all"}))


def test_batch_normalization_at_the_weights_of_the_file(folder):
    """Its roots are enclosed: a regular minor proves the rank, on the pattern of a point."""
    net = ProgramNetwork(str(save("convnet", folder)), 1, weights="file")
    found = certify(Problem(net, {"c1.weight": "all"}), timeout=60)
    assert found.verdict == "undecided"
    assert found.rank == found.equations == 3
    assert {"pattern", "regular_minor"} <= set(found.evidence)
    assert verify(json.loads(found.to_json())).holds
    assert net.at_file({}, {}).why_exact({}, 0) == ""
