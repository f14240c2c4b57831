"""The matrices of the papers' theorems, by their role."""

import pytest

from algebra.plugins.papers.theorems.roles import roles, too_narrow
from matchprob import LinearEstimator, LinearFeedForward, LinearRNN, SequenceRNN, ShallowReLU


@pytest.mark.parametrize("net", [LinearRNN(2, 2, 1, 1, 2), LinearFeedForward(2, (3, 2), 1, 1)])
def test_each_matrix_has_one_role(net):
    """Decoder, recurrent matrix and encoder, or decoder and hidden layers."""
    assert sorted(name for names in roles(net).values() for name in names) == sorted(net.shapes)


def test_other_networks():
    """One matrix decodes; the first layer is rectified; other readings are not in the papers."""
    assert roles(LinearEstimator(2, 2, 2)) == {"decoder": ("W",), "hidden layers": ()}
    assert roles(ShallowReLU(q=2, n=2, d=1, m=2)) == {"rectified layer": ("W1",)}
    assert roles(SequenceRNN(2, 2, 1, 1, 2)) == {}


def test_narrow_layers_are_named():
    """Of recurrent networks Tb and Td are compared with n, of others q and d with each width."""
    assert too_narrow(LinearRNN(n=2, T=2, b=2, d=1, m=2)) == ["it needs Tb ≤ n, but Tb = 4, n = 2"]
    assert len(too_narrow(LinearFeedForward(q=3, widths=(2, 3, 1), d=2, m=2))) == 2
    assert too_narrow(ShallowReLU(q=2, n=1, d=1, m=2)) == []
