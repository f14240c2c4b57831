"""Values with a bound of their error, and matrices that are surely regular."""

import random
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from algebra.plugins.models.capacity import Piece, Subset, capacities_on, ranks
from algebra.plugins.models.onnx import read_onnx
from algebra.programs.arrays import EntryArithmetic
from algebra.programs.evaluate import evaluate
from algebra.programs.program import Builder
from numeric.programs.enclosed import (
    BoundedArithmetic,
    NotBounded,
    enclosed,
    surely_regular,
)
from numeric.programs.patterns import _Recorder, _with_maxima, drawn_patterns
from tests.onnx_models import Net, onnx


def _exact(value):
    ratios = [float(x).as_integer_ratio() for x in value.ravel()]
    return np.array([fmpq(*ratio) for ratio in ratios], object).reshape(value.shape)


def _program(build, x, y, rng):
    """Random operations on two vectors of three entries."""
    values = [x, y, build.weight("W", (3,))]
    for k in range(7):
        a, b = rng.choice(values), rng.choice(values)
        match rng.randrange(8):
            case 0:
                values.append(build.add(a, b))
            case 1:
                values.append(build.multiply(a, b))
            case 2:
                values.append(build.scale(a, Fraction(rng.randrange(-9, 9), 7)))
            case 3:
                values.append(build.contract("ij,j->i", build.weight(f"M{k}", (3, 3)), a))
            case 4:
                values.append(build.contract("i,j,j->i", a, b, x))
            case 5:
                values.append(build.index([2, -1, 0], a))
            case 6:
                values.append(build.power(a, 3))
            case 7:
                square = build.multiply(a, a)
                values.append(build.invert(build.add(square, build.constant([1, 2, 5], 3))))
        if rng.random() < 0.4:
            values.append(build.rectified(values[-1]))
    return build.program(build.add(build.add(values[-1], values[-2]), build.add(x, y)))


@pytest.mark.parametrize("seed", range(12))
def test_exact_values_are_within_the_bounds(seed):
    """Random programs over Q differ from doubles by the bound at most."""
    rng, build = random.Random(seed), Builder()
    program = _program(build, build.sample("x", (3,)), build.sample("y", (3,)), rng)
    numbers = np.random.default_rng(seed)
    blocks = {n: numbers.standard_normal((*s, 1)) for n, s in program.weights.items()}
    blocks |= {n: numbers.standard_normal((*s, 4)) for n, s in program.samples.items()}
    short, maxima = _with_maxima(program)
    arithmetic = BoundedArithmetic(
        _Recorder(short, maxima), {id(short.nodes[k]): own for k, own in maxima.items()}
    )
    found = evaluate(short, arithmetic, {n: enclosed(v) for n, v in blocks.items()})[program.output]
    exact = evaluate(program, EntryArithmetic(), {n: _exact(v) for n, v in blocks.items()})[
        program.output
    ]
    difference = max(abs(a - b) for a, b in zip(exact.flat, _exact(found.value).flat, strict=True))
    assert difference <= fmpq(*found.error.as_integer_ratio())
    assert max(abs(a) for a in exact.ravel()) <= fmpq(*found.size.as_integer_ratio())
    assert found.error < 1e-6 * found.size


def test_a_choice_or_function_without_a_bound_is_refused():
    """An absolute value at 0 has an unknown sign, and tanh an unknown error."""
    build = Builder()
    x = build.sample("x", (2,))
    for value in (build.choose(x, x, build.scale(x, -1)), build.apply("tanh", x)):
        program = build.program(value)
        arithmetic = BoundedArithmetic(_Recorder(program), {})
        with pytest.raises(NotBounded):
            evaluate(program, arithmetic, {"x": enclosed(np.zeros((2, 1)))})


def test_regular_matrices():
    """With a small singular value they are for smaller errors only; singular ones never are."""
    rng = np.random.default_rng(0)
    U, _ = np.linalg.qr(rng.standard_normal((9, 9)))
    V, _ = np.linalg.qr(rng.standard_normal((9, 9)))
    near = U @ np.diag([*np.ones(8), 1e-6]) @ V
    assert surely_regular(near, 1e-9)
    assert not surely_regular(near, 1e-6)
    assert not surely_regular(U @ np.diag([*np.ones(8), 0]) @ V, 0.0)
    assert not surely_regular(np.full((2, 2), np.nan), 0.0)


def _images(twice):
    """A convolution of images with a rectifier and its maxima, perhaps one feature twice."""
    net = Net()
    value = net("Conv", net.input("x", 1, 9, 8), net.weight("c.weight", 6, 1, 3, 3),
                net.weight("c.bias", 6), pads=[1, 1, 1, 1])  # fmt: skip
    value = net("MaxPool", net("Relu", value), kernel_shape=[2, 2], strides=[2, 2])
    value = net("Conv", value, net.weight("e.weight", 5, 6, 3, 3), net.weight("e.bias", 5))
    value = net("Flatten", net("GlobalMaxPool", net("Relu", value)))
    if twice:
        value = net("Gather", value, net.tensor(np.array([1, 1, 2, 3, 4])), axis=1)
    return net.model(net.linear("head", value, 5, 2))


@pytest.mark.parametrize("twice", [False, True])
def test_last_layers_of_costly_models(twice, tmp_path, monkeypatch):
    """Ranks of a last layer by regular features are those modulo primes; of dependent ones, too."""
    onnx.save(_images(twice), str(tmp_path / "net.onnx"))
    program = read_onnx(tmp_path / "net.onnx").program
    model = ranks.Model(program, patterns=drawn_patterns(program, seed=1))
    subsets = [Subset("head", ("head.weight", "head.bias")), Subset("weight", ("head.weight",))]

    def found():
        rows = capacities_on(program, lambda _: [Piece("training", model)], subsets).subsets
        return [(row.rank, row.capacity, row.exact) for row in rows]

    expected = found()
    monkeypatch.setattr(ranks, "MOST_VALUES", 10)
    regular = []
    own = ranks._has_regular_features
    monkeypatch.setattr(
        ranks, "_has_regular_features", lambda *given: regular.append(own(*given)) or regular[-1]
    )
    assert found() == expected
    assert regular == [not twice, not twice]
    assert expected[0][:2] == ((10, 5) if twice else (12, 6))
