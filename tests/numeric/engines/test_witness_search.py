"""Guesses of rational instances without real solutions."""

from itertools import islice

import numpy as np
import pytest

from algebra.linear.enclosed import enclosed_evidence
from algebra.linear.witness import solve_exactly
from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.systems.root_count import generic_root_count
from numeric.chains.chain import make_chain
from numeric.counts import COMPLETE
from numeric.engines.homotopy import HomotopyEngine
from numeric.engines.witness_search import (
    LARGEST_COUNT,
    _beyond,
    _gap,
    _Parameters,
    rootless_instances,
)
from numeric.instances import Instance, draw_instance
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


def test_pairs_approach_along_the_gradient():
    """A step along the gradient brings two solutions as near as the linear model predicts."""
    engine = HomotopyEngine(DIAGONAL, root_count=2)
    for index in range(20):
        instance = draw_instance(DIAGONAL, 5, index)
        [count] = engine.count_many([instance])
        if count.real != 2:
            continue
        space = _Parameters(instance, engine.chain)
        x, y = map(np.array, count.solutions)
        move = space.towards(x, y)
        assert move is not None
        step, distance = move
        gaps = [_gap(x, y) ** 2]
        [moved] = engine.count_many([space.moved(step, 1e-3 * distance)])
        gaps.append(_gap(*map(np.array, moved.solutions)) ** 2)
        assert gaps[1] / gaps[0] == pytest.approx(1 - 1e-3, abs=1e-4)


def test_guarded_steps_keep_non_real_solutions_away():
    """Along a guarded step no guard decreases; if none would anyway, it is the wanted step.

    The guard of a solution has the sign with which its imaginary part changes.
    """
    N = generic_root_count(RING.allocation).value
    engine, rng, tried = HomotopyEngine(RING, root_count=N), np.random.default_rng(0), 0
    for instance in [draw_instance(RING, 3, index) for index in range(20)]:
        [pool] = engine.all_roots([instance])
        if pool is None or pool.is_real.all():
            continue
        space = _Parameters(instance, engine.chain)
        upper = pool.roots[pool.roots.imag.sum(axis=1) > 1e-6]
        guards, wanted = space.kept_apart(upper), space.random(rng)
        assert len(guards) == len(upper)
        found = space.guarded(wanted, guards)
        assert found is not None
        step, cosine = found
        flat, first = (
            np.concatenate([v.ravel() for own in s for v in own.values()]) for s in (step, wanted)
        )
        assert np.linalg.norm(flat) == pytest.approx(1)
        assert (guards @ flat).min() > -1e-9
        assert flat @ first == pytest.approx(cosine)
        if (guards @ first).min() > 0:
            np.testing.assert_allclose(flat, first, atol=1e-9)
        [moved] = engine.all_roots([space.moved(wanted, 1e-4)])
        assert moved is not None
        for z in upper:
            near = moved.roots[np.argmin(np.abs(moved.roots - z).sum(axis=1))]
            rate = float((space.kept_apart(z[None]) @ first)[0])
            if abs(rate) > 0.02:
                tried += 1
                assert (np.linalg.norm(near.imag) > np.linalg.norm(z.imag)) == (rate > 0)
    assert tried > 5


def test_pairs_that_are_followed_leave_the_reals():
    """Most instances beyond the point where the only two real solutions meet have none."""
    engine = HomotopyEngine(DIAGONAL, root_count=2)
    left = tried = 0
    for index in range(20):
        instance = draw_instance(DIAGONAL, 5, index)
        [count] = engine.count_many([instance])
        if count.real != 2:
            continue
        beyond = _beyond(_Parameters(instance, engine.chain), *map(np.array, count.solutions), 2.0)
        if beyond is not None:
            tried += 1
            left += engine.count_many([beyond])[0].real == 0
    assert tried > 3
    assert left > tried / 2


def test_newton_finds_the_solution_nearby():
    """From a slightly changed solution Newton's method finds it; from far away it finds none."""
    engine = HomotopyEngine(DIAGONAL, root_count=2)
    counts = ((draw_instance(DIAGONAL, 5, k), k) for k in range(20))
    instance, count = next((i, c) for i, _ in counts for c in engine.count_many([i]) if c.real == 2)
    space, solution = _Parameters(instance, engine.chain), np.array(count.solutions[0])
    found = space.corrected(solution * (1 + 1e-4))
    assert found is not None
    assert np.allclose(found, solution)
    assert space.corrected(np.full(2, 1e30)) is None


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


def test_jacobian_of_more_samples_than_inputs():
    """With more samples than inputs the Jacobian is that of as many independent labels."""
    problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=4), {"W": [[1, 0], [0, 1]]})
    instance = draw_instance(problem, 0, 0)
    space = _Parameters(instance, make_chain(problem.allocation))
    assert space.jacobian(np.array([0.3, 0.7])).shape == (2, 2)
