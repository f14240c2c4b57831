"""Guessed bases compared with exact results."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.linalg import rational_lp as exact_simplex
from algebra.linalg.rational_lp import INFEASIBLE, UNBOUNDED, maximize
from algebra.plugins.normalization.matching import match_instance
from matchprob import NormNet, Problem, draw_instance
from numeric.linalg.float_simplex import guess_basis, guesses
from tests.algebra.linalg.small_programs import rationals, refutes, small_program
from tests.samples import many


@settings(max_examples=many(150), deadline=None)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 10**6))
def test_a_guess_never_changes_the_answer(rows, columns, seed):
    """With the guess, with none and with an invalid one the exact result is the same."""
    rng = np.random.default_rng(seed)
    A, b, cost = small_program(rng, rows, columns, seed % 2)
    program = rationals(A), rationals(b), rationals(cost)
    plain = maximize(*program)
    nonsense = [int(c) for c in rng.integers(0, columns + rows, rows)]
    for basis in (guess_basis(A.astype(float), b.astype(float), cost.astype(float)), nonsense):
        found = maximize(*program, basis=basis)
        assert found.status == plain.status
        # The last vertex of an unbounded program depends on the first one.
        assert found.status == UNBOUNDED or found.value == plain.value
        if found.status == INFEASIBLE:
            assert refutes(found.proof, A, b)


def test_guesses_are_correct_on_generic_programs(monkeypatch):
    """On generic data no pivot is exact: the guess is always the result."""

    def never(*arguments):
        raise AssertionError("an exact pivot")

    rng = np.random.default_rng(2)
    monkeypatch.setattr(exact_simplex._RevisedSimplex, "exchange", never)
    for k in range(20):
        A = rng.integers(-99, 100, (4, 9))
        b = A @ rng.integers(1, 9, 9) if k % 2 else rng.integers(-99, 100, 4)
        cost = -rng.integers(1, 50, 9)
        basis = guess_basis(A.astype(float), b.astype(float), cost.astype(float))
        maximize(rationals(A), rationals(b), rationals(cost), basis=basis)


def test_branch_and_bound_with_and_without_guesses():
    """Branch and bound gives the same results with guesses."""
    case = Problem(NormNet.square(2, 1, 3, 2), {"g1": "all", "g2": "all"})
    for k in range(6):
        weights, X, Y = draw_instance(case, 3, k).exact
        plain = match_instance(case.allocation, weights, X, Y)
        quick = match_instance(case.allocation, weights, X, Y, guesses=guesses)
        assert plain.status == quick.status


def test_an_unbounded_program_has_no_final_basis():
    """An unbounded program has no final basis."""
    assert guess_basis(np.array([[1.0, -1.0]]), np.zeros(1), np.array([1.0, 1.0])) is None
