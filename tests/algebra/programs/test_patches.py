"""Patches that are formed in parts give the values and derivatives of patches as a table."""

import random

import numpy as np
import pytest

from algebra.memory_limits import limited_memory
from algebra.plugins.models.onnx import read_onnx
from algebra.programs import jacobian
from algebra.programs.generic import Columns, Model, bytes_of_sample, cells_of, random_program_point
from algebra.programs.jacobian import Sweep
from algebra.programs.patches import Patches
from algebra.programs.residues import ModularArithmetic
from matchprob.plugins.models.pieces import pieces
from tests.onnx_models import Net, onnx


def _read(net, output, tmp_path):
    onnx.save(net.model(output), str(tmp_path / "net.onnx"))
    return read_onnx(tmp_path / "net.onnx")


def _convolutions(tmp_path, *, group=1, transposed=False, mean=False):
    net, rng = Net(), np.random.default_rng(0)

    def weight(*shape):
        return net.tensor(rng.standard_normal(shape).astype("f4"))

    first = (4, 6 // group) if transposed else (6, 4 // group)
    value = net("ConvTranspose" if transposed else "Conv", net.input("x", 4, 7, 5),
                weight(*first, 3, 3), weight(6), group=group, strides=[2, 1],
                pads=[1, 1, 1, 1])  # fmt: skip
    value = net("Tanh", value)
    if mean:
        value = net("AveragePool", value, kernel_shape=[2, 2], pads=[1, 0, 0, 0])
    value = net("Conv", value, weight(3, 6, 3, 2), dilations=[1, 2], pads=[1, 1, 1, 1])
    value = net("Flatten", net("GlobalAveragePool", net("Tanh", value)))
    return _read(net, net.linear("l", value, 3, 2), tmp_path)


@pytest.mark.parametrize("bits", [23, 31, 61])
@pytest.mark.parametrize(
    "options",
    [{}, {"group": 2}, {"transposed": True}, {"transposed": True, "group": 2}, {"mean": True}],
)
def test_derivatives_equal_those_of_a_table(options, bits, tmp_path, monkeypatch):
    """Columns by all parameters and by some, modulo primes of each size."""
    model = Model(_convolutions(tmp_path, **options).program)
    point = random_program_point(model, 5, "patches", bits=bits)
    names = list(model.program.weights)
    cells = [cell for name in names for cell in cells_of(model, name)]
    some = random.Random(1).sample(cells, 20)

    def columns():
        sweep = Sweep(model.program, point.arithmetic, point.blocks, names)
        return sweep.jacobian(cells), sweep.jacobian(some), sweep.value

    found = columns()
    monkeypatch.setattr(ModularArithmetic, "forms_patches", False)
    monkeypatch.setattr(jacobian, "_SHARE", 0)
    for own, expected in zip(found, columns(), strict=True):
        assert (own == expected).all()
        assert expected.any(axis=0).all()


def _large(net, width, height):
    """Two convolutions of large images, rectified, and their maxima."""
    rng, value, size = np.random.default_rng(3), net.input("x", 1, width, height), 1
    for count in (8, 8):
        drawn = rng.standard_normal((count, size, 3, 3)) / (3 * size**0.5)
        value = net("Conv", value, net.tensor(drawn.astype("f4")),
                    net.tensor(rng.standard_normal(count).astype("f4")), pads=[1] * 4)  # fmt: skip
        value, size = net("Relu", value), count
    return net.linear("head", net("Flatten", net("GlobalMaxPool", value)), 8, 1)


def test_images_take_no_table_of_patches(tmp_path):
    """A small file with 900 × 120 inputs is read; a sample takes less than its patches would."""
    net = Net()
    read = _read(net, _large(net, 900, 120), tmp_path)
    patches = [node for node in read.program.nodes if isinstance(node.places, Patches)]
    assert [node.size for node in patches] == [9 * 108_000, 72 * 108_000]
    assert sum(node.places.windows.size for node in patches) == 18 * 108_000
    assert bytes_of_sample(read.program, frozenset(read.program.weights)) < 8 * 28 * 864_000


def test_patterns_part_by_part_are_those_of_all_samples(tmp_path):
    """Parts of the samples have the signs that all have together, and the same derivatives."""
    net = Net()
    read = _read(net, _large(net, 12, 9), tmp_path)
    for piece in list(pieces(read))[:2]:
        model, whole = piece.model, piece.model.signs(7)
        for part in (slice(0, 3), slice(3, 7)):
            found = model.signs(7, part)
            assert found.keys() == whole.keys()
            assert all((found[k] == whole[k][..., part]).all() for k in whole)
        point = random_program_point(model, 7, "parts", bits=23)
        cells = cells_of(model, "head.weight")
        every = Columns(model, point, 7, ["head.weight"]).of(cells)
        with limited_memory(40 * bytes_of_sample(read.program, frozenset(["head.weight"]))):
            columns = Columns(model, point, 7, ["head.weight"])
            assert columns.step < 7
            assert (columns.of(cells) == every).all()
