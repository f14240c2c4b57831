"""Decisions of ReLU instances, compared with brute force, a second tree and SCIP."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.plugins.relu.decision import DECISION
from algebra.plugins.relu.equations import relu_system
from algebra.plugins.relu.leaves import refutes
from algebra.problems.files import problem_from_dict
from numeric.plugins.relu.complementarity import ComplementarityEngine
from numeric.plugins.relu.decide import decide, decide_cells
from numeric.plugins.relu.decision import MATCH, NONE, UNDETERMINED
from numeric.plugins.relu.pairs import decide_pairs
from numeric.trials.counts import COMPLETE
from tests.numeric.plugins.relu.cases import (
    brute_force,
    instances,
    problem,
    random_problem,
    with_idle_units,
)
from tests.refusals import refuses
from tests.samples import LONG, many


def _check(instance, found):
    """Assert that the evidence of a decision holds over Q."""
    system = relu_system(instance.allocation, *instance.exact)
    if found.verdict == MATCH:
        assert system.is_witness(list(found.witness))
    elif found.leaves is not None:
        assert refutes(system, found.leaves)


def _agreed(instance):
    """The decision of an instance: its evidence holds over Q, and brute force agrees."""
    found = decide(instance, certify=True)
    _check(instance, found)
    solutions, freedom = brute_force(instance)
    assert found.verdict == (MATCH if solutions or freedom else NONE)
    return found


def test_a_column_of_more_than_d_weights_can_match():
    """Section 5 of the first paper claims 4.1's column condition for ReLU: it does not hold."""
    case = problem(2, 2, 1, 2, W1=[[1, 0], [1, 0]])
    drawn = instances(case, 16)
    found = [decide(instance, certify=True) for instance in drawn]
    for instance, decision in zip(drawn, found, strict=True):
        _check(instance, decision)
    verdicts = [decision.verdict for decision in found]
    assert set(verdicts) == {MATCH, NONE}
    assert 3 <= verdicts.count(MATCH) <= 13


@pytest.mark.parametrize("part", range(4))
def test_brute_force_agrees_on_tiny_instances(part):
    """The decision agrees with all patterns' linear equations, one by one."""
    rng = np.random.default_rng(100 + part)
    for _ in range(many(30)):
        case = random_problem(rng, surplus=int(rng.integers(-1, 2)) if part % 2 else 0)
        for instance in instances(case, many(5), seed=part):
            _agreed(instance)


@pytest.mark.parametrize("part", range(2 if LONG else 1))
@pytest.mark.filterwarnings("error")
def test_units_without_effect_do_not_change_decisions(part):
    """With units whose column of W2 is zero decisions are those of brute force, and verify."""
    rng = np.random.default_rng(300 + part)
    idle = 0
    for _ in range(6):
        case = with_idle_units(rng, random_problem(rng, surplus=int(rng.integers(0, 2))))
        for instance in instances(case, 3, seed=part):
            assert DECISION.verify(_agreed(instance).certificate()).holds
            idle += bool(relu_system(instance.allocation, *instance.exact).idle)
    assert idle > 4


@pytest.mark.filterwarnings("error")
def test_counts_with_units_without_effect():
    """Brute force finds as many solutions; a learnable weight without effect leaves a continuum."""
    rng = np.random.default_rng(17)
    complete = 0
    for _ in range(12 if LONG else 6):
        case = with_idle_units(rng, random_problem(rng))
        for instance in instances(case, 2):
            solutions, freedom = brute_force(instance)
            (found,) = ComplementarityEngine(complete=True).count_many([instance])
            if found.status == COMPLETE:
                assert (freedom, found.real) == (False, len(solutions))
                complete += 1
            else:
                assert (freedom, found.real > 0) == (True, True)
    assert complete > (8 if LONG else 3)


@pytest.mark.long
def test_brute_force_agrees_on_many_tiny_instances():
    """The decision agrees with brute force on a thousand instances."""
    rng = np.random.default_rng(7)
    for _ in range(250):
        case = random_problem(rng)
        for instance in instances(case, 4):
            _agreed(instance)


def _figure(n: int, rows: int):
    sizes = {"kind": "relu", "q": 6, "n": n, "d": 4, "m": 6}
    return problem_from_dict(
        {"network": sizes, "learnable": {"W1": {"random": {"budget": 24, "rows": rows}}}}
    )


@pytest.mark.parametrize(
    ("n", "rows", "count"), [(8, 8, many(6)), (8, 6, many(6)), (10, 8, many(3))]
)
def test_both_trees_agree_with_evidence(n, rows, count):
    """Branching on pairs and on cells gives the same verdict; that on cells has evidence."""
    for instance in instances(_figure(n, rows), count):
        cells = decide_cells(instance, certify=True)
        _check(instance, cells)
        assert cells.verdict != UNDETERMINED
        pairs = decide_pairs(instance, most_nodes=20_000)
        assert pairs.verdict in (cells.verdict, UNDETERMINED)


def test_evidence_is_a_file_that_verifies():
    """Certificates of both verdicts verify; with a changed number or a missing leaf they fail."""
    seen = set()
    for instance in instances(_figure(8, 8), 12):
        found = decide(instance, certify=True)
        if found.verdict in seen:
            continue
        seen.add(found.verdict)
        data = found.certificate()
        assert DECISION.verify(data).holds
        worse = dict(data)
        if found.verdict == MATCH:
            worse["witness"] = ["1/3", *data["witness"][1:]]
        else:
            worse["leaves"] = data["leaves"][:-1]
        assert not DECISION.verify(worse).holds
        if len(seen) == 2:
            break
    assert seen == {MATCH, NONE}


@pytest.mark.parametrize(("rows", "count"), [(8, 12), (5, 6)])
def test_scip_agrees(rows, count):
    """SCIP, with special ordered sets, has the same verdicts or none."""
    pytest.importorskip("pyscipopt")
    from tests.numeric.plugins.relu.scip_oracle import scip_verdict

    for instance in instances(_figure(8, rows), count, seed=3):
        verdict, _ = scip_verdict(instance, timeout=60)
        assert verdict in (decide(instance).verdict, UNDETERMINED)


def test_scip_decides_a_learnable_readout():
    """If only W2 learns, a linear program, SCIP has the verdicts of `decide`."""
    pytest.importorskip("pyscipopt")
    from tests.numeric.plugins.relu.scip_oracle import scip_verdict

    case = problem(3, 4, 2, 3, W2=[[1, 1, 1, 0], [1, 1, 0, 0]])
    for instance in instances(case, 4):
        assert scip_verdict(instance)[0] == decide(instance).verdict


@pytest.mark.long
def test_scip_agrees_on_five_hundred():
    """SCIP has the same verdicts on 520 instances of medium size, of which it decides 500."""
    pytest.importorskip("pyscipopt")
    from tests.numeric.plugins.relu.scip_oracle import scip_verdict

    decided = 0
    for n, rows in ((8, 8), (8, 7), (6, 6), (10, 8)):
        for instance in instances(_figure(n, rows), 130, seed=11):
            verdict, _ = scip_verdict(instance, timeout=60)
            assert verdict in (decide(instance).verdict, UNDETERMINED)
            decided += verdict != UNDETERMINED
    assert decided >= 500


def test_learnable_readout_alone_is_linear():
    """If only W2 learns the labels are linear: decided, with evidence over Q."""
    case = problem(3, 4, 2, 3, W2=[[1, 1, 1, 0], [1, 1, 1, 0]])
    for instance in instances(case, 6):
        found = decide(instance, certify=True)
        assert found.verdict in (MATCH, NONE)
        _check(instance, found)
        active = np.maximum(instance.weights["W1"] @ instance.X, 0)[:3]
        assert (found.verdict == MATCH) or np.linalg.matrix_rank(active) < 3


def test_decide_refuses_learnable_weights_in_both_layers():
    """If W1 and W2 both learn a pattern's equations are bilinear; the message says so."""
    case = problem(2, 2, 1, 2, W1=[[1, 0], [0, 0]], W2=[[1, 0]])
    refuses("bilinear", decide, instances(case, 1)[0])


def test_samples_with_labels_of_0_may_match():
    """A sample whose label is 0 may be matched with all units off.

    Lemmas D.3 and D.4 exclude such patterns, but do not hold for such samples.
    """
    case = problem(2, 1, 1, 1, W1=[[1, 0]])
    seen = set()
    for instance in instances(case, 30):
        found = _agreed(instance)
        if not instance.labels.any():
            seen.add(found.verdict)
    assert MATCH in seen


def test_decisions_with_whole_rows_that_learn():
    """Decisions agree with brute force if the hyperplanes of each unit all meet at w = 0."""
    case = problem(3, 2, 2, 3, W1=[[1, 1, 1], [1, 1, 1]])
    for instance in instances(case, 12):
        _agreed(instance)


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(4)), st.integers(0, 50))
def test_order_of_units_does_not_matter(order, index):
    """Renaming hidden units does not change the result."""
    case = problem(3, 4, 2, 3, W1=[[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]])
    instance = instances(case, index + 1)[index]
    order = list(order)
    masks = np.array(case.learnable["W1"])[order].tolist()
    renamed = problem(3, 4, 2, 3, W1=masks)
    other = instances(renamed, 1)[0]
    moved = replace(
        other,
        X=instance.X,
        teacher={"W1": instance.teacher["W1"][order], "W2": instance.teacher["W2"][:, order]},
        weights={"W1": instance.weights["W1"][order], "W2": instance.weights["W2"][:, order]},
    )
    assert decide(instance).verdict == decide(moved).verdict


def test_few_nodes_leave_a_decision_undetermined():
    """With one node some instances are undetermined and have no certificate."""
    found = [decide(i, most_nodes=1) for i in instances(_figure(8, 8), 12)]
    assert any(f.verdict == UNDETERMINED and "given up" in f.note for f in found)
    refuses("no certificate", next(f for f in found if f.verdict == UNDETERMINED).certificate)
