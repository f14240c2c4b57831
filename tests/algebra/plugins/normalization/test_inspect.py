"""Inspection of normalization networks."""

import numpy as np
import sympy

from algebra.families.equations import inspect_allocation
from algebra.plugins.normalization.inspect import inspect_normnet, lemma_equations, lemma_systems
from matchprob import Allocation, LinearEstimator, NormNet, Problem
from tests.refusals import refuses

ALL = {"g1": "all", "g2": "all", "b2": "all"}


def test_lemma_equations_are_the_matrix_product():
    """The printed equations are the entries of W4 diag(g3) W3 − T2 of the second layer."""
    net = NormNet((1, 2, 3), (2, 4), 1)

    def matrix(name, rows, columns):
        return sympy.Matrix(rows, columns, lambda i, j: sympy.Symbol(f"{name}_{i}_{j}"))

    scales = sympy.diag(*sympy.symbols("g3_:4"))
    wanted = matrix("W4", 3, 4) * scales * matrix("W3", 4, 2) - matrix("T2", 3, 2)
    found = lemma_equations(net, 2)
    assert [label for label, _ in found][:3] == ["T2 [0, 0]", "T2 [0, 1]", "T2 [1, 0]"]
    assert all(sympy.expand(a - b) == 0 for (_, a), b in zip(found, wanted, strict=True))
    refuses("layer", lemma_equations, net, 3)


def test_ranks_of_each_layer():
    """Each layer's rank includes its own width and the zeros of its own frozen matrices."""
    net = NormNet((2, 3, 2), (6, 5), 4)
    mask = np.ones((6, 2), int)
    mask[1] = 0
    problem = Problem(net, ALL, {"W1": mask})
    first, second = lemma_systems(problem.allocation, problem.support)
    assert (first.equations, first.rank.rank, first.scales) == (6, 5, 6)
    assert (second.equations, second.rank.rank, second.scales) == (6, 5, 0)
    assert "needs width 6, 5 with G4" in str(second)


def test_linear_nets_show_the_lowered_form():
    """A linear net's report has a polynomial form; a ReLU net's has text only."""
    linear = inspect_allocation(Problem(NormNet.square(2, 1, 3, 3, "linear"), ALL).allocation)
    assert linear.forms[0].weights == 7
    assert linear.allocation.network.kind == "normnet"
    relu = inspect_allocation(Problem(NormNet.square(2, 1, 3, 3), ALL).allocation)
    assert relu.forms == ()
    assert "2^9 patterns" in relu.skipped[-1]
    refuses("normnet", inspect_normnet, Allocation(LinearEstimator(1, 1, 1), ()), {})
