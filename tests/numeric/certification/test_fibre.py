"""More weights than equations under constraints: exact programs, certified points."""

import numpy as np
import pytest
from flint import fmpq
from scipy.optimize import linprog

from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.plugins.normalization.network import NormNet
from algebra.problems.constraints import Constraints
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from matchprob.api.estimate import estimate
from numeric.trials.counts import Reason
from numeric.trials.instances import draw_instance, to_rational
from tests.numeric.certification import closed_form
from tests.samples import LONG, NET, many

WHOLE = {"W": [[1, 1], [1, 1]]}


def obeys(problem, counts):
    """Every returned solution lies in the box and, up to rounding, gives the labels."""
    for c in counts:
        instance = draw_instance(problem, 0, c.index)
        for solution in c.solutions:
            exact = to_rational(np.array(solution))
            for cell, value in zip(instance.allocation.cells, exact, strict=True):
                interval = instance.box[cell]
                slack = fmpq(1, 10**12)
                assert interval.low is None or value >= interval.low - slack
                assert interval.high is None or value <= interval.high + slack
            assert instance.residual(instance.with_weights(solution)) < 1e-8


@pytest.mark.parametrize("rules", [{"max_abs": 0.6}, {"max_abs": 2.0, "sign": "keep"}], ids=str)
@pytest.mark.parametrize(
    ("net", "masks"),
    [
        (LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 1], [1, 1, 1]]}),
        (LinearRNN(n=4, T=2, b=2, d=1, m=2), {"B": [[1, 1], [1, 1], [1, 1], [0, 0]]}),
        (LinearFeedForward(q=2, widths=(3,), d=1, m=2), {"W2": [[1, 1, 1]]}),
    ],
    ids=str,
)
def test_affine_labels_are_decided_by_linear_programs(net, masks, rules):
    """Both answers, and those of HiGHS on difference quotients of the network itself."""
    problem = Problem(net, masks, constraints=Constraints(**rules))
    found = estimate(problem, 40 if LONG else 16)
    assert found.undetermined == 0
    obeys(problem, found.counts)
    for c in found.counts:
        instance = draw_instance(problem, 0, c.index)
        r = problem.allocation.size

        def labels(w, instance=instance):
            return problem.network.forward(instance.with_weights(w), instance.X).ravel()

        base = labels(np.zeros(r))
        A = np.array([labels(e) - base for e in np.eye(r)]).T
        bounds = [
            [None if e is None else float(e.p) / float(e.q) for e in (i.low, i.high)]
            for i in instance.box.values()
        ]
        other = linprog(np.zeros(r), A_eq=A, b_eq=instance.labels.ravel() - base, bounds=bounds)
        assert (c.outcome == "matched") == (other.status == 0)
        assert c.reason is (Reason.FOUND_ONE if c.real else Reason.COUNTED)
    assert found.matched
    assert found.unmatched


def test_ends_that_must_be_met_are_met():
    """A box that touches the fibre in one point: exact programs find it."""
    law = Distribution("rademacher", "rademacher", "rademacher")
    net = LinearEstimator(q=2, d=1, m=1)
    problem = Problem(net, {"W": [[1, 1]]}, distribution=law, constraints=Constraints(max_abs=1.0))
    scale = 2.0**-0.5
    tight = Problem(
        net, {"W": [[1, 1]]}, distribution=law, constraints=Constraints(max_abs=scale * (1 - 1e-9))
    )
    one, other = estimate(problem, 40, certify=False), estimate(tight, 40, certify=False)
    assert one.matched == 40
    # Labels of 2^(1/2) need weights of 2^(-1/2) both; labels of 0 need none.
    assert 0 < other.unmatched < 40
    assert other.undetermined == 0


@pytest.mark.parametrize("bound", [0.5, 1.0, 2.0])
def test_a_fibre_of_dimension_two_against_sampling(bound):
    """All four weights of W learn: results for random second rows, with the first by formula."""
    problem = Problem(NET, WHOLE, constraints=Constraints(max_abs=bound))
    found = estimate(problem, many(40))
    obeys(problem, found.counts)
    assert found.unmatched == 0
    rng = np.random.default_rng(0)
    missed = 0
    for c in found.counts:
        instance = draw_instance(problem, 0, c.index)
        f1, f2 = closed_form.products(
            *(instance.teacher[k][None] if k != "D" else instance.teacher[k] for k in ("D", "W")),
            instance.teacher["B"].T,
        )
        size = 100_000 if LONG else 10_000
        W = np.broadcast_to(instance.weights["W"], (size, 2, 2)).copy()
        W[:, 1] = rng.uniform(-bound, bound, (size, 2))
        D = np.broadcast_to(instance.weights["D"], (size, 2))
        B = np.broadcast_to(instance.weights["B"].T, (size, 2))
        rows = closed_form.solutions("row", D, W, B, f1, f2)[:, 0]
        exists = bool((np.abs(rows).max(axis=1) <= bound).any())
        missed += exists and c.outcome != "matched"
    assert found.matched
    assert missed <= 1


@pytest.mark.parametrize(
    "problem",
    [
        Problem(LinearFeedForward(q=2, widths=(3,), d=1, m=2), {"W1": "all", "W2": "all"}),
        Problem(NormNet((2, 2), (4,), 3, "linear"), dict.fromkeys(("g1", "b1", "g2", "b2"), "all")),
        Problem(SequenceRNN(n=3, T=2, b=1, d=1, m=2), {"W": [[1] * 3] * 3}),
        # Samples that depend on each other: fewer equations than labels.
        Problem(LinearRNN(n=2, T=2, b=1, d=1, m=4), WHOLE),
    ],
    ids=str,
)
def test_kinds_with_weights_to_spare(problem):
    """Matches are certified and allowed, for chains of every kind; a wide box always has one."""
    trials = 12 if LONG else 4
    for bound, least in ((1.0, 0), (1e6, trials - 1)):
        rules = Constraints(max_abs=bound)
        bounded = Problem(problem.network, problem.learnable, constraints=rules)
        found = estimate(bounded, trials)
        assert found.unmatched == 0
        assert found.matched >= least
        obeys(bounded, found.counts)
        assert all(c.reason in (Reason.FOUND_ONE, Reason.SEARCHED) for c in found.counts)


def test_contradictory_constraints_match_nothing():
    """An empty interval is a proof."""
    rules = Constraints(max_abs=0.001, max_change=0.001)
    found = estimate(Problem(NET, WHOLE, constraints=rules), 4)
    assert found.unmatched == 4


def test_pinned_weights_stay():
    """With `max_change = 0` a cell keeps its value; the other cells give the match."""
    change = [[float("inf"), float("inf")], [0.0, 0.0]]
    problem = Problem(NET, WHOLE, constraints=Constraints(max_change=change))
    found = estimate(problem, 10)
    assert found.matched >= 9
    for c in found.counts:
        instance = draw_instance(problem, 0, c.index)
        for solution in c.solutions:
            assert solution[2:] == tuple(instance.weights["W"][1])
