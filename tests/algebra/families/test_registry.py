"""Every network belongs to one family; a network of none is reported."""

from typing import ClassVar

import pytest

from algebra.families.equations import inspect_allocation
from algebra.families.registry import FAMILIES, family_of
from algebra.networks.base import Network
from matchprob import Allocation, LinearFeedForward, LinearRNN, NormNet, ShallowReLU
from tests.refusals import refuses

NETS = [
    LinearRNN(n=2, T=2, b=1, d=1, m=2),
    LinearFeedForward(q=2, widths=(2,), d=2, m=2),
    ShallowReLU(q=2, n=3, d=2, m=3),
    NormNet(widths=(2, 2), hidden=(4,), m=3, activation="relu"),
    NormNet(widths=(2, 2), hidden=(4,), m=3, activation="linear"),
]


@pytest.mark.parametrize("network", NETS, ids=str)
def test_one_family_each(network):
    """And it inspects any allocation."""
    family = family_of(network)
    assert family in FAMILIES.values()
    report = inspect_allocation(Allocation.from_cells(network, []))
    assert report.allocation.network == network


def test_no_family():
    """A network of no family is bad input."""

    class Other(Network):
        title = "strange network"
        is_linear = False
        shapes: ClassVar = {}
        input_shape = (1, 1)

        def build(self):
            raise NotImplementedError

        def forward(self, weights, X, matmul=None):
            return X

    refuses("strange network", family_of, Other())
