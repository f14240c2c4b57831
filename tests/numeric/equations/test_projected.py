"""Equations in the states, weights projected out, compared with those in the weights."""

import numpy as np
import pytest

from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.systems.forms import core_dimension
from matchprob import LinearFeedForward, LinearRNN
from numeric.equations.chain import Chain, make_chain
from numeric.equations.projected import ProjectedSystem, project
from numeric.linalg.levenberg_marquardt import Damping, levenberg_marquardt
from numeric.trials.instances import draw_instance
from tests.numeric.equations.cases import cases

CASES = [allocation for allocation, roots in cases() if roots > 1]


def systems(case: int, growth: float) -> tuple[Chain, np.ndarray, ProjectedSystem]:
    """A chain, the parameters of an instance with a real solution, and its projected system."""
    chain = make_chain(CASES[case])
    instance = draw_instance(Problem.of(CASES[case]), 0, 0)
    weights = {name: value.copy() for name, value in instance.weights.items()}
    rng = np.random.default_rng(case)
    for name, i, j in CASES[case].cells:
        weights[name][i, j] = rng.standard_normal()
    labels = chain.network.forward(weights, instance.X)
    chosen = chain.independent_samples(instance.X)
    columns = chain.label_columns(labels, chosen)
    parameters = chain.pack(weights, instance.X[:, chosen], columns)
    system = project(chain, parameters, growth)
    assert system is not None
    return chain, parameters, system


def ends(system: ProjectedSystem, starts: int = 60) -> np.ndarray:
    """Zeros that are found from random starts."""
    first = np.random.default_rng(1).standard_normal((starts, system.free)) * 2 * system.size
    runs = levenberg_marquardt(system.residuals, first, 80, enough=1e-24, damping=Damping())
    return runs.ends[runs.cost <= 1e-20 * system.size**2]


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("growth", [1.0, 1.5])
def test_zeros_are_solutions(case, growth):
    """Weights of each zero solve the equations in the weights, for cells of every matrix."""
    chain, parameters, system = systems(case, growth)
    zeros = ends(system)
    assert len(zeros) >= 2
    weights = system.weights(zeros)
    rest = np.abs(chain.residuals(parameters, weights)[0]).max(axis=1)
    size = np.maximum(1.0, np.abs(weights).max(axis=1))
    assert (rest <= 1e-7 * size ** (chain.steps + 1)).all()


@pytest.mark.parametrize("case", [0, 5, 7, 10])
def test_derivatives_at_zeros_are_quotients_of_differences(case):
    """At a zero, where Kaufman's derivative omits nothing, it is that of r."""
    _, _, system = systems(case, 1.5)
    zero = ends(system)[:1]
    slope = system.residuals(zero)[1][0]
    step = 1e-6 * np.eye(system.free)
    up, down = (system.residuals(zero + sign * step)[0] for sign in (1, -1))
    assert np.abs((up - down).T / 2e-6 - slope).max() <= 1e-5 * max(1.0, np.abs(slope).max())


@pytest.mark.parametrize("rows", [2, 3])
def test_free_states_are_as_many_as_core_unknowns(rows):
    """Rows of W that learn have as many free states as the core system has unknowns."""
    net = LinearRNN(n=5, T=3, b=1, d=2, m=3)
    cells = [("W", i, j) for i in range(rows) for j in range(6 // rows)]
    allocation = Allocation.from_cells(net, cells)
    chain = make_chain(allocation)
    parameters = chain.parameters(draw_instance(Problem.of(allocation), 0, 0))
    system = project(chain, parameters, 1.0)
    free = rows * net.T * net.b - net.d * net.m
    if free:
        assert system.free == free >= core_dimension(allocation)
    else:
        assert system is None


def test_narrow_layers_have_no_projected_system():
    """A layer narrower than labels and samples leaves fewer equations than labels: None."""
    net = LinearFeedForward(q=3, widths=[1], d=2, m=3)
    allocation = Allocation.from_cells(net, [("W1", 0, j) for j in range(3)] + [("W2", 0, 0)])
    chain = make_chain(allocation)
    parameters = chain.parameters(draw_instance(Problem.of(allocation), 0, 0))
    assert project(chain, parameters, 1.0) is None


def test_points_without_weights_are_not_used():
    """Where states that are 0 determine no weights r is NaN, and a run from there ends there."""
    net = LinearFeedForward(q=2, widths=[2], d=2, m=2)
    cells = [("W1", 0, 0), ("W1", 1, 1), ("W2", 0, 0), ("W2", 1, 1)]
    allocation = Allocation.from_cells(net, cells)
    chain = make_chain(allocation)
    parameters = chain.parameters(draw_instance(Problem.of(allocation), 0, 1))
    system = project(chain, parameters, 1.0)
    starts = np.zeros((9, system.free))
    starts[1:] = np.random.default_rng(0).standard_normal((8, system.free)) * system.size
    assert np.isnan(system.residuals(starts)[0]).any(axis=1).tolist() == [True] + [False] * 8
    runs = levenberg_marquardt(system.residuals, starts, 80, enough=1e-20, damping=Damping())
    assert not runs.cost[0] <= 1e-20
    assert runs.cost[1:].min() <= 1e-20
