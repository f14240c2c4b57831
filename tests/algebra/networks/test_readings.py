"""Derivatives of readings: compared with dual numbers, and readings with plain loops."""

import random

import numpy as np
import pytest

from algebra.linalg.modular import matmul, random_prime, random_residues
from algebra.networks.base import NotKnown, Point
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.readings import LABELS, STATES, TRACES
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.networks.relu import ShallowReLU
from algebra.networks.rnn import RNN
from algebra.ranks.derivatives import DualMatrix
from algebra.ranks.jacobian import all_cells, jacobian, random_point

NETS = [
    LinearRNN(n=3, T=3, b=2, d=2, m=4),
    LinearRNN(n=2, T=1, b=1, d=1, m=1),
    SequenceRNN(n=3, T=3, b=1, d=2, m=2),
    LinearEstimator(q=3, d=2, m=2),
    LinearFeedForward(q=3, widths=(4, 2), d=2, m=3),
    RNN(n=3, T=3, b=2, d=2, m=4, activation="tanh", biases=True),
    RNN(n=3, T=2, b=1, d=1, m=2, activation={"polynomial": [0, 1, 1]}),
    RNN(n=2, T=2, b=1, d=1, m=2, activation="softplus"),
    FeedForward(q=3, widths=(4, 2), d=2, m=3, activation="tanh", biases=True),
    FeedForward(q=3, widths=(4,), d=2, m=3, activation={"polynomial": [1, 0, 1]}),
    FeedForward(q=3, widths=(), d=2, m=3, activation="sigmoid"),
]


def plain(matrix, p):
    """Dual numbers with zero tangents."""
    return DualMatrix(matrix % p, np.zeros_like(matrix), p)


def kinds(network):
    """The readings of a network."""
    found = []
    for what in (LABELS, TRACES, STATES):
        try:
            found.append((what, network.readings(what)))
        except NotKnown:
            continue
    return found


@pytest.mark.parametrize("network", NETS, ids=str)
def test_derivatives_agree_with_dual_numbers(network):
    """Along a random direction, of all weights at once, for every reading of every kind."""
    rng = random.Random(1)
    p = random_prime(rng)
    point = random_point(network, p, 5)
    step = {name: random_residues(shape, p, rng) for name, shape in network.shapes.items()}
    weights = {name: DualMatrix(point.weights[name] % p, step[name], p) for name in network.shapes}
    X = DualMatrix(point.X % p, np.zeros_like(point.X), p)
    for what, readings in kinds(network):
        values = network.modular_values(what, Point(p, point.seed, weights, X))
        factors = network.modular_readings(what, point, None)
        assert len(values) == len(factors) == len(readings)
        for value, parts, reading in zip(values, factors, readings, strict=True):
            total = np.zeros((reading.size, network.m), np.int64)
            for name in parts:
                cells = [cell for cell in all_cells(network) if cell[0] == name]
                along = np.array([[step[name][i, j]] for _, i, j in cells])
                moved = matmul(jacobian({name: parts[name]}, cells, p), along, p)
                total = (total + moved.reshape(total.shape)) % p
            assert np.array_equal(total, value.tangent % p), (what, reading)


def test_states_and_traces_are_those_of_the_recurrence():
    """h_t = W h_{t-1} + B x_t, W h_T, and D W h_t, computed one step after another."""
    for network in (LinearRNN(3, 3, 2, 2, 4), SequenceRNN(3, 3, 2, 2, 4)):
        p = random_prime(random.Random(2))
        point = random_point(network, p, 0)
        W, B, D = (point.weights[name] for name in "WBD")

        weights = {name: plain(matrix, p) for name, matrix in point.weights.items()}
        h, states, traces = None, [], []
        for t in range(3):
            x = matmul(B, point.X[2 * t : 2 * t + 2], p)
            h = x if h is None else (matmul(W, h, p) + x) % p
            states.append(h)
            traces.append(matmul(D, matmul(W, h, p), p))
        states.append(matmul(W, h, p))
        for what, wanted in ((STATES, states), (TRACES, traces)):
            found = network.modular_values(what, Point(p, 0, weights, plain(point.X, p)))
            assert all(np.array_equal(f.value, w) for f, w in zip(found, wanted, strict=True))


def test_the_last_trace_is_the_label():
    """Readings of networks with labels at one step; otherwise traces are the labels."""
    for network in NETS:
        known = dict(kinds(network))
        if TRACES not in known:
            continue
        assert known[LABELS] == known[TRACES][-len(known[LABELS]) :]


def test_what_a_network_has_not_is_refused():
    """One line names the kind."""
    with pytest.raises(NotKnown, match=r"steps .* of a multi-layer linear network"):
        LinearFeedForward(q=2, widths=(2,), d=1, m=1).readings(TRACES)
    with pytest.raises(NotKnown, match="hidden units of a linear estimator"):
        LinearEstimator(q=2, d=1, m=1).readings(STATES)
    relu = ShallowReLU(q=2, n=2, d=1, m=1)
    with pytest.raises(NotKnown, match="activation pattern"):
        relu.modular_readings(LABELS, Point(7, 0, {}, np.zeros((2, 1))), None)
    with pytest.raises(NotKnown, match="hidden units of a shallow ReLU"):
        relu.readings(STATES)


@pytest.mark.parametrize("network", NETS, ids=str)
def test_derivatives_of_some_units_are_rows_of_those_of_all(network):
    """Of every reading of every kind."""
    p = random_prime(random.Random(0))
    point = random_point(network, p, 1)
    for what, readings in kinds(network):
        whole = network.modular_readings(what, point, None)
        units = [np.array([k % reading.size]) for k, reading in enumerate(readings)]
        some = network.modular_readings(what, point, None, units)
        for all_rows, rows, own in zip(whole, some, units, strict=True):
            cells = [cell for cell in all_cells(network) if cell[0] in all_rows]
            J = jacobian(all_rows, cells, p).reshape(-1, network.m, len(cells))
            assert np.array_equal(J[own].reshape(-1, len(cells)), jacobian(rows, cells, p))
