"""The engine `scip`: texts and numbers of its results."""

import pytest

from numeric.engines.counter import InstanceCounter
from numeric.engines.scip import scip_verdict
from numeric.relu.decide import decide
from numeric.relu.decision import MATCH, NONE
from tests.numeric.relu.cases import instances, problem

pytest.importorskip("pyscipopt")
MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]


def test_answers_are_those_of_the_tree():
    """Matches and refutations of small nets, one by one."""
    seen = set()
    for instance in instances(problem(3, 4, 2, 3, W1=MASK), 20):
        verdict, note = scip_verdict(instance)
        assert verdict == decide(instance).verdict
        assert note.startswith("SCIP")
        seen.add(verdict)
    assert seen == {MATCH, NONE}


def test_readout_that_learns():
    """With W2 alone learning the program is linear."""
    case = problem(3, 4, 2, 3, W2=[[1, 1, 1, 0], [1, 1, 0, 0]])
    for instance in instances(case, 4):
        verdict, _ = scip_verdict(instance)
        assert verdict == decide(instance).verdict


def test_engine_by_name():
    """`scip` counts a match as one solution at least, and none as complete."""
    case = problem(3, 4, 2, 3, W1=MASK)
    counts = InstanceCounter(case, "scip").count_many(instances(case, 6))
    for count, instance in zip(counts, instances(case, 6), strict=True):
        matched = decide(instance).verdict == MATCH
        assert count.real == int(matched)
        assert (count.status == "complete") == (not matched)
