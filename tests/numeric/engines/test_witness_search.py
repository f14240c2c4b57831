"""Guesses of rational instances without real solutions."""

from itertools import islice

import numpy as np
import pytest

from algebra.arguments.enclosed_solutions import enclosed_evidence
from algebra.arguments.solved_instances import solve_exactly
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, Instance, LinearRNN, Problem, draw_instance
from numeric.arguments.sign_symmetries import sign_symmetries
from numeric.engines.homotopy import HomotopyEngine
from numeric.engines.witness_search import (
    LARGEST_COUNT,
    _at_best,
    _descended,
    _first_state,
    _guarded,
    _next_state,
    _Parameters,
    _shortest,
    _SymmetricStart,
    rootless_instances,
)
from numeric.trials.counts import COMPLETE
from tests.samples import DIAGONAL

RING = Problem.of(
    Allocation.from_cells(
        LinearRNN(n=4, T=2, b=1, d=2, m=2), [("W", i, (i + 1) % 4) for i in range(4)]
    )
)


@pytest.mark.parametrize(
    ("problem", "seed"),
    [(DIAGONAL, 0), pytest.param(DIAGONAL, 1, marks=pytest.mark.long), (RING, 0)],
)
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


def states(problem, seed, number):
    """An engine, and random instances with all their solutions."""
    engine = HomotopyEngine(problem, root_count=generic_root_count(problem.allocation).value)
    draws = [draw_instance(problem, seed, index) for index in range(number)]
    found = [_first_state(engine, [draw]) for draw in draws]
    return engine, [state for state in found if state is not None]


def test_gradients_tell_how_pairs_approach_and_imaginary_parts_and_sizes_change():
    """Differences of the quantities along a tiny random step, against their gradients."""
    engine, found = states(RING, 3, 12)
    rng, pairs, guards = np.random.default_rng(0), 0, 0
    for state in found:
        space, length = _Parameters(state.instance, engine.chain), 1e-5
        step = space.random(rng)
        moved = space.moved(step, length)
        after = _next_state(engine.chain, state, moved)
        if after is None or len(after.real) != len(state.real):
            continue
        # Entries are rounded, which is a step too; so changes agree up to a share only.
        if len(state.real) == 2 and state.signs.sum() == 0:
            gaps = [((np.subtract(*np.arcsinh(s.real))) ** 2).sum() for s in (state, after)]
            [row] = space.pairs(state)
            pairs += 1
            assert np.log(gaps[1] / gaps[0]) == pytest.approx(
                length * row @ step, rel=0.3, abs=1e-4
            )
        if len(state.upper):
            rows = space.guards(state)
            assert len(rows) == 2 * len(state.upper) + len(state.real)
            near = np.abs(after.upper[:, None] - state.upper).sum(axis=2).argmin(axis=0)
            heights = [
                np.linalg.norm(np.arcsinh(z).imag, axis=1) for z in (state.upper, after.upper[near])
            ]
            sizes = [np.linalg.norm(z, axis=1) for z in (after.upper[near], state.upper)]
            changes = np.concatenate([np.log(heights[1] / heights[0]), np.log(sizes[1] / sizes[0])])
            guards += len(changes)
            expected = length * rows[: len(changes)] @ step
            # θ's unit is its own size; the rounding of entries is of the order of 10⁻⁶.
            np.testing.assert_allclose(changes, expected, rtol=0.3, atol=2e-4)
    assert pairs > 0
    assert guards > 5


def test_guarded_steps_are_the_shortest_that_satisfy_the_conditions():
    """One condition: along its gradient; two: both hold, one of them exactly."""
    row, other = np.array([2.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0])
    np.testing.assert_allclose(_guarded(row[None], np.ones(1)), [0.5, 0, 0], atol=1e-12)
    step = _guarded(np.array([row, other]), np.array([1.0, 3.0]))
    np.testing.assert_allclose(step, [1.5, 1.5, 0], atol=1e-9)


def test_no_step_satisfies_contradictions():
    """A quantity that must grow and shrink leaves no step."""
    row = np.array([1.0, 2.0, 0.0])
    assert _guarded(np.array([row, -row]), np.ones(2)) is None


def test_the_shortest_step_of_some_pairs_is_chosen():
    """Nearer zeros grow, others may shrink by a share, and the nearest pair is not always the one
    with the shortest step."""
    near, far = np.array([3.0, 0.0, 0.0]), np.array([0.0, 2.0, 0.0])
    step = _shortest(np.array([near, far]), np.empty((0, 3)), 0)
    np.testing.assert_allclose(step, [-1 / 3, 0, 0], atol=1e-12)
    step = _shortest(np.array([near, far]), np.array([[4.0, 0.0, 0.0]]), 0)
    assert step[1] == pytest.approx(-0.5)
    assert 4 * step[0] >= 0
    assert _shortest(np.array([near]), np.array([[4.0, 0.0, 0.0]]), 0) is None


def test_descents_lower_the_number_of_real_solutions():
    """They end with a level not higher, mostly lower, and with all solutions of the instance."""
    for problem, seed in ((DIAGONAL, 5), (RING, 3)):
        engine, found = states(problem, seed, 8)
        real = [state for state in found if len(state.real) > 1 and not state.signs.sum()]
        ends = [_descended(engine.chain, state, np.inf) for state in real]
        assert len(real) > 2
        assert all(b.level <= a.level for a, b in zip(real, ends, strict=True))
        assert sum(b.level < a.level for a, b in zip(real, ends, strict=True)) > len(real) / 2
        for end, [pool] in ((end, engine.all_roots([end.instance])) for end in ends):
            assert pool is None or pool.is_real.sum() == len(end.real)


def test_solutions_followed_to_nearby_instances_are_theirs():
    """Followed from an instance's solutions, those of one nearby are all of them."""
    N = generic_root_count(RING.allocation).value
    engine, rng = HomotopyEngine(RING, root_count=N), np.random.default_rng(0)
    state = _first_state(engine, [draw_instance(RING, 3, index) for index in range(4)])
    assert state is not None
    tried = 0
    space = _Parameters(state.instance, engine.chain)
    for _ in range(10):
        moved = space.moved(space.random(rng), 0.1)
        [pool] = engine.all_roots([moved])
        ways = _next_state(engine.chain, state, moved), _at_best(engine.chain, state, [moved])
        for found in ways:
            if pool is not None and found is not None:
                tried += 1
                assert len(found.real) == pool.is_real.sum()
                gaps = np.abs(found.roots[:, None] - pool.roots).max(axis=2)
                assert gaps.min(axis=0).max() < 1e-6 * np.abs(pool.roots).max()
    assert tried > 12


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
    values = engine.chain.residuals(engine.chain.parameters(instance), pool.roots)[0]
    assert np.abs(values).max() < 1e-9


# All of W but one entry learns, B and D are diagonal: N = 56.
DIAGONALS = Problem(
    LinearRNN(n=3, T=5, b=2, d=2, m=4), {"W": [[1, 1, 0], [1, 1, 1], [1, 1, 1]]},
    support={"B": np.eye(3, 2, dtype=int), "D": np.eye(2, 3, dtype=int)},
)  # fmt: skip


def test_symmetric_instances_with_diagonal_matrices():
    """One of the symmetries keeps N = 56: a symmetric instance is found, and balls prove that none
    of its solutions is real."""
    everything = Problem(LinearRNN(n=3, T=5, b=2, d=2, m=4), {"W": np.ones((3, 3), int)})
    problem = DIAGONALS
    guess = next(rootless_instances(problem, 56, 0, 120.0))
    assert len(guess.solutions) == 28
    assert all(len(str(part)) < 100 for point in guess.solutions for part in np.ravel(point))
    assert any(
        all(not guess.weights[name][odd].any() for name, odd in symmetry.odd.items())
        for symmetry in sign_symmetries(everything)
    )
    assert enclosed_evidence(problem, guess, 56) is not None


def test_steps_of_symmetric_instances_stay_symmetric():
    """Solutions followed between symmetric instances are all those of the next one."""
    problem = DIAGONALS
    engine = HomotopyEngine(problem, root_count=56)
    start = _SymmetricStart.find(engine, sign_symmetries(problem), np.random.default_rng(0))
    assert start is not None
    assert len(start.roots) == 28
    state = start.first_state(engine.chain, [draw_instance(problem, 3, k) for k in range(8)])
    assert state is not None
    assert len(state.roots) == 56
    space = _Parameters(state.instance, engine.chain, start.symmetry)
    moved = space.moved(space.random(np.random.default_rng(0)), 0.01)
    for name, odd in start.symmetry.odd.items():
        assert not moved.teacher[name][odd].any()
    found, [pool] = _next_state(engine.chain, state, moved), engine.all_roots([moved])
    assert found is not None
    assert pool is None or len(found.real) == pool.is_real.sum()
