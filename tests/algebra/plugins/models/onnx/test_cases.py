"""Small files in `tests/data/onnx`, with the labels of ONNX's reference implementation."""

import json
from pathlib import Path

import numpy as np
import pytest

from algebra.plugins.models.onnx import read_onnx
from tests.doubles import labels
from tests.onnx_models import onnx
from tests.refusals import refuses

DATA = Path(__file__).parents[4] / "data" / "onnx"
GIVEN = json.loads((DATA / "labels.json").read_text())
# The number of samples in the inputs; 0: one sample, without an axis for it.
COUNTS = {
    "attention_window": 2, "batch_equals_features": 5, "bool_mask": 3, "conv_transpose": 3,
    "resize_nearest": 3, "swish_alpha": 3, "unbatched": 0,
}  # fmt: skip


def ours(path, fed, count):
    """Our labels at the weights of the file, one row a sample, and the program that was read."""
    read = read_onnx(path)
    samples = {}
    for key, shape in read.program.samples.items():
        value = fed[key].astype(np.float64)
        if key in read.tokens:
            value = np.eye(read.tokens[key])[fed[key].astype(int)]
        samples[key] = np.moveaxis(value, 0, -1) if count else value[..., None]
        assert samples[key].shape[:-1] == shape
    weights = {
        key: np.array([int(v) / d for v in table.ravel().tolist()]).reshape(table.shape)
        for key, (table, d) in read.values.items()
    }
    return labels(read.program, weights, samples).T, read


@pytest.mark.parametrize("name", COUNTS)
def test_labels_of_files(name):
    """Read without options, with the labels of the reference."""
    path, count, fed = DATA / f"{name}.onnx", COUNTS[name], {}
    rng = np.random.default_rng(0)
    for value in onnx.load(str(path)).graph.input:
        dims = [d.dim_value or count for d in value.type.tensor_type.shape.dim]
        fed[value.name] = rng.standard_normal(dims).astype(np.float32)
        if value.type.tensor_type.elem_type == onnx.TensorProto.BOOL:
            fed[value.name] = fed[value.name] > 0
    if name in GIVEN:
        fed = {key: np.array(value, np.float32) for key, value in GIVEN[name]["inputs"].items()}
        expected = np.array(GIVEN[name]["labels"])
    else:
        [expected] = onnx.reference.ReferenceEvaluator(str(path)).run(None, fed)
    found, _ = ours(path, fed, count)
    assert len(found) == max(count, 1)
    assert np.allclose(found, expected.reshape(found.shape), rtol=1e-5, atol=1e-6)


def test_a_file_without_parameters():
    """Its capacity and dimension are no questions, said in one line."""
    mp = pytest.importorskip("matchprob")
    for verb in (mp.capacity, mp.dimension):
        refuses("swish_alpha.onnx: it has no parameters", verb, str(DATA / "swish_alpha.onnx"))
