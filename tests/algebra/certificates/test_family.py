"""Every kind of network belongs to one family, and families follow the protocol."""

import inspect

import pytest

from algebra.certificates.tools import Effort, Tools
from algebra.families.registry import FAMILIES, family_of
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.kinds import KINDS
from algebra.networks.large import LimitNetwork
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.networks.rnn import RNN
from algebra.plugins.models.network import ProgramNetwork
from algebra.plugins.models.onnx import Read
from algebra.plugins.normalization.network import NormNet
from algebra.plugins.relu.network import ShallowReLU
from algebra.programs.program import Builder
from algebra.work import Limits
from tests.refusals import refuses

_BUILD = Builder()
DIFFERENCE = _BUILD.program(_BUILD.subtract(_BUILD.sample("X", (1,)), _BUILD.weight("w", (1,))))
NETWORKS = [
    LimitNetwork(cells=[[0, 1]], T=1, b=1, d=1, m=1),
    LinearEstimator(q=2, d=1, m=2),
    LinearFeedForward(q=2, widths=(2,), d=1, m=2),
    LinearRNN(n=2, T=2, b=1, d=1, m=2),
    SequenceRNN(n=2, T=2, b=1, d=1, m=2),
    ShallowReLU(q=2, n=2, d=1, m=2),
    NormNet.square(2, 1, 2, 2),
    NormNet.square(2, 1, 2, 2, "linear"),
    RNN(n=2, T=2, b=1, d=1, m=2, activation="tanh"),
    FeedForward(q=2, widths=(2,), d=1, m=2, activation="tanh"),
    ProgramNetwork.of(Read(DIFFERENCE, {}, frozenset(), {}, {}), 2, "difference"),
]


def test_no_kind_is_forgotten():
    """The networks of this file are of all kinds."""
    assert {network.kind for network in NETWORKS} == set(KINDS)


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_one_family_each(network):
    """The family of a network has the name that its kind gives."""
    assert family_of(network).name == network.family
    assert FAMILIES[network.family] is family_of(network)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_a_family_answers(family):
    """Its functions exist, and take the arguments of `families`."""
    for name, arguments in (("certify", 2), ("verify", 2), ("inspect", 2)):
        inspect.signature(getattr(family, name)).bind(*range(arguments))


def test_limits_are_durations():
    """An invalid time limit is refused, with the argument's name."""
    assert Effort().tools == Tools(None, None, None)
    for bad in ({"seconds": 0.0}, {"seconds": float("nan")}, {"search": -1.0}):
        refuses("seconds", lambda bad=bad: Effort(limits=Limits(**bad)))
