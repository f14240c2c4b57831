"""What is said of the equations of networks with activations."""

from __future__ import annotations

from algebra.families import inspect_allocation, written_equations
from algebra.networks.ffn import FeedForward
from algebra.networks.rnn import RNN
from algebra.problems.allocation import Allocation


def test_polynomial_systems_are_counted_and_written():
    """The lifted system, its core, and the equations in SymPy."""
    net = FeedForward(2, (2,), 1, 2, activation={"polynomial": [0, 0, 1]}, biases=True)
    allocation = Allocation.from_cells(net, [("W1", 0, 0), ("c1", 0, 0)])
    found = inspect_allocation(allocation)
    assert "6 equations in 6 unknowns" in found.skipped[0]
    assert "core" in found.skipped[1]
    title, equations = written_equations(found)
    assert "sums" in title
    assert len(equations) == 6
    text = str(equations[-1][1].expand())
    assert "F1_0_1**2*W2_0_0" in text


def test_analytic_networks_have_no_polynomial_system():
    """Said so; budgets that still hold are given."""
    net = RNN(3, 2, 1, 1, 2, activation="tanh")
    found = inspect_allocation(Allocation.from_cells(net, [("W", 0, j) for j in range(3)]))
    assert "no polynomial" in found.skipped[0]
    assert found.violations
    assert written_equations(found) is None


def test_linear_activations_are_inspected_as_linear_networks():
    """With the papers' forms."""
    net = RNN(3, 2, 1, 1, 2, activation="linear")
    found = inspect_allocation(Allocation.from_cells(net, [("W", 0, 0), ("W", 1, 1)]))
    assert found.forms[0].form in ("B", "D")
