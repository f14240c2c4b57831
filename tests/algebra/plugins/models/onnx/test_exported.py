"""Files that both exporters of torch write: labels are those of the module."""

import logging
import warnings

import numpy as np
import pytest

from algebra.plugins.models.onnx import read_onnx
from tests.architectures import SMALL, torch
from tests.doubles import labels, weights_of

pytest.importorskip("onnxscript", reason="onnxscript is not installed")
# The exporters refuse them, or their indices depend on the samples.
NOT_WRITTEN = {
    False: {"T5", "Llama", "Mixtral", "Whisper", "GCN", "GAT", "SchNet-like"},
    True: {"T5", "Whisper", "Swin", "Mixtral"},
}


def written(module, inputs, path, dynamo):
    """Export with a batch axis of any size."""
    names = [f"in{k}" for k in range(len(inputs))]
    if dynamo:
        shapes = tuple({0: torch.export.Dim.DYNAMIC} for _ in inputs)
        # Some modules take all inputs as one argument.
        several = "inputs" in module.forward.__code__.co_varnames
        options = {"dynamic_shapes": (shapes,) if several else shapes, "external_data": False}
    else:
        axes = {name: {0: "batch"} for name in [*names, "y"]}
        options = {"dynamic_axes": axes, "output_names": ["y"], "opset_version": 17}
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(module, inputs, path, dynamo=dynamo, input_names=names, **options)
    finally:
        logging.disable(logging.NOTSET)


@pytest.mark.long
@pytest.mark.parametrize("dynamo", [False, True])
@pytest.mark.parametrize("name", SMALL)
def test_labels_of_exported_architectures(name, dynamo, tmp_path):
    """A random module with random gains and shifts, in binary32."""
    if name in NOT_WRITTEN[dynamo]:
        pytest.skip("torch writes no file that can be read")
    torch.manual_seed(0)
    module, inputs = SMALL[name]()
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    with torch.no_grad():
        for parameter in module.eval().parameters():
            if parameter.ndim < 2:
                parameter.add_(torch.randn_like(parameter) / 8)
        expected = module(*inputs).numpy()
    path = tmp_path / "module.onnx"
    written(module, inputs, str(path), dynamo)
    found = read_onnx(path)
    samples = {}
    for k, given in enumerate(inputs):
        own = f"in{k}"
        if own in found.tokens:
            given = torch.nn.functional.one_hot(given, int(found.tokens[own])).double()
        samples[own] = np.moveaxis(given.numpy().astype(float), 0, -1)
    ours = labels(found.program, weights_of(found), samples).T
    assert np.abs(ours - expected.reshape(ours.shape)).max() < 1e-5 * np.abs(expected).max()
