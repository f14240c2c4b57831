"""Feed-forward networks in programs: the same labels, weight by weight; anything else is none."""

import random
from itertools import pairwise

import numpy as np
import pytest

from algebra.networks.activation import LINEAR, RELU
from algebra.networks.layered import layers_of
from algebra.programs.program import Builder
from tests.doubles import labels
from tests.samples import many

FUNCTIONS = {
    "tanh": np.tanh,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "softplus": lambda a: np.logaddexp(a, 0),
    RELU: lambda a: np.maximum(a, 0),
    LINEAR: lambda a: a,
}


def applied(build, name, a):
    """A function of a value, as builders write it."""
    if name == LINEAR:
        return a
    return build.rectified(a) if name == RELU else build.apply(name, a)


def layered(rng, function=None):
    """A program of two to four layers, with matrices by rows or by columns, some with biases.

    Samples are vectors, or rows of one entry as in a file with a batch axis.
    """
    function = function or rng.choice(list(FUNCTIONS))
    sizes = [rng.randint(1, 4) for _ in range(rng.randint(3, 5))]
    build, has_row = Builder(), rng.random() < 0.5
    a = build.sample("x", (sizes[0],))
    if has_row:
        a = build.reshaped(a, (1, sizes[0]))
    for k, (inner, size) in enumerate(pairwise(sizes), 1):
        turned = rng.random() < 0.5
        W = build.weight(f"m{k}", (inner, size) if turned else (size, inner))
        if rng.random() < 0.5:
            W, turned = build.transposed(W), not turned
        letters = ("xy," + ("yz" if turned else "zy") + "->xz") if has_row else (
            ("yz" if turned else "zy") + ",y->z"
        )  # fmt: skip
        a = build.contract(letters, *((a, W) if has_row else (W, a)))
        if rng.random() < 0.6:
            b = build.weight(f"b{k}", (size,))
            a = build.add(*rng.sample([a, build.reshaped(b, a.shape)], 2))
        if k < len(sizes) - 1:
            a = applied(build, function, a)
    return build.program(build.reshaped(a, (sizes[-1],))), function


def by_layers(found, weights, X):
    """The labels of the layers that were found, in doubles."""
    function, layers = found
    for k, layer in enumerate(layers, 1):
        W = weights[layer.matrix]
        X = (W.T if layer.is_transposed else W) @ X
        if layer.bias:
            X = X + weights[layer.bias][:, None]
        assert len(X) == layer.size
        X = FUNCTIONS[function](X) if k < len(layers) else X
    return X


@pytest.mark.parametrize("seed", range(many(80)))
def test_layers_have_the_programs_labels(seed):
    """At random weights and samples; every parameter is in one layer."""
    rng = random.Random(f"layered/{seed}")
    program, function = layered(rng)
    found = layers_of(program)
    assert found is not None
    assert found[0] == function
    drawn = np.random.default_rng(seed)
    weights = {name: drawn.standard_normal(shape) for name, shape in program.weights.items()}
    X = drawn.standard_normal((*program.samples["x"], 5))
    assert np.allclose(by_layers(found, weights, X), labels(program, weights, {"x": X}), 1e-9)


def two(build, *, last="tanh", functions=("tanh", "tanh"), bias=None, order=None, shared=False):
    """Three layers of two units, with one of the things that make them none."""
    a = build.sample("x", (2,))
    W = build.weight("W", (2, 2))
    for k in range(3):
        own = W if shared else build.weight(f"m{k}", (2, 2))
        if order and k == 1:
            own = build.index([[3, 1], [2, 0]], own)
        before, a = a, build.contract("ij,j->i", own, a)
        if bias == "two" and k == 1:
            for name in ("b", "c"):
                a = build.add(a, build.weight(name, (2,)))
        if bias == "turned" and k == 1:
            a = build.add(a, build.index([1, 0], build.weight("b", (2,))))
        if bias == "skip" and k == 1:
            a = build.add(a, before)
        if k < 2:
            a = build.apply(functions[k], a)
    return build.program(build.apply("tanh", a) if last else a)


@pytest.mark.parametrize(
    "what",
    [
        {"last": "tanh"},
        {"last": "", "functions": ("tanh", "sigmoid")},
        {"last": "", "functions": ("exp", "exp")},
        {"last": "", "bias": "two"},
        {"last": "", "bias": "turned"},
        {"last": "", "bias": "skip"},
        {"last": "", "order": True},
        {"last": "", "shared": True},
    ],
)
def test_other_programs_are_none(what):
    """A function after the last layer, two functions, other ones, two biases, turned ones, a sum
    with an earlier layer, a matrix in another order, or one matrix twice."""
    assert layers_of(two(Builder(), **what)) is None


def test_a_single_layer_and_choices_of_inputs_are_none():
    """One matrix has no hidden layer; permuted or missing inputs are another map."""
    build = Builder()
    x = build.sample("x", (3,))
    W, V = build.weight("W", (2, 3)), build.weight("V", (1, 2))
    assert layers_of(build.program(build.contract("ij,j->i", W, x))) is None
    build = Builder()
    x = build.index([2, 0, 1], build.sample("x", (3,)))
    W, V = build.weight("W", (2, 3)), build.weight("V", (1, 2))
    hidden = build.rectified(build.contract("ij,j->i", W, x))
    assert layers_of(build.program(build.contract("ij,j->i", V, hidden))) is None


def test_huge_matrices_are_not_looked_at(monkeypatch):
    """The places of their entries would take memory."""
    program, _ = layered(random.Random("huge"), "tanh")
    assert layers_of(program) is not None
    monkeypatch.setattr("algebra.networks.layered._MOST", 0)
    assert layers_of(program) is None
