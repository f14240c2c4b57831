"""Activation patterns at drawn points."""

import gc
from collections import Counter

import numpy as np
import pytest

from algebra.plugins.models.onnx import read_onnx
from algebra.programs import evaluate
from algebra.programs.generic import (
    Columns,
    Model,
    NoPattern,
    cells_of,
    random_program_point,
)
from algebra.programs.program import Builder
from numeric.programs import patterns
from numeric.programs.patterns import doubles, drawn_patterns, own_patterns, pattern_at
from tests.onnx_models import save


def test_patterns_follow_from_the_seed(tmp_path):
    """Each node `choose` gets a sign for every sample; the same seed gives the same signs."""
    program = read_onnx(save("convnet", tmp_path)).program
    choosing = {k for k, node in enumerate(program.nodes) if node.op == "choose"}
    first, again = (drawn_patterns(program, seed=3)(5) for _ in range(2))
    assert set(first) == choosing
    assert all((first[k] == again[k]).all() for k in choosing)
    assert {a.shape[-1] for a in first.values()} == {5}
    other = drawn_patterns(program, seed=4)(5)
    assert any((first[k] != other[k]).any() for k in choosing)


def deep(layers, biases, shared=False, width=16):
    """A deep ReLU net, with or without biases, perhaps with one matrix in all layers."""
    build = Builder()
    x = build.sample("x", (width,))
    for k in range(layers):
        x = build.contract("ij,j->i", build.weight("W" if shared else f"W{k}", (width,) * 2), x)
        if biases:
            x = build.add(x, build.weight(f"b{k}", (width,)))
        x = build.rectified(x)
    return build.program(x)


@pytest.mark.parametrize("biases", [True, False])
def test_all_units_of_deep_networks_switch(biases):
    """At least nine of ten in each of 12 layers have both signs among 200 samples."""
    for signs in drawn_patterns(deep(12, biases), seed=1)(200).values():
        on = signs.mean(axis=1)
        assert np.mean((on > 0.02) & (on < 0.98)) > 0.9


@pytest.mark.parametrize("biases", [True, False])
def test_a_value_is_computed_few_times_while_weights_are_adjusted(biases, monkeypatch):
    """At most four times each in 12 layers with sums beside them, not once for each later layer."""
    build, counts = Builder(), Counter()
    x = build.sample("x", (8,))
    for k in range(12):
        y = build.contract("ij,j->i", build.weight(f"W{k}", (8, 8)), x)
        y = build.add(y, build.weight(f"b{k}", (8,))) if biases else y
        x = build.add(build.rectified(y), x)
    program = build.program(x)
    numbers = {id(node): k for k, node in enumerate(program.nodes)}

    def counted(node, *rest):
        counts[numbers[id(node)]] += 1
        return evaluate.value_of(node, *rest)

    monkeypatch.setattr(patterns, "value_of", counted)
    drawn_patterns(program, seed=1)(5)
    assert 1 < max(counts.values()) <= 4


def test_channels_of_convolutions_switch(tmp_path):
    """Each of the four channels of the second layer has both signs."""
    program = read_onnx(save("convnet", tmp_path)).program
    for signs in drawn_patterns(program, seed=0)(50).values():
        on = signs.reshape(4, -1).mean(axis=1)
        assert ((on > 0.02) & (on < 0.98)).all()


def test_given_weights_and_samples():
    """The pattern is that of the values: of the first samples, and of no others."""
    program = deep(2, True)
    rng = np.random.default_rng(0)
    weights = {n: rng.integers(-9, 9, s) for n, s in program.weights.items()}
    X = rng.standard_normal((16, 7))
    patterns = own_patterns(program, {n: (w, 4) for n, w in weights.items()}, inputs={"x": X})
    right = pattern_at(program, {n: w / 4 for n, w in weights.items()}, {"x": X[:, :5]})
    assert all((patterns(5)[k] == right[k]).all() for k in right)


def test_maxima_have_the_signs_of_differences():
    """Where the larger of two values is chosen, and of one and 0, the pattern is that of values."""
    build = Builder()
    x = build.sample("x", (6,))
    a = build.contract("ij,j->i", build.weight("W", (6, 6)), x)
    largest = build.choose(build.subtract(a, x), a, x)
    # The differences are used elsewhere, or choose something else.
    gap = build.subtract(largest, a)
    other = build.choose(gap, build.rectified(gap), a)
    program = build.program(build.choose(build.subtract(a, other), other, a))
    rng = np.random.default_rng(1)
    W, X = rng.standard_normal((6, 6)), rng.standard_normal((6, 40))
    found = pattern_at(program, {"W": W}, {"x": X})
    A = W @ X
    largest = np.maximum(A, X)
    other = np.where(largest - A > 0, largest - A, A)
    expected = [A - X > 0, largest - A > 0, largest - A > 0, A - other > 0]
    assert len(found) == 4
    assert all((found[k] == own).all() for k, own in zip(sorted(found), expected, strict=True))
    with pytest.raises(NoPattern):
        pattern_at(program, {"W": W}, {"x": np.where(X > 2, -np.inf, X)})


@pytest.mark.filterwarnings("error")
def test_overflow_has_no_pattern():
    """exp(exp(exp(…))) overflows at all drawn weights, without warnings of NumPy."""
    build = Builder()
    x = build.contract("ij,j->i", build.weight("W", (3, 2)), build.sample("x", (2,)))
    for _ in range(6):
        x = build.apply("exp", build.scale(x, 9))
    program = build.program(build.rectified(build.subtract(x, build.index([1, 2, 0], x))))
    with pytest.raises(NoPattern, match="overflow"):
        drawn_patterns(program)(40)


def test_structural_zeros_stay():
    """Weights that do not exist are 0: their unit is never on."""
    program = deep(1, False)
    mask = np.ones((16, 16), bool)
    mask[3] = False
    [signs] = drawn_patterns(program, support={"W0": mask})(30).values()
    assert not signs[3].any()
    assert signs.any(axis=1).sum() == 15


def test_long_integers_as_doubles():
    """Quotients of integers above 64 bits are rounded correctly."""
    table = np.array([3 << 80, -(1 << 70)], dtype=object)
    assert np.array_equal(doubles(table, 1 << 81), [1.5, -(2.0**-11)])


def test_patterns_of_parts_are_not_kept():
    """Columns of samples in parts leave no cycles, which would hold the signs of each part."""
    program = deep(3, True, width=4)
    model = Model(program, patterns=drawn_patterns(program, seed=1))
    point = random_program_point(model, 6, "parts")
    columns = Columns(model, point, 6, ["b0"])
    columns.step, columns._keeps = 2, False
    columns.of(cells_of(model, "b0"))
    gc.collect()
    gc.disable()
    try:
        columns.of(cells_of(model, "b0"))
        assert gc.collect() == 0
    finally:
        gc.enable()
