"""Counting on normalization networks: engines agree, solutions are solutions, verdicts hold."""

import numpy as np
import pytest

from algebra.errors import InputError
from algebra.networks.linear import LinearEstimator
from algebra.networks.normalization import NormNet
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from numeric.engines.base import default_engine
from numeric.engines.counter import InstanceCounter
from numeric.engines.normalization import (
    LoweredCounter,
    lower_instance,
    make_counter,
)
from numeric.engines.relu_exact import realize_instance
from numeric.instances import draw_instance
from numeric.studies.trials import Work

# Two equations of degree 2 are left: N = 2.
BILINEAR = Problem(
    NormNet.square(2, 2, 3, 2, "linear"), {"g1": [[1], [1], [0]], "g3": [[1], [1], [0]]}
)
EVERYTHING = {"g1": "all", "g2": "all", "b1": "all", "b2": "all"}


def draws(problem, count=6, seed=0):
    """The first instances of a problem."""
    return [draw_instance(problem, seed, k) for k in range(count)]


def test_kinds_of_counters():
    """Each network gets its counter and its default engine."""
    plain = Problem(LinearEstimator(2, 1, 1), {"W": [[1, 0]]})
    assert type(make_counter(plain)) is InstanceCounter
    assert type(make_counter(BILINEAR)) is LoweredCounter
    relu = Problem(NormNet.square(2, 1, 3, 3), EVERYTHING)
    assert type(make_counter(relu)) is InstanceCounter
    assert default_engine(relu.network) == "relu-exact"
    assert default_engine(BILINEAR.network) == "homotopy"
    with pytest.raises(InputError, match="take one of relu-exact"):
        make_counter(relu, "homotopy")


def test_lowered_instance_has_the_same_labels():
    """Augmented weights give the student's labels; the embedded teacher gives the teacher's."""
    problem = Problem(NormNet((2, 3, 2), (4, 4), 3, "linear"), {"g1": "all"})
    instance = draw_instance(problem, 1, 0)
    with make_counter(problem) as counter:
        lowered = lower_instance(instance, counter.problem)
    network = lowered.problem.network
    student = problem.network.forward(instance.weights, instance.X)
    assert np.allclose(network.forward(lowered.weights, lowered.X), student)
    assert np.allclose(network.forward(lowered.teacher, lowered.X), instance.labels)
    assert np.array_equal(lowered.labels, instance.labels)
    assert (lowered.exact[2] == instance.exact[2]).all()


def test_engines_agree_and_solutions_solve():
    """Path tracking and exact solving count alike; each solution reproduces the labels."""
    instances = draws(BILINEAR)
    with make_counter(BILINEAR) as tracked, make_counter(BILINEAR, "exact") as exact:
        assert tracked.plan(BILINEAR.allocation).root_count == 2
        first, second = tracked.count_many(instances), exact.count_many(instances)
    assert [c.real for c in first] == [c.real for c in second]
    assert {c.complex for c in first} == {2}
    for instance, count in zip(instances, first, strict=True):
        for solution in count.solutions:
            assert instance.residual(instance.with_weights(solution)) < 1e-9


def test_solutions_come_in_the_allocation_s_order():
    """Scales, shifts and weights of several layers are told apart."""
    problem = Problem(
        NormNet.square(2, 1, 3, 3, "linear"),
        {"g1": [[0], [1], [1]], "b2": "all", "W2": [[1, 0, 0], [0, 1, 0]]},
    )
    instance = draw_instance(problem, 0, 2)
    with make_counter(problem) as counter:
        found = counter.count(instance)
    assert found.status == "complete"
    for solution in found.solutions:
        assert instance.residual(instance.with_weights(solution)) < 1e-9


@pytest.mark.parametrize("certify", [True, False])
def test_minimal_by_rank_and_by_solving(certify):
    """A net too narrow for its target has no solution, by verdict and by exact solving."""
    problem = Problem(NormNet((2, 2), (1,), 3, "linear"), {"g1": "all", "g2": "all", "b2": "all"})
    with make_counter(problem, certify=certify, complete=not certify) as counter:
        found = counter.count_many(draws(problem, 3))
        assert counter.plan(problem.allocation).root_count == 0
    assert [(c.real, c.status) for c in found] == [(0, "complete")] * 3


def test_random_allocations():
    """An allocation drawn anew for each trial is lowered each time."""
    problem = Problem(NormNet.square(2, 1, 4, 2, "linear"), {"g1": RandomCells(2), "b2": "all"})
    with make_counter(problem, complete=False) as counter:
        found = counter.count_many(draws(problem, 5))
    assert {c.outcome for c in found} == {"matched"}


def test_relu_construction_agrees_with_the_verdict():
    """Instances of a maximal ReLU allocation are realized exactly, each of them."""
    problem = Problem(NormNet((2, 2, 2), (3, 4), 3), {
        **{f"g{k}": "all" for k in (1, 2, 3)}, **{f"b{k}": "all" for k in (1, 2, 3, 4)},
    })  # fmt: skip
    for instance in draws(problem, 5):
        student, note = realize_instance(instance)
        assert student is not None, note
    with make_counter(problem) as counter:
        assert {c.outcome for c in counter.count_many(draws(problem, 3))} == {"matched"}
    with make_counter(problem, certify=False) as counter:
        assert {c.certified for c in counter.count_many(draws(problem, 3))} == {1}


def test_relu_between_the_verdicts():
    """One hidden layer: each instance is decided exactly; a short time limit leaves it open."""
    few = Problem(NormNet.square(3, 1, 4, 4), {"g1": "all", "g2": "all"})
    with make_counter(few) as counter:
        assert {c.outcome for c in counter.count_many(draws(few, 2))} == {"unmatched"}
    between = Problem(NormNet.square(2, 1, 3, 3), {"g1": "all", "b1": "all", "b2": "all"})
    with make_counter(between) as counter:
        found = counter.count_many(draws(between, 4))
    assert {c.outcome for c in found} == {"matched", "unmatched"}
    assert {c.status for c in found if not c.real} == {"complete"}
    with make_counter(between, timeout=1e-9) as counter:
        assert counter.count(draws(between, 1)[0]).outcome == "undetermined"


def test_relu_undetermined():
    """Two hidden layers below the width, or products of weights: undetermined, with the reason."""
    names = ("g1", "b1", "b2", "g3", "b3", "b4")
    deep = Problem(NormNet.square(2, 2, 3, 3), dict.fromkeys(names, "all"))
    both = Problem(NormNet.square(2, 1, 3, 3), {"W1": "all", "W2": "all"})
    for problem, words in ((deep, "proves nothing"), (both, "to learn")):
        with make_counter(problem) as counter:
            found = counter.count_many(draws(problem, 2))
        assert {c.outcome for c in found} == {"undetermined"}
        assert words in found[0].note


def test_silent_samples_are_realized():
    """Where the target's units are silent on some samples the construction still matches."""
    problem = Problem(NormNet((1, 1, 1), (1, 1), 2), {f"{x}{k}": "all" for x in "gb"
                                                    for k in (1, 2, 3, 4)})  # fmt: skip
    seen = set()
    for instance in draws(problem, 12):
        hidden = instance.teacher["T1"] @ instance.X + instance.teacher["t1"]
        seen.add(int((hidden > 0).sum()))
        assert realize_instance(instance)[0] is not None
    assert seen == {0, 1, 2}


def test_work_makes_the_right_counter():
    """Trials by worker processes use the same counters."""
    work = Work.of(BILINEAR)
    assert isinstance(work.counter(), LoweredCounter)
    assert Work.from_dict(work.to_dict()).key == work.key
