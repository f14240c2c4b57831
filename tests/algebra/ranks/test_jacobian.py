"""Columns of the Jacobian compared with dual numbers and SymPy."""

import numpy as np
import pytest
import sympy

from algebra.ranks.jacobian import (
    all_cells,
    everything_learns,
    jacobian,
    random_point,
    tangent_factors,
)
from matchprob import Allocation, FeedForward, LinearEstimator, LinearFeedForward, LinearRNN
from tests.algebra.ranks.cases import P


def full_jacobian(network, point, cells):
    return jacobian(tangent_factors(network, point), cells, point.p)


@pytest.mark.parametrize(
    "network",
    [
        LinearEstimator(q=2, d=2, m=3),
        LinearRNN(n=2, T=3, b=2, d=2, m=2),
        LinearRNN(n=3, T=1, b=1, d=2, m=2),
        LinearFeedForward(q=2, widths=(3, 2), d=2, m=2),
    ],
    ids=str,
)
def test_columns_are_sympys_derivatives(network):
    """The forward map in symbols, differentiated by SymPy, at a point modulo p."""
    symbols = {k: np.array(sympy.symarray(k, s)) for k, s in network.shapes.items()}
    point = random_point(network, P, 3)
    X = np.array(sympy.symarray("X", network.input_shape))
    Y = network.forward(symbols, X).ravel()
    values = {s: int(v) for s, v in zip(X.ravel(), point.X.ravel(), strict=True)}
    for k, array in symbols.items():
        values |= {s: int(v) for s, v in zip(array.ravel(), point.weights[k].ravel(), strict=True)}
    cells = all_cells(network)
    unknowns = [symbols[k][i, j] for k, i, j in cells]
    entries = sympy.Matrix(Y).jacobian(unknowns).tolist()
    evaluate = sympy.lambdify(list(values), entries, modules="math")
    expected = np.array(evaluate(*values.values()), dtype=object) % P
    assert (full_jacobian(network, point, cells) == expected).all()


def test_only_the_matrices_asked_for_are_computed():
    """`tangent_factors` of some matrices are those of all."""
    for network in (
        LinearRNN(n=3, T=2, b=1, d=2, m=2),
        LinearFeedForward(q=2, widths=(3,), d=2, m=2),
    ):
        point = random_point(network, P, 0)
        whole = tangent_factors(network, point)
        assert list(whole) == list(network.shapes)
        for name in network.shapes:
            some = tangent_factors(network, point, [name])
            assert list(some) == [name]
            assert all((a == b).all() for a, b in zip(some[name], whole[name], strict=True))


def test_points_follow_from_their_seed():
    """The same seed gives the same point; structural zeros are zeros."""
    network = LinearRNN(n=3, T=2, b=1, d=2, m=2)
    mask = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 1]])
    a, b = random_point(network, P, 4, {"W": mask}), random_point(network, P, 4)
    assert ((a.weights["W"] != 0) == (mask != 0)).all()
    assert (a.weights["W"] == b.weights["W"] * mask).all()
    assert (a.X == b.X).all()
    assert (random_point(network, P, 5).X != b.X).any()
    assert len(all_cells(network, {"W": mask})) == len(all_cells(network)) - 3


def test_everything_learns():
    """All weights that exist; structural zeros need not."""
    net = FeedForward(2, (2,), 1, 2, activation="tanh", biases=True)
    cells = all_cells(net)
    assert everything_learns(Allocation.from_cells(net, cells), {})
    assert not everything_learns(Allocation.from_cells(net, cells[1:]), {})
    first = np.ones((1, 2), int)
    first[0, 0] = 0
    assert everything_learns(Allocation.from_cells(net, cells[1:]), {"W2": first})
