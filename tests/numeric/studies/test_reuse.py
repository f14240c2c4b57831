"""Constraints added later: the same records, without new computations."""

from dataclasses import replace

import numpy as np
import pytest

from matchprob import Constraints, LinearRNN, NormNet, Problem, ShallowReLU, constrain, estimate
from numeric.engines.counter import InstanceCounter
from numeric.studies.trials import record_of
from tests.refusals import refuses
from tests.samples import many

CASES = {
    "diagonal": Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]}),
    "relu": Problem(ShallowReLU(q=3, n=3, d=2, m=2), {"W1": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}),
    "normalization": Problem(
        NormNet((2, 2), (3,), 3, "linear"), {"g1": [[1]] * 3, "g2": [[1]] * 2, "b2": [[1], [0]]}
    ),
}
RULES = (Constraints(max_abs=1.5), Constraints(sign="keep"), Constraints(max_change=2.0))


@pytest.fixture
def counted(monkeypatch):
    """Numbers of trials that a counter computed."""
    seen: list[int] = []
    own = InstanceCounter.count_many

    def count_many(self, instances):
        seen.extend(i.index for i in instances)
        return own(self, instances)

    monkeypatch.setattr(InstanceCounter, "count_many", count_many)
    return seen


@pytest.mark.parametrize("name", CASES)
def test_a_store_answers_constraints_asked_later(name, counted, tmp_path):
    """Trial by trial the results of a new run, the solutions included."""
    problem, store, trials = CASES[name], tmp_path / "s.sqlite", many(48)
    free = estimate(problem, trials, store=store, complete=True)
    # In a cell that leaves weights free (a ReLU teacher that is off) not all solutions are known.
    open_ = {c.index for c in free.counts if c.status != "complete"}
    assert len(open_) < 5
    for rules in RULES:
        bounded = replace(problem, constraints=rules)
        fresh = estimate(bounded, trials, complete=True)
        counted.clear()
        told: list[int] = []
        kept = estimate(
            bounded, trials, store=store, complete=True, advance=lambda c, t=told: t.append(c.index)
        )
        assert set(counted) <= open_
        assert sorted(told) == list(range(trials))
        for a, b in zip(fresh.counts, kept.counts, strict=True):
            assert record_of(a)[:5] == record_of(b)[:5]
            np.testing.assert_allclose(np.ravel(a.solutions), np.ravel(b.solutions), rtol=1e-9)
        # They are also written: nothing is computed twice.
        counted.clear()
        again = estimate(bounded, trials, store=store, complete=True)
        assert [record_of(c) for c in again.counts] == [record_of(c) for c in kept.counts]
        assert counted == []


def test_only_what_is_not_known_is_computed(counted, tmp_path):
    """Trials beyond the stored ones, and trials whose solutions were not stored: no others."""
    problem, store = CASES["diagonal"], tmp_path / "s.sqlite"
    estimate(problem, 10, store=store)
    bounded = replace(problem, constraints=RULES[0])
    counted.clear()
    found = estimate(bounded, 16, store=store)
    assert sorted(counted) == list(range(10, 16))
    assert [c.outcome for c in found.counts] == [c.outcome for c in estimate(bounded, 16).counts]
    # A maximal verdict stores no solution: all is computed.
    row = Problem(problem.network, {"W": [[1, 1], [0, 0]]})
    estimate(row, 5, store=store)
    counted.clear()
    estimate(replace(row, constraints=RULES[0]), 5, store=store)
    assert sorted(counted) == list(range(5))


def test_another_seed_is_another_trial(counted, tmp_path):
    """Trials of another seed or problem cannot be reused."""
    problem, store = CASES["diagonal"], tmp_path / "s.sqlite"
    estimate(problem, 6, store=store)
    counted.clear()
    estimate(replace(problem, constraints=RULES[0]), 6, store=store, seed=1)
    assert sorted(counted) == list(range(6))


def test_witnesses_of_relu_nets_that_obey(counted, tmp_path):
    """Decided, not counted: a witness inside is a match, one outside decides nothing."""
    problem, store = CASES["relu"], tmp_path / "s.sqlite"
    free = estimate(problem, 60, store=store)
    bounded = replace(problem, constraints=Constraints(max_abs=1.5))
    counted.clear()
    kept = estimate(bounded, 60, store=store)
    outside = [c.index for c in free.counts if c.real and c.index in set(counted)]
    assert set(counted) == set(outside)
    assert 0 < len(outside) < free.matched
    assert [c.outcome for c in kept.counts] == [c.outcome for c in estimate(bounded, 60).counts]


def test_an_estimate_in_memory(counted):
    """`constrain` needs no store; a message says what it cannot do."""
    problem = CASES["diagonal"]
    found = estimate(problem, 40)
    counted.clear()
    bounded = constrain(found, RULES[0])
    assert counted == []
    fresh = estimate(replace(problem, constraints=RULES[0]), 40)
    assert [record_of(c) for c in bounded.counts] == [record_of(c) for c in fresh.counts]
    assert bounded.problem.constraints == RULES[0]
    refuses("has constraints already", constrain, bounded, RULES[1])
