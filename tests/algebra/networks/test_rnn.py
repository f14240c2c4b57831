"""Recurrent networks with an activation: leaks, readings and biases by the definition."""

import math

import numpy as np
import pytest

from algebra.networks.rnn import RNN
from tests.refusals import refuses

SIZE = {"n": 2, "T": 3, "b": 1, "d": 2, "m": 2}


def drawn(net, seed=0):
    """Weights and samples; rates of a leak that learns are between 0 and 1."""
    rng = np.random.default_rng(seed)
    weights = {name: rng.normal(size=shape) for name, shape in net.shapes.items()}
    for rate in net.rates:
        weights[rate] = rng.uniform(0.1, 0.9, size=net.shapes[rate])
    return weights, rng.normal(size=net.input_shape)


def labels(net, weights, X, rates):
    """The outputs of all steps by loops over numbers: a list of columns for each sample."""
    biases = weights.get("c", np.zeros((net.n, 1))), weights.get("e", np.zeros((net.d, 1)))
    found = []
    for sample in range(net.m):
        h, steps = [0.0] * net.n, []
        for t in range(net.T):
            x = [X[t * net.b + k][sample] for k in range(net.b)]
            drive = [
                h[j] + sum(weights["B"][j][k] * x[k] for k in range(net.b)) for j in range(net.n)
            ]
            new = [
                math.tanh(
                    sum(weights["W"][i][j] * drive[j] for j in range(net.n)) + biases[0][i][0]
                )
                for i in range(net.n)
            ]
            h = [(1 - a) * old + a * v for a, old, v in zip(rates, h, new, strict=True)]
            steps.append([
                sum(weights["D"][i][j] * h[j] for j in range(net.n)) + biases[1][i][0]
                for i in range(net.d)
            ])  # fmt: skip
        found.append(steps)
    return found


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("read", ["last", "all"])
@pytest.mark.parametrize("leak", [1, 0.25, ["1/2", 0.75], "learnable"])
def test_the_map_is_the_definition(leak, read, biases):
    """h_t = (1 − α) h_{t-1} + α tanh(W (h_{t-1} + B x_t) + c), y_t = D h_t + e."""
    net = RNN(**SIZE, activation="tanh", leak=leak, read=read, biases=biases)
    weights, X = drawn(net)
    rates = {"1": [1, 1], "0.25": [0.25] * 2, "learnable": []}.get(str(leak), [0.5, 0.75])
    if leak == "learnable":
        [name] = net.rates
        rates = weights[name][:, 0].tolist()
    Y = net.forward(weights, X)
    expected = labels(net, weights, X, rates)
    for sample, steps in enumerate(expected):
        if read == "last":
            assert np.allclose(Y[:, sample], steps[-1])
            continue
        for t, y in enumerate(steps):
            assert np.allclose(Y[:, t * net.m + sample], y)


def test_the_first_steps_do_not_know_later_samples():
    """What is read at step 1 depends on the samples of step 1 only."""
    net = RNN(**SIZE, activation="tanh", read="all")
    weights, X = drawn(net)
    other = X.copy()
    other[net.b :] += 1
    Y, moved = net.forward(weights, X), net.forward(weights, other)
    assert np.array_equal(Y[:, : net.m], moved[:, : net.m])
    assert not np.allclose(Y[:, net.m :], moved[:, net.m :])


@pytest.mark.parametrize("read", ["last", "all"])
def test_without_activation_the_states_are_those_of_the_linear_kind(read):
    """There W multiplies the sum of state and input in each step, and once more before D."""
    net = RNN(**SIZE, activation="linear", read=read)
    weights, X = drawn(net)
    plain = net.linear_kind()
    assert plain.shapes == net.shapes
    assert np.allclose(net.forward(weights, X), plain.forward(weights, X))


def test_all_weights_belong_to_a_population():
    """Rows of D and e are outputs, columns of B inputs; everything else is hidden."""
    net = RNN(**SIZE, activation="tanh", biases=True, leak="learnable")
    rows = {name: net.population(name, "row") for name in net.shapes}
    assert {name for name, units in rows.items() if units == "output"} == {"D", "e"}
    assert net.population("B", "column") == "input"
    assert {net.population(name, "column") for name in ("D", "W")} == {"hidden"}
    for name, shape in net.shapes.items():
        assert shape[0] == (net.d if rows[name] == "output" else net.n)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("read", "first"),
        ("leak", 0),
        ("leak", 1.5),
        ("leak", [0.5] * 3),
        ("leak", "fast"),
        ("n", 0),
    ],
)  # fmt: skip
def test_what_is_no_network_is_refused(key, value):
    """The message names the key."""
    refuses(key, RNN, **{**SIZE, "activation": "tanh", key: value})
