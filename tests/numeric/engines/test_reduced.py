"""Counting of reduced problems: engines agree, solutions are those of the original problem."""

import numpy as np
import pytest

from algebra.problems.reduction import lowered
from matchprob import (
    RNN,
    Distribution,
    FeedForward,
    LinearEstimator,
    LinearRNN,
    NormNet,
    Problem,
    RandomCells,
    draw_instance,
    estimate,
)
from numeric.engines.base import default_engine
from numeric.engines.counter import InstanceCounter
from numeric.studies.trials import TrialSeries
from numeric.trials.instances import reduced
from tests.samples import LONG, many, more

# Two equations of degree 2 remain: N = 2.
BILINEAR = Problem(
    NormNet.square(2, 2, 3, 2, "linear"), {"g1": [[1], [1], [0]], "g3": [[1], [1], [0]]}
)

# Scales, a shift and an ordinary weight of several layers: N = 5.
MIXED = Problem(
    NormNet((1, 3, 3), (2, 3), 3, "linear"),
    {
        "g1": [[1], [0]], "g2": [[0], [1], [1]], "b3": [[0], [1], [0]], "g4": [[0], [0], [1]],
        "W4": [[1, 0, 0], [0, 0, 0], [0, 0, 0]],
    },
)  # fmt: skip


def draws(problem, count=6, seed=0):
    """The first instances of a problem."""
    return [draw_instance(problem, seed, k) for k in range(count)]


def test_the_problem_that_a_counter_solves():
    """A linear normalization network is lowered; a problem without a reduction is unchanged."""
    plain = Problem(LinearEstimator(2, 1, 1), {"W": [[1, 0]]})
    assert InstanceCounter(plain).problem is plain
    assert InstanceCounter(BILINEAR).problem.network == BILINEAR.network.lower()
    assert default_engine(BILINEAR.network) == "homotopy"


@pytest.mark.parametrize("zeros", [{"W1": [[1, 0], [1, 0]]}, {"W2": [[1, 1], [0, 0]]}])
def test_structural_zeros_of_a_network_with_a_linear_activation(zeros):
    """They are the teacher's too: labels have no larger dimension than the student's."""
    net = FeedForward(2, (2,), 2, 3, activation="linear")
    found = estimate(Problem(net, {"W1": "all", "W2": "all"}, support=zeros), 5)
    assert found.matched == 5


@pytest.mark.parametrize("scale", [1000, "1/1000"])
def test_a_large_scale_of_a_network_with_a_linear_activation(scale):
    """Both reductions are made: all trials have the outcomes of the linear network."""
    masks = {"W": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}
    laws = Distribution(scale={"W": scale})
    found, plain = (
        estimate(Problem(net, masks, distribution=laws), 6)
        for net in (RNN(3, 4, 1, 1, 4, activation="linear"), LinearRNN(3, 4, 1, 1, 4))
    )
    assert [c.outcome for c in found.counts] == [c.outcome for c in plain.counts]
    assert not found.undetermined
    assert found.matched < 6


def test_lowered_instance_has_the_same_labels():
    """Augmented weights give the student's labels; the embedded teacher gives the teacher's."""
    problem = Problem(NormNet((2, 3, 2), (4, 4), 3, "linear"), {"g1": "all"})
    instance = draw_instance(problem, 1, 0)
    inner = reduced(instance, lowered(problem))
    network = inner.problem.network
    student = problem.network.forward(instance.weights, instance.X)
    assert np.allclose(network.forward(inner.weights, inner.X), student)
    assert np.allclose(network.forward(inner.teacher, inner.X), instance.labels)
    assert np.array_equal(inner.labels, instance.labels)
    assert (inner.exact[2] == instance.exact[2]).all()


@pytest.mark.parametrize(
    ("problem", "root_count", "count"), [(BILINEAR, 2, many(8)), (MIXED, 5, many(5))]
)
def test_engines_agree_on_a_lowered_network(problem, root_count, count):
    """Path tracking and exact solution count alike; each solution reproduces the labels."""
    instances = draws(problem, count)
    with InstanceCounter(problem) as tracked, InstanceCounter(problem, "exact") as exact:
        assert (tracked.name, exact.name) == ("homotopy", "exact")
        assert tracked.plan(problem.allocation).root_count == root_count
        first, second = tracked.count_many(instances), exact.count_many(instances)
    assert [c.real for c in first] == [c.real for c in second]
    assert {c.complex for c in first} == {root_count}
    for instance, count in zip(instances, first, strict=True):
        for solution in count.solutions:
            assert instance.residual(instance.with_weights(solution)) < 1e-9


def test_solutions_have_the_order_of_the_allocation():
    """A solution for scales, shifts and weights of several layers reproduces the labels."""
    problem = Problem(
        NormNet.square(2, 1, 3, 3, "linear"),
        {"g1": [[0], [1], [1]], "b2": "all", "W2": [[1, 0, 0], [0, 1, 0]]},
    )
    instance = draw_instance(problem, 0, 2)
    with InstanceCounter(problem) as counter:
        found = counter.count(instance)
    assert found.status == "complete"
    for solution in found.solutions:
        assert instance.residual(instance.with_weights(solution)) < 1e-9


@pytest.mark.parametrize("certify", [True, False])
def test_minimal_by_rank_and_by_solving(certify):
    """A net too narrow for its target has no solution, by verdict and by exact solution."""
    problem = Problem(NormNet((2, 2), (1,), 3, "linear"), {"g1": "all", "g2": "all", "b2": "all"})
    with InstanceCounter(problem, certify=certify, complete=not certify) as counter:
        found = counter.count_many(draws(problem, 3))
        assert counter.plan(problem.allocation).root_count == 0
    assert [(c.real, c.status) for c in found] == [(0, "complete")] * 3


def test_drawn_allocations_are_lowered():
    """Each trial's own allocation of a normalization network is lowered, and matches."""
    problem = Problem(NormNet.square(2, 1, 4, 2, "linear"), {"g1": RandomCells(2), "b2": "all"})
    with InstanceCounter(problem, complete=False) as counter:
        found = counter.count_many(draws(problem, 5))
    assert {c.outcome for c in found} == {"matched"}


def test_trial_series_make_counters_of_reduced_problems():
    """The counter of a series has the plan of the reduced problem; a copy has the same key."""
    series = TrialSeries.of(BILINEAR)
    assert series.counter().plan(BILINEAR.allocation).root_count == 2
    assert TrialSeries.from_dict(series.to_dict()).key == series.key


def test_solutions_include_surplus_weights():
    """A match found with surplus weights fixed has values of all learnable weights."""
    problem = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": "all"})
    found = []
    with InstanceCounter(problem) as counter:
        for instance in draws(problem, 8):
            count = counter.count(instance)
            found += [(instance, s) for s in count.solutions]
            assert count.real == (len(count.solutions) or None)
    assert found
    for instance, solution in found:
        assert instance.residual(instance.with_weights(solution)) < 1e-9


def _real_counts(net, scale, engine=None, trials=10):
    """The real solutions of some trials if W, whose cells learn, has this scale."""
    W = np.zeros((4, 4), int)
    W[[0, 1, 3][: net.m], [0, 2, 1][: net.m]] = 1
    problem = Problem(net, {"W": W.tolist()}, distribution=Distribution(scale={"W": scale}))
    found = estimate(problem, trials, complete=True, engine=engine)
    return [count.real for count in found.counts]


@pytest.mark.parametrize("scale", [10**6, "1/100000"])
def test_the_scale_of_a_recurrence_changes_no_count(scale):
    """With as many samples as inputs each D W^k B is known, so W is a multiple."""
    net = LinearRNN(n=4, T=3, b=1, d=1, m=3)
    assert _real_counts(net, scale) == _real_counts(net, 1)


@pytest.mark.parametrize("scale", more("1/500", 3_000))
def test_few_samples_of_a_large_recurrence(scale):
    """The same counts as by elimination over the rationals, in the unit of the problem."""
    net = LinearRNN(n=4, T=4, b=1, d=1, m=2)
    trials = 10 if LONG else 4
    found = _real_counts(net, scale, trials=trials)
    assert None not in found
    assert found == _real_counts(net, scale, "exact", trials)


def test_exact_weights_have_the_unit_of_their_recurrence():
    """A fixed weight of W that is an exact number: 1/2 at scale 1 is 50,000 at scale 100,000."""
    net, found = LinearRNN(n=3, T=3, b=1, d=1, m=3), []
    for scale, weight in ((1, "1/2"), (10**5, "50000")):
        given = {"W": [["", weight, ""], ["", "", ""], ["", "", ""]]}
        law = Distribution(scale={"W": scale})
        problem = Problem(net, {"W": np.eye(3, dtype=int)}, values=given, distribution=law)
        counted = estimate(problem, 12, complete=True)
        found.append([count.real for count in counted.counts])
    assert found[0] == found[1]
    assert None not in found[0]
