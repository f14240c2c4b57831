"""The engine `scip`: its verdicts and counts, compared with the tree of activation cells."""

import pytest

from numeric.engines.counter import InstanceCounter
from numeric.engines.scip import scip_verdict
from numeric.families.relu.decide import decide
from numeric.families.relu.decision import MATCH, NONE
from tests.numeric.families.relu.cases import instances, problem

pytest.importorskip("pyscipopt")
MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]


def test_scip_has_the_verdicts_of_the_tree():
    """On 20 instances of a small net SCIP's verdicts are those of `decide`; both occur."""
    seen = set()
    for instance in instances(problem(3, 4, 2, 3, W1=MASK), 20):
        verdict, note = scip_verdict(instance)
        assert verdict == decide(instance).verdict
        assert note.startswith("SCIP")
        seen.add(verdict)
    assert seen == {MATCH, NONE}


def test_scip_decides_a_learnable_readout():
    """If only W2 learns, a linear program, SCIP's verdicts are those of `decide`."""
    case = problem(3, 4, 2, 3, W2=[[1, 1, 1, 0], [1, 1, 0, 0]])
    for instance in instances(case, 4):
        verdict, _ = scip_verdict(instance)
        assert verdict == decide(instance).verdict


def test_scip_in_a_counter():
    """A match is counted as one solution, undetermined; no match is a complete count of 0."""
    case = problem(3, 4, 2, 3, W1=MASK)
    counts = InstanceCounter(case, "scip").count_many(instances(case, 6))
    for count, instance in zip(counts, instances(case, 6), strict=True):
        matched = decide(instance).verdict == MATCH
        assert count.real == int(matched)
        assert (count.status == "complete") == (not matched)
