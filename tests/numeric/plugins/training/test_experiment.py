"""Training and counts: only certified endpoints count as matches."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from algebra.errors import InputError
from algebra.networks.rnn import RNN
from algebra.plugins.normalization.network import NormNet
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.constraints import Constraints
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from numeric.plugins.relu.decide import decide
from numeric.plugins.training.arrival import ChainArrivals, ReluArrivals, arrivals_of
from numeric.plugins.training.experiment import (
    Experiment,
    Trained,
    TrainingSettings,
    TrainResult,
)
from numeric.studies.study import Study
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount
from numeric.trials.instances import draw_instance
from tests.samples import DIAGONAL, LONG, NET, ROW

OVER = Problem(NET, {"W": [[1, 1], [1, 0]]})
RELU = Problem(ShallowReLU(q=3, n=4, d=2, m=3), {"W1": [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0] * 3]})


def counts(problem, trials, **settings):
    with Study(problem, **settings) as study:
        return study.run(trials).counts


def result(problem, trials, settings=None, **more):
    settings = settings or TrainingSettings("levenberg-marquardt", restarts=2)
    known = counts(problem, trials, **({"complete": True} | more))
    done = tuple(Experiment(problem, 0, settings).run(known))
    return TrainResult(problem, settings, 0, done, trials), known


def test_training_finds_only_existing_matches():
    """Levenberg-Marquardt with restarts misses at most two matches, and finds no false one."""
    found, known = result(DIAGONAL, 60)
    assert found.exists == sum(c.outcome == "matched" for c in known)
    assert found.exists - found.found <= 2
    for trained, count in zip(found.trained, known, strict=True):
        assert trained.matches == count.real
        assert not trained.found or trained.is_smallest is not None
        assert trained.found is False or trained.exists
    # Without a match none is found, even if the error is small.
    assert all(not t.found for t in found.trained if t.exists is False)
    assert found.false_matches == sum(t.is_below for t in found.trained if t.exists is False) > 0


def test_ends_far_from_a_match_are_no_arrivals():
    """An end near a match is an arrival; one far away is none, even if Newton converges."""
    count = next(c for c in counts(DIAGONAL, 20, complete=True) if c.real == 2)
    instance = draw_instance(DIAGONAL, 0, count.index)
    arriving = ChainArrivals(DIAGONAL.allocation, DIAGONAL.allocation, {})
    known = arriving.known(instance, count.solutions)
    one, other = (np.array(s) for s in count.solutions)
    for number, solution in enumerate((one, other)):
        end = solution * (1 + 1e-3)
        assert arriving.arrival(instance, end, known).number == number
    # On the line through both the first equation holds and Newton's first steps only halve the
    # distance: it converges, but the solution was not found by the run.
    for t in (-30.0, -3.0, 0.45, 4.0, 50.0):
        assert arriving.arrival(instance, one + t * (other - one), known) is None
    assert arriving.arrival(instance, np.array([np.nan, 0.0]), known) is None


def test_a_match_against_a_complete_count_is_an_error():
    """A certified match of an instance that is recorded as having none raises an error."""
    known = counts(ROW, 4, complete=True)
    wrong = [replace(c, real=0, solutions=()) for c in known]
    assert all(c.status == COMPLETE for c in known)
    with pytest.raises(ArithmeticError, match="a certified match"):
        list(Experiment(ROW, 0, TrainingSettings("levenberg-marquardt", restarts=4)).run(wrong))


def test_a_match_that_was_found_exists():
    """A trial that the count leaves undecided is matched if training finds a certified match."""
    open_ = [InstanceCount(k, None, None, UNDETERMINED) for k in range(12)]
    settings = TrainingSettings("levenberg-marquardt", restarts=4)
    done = list(Experiment(ROW, 0, settings).run(open_))
    assert {t.exists for t in done} == {True, None}
    assert all(t.found == (t.exists is True) for t in done)
    assert all(t.matches is None and t.size is None for t in done)


def test_training_more_weights_than_equations():
    """Nearly all of 25 trials, which all match, are found: ends are certified on the curves."""
    found, _ = result(OVER, 25, complete=False)
    assert found.exists == 25
    assert found.found >= 23


def test_relu_arrivals_have_witnesses():
    """An instance with an arrival is decided to have a match; a witness is an arrival."""
    trials = 30
    found, _ = result(RELU, trials, complete=False)
    assert 0 < found.found <= found.exists < trials
    for t in found.trained:
        if t.found:
            assert decide(draw_instance(RELU, 0, t.index)).verdict == "match"
    matched = next(t for t in found.trained if t.exists)
    instance = draw_instance(RELU, 0, matched.index)
    witness = np.array([int(v.p) / int(v.q) for v in decide(instance).witness])
    assert np.allclose(ReluArrivals().arrival(instance, witness).weights, witness)


@pytest.mark.parametrize("activation", ["tanh", {"polynomial": [0, 1, 1]}], ids=str)
def test_training_networks_with_activations(activation):
    """An arrival reproduces the labels, also with more weights than equations; bounds hold."""
    net = RNN(n=2, T=2, b=1, d=1, m=2, activation=activation)
    for mask in ([[1, 1], [0, 0]], [[1, 1], [1, 0]]):
        problem = Problem(net, {"W": mask})
        settings = TrainingSettings("levenberg-marquardt", restarts=2)
        known = counts(problem, 8 if LONG else 4, engine="newton")
        ends = {t.index: t for t in Experiment(problem, 0, settings).run(known)}
        assert any(t.found for t in ends.values())
        assert all(t.exists for t in ends.values() if t.found)
    allocation = problem.allocation
    arriving = arrivals_of(problem, allocation)
    instance = draw_instance(problem, 0, 1)
    teacher = np.array([instance.teacher[name][i, j] for name, i, j in allocation.cells])
    own = replace(instance, weights=dict(instance.teacher))
    match = own.with_weights(arriving.arrival(own, teacher + 1e-5).weights)
    assert np.allclose(net.forward(match, own.X), own.labels, rtol=1e-12)
    assert arriving.arrival(own, teacher + np.inf) is None
    tight = replace(problem, constraints=Constraints(max_abs=1e-6))
    bound = replace(draw_instance(tight, 0, 1), weights=dict(instance.teacher))
    assert arrivals_of(tight, allocation).arrival(bound, teacher) is None


def test_a_minimal_allocation_has_no_arrivals():
    """For a minimal allocation no arrivals are computed."""
    problem = Problem(RNN(n=2, T=2, b=1, d=1, m=2, activation="tanh"), {"W": [[1, 0], [0, 0]]})
    assert arrivals_of(problem, problem.allocation) is None


def test_networks_without_arrivals_are_refused():
    """The message names the network in one line."""
    net = NormNet(widths=(2, 2), hidden=(3,), m=2, activation="relu")
    with pytest.raises(InputError, match=r"not a .*normalization"):
        Experiment(Problem(net, {"g1": "all"}), 0, TrainingSettings())


def test_training_drawn_allocations():
    """Students of one batch have different allocations; at most three matches are missed."""
    problem = Problem(NET, {"W": RandomCells(budget=2, rows=2)})
    found, _ = result(problem, 25)
    one = {draw_instance(problem, 0, k).allocation for k in range(25)}
    assert len(one) > 1
    assert found.exists - found.found <= 3


def test_matches_that_break_constraints_are_not_found():
    """Under a bound fewer matches are found, and only trials with a match inside it."""
    free, _ = result(DIAGONAL, 50)
    rules = Constraints(max_abs=1.0)
    bound, _ = result(replace(DIAGONAL, constraints=rules), 50)
    assert 0 < bound.found < free.found
    assert bound.found <= bound.exists
    for t, u in zip(bound.trained, free.trained, strict=True):
        assert not t.found or u.size <= 1.0


def _trained(exists, found):
    return Trained(0, exists, found, 0 if found else None, 1, 1.0, 1.0, 1.0)


def test_open_trials_widen_the_interval():
    """The lower end counts them as missed matches, the upper end leaves them out.

    Without open trials the interval is that of Clopper and Pearson.
    """
    done = [_trained(True, True)] * 6 + [_trained(True, False)] * 4 + [_trained(False, False)] * 5
    found = TrainResult(ROW, TrainingSettings(), 0, tuple(done), 15)
    share = found.found_given_exists
    exact = binomtest(6, 10).proportion_ci(0.95, "exact")
    assert share.estimate == 0.6
    assert np.allclose([share.interval.low, share.interval.high], [exact.low, exact.high])
    more = replace(found, trained=(*done, *[_trained(None, False)] * 3))
    wide = more.found_given_exists.interval
    assert np.isclose(wide.low, binomtest(6, 13).proportion_ci(0.95, "exact").low)
    assert np.isclose(wide.high, exact.high)
    assert replace(found, trained=()).found_given_exists.estimate is None


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"optimizer": "newton"}, "one of"),
        ({"rate": -1.0}, "positive"),
        ({"rate": float("nan")}, "positive"),
        ({"optimizer": "levenberg-marquardt", "rate": 0.1}, "takes no rate"),
        ({"restarts": -1}, "restarts"),
        ({"steps": 2.5}, "steps"),
    ],
)
def test_bad_settings_are_refused(given, word):
    """Unknown optimizers, bad rates, restarts and steps are refused by name."""
    with pytest.raises(InputError, match=word):
        TrainingSettings(**given)
