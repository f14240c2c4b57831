"""The network that is shown first."""

from __future__ import annotations

from algebra.networks.recurrent import LinearRNN
from algebra.problems.problem import Problem


def first_problem() -> Problem:
    """The first paper's example net, section B.1.1, with nothing painted yet."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    return Problem(net, {"W": [[0, 0], [0, 0]]})
