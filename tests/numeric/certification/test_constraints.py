"""Matches under constraints: counts compared with closed forms, and general laws."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.errors import InputError
from algebra.networks.feedforward import LinearEstimator
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.normalization.network import NormNet
from algebra.problems.constraints import Constraints
from algebra.problems.intervals import Interval
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from matchprob.api.estimate import compare, count, estimate
from numeric.certification.constraints import ConstrainedCounts, box_of
from numeric.engines.base import EngineInfo, engine, unregister
from numeric.engines.counter import InstanceCounter
from numeric.engines.phcpy.install import find_phcpy
from numeric.trials.counts import InstanceCount, Reason
from numeric.trials.instances import draw_instance
from tests.numeric.certification import closed_form
from tests.samples import LONG, many

# Trials of the closed form, and the error of a share of them, but for one case in a million.
DRAWN = 1_000_000 if LONG else 250_000
ERROR = 2.5 / DRAWN**0.5

B11 = LinearRNN(n=2, T=2, b=1, d=1, m=2)
KINDS = (
    {"max_abs": 3.0},
    {"max_abs": 1.0},
    {"max_change": 1.0},
    {"sign": "keep"},
    {"sign": "+"},
    {"sign": "-"},
    {"max_abs": 2.0, "max_change": 2.5, "sign": "keep"},
)


def b11(name, **rules):
    return Problem(B11, {"W": closed_form.MASKS[name]}, constraints=Constraints(**rules))


def by_formula(problem, name, trials, rules, seed=0):
    """Whether the first trials match, and whether rounding leaves no doubt of it."""
    drawn = [draw_instance(problem, seed, k) for k in range(trials)]
    D, W = (np.array([i.weights[k] for i in drawn]) for k in ("D", "W"))
    B = np.array([i.weights["B"][:, 0] for i in drawn])
    teachers = [np.array([i.teacher[k] for i in drawn]) for k in ("D", "W", "B")]
    D = D[:, 0]
    f1, f2 = closed_form.products(teachers[0][:, 0], teachers[1], teachers[2][:, :, 0])
    found = closed_form.solutions(name, D, W, B, f1, f2)
    space = closed_form.margins(found, closed_form.learnable(name, W), **rules)
    return (space >= 0).any(axis=1), (np.abs(space) > 1e-9).all(axis=1)


@pytest.mark.parametrize("rules", KINDS, ids=str)
@pytest.mark.parametrize("name", closed_form.MASKS)
def test_closed_form_trial_by_trial(name, rules):
    """Each trial of the smallest nets is decided as by the quadratic formula."""
    problem = b11(name, **rules)
    trials = many(75)
    expected, clear = by_formula(problem, name, trials, rules)
    found = estimate(problem, trials)
    assert found.undetermined == 0
    outcomes = np.array([c.outcome == "matched" for c in found.counts])
    assert (outcomes == expected)[clear].all()
    assert clear.sum() > 0.96 * trials


@cache
def draws():
    return closed_form.draw(DRAWN, 7)


@cache
def million(name):
    """All matches of many trials, and the students' W."""
    D, W, B, f1, f2 = draws()
    return closed_form.solutions(name, D, W, B, f1, f2), W


@pytest.mark.parametrize(
    ("name", "rules", "value"),
    [
        ("diagonal", {"max_abs": 3.0}, 0.53),
        ("off-diagonal", {"max_abs": 1.0}, 0.20),
        ("row", {"max_abs": 1.0}, 0.249),
        ("diagonal", {"max_change": 1.0}, None),
        ("row", {"sign": "+"}, None),
        *(
            # Trial by trial they are compared with the closed form above.
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                ("off-diagonal", {"max_abs": 3.0}, 0.55),
                ("row", {"max_abs": 3.0}, 0.554),
                ("diagonal", {"max_abs": 1.0}, 0.24),
                ("off-diagonal", {"sign": "keep"}, None),
            )
        ),
    ],
    ids=str,
)
def test_estimates_agree_with_a_million_trials(name, rules, value):
    """The interval of an estimate holds the share of 10^6 trials of the closed form.

    In a quick run a quarter of them.
    """
    found, W = million(name)
    space = closed_form.margins(found, closed_form.learnable(name, W), **rules)
    share = float((space >= 0).any(axis=1).mean())
    if value is not None:
        assert share == pytest.approx(value, abs=0.006)
    interval = estimate(b11(name, **rules), 200, seed=3, confidence=0.9999).interval()
    assert interval.low - ERROR <= share <= interval.high + ERROR


@pytest.mark.parametrize("engine", ["exact", "phcpy", "multistart"])
def test_engines_agree(engine):
    """Other engines' solutions are checked for the constraints, with the same results."""
    if engine == "phcpy":
        try:
            find_phcpy()
        except InputError:
            pytest.skip("phcpy is not installed")
    for name in ("diagonal", "row"):
        problem = b11(name, max_abs=3.0, sign="keep")
        ours = estimate(problem, many(25))
        theirs = estimate(problem, many(25), engine=engine)
        for a, b in zip(ours.counts, theirs.counts, strict=True):
            if engine == "multistart":
                assert a.real >= (b.real or 0)
            else:
                assert (a.real, a.complex, a.status) == (b.real, b.complex, b.status)


@settings(max_examples=8, deadline=None)
@given(
    name=st.sampled_from(sorted(closed_form.MASKS)),
    key=st.sampled_from(["max_abs", "max_change"]),
    bounds=st.tuples(st.floats(0, 5), st.floats(0, 5)),
    sign=st.sampled_from([None, "keep", "+"]),
)
def test_tighter_never_matches_more(name, key, bounds, sign):
    """Trial by trial: matches under tight constraints are matches under looser ones."""
    low, high = sorted(bounds)
    instances = [draw_instance(b11(name), 5, k) for k in range(20 if LONG else 4)]
    kept = []
    for rules in ({key: low, "sign": sign}, {key: high, "sign": sign}, {"sign": sign}, {}):
        problem = b11(name, **rules)
        with InstanceCounter(problem) as counter:
            kept.append(counter.count_many([replace(i, problem=problem) for i in instances]))
    for tight, loose in pairwise(kept):
        for a, b in zip(tight, loose, strict=True):
            assert a.outcome != "undetermined"
            assert a.real <= b.real


def test_a_huge_bound_is_none():
    """`max_abs = 1e9` gives the unconstrained counts, trial by trial, if all are complete."""
    net = LinearRNN(n=4, T=2, b=2, d=2, m=4)
    masks = {"W": [[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 0]]}
    free = count(Problem(net, masks), 10)
    bound = count(Problem(net, masks, constraints=Constraints(max_abs=1e9)), 10)
    assert free.generic_root_count == bound.generic_root_count > 2
    for a, b in zip(free.instances, bound.instances, strict=True):
        assert (a.real, a.complex, a.status) == (b.real, b.complex, "complete")
        np.testing.assert_allclose(a.solutions, b.solutions, rtol=1e-9)
    infinite = Problem(net, masks, constraints=Constraints(max_abs={"W": float("inf")}))
    assert [c.real for c in count(infinite, 10)] == [c.real for c in free]


def test_solutions_are_those_that_obey():
    """The solutions of a constrained count are the unconstrained ones inside the bounds."""
    free, bound = b11("diagonal"), b11("diagonal", max_abs=2.0)
    with InstanceCounter(free) as a, InstanceCounter(bound) as b:
        wholes = [a.count(draw_instance(free, 1, k)) for k in range(30)]
        parts = [b.count(draw_instance(bound, 1, k)) for k in range(30)]
    found = 0
    for whole, part in zip(wholes, parts, strict=True):
        inside = [s for s in whole.solutions if max(map(abs, s)) <= 2.0]
        assert part.real == len(part.solutions) == len(inside)
        np.testing.assert_allclose(part.solutions, inside, rtol=1e-9)
        assert part.complex == whole.complex
        found += len(inside) != len(whole.solutions)
    assert found


def test_maximal_no_longer_settles_and_minimal_does():
    """A maximal allocation is computed under constraints; a minimal one needs no computation."""
    assert estimate(b11("row"), 5).certified == 1
    bound = estimate(b11("row", max_abs=1.0), 40)
    assert bound.certified is None
    assert 0 < bound.matched < 40
    assert bound.undetermined == 0
    minimal = Problem(B11, {"W": [[1, 0], [0, 0]]}, constraints=Constraints(max_abs=1.0))
    assert estimate(minimal, 5).certified == 0


def test_compare_on_common_instances():
    """A problem with a bound and the same without it have the same instances."""
    found = compare(b11("diagonal"), b11("diagonal", max_abs=1.0), 60)
    assert found.table[1, 0] == 0
    assert found.table[0, 1] > 0


def test_bounds_are_met_exactly_over_the_rationals():
    """Discrete laws: a weight equal to its bound is allowed, by rational arithmetic."""
    law = Distribution("rademacher", "rademacher", "rademacher")
    net = LinearEstimator(q=1, d=1, m=1)
    problem = Problem(
        net, {"W": [[1]]}, distribution=law, constraints=Constraints(max_abs=1.0, sign="keep")
    )
    counts = count(problem, 40).instances
    for k, found in enumerate(counts):
        instance = draw_instance(problem, 0, k)
        same = float(instance.weights["W"][0, 0]) == float(instance.teacher["W"][0, 0])
        # |w| = 1 is the bound itself: only the sign can be wrong.
        assert (found.real, found.status) == (int(same), "complete")
    assert {c.real for c in counts} == {0, 1}


@pytest.mark.parametrize("shift", [0.0, 2.0**-60, -(2.0**-60), 2.0**-200, -(2.0**-200)])
def test_more_digits_decide_what_doubles_cannot(shift):
    """A bound 2^-200 from an irrational weight is separated from it; the weight itself is not."""
    problem = b11("diagonal")
    index = next(k for k in range(20) if count_of(problem, k).real == 2)
    instance = draw_instance(problem, 0, index)
    whole = count_of(problem, index)
    constrained = ConstrainedCounts(problem.allocation, {})
    # Far inside all bounds, then a bound on the first weight of the first solution.
    from flint import ctx

    from numeric.certification.krawczyk_balls import decide_real_root

    target: list[arb] = []

    def take(balls):
        target[:] = balls
        return True if balls[0].rad() < arb(2) ** -400 else None

    assert decide_real_root(constrained.chain, instance, np.array(whole.solutions[0]), take)
    saved = ctx.prec
    ctx.prec = 900
    try:
        middle = target[0].mid()
        man, exp = middle.man_exp()
        exact = fmpq(int(man)) * (fmpq(2) ** int(exp))
    finally:
        ctx.prec = saved
    high = exact + fmpq(*shift.as_integer_ratio())
    cells = problem.allocation.cells
    box = {cells[0]: Interval(None, high), cells[1]: Interval()}
    found = constrained.obeying(whole, instance, box)
    others = int(whole.solutions[1][0] <= float(whole.solutions[0][0]))
    if shift == 0.0:
        # The middle of the widest ball known is the root to 400 digits and more.
        assert found.real in (others, others + 1)
    else:
        assert found.status == "complete"
        assert found.real == others + (shift > 0)


def count_of(problem, k):
    with InstanceCounter(problem) as counter:
        return counter.count(draw_instance(problem, 0, k))


def test_what_is_not_certified_is_undetermined():
    """Wrong, missing or repeated solutions leave a count undetermined."""
    problem = b11("diagonal", max_abs=1e6)
    index = next(k for k in range(20) if count_of(b11("diagonal"), k).real == 2)
    instance = draw_instance(problem, 0, index)
    whole = count_of(b11("diagonal"), index)
    constrained = ConstrainedCounts(problem.allocation, {})
    box = box_of(instance)
    assert constrained.obeying(whole, instance, box).real == 2
    for wrong in ((), (whole.solutions[0],) * 2, (whole.solutions[0], (1e3, -1e4))):
        found = constrained.obeying(replace(whole, solutions=wrong), instance, box)
        assert found.status == "undetermined"
        assert (found.real or 0) <= 1
        assert found.reason in (Reason.FOUND_ONE, Reason.FAILED)
    narrow = draw_instance(b11("diagonal", max_abs=0.0), 0, index)
    none = constrained.obeying(replace(whole, solutions=()), narrow, box_of(narrow))
    assert none.outcome == "undetermined"
    assert (
        constrained.obeying(InstanceCount(0, 0, 2, "complete"), instance, box).outcome
        == "unmatched"
    )


@pytest.mark.parametrize(
    ("masks", "bound"),
    [
        ({"g1": [[1]] * 3, "g2": [[1]] * 2, "b1": [[1], [0], [0]]}, 20.0),
        ({"g1": [[1]] * 3, "g2": [[1]] * 2, "b2": [[1], [0]]}, 5.0),
        ({"W1": [[1, 1], [0, 1], [0, 0]], "W2": [[0, 1, 0], [0, 1, 1]]}, 6.0),
    ],
    ids=str,
)
def test_linear_normalization_networks_obey(masks, bound):
    """Solved as matrices, constrained as scales, shifts and weights: those solutions inside."""
    net = NormNet(widths=(2, 2), hidden=(3,), m=3, activation="linear")
    rules = {"max_abs": bound, "max_change": {next(iter(masks)): bound}}
    trials = many(16 if "b1" in masks else 32, 4 if "b1" in masks else 8)
    free = count(Problem(net, masks), trials)
    found = count(Problem(net, masks, constraints=Constraints(**rules)), trials)
    if free.generic_root_count == 0:
        assert all(c.outcome == "unmatched" for c in found)
        return
    some = none = 0
    for a, b in zip(free, found, strict=True):
        instance = draw_instance(Problem(net, masks), 0, a.index)
        cells = instance.allocation.cells
        before = np.array([instance.weights[n][i, j] for n, i, j in cells])
        learns = np.array([n == next(iter(masks)) for n, _, _ in cells])
        inside = [
            s
            for s in np.array(a.solutions).reshape(-1, len(cells))
            if np.abs(s).max() <= bound and np.abs((s - before)[learns]).max() <= bound
        ]
        assert b.status == "complete"
        assert b.real == len(inside) == len(b.solutions)
        np.testing.assert_allclose(np.ravel(b.solutions), np.ravel(inside), rtol=1e-8)
        some += bool(inside)
        none += len(inside) < len(a.solutions)
    assert some
    assert none


def test_relu_normalization_networks_obey():
    """A certified maximal allocation decides nothing under a bound; tighter never matches more."""
    net = NormNet.square(2, 1, 3, 3)
    masks = dict.fromkeys(("g1", "g2", "b1", "b2"), "all")
    trials = many(15)
    free = estimate(Problem(net, masks), trials)
    assert free.certified == 1
    before = np.ones(trials, bool)
    for bound in (1e9, 0.5, 0.0):
        found = estimate(Problem(net, masks, constraints=Constraints(max_abs=bound)), trials)
        assert found.certified is None or bound == 1e9
        assert found.undetermined == 0
        matched = np.array([c.outcome == "matched" for c in found.counts])
        assert (matched <= before).all()
        assert matched.all() == (bound == 1e9), bound
        before = matched
    minimal = Problem(net, {"g1": "all"}, constraints=Constraints(max_abs=1.0))
    assert estimate(minimal, 3).certified == 0


def test_engines_that_overlook_constraints_are_refused():
    """An engine from another package that decides by itself must declare that it checks them."""
    problem = Problem(LinearEstimator(q=1, d=1, m=1), {"W": [[1]]}, constraints=Constraints(1.0))

    @engine(EngineInfo("blind", {"linear"}, complete=True, plans=False))
    def make(assignment):
        raise AssertionError("never asked")

    try:
        with pytest.raises(InputError, match=r"'blind' does not support \[constraints\]"):
            estimate(problem, 3, engine="blind")
    finally:
        unregister("blind")
