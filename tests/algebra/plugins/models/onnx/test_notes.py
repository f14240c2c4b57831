"""What an exporter says of tensors: buffers are constants, a turned weight has its name."""

import numpy as np
import pytest

from algebra.plugins.models.onnx import read_onnx
from algebra.plugins.models.onnx.notes import TensorNote, tensor_notes
from tests.onnx_models import Net, helper, onnx
from tests.samples import many

KIND = "pkg.torch.export.graph_signature.InputSpec.kind"
COMPUTED = "pkg.onnxscript.optimizer.folded_from"


def annotated(model, **notes):
    """A model with metadata of some values: the key and the text."""
    for name, (key, text) in notes.items():
        value = helper.make_tensor_value_info(name, 11, None)
        entry = value.metadata_props.add()
        entry.key, entry.value = key, text
        model.graph.value_info.append(value)
    return model.SerializeToString()


def products(norm=False):
    """x A b + c, perhaps with batch normalization before."""
    net = Net()
    x = net.input("x", 3)
    if norm:
        ones = [net.weight(name, 3, positive=True) for name in ("g", "s", "mean", "var")]
        x = net("BatchNormalization", x, *ones)
    h = net("MatMul", net("MatMul", x, net.weight("A", 3, 2)), net.weight("b", 2, 2))
    return net.model(net("Add", h, net.weight("c", 2)))


def test_buffers_are_constants_and_a_turned_weight_has_its_name():
    data = annotated(
        products(), A=(KIND, "BUFFER"), b=(COMPUTED, "['layer.weight']"), c=(KIND, "PARAMETER")
    )
    read = read_onnx("x.onnx", data=data)
    assert set(read.parameters) == {"layer.weight", "c"}
    assert not read.assumed


def test_tables_that_the_exporter_computed_are_named():
    data = annotated(products(), A=(COMPUTED, "['arange', 'model.wpe.weight']"))
    read = read_onnx("x.onnx", data=data)
    assert set(read.parameters) == {"A", "b", "c"}
    [said] = read.assumed
    assert "`A`" in said
    assert "constants" in said
    assert set(read_onnx("x.onnx", data=data, constants=["A"]).parameters) == {"b", "c"}


def test_constants_that_the_exporter_made_count_for_nothing():
    """A weight in another shape has its name; a table of such constants alone never learns."""
    made = "['layer.bias', 'val_3', 'val_14']"
    data = annotated(products(), A=(COMPUTED, "['val_1', 'val_2']"), c=(COMPUTED, made))
    read = read_onnx("x.onnx", data=data)
    assert set(read.parameters) == {"b", "layer.bias"}
    assert not read.assumed


def test_statistics_stay_statistics():
    """Buffers that batch normalization uses are read as before."""
    data = annotated(products(True), mean=(KIND, "BUFFER"), var=(KIND, "BUFFER"))
    read = read_onnx("x.onnx", data=data)
    assert read.buffers == {"mean", "var"}


@pytest.mark.parametrize("text", ["", "[", "'", "[''", "['a.b', 'a.b']", "['A.']", "x" * 10**6])
def test_other_texts_change_no_weight(text):
    """Of one name of another tensor, of several names, of no list."""
    data = annotated(products(), b=(COMPUTED, text), c=(COMPUTED, "['A']"))
    read = read_onnx("x.onnx", data=data)
    assert len(read.parameters) == 3
    assert sum(int(np.prod(s)) for s in read.parameters.values()) == 12


def test_random_notes_are_read():
    rng = np.random.default_rng(1)
    for _ in range(many(40)):
        texts = ["".join(rng.choice(list("['], ab.")) for _ in range(12)) for _ in range(3)]
        notes = {name: (COMPUTED, text) for name, text in zip("Abc", texts, strict=True)}
        model = onnx.load_model_from_string(annotated(products(), **notes))
        found = tensor_notes(model.graph)
        assert all(isinstance(note, TensorNote) and not note.is_fixed for note in found.values())
        assert len(read_onnx("x.onnx", data=model.SerializeToString()).parameters) == 3
