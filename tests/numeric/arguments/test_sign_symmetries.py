"""Sign symmetries: what they do to labels and solutions, and which are tried."""

from itertools import islice

import numpy as np
import pytest

from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from numeric.arguments.sign_symmetries import sign_symmetries
from numeric.trials.instances import draw_instance
from tests.samples import DIAGONAL

FEW = Problem(LinearRNN(n=3, T=3, b=2, d=2, m=3), {"W": [[1, 1, 0], [0, 1, 1], [1, 0, 1]]})
MANY = Problem(LinearRNN(n=4, T=2, b=1, d=2, m=3), {"W": np.roll(np.eye(4, dtype=int), 1, 1)})
MIXED = Problem(
    LinearRNN(n=3, T=3, b=2, d=1, m=4), {"W": [[0, 0, 1], [0, 0, 0], [1, 0, 1]], "B": [[1, 0]] * 3}
)
# All of W but one entry learns, and B and D are diagonal.
ALL = Problem(
    LinearRNN(n=3, T=5, b=2, d=2, m=4), {"W": [[1, 1, 0], [1, 1, 1], [1, 1, 1]]},
    support={"B": np.eye(3, 2, dtype=int), "D": np.eye(2, 3, dtype=int)},
)  # fmt: skip


@pytest.mark.parametrize("problem", [FEW, MANY, MIXED], ids=["few", "many", "mixed"])
def test_other_signs_change_no_label_but_by_its_sign(problem):
    """With odd fixed weights 0 a change of the signs of odd learnable weights changes the signs of
    some labels only: of those that are 0 for a teacher without odd weights."""
    rng, found = np.random.default_rng(0), list(islice(sign_symmetries(problem), 8))
    assert found
    for symmetry in found:
        drawn = symmetry.symmetric(draw_instance(problem, 0, 0))
        w = rng.standard_normal(len(symmetry.signs))
        network = problem.network
        # Where samples are as many as inputs or more, those that reach one power of W each.
        X = drawn.X if symmetry.odd_samples.any() else np.eye(len(drawn.X))
        own, other = (network.forward(drawn.with_weights(v), X) for v in (w, symmetry.signs * w))
        np.testing.assert_allclose(np.abs(own), np.abs(other), atol=1e-12)
        is_odd = np.abs(own + other) < 1e-12
        assert 0 < is_odd.sum() < is_odd.size
        assert np.abs(network.forward(drawn.teacher, X)[is_odd]).max() < 1e-12


def test_random_instances_of_a_symmetry_have_it():
    """Random complex instances have 0 where the symmetric ones have, and support's zeros."""
    problem = ALL
    for symmetry in sign_symmetries(problem):
        drawn = symmetry.random(problem, np.random.default_rng(0))
        for matrices in (drawn.weights, drawn.teacher):
            for name, matrix in matrices.items():
                assert not matrix[symmetry.odd[name]].any()
                assert not matrix[np.asarray(problem.support.get(name, matrix * 0 + 1)) == 0].any()
        assert not drawn.X[symmetry.odd_samples].any()


def test_one_solution_stands_for_its_pair():
    """Of pairs of which one or both are given one remains, and gives both; one without odd weights
    is alone."""
    symmetry, rng = next(sign_symmetries(FEW)), np.random.default_rng(0)
    one = rng.standard_normal((5, 6)) + 1j * rng.standard_normal((5, 6))
    one[4, symmetry.signs < 0] = 0
    both = symmetry.partners(one)
    assert len(both) == 9
    given = rng.permutation(np.concatenate([one, both[6:]]))
    found = symmetry.partners(symmetry.representatives(given))
    assert len(found) == 9
    gaps = np.abs(found[:, None] - both).max(axis=2)
    assert gaps.min(axis=0).max() < 1e-12
    assert gaps.min(axis=1).max() < 1e-12


def test_symmetries_are_of_recurrent_nets_without_laws_of_signs():
    """Layers, weights with given signs and large nets have none here."""
    layers = Problem(LinearFeedForward(q=2, widths=[2], d=2, m=2), {"W1": [[1, 1], [1, 1]]})
    signs = Distribution(signs={"W": [[1, 1], [1, 1]]})
    law = Problem(DIAGONAL.network, DIAGONAL.learnable, {}, signs)
    large = Problem(LinearRNN(n=12, T=2, b=1, d=1, m=2), {"W": np.eye(12, dtype=int)})
    assert [list(sign_symmetries(problem)) for problem in (layers, law, large)] == [[], [], []]
    assert list(sign_symmetries(DIAGONAL))
