"""Fibres found with formal values, proved by a regular minor in ball arithmetic."""

from dataclasses import replace

import pytest

import matchprob as mp
from algebra.problems.problem import Problem
from algebra.questions.identify.balls import proves_fibre
from algebra.questions.identify.fibre import fibre
from tests.refusals import refuses

SIZES = {"n": 3, "T": 2, "b": 1, "d": 1, "m": 3}


def question(activation, learnable, **more):
    """A small circuit with structural zeros, of which only unit 0 is read."""
    support = {"D": [[1, 0, 0]], "W": [[1, 1, 0], [1, 1, 0], [1, 1, 1]]}
    return Problem(mp.RNN(**SIZES, activation=activation, **more), learnable, support)


@pytest.mark.parametrize("mask", [
    [[1, 1, 0], [0, 0, 0], [0, 0, 1]],
    [[1, 1, 0], [1, 1, 0], [1, 0, 1]],
    [[0, 0, 0], [0, 0, 0], [1, 1, 0]],
    [[1, 0, 0], [0, 0, 0], [0, 0, 0]],
])  # fmt: skip
def test_erf_is_decided_as_tanh_is(mask):
    """The determined weights and the free groups of erf, proved, are those of tanh."""
    erf, tanh = (mp.identify(question(name, {"W": mask})) for name in ("erf", "tanh"))
    assert erf.fibre.groups == tanh.fibre.groups
    assert erf.fibre.determined == tanh.fibre.determined
    assert erf.fibre.rank.rank == tanh.fibre.rank.rank


def test_updates_and_leaks_are_decided():
    """Isolated matches of gains before erf, and with leaks that are dependent over Q."""
    erf = mp.identify(question("erf", {"W": {"gain": "columns", "groups": [1, 2, 0]}}))
    assert not erf.fibre.dimension
    net = mp.RNN(n=2, T=4, b=1, d=1, m=1, activation="tanh", biases=True, leak=0.5, read="all")
    support = {"W": [[0, 0], [1, 0]], "B": [[0], [0]]}
    problem = Problem(net, {"W": [[0, 0], [1, 0]], "c": "all"}, support)
    assert not net.ranks_are_exact(support)
    found = mp.identify(problem)
    assert found.fibre.rank.rank == 3
    assert found.fibre.determined == problem.allocation.cells


def test_what_balls_do_not_show_is_refused():
    """A false rank, or a false group: the fibre is not called attained."""
    problem = question("erf", {"W": [[1, 1, 0], [1, 1, 0], [1, 0, 1]]})
    allocation = problem.allocation
    found = fibre(allocation, problem.support)
    asked = (allocation.network, allocation.cells, problem.support)
    assert proves_fibre(*asked, found, 0)
    assert not proves_fibre(*asked, replace(found, rank=replace(found.rank, rank=4)), 0)
    assert not proves_fibre(*asked, replace(found, groups=(found.free,)), 0)
    free = question("erf", {"W": {"gain": "columns"}})
    refuses("only upper bounds", mp.identify, free)
