"""Counts: what each status means for a trial, and what is printed."""

import json

import pytest

from numeric.trials.count_result import CountResult
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount, real_root_histogram


@pytest.mark.parametrize(
    ("real", "status", "outcome"),
    [
        (2, COMPLETE, "matched"),
        (0, COMPLETE, "unmatched"),
        (0, UNDETERMINED, "undetermined"),
        (None, UNDETERMINED, "undetermined"),
        (1, UNDETERMINED, "matched"),
    ],
)
def test_each_status_has_its_outcome(real, status, outcome):
    """Only a complete count of zero is "unmatched"; a certified root is a match in any case."""
    assert InstanceCount(0, real, None, status).outcome == outcome


def test_undetermined_instances_are_left_out_of_counts():
    """Histogram, totals and JSON leave undetermined instances out of the counts."""
    counts = (
        InstanceCount(0, 2, 4, COMPLETE, paths=4, certified=4),
        InstanceCount(1, 0, 4, COMPLETE, paths=4, certified=4),
        InstanceCount(2, 1, 3, UNDETERMINED, "3 of 4 roots", paths=4, retried=1),
    )
    result = CountResult("homotopy", 7, 4, counts, "degree", seconds=1.5, requested=3)
    assert result.histogram == real_root_histogram(counts) == {0: 1, 2: 1}
    assert result.undetermined == 1
    assert len(list(result)) == len(result) == 3
    data = json.loads(json.dumps(result.to_dict()))
    assert data["generic_root_count"] == 4
    assert data["instances"][2] == {
        "index": 2, "real": 1, "complex": 3, "status": "undetermined", "reason": "found one",
        "note": "3 of 4 roots",
    }  # fmt: skip
    assert str(result).startswith("3 instances counted by homotopy, seed 7")
    facts = result.facts()
    assert (facts["undetermined"], facts["paths"], facts["retried"]) == (1, 12, 1)
