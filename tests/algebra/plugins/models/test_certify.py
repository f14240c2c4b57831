"""Verdicts on models of ReLU layers and of matrices: those of the network of the kind."""

import json
import random

import pytest

import matchprob as mp
from algebra.arguments.certify import THEOREMS as ARGUED
from algebra.checker.premises import common
from algebra.families.verify import verify
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.plugins.relu.certify import THEOREMS as WITH_RELU
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.as_layers import COVERED, decided_as_layers
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import all_cells
from tests.algebra.problems.test_as_layers import model, question
from tests.old_kinds import as_program
from tests.samples import many


def rectified_problem(rng):
    """Random cells of a network of ReLU layers, often of its first matrix only."""
    q, n, d, m = (rng.randint(1, most) for most in (3, 4, 2, 4))
    net = rng.choice([
        ShallowReLU(q=q, n=n, d=d, m=m),
        FeedForward(q=q, widths=(n,), d=d, m=m, activation="relu", biases=True),
        FeedForward(q=q, widths=(n, 2), d=d, m=m, activation="relu"),
    ])  # fmt: skip
    names = {"W1"} if rng.random() < 0.4 else net.shapes.keys()
    cells = [cell for cell in all_cells(net) if cell[0] in names and rng.random() < 0.5]
    return Problem.of(Allocation.from_cells(net, cells))


@pytest.mark.parametrize("seed", range(many(80)))
def test_verdicts_of_networks_with_relu(seed):
    """The same verdict by the same rule: budgets, or an instance without a match."""
    ours = rectified_problem(random.Random(f"relu/{seed}"))
    kind, program = (mp.certify(p, search=0.2) for p in (ours, as_program(ours)))
    assert program.verdict == kind.verdict, ours
    for found in (kind, program):
        assert verify(json.loads(found.to_json())).holds
    if kind.verdict == "intermediate":
        assert program.rule == kind.rule
        assert "decided as a network of kind" in program.notes[-1]


@pytest.mark.parametrize("seed", range(many(40)))
def test_matrices_by_columns_are_a_linear_network(seed):
    """A model without a function is decided as a chain: a root count needs one."""
    rng = random.Random(f"columns/{seed}")
    problem = question(rng, model(rng, function="linear"))
    found = decided_as_layers(problem)
    if not isinstance(found.problem.network, LinearFeedForward):
        return
    program, chain = (mp.certify(p, search=0.2) for p in (problem, found.problem))
    assert (program.verdict, program.rule, program.generic_root_count) == (
        chain.verdict, chain.rule, chain.generic_root_count,
    )  # fmt: skip
    assert verify(json.loads(program.to_json())).holds


def test_smooth_models_and_arbitrary_labels_are_decided_themselves():
    """Of these the arguments say as much of the program."""
    network = model(random.Random("smooth"), function="tanh")
    assert decided_as_layers(Problem(network, {})) is None
    network = model(random.Random("relu"), function="relu")
    assert decided_as_layers(Problem(network, {})) is not None
    arbitrary = Problem(network, {}, distribution=mp.Distribution(labels="normal"))
    assert decided_as_layers(arbitrary) is None


def test_theorems_cover_what_is_decided_as_layers():
    """Both families cover each feature that a reduced problem may have: another one that is carried
    over has to be proved for them first."""
    carried = COVERED - {Feature.ARBITRARY_LABELS, Feature.NOISE}
    nonlinear = {Feature.POLYNOMIAL, Feature.ANALYTIC}
    assert carried - nonlinear <= common(WITH_RELU)
    assert carried - {Feature.PIECES} <= common(ARGUED)
