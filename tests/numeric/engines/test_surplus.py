"""More weights than equations: every trial decided, against closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from algebra.errors import InputError
from matchprob import LinearFeedForward, LinearRNN, Problem, draw_instance, estimate
from numeric.engines import surplus
from numeric.engines.base import Assignment
from numeric.engines.counter import InstanceCounter
from numeric.engines.plans import rank_plan
from numeric.engines.surplus import SurplusEngine
from numeric.equations.critical import make_critical_system
from numeric.trials.counts import Reason
from tests.samples import many

QUADRATIC = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=1), {"W": [[1, 0], [0, 1]]})
THREE = Problem(LinearRNN(n=3, T=2, b=1, d=1, m=2), {"W": np.eye(3, dtype=int)})
CURVE = Problem(LinearRNN(n=3, T=2, b=1, d=2, m=2), {"W": [[1, 0, 0], [0, 1, 0], [1, 1, 1]]})
# Real students of 32 critical points are searched before these are followed.
SEARCHED = Problem(
    LinearRNN(n=4, T=3, b=1, d=1, m=3),
    {"W": [[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 1, 0], [0, 1, 1, 0]]},
)


def quadric(instance):
    """c, l and P of the first label, which is Σ P_i w_i² + l·w + c, minus its value."""

    def label(w):
        network = instance.problem.network
        return (network.forward(instance.with_weights(w), instance.X) - instance.labels)[0, 0]

    r = len(instance.before)
    zero = label(np.zeros(r))
    up, down = (np.array([label(sign * w) for w in np.eye(r)]) for sign in (1, -1))
    return zero, (up - down) / 2, (up + down) / 2 - zero


def quadratic_matches(instance):
    """P x² + Q y² + l·(x, y) + c has a real zero iff PQ < 0 or P (c − l_x²/4P − l_y²/4Q) ≤ 0."""
    c, slope, P = quadric(instance)
    return P.prod() < 0 or P[0] * (c - (slope**2 / (4 * P)).sum()) <= 0


def three_matches(instance):
    """A quadric on a plane has a real point unless its form is definite there, and its value at the
    centre has the form's sign."""
    basis = np.linalg.inv(instance.X)
    first, second = (
        quadric(
            replace(
                instance, X=instance.X @ basis[:, [k]], drawn_labels=instance.labels @ basis[:, [k]]
            )
        )
        for k in (0, 1)
    )
    # The second label is affine: its weights have the product with x_2 only.
    assert np.abs(second[2]).max() < 1e-12
    normal = second[1]
    foot = -second[0] * normal / (normal @ normal)
    N = np.linalg.svd(normal[None])[2][1:].T
    c, linear, P = first
    A = N.T @ (P[:, None] * N)
    slope = N.T @ (2 * P * foot + linear)
    centre = c + linear @ foot + P @ foot**2 - slope @ np.linalg.solve(A, slope) / 4
    return np.linalg.det(A) < 0 or A[0, 0] * centre <= 0


def curve_matches(instance):
    """The states v = W B are a line, and rows 0 and 1 of W v quadratic along it; row 2 is free."""
    D, B, W = (instance.weights[name] for name in "DBW")
    second, first = np.linalg.solve(instance.X.T, instance.labels.T)
    start, along = np.linalg.lstsq(D, first)[0], np.cross(*D)
    # A functional that vanishes on the column of D of row 2.
    left = np.array([D[1, 2], -D[0, 2]])

    def error(t):
        v, own = start + t * along, W[:2].copy()
        for k in (0, 1):
            own[k, k] += (v[k] - own[k] @ B[:, 0]) / B[k, 0]
        return left @ (D[:, :2] @ own @ v - second)

    zero, up, down = error(0.0), error(1.0), error(-1.0)
    return ((up - down) / 2) ** 2 - 4 * zero * ((up + down) / 2 - zero) >= 0


@pytest.mark.parametrize(
    ("problem", "matches", "points"),
    [(QUADRATIC, quadratic_matches, 4), (THREE, three_matches, 4), (CURVE, curve_matches, 2)],
)
def test_every_trial_is_decided_as_by_the_closed_form(problem, matches, points):
    """All trials are decided, each as its own closed form says."""
    found = estimate(problem, many(200))
    assert found.undetermined == 0
    for count in found.counts:
        instance = draw_instance(problem, 0, count.index)
        assert count.matches == matches(instance)
        if count.matches:
            assert instance.residual(instance.with_weights(count.solutions[0])) < 1e-8
        else:
            assert f"{points} critical points" in count.note
            assert count.reason is Reason.COUNTED


def test_the_nearest_student_is_returned():
    """No other student of the quadric is nearer to the drawn weights, on a fine grid of it."""
    instance = draw_instance(QUADRATIC, 0, 1)
    with InstanceCounter(QUADRATIC) as counter:
        count = counter.count(instance)
    c, (lx, ly), (P, Q) = quadric(instance)
    x = np.linspace(-20, 20, 400_001)
    rest = ly * ly - 4 * Q * (P * x * x + lx * x + c)
    x, rest = x[rest >= 0], np.sqrt(rest[rest >= 0])
    grid = np.concatenate([np.stack([x, (sign * rest - ly) / (2 * Q)]) for sign in (1, -1)], 1)
    least = np.linalg.norm(grid - instance.before[:, None], axis=0).min()
    found = np.linalg.norm(np.subtract(count.solutions[0], instance.before))
    assert found <= least + 1e-9
    assert least - found < 1e-3


def engine_of(problem):
    """The engine of a problem."""
    return SurplusEngine(Assignment(problem, rank_plan(problem, problem.allocation)))


@pytest.mark.parametrize("wrong", [2, 6])
def test_a_wrong_number_of_critical_points_never_shows_that_there_is_no_student(wrong):
    """With too few the error is noticed, with too many no trial is unmatched."""
    engine = engine_of(QUADRATIC)
    engine.points = wrong
    instances = [draw_instance(QUADRATIC, 0, k) for k in range(20)]
    if wrong < 4:
        with pytest.raises(InputError, match="too small"):
            engine.count_many(instances)
    else:
        outcomes = [c.outcome for c in engine.count_many(instances)]
        right = [quadratic_matches(i) for i in instances]
        assert outcomes == ["matched" if x else "undetermined" for x in right]


def test_searches_find_certified_students(monkeypatch):
    """The search decides trials with a student, and only those."""
    monkeypatch.setattr(surplus, "_FEW", 0)
    engine = engine_of(QUADRATIC)
    instances = [draw_instance(QUADRATIC, 0, k) for k in range(40)]
    counts = engine.count_many(instances)
    assert [c.matches for c in counts] == [quadratic_matches(i) for i in instances]
    searched = [c for c in counts if c.note == "a certified student"]
    assert len(searched) > 30
    for c in searched:
        instance = instances[c.index]
        assert instance.residual(instance.with_weights(c.solutions[0])) < 1e-8


def test_records_do_not_depend_on_the_chunk():
    """A trial has the same record alone and among others."""
    with InstanceCounter(SEARCHED, complete=False) as counter:
        instances = [draw_instance(SEARCHED, 0, k) for k in range(4)]
        together = counter.count_many(instances)
    with InstanceCounter(SEARCHED, complete=False) as counter:
        alone = counter.count(instances[2])
    assert {c.outcome for c in together} == {"matched"}
    assert replace(alone, seconds=0) == replace(together[2], seconds=0)


def test_an_odd_number_of_critical_points_settles_every_trial():
    """39 critical points: one is real."""
    mask = [[1, 1, 0], [1, 0, 1], [1, 0, 0]]
    problem = Problem(LinearRNN(n=3, T=3, b=1, d=1, m=3), {"W": mask})
    found = estimate(problem, 5)
    assert found.certified == 1
    assert "39 critical points" in found.counts[0].note


def test_without_msolve_the_number_comes_from_a_trace_test(monkeypatch):
    """Unmatched trials then depend on it, and say so."""
    monkeypatch.setattr(surplus, "number_of_critical_points", lambda *_: None)
    monkeypatch.setattr(surplus, "_ROUNDS", (1,))
    engine = engine_of(QUADRATIC)
    instances = [draw_instance(QUADRATIC, 0, k) for k in range(20)]
    counts = engine.count_many(instances)
    assert [c.matches for c in counts] == [quadratic_matches(i) for i in instances]
    unmatched = [c for c in counts if not c.matches]
    assert {c.reason for c in unmatched} == {Reason.COUNTED_BY_TRACE}


def test_too_many_critical_points_leave_trials_open(monkeypatch):
    """The note names their number, and nothing is said of the trial."""
    monkeypatch.setattr(surplus, "MOST_POINTS", 3)
    monkeypatch.setattr(surplus, "_FEW", 0)
    engine = engine_of(QUADRATIC)
    instances = [draw_instance(QUADRATIC, 0, k) for k in range(30)]
    counts = engine.count_many(instances)
    open_ = [c for c in counts if c.outcome == "undetermined"]
    assert open_
    assert all("4 critical points" in c.note and c.reason is Reason.SEARCHED for c in open_)


@pytest.mark.parametrize(
    "problem",
    [
        Problem(LinearRNN(n=2, T=2, b=1, d=1, m=4), {"W": [[1, 1], [0, 1]]}),
        Problem(LinearFeedForward(2, (2,), 2, 2), {"W1": "all", "W2": [[1, 0], [0, 1]]}),
        Problem(LinearFeedForward(2, (1,), 2, 2), {"W1": "all", "W2": "all"}),
    ],
)  # fmt: skip
def test_systems_of_critical_points(problem):
    """Residuals vanish at a random root, also turned, and derivatives are those of differences."""
    rng, system = np.random.default_rng(0), make_critical_system(problem.allocation)
    parameters, root = system.random(rng)
    turned = system.turned(parameters, rng)
    for vector in (parameters, turned):
        assert np.abs(system.residuals(vector, root[None])[0]).max() < 1e-12
    f, J = system.residuals(parameters, root[None])
    for k in range(system.unknowns):
        moved = root.copy()
        moved[k] += 1e-7
        difference = (system.residuals(parameters, moved[None])[0] - f)[0] / 1e-7
        assert np.allclose(difference, J[0][:, k], atol=1e-5)
