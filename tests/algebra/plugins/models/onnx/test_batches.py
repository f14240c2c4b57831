"""The axis of the samples: found, or asked for in one sentence with the entry that decides."""

import re

import numpy as np
import pytest

from algebra.plugins.models.onnx import read_onnx
from tests.doubles import labels
from tests.onnx_models import helper, numpy_helper, onnx
from tests.refusals import refuses


def file(folder, nodes, inputs, tensors=(), opset=20):
    """The file of a graph whose last value is its output; inputs by name, with sizes or names."""
    kind = onnx.TensorProto.DOUBLE
    infos = [helper.make_tensor_value_info(name, kind, shape) for name, shape in inputs.items()]
    last = nodes[-1].output[0]
    graph = helper.make_graph(
        nodes, "net", infos, [helper.make_tensor_value_info(last, kind, None)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in tensors],
    )  # fmt: skip
    path = folder / "net.onnx"
    imports = [helper.make_opsetid("", opset)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=10), str(path))
    return path


def added(folder, x, y):
    """x + y of two inputs."""
    return file(folder, [helper.make_node("Add", ["x", "y"], ["z"])], {"x": x, "y": y})


def product(folder, shape, left=False):
    """x W, or W x, of one input."""
    order = ["W", "x"] if left else ["x", "W"]
    W = np.arange(12.0).reshape(4, 3) if not left else np.arange(12.0).reshape(3, 4)
    return file(folder, [helper.make_node("MatMul", order, ["z"])], {"x": shape}, [("W", W)])


@pytest.mark.parametrize(
    ("x", "y", "sizes", "blocks"),
    [
        (["N", 3], ["N", 3], {}, [(3,), (3,)]),
        ([7, 3], [7, 3], {}, [(3,), (3,)]),
        ([5, 5], [5, 5], {}, [(5,), (5,)]),
        (["N", 3], [None, 3], {}, [(3,), (3,)]),
        (["N", 3], ["M", 3], {"y.0": "samples", "x.0": "samples"}, [(3,), (3,)]),
        (["N", 3], ["M", 3], {"y.0": "samples"}, [(3,), (3,)]),
        ([3, "N"], [3, "N"], {"N": "samples"}, [(3,), (3,)]),
        ([3, 5], [3, 5], {"x.1": "samples", "y.1": "samples"}, [(3,), (3,)]),
        ([4, 3], [3], {"samples": 1}, [(4, 3), (3,)]),
        ([1, 3], [3], {}, [(3,), (3,)]),
        ([None, 3], [None, 3], {}, [(3,), (3,)]),
    ],
)
def test_the_axis_is_found_or_said(x, y, sizes, blocks, tmp_path):
    """By its name or number in all inputs, or as `sizes` says."""
    found = read_onnx(added(tmp_path, x, y), sizes=sizes)
    assert list(found.program.samples.values()) == blocks


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (["N", 3], ["M", 3], "no axis of the input `y` (M, 3) has the size N"),
        (["N", 3], [3], "give `sizes` y.0=samples, or samples=1"),
        ([5, 3], [1, 5, 5], "several axes of the input `y` (1, 5, 5) have the size 5"),
        ([], [3], "the first input `x` is one number"),
        (["N", "N"], ["N", "N"], "axis 1 of the input `x` has no size"),
        ([None, 3], [], "no axis of the input `y` (a number)"),
    ],
)
def test_what_is_ambiguous_is_asked_for(x, y, words, tmp_path):
    """One sentence, with the entry of `sizes` that decides."""
    refuses(re.escape(words), read_onnx, added(tmp_path, x, y))


def test_one_sample_without_an_axis(tmp_path):
    """A vector that a matrix multiplies is one sample: its only axis is none of samples."""
    found = read_onnx(product(tmp_path, [4]))
    assert found.program.samples == {"x": (4,)}
    x = np.array([1.0, -1, 2, 0.5])
    W = np.arange(12.0).reshape(4, 3)
    assert np.allclose(labels(found.program, {"W": W}, {"x": x[:, None]})[:, 0], x @ W)


def test_a_matrix_that_is_one_sample_is_asked_for(tmp_path):
    """W x mixes the rows of x: refused, with the entry by which it is one sample."""
    path = product(tmp_path, [4, 5], left=True)
    refuses("node 0 .*; as the graph of one sample it can be read: .*samples=1", read_onnx, path)
    found = read_onnx(path, sizes={"samples": 1})
    assert found.program.samples == {"x": (4, 5)}
    assert read_onnx(path, sizes={"x.1": "samples"}).program.samples == {"x": (4,)}


def test_wrong_entries_are_refused(tmp_path):
    """Names that no input has, values that are neither a size nor "samples"."""
    path = added(tmp_path, ["N", 3], ["N", 3])
    refuses("`sizes` names 'x.2'", read_onnx, path, sizes={"x.2": "samples"})
    refuses("must be a whole number, or", read_onnx, path, sizes={"N": "many"})
    refuses("must be 1: the file labels one", read_onnx, path, sizes={"samples": 2})
