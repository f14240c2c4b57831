"""Forged certificates of models that are decided as feed-forward networks."""

import json
import random

import pytest

import matchprob as mp
from algebra.families.verify import verify
from tests.algebra.plugins.models.test_certify import rectified_problem
from tests.old_kinds import as_program
from tests.samples import many


def certified(seed):
    """A certificate of a model of ReLU layers, as plain data."""
    problem = as_program(rectified_problem(random.Random(f"relu/{seed}")))
    return json.loads(mp.certify(problem, search=0.2).to_json())


@pytest.mark.parametrize("seed", [13, 14, 28, *range(many(32))])
def test_forged_verdicts_fail(seed):
    """Another verdict, rank or number of equations does not follow."""
    data = certified(seed)
    assert verify(data).holds
    for verdict in {"minimal", "maximal", "intermediate"} - {data["verdict"]}:
        assert not verify({**data, "verdict": verdict}).holds
    for key in ("rank", "equations"):
        assert not verify({**data, key: data[key] + 1}).holds


@pytest.mark.parametrize("seed", [0, 6, 13, 17, 29])
def test_the_evidence_of_another_model_fails(seed):
    """Which network a model is follows from the model in the file: a verdict "intermediate" is not
    that of other cells, or of a model with another function."""
    data = certified(seed)
    assert data["verdict"] == "intermediate"
    for other in range(100, 106):
        theirs = certified(other)
        if theirs["verdict"] == "undecided" and theirs["problem"] != data["problem"]:
            forged = {**data, "problem": theirs["problem"], "learnable": theirs["learnable"]}
            assert not verify(forged).holds
