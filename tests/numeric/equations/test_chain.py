"""Chains: layout, orthonormal coordinates, errors."""

from dataclasses import replace

import numpy as np
import pytest

from algebra.errors import InputError
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from numeric.equations.chain import make_chain
from numeric.trials.instances import draw_instance, draw_instances
from tests.numeric.equations.cases import chains, residual_at
from tests.refusals import refuses
from tests.samples import NET

CHAINS = chains()


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_random_instance_has_its_root(chain):
    """The root returned with a random parameter vector satisfies the equations."""
    parameters, root = chain.random(np.random.default_rng(3))
    assert np.abs(residual_at(chain, parameters, root)).max() < 1e-12


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_normalised_and_raw_vectors_have_the_same_solutions(chain):
    """If labels are the student's own, its weights solve both forms of the system."""
    rng = np.random.default_rng(4)
    network = chain.network
    weights = {name: rng.standard_normal(shape) for name, shape in network.shapes.items()}
    X = rng.standard_normal((network.input_shape[0], chain.samples))
    Y = network.forward(weights, X)
    w = np.array([weights[name][i, j] for name, i, j in chain.allocation.cells])
    for vector in (chain.pack(weights, X, Y), chain.raw(weights, X, Y)):
        assert np.abs(residual_at(chain, vector, w)).max() < 1e-11
        assert np.abs(residual_at(chain, vector, w + 0.1)).max() > 1e-4


def test_dependent_samples_are_left_out():
    """With m > Tb only Tb samples are used, and a solution of these fits all of them."""
    network = LinearRNN(n=3, T=2, b=1, d=2, m=7)
    cells = [("W", 0, 0), ("W", 0, 1), ("W", 1, 2), ("W", 2, 0)]
    allocation = Allocation.from_cells(network, cells)
    chain = make_chain(allocation)
    assert chain.samples == 2
    instance = draw_instance(Problem.of(allocation), 0, 0)
    teacher = [instance.teacher[name][i, j] for name, i, j in allocation.cells]
    vector = chain.pack(instance.teacher, instance.X[:, :2], instance.labels[:, :2])
    assert np.abs(residual_at(chain, vector, np.array(teacher))).max() < 1e-12


def test_narrow_layer_reduces_the_equations():
    """Labels through a layer of width 1 have rank 1: d + m - 1 equations."""
    network = LinearFeedForward(q=3, widths=(1,), d=2, m=2)
    allocation = Allocation.from_cells(network, [("W1", 0, 0), ("W2", 0, 0), ("W1", 0, 1)])
    chain = make_chain(allocation)
    assert chain.unknowns == 3
    assert chain.equations.tolist() == [[0, 0], [0, 1], [1, 0]]


def test_not_square_is_refused():
    """Three weights cannot satisfy four equations; the message names both numbers."""
    network = LinearRNN(n=3, T=2, b=1, d=2, m=2)
    allocation = Allocation.from_cells(network, [("W", 0, 0), ("W", 0, 1), ("W", 1, 2)])
    refuses("3 learnable weights face 4", make_chain, allocation)


def test_minimal_allocation_is_refused():
    """The design's T = 2 counterexample of Theorem 4.1 has rank 3 of 4."""
    network = LinearEstimator(q=4, d=4, m=2)
    cells = [("W", 0, 0), ("W", 0, 1), ("W", 0, 2), ("W", 0, 3)]
    cells += [("W", 1, 0), ("W", 2, 0), ("W", 3, 0), ("W", 1, 1)]
    refuses("minimal", make_chain, Allocation.from_cells(network, cells))


def test_relu_is_refused():
    """Activation patterns are not a polynomial system."""
    network = ShallowReLU(q=2, n=2, d=1, m=2)
    with pytest.raises(InputError, match="linear network"):
        make_chain(Allocation.from_cells(network, [("W1", 0, 0), ("W1", 1, 1)]))


def test_support_stays_zero():
    """Weights that do not exist are zero in every random instance."""
    support = {"W": np.array([[1, 1], [0, 1]])}
    allocation = Allocation.from_cells(NET, [("W", 0, 0), ("W", 0, 1)])
    chain = make_chain(allocation, support)
    parameters, _ = chain.random(np.random.default_rng(0))
    assert parameters[chain.m_at[1] + 2] == 0


def test_rank_deficient_samples_are_named():
    """Equal samples make the instance special; it is reported and not computed."""
    chain = make_chain(Allocation.from_cells(NET, [("W", 0, 0), ("W", 1, 1)]))
    refuses("rank", chain.independent_samples, np.ones((2, 2)))


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_vectors_of_many_instances_are_those_of_each(chain):
    """Bit for bit, in any order."""
    problem = Problem.of(chain.allocation)
    instances = [draw_instance(problem, 2, k) for k in range(3)]
    chosen = [chain.independent_samples(instance.X) for instance in instances]
    together = chain.independent_samples_of(instances)
    assert all(map(np.array_equal, together, chosen))
    vectors = chain.parameters_of(instances, together)
    alone = [chain.parameters(*pair) for pair in zip(instances, chosen, strict=True)]
    assert (vectors == alone).all()
    assert (chain.parameters_of(instances[::-1], chosen[::-1]) == alone[::-1]).all()


def test_samples_that_are_nearly_dependent_are_left_out():
    """Of one instance among others: its samples are chosen as if it were alone."""
    network = LinearRNN(n=3, T=2, b=1, d=2, m=4)
    problem = Problem(network, {"W": [[1, 1, 0], [1, 1, 0], [0, 0, 0]]})
    chain = make_chain(problem.allocation)
    one, other, third = draw_instances(problem, 0, range(3))
    X = other.X.copy()
    X[:, 1] = X[:, 0] * (1 + 1e-9)
    special = replace(other, X=X)
    found = chain.independent_samples_of([one, special, third])
    assert 1 not in found[1] or 0 not in found[1]
    assert np.array_equal(found[1], chain.independent_samples(X))
    assert found[0].tolist() == found[2].tolist() == [0, 1]
    vectors = chain.parameters_of([one, special, third], found)
    assert np.array_equal(vectors[1], chain.parameters(special))
    assert np.array_equal(vectors[2], chain.parameters(third))
