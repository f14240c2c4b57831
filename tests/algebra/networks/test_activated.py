"""Kinds rnn and ffn: their maps, their derivatives, and their reductions to linear kinds."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.networks.base import Network
from algebra.networks.kinds import network_from_dict
from algebra.ranks.budgets.cover import budget_violations
from algebra.ranks.deficits import TARGET_ERROR
from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.jacobian import all_cells
from matchprob import RNN, Allocation, FeedForward, InputError
from tests.refusals import refuses

_ACTIVATIONS = [
    "tanh", "sigmoid", "softplus", "erf", "linear",
    {"polynomial": [0, 0, 1]}, {"polynomial": ["1/2", 1, 0, 1]},
]  # fmt: skip


def small(rng: random.Random, activation=None) -> Network:
    """A network of these kinds with sizes 1 to 3."""
    activation = rng.choice(_ACTIVATIONS) if activation is None else activation
    size, biases = lambda: rng.randint(1, 3), rng.random() < 0.5
    if rng.random() < 0.5:
        widths = tuple(size() for _ in range(rng.randint(0, 2)))
        return FeedForward(size(), widths, size(), size(), activation=activation, biases=biases)
    return RNN(size(), size(), size(), size(), size(), activation=activation, biases=biases)


def _drawn(network, rng):
    weights = {name: rng.standard_normal(shape) for name, shape in network.shapes.items()}
    return weights, rng.standard_normal(network.input_shape)


@pytest.mark.parametrize("activation", _ACTIVATIONS, ids=str)
@pytest.mark.parametrize("biases", [False, True])
def test_forward_maps_are_the_definitions(activation, biases):
    """`h_t = φ(W (h_{t-1} + B x_t) + c)` and `z_l = φ(W_l z_{l-1} + c_l)`, one sample at a time."""
    rng = np.random.default_rng(0)
    net = RNN(3, 4, 2, 2, 5, activation=activation, biases=biases)
    φ = net.activation.values
    w, X = _drawn(net, rng)
    for s in range(5):
        h = np.zeros((3, 1))
        for t in range(4):
            x = X[2 * t : 2 * t + 2, s : s + 1]
            h = φ(w["W"] @ (h + w["B"] @ x) + (w["c"] if biases else 0))
        y = w["D"] @ h + (w["e"] if biases else 0)
        np.testing.assert_allclose(net.forward(w, X)[:, s : s + 1], y, rtol=1e-9)
    net = FeedForward(3, (4, 2), 2, 5, activation=activation, biases=biases)
    w, X = _drawn(net, rng)
    z = φ(w["W1"] @ X + (w["c1"] if biases else 0))
    z = φ(w["W2"] @ z + (w["c2"] if biases else 0))
    np.testing.assert_allclose(
        net.forward(w, X), w["W3"] @ z + (w["e"] if biases else 0), rtol=1e-9
    )


@given(st.integers(0, 10**6))
def test_budgets_hold(seed):
    """No allocation has a larger rank than its violated budgets permit."""
    rng = random.Random(seed)
    net = small(rng)
    cells = all_cells(net)
    chosen = Allocation.from_cells(net, rng.sample(cells, rng.randint(1, len(cells))))
    rank = allocation_rank(chosen).rank
    for violation in budget_violations(chosen):
        assert rank <= chosen.size - violation.excess, violation


@given(st.integers(0, 10**6))
def test_ranks_do_not_change_when_units_are_renamed(seed):
    """The symmetries of the kind are symmetries."""
    rng = random.Random(seed)
    net = small(rng)
    cells = all_cells(net)
    chosen = rng.sample(cells, rng.randint(1, min(8, len(cells))))
    renamed = {}
    for axis in net.axes():
        order = rng.sample(range(axis.size), axis.size)
        for name, side in axis.places:
            renamed[name, side] = order
    moved = [
        (name, renamed.get((name, 0), range(i + 1))[i], renamed.get((name, 1), range(j + 1))[j])
        for name, i, j in chosen
    ]
    ranks = {allocation_rank(Allocation.from_cells(net, c)).rank for c in (chosen, moved)}
    assert len(ranks) == 1


def test_linear_activations_lower_to_linear_kinds():
    """Without biases they are lrnn and lffn: the same labels, and the same draws from a seed."""
    rng = np.random.default_rng(1)
    for net in (
        RNN(3, 2, 1, 2, 4, activation="linear"),
        FeedForward(3, (2, 4), 2, 4, activation={"polynomial": [0, 1]}),
    ):
        w, X = _drawn(net, rng)
        linear = net.lower()
        assert linear.shapes == net.shapes
        assert list(linear.shapes) == list(net.shapes)
        np.testing.assert_allclose(net.forward(w, X), linear.forward(w, X), rtol=1e-9)
    assert RNN(3, 2, 1, 2, 4, activation="linear", biases=True).lower() is None
    assert RNN(3, 2, 1, 2, 4).lower() is None


def test_problem_files_know_them():
    """The [network] table, written and read again."""
    for net in (
        RNN(3, 2, 1, 2, 4, activation={"polynomial": ["1/2", 0, 1]}, biases=True),
        FeedForward(3, (2,), 2, 4, activation="erf"),
    ):
        assert network_from_dict(net.to_dict()) == net
        assert "biases" in net.to_dict() or not net.biases


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"activation": "gelu"}, "'gelu'"),
        ({"biases": 1}, "`biases` (1)"),
        ({"biases": "yes"}, "`biases` ('yes')"),
        ({"n": 0}, "`n` (0)"),
        ({"colour": 1}, "colour"),
    ],
)
def test_bad_tables_are_refused(change, text):
    """One line that names the key and echoes the value."""
    table = {"kind": "rnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2} | change
    assert text in str(refuses("", network_from_dict, table))


def test_depth_beyond_the_primes_is_refused():
    """Of a square taken seventy times a full rank is proved; a deficit is reported as unbounded."""
    net = RNN(2, 70, 1, 1, 2, activation={"polynomial": [0, 0, 1]})
    allocation = Allocation.from_cells(net, [("W", 0, 0), ("W", 0, 1)])
    found = allocation_rank(allocation)
    assert (found.rank, found.error) == (2, 0)
    # Unit 0 reaches no output.
    silent = {"D": np.array([[0, 1]]), "W": np.array([[1, 1], [0, 1]])}
    with pytest.raises(InputError, match="fewer steps"):
        allocation_rank(allocation, silent)


def test_long_primes_bound_a_deficit_where_short_ones_do_not():
    """Sums of a unit could be equal modulo 2^30; modulo 2^60 two points suffice."""
    net = RNN(2, 1, 1, 1, 10_000, activation="tanh")
    assert net.formal_collisions > 2**28
    silent = {"D": np.array([[0, 1]]), "W": np.array([[1, 1], [0, 1]])}
    cells = [("W", 0, 0), ("W", 0, 1), ("W", 1, 1)]
    found = allocation_rank(Allocation.from_cells(net, cells), silent)
    assert found.rank == 1
    assert [p.bit_length() for p, _ in found.points] == [31, 61, 61]
    assert 0 < found.error < TARGET_ERROR
