"""Certified results come first; an engine computes the others."""

import pytest

from algebra.errors import InputError
from algebra.networks.feedforward import LinearEstimator
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from matchprob.api.estimate import count
from numeric.engines import counter
from numeric.engines.counter import InstanceCounter
from numeric.engines.plans import Plan, rank_plan, root_plan
from numeric.trials.counts import Reason
from numeric.trials.instances import draw_instance
from tests.refusals import refuses
from tests.samples import NET


def make_plan(problem: Problem, allocation: Allocation) -> Plan:
    """Ranks and root count."""
    return root_plan(problem, rank_plan(problem, allocation))


def test_plans_by_allocation():
    """Plans have N = 0 (minimal), 1 (linear) or 2; surplus weights are fixed by a reduction."""
    minimal = Problem(NET, {"W": [[1, 0], [0, 0]]})
    assert make_plan(minimal, minimal.allocation).root_count == 0
    row = Problem(NET, {"W": [[1, 1], [0, 0]]})
    assert make_plan(row, row.allocation).root_count == 1
    diagonal = Problem(NET, {"W": [[1, 0], [0, 1]]})
    assert make_plan(diagonal, diagonal.allocation).root_count == 2
    everything = Problem(NET, {"W": [[1, 1], [1, 1]]})
    plan = make_plan(everything, everything.allocation)
    assert plan.reduction is not None
    assert plan.allocation.size == 2


def test_minimal_allocations_need_no_solver():
    """A certified minimal allocation has no solution, and no engine is started."""
    problem = Problem(LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 1], [1, 0, 0]]})
    with InstanceCounter(problem) as counter:
        found = counter.count(draw_instance(problem, 0, 0))
    assert (found.real, found.status, found.outcome) == (0, "complete", "unmatched")
    assert "rank 3 of 4" in found.note


def test_discrete_laws_are_not_settled_by_rank():
    """Rademacher weights may match by chance: no verdict without a computation."""
    law = Distribution("rademacher", "rademacher", "rademacher")
    problem = Problem(
        LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 1], [1, 0, 0]]}, distribution=law
    )
    with InstanceCounter(problem) as counter:
        outcomes = {counter.count(draw_instance(problem, 0, k)).outcome for k in range(40)}
    assert outcomes == {"matched", "unmatched"}


def test_surplus_weights_match():
    """With more weights than equations a real solution with the surplus fixed is a match."""
    problem = Problem(NET, {"W": [[1, 1], [1, 1]]})
    with InstanceCounter(problem) as counter:
        found = counter.count(draw_instance(problem, 0, 0))
    assert found.outcome == "matched"
    assert found.complex is None


def test_random_allocations_are_planned_once_each():
    """Thirty trials with four different allocations lead to four plans."""
    problem = Problem(LinearEstimator(q=2, d=2, m=1), {"W": RandomCells(budget=2, rows=2)})
    with InstanceCounter(problem) as counter:
        counts = [counter.count(draw_instance(problem, 0, k)) for k in range(30)]
        assert len(counter._plans) == 4
    assert all(c.outcome == "matched" for c in counts)


def test_a_match_of_a_large_net_needs_no_root_count(monkeypatch):
    """One certified solution decides a trial of a fixed allocation with many free states."""
    network = LinearRNN(n=20, T=10, b=1, d=1, m=10)
    cells = [
        (i, j) for i, j in zip(range(0, 20, 2), (3, 17, 8, 11, 6, 14, 1, 19, 12, 5), strict=True)
    ]
    problem = Problem.of(Allocation.from_cells(network, [("W", i, j) for i, j in cells]))

    def counted(*_, **__):
        raise AssertionError("N is counted")

    monkeypatch.setattr(counter, "root_plan", counted)
    with InstanceCounter(problem, complete=False) as one:
        found = one.count_many([draw_instance(problem, 0, k) for k in range(2)])
    assert [(c.outcome, c.reason) for c in found] == [("matched", Reason.FOUND_ONE)] * 2


def test_bad_engines_are_named():
    """Unknown engines and networks without polynomials are bad input."""
    refuses("`engine` \\('magic'\\)", InstanceCounter, Problem(NET, {}), "magic")
    with pytest.raises(InputError, match="linear and polynomial networks, not for a shallow ReLU"):
        InstanceCounter(Problem(ShallowReLU(q=1, n=1, d=1, m=1), {}), "homotopy")
    refuses("is for relu networks", InstanceCounter, Problem(NET, {}), "complementarity")


def test_engines_agree():
    """Homotopy and exact counts of the same instances are the same."""
    problem = Problem(LinearRNN(n=3, T=2, b=1, d=2, m=2), {"W": [[1, 0, 1], [0, 1, 0], [0, 0, 1]]})
    instances = [draw_instance(problem, 2, k) for k in range(20)]
    with InstanceCounter(problem, "homotopy") as one, InstanceCounter(problem, "exact") as other:
        found = [c.real for c in one.count_many(instances) if c.status == "complete"]
        exact = [c.real for c in other.count_many(instances)]
    assert found == exact


@pytest.mark.usefixtures("no_msolve")
def test_without_msolve_plans_rest_on_a_trace_test():
    """The plan and the note of every complete count name the trace test."""
    net = LinearRNN(n=3, T=2, b=1, d=2, m=2)
    cells = [("W", 0, 0), ("W", 0, 1), ("W", 1, 2), ("W", 2, 0)]
    problem = Problem.of(Allocation.from_cells(net, cells))
    plan = make_plan(problem, problem.allocation)
    assert (plan.root_count, plan.is_numerical) == (2, plan.source.startswith("monodromy"))
    mixed = Problem.of(
        Allocation.from_cells(net, [("W", 0, 1), ("W", 2, 1), ("B", 1, 0), ("D", 0, 2)])
    )
    plan = make_plan(mixed, mixed.allocation)
    assert (plan.root_count, plan.is_numerical) == (4, True)
    assert "msolve is not installed" in plan.source
    with InstanceCounter(mixed, "homotopy") as counter:
        counts = counter.count_many([draw_instance(mixed, 0, k) for k in range(6)])
    assert all(c.status == "complete" and "N by trace test" in c.note for c in counts)


@pytest.mark.parametrize(("B", "own", "engine"), [("0", 4, "exact"), ("2", 6, "homotopy")])
def test_exact_numbers_with_fewer_solutions_are_counted_exactly(B, own, engine):
    """If N at the exact values is the generic 6 paths are tracked; if it is less, msolve counts."""
    net = LinearRNN(n=2, T=3, b=1, d=1, m=2)
    problem = Problem(net, {"W": [[1, 0], [0, 1]]}, values={"B": [["1"], [B]]})
    with InstanceCounter(problem) as counter:
        plan = counter.plan(problem.allocation)
        found = counter.count(draw_instance(problem, 0, 0))
        used = counter._engines[plan.allocation]
    assert (plan.root_count, found.complex, found.status) == (own, own, "complete")
    assert type(used).__name__.lower().startswith(engine)


@pytest.mark.parametrize(
    "learnable", [{"W": [[1, 0], [0, 1]]}, {"W": "all"}, dict.fromkeys("DWB", "all")]
)
def test_labels_that_structural_zeros_make_dependent(learnable):
    """A silent output adds no equation: as many solutions as without it, or a match at once."""
    zeros = {"D": [[1, 1], [0, 0]]}
    problem = Problem(LinearRNN(n=2, T=2, b=1, d=2, m=2), learnable, support=zeros)
    alone = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), learnable)
    found, other = count(problem, 6), count(alone, 6)
    assert found.generic_root_count == other.generic_root_count
    assert {c.complex for c in found.instances} == {c.complex for c in other.instances}
    for index, own in enumerate(found.instances):
        instance = draw_instance(problem, 0, index)
        for solution in own.solutions:
            assert instance.residual(instance.with_weights(solution)) < 1e-9
    if learnable["W"] == "all":
        assert {c.outcome for c in found.instances} <= {"matched", "undetermined"}
    if "D" in learnable:
        assert {c.outcome for c in found.instances} == {"matched"}
