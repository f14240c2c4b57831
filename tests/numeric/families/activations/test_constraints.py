"""Constraints on matches of networks with activations, compared with closed forms."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from algebra.problems.intervals import Interval
from matchprob import Constraints, FeedForward, Problem, draw_instance
from numeric.certification.constraints import INSIDE, OUTSIDE, UNCLEAR, _compare_rationals
from numeric.engines.counter import InstanceCounter
from numeric.trials.counts import COMPLETE
from tests.numeric.engines.phcpy.test_engine import need_phcpy

SQUARE = {"polynomial": [0, 0, 1]}


def _one_unit(activation, cells, **rules):
    net = FeedForward(1, (1,), 1, 1, activation=activation)
    return Problem(net, cells, constraints=Constraints(**rules))


def _weights(instance):
    """Student's read-out, teacher's read-out and hidden weight, sample."""
    return (
        float(instance.weights["W2"][0, 0]), float(instance.teacher["W2"][0, 0]),
        float(instance.teacher["W1"][0, 0]), float(instance.X[0, 0]),
    )  # fmt: skip


@pytest.mark.parametrize("engine", ["exact", "phcpy"])
def test_a_square_has_two_matches_of_either_sign(engine):
    """D w² x² = y: w = ± |w'| √(D'/D), compared with a bound and a sign."""
    if engine == "phcpy":
        need_phcpy()
    seen = set()
    for sign, bound in ((None, 1.0), ("+", 1.0), ("-", None)):
        problem = _one_unit(SQUARE, {"W1": [[1]]}, sign=sign, max_abs=bound)
        instances = [draw_instance(problem, 0, k) for k in range(12)]
        with InstanceCounter(problem, engine) as counter:
            counts = counter.count_many(instances)
        for instance, count in zip(instances, counts, strict=True):
            D, teacher, w, _ = _weights(instance)
            size = abs(w) * math.sqrt(teacher / D) if teacher / D > 0 else None
            there = size is not None and (bound is None or size <= bound)
            expected = (2 if sign is None else 1) if there else 0
            assert (count.status, count.real) == (COMPLETE, expected)
            assert all(np.sign(x) in (1 if sign != "-" else -1, -1 if sign != "+" else 1)
                       for (x,) in count.solutions)  # fmt: skip
            seen.add(expected)
    assert seen == {0, 1, 2}


def test_an_analytic_match_outside_is_none():
    """D tanh(w x) = y has at most one solution; where it is outside, no match is allowed."""
    problem = _one_unit("tanh", {"W1": [[1]]}, max_abs=0.5)
    found = {"matched": 0, "unmatched": 0}
    instances = [draw_instance(problem, 0, k) for k in range(25)]
    with InstanceCounter(problem, "newton") as counter:
        counts = counter.count_many(instances)
    for instance, count in zip(instances, counts, strict=True):
        D, teacher, w, x = _weights(instance)
        ratio = teacher * math.tanh(w * x) / D
        obeys = abs(ratio) < 1 and abs(math.atanh(ratio) / x) <= 0.5
        assert count.outcome == ("matched" if obeys else "unmatched")
        found[count.outcome] += 1
    assert min(found.values()) > 3


def test_a_linear_read_out_is_decided():
    """If only the read-out learns, its one value is certain, inside or outside."""
    problem = _one_unit("tanh", {"W2": [[1]]}, max_abs=1.0)
    instances = [draw_instance(problem, 0, k) for k in range(12)]
    with InstanceCounter(problem, "newton") as counter:
        counts = counter.count_many(instances)
    for instance, count in zip(instances, counts, strict=True):
        _, teacher, w, x = _weights(instance)
        value = teacher * math.tanh(w * x) / math.tanh(float(instance.weights["W1"][0, 0]) * x)
        assert (count.status, count.real) == (COMPLETE, int(abs(value) <= 1))
    assert {c.real for c in counts} == {0, 1}


@pytest.mark.parametrize("activation", [SQUARE, "tanh"])
def test_surplus_weights_never_show_that_there_is_no_match(activation):
    """Two weights, one label: surplus weights keep their values, which may prevent a match.

    All of the read-out learns, so no label is out of reach of tanh.
    """
    problem = _one_unit(activation, {"W1": [[1]], "W2": [[1]]}, max_abs=0.7)
    with InstanceCounter(problem) as counter:
        counts = counter.count_many([draw_instance(problem, 0, k) for k in range(12)])
    assert {c.outcome for c in counts} == {"matched", "undetermined"}
    for count in counts:
        assert all(abs(x) <= 0.7 for solution in count.solutions for x in solution)


def test_rational_boxes_against_closed_intervals():
    """Bounds that are met exactly are satisfied; boxes across a bound are undecided."""
    zero, one = fmpq(0), fmpq(1)
    interval = [Interval(zero, one)]
    for low, high, verdict in (
        (zero, one, INSIDE), (one, one, INSIDE), (zero, zero, INSIDE),
        (fmpq(1, 2), fmpq(3, 2), UNCLEAR), (fmpq(-1, 2), zero, UNCLEAR),
        (fmpq(5, 4), fmpq(3, 2), OUTSIDE), (fmpq(-2), fmpq(-1), OUTSIDE),
    ):  # fmt: skip
        ends = tuple(Fraction(int(x.p), int(x.q)) for x in (low, high))
        assert _compare_rationals((ends,), interval) == verdict
