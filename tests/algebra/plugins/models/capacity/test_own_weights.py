"""Ranks at given weights of models with exponentials: upper bounds, and which are attained."""

from dataclasses import replace

import numpy as np
import pytest

import matchprob as mp
from algebra.plugins.models.capacity import Subset
from algebra.plugins.models.capacity.own_weights import is_attained
from algebra.plugins.models.onnx import Read
from algebra.programs.generic import Model
from algebra.programs.program import Builder
from numeric.programs.patterns import own_patterns


def net(first, second):
    """v (relu(x) + tanh(a x), tanh(b x)): two units with one input each, and a read-out."""
    build = Builder()
    x = build.sample("x", ())
    a, b, v = (build.weight(*one) for one in (("a", ()), ("b", ()), ("v", (2,))))
    one, two = (build.apply("tanh", build.multiply(weight, x)) for weight in (a, b))
    hidden = build.index(np.arange(2), build.add(build.rectified(x), one), two)
    program = build.program(build.contract("i,i->", v, hidden))
    values = {"a": (np.array(first), 1), "b": (np.array(second), 1), "v": (np.array([1, 3]), 1)}
    return Read(program, values, frozenset(), {}, dict.fromkeys(values, "matrix"))


UNITS = [(2, 5, 4), (2, 2, 3), (2, -2, 3), (0, 2, 4), (0, 0, 2)]


@pytest.mark.parametrize(("a", "b", "rank"), UNITS)
def test_equal_and_opposite_units(a, b, rank):
    """The rank at the weights is the Jacobian's, and it is shown; elsewhere it is larger."""
    [found] = mp.capacity(net(a, b), {"all": ["*"]}).subsets
    own, *others = found.points
    assert (own.at, own.rank, own.exact) == ("file", rank, True)
    assert {point.rank for point in others} <= {4}
    assert found.rank == 4


def test_a_relation_of_exponentials():
    """(1 + tanh² u) tanh 2u = 2 tanh u is no relation of formal values: a bound, and said so."""
    build = Builder()
    x, v = build.sample("x", ()), build.weight("v", (4,))
    a, b = (build.apply("tanh", build.multiply(build.weight(name, ()), x)) for name in "ab")
    square = build.multiply(build.multiply(a, a), b)
    terms = build.index(np.arange(4), build.rectified(x), a, b, square)
    program = build.program(build.contract("i,i->", v, terms))
    values = {"a": (np.array(1), 1), "b": (np.array(2), 1), "v": (np.ones(4, np.int64), 1)}
    read = Read(program, values, frozenset(), {}, dict.fromkeys(values, "matrix"))
    found = mp.capacity(read, {"v": ["v"]}, data=np.array([-1, -0.5, -0.2, 0.3, 0.7, 1.5])[:, None])
    own = found.subsets[0].points[0]
    assert (own.at, own.rank, own.exact) == ("data", 4, False)
    assert "at most the one that was found" in " ".join(found.document().why.known)
    moved = replace(read, values={**values, "b": (np.array(3), 1)})
    data = np.linspace(-1, 2, 7)[:, None]
    assert mp.capacity(moved, {"v": ["v"]}, data=data).subsets[0].points[0].exact


def test_limits():
    """Nothing is shown of large minors, and no rank that is too large; rank 0 is attained."""
    read = net(1, 4)
    patterns = own_patterns(read.program, read.values)
    model = Model(read.program, values=read.values, patterns=patterns)
    assert is_attained(model, Subset("v", ("v",)), 4, 0, 0)
    assert not is_attained(model, Subset("v", ("v",)), 4, 400, 0)
    assert not is_attained(model, Subset("v", ("v",)), 4, 3, 0)


def test_updates():
    """W + U Vᵀ of rank one at their start, where U is 0, and at generic factors."""
    build = Builder()
    W, v, x = build.weight("W", (3, 2)), build.weight("v", (3,)), build.sample("x", (2,))
    hidden = build.apply("tanh", build.contract("ij,j->i", W, x))
    program = build.program(build.contract("i,i->", v, hidden))
    values = {"W": (np.array([[1, 2], [3, 1], [1, -1]]), 2), "v": (np.array([1, 2, 3]), 1)}
    read = Read(program, values, frozenset(), {}, dict.fromkeys(values, "matrix"))
    [found] = mp.capacity(read, lora=1).subsets
    assert found.name == "LoRA 1"
    # v learns as a whole.  Of U and V: U at the start; then all but the scale between them.
    assert (found.at_weights.rank, found.at_weights.exact) == (3 + 3, True)
    assert (found.learnable, found.rank, found.exact) == (8, 7, True)
