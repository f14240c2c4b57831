"""Guesses of rational instances without real solutions."""

from itertools import islice

import numpy as np
import pytest

from algebra.linear.enclosed import enclosed_evidence
from algebra.linear.verification.normal_form import normal_problem
from algebra.linear.witness import solve_exactly
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, Instance, LinearRNN, Problem, draw_instance
from numeric.counts import COMPLETE
from numeric.engines.homotopy import HomotopyEngine
from numeric.engines.witness_search import (
    LARGEST_COUNT,
    _first_state,
    _guarded,
    _next_state,
    _Parameters,
    _SymmetricStart,
    rootless_instances,
)
from numeric.gradings import gradings
from tests.samples import DIAGONAL

RING = Problem.of(
    Allocation.from_cells(
        LinearRNN(n=4, T=2, b=1, d=2, m=2), [("W", i, (i + 1) % 4) for i in range(4)]
    )
)


@pytest.mark.parametrize(("problem", "seed"), [(DIAGONAL, 0), (DIAGONAL, 1), (RING, 0)])
def test_guesses_hold_exactly(problem, seed):
    """An instance guessed to be without real solutions has none, by msolve and by balls."""
    N = generic_root_count(problem.allocation).value
    guesses = list(islice(rootless_instances(problem, N, seed, 120.0), 2))
    assert len(guesses) == 2
    for guess in guesses:
        Y = problem.network.forward(guess.teacher, guess.X)
        found = solve_exactly(problem, guess.weights, guess.X, Y, 30, "B")
        assert found is not None
        assert (found.complex, len(found.roots)) == (N, 0)
        assert enclosed_evidence(problem, guess, N) is not None


def with_two_real(engine):
    """Instances with two real solutions, and the solutions as rows."""
    for index in range(20):
        instance = draw_instance(DIAGONAL, 5, index)
        [count] = engine.count_many([instance])
        if count.real == 2:
            yield instance, [np.array([x]) for x in count.solutions]


def test_the_jacobian_is_singular_half_way_where_labels_are_quadratic():
    """Of two solutions x, y the difference is in the kernel of the Jacobian at (x + y) / 2."""
    engine = HomotopyEngine(RING, root_count=generic_root_count(RING.allocation).value)
    instances = [draw_instance(RING, 3, index) for index in range(8)]
    tried = 0
    for instance, pool in zip(instances, engine.all_roots(instances), strict=True):
        if pool is None:
            continue
        x, y = pool.roots[:2]
        parameters = engine.chain.parameters(instance)
        _, [J] = engine.chain.residuals(parameters, (x + y)[None] / 2)
        tried += 1
        assert np.linalg.norm(J @ (x - y)) < 1e-8 * np.linalg.norm(J) * np.linalg.norm(x - y)
    assert tried > 5


def test_pairs_approach_along_their_steps():
    """A part of the step to the meeting point brings the labels as much nearer to those half-way
    between two solutions, and one along the gradient the solutions to each other."""
    engine, tried = HomotopyEngine(DIAGONAL, root_count=2), 0
    forward = DIAGONAL.network.forward
    for instance, (x, y) in with_two_real(engine):
        space = _Parameters(instance, engine.chain)
        [(shortest, basis)], [approach] = space.to_meeting(x, y), space.towards(x, y)
        assert np.allclose(basis @ (basis.T @ shortest), shortest)
        near = space.moved(shortest, 1e-3)
        errors = [
            forward(at.with_weights((x + y)[0] / 2), at.X) - at.labels for at in (instance, near)
        ]
        assert np.allclose(errors[1], (1 - 1e-3) * errors[0], atol=1e-4 * np.abs(errors[0]).max())
        [count] = engine.count_many([space.moved(approach, 1e-3)])
        pairs = ((x[0], y[0]), map(np.array, count.solutions))
        gaps = [np.linalg.norm(np.subtract(*np.arcsinh([*pair]))) ** 2 for pair in pairs]
        assert gaps[1] / gaps[0] == pytest.approx(1 - 1e-3, abs=1e-4)
        tried += 1
    assert tried > 3


def test_guarded_steps_keep_non_real_solutions_away():
    """A guarded step adds what is required, does not move along the directions that are kept, and
    is the wanted one if that suffices.  The guard of a solution has the sign by which its imaginary
    part changes."""
    N = generic_root_count(RING.allocation).value
    engine, rng, tried = HomotopyEngine(RING, root_count=N), np.random.default_rng(0), 0
    for instance in [draw_instance(RING, 3, index) for index in range(20)]:
        [pool] = engine.all_roots([instance])
        if pool is None or pool.is_real.all():
            continue
        space = _Parameters(instance, engine.chain)
        upper = pool.roots[pool.roots.imag.sum(axis=1) > 1e-6]
        (rows, least), wanted = space.guards(upper), space.random(rng)
        assert len(rows) == len(least) == len(upper)
        kept = np.linalg.qr(rng.standard_normal((len(wanted), 3)))[0]
        for basis in (None, kept):
            step = _guarded(wanted, basis, rows, least)
            assert step is not None
            assert (rows @ step - least).min() > -1e-7 * np.abs(rows).max()
            if basis is not None:
                assert np.abs(basis.T @ (step - wanted)).max() < 1e-9
        loose = rows @ wanted - 1
        np.testing.assert_allclose(_guarded(wanted, None, rows, loose), wanted, atol=1e-9)
        [moved] = engine.all_roots([space.moved(wanted, 1e-4)])
        assert moved is not None
        for z in upper:
            near = moved.roots[np.argmin(np.abs(moved.roots - z).sum(axis=1))]
            rate = float((space.guards(z[None])[0] @ wanted)[0])
            if abs(rate) > 0.1:
                tried += 1
                grown = np.log(np.linalg.norm(near.imag) / np.linalg.norm(z.imag))
                assert (grown > 0) == (rate > 0)
    assert tried > 5


def test_no_step_satisfies_contradictions():
    """A quantity that must grow and shrink leaves no step."""
    row = np.array([1.0, 2.0, 0.0])
    assert _guarded(np.zeros(3), None, np.array([row, -row]), np.ones(2)) is None
    assert _guarded(np.full(3, np.nan), None, np.array([row]), np.ones(1)) is None


def test_pairs_that_follow_their_steps_leave_the_reals():
    """Parts of the steps of the only two real solutions lead to an instance with none, mostly."""
    engine, left = HomotopyEngine(DIAGONAL, root_count=2), []
    for instance, (x, y) in with_two_real(engine):
        for _ in range(20):
            space = _Parameters(instance, engine.chain)
            [(step, _)] = space.to_meeting(x, y)
            instance = space.moved(step, 0.3 if np.linalg.norm(step) > 0.02 else 2.0)
            [count] = engine.count_many([instance])
            if count.real != 2:
                break
            x, y = (np.array([z]) for z in count.solutions)
        left.append(count.real == 0)
    assert len(left) > 3
    assert sum(left) > len(left) / 2


def test_solutions_followed_to_nearby_instances_are_theirs():
    """Followed from an instance's solutions, those of one nearby are all of them."""
    N = generic_root_count(RING.allocation).value
    engine, rng = HomotopyEngine(RING, root_count=N), np.random.default_rng(0)
    state = _first_state(engine, [draw_instance(RING, 3, index) for index in range(4)])
    assert state is not None
    tried = 0
    for _ in range(10):
        space = _Parameters(state.instance, engine.chain)
        moved = space.moved(space.random(rng), 0.1)
        [pool], found = engine.all_roots([moved]), _next_state(engine.chain, state, [moved])
        if pool is not None and found is not None:
            tried += 1
            assert len(found.real) == pool.is_real.sum()
            gaps = np.abs(found.roots[:, None] - pool.roots).max(axis=2)
            assert gaps.min(axis=0).max() < 1e-6 * np.abs(pool.roots).max()
    assert tried > 6


def test_nothing_is_guessed_without_time_or_for_large_counts():
    """Without time, or with more roots than the search permits, there is no guess."""
    assert list(rootless_instances(DIAGONAL, 2, 0, 0.0)) == []
    assert list(rootless_instances(DIAGONAL, LARGEST_COUNT + 1, 0, 9.0)) == []


def test_instances_with_dependent_readouts_are_passed_over():
    """A singular D gives no parameters to track; other instances are counted."""
    problem = Problem(LinearRNN(n=2, T=3, b=1, d=2, m=1), {"W": [[1, 0], [1, 0]]})
    fine = draw_instance(problem, 0, 0)
    weights = {**fine.weights, "D": np.ones((2, 2))}
    singular = Instance(problem, problem.allocation, 0, 1, weights, fine.teacher, fine.X)
    engine = HomotopyEngine(problem, root_count=generic_root_count(problem.allocation).value)
    first, second = engine.count_many([singular, fine])
    assert first.status != COMPLETE
    assert "rows of D are dependent" in first.note
    assert second.status == COMPLETE
    assert engine.all_roots([singular, fine])[0] is None


def test_dependent_samples_have_equations_of_their_own():
    """With more samples than inputs the equations are those of as many independent labels."""
    problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=4), {"W": [[1, 0], [0, 1]]})
    engine = HomotopyEngine(problem, root_count=generic_root_count(problem.allocation).value)
    instance = draw_instance(problem, 0, 0)
    [pool] = engine.all_roots([instance])
    space = _Parameters(instance, engine.chain)
    assert space.apart(pool.roots, pool.roots).max() < 1e-9


def test_symmetric_instances_of_a_normal_form():
    """Of the normal form of n = 3, T = 5, b = d = 2, m = 4 with N = 56, one of whose symmetries
    keeps N, a symmetric instance is found, and balls prove that none of its solutions is real."""
    everything = Problem(LinearRNN(n=3, T=5, b=2, d=2, m=4), {"W": np.ones((3, 3), int)})
    problem = normal_problem(everything)
    assert problem is not None
    guess = next(rootless_instances(problem, 56, 0, 120.0))
    assert len(guess.solutions) == 28
    assert any(
        all(not guess.weights[name][odd].any() for name, odd in grading.odd.items())
        for grading in gradings(everything)
    )
    assert enclosed_evidence(problem, guess, 56) is not None


def test_steps_of_symmetric_instances_stay_symmetric():
    """Solutions followed between symmetric instances are all those of the next one."""
    problem = normal_problem(
        Problem(LinearRNN(n=3, T=5, b=2, d=2, m=4), {"W": np.ones((3, 3), int)})
    )
    assert problem is not None
    engine = HomotopyEngine(problem, root_count=56)
    start = _SymmetricStart.find(engine, gradings(problem), np.random.default_rng(0))
    assert start is not None
    assert len(start.roots) == 28
    state = start.first_state(engine.chain, [draw_instance(problem, 3, k) for k in range(8)])
    assert state is not None
    assert len(state.roots) == 56
    space = _Parameters(state.instance, engine.chain, start.grading)
    moved = space.moved(space.random(np.random.default_rng(0)), 0.01)
    for name, odd in start.grading.odd.items():
        assert not moved.teacher[name][odd].any()
    found, [pool] = _next_state(engine.chain, state, [moved]), engine.all_roots([moved])
    assert found is not None
    assert pool is None or len(found.real) == pool.is_real.sum()
