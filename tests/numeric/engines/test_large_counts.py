"""Complete counts of hundreds of solutions, and bounds if N is unknown."""

import pytest

from matchprob import Allocation, LinearRNN, Problem, RandomCells, draw_instance
from numeric.engines.counter import InstanceCounter
from numeric.engines.homotopy import HomotopyEngine
from numeric.engines.plans import Plan
from tests.samples import LONG

ONE_A_ROW = LinearRNN(n=8, T=4, b=1, d=2, m=4)


def one_in_each_row(columns: str) -> Problem:
    """The n = 8, T = 4, d = 2, m = 4 net with one learnable weight in each row of W."""
    cells = [("W", i, int(j)) for i, j in enumerate(columns)]
    return Problem.of(Allocation.from_cells(ONE_A_ROW, cells))


@pytest.mark.long
@pytest.mark.parametrize(("columns", "roots"), [("14725036", 432), ("01234567", 576)])
def test_hundreds_of_solutions_are_counted_completely(columns, roots):
    """Every solution of 20 instances is found, certified and classified as real or not.

    The root counts are degrees over GF(p); msolve takes minutes for them, so they are given.
    An engine with a wrong one would find more roots than that, or never all of them.
    """
    problem = one_in_each_row(columns)
    instances = [draw_instance(problem, 0, k) for k in range(20)]
    engine = HomotopyEngine(problem, root_count=roots)
    assert engine.start.source == "given"
    counts = engine.count_many(instances)
    assert sum(c.status == "complete" for c in counts) >= 19
    for instance, count in zip(instances, counts, strict=True):
        if count.status != "complete":
            continue
        assert count.complex == count.certified == roots
        assert count.real % 2 == roots % 2
        assert len(set(count.solutions)) == count.real
        for solution in count.solutions:
            size = max(1.0, max(map(abs, solution)))
            assert instance.residual(instance.with_weights(solution)) < 1e-6 * size**4


def large_problem(n: int, rows: int) -> Problem:
    """Figure 2a's net on n neurons: the budget dm spread over some rows."""
    m = n // 2
    cells = RandomCells(budget=4 * m, rows=rows, max_per_row=m)
    return Problem(LinearRNN(n=n, T=m, b=1, d=4, m=m), {"W": cells})


def test_large_nets_get_certified_matches():
    """At least half of the trials of Figure 2a's n = 12 net get a solution that fits."""
    problem = large_problem(12, 8)
    instances = [draw_instance(problem, 0, k) for k in range(4 if LONG else 2)]
    with InstanceCounter(problem, "multistart", complete=False) as counter:
        counts = counter.count_many(instances)
    assert sum(c.outcome == "matched" for c in counts) >= len(counts) / 2
    for instance, count in zip(instances, counts, strict=True):
        assert count.status == "undetermined"
        part = problem.with_allocation(instance.allocation)
        for solution in count.solutions:
            drawn = draw_instance(part, 0, instance.index)
            assert drawn.residual(drawn.with_weights(solution)) < 1e-6


def test_the_homotopy_engine_without_n_gives_bounds(monkeypatch):
    """The note says that N could not be computed, and names the engine that gave the bound."""
    problem = one_in_each_row("14725036")

    def unknown(problem: Problem, plan: Plan, **settings: object) -> Plan:
        return plan

    monkeypatch.setattr("numeric.engines.counter.root_plan", unknown)
    with InstanceCounter(problem, "homotopy", timeout=1) as counter:
        count = counter.count(draw_instance(problem, 0, 0))
    assert count.status == "undetermined"
    assert "N could not be computed" in count.note
    assert "the engine multistart" in count.note
    assert "complex path" in count.note


def test_roots_near_infinity_are_finished():
    """Paths that stop early in doubles are finished: the count is complete."""
    cells = RandomCells(budget=24, rows=5, max_per_row=6, max_per_column=12)
    problem = Problem(LinearRNN(n=12, T=6, b=1, d=4, m=6), {"W": cells})
    fixed = Problem.of(draw_instance(problem, 5, 0).allocation)
    engine = HomotopyEngine(fixed, root_count=120, cache=False)
    [count] = engine.count_many([draw_instance(fixed, 5, 1001)])
    assert (count.status, count.complex, count.real) == ("complete", 120, 34)
