"""Ranks at new points: the generic ranks of searches and of singular values, by other code."""

import random
from fractions import Fraction

import numpy as np
import pytest

from algebra.checker import new_points
from algebra.checker.new_points import rank_again
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.ranks.deficits import TARGET_ERROR
from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.jacobian import all_cells
from tests.samples import many

NETS = [
    LinearRNN(n=3, T=2, b=2, d=2, m=4),
    LinearFeedForward(q=3, widths=(2,), d=3, m=2),
    FeedForward(2, (3,), 1, 3, activation="tanh"),
]


def numerical_rank(net, cells, rng):
    """The rank of differences of labels at a random point, in doubles."""
    weights = {name: rng.standard_normal(shape) for name, shape in net.shapes.items()}
    X, step = rng.standard_normal(net.input_shape), 1e-6
    columns = []
    for name, i, j in cells:
        ends = []
        for sign in (1, -1):
            moved = {key: value.copy() for key, value in weights.items()}
            moved[name][i, j] += sign * step
            ends.append(np.asarray(net.forward(moved, X), float).ravel())
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.linalg.matrix_rank(np.array(columns).T, tol=1e-6)


@pytest.mark.parametrize("net", NETS[:2], ids=lambda net: net.kind)
@pytest.mark.parametrize("k", range(many(5)))
def test_the_rank_is_that_of_singular_values(net, k):
    """And that of the search, with an error that is small enough, or 0 at the bound."""
    rng = random.Random(f"again/{k}")
    cells = sorted(rng.sample(all_cells(net), rng.randint(1, 9)))
    rank, error = rank_again(net, cells, {}, None, k)
    assert rank == numerical_rank(net, cells, np.random.default_rng(k))
    assert rank == allocation_rank(Allocation.from_cells(net, cells)).rank
    assert error < TARGET_ERROR


@pytest.mark.parametrize("net", NETS, ids=lambda net: net.kind)
def test_all_weights(net):
    """The rank of the whole network is that of the search; without weights it is 0."""
    cells = all_cells(net)
    found = allocation_rank(Allocation.from_cells(net, cells), seed=3)
    assert rank_again(net, cells, {}, None, 7)[0] == found.rank
    assert rank_again(net, [], {}, None, 7) == (0, 0)


def test_an_upper_bound_that_is_met_ends_the_search():
    """Then the rank is proved."""
    assert rank_again(NETS[0], all_cells(NETS[0]), {}, 3, 1)[1] == Fraction(0)


def test_large_matrices_are_ranked_as_a_search_does(monkeypatch):
    """The two ways agree where a matrix is small enough for both."""
    cells = all_cells(NETS[1])
    here = rank_again(NETS[1], cells, {}, None, 2)
    monkeypatch.setattr(new_points, "_SMALL", 0)
    assert rank_again(NETS[1], cells, {}, None, 2)[0] == here[0]
