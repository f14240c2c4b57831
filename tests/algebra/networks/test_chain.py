"""Chains: states, derivatives and bounds of all linear kinds, from one description."""

import numpy as np
import pytest

from algebra.networks.chain import need_chain
from algebra.networks.chain_layout import ChainLayout
from algebra.networks.kinds import KINDS
from algebra.ranks.generic_rank import network_rank
from matchprob import LinearEstimator, LinearFeedForward, LinearRNN, SequenceRNN, ShallowReLU
from tests.refusals import refuses

NETS = [
    LinearEstimator(q=3, d=2, m=2),
    LinearFeedForward(q=3, widths=(2, 4), d=2, m=3),
    LinearRNN(n=3, T=3, b=2, d=2, m=4),
    SequenceRNN(n=3, T=2, b=2, d=1, m=1),
]


@pytest.mark.parametrize(
    "bad",
    [
        ("B", ("W", "V"), "D", "all"), (None, ("W", "W"), "D", "all"),
        ("B", ("W",), "D", "last"), (None, ("W", "W"), "D", "last"),
    ],
)  # fmt: skip
def test_other_chains_are_refused(bad):
    """One repeated step read at all states from a matrix, or distinct ones from the samples."""
    refuses("a chain reads", ChainLayout, *bad, error=TypeError)


@pytest.mark.parametrize("network", NETS, ids=str)
def test_the_labels_are_the_decoder_times_the_last_state(network):
    """For integers; the matrices are named once each, the decoder first."""
    rng = np.random.default_rng(0)
    weights = {name: rng.integers(-3, 4, shape) for name, shape in network.shapes.items()}
    X = rng.integers(-3, 4, network.input_shape)
    labels = network.forward(weights, X)
    assert set(network.chain().names) == set(network.shapes)
    assert network.chain().names[0] == network.chain().output
    if network.drive(X) is X:
        states = network.states(weights, X)
        assert np.array_equal(labels, weights[network.chain().output] @ states[-1])


@pytest.mark.parametrize("network", NETS, ids=str)
def test_the_rank_stays_below_the_bound_from_counting(network):
    """The bound is attained for these sizes."""
    assert network_rank(network).rank == network.label_dimension_bound


def test_what_is_no_chain_is_refused():
    """By name; every linear kind of the project is a chain."""
    refuses("shallow ReLU", need_chain, ShallowReLU(q=2, n=2, d=1, m=1))
    assert {type(n).kind for n in NETS} <= set(KINDS)
    assert all(need_chain(network) is network for network in NETS)
