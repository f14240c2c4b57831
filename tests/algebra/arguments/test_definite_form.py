"""Positive definite forms in exact arithmetic, against eigenvalues in doubles."""

from itertools import product

import numpy as np
import pytest

from algebra.arguments.definite_form import (
    ARGUMENT,
    DefiniteForm,
    inputs_of_first_power,
    why_not_definite,
)
from algebra.checker.checks import PROVED, CheckFailed
from matchprob import LinearRNN, Problem
from tests.arguments import checked
from tests.refusals import refuses


def problem_of(n, d, cells, m=3, T=2):
    """A net with one input in which some cells of W learn."""
    mask = np.zeros((n, n), int)
    mask[tuple(np.array(cells).T)] = 1
    return Problem(LinearRNN(n=n, T=T, b=1, d=d, m=m), {"W": mask.tolist()})


def is_definite(problem, D, P, K):
    """Of q(w) = tr K D W W P on the W with D W P = 0, by differences and eigenvalues.

    No row learns more than one cell, so that q has to be positive in all of these directions.
    """
    cells, n = [cell[1:] for cell in problem.allocation.cells], problem.network.n
    directions = np.zeros((len(cells), n, n))
    for k, cell in enumerate(cells):
        directions[k][cell] = 1

    def q(w):
        W = np.tensordot(w, directions, 1)
        return np.trace(K @ D @ W @ W @ P)

    first = np.array([(D @ E @ P).ravel() for E in directions]).T
    _, values, rows = np.linalg.svd(first)
    if (values < 1e-9).any() or len(values) < len(first):
        return False
    basis, units = rows[len(values) :], np.eye(len(cells))
    hessian = np.array([[q(a + b) - q(a) - q(b) for b in units] for a in units])
    return bool((np.linalg.eigvalsh(basis @ hessian @ basis.T) > 1e-9).all())


def test_definite_forms_are_those_with_positive_eigenvalues():
    """Of all small matrices for two diagonal cells and for a cycle."""
    for cells in ([(0, 0), (1, 1)], [(0, 1), (1, 0)], [(0, 0), (1, 1), (2, 2)]):
        n, found = 1 + max(max(cell) for cell in cells), 0
        problem = problem_of(n, 1, cells)
        for entries in product((-1, 1, 2) if n == 2 else (-1, 2), repeat=2 * n):
            for k in (-1, 1):
                D, P, K = (entries[:n],), tuple((v,) for v in entries[n:]), ((k,),)
                claimed = not why_not_definite(problem, DefiniteForm("rows", D, P, K))
                assert claimed == is_definite(problem, *(np.array(M, float) for M in (D, P, K)))
                found += claimed
        assert found


def test_a_form_proves_its_verdict_and_its_negative_does_not():
    """The check says so at its place; altered shapes are refused."""
    problem = problem_of(2, 1, [(0, 0), (1, 1)])
    forms = [
        DefiniteForm("rows", ((1, p),), ((1,), (q,)), ((k,),))
        for p, q, k in product((-1, 1, 2), (-1, 1, 2), (-1, 1))
    ]
    good = next(form for form in forms if not why_not_definite(problem, form))
    status, said = checked(ARGUMENT, problem, good)
    assert status == PROVED
    assert said[0][0] == "evidence.definite_form"
    (k,) = good.K[0]
    for wrong, words in (
        (DefiniteForm("rows", good.D, good.P, ((-k,),)), "not positive definite"),
        (DefiniteForm("rows", good.D[:0], good.P, good.K), "sizes"),
        (DefiniteForm("rows", good.D, good.P, ()), "sizes|k = 0"),
    ):
        refuses(words, checked, ARGUMENT, problem, wrong, error=CheckFailed)


@pytest.mark.parametrize(
    ("problem", "most"),
    [
        (problem_of(2, 1, [(0, 0), (1, 1)]), 1),
        (problem_of(2, 1, [(0, 0)], m=1), 0),
        (problem_of(2, 1, [(0, 0)], T=1), 0),
        (Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"D": [[1, 1]], "W": [[1, 0], [0, 0]]}), 0),
    ],
)
def test_where_the_theorem_applies(problem, most):
    """Only cells of W learn, there are two steps, and more samples than inputs after the first."""
    assert inputs_of_first_power(problem) == most
