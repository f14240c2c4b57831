"""fsolve as in the first paper: its solutions are correct; it never reports "no match"."""

import numpy as np
import pytest

from matchprob import Estimate, LinearFeedForward, LinearRNN, Problem, draw_instance
from numeric.engines.counter import InstanceCounter
from numeric.engines.exact import ExactEngine
from numeric.engines.fsolve import FsolveEngine, paper_equations
from numeric.equations.chain import make_chain
from tests.refusals import refuses
from tests.samples import many

NETS = [
    (Problem(LinearRNN(n=3, T=3, b=1, d=1, m=2), {"W": [[1, 0, 0], [0, 0, 0], [0, 0, 1]]}), 6),
    (
        Problem(
            LinearFeedForward(q=2, widths=(2,), d=2, m=2),
            {"W1": [[1, 0], [0, 1]], "W2": [[1, 0], [0, 1]]},
        ),
        2,
    ),
]


@pytest.mark.parametrize(("problem", "roots"), NETS)
def test_equations_are_the_networks_errors(problem, roots):
    """At any weights the equations are the labels' errors, entry by entry."""
    chain = make_chain(problem.allocation)
    rng = np.random.default_rng(0)
    for k in range(5):
        instance = draw_instance(problem, 0, k)
        w = rng.standard_normal(chain.unknowns)
        errors = problem.network.forward(instance.with_weights(w), instance.X) - instance.labels
        assert np.allclose(paper_equations(chain, instance)(w), errors.ravel())


@pytest.mark.parametrize(("problem", "roots"), NETS)
def test_found_solutions_are_among_the_exact_ones(problem, roots):
    """Each solution is one of the exact count's; no instance without one is called a match."""
    engine, exact = FsolveEngine(problem, starts=30), ExactEngine(problem, roots)
    found = total = 0
    for k in range(many(10)):
        instance = draw_instance(problem, 5, k)
        count, truth = engine.count(instance), exact.count(instance)
        assert count.status == "undetermined"
        assert count.outcome == ("matched" if count.real else "undetermined")
        assert count.real <= truth.real
        assert count.paths == 30
        if not truth.real:
            assert count.real == 0
        for solution in count.solutions:
            gaps = [np.abs(np.subtract(solution, s)).max() for s in truth.solutions]
            assert min(gaps) <= 1e-6 * (1 + np.abs(solution).max())
        found, total = found + count.real, total + truth.real
    assert 0 < found <= total


def test_the_paper_s_verdict_is_a_field_of_its_own():
    """With one start matches are missed: `paper_match` is False, the outcome undetermined."""
    problem, roots = NETS[0]
    engine, exact = FsolveEngine(problem, starts=1), ExactEngine(problem, roots)
    missed = 0
    for k in range(many(15, 3)):
        instance = draw_instance(problem, 6, k)
        count = engine.count(instance)
        assert count.to_dict()["paper_match"] is count.paper_match
        assert count.paper_match or count.real == 0
        if exact.count(instance).real and not count.paper_match:
            missed += 1
            assert count.outcome == "undetermined"
            assert "which proves nothing" in count.note
    assert missed


def test_fsolve_in_a_counter():
    """A counter needs no root count, and stops at the first match if that suffices.

    Trials without a match are undetermined, so the share of matched trials is not given.
    """
    problem, _ = NETS[0]
    instances = [draw_instance(problem, 5, k) for k in range(4)]
    with InstanceCounter(problem, "fsolve", complete=False, certify=False, timeout=5) as counter:
        counts = counter.count_many(instances)
    assert any(c.outcome == "matched" and c.paths < 400 for c in counts)
    found = Estimate(problem, "fsolve", 5, tuple(counts), 4)
    assert found.undetermined
    assert found.unmatched == 0
    assert found.estimate is None
    assert found.interval().high == 1.0
    assert found.interval().low > 0


def test_the_same_starts_give_the_same_solutions():
    """A second engine finds the same solutions and has the same note."""
    problem, _ = NETS[0]
    instance = draw_instance(problem, 5, 0)
    again = [FsolveEngine(problem, starts=50).count(instance) for _ in range(2)]
    assert again[0].solutions == again[1].solutions
    assert again[0].note == again[1].note


def test_bad_numbers_of_starts_are_refused():
    """The number of starts is checked."""
    refuses("`starts` \\(0\\)", FsolveEngine, NETS[0][0], starts=0)
