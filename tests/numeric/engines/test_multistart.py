"""Lower bounds by many Newton runs, compared with complete counts."""

import numpy as np
import pytest

from algebra.errors import InputError
from matchprob import Allocation, LinearRNN, Problem, draw_instance
from numeric.engines.counter import InstanceCounter
from numeric.engines.homotopy import HomotopyEngine
from numeric.engines.multistart import MultistartEngine, multistart_newton
from numeric.engines.phcpy.install import find_phcpy
from tests.numeric.equations.cases import cases
from tests.refusals import refuses
from tests.samples import LONG

CASES = cases()


@pytest.mark.parametrize("case", [0, 7, 8, 15])
def test_solutions_are_among_those_of_the_complete_count(case):
    """Each solution found is one of the complete count's; on small nets at least half are found."""
    allocation, roots = CASES[case]
    problem = Problem.of(allocation)
    engine = HomotopyEngine(problem, root_count=roots, cache=False)
    found = total = 0
    for k in range(6 if LONG else 3):
        instance = draw_instance(problem, 3, k)
        (complete,) = engine.count_many([instance])
        bound = multistart_newton(instance, 120, chain=engine.chain)
        assert bound.status == "undetermined"
        assert bound.real <= complete.real
        for solution in bound.solutions:
            gaps = [np.abs(np.subtract(solution, s)).max() for s in complete.solutions]
            assert min(gaps) <= 1e-6 * (1 + np.abs(solution).max())
        found, total = found + bound.real, total + complete.real
    assert found >= 0.5 * total


@pytest.mark.parametrize("engine", ["multistart", "fsolve", "phcpy", "homotopy"])
def test_labels_that_zeros_make_dependent(engine):
    """Four of the six labels are independent: every engine gives the counts of the exact one."""
    if engine == "phcpy":
        try:
            find_phcpy()
        except InputError:
            pytest.skip("phcpy is not installed")
    zeros = {"W": [[1, 1], [1, 1]], "B": [[1], [1]], "D": [[1, 0], [1, 0]]}
    network = LinearRNN(n=2, T=3, b=1, d=2, m=3)
    problem = Problem(network, {"W": [[1, 1], [0, 1]], "D": [[1, 0], [0, 0]]}, zeros)
    instances = [draw_instance(problem, 1, k) for k in range(4)]
    found = {}
    for name in ("exact", engine):
        with InstanceCounter(problem, name) as counter:
            found[name] = [c.real for c in counter.count_many(instances)]
    assert found[engine] == found["exact"]
    assert set(found["exact"]) == {0, 2}


def test_matches_of_a_large_net_are_found():
    """In four trials of a net of hundreds of roots at least one has a certified solution."""
    network = LinearRNN(n=6, T=3, b=1, d=2, m=3)
    problem = Problem.of(Allocation.from_cells(network, [("W", i, (i + 1) % 6) for i in range(6)]))
    counts = [multistart_newton(draw_instance(problem, 0, k), 64, enough=1) for k in range(4)]
    assert any(c.real for c in counts)
    for count in counts:
        assert count.outcome == ("matched" if count.real else "undetermined")


def test_negative_starts_are_refused():
    """The number of starts is checked."""
    allocation, _ = CASES[0]
    refuses("starts", multistart_newton, draw_instance(Problem.of(allocation), 0, 0), -1)


def test_multistart_needs_no_root_count():
    """In a counter the engine gives the same bounds, and no root count is computed."""
    allocation, _ = CASES[7]
    problem = Problem.of(allocation)
    instances = [draw_instance(problem, 3, k) for k in range(3 if LONG else 2)]
    with InstanceCounter(problem, "multistart") as counter:
        counts = counter.count_many(instances)
        assert counter.plan(allocation).root_count is None
    for instance, count in zip(instances, counts, strict=True):
        alone = multistart_newton(instance)
        assert (count.real, count.solutions, count.note) == (
            alone.real,
            alone.solutions,
            alone.note,
        )
        assert count.status == "undetermined"
        assert count.paths == 400


def test_multistart_stops_at_the_first_match():
    """Without `complete` a counter stops at the first certified solution."""
    allocation, _ = CASES[7]
    problem = Problem.of(allocation)
    instances = [draw_instance(problem, 3, k) for k in range(6)]
    with InstanceCounter(problem, "multistart", complete=False, certify=False) as counter:
        counts = counter.count_many(instances)
    assert any(0 < c.paths < 400 for c in counts)
    assert {c.outcome for c in counts} <= {"matched", "undetermined"}


def test_time_limit_ends_multistart():
    """After the time limit no new batch of starts begins."""
    allocation, _ = CASES[7]
    problem = Problem.of(allocation)
    engine = MultistartEngine(problem, starts=10**9, timeout=0.05, reason="for a test")
    found = engine.count(draw_instance(problem, 3, 0))
    assert found.paths < 10**9
    assert found.note.endswith("; for a test")
