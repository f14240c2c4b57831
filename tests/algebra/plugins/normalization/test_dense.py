"""Networks over the rationals: conversion, the same function in another order, forward maps."""

import random
from itertools import pairwise

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from algebra.plugins.normalization.dense import (
    DenseNet,
    HiddenUnits,
    NormalizedNet,
    norm_bound,
    rational_array,
)
from algebra.plugins.normalization.network import NormNet
from tests.refusals import refuses


def draw(rng, *shape):
    """Small random rationals; some are 0."""
    entries = [fmpq(rng.randint(-9, 9), rng.randint(1, 4)) for _ in range(int(np.prod(shape)))]
    return np.array(entries, dtype=object).reshape(shape)


def dense(rng, widths):
    """A random target of these widths."""
    weights = [draw(rng, rows, columns) for columns, rows in pairwise(widths)]
    return DenseNet.of(weights, [draw(rng, rows) for rows in widths[1:]])


def test_doubles_become_their_exact_values():
    """0.1 is the rational number that the double is; rationals are unchanged."""
    found = rational_array([[0.1, np.float32(0.5), 3, fmpq(2, 3)]], "W")
    assert found.tolist() == [[fmpq(*(0.1).as_integer_ratio()), fmpq(1, 2), 3, fmpq(2, 3)]]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1.0, 2.0], "must be a matrix"),
        (np.zeros((0, 2)), "must be a matrix"),
        ([[1.0, float("nan")]], r"`W`\[0, 1\] is nan"),
        ([[float("inf")]], "not a number"),
        ([["a"]], "not a number"),
        ([[None]], "not a number"),
    ],
)
def test_what_is_no_matrix_of_numbers(value, text):
    """Wrong shapes and entries are named."""
    refuses(text, rational_array, value, "W")


def test_layers_must_fit():
    """Every size of a target is checked; shifts are 0 by default."""
    plain = DenseNet.of([[[1, 2], [3, 4]], [[1, 1]]])
    assert [b.tolist() for b in plain.shifts] == [[0, 0], [0]]
    for arguments, text in (
        (([],), "at least one layer"),
        (([[[1, 2]], [[1, 2]]],), "W2 is 1×2 but W1 has 1 rows"),
        (([[[1]]], []), "1 layers but 0 shifts"),
        (([[[1]]], [[1, 2]]), "W1 has 1 rows, b1 2 entries"),
        (([[[1]]], [[[1]]]), "`b1` must be a vector"),
    ):
        refuses(text, DenseNet.of, *arguments)


@given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.integers(0, 999))
def test_the_target_is_the_kind_s_teacher(widths, seed):
    """Rational targets have the labels of the network kind's teacher, units of value 0 included."""
    rng = random.Random(seed)
    net, X = dense(rng, widths), draw(rng, widths[0], 5)
    teacher = {f"T{k}": W for k, W in enumerate(net.weights, 1)}
    teacher |= {f"t{k}": b[:, None] for k, b in enumerate(net.shifts, 1)}
    kind = NormNet(tuple(widths), (1,) * (len(widths) - 1), 5)
    assert (net(X) == kind.teach(teacher, X)).all()


@given(st.lists(st.integers(1, 4), min_size=2, max_size=3), st.integers(0, 999))
def test_the_tuned_network_is_the_kind_s_program(widths, seed):
    """Frozen layers with scales and shifts have the labels of the network kind's program."""
    rng = random.Random(seed)
    hidden = [rng.randint(1, 5) for _ in widths[1:]]
    kind = NormNet(tuple(widths), tuple(hidden), 4)
    weights = {name: draw(rng, *shape) for name, shape in kind.shapes.items()}
    layers = range(1, 2 * kind.depth + 1)
    parts = {name: tuple(weights[f"{name}{j}"] for j in layers) for name in ("W", "g", "b")}
    scales, shifts = ([column[:, 0] for column in parts[name]] for name in "gb")
    tuned, X = NormalizedNet(parts["W"], scales, shifts, fmpq(1)), draw(rng, widths[0], 4)
    assert (tuned(X) == kind.forward(weights, X)).all()


@given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.integers(0, 999))
def test_orders_and_positive_factors_leave_the_function(widths, seed):
    """Hidden units in another order and scale: other matrices, equal outputs."""
    rng = random.Random(seed)
    net = dense(rng, widths)
    units = [
        HiddenUnits(
            tuple(rng.sample(range(n), n)), tuple(fmpq(rng.randint(1, 9), 4) for _ in range(n))
        )
        for n in widths[1:-1]
    ]
    X = draw(rng, widths[0], 6)
    assert (net.with_hidden_units(units)(X) == net(X)).all()


@pytest.mark.parametrize(
    ("units", "text"),
    [
        ([], "0 layers; 1 are hidden"),
        ([HiddenUnits((0, 0), (fmpq(1),) * 2)], "must permute 2 units"),
        ([HiddenUnits((1, 0), (fmpq(1), fmpq(0)))], "2 positive rationals"),
        ([HiddenUnits((1, 0), (fmpq(1),))], "2 positive rationals"),
    ],
)
def test_wrong_units_are_refused(units, text):
    """Only permutations and positive factors leave the function as it is."""
    refuses(text, dense(random.Random(0), [1, 2, 1]).with_hidden_units, units)


@given(st.lists(st.fractions(max_denominator=10**9), min_size=1, max_size=5))
def test_the_norm_is_bounded_closely(entries):
    """The bound squared is at least the sum of squares; 2^-19 less is below the norm."""
    vector = np.array([fmpq(x.numerator, x.denominator) for x in entries], dtype=object)
    bound, square = norm_bound(vector), sum(x * x for x in entries)
    assert bound >= 0
    assert bound * bound >= fmpq(square.numerator, square.denominator)
    less = bound - fmpq(1, 2**19)
    assert less < 0 or less * less < fmpq(square.numerator, square.denominator)


def test_norms_that_are_rational_are_exact():
    """(3, 4) has norm 5, the zero vector 0."""
    assert norm_bound(rational_array([3, -4], "v", 1)) == 5
    assert norm_bound(rational_array([0, 0], "v", 1)) == 0
