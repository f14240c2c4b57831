"""Labels written out in the weights alone."""

import random

import pytest

from algebra.polynomials.msolve.solver import quotient_degree
from algebra.systems.label_equations import written_labels
from algebra.systems.root_count import RootCountError, generic_root_count
from matchprob import LinearRNN, Problem
from tests.samples import NET


@pytest.mark.parametrize("mask", [[[1, 0], [0, 1]], [[1, 1], [0, 0]]], ids=str)
def test_they_have_n_zeros(mask):
    """Their ideal has as many zeros as the core of another form."""
    problem = Problem(NET, {"W": mask})
    equations = written_labels(problem, 65_521, random.Random(1), 100)
    expected = generic_root_count(problem.allocation).value
    assert quotient_degree(equations, timeout=60).degree == expected


def test_long_ones_are_refused():
    """Before anything is expanded."""
    wide = Problem(LinearRNN(n=9, T=4, b=3, d=3, m=9), {"W": "all"})
    with pytest.raises(RootCountError, match="too long"):
        written_labels(wide, 65_521, random.Random(1), 1_000)
