"""Guesses of rational instances without real solutions."""

from itertools import islice

import numpy as np
import pytest

from algebra.linear.witness import solve_exactly
from algebra.networks.recurrent import LinearRNN
from algebra.problems.problem import Problem
from algebra.systems.instances import rational_instance
from algebra.systems.root_count import generic_root_count
from numeric.counts import COMPLETE
from numeric.engines.homotopy import HomotopyEngine
from numeric.engines.witness_search import LARGEST_COUNT, rational_draw, rootless_instances

NET = LinearRNN(n=2, T=2, b=1, d=1, m=2)
DIAGONAL = Problem(NET, {"W": [[1, 0], [0, 1]]})


def test_draw_is_the_rational_instance():
    """Eighths are doubles: nothing of the rational instance is lost."""
    student, teacher, X = rational_instance(DIAGONAL, 3, 5)
    drawn = rational_draw(DIAGONAL, 3, 5)
    for exact, rounded in ((student["W"], drawn.weights["W"]), (teacher["D"], drawn.teacher["D"])):
        assert [[float(x) for x in row] for row in exact] == np.asarray(rounded).tolist()
    assert [[float(x) for x in row] for row in X] == drawn.X.tolist()


@pytest.mark.parametrize("seed", [0, 1])
def test_guesses_hold_exactly(seed):
    """An instance guessed to be rootless is so by exact arithmetic."""
    guesses = list(islice(rootless_instances(DIAGONAL, 2, seed, 30.0), 3))
    assert len(guesses) == 3
    for index in guesses:
        student, teacher, X = rational_instance(DIAGONAL, seed, index)
        found = solve_exactly(DIAGONAL, student, X, NET.forward(teacher, X), 30, "B")
        assert found is not None
        assert (found.complex, len(found.roots)) == (2, 0)


def test_nothing_is_guessed_without_time_or_for_large_counts():
    """No time, or more roots than the search is worth, gives no guess."""
    assert list(rootless_instances(DIAGONAL, 2, 0, 0.0)) == []
    assert list(rootless_instances(DIAGONAL, LARGEST_COUNT + 1, 0, 9.0)) == []


def test_instances_with_dependent_readouts_are_passed_over():
    """Small rational numbers make D singular now and then; the search goes on without them."""
    problem = Problem(LinearRNN(n=2, T=3, b=1, d=2, m=1), {"W": [[1, 0], [1, 0]]})
    singular = next(
        draw
        for draw in (rational_draw(problem, 0, k) for k in range(3000))
        if abs(np.linalg.det(draw.weights["D"])) < 1e-12
    )
    engine = HomotopyEngine(problem, root_count=generic_root_count(problem.allocation).value)
    fine = rational_draw(problem, 0, 0)
    first, second = engine.count_many([singular, fine])
    assert first.status != COMPLETE
    assert "rows of D are dependent" in first.note
    assert second.status == COMPLETE
