"""Solutions at random points, and students made from a teacher."""

import random
from dataclasses import replace

import numpy as np
import pytest

from algebra.arguments.bases import drawn_solution, student_complaint
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import random_point
from matchprob import LinearRNN

P = 10_007


@pytest.mark.parametrize("rows", range(5))
def test_a_drawn_solution_solves(rows):
    """Of independent equations; different streams give different ones while any is free."""
    rng = random.Random(rows)
    table = [[rng.randrange(P) for _ in range(4)] for _ in range(rows)]
    constants = [rng.randrange(P) for _ in range(rows)]
    found = [drawn_solution(table, constants, 4, P, random.Random(s)) for s in range(2)]
    for values in found:
        assert all(
            (sum(a * int(x) for a, x in zip(row, values, strict=True)) + c) % P == 0
            for row, c in zip(table, constants, strict=True)
        )
    assert np.array_equal(*found) == (rows == 4)


@pytest.mark.parametrize("table", [[[1, 2], [2, 4]], [[1, 0], [0, 1], [1, 1]], [[0, 0]]])
def test_dependent_equations_have_none(table):
    """Dependent ones, more than unknowns, and one without coefficients."""
    found = drawn_solution(table, [0] * len(table), 2, P, random.Random(0))
    assert found == f"{len(table)} equations of 2 unknowns are not independent"


def test_a_student_in_another_basis():
    """The teacher in another order of its units matches; a changed weight is seen either way."""
    problem = Problem(LinearRNN(n=2, T=3, b=1, d=1, m=2), {"W": [[1, 1], [1, 1]]})
    teacher = random_point(problem.network, P, 0, {})
    other = {
        "D": teacher.weights["D"][:, ::-1],
        "W": teacher.weights["W"][::-1, ::-1],
        "B": teacher.weights["B"][::-1],
    }
    student = replace(teacher, weights=other)
    assert student_complaint(problem, other, student, teacher) == ""
    changed = other | {"W": other["W"] + 1}
    assert "function" in student_complaint(problem, changed, student, teacher)
    moved = other | {"B": other["B"] + 1}
    assert (
        student_complaint(problem, moved, student, teacher) == "B: the fixed weights are not kept"
    )
