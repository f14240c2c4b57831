"""Models that packages ship, if these are installed: onnxruntime's labels, or the node refused.

`python -m tests.algebra.plugins.models.onnx.test_packages` prints a table of what is installed.
"""

import importlib.util
import time
from pathlib import Path

import numpy as np
import pytest

from algebra.errors import InputError
from algebra.plugins.models.onnx import read_onnx
from tests.doubles import labels
from tests.onnx_models import onnx
from tests.refusals import refuses

_48, _64 = {"x.2": 48, "x.3": 48}, {"x.2": 64, "x.3": 64}
_VOICE = {"sequence": 576}
# A file in a package, and the sizes that it leaves open.
READ = {
    "onnxruntime/datasets/mul_1.onnx": {"samples": 1},
    "onnxruntime/datasets/sigmoid.onnx": {"samples": 1},
    "silero_vad/data/silero_vad_16k_op15.onnx": _VOICE | {"sr": 16000},
    "silero_vad/data/silero_vad_op18_ifless.onnx": _VOICE | {"sr": 16000},
    "silero_vad/data/silero_vad_half.onnx": _VOICE,
    "silero_vad/data/silero_vad_16k_sequence.onnx": {"sequence_length": 2, "samples": 1},
    "faster_whisper/assets/silero_vad_v6.onnx": {"seq_len": 1, "samples": 1},
    "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx": _48,
    "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx": _64,
    "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx": {"x.2": 48, "x.3": 64},
    "rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx": _48,
    "rapidocr/models/PP-OCRv6_det_small.onnx": _64,
    "rapidocr/models/PP-OCRv6_rec_small.onnx": {"x.3": 64},
    "silero_vad/data/silero_vad.onnx": {"sr": 16000, "input.1": 576, "state.1": "samples"},
    "silero_vad/data/silero_vad_openvino_16k.onnx": {},
    "nudenet/320n.onnx": {"height": 64, "width": 64},
    "ddddocr/common.onnx": {"image_width": 64},
    "ddddocr/common_det.onnx": {},
    "onnx/backend/test/data/light/light_squeezenet.onnx": {},
    "onnx/backend/test/data/light/light_shufflenet.onnx": {},
}
# The sizes and the refusal of others.
REFUSED = {
    "ddddocr/common_old.onnx": (
        {"image_width": 64}, "node 0 .*the operator DynamicQuantizeLinear is not known",
    ),
    "onnxruntime/datasets/logreg_iris.onnx": ({}, "holds no graph of ONNX operators"),
    "basic_pitch/saved_models/icassp_2022/nmp.onnx": (
        {}, r"node \d+ .*the operator Equal is not known",
    ),
    "magika/models/standard_v3_3/model.onnx": ({}, r"node \d+ .*the operator Equal is not known"),
}  # fmt: skip


def located(name):
    """A file of a package; None if the package is not installed."""
    package, _, inside = name.partition("/")
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        return None
    path = Path(next(iter(found.submodule_search_locations))) / inside
    return path if path.exists() else None


def installed(name):
    """A file of a package; the test is skipped if it does not exist."""
    path = located(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def fed(path, sizes):
    """One sample for each input of a file, at random; and inputs that `sizes` gives."""
    graph, rng, out = onnx.load(str(path)).graph, np.random.default_rng(0), {}
    held = {tensor.name for tensor in graph.initializer}
    for value in graph.input:
        kind = value.type.tensor_type
        if value.name in held:
            continue
        if value.name in sizes:
            out[value.name] = np.array(sizes[value.name])
            continue
        named = [
            d.dim_value if d.dim_value > 0 else sizes.get(f"{value.name}.{k}")
            or sizes.get(d.dim_param)
            for k, d in enumerate(kind.shape.dim)
        ]  # fmt: skip
        shape = [size if isinstance(size, int) else 1 for size in named]
        out[value.name] = rng.standard_normal(shape).astype(np.float32)
    return out


def in_doubles(model):
    """The model with all its binary32 numbers as doubles, also inside of its nodes."""
    single, double = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE

    def turned(tensor):
        if tensor.data_type == single:
            array = onnx.numpy_helper.to_array(tensor).astype(np.float64)
            tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))

    def graph_of(graph):
        for tensor in graph.initializer:
            turned(tensor)
        for info in (*graph.input, *graph.output, *graph.value_info):
            if info.type.tensor_type.elem_type == single:
                info.type.tensor_type.elem_type = double
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.name in ("to", "dtype") and attribute.i == single:
                    attribute.i = double
                turned(attribute.t)
                if attribute.HasField("g"):
                    graph_of(attribute.g)
            if node.op_type == "Constant" and node.attribute[0].name == "value_float":
                array = np.array(node.attribute[0].f, np.float64)
                made = onnx.helper.make_attribute("value", onnx.numpy_helper.from_array(array))
                node.attribute[0].CopyFrom(made)

    graph_of(model.graph)
    return model


def in_the_long_type(path, given, short):
    """Labels in doubles: of onnxruntime, of ONNX's reference where that lacks an operator.

    None if neither has all operators in this type; the reference counts where it agrees with
    onnxruntime's labels in binary32 (its convolutions of some groups do not).
    """
    runtime = pytest.importorskip("onnxruntime")
    model = in_doubles(onnx.load(str(path)))
    fed = {k: v.astype(np.float64) if v.dtype == np.float32 else v for k, v in given.items()}
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = runtime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return "onnxruntime", session.run(None, fed)[0].ravel()
    except Exception:
        pass
    try:
        found = onnx.reference.ReferenceEvaluator(model).run(None, fed)[0]
    except Exception:
        return "", None
    agrees = np.allclose(found.ravel(), short, rtol=1e-3, atol=1e-4 * np.abs(short).max())
    return ("reference" if found.dtype == np.float64 and agrees else ""), found.ravel()


def compared(path, sizes):
    """What was read, our labels in doubles and those of onnxruntime in binary32."""
    runtime = pytest.importorskip("onnxruntime")
    read, given = read_onnx(path, sizes=sizes), fed(path, sizes)
    weights = {
        name: np.array([int(v) / d for v in table.ravel().tolist()]).reshape(table.shape)
        for name, (table, d) in read.values.items()
    }
    samples = {
        name: np.reshape(given[name].astype(np.float64), (*shape, 1))
        for name, shape in read.program.samples.items()
    }
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    expected = session.run(None, given)[0].ravel()
    return read, labels(read.program, weights, samples)[..., 0], expected


@pytest.mark.long
@pytest.mark.parametrize("name", READ)
def test_labels_of_models_in_packages(name):
    """Equal to those of onnxruntime, up to its rounding."""
    path = installed(name)
    _, ours, expected = compared(path, READ[name])
    assert ours.shape == expected.shape
    # A sigmoid in binary32 is wrong by a unit in the last place of 1.
    atol = 3e-7 + 1e-4 * np.abs(expected).max()
    assert np.allclose(ours, expected, rtol=1e-3, atol=atol)
    who, exact = in_the_long_type(path, fed(path, READ[name]), expected)
    if who:
        assert np.abs(ours - exact).max() <= 1e-6 * np.abs(exact).max()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    """With the node, in one line."""
    sizes, text = REFUSED[name]
    refuses(text, read_onnx, installed(name), sizes=sizes)


def table():
    """One row for each model that is installed."""
    yield "file | parameters | labels | difference | in doubles | by | largest label | CPU s"
    for name in READ | REFUSED:
        path, start = located(name), time.process_time()
        if path is None:
            continue
        try:
            sizes = READ[name] if name in READ else REFUSED[name][0]
            read, ours, expected = compared(path, sizes)
        except InputError as error:
            yield f"{name} | {str(error).removeprefix(str(path))[:90]}"
            continue
        count = sum(int(np.prod(shape)) for shape in read.parameters.values())
        difference, largest = np.abs(ours - expected).max(), np.abs(expected).max()
        seconds = time.process_time() - start
        who, exact = in_the_long_type(path, fed(path, sizes), expected)
        double = f"{np.abs(ours - exact).max():.1e} | {who}" if who else "|"
        row = f"{name} | {count} | {ours.size} | {difference:.1e} | {double} | {largest:.1e}"
        yield f"{row} | {seconds:.1f}"


if __name__ == "__main__":
    for row in table():
        print(row, flush=True)
