"""The check's own map of linear networks: that of the search, by other code."""

import random

import numpy as np
import pytest
from flint import nmod_mat

from algebra.checker.checks import CheckFailed
from algebra.checker.linear import linear_problem
from algebra.checker.linear_map import DualPair, LinearColumns, LinearMap, random_map_point
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.problems.allocation import Allocation
from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.jacobian import all_cells, jacobian, random_point, tangent_factors
from tests.refusals import refuses
from tests.samples import P, many


def random_network(rng):
    """A small network of one of the four kinds."""
    a, b, c, m = (rng.randint(1, 4) for _ in range(4))
    T = rng.randint(1, 4)
    return rng.choice(
        (
            LinearEstimator(q=a, d=b, m=m),
            LinearFeedForward(q=a, widths=[rng.randint(1, 4) for _ in range(T - 1)], d=b, m=m),
            LinearRNN(n=a, T=T, b=b, d=c, m=m),
            SequenceRNN(n=a, T=T, b=b, d=c, m=m),
        )
    )


def map_of(network) -> LinearMap:
    """The same network, as a check reads it."""
    table = {"network": network.to_dict(), "learnable": {}}
    return linear_problem({"evidence": {}, "verdict": "minimal", "problem": table}).network


def flint_matrix(rows):
    return nmod_mat(len(rows), len(rows[0]), [entry for row in rows for entry in row], P)


@pytest.mark.parametrize("seed", range(many(80)))
def test_the_map_is_that_of_the_network(seed):
    """Sizes, bounds, random points, labels and the Jacobian, by the code of the search."""
    rng = random.Random(f"map/{seed}")
    network = random_network(rng)
    own, cells = map_of(network), all_cells(network)
    assert {name: tuple(shape) for name, shape in own.shapes.items()} == network.shapes
    assert (own.title, own.outputs, own.parameters, own.input_shape) == (
        network.title, network.outputs, network.parameters, network.input_shape,
    )  # fmt: skip
    assert (own.most, own.entry_bound) == (network.label_dimension_bound, network.entry_bound)
    absent = frozenset(rng.sample(cells, rng.randint(0, min(2, len(cells)))))
    zeros = {name: np.ones(shape, np.int8) for name, shape in network.shapes.items()}
    for name, i, j in absent:
        zeros[name][i, j] = 0
    here, there = random_map_point(own, P, seed, absent), random_point(network, P, seed, zeros)
    assert there.X.tolist() == here.X
    assert here.weights == {name: weight.tolist() for name, weight in there.weights.items()}
    weights = {name: flint_matrix(w) for name, w in here.weights.items()}
    X = [here.X[k : k + own.inputs] for k in range(0, len(here.X), own.inputs)]
    inputs = [flint_matrix(x) for x in X]
    labels = own.labels({name: DualPair(w) for name, w in weights.items()}, inputs)
    assert all(label.tangent is None for label in labels)
    whole = network.forward(
        {name: w.astype(object) for name, w in there.weights.items()}, there.X.astype(object)
    )
    parts = [np.array([[int(y) for y in row] for row in own.value.tolist()]) for own in labels]
    assert np.array_equal(np.hstack(parts), whole % P)
    J = LinearColumns(own, cells, absent)._jacobian(weights, X, P)
    factors = tangent_factors(network, there)
    assert [[int(v) for v in row] for row in J.tolist()] == jacobian(factors, cells, P).T.tolist()


@pytest.mark.parametrize("seed", range(many(40)))
def test_ranks_are_those_of_the_search(seed):
    """Of all weights and of some, at new points; none have rank 0."""
    rng = random.Random(f"ranks/{seed}")
    network = random_network(rng)
    cells = all_cells(network)
    some = sorted(rng.sample(cells, rng.randint(0, len(cells))))
    found, error = LinearColumns(map_of(network), some, frozenset()).rank_again(None, seed)
    assert found == allocation_rank(Allocation.from_cells(network, some)).rank
    assert error < 2**-60


def test_a_wrong_derivative_is_noticed(monkeypatch):
    """The Jacobian is compared with the map over dual numbers."""
    right = LinearMap.factors

    def wrong(self, weights, X, one):
        found = right(self, weights, X, one)
        return found | {"W": found["W"][1:]}

    network = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    columns = LinearColumns(map_of(network), all_cells(network), frozenset())
    assert columns.rank_again(None, 0)[0] == 2
    monkeypatch.setattr(LinearMap, "factors", wrong)
    refuses("differs from forward-mode", columns.rank_again, None, 0, error=CheckFailed)
