"""Programs as text: they are read as written; other texts are refused in one line."""

import base64
import json
import random
from dataclasses import replace

import numpy as np
import pytest

from algebra.errors import InputError
from algebra.families.verify import verify
from algebra.plugins.models.onnx import Read, read_onnx
from algebra.plugins.models.onnx.written import is_written, read_program, write_program
from algebra.programs.program import Builder
from algebra.programs.tokens import TokenSizes
from matchprob import Problem, ProgramNetwork, certify
from tests.doubles import labels
from tests.onnx_models import MODELS, save
from tests.plain_data import data_of
from tests.refusals import refuses


@pytest.mark.parametrize("name", MODELS)
def test_programs_read_back(name, tmp_path):
    """With the same parameters and labels."""
    read = read_onnx(save(name, tmp_path))
    content = write_program(read)
    assert is_written(content)
    again = read_program(content)
    assert again.parameters == read.parameters
    assert (again.buffers, again.tokens) == (read.buffers, read.tokens)
    rng = np.random.default_rng(1)
    weights = {n: rng.standard_normal(s) for n, s in read.program.weights.items()}
    samples = {n: rng.standard_normal((*s, 2)) for n, s in read.program.samples.items()}
    with np.errstate(all="ignore"):
        one, other = (labels(r.program, weights, samples) for r in (read, again))
    assert np.array_equal(one, other, equal_nan=True)
    assert not again.values
    held = read_program(write_program(read, with_values=True))
    for own, given in ((held.values, read.values), (held.squares, read.squares)):
        assert own.keys() == given.keys()
        for key, (table, below) in own.items():
            assert below == given[key][1]
            assert np.array_equal(table, np.reshape(given[key][0], table.shape))


def test_frozen_values_are_in_the_certificate(tmp_path):
    """A frozen first layer of rank 1 keeps its values, in search and in the check."""
    read = read_onnx(save("mlp_tanh", tmp_path))
    first = next(n for n, s in read.parameters.items() if len(s) == 2)
    low = np.ones(read.parameters[first], np.int64)
    read = replace(read, values={**read.values, first: (low, 2)})
    net = ProgramNetwork.of(read, 6, "mlp", "file")
    data = data_of(Problem(net, {"*.bias": "all"}))
    assert verify(data).holds
    data["problem"]["network"] |= {"weights": "file", "model": ProgramNetwork.of(read, 6).model}
    assert not verify(data).holds


def test_certificates_of_programs_at_hand_are_checked(tmp_path):
    """The program is in the certificate; another one has another digest."""
    net = ProgramNetwork.of(read_onnx(save("mlp_tanh", tmp_path)), 6, "mlp")
    data = data_of(Problem(net, {"*.bias": "all"}))
    assert data["verdict"] == "minimal"
    assert verify(data).holds
    other = ProgramNetwork.of(read_onnx(save("mlp_sigmoid", tmp_path)), 6, "mlp")
    data["problem"]["network"]["model"] = other.model
    assert not verify(data).holds


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "version 2"),
        ({"output": 99}, "99 is no number"),
        ({"output": 0}, "depends on no sample"),
        ({"nodes": [{"op": "sort", "inputs": []}]}, "no operation sort"),
        ({"nodes": [{"op": "add", "inputs": [0]}]}, "no program"),
        ({"nodes": [{"op": "block", "name": "w", "shape": [-1], "sample": False}]}, "-1"),
        ({"nodes": 3}, "no program"),
        ({"values": {"w": [[1], 1]}}, "not one for each entry"),
        ({"values": {"w": [[1, 2], 0]}}, "not one for each entry"),
        ({"values": {"w": [[1, 0.5], 1]}}, "whole numbers"),
        ({"squares": {"w": [[1, 2], 1]}}, "squares of none"),
        ({"nodes": [{"op": "root"}] * 60_000}, "60000 nodes"),
    ],
)
def test_what_is_no_program(change, words, tmp_path):
    """The message names it in one line."""
    nodes = [{"op": "block", "name": name, "shape": [2], "sample": name == "x"} for name in "wx"]
    data = {"format": "matchprob-program", "version": 1, "nodes": nodes, "output": 1,
            "buffers": [], "tokens": {}}  # fmt: skip
    refuses(words, read_program, json.dumps(data | change).encode())


ENTRIES = (-1, 0, 1, 2, 7, 2**31, 2**62, 10**30, 1.5, None, True, "x", "", "1/0", [], {}, [[1]])


def changed(rng, data):
    """A program with one to three entries, wherever they stand, replaced or left out."""
    for _ in range(rng.randrange(1, 4)):
        inside, place = data, None
        while isinstance(inside, dict | list) and inside and rng.random() < 0.8:
            key = rng.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
            place, inside = (inside, key), inside[key]
        if place is not None:
            holder, key = place
            if rng.random() < 0.2:
                del holder[key]
            else:
                holder[key] = rng.choice(ENTRIES)
    return data


@pytest.mark.parametrize("seed", range(3))
def test_damaged_programs_are_refused_or_read(seed):
    """A program with tokens, some of them excluded, and entries that are something else."""
    build = Builder()
    table = build.weight("E", (4, 3))
    rows = build.contract("ti,ij->tj", build.sample("x", (2, 4)), table)
    program = build.program(build.rectified(build.contract("tj->j", rows)))
    tokens = TokenSizes({"x": 4}, {"x": frozenset({1})})
    content = write_program(Read(program, {}, frozenset(), tokens, {}))
    rng, messages = random.Random(seed), list[str]()
    for _ in range(60):
        text = json.dumps(changed(rng, json.loads(content))).encode()
        try:
            net = ProgramNetwork("x", 3, model=base64.b64encode(text).decode())
            certify(Problem(net, {"E": "all"}), timeout=5)
        except InputError as error:
            messages.append(str(error))
    assert 5 < len(messages) < 55
    assert not any("\n" in text for text in messages)
