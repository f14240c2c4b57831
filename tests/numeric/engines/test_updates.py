"""Instances in which matrices learn by updates: msolve, quadratics, cells, least squares."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import least_squares

from algebra.systems.equivalent_cells import in_parameters
from matchprob import (
    RNN,
    FeedForward,
    InputError,
    LinearFeedForward,
    LinearRNN,
    Problem,
    ShallowReLU,
    count,
    estimate,
    profile,
    train,
)
from numeric.engines.counter import InstanceCounter
from numeric.plugins.training.profiles.measures import MEASURES
from numeric.studies.trials import TrialSeries, compute_trials
from numeric.trials.instances import draw_instance
from tests.refusals import refuses
from tests.samples import LONG, NET, many

DATA = Path(__file__).parents[2] / "data"
_SPEC = importlib.util.spec_from_file_location("oracle", DATA / "make_update_counts.py")
oracle = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(oracle)
COUNTS = json.loads((DATA / "update_counts.json").read_text())
KNOWN = [number for number, found in enumerate(COUNTS) if found is not None]
TIED = Problem(NET, {"W": {"tied": [[1, 2], [2, 1]]}})


@pytest.mark.parametrize("number", KNOWN if LONG else KNOWN[:: len(KNOWN) // 5])
def test_counts_are_those_of_msolve(number):
    """Real and complex solutions are those that msolve finds of the labels in another chart."""
    asked = oracle.problem(number)
    with InstanceCounter(asked, "exact") as counter:
        found = counter.count(draw_instance(asked, 0, number))
    assert [found.status, found.real, found.complex] == ["complete", *COUNTS[number]]


def has_match(instance):
    """Whether the quadratic equation that is left of D W B = a, D W² B = b has a real root."""
    base = instance.problem.network.base
    D, B, W = (instance.weights[name] for name in "DBW")
    labels = np.linalg.solve(instance.X.T, base.forward(instance.teacher, instance.X).T).T
    after, before = labels.ravel()
    P, Q = np.eye(2), np.eye(2)[::-1]

    def cube(s):
        t = (before - (D @ (W + s * Q) @ B).item()) / (D @ B).item()
        M = W + t * P + s * Q
        return (D @ M @ M @ B).item() - after

    values = [cube(s) for s in (-1.0, 0.0, 1.0)]
    c = values[1]
    a, b = (values[2] + values[0]) / 2 - c, (values[2] - values[0]) / 2
    return b * b - 4 * a * c >= 0


def test_estimates_agree_with_a_quadratic():
    """Each trial of two tied amounts matches if and only if its discriminant is not negative."""
    trials = range(6, 6 + many(16, 4))
    counts = compute_trials(TrialSeries.of(TIED), trials)
    seen = [has_match(draw_instance(TIED, 0, k)) for k in trials]
    assert [c.matches for c in counts] == seen
    assert 0 < sum(seen) < len(seen)


@pytest.mark.parametrize(
    "learnable", [{"W": {"lora": 2}}, {"W": {"tied": [[1, 2], [0, 0]]}}, {"D": {"gain": "columns"}}]
)
def test_updates_that_are_cells(learnable):
    """Updates that are equivalent to cells have the trials of these cells, one by one."""
    cells = {"W": {"lora": 2}, "D": {"gain": "columns"}}
    mask = "all" if learnable.items() <= cells.items() else [[1, 1], [0, 0]]
    plain = Problem(NET, dict.fromkeys(learnable, mask))
    work = [TrialSeries.of(p) for p in (Problem(NET, learnable), plain)]
    found = [[c.outcome for c in compute_trials(w, range(20))] for w in work]
    assert found[0] == found[1]


def test_solutions_reproduce_the_labels():
    """Each solution, put into the updated matrices, gives the teacher's labels."""
    net = LinearRNN(n=2, T=2, b=2, d=1, m=3)
    found = count(Problem(net, {"W": {"lora": 1}}), 3)
    assert found.generic_root_count == 2
    for one in found.instances:
        assert one.status == "complete"
        instance = found.instance(one)
        for solution in one.solutions:
            student = instance.problem.network.after(instance.with_weights(solution))
            assert np.linalg.matrix_rank(student["W"] - instance.weights["W"], tol=1e-9) <= 1
            assert np.allclose(net.forward(student, instance.X), instance.labels)


def test_analytic_labels_agree_with_least_squares():
    """Where least squares from many starts ends at 0, a match is certified, and nowhere else."""
    net = FeedForward(q=2, widths=(2,), d=1, m=2, activation="tanh")
    asked = Problem(net, {"W1": {"gain": "rows"}})
    rng = np.random.default_rng(0)
    for index, one in enumerate(compute_trials(TrialSeries.of(asked), range(3))):
        instance = draw_instance(asked, 0, index)
        network = instance.problem.network

        def errors(g, instance=instance, network=network):
            return (network.forward(instance.with_weights(g), instance.X) - instance.labels).ravel()

        ends = [least_squares(errors, 4 * rng.standard_normal(2), max_nfev=300) for _ in range(8)]
        assert (min(end.cost for end in ends) < 1e-18) == (one.outcome == "matched")


def test_the_teacher_is_of_the_network_itself():
    """The parameters of an instance's teacher change nothing; a student starts at its own weights
    but for the low rank."""
    net = LinearFeedForward(q=3, widths=(2,), d=2, m=2)
    asked = Problem(net, {"W1": {"lora": 1}, "W2": {"gain": "rows"}})
    instance, plain = draw_instance(asked, 3, 5), draw_instance(Problem(net, {}), 3, 5)
    assert np.array_equal(instance.labels, plain.labels)
    moved = instance.problem.network.after(instance.weights)
    assert np.array_equal(moved["W2"], plain.weights["W2"])
    assert np.linalg.matrix_rank(moved["W1"] - plain.weights["W1"]) == 1


def test_more_parameters_than_equations():
    """A match in cells within reach decides a trial; others stay open."""
    found = estimate(Problem(LinearRNN(n=3, T=2, b=1, d=1, m=2), {"W": {"lora": 1}}), 20)
    assert (found.matched, found.undetermined) == (20, 0)
    # Here N of the cells is even, so that no verdict settles trials.
    wide = LinearRNN(n=3, T=3, b=1, d=1, m=2)
    found = estimate(Problem(wide, {"W": {"lora": 1}, "D": {"gain": "columns"}}), 2)
    assert found.unmatched == 0
    assert "MP" in str(found.document())
    assert "critical points" not in str(count(Problem(wide, {"W": {"lora": 1}}), 2).document())


def test_training_and_profiles():
    """Runs end at certified matches; costs are those of the weights that change."""
    found = train(TIED, 9, optimizer="levenberg-marquardt")
    assert 0 < found.found <= found.exists < 9
    for by in MEASURES:
        own = profile(TIED, by=by, trials=9)
        assert own.profiles[0].at(float("inf")).matched == found.exists
    instance = draw_instance(TIED, 0, 0)
    change = profile(TIED, by="change", trials=1).profiles[0].thresholds[0]
    [one] = compute_trials(TrialSeries.of(TIED, complete=True), [0])
    # Each of the two amounts moves two cells of W.
    least = min(np.abs(solution).max() for solution in one.solutions)
    assert change.low <= least <= change.high * (1 + 1e-9)
    assert instance.allocation.size == 2


def test_what_has_no_meaning_is_refused():
    """Bounds on families, condition numbers of low ranks, kinds without a Jacobian: by name."""
    wide = Problem(LinearRNN(n=3, T=2, b=1, d=1, m=2), {"W": {"lora": 1}})
    refuses("more parameters learn by updates", profile, wide, by="size", trials=2)
    low = Problem(LinearRNN(n=2, T=2, b=2, d=1, m=3), {"W": {"lora": 1}})
    refuses("`by` \\('condition'\\)", profile, low, by="condition", trials=2)
    relu = Problem(ShallowReLU(q=2, n=2, d=1, m=2), {"W1": {"gain": "rows"}})
    refuses("updates of a shallow ReLU", estimate, relu, 2)
    with pytest.raises(InputError, match="constraints"):
        Problem(NET, {"W": {"lora": 1}}, constraints={"max_abs": 1})


def test_linear_activations_are_linear():
    """An rnn with linear activation has the trials of the lrnn with the same update."""
    sizes = {"n": 2, "T": 2, "b": 2, "d": 1, "m": 3}
    found = []
    for net in (LinearRNN(**sizes), RNN(**sizes, activation="linear")):
        asked = Problem(net, {"W": {"lora": 1}})
        assert in_parameters(asked).network.is_linear
        found.append([c.real for c in count(asked, 3).instances])
    assert found[0] == found[1]
