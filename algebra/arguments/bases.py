"""What checks of a teacher in another basis share: solutions at random points, and the student.

For `algebra.arguments.teacher_reached` and `algebra.arguments.dual_bases`; their searches use none
of it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
from flint import nmod_mat

from algebra.linalg.modular import matmul
from algebra.linalg.residues import random_residues
from algebra.networks.base import Point
from algebra.problems.problem import Problem


def drawn_solution(
    equations: Sequence[Sequence[int]], constants: Sequence[int], unknowns: int, p: int,
    rng: random.Random,
) -> np.ndarray | str:  # fmt: skip
    """A random solution of independent linear equations modulo a prime, or why there is none.

    Parameters
    ----------
    equations : sequence of sequences of int
        A row of coefficients for each equation.
    constants : sequence of int
        What is added in each equation: coefficients · solution + constant = 0.
    unknowns : int
    p : int
        A prime.
    rng : random.Random
        It draws one of the solutions.

    Examples
    --------
    >>> drawn_solution([[1, 0], [1, 1]], [5, 5], 2, 7, random.Random(0)).tolist()
    [2, 0]
    """
    rows = len(equations)
    own = [[int(v) % p for v in row] for row in equations]
    if rows > unknowns or (rows and nmod_mat(own, p).rank() < rows):
        return f"{rows} equations of {unknowns} unknowns are not independent"
    if not unknowns:
        return np.zeros(0, np.int64)
    # Random equations choose one of the solutions.
    more = random_residues((unknowns - rows, unknowns + 1), p, rng).tolist()
    full = nmod_mat([*own, *(row[:-1] for row in more)], p)
    if full.rank() < unknowns:
        return "the random point is unlucky"
    right = nmod_mat([[-int(c) % p] for c in (*constants, *(-row[-1] for row in more))], p)
    return np.array([int(v) for v in full.solve(right).entries()], np.int64)


def student_complaint(
    problem: Problem, made: Mapping[str, np.ndarray], student: Point, teacher: Point
) -> str:
    """Why weights that were made from the teacher's are no matching student; "" if they are one.

    They must have the student's weights wherever nothing learns, and the teacher's labels at its
    samples, which are random.
    """
    p = student.p
    for name, value in made.items():
        keeps = np.asarray(problem.allocation.masks[name]) == 0
        if not np.array_equal(value[keeps] % p, student.weights[name][keeps] % p):
            return f"{name}: the fixed weights are not kept"
    labels = [
        problem.network.forward(w, student.X, lambda a, b: matmul(a % p, b % p, p)) % p
        for w in (made, teacher.weights)
    ]
    if not np.array_equal(*labels):
        return "the student does not compute the teacher's function"
    return ""
