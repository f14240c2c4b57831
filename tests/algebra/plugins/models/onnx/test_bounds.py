"""Models are bounded before they are expanded: status 2 and the node's name, in little memory."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from algebra.plugins.models.onnx import bounds, read_onnx
from algebra.plugins.models.onnx.bounds import MODEL_LIMITS, check_constant
from algebra.plugins.models.onnx.written import read_program
from matchprob.api.proofs.check import check_proof
from tests.attacks import ROOT, attacked
from tests.model_attacks import certificate
from tests.onnx_models import Net, helper, onnx
from tests.refusals import refuses
from tests.samples import many

HOSTILE = Path(__file__).parents[4] / "data" / "hostile"
FAULTS = {
    "biginput2": r"the input `x`: 4611686018427387904 entries",
    "convstride0": r"node 0 `` \(Conv\): its kernel, strides and dilations must be 1 or more",
    "fb20": r"node 1 `` \(F0\): written out, it has more than 50000 nodes",
    "funcbomb": r"node 1 `` \(F0\): written out, it has more than 50000 nodes",
    "funcrec": r"node 1 `` \(F\): the function `F` calls itself",
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_node_at_fault_is_named(name):
    """Also inside a certificate, whose verification ends with the same sentence."""
    path = HOSTILE / f"{name}.onnx"
    refuses(FAULTS[name], read_onnx, path)
    found = check_proof(certificate(path.read_bytes()))
    assert not found.holds
    assert FAULTS[name].partition("`")[0].replace("\\", "") in found.checks[-1].text


@pytest.mark.parametrize("verb", ["capacity", "verify"])
def test_commands_end_in_little_memory(verb, tmp_path):
    """Nested functions that mean 2^30 nodes: status 2 or 3, below 500 MB and in seconds."""
    content = (HOSTILE / "funcbomb.onnx").read_bytes()
    path = tmp_path / ("a.onnx" if verb == "capacity" else "a.json")
    path.write_bytes(content if verb == "capacity" else certificate(content).encode())

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (500 << 20, 500 << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))

    command = [sys.executable, "-m", "matchprob", verb, str(path), "--timeout", "20"]
    done = subprocess.run(command, cwd=ROOT, preexec_fn=limit, capture_output=True, text=True,
                          timeout=120)  # fmt: skip
    assert done.returncode == (2 if verb == "capacity" else 3), done.stderr
    assert "written out, it has more than" in done.stderr


def _written(net, tmp_path, *outputs):
    onnx.save(net.model(*outputs), str(tmp_path / "net.onnx"))
    return tmp_path / "net.onnx"


def _doubled(net, x):
    for _ in range(60):
        x = net("Concat", x, x, axis=1)
    return x


def _whole(net, *numbers):
    return net.tensor(np.array(numbers, np.int64))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_doubled, r"node 2\d `n2\d` \(Concat\): \d+ entries"),
        (lambda net, x: net("Tile", x, _whole(net, 1, 2**40)), r"`n0` \(Tile\): 3298534883328 ent"),
        (lambda net, x: net("Expand", x, _whole(net, 2**40, 1, 3)), r"\(Expand\): "),
        (lambda net, x: net("Pad", x, _whole(net, 0, 0, 0, 2**40)), r"\(Pad\): 1099511627779 ent"),
        (
            lambda net, x: net("Add", x, net("ConstantOfShape", _whole(net, 2**31, 2**31))),
            r"`n0` \(ConstantOfShape\): a constant of the shape \(2147483648, 2147483648\)",
        ),
        (
            lambda net, x: net("Mul", x, net("Range", *(net.tensor(np.int64(v))
                                                        for v in (0, 10**12, 1)))),
            r"`n0` \(Range\): it makes a constant",
        ),
        (
            lambda net, x: net("Mul", x, net("RandomNormal", shape=[2**20, 2**20])),
            r"`n0` \(RandomNormal\): the values of RandomNormal are random",
        ),
        (
            lambda net, x: net("AveragePool", net("Reshape", x, _whole(net, 1_000_003, 1, 3)),
                               kernel_shape=[1], pads=[2**40, 2**40]),
            r"\(AveragePool\): \d+ entries",
        ),
        (
            lambda net, x: net("MaxPool", net("Reshape", x, _whole(net, 1_000_003, 1, 3)),
                               kernel_shape=[1], strides=[-1]),
            r"strides and dilations must be 1 or more",
        ),
        (lambda net, x: net("Split", x, axis=1, num_outputs=2**31, outputs=2), r"into 214748"),
    ],
)  # fmt: skip
def test_what_would_be_large_is_refused(make, words, tmp_path):
    """Doublings, repeats, padding, ranges and windows, each before it is made."""
    net = Net()
    made = make(net, net.input("x", 3))
    made = made if isinstance(made, str) else made[0]
    path = _written(net, tmp_path, net.linear("l", made, 3, 2))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refuses(words, read_onnx, path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 << 10


def test_functions_that_are_few_are_written_out(tmp_path):
    """A model with a function that calls another one is read as before."""
    net = Net()
    hidden = net.linear("l", net.input("x", 3), 3, 2)
    net.nodes.append(helper.make_node("F", [hidden], ["y"], name="f", domain="own"))
    model = net.model("y")
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
    model.opset_import.append(imports[1])
    inner = helper.make_node("G", ["a"], ["e"], domain="own")
    model.functions.append(helper.make_function("own", "F", ["a"], ["e"], [inner], imports))
    tanh = helper.make_node("Tanh", ["a"], ["e"])
    model.functions.append(helper.make_function("own", "G", ["a"], ["e"], [tanh], imports))
    onnx.save(model, str(tmp_path / "net.onnx"))
    program = read_onnx(tmp_path / "net.onnx").program
    assert "tanh" in {node.name for node in program.nodes}


def test_tensors_in_other_files_are_read_from_the_folder_only(tmp_path):
    """Beside the model they are read; elsewhere, longer than their file or special: refused."""
    net = Net()
    model = net.model(net.linear("l", net.input("x", 3), 3, 2))
    content = np.arange(6.0).tobytes()
    (tmp_path / "w.bin").write_bytes(b"12" + content)
    (tmp_path / "zero").symlink_to("/dev/zero")
    for place, offset, length, words in (
        ("w.bin", 2, 48, ""), ("w.bin", 3, 48, "it ends 1 bytes before"),
        ("zero", 0, 48, "a device"),
        ("/dev/zero", 0, 48, "no file in the folder"), ("../w.bin", 0, 48, "no file in the folder"),
        ("none", 0, 48, "No such file"), ("w.bin", -2, 48, "begins at"), ("w.bin", 2, 40, "read"),
    ):  # fmt: skip
        (tensor,) = (t for t in model.graph.initializer if t.name == "l.weight")
        del tensor.external_data[:]
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, text in (("location", place), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(text))
        path = tmp_path / "net.onnx"
        path.write_bytes(model.SerializeToString())
        if words:
            refuses(f"`l.weight`.*{words}", read_onnx, path)
        else:
            table, below = read_onnx(path).values["l.weight"]
            assert (table / below == np.arange(6.0).reshape(3, 2)).all()


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([{"op": "block", "name": "x", "shape": [2**30, 2**30], "sample": True}], "entries"),
        ([{"op": "block", "name": "x", "shape": [2], "sample": True},
          {"op": "scale", "inputs": [0], "number": "1e999999999"}], "digits"),
        ([{"op": "block", "name": "x", "shape": [2], "sample": True},
          {"op": "power", "inputs": [0], "number": "1000000"}], "no number below 1000"),
        ([{"op": "block", "name": "x", "shape": [10**5], "sample": True},
          {"op": "contract", "inputs": [0, 0], "letters": "a,b->ab"}], "10000000000 entries"),
    ],
)  # fmt: skip
def test_programs_as_text_are_bounded_too(nodes, words):
    """Sizes, numbers and exponents of a program that a certificate holds."""
    data = {"format": "matchprob-program", "version": 1, "nodes": nodes, "output": len(nodes) - 1,
            "buffers": [], "tokens": {}}  # fmt: skip
    refuses(words, read_program, json.dumps(data).encode())


def test_bounds_of_constants_are_bounds():
    """The bound of each kind is at least the size that the reference implementation gives."""
    from onnx.reference import ReferenceEvaluator

    rng = np.random.default_rng(0)
    a, b = rng.random((2, 3), np.float32), rng.random((3, 4), np.float32)
    whole = np.array([2, 3], np.int64)
    for op, inputs, more in (
        ("Add", (a, a[:1]), {}), ("MatMul", (a, b), {}),
        ("Einsum", (a, b), {"equation": "ij,jk->ik"}),
        ("Tile", (a, whole), {}), ("Expand", (a[:, :1], whole), {}), ("NonZero", (a,), {}),
        ("Pad", (a, np.array([1, 0, 0, 2])), {}),
        ("Gather", (b, np.array([0, 1, 1, 2])), {"axis": 1}),
        ("Range", tuple(np.array(v) for v in (0, 9, 2)), {}), ("Concat", (a, a), {"axis": 0}),
    ):  # fmt: skip
        names = [f"i{k}" for k in range(len(inputs))]
        node = helper.make_node(op, names, ["y"], **more)
        infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                 for n, v in zip(names, inputs, strict=True)]  # fmt: skip
        graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name="y")])
        [found] = ReferenceEvaluator(helper.make_model(graph)).run(
            None, dict(zip(names, inputs, strict=True))
        )
        given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        check_constant(op, inputs, given)
        least = bounds._SIZES[op](inputs, given) if op in bounds._SIZES else found.size
        assert least >= found.size
    refuses("a constant of up to", check_constant, "Tile", (a, whole * MODEL_LIMITS.constant), {})


def test_attacks_with_models():
    """Models with a fault, as files and in certificates: read, refused or at a limit."""
    found = attacked("tests.model_attacks", "suite", many(600))
    assert found["faults"] == []
    assert found["read"] > many(20)
    assert found["refused"] > many(200)
    assert found["peak"] < 500
