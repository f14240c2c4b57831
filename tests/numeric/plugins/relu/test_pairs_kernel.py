"""The tree over pairs (u, v): its tableau, and decisions compared with brute force."""

import numpy as np

from numeric.plugins.relu.decision import MATCH, NONE, UNDETERMINED
from numeric.plugins.relu.pairs import decide_pairs
from numeric.plugins.relu.pairs_kernel import start_tableau
from tests.numeric.plugins.relu.cases import brute_force, instances, random_problem
from tests.samples import many


def test_tableau_solves_the_equations():
    """With the non-basic unknowns at 0 the basic ones have the values of the tableau."""
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(5, 9)), rng.normal(size=5)
    T, beta, basic, other, rest = start_tableau(A, b)
    assert rest == 0.0
    assert np.allclose(A[:, basic] @ beta, b)
    assert np.allclose(A[:, basic] @ T, A[:, other])


def test_contradictory_equations_leave_a_remainder():
    """A dependent row leaves the remainder 0 if it is consistent, otherwise a positive one."""
    A = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
    assert start_tableau(A, np.array([1.0, 2.0]))[4] < 1e-12
    assert start_tableau(A, np.array([1.0, 3.0]))[4] > 0.1


def test_decisions_over_pairs_agree_with_brute_force():
    """More than three of four instances are decided, each as by all patterns."""
    rng, problems = np.random.default_rng(5), many(48, 12)
    decided = 0
    for _ in range(problems):
        for instance in instances(random_problem(rng), 3):
            solutions, freedom = brute_force(instance)
            found = decide_pairs(instance)
            if found.verdict != UNDETERMINED:
                assert found.verdict == (MATCH if solutions or freedom else NONE)
                decided += 1
    assert decided > 0.75 * 3 * problems
