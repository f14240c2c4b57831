"""Entries at places: taken, put, combined with others, compared with NumPy."""

import numpy as np
import pytest

from algebra.plugins.models.onnx import read_onnx
from algebra.plugins.models.onnx.places import product_along, put_at
from algebra.plugins.models.onnx.values import BATCH, Item, Moves, constant_of
from algebra.programs.program import Builder
from tests.doubles import labels
from tests.onnx_models import Net, helper
from tests.refusals import refuses
from tests.samples import many

COMBINED = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


@pytest.mark.parametrize("seed", range(many(12)))
@pytest.mark.parametrize("how", ["none", *COMBINED])
def test_entries_are_put_as_numpy_does(how, seed):
    """Also several at one place; of those that replace it one is kept."""
    rng = np.random.default_rng(seed)
    moves = Moves(Builder(), BATCH)
    shape, count = (2, 1, 3), int(rng.integers(1, 9))
    where = rng.permutation(6)[:count] if how == "none" else rng.integers(0, 6, count)
    count = len(where)
    numbers = rng.integers(0, 5, count)
    item = Item(moves.build.sample("x", shape), 1)
    source = Item(moves.build.sample("y", (5,)), 0)
    found = put_at(moves, item, where, numbers, source, how)
    x, y = rng.standard_normal((*shape, 1)), rng.standard_normal((5, 1))
    expected = x.reshape(6).copy()
    if how == "none":
        expected[where] = y[numbers, 0]
    else:
        COMBINED[how].at(expected, where, y[numbers, 0])
    ours = labels(moves.build.program(found.value), {}, {"x": x, "y": y})
    np.testing.assert_allclose(ours.ravel(), expected)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_products_along_an_axis(size):
    """Of any number of entries."""
    moves = Moves(Builder(), BATCH)
    item = Item(moves.build.sample("x", (1, size, 2)), 0)
    found = product_along(moves, item, [1], False)
    x = np.random.default_rng(size).standard_normal((1, size, 2, 3))
    assert found.shape == (1, 2)
    assert np.allclose(labels(moves.build.program(found.value), {}, {"x": x}), x.prod(1))


def test_constants_that_were_moved():
    """Found through moves and joins, over one denominator; samples are none."""
    build = Builder()
    own = build.constant(np.arange(6).reshape(2, 3))
    moved = build.joined([build.transposed(own), build.reshaped(own, (3, 2))])
    wanted = np.concatenate([np.arange(6).reshape(2, 3).T, np.arange(6).reshape(3, 2)])
    table, below = constant_of(build, moved)
    assert (table.tolist(), below) == (wanted.tolist(), 1)
    assert constant_of(build, build.sample("x", (2,))) is None
    thirds = build.constant(np.ones(2, int), 3)
    assert constant_of(build, build.index(np.array([0, -1]), thirds))[0].tolist() == [1, 0]
    assert constant_of(build, thirds)[1] == 3
    assert constant_of(build, build.joined([thirds, build.constant(np.ones(2, int))])) is None


def of_two_samples(indices):
    """A graph of two samples that takes entries at a table of indices."""
    net = Net()
    net.inputs.append(helper.make_tensor_value_info("x", 11, [2, 3]))
    h = net.linear("l", "x", 3, 4)
    found = net("GatherElements", h, net.tensor(np.array(indices)), axis=1)
    return net.model(found).SerializeToString()


def test_indices_of_a_fixed_number_of_samples():
    """They must be the same for all, as a program computes one sample."""
    read = read_onnx("x.onnx", data=of_two_samples([[3, 1], [3, 1]]))
    assert read.program.nodes[read.program.output].size == 2
    data = of_two_samples([[3, 1], [1, 3]])
    words = "not the same for all samples"
    refuses(words, read_onnx, "x.onnx", data=data, sizes={"x.0": "samples"})
