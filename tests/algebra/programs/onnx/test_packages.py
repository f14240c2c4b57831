"""Models from packages, if these are installed: read, or refused with the node."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from algebra.programs.onnx import read_onnx
from tests.doubles import labels
from tests.onnx_models import onnx
from tests.refusals import refuses


def installed(package, inside):
    """A file of a package; the test is skipped if it does not exist."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    return Path(found.submodule_search_locations[0]) / inside


def held(path, read, reference, fed):
    """Our labels with the file's weights against the reference's."""
    weights = {
        name: np.array([int(v) / d for v in table.ravel().tolist()]).reshape(table.shape)
        for name, (table, d) in read.values.items()
    }
    samples = {
        name: np.reshape(fed[name].astype(np.float64), (*shape, 1))
        for name, shape in read.program.samples.items()
    }
    expected = onnx.reference.ReferenceEvaluator(reference).run(None, fed)[0]
    assert np.allclose(labels(read.program, weights, samples).ravel(), expected.ravel(), atol=1e-5)


def test_voice_activity():
    """Silero's detector: convolutions, an LSTM cell, a branch by the rate of sampling."""
    path = installed("silero_vad", "data/silero_vad_16k_op15.onnx")
    read = read_onnx(path, sizes={"sequence": 576, "sr": 16000})
    assert sum(int(np.prod(s)) for s in read.parameters.values()) > 100_000
    rng = np.random.default_rng(0)
    fed = {
        "input": rng.standard_normal((1, 576)).astype(np.float32),
        "state": rng.standard_normal((2, 1, 128)).astype(np.float32),
        "sr": np.array(16000),
    }
    held(path, read, str(path), fed)


def test_direction_of_text():
    """A mobile net with batch normalization, its weights written as nodes.

    The reference evaluates batch normalization before operator set 14 in training mode; the set is
    raised for it.
    """
    inside = "models/ch_ppocr_mobile_v2.0_cls_infer.onnx"
    path = installed("rapidocr_onnxruntime", inside)
    read = read_onnx(path, sizes={"x.2": 48, "x.3": 48})
    assert sum(int(np.prod(s)) for s in read.parameters.values()) > 100_000
    x = np.random.default_rng(0).standard_normal((1, 3, 48, 48)).astype(np.float32)
    model = onnx.load(str(path))
    model.opset_import[0].version = 14
    held(path, read, model, {"x": x})


def test_kind_of_file():
    """Magika compares integers: refused at that node."""
    path = installed("magika", "models/standard_v3_3/model.onnx")
    refuses(r"node \d+ .*whole numbers", read_onnx, path)
