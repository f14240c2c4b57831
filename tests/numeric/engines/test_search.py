"""The search for real solutions among ends of complex paths, compared with complete counts."""

import numpy as np
import pytest

from algebra.time_limits import OutOfTime, within
from matchprob import Allocation, InputError, LinearRNN, Problem, RandomCells, draw_instance
from numeric.engines.counter import InstanceCounter
from numeric.engines.homotopy import HomotopyEngine
from numeric.engines.multistart import multistart_newton
from numeric.engines.search import RealSearch
from numeric.equations.chain import make_chain
from tests.numeric.equations.cases import cases
from tests.samples import DIAGONAL

CASES = cases()
# Figure 2a's net of 12 neurons, six rows: some hundred solutions, of unknown number.
SIX_ROWS = Problem(
    LinearRNN(n=12, T=6, b=1, d=4, m=6),
    {"W": RandomCells(budget=24, rows=6, max_per_row=6, max_per_column=12)},
)


def search_of(problem: Problem, index: int, seed: int = 0, **more: float) -> RealSearch:
    """A search for all real solutions of one instance."""
    instance = draw_instance(problem, 0, index)
    chain = make_chain(instance.allocation, problem.support)
    return RealSearch(instance, chain, enough=None, seed=seed, **more)


@pytest.mark.parametrize("case", [0, 7, 8, 15])
def test_ends_are_solutions_of_the_complete_count(case):
    """The certified ends are real solutions of the complete count, a third of them at least."""
    allocation, roots = CASES[case % len(CASES)]
    problem = Problem.of(allocation)
    engine = HomotopyEngine(problem, root_count=roots, cache=False)
    found = total = 0
    for k in range(4):
        instance = draw_instance(problem, 3, k)
        (complete,) = engine.count_many([instance])
        assert complete.status == "complete"
        search = RealSearch(instance, engine.chain, enough=None)
        search.follow(2000)
        assert search.few
        # Of a pair of conjugates only one is kept.
        assert search.paths.distinct <= complete.real + (roots - complete.real) // 2
        assert len(search.pool) <= complete.real
        found, total = found + len(search.pool), total + complete.real
        for solution in search.pool.solutions:
            gaps = [np.abs(np.subtract(solution, s)).max() for s in complete.solutions]
            assert min(gaps) <= 1e-6 * (1 + np.abs(solution).max())
    # Ends are not equally frequent: hardly any path ends at one with large weights.
    assert found >= total / 3


@pytest.mark.parametrize("case", [0, 5, 7, 8, 14])
def test_runs_in_free_states_find_solutions_of_the_complete_count(case):
    """Certified ends are real solutions of complete counts; three of four matched instances or
    more get one, others none."""
    allocation, roots = CASES[case]
    problem = Problem.of(allocation)
    engine = HomotopyEngine(problem, root_count=roots, cache=False)
    instances = [draw_instance(problem, 3, k) for k in range(8)]
    found = matched = 0
    for instance, complete in zip(instances, engine.count_many(instances), strict=True):
        assert complete.status == "complete"
        search = RealSearch(instance, engine.chain)
        search.solve()
        found, matched = found + bool(len(search.pool)), matched + bool(complete.real)
        for solution in search.pool.solutions:
            gaps = [np.abs(np.subtract(solution, s)).max() for s in complete.solutions]
            assert min(gaps) <= 1e-6 * (1 + np.abs(solution).max())
    assert found >= 0.75 * matched > 0


def test_an_instance_without_a_real_solution_is_never_matched():
    """On the diagonal of B.1.1 only instances with real solutions match, 70 % of them at least."""
    engine = HomotopyEngine(DIAGONAL, root_count=2, cache=False)
    instances = [draw_instance(DIAGONAL, 0, k) for k in range(60)]
    without = found = 0
    for instance, complete in zip(instances, engine.count_many(instances), strict=True):
        search = RealSearch(instance, engine.chain)
        search.solve(1)
        search.follow(200)
        assert not len(search.pool) or complete.real
        without += not complete.real
        found += bool(len(search.pool))
    assert without >= 8
    assert found >= 0.7 * (len(instances) - without)


def test_a_match_of_a_large_net_where_newton_finds_none():
    """Trial 1 in six rows of n = 12: 192 Newton runs find nothing, a few paths do."""
    instance = draw_instance(SIX_ROWS, 0, 1)
    chain = make_chain(instance.allocation, SIX_ROWS.support)
    assert not multistart_newton(instance, 64, chain=chain, enough=1).real
    search = RealSearch(instance, chain)
    search.follow(112)
    assert search.paths.arrived >= 0.9 * search.paths.paths
    assert len(search.pool) >= 1
    part = draw_instance(SIX_ROWS.with_allocation(instance.allocation), 0, 1)
    for solution in search.pool.solutions:
        size = max(1.0, max(map(abs, solution)))
        assert part.residual(part.with_weights(solution)) < 1e-8 * size**6


def test_trials_of_a_large_net_are_decided_by_one_solution():
    """Each trial is matched by one certified solution; its count stays undetermined."""
    with InstanceCounter(SIX_ROWS, "homotopy", complete=False, root_timeout=1) as counter:
        counts = counter.count_many([draw_instance(SIX_ROWS, 0, k) for k in range(3)])
    for count in counts:
        assert (count.outcome, count.status, count.reason) == (
            "matched", "undetermined", "found one",
        )  # fmt: skip
        assert count.real >= 1
        assert count.complex is None


def test_the_search_agrees_with_complete_counts():
    """A match is found by one solution; without a real one all solutions are counted."""
    net = LinearRNN(n=6, T=3, b=1, d=1, m=3)
    problem = Problem(net, {"W": RandomCells(budget=3, rows=3)})
    instances = [draw_instance(problem, 0, k) for k in (0, 3, 14)]
    outcomes = []
    for complete in (True, False):
        with InstanceCounter(problem, "homotopy", complete=complete) as counter:
            outcomes.append([c.outcome for c in counter.count_many(instances)])
    assert outcomes[0] == outcomes[1] == ["matched", "matched", "unmatched"]


def test_the_seed_determines_the_search():
    """Equal seeds find equal solutions, in any number of calls; another seed finds others."""
    one, same, parts, other = (search_of(SIX_ROWS, 0, seed) for seed in (0, 0, 0, 1))
    for search in (one, same, other):
        search.follow(48)
    for most in (16, 48):  # as the batches are
        parts.follow(most)
    assert one.pool.solutions == same.pool.solutions == parts.pool.solutions
    assert one.paths.distinct == same.paths.distinct == parts.paths.distinct
    assert one.paths.distinct > 30
    assert one.pool.solutions != other.pool.solutions


def test_paths_come_first_in_layers_and_runs_in_recurrent_nets():
    """A match is found without a path in a recurrent net, without a run in a multi-layer net."""
    instance = draw_instance(SIX_ROWS, 0, 0)
    search = RealSearch(instance, make_chain(instance.allocation, SIX_ROWS.support))
    search.begin()
    assert len(search.pool)
    assert search.paths.paths == 0
    allocation = CASES[14][0]
    instance = draw_instance(Problem.of(allocation), 0, 0)
    search = RealSearch(instance, make_chain(allocation))
    search.begin()
    assert len(search.pool)
    assert search.result().paths == search.paths.paths > 0


def test_the_seed_determines_the_runs_in_free_states():
    """Equal seeds find equal solutions; the first batch decides a trial of six rows."""
    found = []
    for _ in range(2):
        search = search_of(SIX_ROWS, 0)
        search.solve(1)
        found.append(search.pool.solutions)
    assert found[0] == found[1] != ()


def test_time_limits_end_the_search():
    """No batch begins after the given seconds; the limit of the whole call raises OutOfTime."""
    search = search_of(SIX_ROWS, 0, seconds=0.0)
    search.solve()
    search.follow(2000)
    assert search.paths.paths == 0
    assert not search.result().paths
    assert search.result().outcome == "undetermined"
    with pytest.raises(OutOfTime), within(1e-3):
        search_of(SIX_ROWS, 0).follow(2000)


def test_the_search_tracks_weights_of_several_layers():
    """For multi-layer nets, which have no free inputs, most instances with a match get one."""
    allocation, roots = next((a, n) for a, n in CASES if a.network.kind == "lffn" and n > 1)
    problem = Problem.of(allocation)
    engine = HomotopyEngine(problem, root_count=roots, cache=False)
    instances = [draw_instance(problem, 1, k) for k in range(10)]
    matched = found = 0
    for instance, complete in zip(instances, engine.count_many(instances), strict=True):
        search = RealSearch(instance, engine.chain)
        search.follow(200)
        assert not len(search.pool) or complete.real
        matched, found = matched + bool(complete.real), found + bool(len(search.pool))
    assert found >= max(1, 0.8 * matched)


def test_the_search_refuses_dependent_samples():
    """Dependent samples leave no square system: refused, with the rank in the message."""
    instance = draw_instance(DIAGONAL, 0, 0)
    instance.X[:, 1] = instance.X[:, 0]
    with pytest.raises(InputError, match="rank"):
        RealSearch(instance, make_chain(Allocation.from_cells(
            DIAGONAL.network, [("W", 0, 0), ("W", 1, 1)])
        ))  # fmt: skip
