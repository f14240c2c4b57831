"""Designs and repairs of models, compared with all choices of a few parameters."""

import itertools
import random

import numpy as np
import pytest

import matchprob as mp
from algebra.questions.design.demand import NoDesign
from matchprob.api.question import problem_or_model
from tests.onnx_models import save
from tests.refusals import refuses


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Two hidden layers with tanh, 3 → 4 → 4 → 2."""
    return save("mlp_tanh", tmp_path_factory.mktemp("models"))


def is_enough(problem, cells):
    """Whether `certify` does not find "minimal" if these weights learn."""
    masks = {name: np.zeros(shape, int) for name, shape in problem.network.shapes.items()}
    for name, i, j in cells:
        masks[name][i, j] = 1
    learning = {name: mask for name, mask in masks.items() if mask.any()}
    return mp.certify(mp.Problem(problem.network, learning)).verdict != "minimal"


def test_the_cheapest_design_of_a_model(model):
    """The design costs as much as the cheapest pair of biases not minimal; its proof verifies."""
    problem = problem_or_model(model, ["l1.bias", "l3.bias"], 1)
    rng = random.Random(0)
    costs = {cell: rng.randint(1, 40) for cell in problem.allocation.cells}
    found = mp.design(problem, costs=costs)
    assert found.design.rank.rank == found.allocation.size == 2
    least = min(
        sum(costs[cell] for cell in pair)
        for pair in itertools.combinations(costs, 2)
        if is_enough(problem, pair)
    )
    assert found.cost == found.design.bound == least
    assert mp.verify(found.proof()).holds


def test_a_demand_that_no_parameters_meet(model):
    """Biases of the last layer change all samples alike: two samples are refused with a reason."""
    problem = problem_or_model(model, ["l3.bias"], 2)
    with pytest.raises(mp.InputError, match="only 2 weights may learn, 4 are needed"):
        mp.design(problem)
    problem = problem_or_model(model, ["l3.*"], 2)
    side = problem.network.shapes["l3.weight"].index(2)
    other = [c for c in problem.allocation.cells if c[0] == "l3.weight" and c[1 + side] == 1]
    with pytest.raises(NoDesign, match="take part in only 3 of 4 independent equations"):
        mp.design(problem, forbidden=other)


def test_a_model_is_repaired(model):
    """Of four weights onto one output two have to move: no single move is enough."""
    everything = problem_or_model(model, ["l3.weight"], 2)
    shape = everything.network.shapes["l3.weight"]
    onto = np.zeros(shape, int)
    onto[(0, slice(None)) if shape[0] == 2 else (slice(None), 0)] = 1
    problem = mp.Problem(everything.network, {"l3.weight": onto})
    found = mp.repair(problem)
    assert (found.before.verdict, found.before.rank, found.before.equations) == ("minimal", 2, 4)
    assert (found.repair.moves, found.repair.bound) == (2, 2)
    assert found.after.verdict != "minimal"
    assert is_enough(problem, found.problem.allocation.cells)
    old = set(problem.allocation.cells)
    others = set(everything.allocation.cells) - old
    # The weights onto one output are equivalent: it is enough to move one of them everywhere.
    gone = min(old)
    assert not any(is_enough(problem, (old - {gone}) | {new}) for new in others)
    assert len(found.edges().splitlines()) == 1 + 4


def test_a_repair_does_not_name_a_budget(model):
    """Its refusal names no budget, which was not given; useless weights of `must` are added to."""
    problem = problem_or_model(model, ["l3.bias"], 2)
    assert "budget" not in str(refuses("", mp.repair, problem, matrices=["l3.bias"]))
    net = mp.LinearEstimator(q=3, d=2, m=2)
    wasted = mp.Problem(net, {"W": [[1, 1, 1], [0, 0, 0]]})
    found = mp.repair(wasted, must=[("W", 0, 0), ("W", 0, 1), ("W", 0, 2)])
    assert found.problem.allocation.size == 5
    assert found.after.verdict == "maximal"
