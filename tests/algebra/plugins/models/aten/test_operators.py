"""The table of ATen operators: entries from other packages, and no unused entry."""

import numpy as np
import pytest

from algebra.plugins.models.aten import ATEN, read_torch
from algebra.plugins.models.aten.call import FEW, AtenCall, Merged, Repeated, filled
from algebra.plugins.models.onnx.values import BATCH, Item, Moves
from algebra.plugins.models.onnx.weights import Weights
from algebra.programs.program import Builder
from tests.doubles import labels
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
            return torch.special.i0(x)

    refuses("operator i0 is not known", read_torch, Net(), torch.zeros(2, 3))
    monkeypatch.setitem(ATEN, "i0", lambda c: c.run("Tanh", c["self"]))
    assert read_torch(Net(), torch.zeros(2, 3)).program.samples == {"x": (3,)}


def test_constants_of_each_sample():
    """The same for all samples: one of them; the samples' numbers are recognized."""
    same = Repeated(np.tile([[1.0, np.nan]], (FEW, 1)), 0)
    assert np.array_equal(same.one(), [[1, np.nan]], equal_nan=True)
    assert same.first(2).shape == (2, 2)
    numbers = Repeated(np.arange(FEW)[:, None], 0)
    assert numbers.counts_samples
    assert not Repeated(np.arange(FEW)[None], 0).counts_samples
    refuses("of sample 1 differs", numbers.one)


def test_entries_of_each_sample():
    """x[numbers, at]: the axis of the samples stays where NumPy puts the tables' axes."""
    x = call()
    build = x.moves.build
    item = Item(build.reshaped(build.sample("x", (4, 2)), (1, 4, 2)), 0)
    numbers = Repeated(np.arange(FEW), 0)
    x.arguments = {"self": item, "indices": [numbers, np.array([2])]}
    found = ATEN["index"](x)
    assert (found.batch, found.shape) == (0, (1, 2))
    x.arguments = {"self": item, "indices": [np.array([2]), numbers]}
    refuses("depend on samples", ATEN["index"], x)


def value_of(found, x):
    """The value of an item without samples."""
    build, flat = x.moves.build, x.item(found).value
    size = int(np.prod(found.shape))
    ones = build.reshaped(build.sample("one", (1,)), (1, 1))
    made = build.contract("ik,ij->kj", ones, build.reshaped(flat, (1, size)))
    row = build.reshaped(made, (size,))
    return labels(build.program(row), {}, {"one": np.ones((1, 1))}).reshape(found.shape)


@pytest.mark.parametrize("left", [True, False])
def test_systems_of_equations(left):
    """Solutions of A X = B, or X A = B, for two systems are NumPy's."""
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(2, 2, 3, 3))
    x = call(A=A, B=B, left=left)
    found = value_of(ATEN["_linalg_solve_ex"](x)[0], x)
    assert np.allclose(A @ found if left else found @ A, B)
    big = np.zeros((65, 65))
    refuses("up to 64 equations", ATEN["_linalg_solve_ex"], call(A=big, B=big))
    refuses("its right side is a matrix", ATEN["_linalg_solve_ex"], call(A=A[0], B=B[0, 0]))


def test_right_sides_that_are_samples():
    """A X = B where each column of B is a sample: its own solution."""
    A = np.array([[2.0, 1, 0], [0, 3, 1], [1, 0, 4]])
    x = call()
    build = x.moves.build
    x.arguments = {"A": A, "B": Item(build.reshaped(build.sample("x", (3,)), (3, 1)), 1)}
    found = ATEN["_linalg_solve_ex"](x)[0]
    program = build.program(build.reshaped(found.value, (3,)))
    X = np.random.default_rng(2).normal(size=(3, 5))
    assert np.allclose(labels(program, {}, {"x": X}).reshape(3, 5), np.linalg.solve(A, X))


def test_entries_put_at_tables_of_indices():
    """Broadcast values at tables of indices, as NumPy puts and adds them."""
    zero, at = np.zeros((2, 3, 3)), [None, np.array([0, 1]), np.array([2, 0])]
    put = np.arange(1.0, 5).reshape(2, 2)
    x = call(self=zero, indices=at, values=put)
    expected = zero.copy()
    expected[:, at[1], at[2]] = put
    assert np.array_equal(value_of(ATEN["index_put"](x), x), expected)
    x.arguments |= {"accumulate": True, "indices": [None, np.array([1, 1]), np.array([2, 2])]}
    twice = np.zeros((2, 3, 3))
    np.add.at(twice, (slice(None), [1, 1], [2, 2]), put)
    assert np.array_equal(value_of(ATEN["index_put"](x), x), twice)


def test_empty_tensors_are_joined():
    """A tensor of the shape (0,) is left out, another one without entries counts."""
    empty, none, two = np.zeros(0), np.zeros((1, 0)), np.ones((1, 2))
    x = call(tensors=[empty, none, two, none, two], dim=-1)
    assert np.array_equal(value_of(ATEN["cat"](x), x), np.ones((1, 4)))
