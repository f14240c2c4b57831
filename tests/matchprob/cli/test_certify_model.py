"""certify and verify of a model's file: the shorthand, large models, bad input in one line."""

import json

import pytest

from algebra.plugins.models import network as program
from tests.matchprob.calls import call
from tests.onnx_models import MODELS, onnx, save


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("certify")
    save("mlp_tanh", path)
    return path


def test_a_model_without_a_problem_file(folder, answer, capsys):
    """The verdict is printed as JSON, and its certificate holds."""
    out = folder / "cert.json"
    words = ("certify", folder / "mlp_tanh.onnx", "--m", 6, "--learn", "l1.bias,l2.bias")
    data = answer(*words, "--learn", "l3.*", "--out", out)
    assert (data["verdict"], data["learnable"], data["equations"]) == ("undecided", 18, 12)
    # The suggested command has the options without which the file cannot be read.
    [command] = [text for text in data["explanation"] if "matchprob inspect" in text]
    asked = "--learn l1.bias,l2.bias --learn 'l3.*' --m 6"
    assert f"matchprob inspect {folder / 'mlp_tanh.onnx'} {asked}" in command
    assert call("verify", out) == 0
    assert "the model in the file" in capsys.readouterr().out


def test_a_problem_file_names_the_model_beside_it(folder, printed):
    """The path is relative to the problem file; the explanation says what follows."""
    file = folder / "P.toml"
    network = '[network]\nkind = "program"\nfile = "mlp_tanh.onnx"\nm = 6\n'
    file.write_text(network + '[learnable]\n"*.bias" = "all"\n', encoding="utf-8")
    text = printed("certify", file)
    assert "minimal" in text
    assert "MP = 0" in text
    assert f"matchprob inspect {file}   (" in text
    assert "generic rank 10" in printed("inspect", file)


def test_a_large_model_is_read_beside_the_certificate(folder, complaint, capsys, monkeypatch):
    """The model is found by its digest, beside the file or at the given path; no other is used."""
    monkeypatch.setattr(program, "EMBEDDED", 10)
    out = folder / "large.json"
    words = ("certify", folder / "mlp_tanh.onnx", "--m", 2, "--learn", "*.bias", "--out", out)
    assert call(*words) == 0
    assert "model" not in json.loads(out.read_text(encoding="utf-8"))["problem"]["network"]
    capsys.readouterr()
    assert call("verify", out) == 0
    other = folder / "elsewhere"
    other.mkdir()
    moved = other / "large.json"
    moved.write_text(out.read_text(encoding="utf-8"), encoding="utf-8")
    assert "--model FILE" in complaint("verify", moved)
    assert call("verify", moved, "--model", folder / "mlp_tanh.onnx") == 0
    assert call("verify", moved, "--model", save("mlp_sigmoid", folder)) == 3
    assert "another content" in capsys.readouterr().err


def changed(folder, name, change):
    """A model's file with one fault."""
    model = MODELS["mlp_tanh"]()
    change(model)
    path = folder / f"{name}.onnx"
    onnx.save(model, str(path))
    return path


def dynamic(model):
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "seq"


def newer(model):
    model.opset_import[0].version = 999


def half(model):
    for tensor in model.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor).astype("float16")
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))


def too_many(model):
    node = model.graph.node[0]
    model.graph.node.extend([node] * 60_000)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dynamic, "axis 1 of the input `x` has no size"),
        (newer, "operator set 999"),
        (half, "float16"),
        (too_many, "the graph has more than 50000 nodes"),
    ],
)
def test_models_that_cannot_be_read(folder, complaint, change, words):
    """A model that cannot be read gives one line and status 2."""
    path = changed(folder, change.__name__, change)
    error = complaint("certify", path, "--m", 4, "--learn", "*")
    assert words in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--learn", "*"), "give --m, the number of samples, and --learn"),
        (("--m", "4"), "--learn"),
        (("--m", "4", "--learn", "*.gain"), "`*.gain`"),
        (("--m", "4", "--learn", "*", "--output", "z"), "there is no output `z`"),
    ],
)
def test_incomplete_questions_are_refused(folder, complaint, words, text):
    """The message names the missing part."""
    error = complaint("certify", folder / "mlp_tanh.onnx", *words)
    assert text in error
    assert len(error.strip().splitlines()) == 1


def test_a_truncated_file_is_no_model(folder, complaint):
    """A truncated file is refused."""
    path = folder / "short.onnx"
    path.write_bytes((folder / "mlp_tanh.onnx").read_bytes()[:200])
    assert "is it whole and valid?" in complaint("certify", path, "--m", 4, "--learn", "*")


def test_options_of_models_are_refused_for_problem_files(complaint):
    """Options that would have no effect are refused."""
    assert "for ONNX files" in complaint("certify", "examples/mixed.toml", "--m", 3)


@pytest.mark.parametrize("verb", ["count", "estimate", "audit", "train"])
def test_verbs_of_instances_refuse(folder, complaint, verb):
    """Verbs that draw instances refuse a model in one line that names its kind, unless it is a
    feed-forward network of one activation."""
    save("mlp_gelu", folder)
    file = folder / "P.toml"
    network = '[network]\nkind = "program"\nfile = "mlp_gelu.onnx"\nm = 6\n'
    file.write_text(network + '[learnable]\n"*.bias" = "all"\n', encoding="utf-8")
    error = complaint(verb, file).strip().splitlines()
    assert "program" in error[-1]


def test_a_proof_about_no_model_takes_none(folder, capsys):
    """`--model` is refused with a certificate of another kind."""
    out = folder / "plain.json"
    assert call("certify", "examples/mixed.toml", "--out", out) == 0
    assert call("verify", out, "--model", folder / "mlp_tanh.onnx") == 2
    assert "not about the file of a model" in capsys.readouterr().err
