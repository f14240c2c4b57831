"""Trace tests: complete sets pass with the right number, incomplete ones fail."""

import numpy as np
import pytest

from matchprob import Allocation, LinearEstimator, LinearRNN
from numeric.equations.chain import make_chain
from numeric.tracking import trace_test as module
from numeric.tracking.monodromy import find_start
from numeric.tracking.pencils import Pencil, gaussian, trace_residual
from numeric.tracking.trace_test import FAILED, PASSED, TOLERANCE, UNFINISHED, trace_test
from tests.numeric.equations.cases import cases, residual_at

CASES = cases()


def small():
    """Cases of at most 16 roots; two of three are marked long."""
    found = [case for case in CASES if case[1] <= 16]
    return [
        pytest.param(*case, marks=pytest.mark.long) if k % 3 else case
        for k, case in enumerate(found)
    ]


@pytest.mark.parametrize(("allocation", "roots"), small(), ids=lambda x: str(x))
def test_known_root_counts(allocation, roots):
    """From a single root the search finds all N roots, and the test passes."""
    chain = make_chain(allocation)
    parameters, root = chain.random(np.random.default_rng(roots))
    found = trace_test(chain, parameters, root[None], seed=3)
    assert found.passed, str(found)
    assert found.root_count == roots < found.points
    assert found.residual <= TOLERANCE < 1e3 * found.share
    for w in found.roots:
        assert np.abs(residual_at(chain, parameters, w)).max() < 1e-7


def complete(allocation, seed=0):
    """A complete section of a curve: the search after a test that passed."""
    chain = make_chain(allocation)
    rng = np.random.default_rng(seed)
    parameters, root = chain.random(rng)
    for _ in range(6):
        search = module._SectionSearch(chain, parameters, root[None], rng)
        if search.run(500, np.inf).passed:
            return search
    raise AssertionError("no complete section found")


@pytest.mark.parametrize(
    "case", [0, pytest.param(7, marks=pytest.mark.long), 12], ids=lambda k: str(CASES[k][0])
)
def test_a_missing_point_fails_the_trace_test(case):
    """If one point of the section, a solution or another, is left out, the test fails."""
    search = complete(CASES[case][0])
    everything = search.points
    assert search._measure() == ""
    for k in range(0, len(everything), max(1, len(everything) // 5)):
        search.points = np.delete(everything, k, axis=0)
        assert search._measure() != ""
        assert search.residual > 1e3 * TOLERANCE or not np.isfinite(search.residual)


def test_the_solutions_alone_are_no_section():
    """All N solutions without the points of the other slice have no linear sum."""
    search = complete(CASES[7][0])
    search.points = search.points[search._places() > 0]
    assert len(search.points) == CASES[7][1]
    assert search._measure() != ""


def test_residuals_of_subsets():
    """The residual of all points is below 1e-12, that of each half above 1e-3."""
    search = complete(CASES[6][0], seed=2)
    rng = np.random.default_rng(5)
    pencil = Pencil(search.curve, search.at_infinity, gaussian(rng, len(search.at_infinity)))
    values = gaussian(rng, 3)
    whole = trace_residual(pencil, search.points, values, rng)
    half = trace_residual(pencil, search.points[::2], values, rng)
    other = trace_residual(pencil, search.points[1::2], values, rng)
    assert whole[0] < 1e-12
    assert min(half[0], other[0]) > 1e-3


def test_limits_of_the_trace_test():
    """With too many points, or without time, the test is unfinished and gives the reason."""
    chain = make_chain(CASES[9][0])
    parameters, root = chain.random(np.random.default_rng(0))
    few = trace_test(chain, parameters, root[None], most_points=5)
    assert (few.status, few.passed) == (UNFINISHED, False)
    assert "more than 5 points" in str(few)
    late = trace_test(chain, parameters, root[None], timeout=0)
    assert late.status == UNFINISHED
    assert "time" in late.note


def test_the_trace_test_without_a_root_fails():
    """A start of NaN is dropped: the test fails with 0 roots."""
    chain = make_chain(CASES[0][0])
    parameters, _ = chain.random(np.random.default_rng(0))
    found = trace_test(chain, parameters, np.full((1, chain.unknowns), np.nan))
    assert (found.status, found.root_count) == (FAILED, 0)


def test_the_trace_test_of_one_weight():
    """The curve is a line; its sections have two points, of which one is the solution."""
    net = LinearEstimator(q=2, d=1, m=1)
    chain = make_chain(Allocation.from_cells(net, [("W", 0, 0)]))
    parameters, root = chain.random(np.random.default_rng(0))
    found = trace_test(chain, parameters, root[None])
    assert (found.status, found.root_count, found.points) == (PASSED, 1, 2)


def test_powers_of_one_weight():
    """A net of one unit with T steps has w + … + w^T as label: N = T, T + 1 points a section."""
    for T in (2, 3, 4):
        net = LinearRNN(n=1, T=T, b=1, d=1, m=1)
        chain = make_chain(Allocation.from_cells(net, [("W", 0, 0)]))
        start = find_start(chain, None, 1, trace_seconds=0)
        found = trace_test(chain, start.parameters, start.roots)
        assert (found.status, found.root_count, found.points) == (PASSED, T, T + 1)
