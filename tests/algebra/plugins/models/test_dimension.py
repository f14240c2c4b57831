"""Dimensions of sets of functions: published ones, closed forms, verified proofs."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.networks.recurrent import SequenceRNN
from algebra.plugins.models.capacity import Piece
from algebra.plugins.models.capacity.pieces import ANY
from algebra.plugins.models.dimension import (
    dimension_of,
    dimension_on_pieces,
    filling_widths,
)
from algebra.plugins.models.verify_dimension import DIMENSION
from algebra.problems.problem import Problem
from algebra.programs.generic import Model
from algebra.time_limits import OutOfTime
from matchprob import (
    FeedForward,
    LinearEstimator,
    LinearFeedForward,
    LinearRNN,
    ShallowReLU,
    dimension,
)
from tests.old_kinds import as_program, random_network
from tests.refusals import refuses
from tests.samples import many


def power(sizes, r):
    """A network with the activation x^r and these widths, inputs and outputs included."""
    activation = {"polynomial": [0] * r + [1]}
    return FeedForward(q=sizes[0], widths=sizes[1:-1], d=sizes[-1], m=1, activation=activation)


@pytest.mark.parametrize(
    ("sizes", "dimension", "expected"),
    [((5, 5, 3, 1), 32, 35), ((4, 5, 5, 3, 1), 47, 50), ((5, 4, 3, 1), 25, 28)],
)
def test_published_defects(sizes, dimension, expected):
    """The defective networks with squares in the paper of Kileel, Trager and Bruna."""
    found = dimension_of(power(sizes, 2))
    assert (found.dimension, found.expected, found.defect) == (dimension, expected, 3)
    assert DIMENSION.verify(found.proof_file()).holds


@given(n=st.integers(1, 6), k=st.integers(1, 6))
@settings(max_examples=many(25), deadline=None)
def test_sums_of_squares(n, k):
    """Sums of k squares of linear forms in n variables are the forms of rank at most k."""
    k = min(n, k)
    found = dimension_of(power((n, k, 1), 2))
    assert found.dimension == n * k - math.comb(k, 2)
    assert found.filling == (k == n)


@given(q=st.integers(1, 4), n=st.integers(1, 4), d=st.integers(1, 4))
@settings(max_examples=many(25), deadline=None)
def test_products_of_matrices(q, n, d):
    """Linear networks are the matrices of rank at most the smallest width."""
    r = min(q, n, d)
    found = dimension_of(LinearFeedForward(q=q, widths=(n,), d=d, m=1))
    assert found.dimension == r * (q + d - r)
    assert found.ambient == q * d


@given(n=st.integers(1, 5), r=st.integers(2, 5))
@settings(max_examples=many(25), deadline=None)
def test_sums_of_powers(n, r):
    """Alexander and Hirschowitz: sums of n powers of forms in two variables are as expected."""
    found = dimension_of(power((2, n, 1), r))
    assert found.dimension == min(2 * n, r + 1) == found.expected


def test_analytic_networks_have_no_ambient_dimension():
    """A tanh network has as many dimensions as weights: its symmetries are finite."""
    found = dimension_of(FeedForward(q=2, widths=(3,), d=1, m=1, activation="tanh", biases=True))
    assert (found.dimension, found.expected, found.ambient) == (13, 13, None)
    assert not found.filling


def test_smallest_filling_widths():
    """Quartics in two variables: two hidden layers of two squares, and no less."""
    net = power((2, 1, 1, 1), 2)
    assert filling_widths(net, most=4) == ((2, 2),)
    assert dimension_of(power((2, 2, 2, 1), 2)).filling
    assert not dimension_of(power((2, 2, 1, 1), 2)).filling
    refuses("polynomial feed-forward", filling_widths, LinearRNN(n=2, T=1, b=1, d=1, m=1))


def test_other_kinds():
    """A linear recurrent network is the linear map of its impulse response; ReLU has no answer."""
    found = dimension_of(LinearRNN(n=1, T=3, b=1, d=1, m=1))
    assert (found.dimension, found.ambient) == (2, 3)
    refuses("does not support shallow ReLU", dimension_of, ShallowReLU(q=2, n=2, d=1, m=1))


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("dimension", 31, "dimension"),
        ("dimension", 33, "dimension"),
        ("expected", 34, "expected"),
        ("ambient", 71, "ambient"),
        ("network", {"kind": "ffn", "q": 5, "widths": [5, 3], "d": 1, "m": 20,
                     "activation": {"polynomial": [0, 0, 1]}}, "dimension"),
    ],
)  # fmt: skip
def test_forged_proofs_fail(key, value, place):
    """Another dimension, other counts, or too few samples for it are found."""
    proof = dimension_of(power((5, 5, 3, 1), 2)).proof_file()
    proof[key] = value
    if key == "network":
        proof["dimension"] = 20
    found = DIMENSION.verify(proof)
    assert not found.holds
    assert found.checks[-1].place == place


@pytest.mark.parametrize(
    ("support", "place"),
    [({"V": [[1]]}, "support.V"), ({"W": [[1, 2]]}, "support.W[0][1]"), ([1], "support")],
)
def test_masks_of_a_proof_are_read_with_their_place(support, place):
    """An unknown matrix, an entry that is no bit, no table."""
    proof = dimension_of(LinearEstimator(q=2, d=1, m=1), {"W": [[1, 0]]}).proof_file()
    assert DIMENSION.verify(proof).holds
    found = DIMENSION.verify({**proof, "support": support})
    assert [(check.place, check.status) for check in found.checks] == [(place, "failed")]


def test_a_program_has_the_dimension_of_its_network():
    """A tanh network as a kind, and as the one piece of its program."""
    net = FeedForward(q=2, widths=(3,), d=1, m=1, activation="tanh", biases=True)
    pieces, names = [Piece(ANY, Model(net.program()))], tuple(net.shapes)
    found, own = dimension_on_pieces(pieces, names, "net", net.parameters), dimension_of(net)
    assert found.dimension == own.dimension == 13
    assert (found.expected, found.ambient) == (own.expected, own.ambient)


def test_ranks_are_kept_if_time_ends_while_a_pattern_is_drawn():
    """They are lower bounds; without any rank the call has no answer."""
    net = FeedForward(q=2, widths=(3,), d=1, m=1, activation="tanh")

    def pieces(count):
        yield from [Piece(ANY, Model(net.program()))] * count
        raise OutOfTime

    names = tuple(net.shapes)
    # More parameters than there are: more patterns are wanted.
    found = dimension_on_pieces(pieces(1), names, "net", 100)
    assert found.is_stopped
    assert found.at_least == 9
    with pytest.raises(OutOfTime):
        dimension_on_pieces(pieces(0), names, "net", 100)


@pytest.mark.parametrize("seed", range(many(48)))
def test_a_model_has_the_dimensions_of_its_kind(seed):
    """Of polynomial and analytic networks: actual, expected and ambient dimension; the program of a
    sequence has the labels of all steps."""
    net = random_network(random.Random(f"model/{seed}"))
    if isinstance(net, SequenceRNN):
        return
    model = as_program(Problem(net, {})).network
    found = [dimension(own) for own in (net, model)]
    sizes = [(one.dimension, one.expected, one.ambient, one.filling) for one in found]
    assert sizes[0] == sizes[1], net
