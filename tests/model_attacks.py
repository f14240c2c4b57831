"""Models that are damaged or made to do harm, from random numbers.

``python -m tests.model_attacks SEED FIRST COUNT`` reads that many of them, as files and inside
certificates, with limited memory and time, and prints what became of them.
"""

import base64
import json
import random
from pathlib import Path

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from algebra.plugins.models.onnx import read_onnx
from matchprob.api.proofs.check import check_proof
from tests.array_attacks import damaged
from tests.attacks import main

_SIZES = (-(2**31), -7, -1, 0, 1, 2, 3, 5, 100_000, 1_000_003, 2**31, 2**40, 2**62, 2**63 - 1)
_NAMES = ("x", "W", "b", "h", "k", "y", "")
_UNARY = ("Relu", "Tanh", "Softmax", "Sqrt", "Reciprocal", "Flatten", "Shape", "Size", "Transpose",
          "Identity", "NonZero", "Exp", "Log", "Elu", "GlobalMaxPool", "ReduceMax", "ReduceL2",
          "MaxPool", "AveragePool", "LpPool", "RandomNormalLike", "Loop", "Scan", "Split",
)  # fmt: skip
_BINARY = ("Add", "Mul", "Div", "Pow", "MatMul", "Gemm", "Conv", "ConvTranspose", "Concat",
           "Gather", "Expand", "Tile", "Reshape", "Pad", "Resize", "Einsum", "OneHot", "Where",
           "Slice", "ConstantOfShape", "Range", "CumSum", "GatherND", "ScatterND", "TopK", "Max",
           "Squeeze", "Unsqueeze", "BatchNormalization", "LayerNormalization", "GRU",
           "LSTM")  # fmt: skip
_ATTRIBUTES = ("axis", "axes", "strides", "pads", "dilations", "kernel_shape", "group", "perm",
               "alpha", "beta", "epsilon", "transA", "num_outputs", "equation", "shape", "value",
               "mode", "keepdims", "blocksize", "hidden_size", "to", "start", "end", "ceil_mode",
               "auto_pad", "split", "dtype", "direction", "allowzero")  # fmt: skip


def _value(rng):
    return rng.choice([
        rng.choice(_SIZES), [rng.choice(_SIZES) for _ in range(rng.randrange(1, 5))],
        rng.choice([0.0, -1.0, 1e-40, 3e38, float("nan"), float("inf")]), "ab,bc->ac", "a,b->ab",
        "SAME_UPPER", numpy_helper.from_array(np.array([1.0], np.float32)),
    ])  # fmt: skip


def _tensor(rng, name):
    shape = rng.choice([(3, 2), (2,), (3,), (2, 3), (1,), (2, 1, 3), (), (0,)])
    array = np.resize(np.array([0.5, -1.0, 2.0]), shape).astype(rng.choice(["f4", "f8", "i8", "?"]))
    if rng.random() < 0.3:
        array = np.array([rng.choice(_SIZES) for _ in range(rng.randrange(1, 4))], np.int64)
    tensor = numpy_helper.from_array(array, name)
    match rng.choice(["", "", "", "", "dims", "type", "raw", "outside"]):
        case "dims":
            del tensor.dims[:]
            tensor.dims.extend([rng.choice(_SIZES) for _ in range(rng.randrange(4))])
        case "type":
            tensor.data_type = rng.choice([0, 1, 7, 8, 9, 10, 14, 16, 99])
        case "raw":
            tensor.raw_data = tensor.raw_data[: rng.randrange(9)] * rng.choice([1, 3])
        case "outside":
            tensor.data_location = TensorProto.EXTERNAL
            places = ["/dev/zero", "../x", "a.onnx", "", ".", "none", "a.onnx/../../etc/passwd"]
            for key, text in {"location": rng.choice(places), "offset": str(rng.choice(_SIZES)),
                              "length": str(rng.choice(_SIZES))}.items():  # fmt: skip
                if rng.random() < 0.7:
                    tensor.external_data.add(key=key, value=text)
    return tensor


def _node(rng, names, output, functions):
    op = rng.choice([rng.choice(_UNARY), rng.choice(_BINARY), rng.choice(_BINARY)])
    domain = ""
    if functions and rng.random() < 0.3:
        op, domain = rng.choice(functions), "own"
    count = rng.choice([1, 1, 2, 2, 2, 3, 5]) if op not in _UNARY else 1
    node = helper.make_node(op, [rng.choice(names) for _ in range(count)], [output], name=output,
                            domain=domain)  # fmt: skip
    for key in rng.sample(_ATTRIBUTES, rng.choice([0, 0, 1, 2])):
        try:
            node.attribute.append(helper.make_attribute(key, _value(rng)))
        except (ValueError, TypeError, OverflowError):
            continue
    if rng.random() < 0.02:
        inner = helper.make_graph([_node(rng, names, "z", ())], "g", [], [
            helper.make_tensor_value_info("z", 1, None)])  # fmt: skip
        node = helper.make_node("If", [rng.choice(names)], [output], then_branch=inner,
                                else_branch=inner)  # fmt: skip
    return node


def _doubling(rng, nodes):
    """Values that are joined with themselves again and again."""
    last = "x"
    for k in range(rng.choice([20, 35, 70])):
        op = rng.choice(["Concat", "Concat", "Add", "MatMul"]) if rng.random() < 0.1 else "Concat"
        more = {"axis": rng.choice([1, -1])} if op == "Concat" else {}
        nodes.append(helper.make_node(op, [last, last], [f"d{k}"], name=f"d{k}", **more))
        last = f"d{k}"
    return last


def model(rng):
    """A model: a net of three layers, with nodes put in, and something wrong."""
    names, nodes = ["x", "W", "b"], []
    functions = [f"F{k}" for k in range(rng.choice([0, 0, 0, 1, 3, 30, 70]))]
    nodes.append(helper.make_node("MatMul", ["x", "W"], ["h"], name="h"))
    names.append("h")
    for k in range(rng.choice([0, 1, 1, 2, 3, 5])):
        nodes.append(_node(rng, names, f"n{k}", functions))
        names.append(f"n{k}")
    last = names[-1]
    if rng.random() < 0.1:
        last = _doubling(rng, nodes)
    whole = np.array([[0.5, 1.0], [2.0, -1.0], [1.0, 1.0]], np.float32)
    tensors = [
        _tensor(rng, name) if rng.random() < 0.4 else numpy_helper.from_array(array, name)
        for name, array in (("W", whole), ("b", whole[:1]))
    ]
    others = [["N", 2, 3], ["N", 1, 4, 4], [3], [], ["N", "S"], [4, 3]]
    shape = rng.choice([["N", 3]] * 6 + others)
    shape = [rng.choice(_SIZES) if rng.random() < 0.08 else size for size in shape]
    given = helper.make_tensor_value_info("x", rng.choice([1, 1, 1, 11, 7, 9]), shape)
    result = helper.make_tensor_value_info(last, 1, None)
    graph = helper.make_graph(nodes, "g", [given], [result], tensors)
    imports = [helper.make_opsetid("", rng.choice([1, 11, 13, 17, 21, 999])),
               helper.make_opsetid("own", 1)]  # fmt: skip
    written = []
    for k, name in enumerate(functions):
        other = f"F{(k + 1) % len(functions)}" if rng.random() < 0.9 else "Relu"
        body = [helper.make_node(other, ["a"], ["c"], domain="own"),
                helper.make_node(other, ["c"], ["e"], domain="own")]  # fmt: skip
        if k == len(functions) - 1 and rng.random() < 0.8:
            body = [helper.make_node("Tanh", ["a"], ["e"])]
        written.append(helper.make_function("own", name, ["a"], ["e"], body, imports))
    return helper.make_model(graph, opset_imports=imports, functions=written, ir_version=10)


def certificate(content, m=2):
    """The text of a certificate about a model."""
    network = {"kind": "program", "file": "a.onnx", "m": m,
               "model": base64.b64encode(content).decode()}  # fmt: skip
    return json.dumps({
        "format": "matchprob-certificate", "version": 1, "verdict": "minimal", "rule": "r",
        "problem": {"network": network, "learnable": {"W": "all"}}, "equations": 4, "rank": 2,
        "learnable": 2, "prime": 1258385021, "error_bound": 0.0, "generic_root_count": None,
        "theorems": {}, "reasons": [], "notes": [], "tried": [], "seed": 0, "evidence": {},
    })  # fmt: skip


def attack(rng, folder):
    """Write one model, and read it as a file or inside a certificate."""
    proto = model(rng)
    assert isinstance(proto, ModelProto)
    content = proto.SerializeToString()
    if rng.random() < 0.2:
        content = damaged(rng, content)
    if rng.random() < 0.25:
        check_proof(certificate(content), timeout=5.0)
        return
    path = Path(folder) / "a.onnx"
    path.write_bytes(content)
    read_onnx(path)


if __name__ == "__main__":
    random.seed(0)
    main(attack)
