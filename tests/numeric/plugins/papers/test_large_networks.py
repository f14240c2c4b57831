"""Trials of large networks by the few numbers in their equations."""

import numpy as np
import pytest

import matchprob as mp
from algebra.networks.large import LargeNetwork
from algebra.systems.root_count import generic_root_count
from numeric.plugins.papers.large_networks import count_matches, count_trials, numbers_of


def large(cells, n, T, b=1, d=1):
    mask = np.zeros((n, n), int)
    mask[tuple(np.array(cells).T)] = 1
    return mp.Problem(mp.LinearRNN(n=n, T=T, b=b, d=d, m=len(cells) // d), {"W": mask})


@pytest.mark.parametrize("cells", [((0, 1), (1, 2), (2, 0)), ((0, 0), (0, 1), (2, 1), (3, 4))])
def test_labels_are_those_of_the_network(cells):
    """With the numbers of drawn matrices the small system has the labels of the n units."""
    b, d, T, n = (1, 1, 3, 5) if len(cells) == 3 else (2, 2, 4, 7)
    small = LargeNetwork(cells=cells, T=T, b=b, d=d, m=2)
    rng = np.random.default_rng(0)
    D, W, B = rng.normal(size=(d, n)), rng.normal(size=(n, n)), rng.normal(size=(n, b))
    numbers = numbers_of(small, {"D": D, "W": W, "B": B})
    learnt = rng.normal(size=len(cells))
    numbers["W"] = learnt[:, None]
    X = rng.normal(size=small.input_shape)
    W[tuple(np.array(cells).T)] += learnt
    network = mp.LinearRNN(n=n, T=T, b=b, d=d, m=2)
    whole = network.forward({"D": D, "W": W, "B": B}, X)
    assert np.allclose(small.forward(numbers, X), whole, rtol=1e-12)


def test_trials_are_those_of_estimate():
    """Of several n at once the outcomes are those that the networks themselves have."""
    cells = ((0, 0), (1, 1), (2, 2))
    problems = [large(cells, n, 3) for n in (6, 9)]
    for found, problem, seed in zip(
        count_trials(problems, 25, [3, 4]), problems, [3, 4], strict=True
    ):
        other = mp.estimate(problem, 25, seed=seed)
        assert (found.matched, found.unmatched) == (other.matched, other.unmatched)
        assert 0 < found.matched < 25
        assert found.root_count == generic_root_count(problem.allocation).value == 6


def test_more_cells_than_equations():
    """Three loops for two equations have infinitely many solutions, and trials of both outcomes."""
    problem = large(((0, 0), (1, 1), (2, 2)), 6, 2)
    (found,) = count_trials([problem], 20, [0])
    assert found.root_count is None
    assert (found.undetermined, found.matched + found.unmatched) == (0, 20)
    assert found.unmatched > 0


def test_an_odd_number_of_solutions_is_certain():
    """Without an instance all trials match."""
    assert count_matches(large(((0, 1),), 2, 1), iter(()), 7, 3).matched == 7
    (found,) = count_trials([large(((0, 1), (1, 2), (2, 3), (4, 5)), 8, 4)], 10**9, [0])
    assert found.certified
    assert (found.root_count, found.matched) == (11, 10**9)
