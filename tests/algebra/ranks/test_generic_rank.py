"""Generic ranks compared with theory, dual numbers and the papers' cases."""

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy
from flint import nmod_mat
from hypothesis import given
from hypothesis import strategies as st

from algebra.linalg.ranks import modular_rank
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.protocols import jacobian_of
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.networks.rnn import RNN
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.ranks import generic_rank as module
from algebra.ranks.deficits import TARGET_ERROR, deficit_error
from algebra.ranks.generic_rank import allocation_rank, generic_rank, network_rank, rank_at
from algebra.ranks.jacobian import all_cells, at_enough_samples, columns_at, random_point
from tests.algebra.ranks.cases import P, derivative
from tests.refusals import refuses
from tests.samples import NET

SQUARE = {"polynomial": [1, 0, 2]}


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        (LinearEstimator(q=3, d=2, m=2), 4),
        (LinearEstimator(q=2, d=3, m=5), 6),
        (LinearRNN(n=8, T=4, b=1, d=4, m=4), 16),
        (LinearRNN(n=2, T=2, b=1, d=1, m=2), 2),
        # m > Tb: labels are D F X with X of rank Tb.
        (LinearRNN(n=5, T=2, b=1, d=2, m=4), 4),
        # Narrow: n(d + b), and the variety of matrices of rank ≤ w, w(d + k − w).
        (LinearRNN(n=1, T=4, b=1, d=3, m=4), 4),
        (LinearFeedForward(q=4, widths=(1,), d=4, m=4), 7),
        (LinearFeedForward(q=4, widths=(2,), d=4, m=4), 12),
        (LinearFeedForward(q=4, widths=(5, 2, 3), d=3, m=6), 2 * (3 + 4 - 2)),
        (LinearFeedForward(q=2, widths=(4,), d=3, m=3), 6),
        (LinearRNN(n=1, T=1, b=1, d=1, m=1), 1),
    ],
    ids=str,
)
def test_ranks_of_whole_networks(network, expected):
    """If the count gives the dimension of the labels, the rank is proved equal to it."""
    found = network_rank(network)
    assert found.rank == expected == found.upper
    assert found.is_proved
    assert found.error == 0
    assert len(found.points) == 1


def test_the_bound_on_the_dimension_of_labels_is_one(small_networks):
    """No net has a Jacobian of higher rank than `label_dimension_bound`; most attain it."""
    met = 0
    networks = list(small_networks(3, 300))
    rng = random.Random(0)
    networks += [
        LinearRNN(
            n=rng.randint(1, 5),
            T=rng.randint(1, 4),
            b=rng.randint(1, 3),
            d=rng.randint(1, 5),
            m=rng.randint(1, 9),
        )
        for _ in range(300)
    ]
    for k, network in enumerate(networks):
        point = random_point(network, P, k)
        found = modular_rank(columns_at(network, point, all_cells(network)), P)
        assert found <= network.label_dimension_bound
        met += found == network.label_dimension_bound
    assert met > 0.98 * len(networks)


def test_ranks_are_the_largest_over_many_points(small_allocations):
    """A generic rank is the largest rank at 5 independent points, by FLINT's elimination."""
    for k, allocation in enumerate(small_allocations(2, 120)):
        network = allocation.network
        found = allocation_rank(allocation, seed=k)
        seen = []
        for number in range(5):
            point = random_point(network, P, number)
            columns = [derivative(network, point, cell) for cell in allocation.cells]
            flat = [v for column in columns for v in column]
            seen.append(int(nmod_mat(len(columns), network.outputs, flat, P).rank()))
        assert found.rank == max(seen)
        assert found.upper >= found.rank
        point = random_point(network, found.p, found.seed)
        assert modular_rank(columns_at(network, point, allocation.cells), found.p) == found.rank


def test_more_cells_never_lower_the_rank(small_allocations):
    """Ranks increase by 0 or 1 with each cell, up to the network's."""
    for allocation in small_allocations(4, 20):
        cells = list(allocation.cells)
        ranks = [
            allocation_rank(Allocation.from_cells(allocation.network, cells[:k])).rank
            for k in range(len(cells) + 1)
        ]
        assert ranks[0] == 0
        assert all(b - a in (0, 1) for a, b in pairwise(ranks))
        assert ranks[-1] <= network_rank(allocation.network).rank


def test_structural_zeros_lower_ranks():
    """A support that divides the net in two reduces the rank by the predicted number.

    With W diagonal each unit is a separate net; if D reads unit 0 only, the weights of unit 1 have
    no effect.
    """
    support = {"W": np.eye(2, dtype=int), "D": np.array([[1, 0]])}
    assert network_rank(NET, support).rank == 2
    allocation = Allocation.from_cells(NET, [("W", 0, 0), ("W", 1, 1)])
    assert allocation_rank(allocation, support).rank == 1
    assert allocation_rank(allocation, {"W": np.eye(2, dtype=int)}).rank == 2
    assert allocation_rank(allocation).rank == 2
    dead = {"D": np.zeros((1, 2), int)}
    assert network_rank(NET, dead).rank == 0
    assert allocation_rank(allocation, dead).rank == 0


# --- computation and error of a rank ------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "network",
    [
        LinearRNN(n=24, T=3, b=2, d=3, m=4),
        LinearFeedForward(q=6, widths=(20, 2, 20), d=5, m=6),
        LinearEstimator(q=60, d=4, m=3),
    ],
    ids=str,
)
def test_many_cells_are_ranked_like_few(network, seed):
    """Sampling and random combinations of columns give the rank of the whole matrix."""
    rng = random.Random(seed)
    point = random_point(network, P, seed)
    bound = network.label_dimension_bound
    for cells in (all_cells(network), rng.sample(all_cells(network), 3 * bound + 65)):
        names = sorted({c[0] for c in cells})
        direct = modular_rank(columns_at(network, point, cells), P)
        assert len(cells) > 2 * bound + 64
        assert rank_at(network, point, cells, names, bound) == direct


def test_combinations_find_a_rank_that_samples_miss(monkeypatch):
    """If few cells matter among many, a sample misses them and combinations do not."""
    network = LinearRNN(n=30, T=1, b=1, d=2, m=1)
    # Row 0 of W alone has rank 1; D's two cells in column 0 are needed for rank 2.
    support = {"D": np.eye(2, 30, dtype=int)}
    cells = [("W", i, j) for i in range(2, 30) for j in range(30)] + [("W", 0, 5), ("W", 1, 5)]
    point = random_point(network, P, 0, support)
    direct = modular_rank(columns_at(network, point, cells), P)
    assert direct == 2
    calls = []

    def counting_rank(matrix, p):
        calls.append(matrix.shape)
        return modular_rank(matrix, p)

    monkeypatch.setattr(module, "modular_rank", counting_rank)
    assert rank_at(network, point, cells, ["W"], 2) == 2
    assert len(calls) == 2


def test_a_rank_below_the_bound_is_given_an_error():
    """One point's error bound is (degree + random combinations)/2^30 + bad primes/π."""
    network = LinearRNN(n=4, T=2, b=2, d=2, m=4)
    error = deficit_error(jacobian_of(network), 8)
    assert Fraction(8 * 4, 2**30) < error < Fraction(1, 2**20)
    # Rank 7 of 8: Theorem 3.4 misses this allocation.
    mask = [[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]]
    found = allocation_rank(Allocation.from_masks(network, W=mask))
    assert found.rank == 7
    assert found.error == error ** len(found.points)
    assert found.error < TARGET_ERROR <= error ** (len(found.points) - 1)


def test_a_higher_rank_met_later_starts_the_count_anew(monkeypatch):
    """A first point of too small a rank: the error counts points from the best one on."""
    network = LinearEstimator(q=2, d=2, m=2)
    true, seen = module.rank_at, []

    def unlucky(*arguments):
        seen.append(0)
        return true(*arguments) - (2 if len(seen) < 3 else 1)

    monkeypatch.setattr(module, "rank_at", unlucky)
    found = generic_rank(network, all_cells(network))
    assert found.rank == 3
    assert found.points[2] == (found.p, found.seed)
    assert found.error == deficit_error(jacobian_of(network), 4) ** (len(found.points) - 2)


@pytest.mark.parametrize(
    "network",
    [
        LinearEstimator(q=2, d=1, m=1),
        LinearRNN(n=2, T=3, b=2, d=1, m=1),
        LinearRNN(n=2, T=1, b=1, d=2, m=1),
        LinearRNN(n=1, T=2, b=1, d=1, m=1),
        LinearFeedForward(q=2, widths=(2, 3), d=1, m=1),
        LinearFeedForward(q=2, widths=(), d=1, m=1),
        FeedForward(q=2, widths=(2,), d=1, m=1, activation=SQUARE, biases=True),
        RNN(n=2, T=2, b=1, d=1, m=1, activation=SQUARE, biases=True),
        RNN(n=1, T=2, b=1, d=1, m=1, activation=SQUARE, leak="learnable"),
        RNN(n=1, T=1, b=1, d=1, m=1, activation=SQUARE, state="currents", initial="learnable"),
    ],
    ids=str,
)
def test_degree_and_norm_of_entries(network):
    """The degrees are those of SymPy's expanded derivatives, the norms are bounds on them."""
    symbols = {k: np.array(sympy.symarray(f"{k}_", s)) for k, s in network.shapes.items()}
    X = np.array(sympy.symarray("X", network.input_shape))
    everything = [s for a in (*symbols.values(), X) for s in a.ravel()]
    degrees, norms = set(), set()
    for label in network.forward(symbols, X).ravel():
        for name, array in symbols.items():
            for unknown in array.ravel():
                entry = sympy.Poly(sympy.diff(label, unknown), *everything)
                if not entry.is_zero:
                    degrees.add((name, entry.total_degree()))
                    norms.add(sum(abs(c) for c in entry.coeffs()))
    assert max(degree for _, degree in degrees) == network.entry_bound.degree
    assert max(norms) <= 2**network.entry_bound.bits


def test_an_empty_allocation_has_rank_0_for_certain():
    """No learnable weight: rank 0, proved."""
    found = allocation_rank(Allocation.from_cells(NET, []))
    assert (found.rank, found.upper, found.error) == (0, 0, 0)


def test_a_relu_net_has_no_single_jacobian():
    """The rank depends on the activation pattern: an input error says so."""
    network = ShallowReLU(q=2, n=2, d=1, m=2)
    refuses("activation pattern", network_rank, network)


def test_large_networks():
    """A recurrent net of 2,600 weights: full rank proved, a deficit found, at once."""
    network = LinearRNN(n=48, T=4, b=2, d=4, m=8)
    assert network_rank(network).rank == 32
    row = Allocation.rows(network, "W", [7])
    assert allocation_rank(row).rank == 8
    assert allocation_rank(Allocation.rows(network, "W", range(5))).rank == 32


OUTPUT_NETS = [
    LinearRNN(n=3, T=2, b=1, d=2, m=4),
    LinearFeedForward(q=2, widths=(3,), d=3, m=4),
    RNN(n=2, T=2, b=1, d=2, m=4, activation="tanh", biases=True),
    SequenceRNN(n=2, T=2, b=1, d=2, m=1),
]


@given(st.sampled_from(OUTPUT_NETS), st.integers(0, 10**6))
def test_the_output_matrix_is_ranked_apart(network, seed):
    """Its blocks and the projected other columns have the rank of all columns together."""
    rng = random.Random(seed)
    cells = rng.sample(all_cells(network), rng.randint(1, len(all_cells(network))))
    point = random_point(network, P, seed)
    names = sorted({cell[0] for cell in cells})
    whole = modular_rank(columns_at(network, point, cells), P)
    assert rank_at(network, point, cells, names, network.outputs) == whole
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SMALL", 0)
        assert rank_at(network, point, cells, names, network.outputs) == whole


def test_few_rows_show_a_full_rank(monkeypatch):
    """Of very many labels some are ranked; if they miss a deficit, all are."""
    network = LinearRNN(n=12, T=2, b=4, d=12, m=16)
    point = random_point(network, P, 3)
    shapes = []
    ranked = lambda m, p, overwrite=False: shapes.append(m.shape) or modular_rank(m, p)  # noqa: E731
    monkeypatch.setattr(module, "modular_rank", ranked)
    assert rank_at(network, point, [("W", 0, j) for j in range(7)], ["W"], 7) == 7
    assert shapes == [(24, 7)]
    assert rank_at(network, point, [("W", 0, j) for j in range(12)], ["W"], 12) == 8
    assert shapes[1:] == [(31, 12), (144, 12)]


@pytest.mark.parametrize(
    "network",
    [
        LinearRNN(n=3, T=2, b=1, d=1, m=14),
        SequenceRNN(n=2, T=2, b=1, d=1, m=9),
        LinearFeedForward(q=3, widths=(2,), d=1, m=12),
        RNN(n=2, T=2, b=1, d=1, m=11, activation="tanh"),
        RNN(n=2, T=2, b=1, d=1, m=13, activation={"polynomial": [0, 0, 1]}, biases=True),
    ],
    ids=str,
)
@given(data=st.data())
def test_as_many_samples_as_weights_are_enough(network, data):
    """The rank with all samples is that with as many of them as columns; with fewer it grows."""
    cells = all_cells(network, None)
    some = data.draw(st.lists(st.sampled_from(cells), min_size=1, max_size=6, unique=True))
    point = random_point(network, P, data.draw(st.integers(0, 9)))
    full = modular_rank(columns_at(network, point, some), P)
    fewer, there = at_enough_samples(network, point, len(some))
    assert fewer.m == len(some)
    assert modular_rank(columns_at(fewer, there, some), P) == full


def test_very_many_samples_are_no_work():
    """A million samples for eight weights: the ranks of two samples."""
    many, few = (LinearRNN(n=2, T=2, b=1, d=1, m=m) for m in (10**6, 2))
    assert network_rank(many).rank == network_rank(few).rank == 2
    assert allocation_rank(Allocation.rows(many, "W", [0])).rank == 2
