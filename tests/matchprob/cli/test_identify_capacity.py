"""The verb capacity on the command line."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest

import matchprob as mp
from tests.matchprob.calls import DIAGONAL, call
from tests.onnx_models import Net, onnx, save
from tests.samples import more


def test_json_has_the_contract_keys(tmp_path, answer):
    """One object; each subset has name, learnable, rank, redundant and capacity."""
    path = save("mlp_tanh", tmp_path)
    data = answer("capacity", str(path), "--learn", "*.bias", "--lora", "1,2")
    assert [s["name"] for s in data["subsets"]] == ["*.bias", "LoRA 1", "LoRA 2"]
    assert data["subsets"][0]["rank"] == data["subsets"][0]["learnable"] == 10
    assert data["subsets"][0]["capacity"] == 5
    assert {"redundant", "teacher_capacity", "reasons"} <= set(data["subsets"][0])
    assert (data["seed"], data["outputs"], data["exact"]) == (0, 2, True)


@pytest.mark.parametrize(
    ("name", "needed", "text"),
    more(
        ("mlp_tanh", 8, "fits 8 samples is l1, with 16 parameters"),
        ("convnet", 5, "fits 5 samples is last layer, with 15 parameters"),
    ),
)
def test_the_cheapest_subset_is_named(name, needed, text, tmp_path, printed):
    """--needed: the smallest of the default subsets that fits; the table beside it."""
    path = save(name, tmp_path)
    picture = tmp_path / "c.png"
    words = ("--needed", needed, "--plot", str(picture))
    out = printed("capacity", str(path), *words)
    assert text in " ".join(out.split())
    assert "counting" in out
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--learn", "nothing"), "no parameter is called 'nothing'"),
        (("--lora", "x"), "whole numbers separated by commas"),
        (("--on", "l1*"), "is not given"),
        (("--size", "n"), "NAME=NUMBER"),
        (("--output", "y"), "there is no output `y`"),
    ],
)
def test_bad_input_is_one_line(words, text, tmp_path, complaint):
    """Bad input gives status 2 and a line that says what to write instead."""
    path = save("mlp_tanh", tmp_path)
    err = complaint("capacity", str(path), *words)
    assert text in err
    assert err.count("\n") == 1


def test_a_problem_file_is_no_model(complaint, file):
    """One line that names the verbs for problem files."""
    path = file(DIAGONAL)
    assert "`certify` says what they match" in complaint("capacity", path)


def test_the_result_in_python(tmp_path):
    """A frame with a row for each subset, an explanation, a picture."""
    found = mp.capacity(save("mlp_tanh", tmp_path), needed=8)
    assert next(iter(found.columns()["name"])) == "biases"
    assert found.cheapest.capacity >= 8
    assert any("independent directions" in text for text in found.explanation)
    pytest.importorskip("pandas")
    assert len(found.to_frame()) == len(found.subsets)
    assert found.plot().get_xlabel() == "parameters that learn"


def test_a_check_has_a_status(tmp_path, answer, printed):
    """0 if all parameters have an effect, 3 if not or if a pattern matches nothing."""
    path = str(save("mlp_tanh", tmp_path))
    data = answer("capacity", path, "--check")
    assert (data["trainable"], data["effective"]) == (data["trainable"],) * 2
    assert (data["without_effect"], data["unmatched"]) == ([], [])
    words = ("--check", "--learn", "*.bias,x*")
    assert "k.bias" in printed("capacity", "examples/data/block.onnx", *words, status=3)


def test_samples_are_given_by_a_file(tmp_path, answer):
    """--data x.npy: the first point of each subset is at these samples."""
    path, data = save("convnet", tmp_path), tmp_path / "x.npy"
    np.save(data, np.random.default_rng(0).standard_normal((7, 2, 6, 5)))
    found = answer("capacity", str(path), "--learn", "*.bias", "--data", str(data))
    [subset] = found["subsets"]
    assert subset["points"][0]["at"] == "data"
    assert subset["points"][0]["rank"] == subset["at_weights"]["rank"]
    assert {"rank", "capacity"} <= set(subset["points"][0])
    assert (found["exact"], subset["exact"]) == (False, False)
    same = answer("dimension", str(path), "--data", str(data))
    assert same["dimension"] is None
    assert same["at_least"] == max(same["patterns"])
    assert same["defect"] is None


def _faces():
    """A small net like the first of MTCNN: of its last units only one is on at the file's biases.

    Axes are turned to those of a convolution and back; kernels, learned slopes, a maximum.
    """
    net = Net()
    x = net("Transpose", net.input("x", 8, 8, 2), perm=[0, 3, 1, 2])
    x = net("Conv", x, net.weight("a.weight", 3, 2, 3, 3), net.weight("a.bias", 3))
    x = net("PRelu", x, net.weight("a.slopes", 3, 1, 1, positive=True))
    x = net("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    bias = net.tensor(np.array([100.0, -100, -100]), "b.bias")
    x = net("Conv", x, net.weight("b.weight", 3, 3, 3, 3), bias)
    x = net("PRelu", x, net.tensor(np.zeros((3, 1, 1)), "b.slopes"))
    x = net("Conv", x, net.weight("c.weight", 1, 3, 1, 1), net.weight("c.bias", 1))
    return net.model(net("Transpose", x, perm=[0, 2, 3, 1]))


def _bump():
    """One label, whose last layer has four weights."""
    net = Net()
    x = net("Tanh", net.linear("a", net.input("x", 2), 2, 4))
    return net.model(net.linear("b", x, 4, 1, bias=False))


@pytest.mark.parametrize(
    ("make", "learn", "samples", "here", "rank"),
    [(_faces, "b.bias", 0, 1, 3), (_bump, "b.weight", 2, 2, 4)],
)
def test_the_table_has_the_numbers_of_the_json(
    make, learn, samples, here, rank, tmp_path, answer, printed
):  # fmt: skip
    """At the file's weights, or at two different samples of the five, and where training goes."""
    path, words = tmp_path / "net.onnx", ["--learn", learn]
    onnx.save(make(), str(path))
    if samples:
        own = np.random.default_rng(0).standard_normal((samples, 2))
        np.save(tmp_path / "x.npy", own[[0, 1, 0, 1, 1]])
        words += ["--data", str(tmp_path / "x.npy")]
    [row] = answer("capacity", str(path), *words)["subsets"]
    assert (row["at_weights"]["rank"], row["at_weights"]["capacity"]) == (here, here)
    assert (row["points"][0]["rank"], row["rank"], row["capacity"]) == (here, rank, rank)
    lines = printed("capacity", str(path), *words).splitlines()
    head, line = next(pair for pair in pairwise(lines) if pair[0].startswith("subset"))
    shown = dict(zip(re.split("  +", head.strip()), re.split("  +", line.strip()), strict=True))
    # Other samples may switch units at the file's weights: a lower bound.
    mark = "" if samples else "≥ "
    assert (shown["rank here"], shown["fits here"]) == (f"{mark}{here}",) * 2
    assert (shown["rank"], shown["capacity"]) == (f"{rank}",) * 2


@pytest.mark.parametrize("name", [*more("mlp_tanh", "convnet"), "embedding"])
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["capacity", "--learn", "biases"], lambda path: mp.capacity(path, "biases")),
        (["capacity", "--check"], lambda path: mp.capacity(path, check=True)),
        (["dimension"], mp.dimension),
    ],
)
def test_python_prints_what_the_command_prints(
    name, words, found, tmp_path, monkeypatch, capsys
):  # fmt: skip
    """The same lines in the same order, the same sentences about them, and the same data."""
    # A longer path would be wrapped in the title.
    monkeypatch.chdir(tmp_path)
    path = save(name, tmp_path).name
    result = found(path)
    call(words[0], path, *words[1:])
    out = capsys.readouterr().out
    lines = iter(line.rstrip() for line in out.splitlines())
    assert all(line.rstrip() in lines for line in str(result).splitlines())
    for sentence in result.explain().known:
        assert sentence in " ".join(out.split())
    call(words[0], path, *words[1:], "--json")
    data = json.loads(capsys.readouterr().out)
    assert json.loads(json.dumps(result.to_dict())).items() <= data.items()
