"""Principles: what they order, and of which networks they speak."""

import pytest

from algebra.plugins.papers.theorems.principles import PRINCIPLES, principles_about, used_lines
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation
from matchprob import LinearFeedForward, LinearRNN


@pytest.mark.parametrize(
    ("network", "names"),
    [
        (LinearRNN(n=2, T=2, b=1, d=1, m=2), {"rows", "columns", "quadratic", "core"}),
        (LinearFeedForward(q=2, widths=(2,), d=2, m=2), {"rows", "columns", "quadratic", "core"}),
        (ShallowReLU(q=2, n=2, d=1, m=2), {"rows", "patterns D.3", "patterns D.4"}),
    ],
)
def test_principles_speak_of_the_networks_of_the_paper(network, names):
    """Quadratic equations are of linear networks, activation patterns of ReLU networks."""
    assert {p.name for p in principles_about(network)} == names


def test_order_is_antisymmetric_and_silent_without_a_number():
    """A principle prefers the larger number, never both, and neither if one is unknown."""
    for principle in PRINCIPLES.values():
        small, large = {principle.name: 2}, {principle.name: 3}
        assert principle.order(large, small) == 1 == -principle.order(small, large)
        assert principle.order(small, small) == 0
        assert principle.order(small, {}) == 0
        assert principle.words({}) == ""
        assert " 3; " in principle.words(large)


def test_lines_are_counted_over_all_matrices():
    """Rows and columns of several matrices add up; the fullest is that of any of them."""
    net = LinearFeedForward(q=2, widths=(3,), d=2, m=2)
    cells = [("W1", 0, 0), ("W1", 0, 1), ("W1", 2, 0), ("W2", 1, 2)]
    found = used_lines(Allocation.from_cells(net, cells))
    assert found == {"rows": 3, "columns": 3, "fullest row": 2, "fullest column": 2}
