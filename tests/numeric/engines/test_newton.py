"""The engine `newton` for networks with activations: lower bounds, compared with exact counts."""

import pytest

import matchprob as mp
from numeric.trials.counts import Reason
from tests.refusals import refuses
from tests.samples import LONG

_MASK = {"W1": [[1, 0], [1, 1], [0, 0]]}


@pytest.mark.usefixtures("msolve")
def test_newton_finds_solutions_of_the_exact_count():
    """With a polynomial activation every certified solution is one of the exact count's."""
    problem = mp.Problem(mp.FeedForward(2, (3,), 1, 3, activation={"polynomial": [0, 1, 1]}), _MASK)
    few = 6 if LONG else 3
    exact = mp.count(problem, instances=few, engine="exact")
    found = mp.count(problem, instances=few, engine="newton")
    for sure, bound in zip(exact.instances, found.instances, strict=True):
        assert sure.status == "complete"
        assert bound.status == "undetermined"
        assert bound.real <= sure.real
        for solution in bound.solutions:
            assert any(solution == pytest.approx(other, rel=1e-6) for other in sure.solutions)
    assert any(bound.real for bound in found.instances)


@pytest.mark.usefixtures("msolve")
def test_polynomial_activations_are_counted_exactly_by_default():
    """The default engine finds all N = 6 roots; the number of real ones is even."""
    problem = mp.Problem(mp.FeedForward(2, (3,), 1, 3, activation={"polynomial": [0, 1, 1]}), _MASK)
    found = mp.count(problem, instances=4)
    assert found.engine == "exact"
    assert found.generic_root_count == 6
    assert all(c.status == "complete" and c.real % 2 == 0 for c in found.instances)


def test_linear_activations_are_counted_as_linear_networks():
    """The engine is homotopy, and each trial has the count of the linear kind."""
    sizes = {"n": 2, "T": 2, "b": 1, "d": 1, "m": 2}
    mask = {"W": [[1, 0], [0, 1]]}
    one = mp.count(mp.Problem(mp.RNN(**sizes, activation="linear"), mask), instances=5)
    other = mp.count(mp.Problem(mp.LinearRNN(**sizes), mask), instances=5)
    assert one.engine == other.engine == "homotopy"
    assert [c.real for c in one.instances] == [c.real for c in other.instances]


def test_few_weights_are_decided_both_ways():
    """Up to four weights, as many as labels: matched or unmatched, and counted completely."""
    problem = mp.Problem(
        mp.RNN(3, 2, 2, 1, 2, activation="tanh"), {"W": [[1, 0, 0], [0, 1, 0], [0] * 3]}
    )
    trials = 40 if LONG else 8
    found = mp.estimate(problem, trials=trials)
    assert found.matched + found.unmatched == trials
    assert found.matched > 0 < found.unmatched
    counts = mp.count(problem, instances=trials // 2).instances
    assert {c.reason for c in counts} == {Reason.COUNTED}
    for trial, count in zip(found.counts, counts, strict=False):
        assert (trial.outcome == "matched") == (count.real > 0)


def test_more_weights_are_never_unmatched_by_a_search():
    """Of five weights a trial is matched if a solution is found, otherwise undetermined.

    The read-out learns too, so no label is out of reach.
    """
    problem = mp.Problem(
        mp.FeedForward(5, (2,), 1, 5, activation="tanh"),
        {"W1": [[1, 1, 1, 0, 0], [1, 0, 0, 0, 0]], "W2": [[1, 0]]},
    )
    found = mp.estimate(problem, trials=3)
    assert found.unmatched == 0
    assert found.interval().high == 1
    assert {c.reason for c in found.counts} <= {Reason.FOUND_ONE, Reason.SEARCHED}


def test_verdicts_settle_trials():
    """Trials of a maximal allocation (only the read-out learns) match, of a minimal one do not."""
    net = mp.FeedForward(2, (3,), 1, 3, activation="tanh")
    alone = mp.estimate(mp.Problem(net, {"W2": [[1, 1, 1]]}), trials=10)
    assert alone.matched == 10
    none = mp.estimate(mp.Problem(net, {"W1": [[1, 1], [0, 0], [0, 0]]}), trials=10)
    assert none.unmatched == 10
    solved = mp.count(mp.Problem(net, {"W2": [[1, 1, 1]]}), instances=2)
    assert [(c.status, c.real) for c in solved.instances] == [("complete", 1)] * 2


def test_other_engines_refuse():
    """Other engines refuse tanh; the error names the engine `newton`."""
    problem = mp.Problem(mp.RNN(2, 2, 1, 1, 2, activation="tanh"), {"W": [[1, 0], [0, 1]]})
    for engine in ("homotopy", "exact", "multistart"):
        refuses("newton", mp.count, problem, instances=1, engine=engine)
