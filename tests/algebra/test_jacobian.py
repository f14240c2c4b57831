"""Generic ranks: proofs where there are proofs, bounds that hold, known cases."""

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from algebra.allocation import Allocation
from algebra.errors import InputError
from algebra.jacobian import (
    all_cells,
    allocation_rank,
    generic_rank,
    jacobian,
    label_dimension_bound,
    network_rank,
    random_point,
    rank_at,
    tangent_factors,
)
from algebra.networks import LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU

P = 2147483647


@st.composite
def networks(draw):
    size = st.integers(1, 3)
    kind = draw(st.sampled_from(["linear", "lrnn", "lffn"]))
    if kind == "linear":
        return LinearEstimator(q=draw(size), d=draw(size), m=draw(size))
    if kind == "lrnn":
        return LinearRNN(*(draw(size) for _ in range(5)))
    widths = tuple(draw(st.lists(size, min_size=1, max_size=2)))
    return LinearFeedForward(draw(size), widths, draw(size), draw(size))


def test_columns_are_derivatives():
    """Every column equals SymPy's derivative of the network's own forward map."""
    for network in (
        LinearRNN(n=2, T=3, b=2, d=2, m=2),
        LinearFeedForward(q=2, widths=(3,), d=2, m=2),
        LinearEstimator(q=2, d=2, m=3),
    ):
        point = random_point(network, P, 3)
        symbols = {
            name: np.array(
                [[sympy.Symbol(f"{name}_{i}_{j}") for j in range(c)] for i in range(r)],
                dtype=object,
            )
            for name, (r, c) in network.shapes.items()
        }
        X = point.X.astype(object)
        labels = network.forward(symbols, X).ravel()
        at = {symbols[n][i, j]: int(point.weights[n][i, j]) for n, i, j in all_cells(network)}
        cells = random.Random(0).sample(all_cells(network), 4)
        matrix = jacobian(tangent_factors(network, point), cells, P)
        for k, (name, i, j) in enumerate(cells):
            column = [int(sympy.diff(y, symbols[name][i, j]).subs(at)) % P for y in labels]
            assert column == matrix[:, k].tolist()


@given(networks())
def test_counting_bounds_the_rank(network):
    """The rank of the whole Jacobian never exceeds the bound from counting."""
    found = network_rank(network)
    assert found.rank <= label_dimension_bound(network)
    assert found.is_proved == (found.rank == found.upper)


@given(networks(), st.integers(0, 10**6))
def test_ranks_are_monotone(network, seed):
    """More learnable weights never have a smaller rank, and no more than the whole."""
    rng = random.Random(seed)
    cells = all_cells(network)
    many = rng.sample(cells, rng.randint(1, len(cells)))
    few = rng.sample(many, rng.randint(1, len(many)))
    ranks = [allocation_rank(Allocation.from_cells(network, c)).rank for c in (few, many, cells)]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize(
    ("network", "rank"),
    [
        (LinearRNN(n=2, T=2, b=1, d=1, m=2), 2),
        (LinearRNN(n=2, T=2, b=1, d=1, m=7), 2),
        (LinearRNN(n=1, T=3, b=1, d=1, m=5), 2),
        (LinearFeedForward(q=3, widths=(1,), d=3, m=3), 5),
        (LinearFeedForward(q=4, widths=(2,), d=3, m=4), 10),
        (LinearEstimator(q=2, d=3, m=5), 6),
    ],
)
def test_network_ranks(network, rank):
    """dm for independent samples, d·Tb beyond, w(d + k − w) through a layer of width w."""
    assert network_rank(network).rank == rank


def test_full_rank_is_a_proof_and_a_deficit_is_not():
    """Error 0 and one point, or several independent points below 2^-60."""
    net = LinearEstimator(q=3, d=2, m=2)
    good = allocation_rank(Allocation.from_masks(net, W=[[1, 1, 0], [0, 1, 1]]))
    bad = allocation_rank(Allocation.from_masks(net, W=[[1, 1, 1], [1, 0, 0]]))
    assert (good.rank, good.error, len(good.points)) == (4, 0, 1)
    assert bad.rank == 3
    assert 0 < bad.error < Fraction(1, 2**60)
    assert len({p for p, _ in bad.points}) == len(bad.points) >= 2


def test_many_cells_are_combined():
    """Of very many cells random combinations give the same rank as all of them."""
    net = LinearRNN(n=12, T=1, b=1, d=1, m=3)
    point = random_point(net, P, 1)
    cells = all_cells(net)
    names = ["B", "D", "W"]
    direct = jacobian(tangent_factors(net, point), cells, P)
    from algebra.modular import rank

    assert rank_at(net, point, cells, names, 2) == min(rank(direct, P), 10) == 1


def test_supports():
    """Structural zeros: a matrix that cannot pass the samples on has a smaller rank."""
    net = LinearFeedForward(q=2, widths=(2,), d=2, m=2)
    support = {"W1": np.array([[1, 1], [0, 0]])}
    assert network_rank(net, support).rank == 3
    assert generic_rank(net, all_cells(net, support), support=support).rank == 3


def test_empty_and_relu():
    """Nothing learnable has rank 0; a ReLU net has no single Jacobian."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    assert allocation_rank(Allocation.from_cells(net, [])).rank == 0
    with pytest.raises(InputError, match="activation pattern"):
        network_rank(ShallowReLU(q=1, n=1, d=1, m=1))
