"""phcpy's counts: correct on the example net, undetermined if they are not complete."""

import os

import numpy as np
import pytest

from algebra.systems.root_count import generic_root_count
from matchprob import InputError, LinearEstimator, LinearRNN, Problem, draw_instance
from numeric.engines.exact import exact_core, settled_by_elimination
from numeric.engines.phcpy.engine import PhcpyEngine
from numeric.engines.phcpy.process import PhcpyCrashed, PhcpyProcess, PhcpyTimeout, find_phcpy
from tests.samples import DIAGONAL, LONG, NET

OFF_DIAGONAL = Problem(NET, {"W": [[0, 1], [1, 0]]})


def need_phcpy():
    try:
        find_phcpy()
    except InputError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


def real_by_discriminant(instance):
    """Real solutions of B.1.1 from the closed form, by numpy alone.

    D W B = A_1 and D W² B = A_2, with A_1, A_2 the teacher's (X is square and regular).
    One weight is eliminated from the first, which leaves a x² + b x + c = 0.
    """
    W, teacher = instance.weights["W"], instance.teacher
    D, B = instance.weights["D"][0], instance.weights["B"][:, 0]
    A1 = (teacher["D"] @ teacher["W"] @ teacher["B"]).item()
    A2 = (teacher["D"] @ teacher["W"] @ teacher["W"] @ teacher["B"]).item()
    (_, i, j), (_, k, c) = instance.allocation.cells

    def labels(x, y):
        student = W.copy()
        student[i, j], student[k, c] = x, y
        return D @ student @ B - A1, D @ student @ student @ B - A2

    # The first is affine in (x, y): y = s + t x.
    base = labels(0.0, 0.0)[0]
    dx, dy = labels(1.0, 0.0)[0] - base, labels(0.0, 1.0)[0] - base
    values = [labels(x, -(base + dx * x) / dy)[1] for x in (-1.0, 0.0, 1.0)]
    c = values[1]
    a, b = (values[2] + values[0]) / 2 - c, (values[2] - values[0]) / 2
    return 2 if b * b - 4 * a * c > 0 else 0


@pytest.mark.parametrize("problem", [DIAGONAL, OFF_DIAGONAL])
def test_every_count_agrees_with_the_discriminant(problem):
    """On many instances each count is complete and equals the closed form's."""
    need_phcpy()
    with PhcpyEngine(problem, 2) as engine:
        for index in range(400 if LONG else 40):
            instance = draw_instance(problem, 1, index)
            found = engine.count(instance)
            assert (found.status, found.complex) == ("complete", 2)
            assert found.real == real_by_discriminant(instance)
            for solution in found.solutions:
                assert instance.residual(instance.with_weights(solution)) < 1e-6


def test_bilinear_core():
    """For a core of several unknowns at least 18 of 20 counts are complete, with N's parity."""
    need_phcpy()
    net = LinearRNN(n=3, T=2, b=1, d=2, m=2)
    problem = Problem(net, {"W": [[1, 0, 1], [0, 1, 0], [0, 0, 1]]})
    expected = generic_root_count(problem.allocation).value
    assert expected > 1
    with PhcpyEngine(problem, expected) as engine:
        counts = [engine.count(draw_instance(problem, 0, index)) for index in range(20)]
    complete = [c for c in counts if c.status == "complete"]
    assert len(complete) >= 18
    assert all((expected - c.real) % 2 == 0 for c in complete)


def test_too_few_roots_are_undetermined():
    """A count that differs from N is never called complete."""
    need_phcpy()
    with PhcpyEngine(DIAGONAL, 3) as engine:
        found = engine.count(draw_instance(DIAGONAL, 0, 0))
    assert found.status == "undetermined"
    assert found.note == "2 of 3 roots (generic root count)"


def test_linear_systems_are_solved_exactly():
    """If elimination leaves no equation the solution is known without phcpy."""
    problem = Problem(NET, {"W": [[1, 1], [0, 0]]})
    instance = draw_instance(problem, 0, 0)
    found = settled_by_elimination(exact_core(instance), 0)
    assert found is not None
    assert (found.status, found.real) == ("complete", 1)
    assert instance.residual(instance.with_weights(found.solutions[0])) < 1e-12


def test_contradictions_have_no_solution():
    """For a minimal linear estimator elimination finds 1 = 0: complete, without a solution."""
    problem = Problem(LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 1], [1, 0, 0]]})
    found = settled_by_elimination(exact_core(draw_instance(problem, 0, 0)), 0)
    assert found is not None
    assert (found.status, found.real, found.complex) == ("complete", 0, 0)


class FailingPhcpy(PhcpyProcess):
    """A worker that fails at the instance of index 1, the first `times` times."""

    def __init__(self, error, times=100):
        super().__init__()
        self.error, self.times = error, times

    def solve(self, *args, **kwargs):
        if kwargs["seed"] % 7919 == 1 and self.times:
            self.times -= 1
            raise self.error
        return super().solve(*args, **kwargs)


@pytest.mark.parametrize("error", [PhcpyCrashed("signal 11"), PhcpyTimeout("10 s")])
def test_repeated_crashes_leave_one_instance_undetermined(error):
    """The instance at which phcpy always crashes is undetermined, the others are solved."""
    need_phcpy()
    with PhcpyEngine(DIAGONAL, 2, process=FailingPhcpy(error)) as engine:
        found = [engine.count(draw_instance(DIAGONAL, 0, k)).status for k in range(4)]
    assert found == ["complete", "undetermined", "complete", "complete"]


def test_a_single_crash_changes_no_result():
    """The instance at which phcpy crashes once is solved by a new worker."""
    need_phcpy()
    crashing = FailingPhcpy(PhcpyCrashed("signal 11"), 1)
    with PhcpyEngine(DIAGONAL, 2, process=crashing) as engine:
        found = [engine.count(draw_instance(DIAGONAL, 0, k)).status for k in range(3)]
    assert found == ["complete"] * 3


def test_killed_worker_is_replaced():
    """After SIGKILL of the worker at most one instance is undetermined, and results are equal."""
    need_phcpy()
    with PhcpyProcess() as process, PhcpyEngine(DIAGONAL, 2, process=process) as engine:
        first = engine.count(draw_instance(DIAGONAL, 0, 0))
        os.kill(process.pid, 9)
        statuses = [engine.count(draw_instance(DIAGONAL, 0, k)).status for k in range(3)]
        assert statuses.count("undetermined") <= 1
        again = engine.count(draw_instance(DIAGONAL, 0, 0))
    assert np.allclose(first.solutions, again.solutions)
