"""Structure and written equations of an allocation, by the family of its network."""

import numpy as np
import pytest
import sympy

from algebra.families.equations import form_names, inspect_allocation, written_form
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.normalization.network import NormNet
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.problem import Problem
from tests.refusals import refuses
from tests.samples import DIAGONAL

NORM = Problem(NormNet.square(d=2, depth=1, width=4, m=3), {"g1": np.ones((4, 1), int)})
RELU = Problem(ShallowReLU(q=2, n=2, d=1, m=2), {"W1": [[1, 1], [0, 0]]})


@pytest.mark.parametrize(
    ("problem", "names"),
    [(DIAGONAL, {"B", "D", "direct"}), (NORM, {"lemma"}), (RELU, {"direct"})],
)
def test_each_form_of_a_name_is_written(problem, names):
    """Every named form exists, and no other name does."""
    known = form_names(problem.allocation)
    assert names <= set(known)
    for name in known:
        assert written_form(problem.allocation, name).equations
    refuses("'Q' is no form|`form`", written_form, problem.allocation, "Q")


def test_the_direct_form_is_the_map():
    """Its equations vanish at the weights that give the labels, and at no changed weight."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    system = written_form(Problem(net, {"W": [[1, 0], [0, 1]]}).allocation, "direct")
    rng = np.random.default_rng(0)
    weights = {name: rng.integers(1, 5, shape).astype(object) for name, shape in net.shapes.items()}
    X = rng.integers(1, 5, net.input_shape).astype(object)
    values = {"X": X, "Y": net.forward(weights, X), **weights}
    symbols = sorted(set().union(*(e.free_symbols for e in system.equations)), key=str)
    numbers = {}
    for symbol in symbols:
        name, i, j = str(symbol).rsplit("_", 2)
        numbers[symbol] = values[name][int(i), int(j)]
    assert {str(s) for s in symbols} >= {"W_0_0", "W_1_1", "Y_0_0", "Y_0_1"}
    assert all(sympy.expand(e.subs(numbers)) == 0 for e in system.equations)
    numbers[sympy.Symbol("W_0_0")] += 1
    assert any(sympy.expand(e.subs(numbers)) != 0 for e in system.equations)


def test_reports_are_those_of_the_family():
    """Linear nets have forms, ReLU nets have none; all have the allocation."""
    linear = inspect_allocation(DIAGONAL.allocation, all_forms=True)
    assert {form.form for form in linear.forms} == {"B", "D"}
    found = inspect_allocation(RELU.allocation)
    assert (found.forms, found.allocation) == ((), RELU.allocation)
    assert "activation pattern" in found.skipped[0]


def test_redundant_weights_of_each_kind_are_explained():
    """Also where each activation pattern has a Jacobian of its own, and where MP is never 0."""
    for network in (RELU.network, LinearRNN(n=2, T=2, b=1, d=1, m=2)):
        every = Problem(network, dict.fromkeys(network.shapes, "all")).allocation
        found = inspect_allocation(every)
        first, *_, last = found.explain().known
        assert "redundant" in first
        assert f"at most {network.outputs} independent directions" in last
        assert ("activation pattern" in last) == (network is RELU.network)
