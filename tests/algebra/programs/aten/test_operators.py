"""The table of ATen operators: entries from other packages, and no unused entry."""

import numpy as np
import pytest

from algebra.programs.aten import ATEN, read_torch
from algebra.programs.aten.call import AtenCall, Merged, filled
from algebra.programs.onnx.values import BATCH, Item, Moves
from algebra.programs.onnx.weights import Weights
from algebra.programs.program import Builder
from tests.refusals import refuses


def call(**arguments):
    """A node with these arguments."""
    moves = Moves(Builder(), BATCH)
    return AtenCall(moves, arguments, Weights(moves), {})


def test_constants_of_the_batch_have_its_axis():
    """A number repeated over samples is a value with a batch axis, else an array."""
    moves = Moves(Builder(), BATCH)
    made = filled(moves, np.array(2.0), (3, BATCH, 2))
    assert isinstance(made, Item)
    assert (made.batch, made.shape) == (1, (3, 1, 2))
    assert np.array_equal(filled(moves, np.array(2.0), (2,)), [2, 2])
    refuses("too large", filled, moves, np.array(2.0), (1 << 20, 1 << 20))


def test_axes_made_one_before_the_samples_are_kept_apart():
    """(steps, samples, 2) seen as (steps·samples, 2): split again, or refused."""
    x = call()
    build = x.moves.build
    item = Item(build.reshaped(build.sample("x", (3, 2)), (3, 1, 2)), 1)
    x.arguments = {"self": item, "size": [3 * BATCH, 2]}
    merged = ATEN["view"](x)
    assert isinstance(merged, Merged)
    assert x.shape(merged) == (3 * BATCH, 2)
    x.arguments = {"self": merged, "size": [3, BATCH, 2]}
    assert ATEN["view"](x).value == item.value
    refuses("put it first", ATEN["tanh"], x)


def test_an_entry_from_outside(monkeypatch):
    """An operator entered in the table is read; another name is refused."""
    torch = pytest.importorskip("torch", reason="torch is not installed")

    class Net(torch.nn.Module):
        def forward(self, x):
            """A function that is not in the table."""
            return torch.sin(x)

    refuses("operator sin is not known", read_torch, Net(), torch.zeros(2, 3))
    monkeypatch.setitem(ATEN, "sin", lambda c: c.run("Tanh", c["self"]))
    assert read_torch(Net(), torch.zeros(2, 3)).program.samples == {"x": (3,)}
