"""Verdicts do not depend on the machine: searches are bounded by work, which inputs determine."""

import math
import time
from contextlib import contextmanager

import pytest
from flint import nmod_mpoly_ctx

import matchprob as mp
from algebra import time_limits
from algebra.families import certify as deciding
from algebra.polynomials.msolve import process
from algebra.polynomials.msolve.process import MsolveTimeout, work_of
from algebra.polynomials.msolve.solver import quotient_degree
from algebra.work import by_work, end_of_part, has_passed, now, seconds_until, spend
from tests.refusals import refuses

COLD = mp.Problem(mp.LinearRNN(n=3, T=3, b=1, d=1, m=3), {"W": [[1, 1, 0], [1, 0, 0], [0, 0, 0]]})


def test_work_is_the_clock_inside_by_work():
    """Parts end by what is spent, also where much time passes; outside nothing is spent."""
    spend(1e9)
    before = now()
    with by_work():
        assert now() == 0
        end = end_of_part(2.0)
        spend(1.5)
        assert not has_passed(end)
        assert seconds_until(end) == 0.5
        spend(1.0)
        assert has_passed(end)
    assert now() - before < 60


def test_msolve_is_bounded_by_the_sizes_of_its_matrices(msolve):
    """With less work than the system needs it always ends, with more never."""
    x, y = nmod_mpoly_ctx.get(("x", "y"), modulus=2147483629).gens()
    system = [x**5 + 3 * x * y**4 - 7 * y + 1, x**2 * y**3 - 5 * y**5 + 2 * x + 3]
    works = set()
    for _ in range(2):
        with by_work():
            assert quotient_degree(system, timeout=10).degree == 25
            works.add(now())
    [work] = works
    assert work > process._START
    with by_work(), pytest.raises(MsolveTimeout):
        quotient_degree(system, timeout=work * 0.9)


def test_work_over_q_grows_with_the_primes():
    """Each further prime adds a part of the first basis."""
    log = "  5    1724    2000    5246 x 4048        6.14%      158 new    1566 zero\n"
    assert work_of(log + "{2}[0]{4}") > work_of(log + "{2}") > work_of(log) > work_of("")


def test_a_slow_machine_finds_the_same_verdict(monkeypatch, msolve):
    """With kernels that take seconds and a clock that runs a hundred times as fast the search ends
    at the same instance."""
    found = mp.certify(COLD, timeout=600)
    real, began = time.monotonic, time.monotonic()
    monkeypatch.setattr(time_limits.time, "monotonic", lambda: began + 100 * (real() - began))
    slow = mp.certify(COLD, timeout=1e6)
    assert found.verdict == slow.verdict == "intermediate"
    assert found.evidence == slow.evidence


def test_a_slow_machine_leaves_the_same_undecided(monkeypatch, msolve):
    """Where the work does not suffice, the searches and what they found are the same, and all of
    them together have not done more than their amount."""
    net = mp.LinearRNN(n=3, T=3, b=2, d=2, m=3)
    problem = mp.Problem(net, {"W": [[1, 1, 1], [1, 0, 1], [1, 1, 0]]})
    most, works = 0.05, []
    inside = deciding.by_work

    @contextmanager
    def noted(limit):
        with inside(limit):
            yield
            works.append(now())

    monkeypatch.setattr(deciding, "by_work", noted)
    found = mp.certify(problem, effort=most / 60, timeout=600)
    real, began = time.monotonic, time.monotonic()
    monkeypatch.setattr(time_limits.time, "monotonic", lambda: began + 100 * (real() - began))
    slow = mp.certify(problem, effort=most / 60, timeout=1e6)
    assert found.verdict == slow.verdict == "undecided"
    assert found.tried == slow.tried
    assert "out of reach" in found.tried[0]
    assert works[0] == works[1] < 3 * most


def test_the_whole_call_has_an_amount_of_work():
    """No part ends later, however much it may take by itself."""
    with by_work(2.0):
        assert not has_passed(end_of_part(math.inf))
        spend(2.5)
        assert has_passed(end_of_part(math.inf))
        with pytest.raises(MsolveTimeout):
            process.Deadline(1.0).remaining()


def test_time_only_ends_a_search():
    """Where the time does not suffice nothing is said but that it is over."""
    refuses(
        "time l(imit is over|eft is)",
        mp.certify,
        COLD,
        timeout=1e-6,
        error=time_limits.LimitReached,
    )


def test_effort_is_a_positive_number():
    """0, negative numbers and texts are refused by name."""
    for wrong in (0, -1, float("nan"), float("inf"), True, "much"):
        refuses("effort", mp.certify, COLD, effort=wrong)
