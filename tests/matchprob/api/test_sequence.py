"""Verbs on linear RNNs that are read at every step."""

from pathlib import Path

import numpy as np
import pytest

import matchprob as mp
from algebra.plugins.papers.theorems.statements import THEOREMS, what_theorems_say
from matchprob import Allocation, LinearRNN, Problem, SequenceRNN, draw_instance
from tests.samples import LONG

EXAMPLE = Path(__file__).parents[3] / "examples" / "sequence.toml"
FEW = Problem(
    SequenceRNN(n=4, T=2, b=2, d=2, m=1),
    {"W": [[1, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]},
)


def test_example_of_a_sequence():
    """`examples/sequence.toml` is read, inspected, certified and verified: 6 weights of rank 6."""
    problem = mp.load_problem(EXAMPLE)
    assert problem.network == SequenceRNN(n=4, T=3, b=1, d=2, m=1)
    found = mp.inspect(problem)
    assert [form.form for form in found.forms] in (["B"], ["D"])
    certificate = mp.certify(problem)
    assert (certificate.equations, certificate.rank, certificate.learnable) == (6, 6, 6)
    assert mp.verify(certificate).holds


def test_counts_equal_those_of_the_last_output():
    """With m = b real solutions depend on the weights only: as for the linear RNN with Tb samples.

    The weights of student and teacher in a trial are the same for both networks, since the random
    streams depend on nothing but the shapes.
    """
    cells = [("W", 0, 0), ("W", 1, 1)]
    net, last = SequenceRNN(n=2, T=2, b=1, d=1, m=1), LinearRNN(n=2, T=2, b=1, d=1, m=2)
    one = mp.count(Problem.of(Allocation.from_cells(net, cells)), instances=40, seed=3)
    other = mp.count(Problem.of(Allocation.from_cells(last, cells)), instances=40, seed=3)
    assert [i.real for i in one.instances] == [i.real for i in other.instances]
    assert {i.real for i in one.instances} == {0, 2}
    assert {i.status for i in one.instances} == {"complete"}


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_tracked_and_exact_counts_of_sequences_agree(samples):
    """Path tracking and exact solution find the same numbers of real solutions."""
    net = SequenceRNN(n=4, T=2, b=2, d=1, m=samples)
    cells = [("W", 0, 0), ("W", 1, 2), ("W", 2, 1), ("W", 3, 3)][: 2 * min(2, samples)]
    problem = Problem.of(Allocation.from_cells(net, cells))
    few = 4 if LONG else 2
    tracked = mp.count(problem, instances=few, seed=1)
    exact = mp.count(problem, instances=few, seed=1, engine="exact")
    assert tracked.generic_root_count == exact.generic_root_count > 1
    assert [i.real for i in tracked.instances] == [i.real for i in exact.instances]
    assert {i.status for i in tracked.instances} == {"complete"}


def test_solutions_reproduce_the_teacher_s_trajectories():
    """The network with the weights of a real solution has the teacher's outputs at every step."""
    found = mp.count(FEW, instances=5, seed=0)
    met = 0
    for number, counted in enumerate(found.instances):
        instance = draw_instance(FEW, 0, number)
        for root in np.asarray(counted.solutions if counted.solutions is not None else []):
            if np.isrealobj(root) or not np.abs(root.imag).max():
                assert instance.residual(instance.with_weights(root.real)) < 1e-9
                met += 1
    assert met >= 2


def test_estimate_of_a_sequence():
    """The estimate lies strictly between 0 and 1, with no undetermined trial."""
    found = mp.estimate(FEW, trials=30, seed=0)
    assert (found.matched + found.unmatched, found.undetermined) == (30, 0)
    assert 0 < found.estimate < 1


def test_theorems_are_silent_on_sequences():
    """The papers' theorems are stated for the last output: none applies to a sequence."""
    assert set(what_theorems_say(FEW.network, FEW.allocation).values()) == {"silent"}
    assert not any(theorem.matrices(FEW.network) for theorem in THEOREMS.values())


def test_atlas_of_a_sequence():
    """The orbits of two weights have the verdicts of the linear RNN with Tb samples."""
    one = mp.atlas(SequenceRNN(n=3, T=2, b=1, d=1, m=1), budget=2)
    other = mp.atlas(LinearRNN(n=3, T=2, b=1, d=1, m=2), budget=2)
    assert [entry.verdict for entry in one.entries] == [entry.verdict for entry in other.entries]
    assert {entry.verdict for entry in one.entries} == {"maximal", "intermediate"}


@pytest.mark.parametrize("goal", ["cheapest", "maximal", "neurons", "spread"])
def test_designs_of_sequences(goal):
    """A design has as many weights as equations and full rank; goal "maximal" is certified."""
    problem = mp.design(Problem(SequenceRNN(n=3, T=2, b=1, d=1, m=1), {}), goal=goal).problem
    certificate = mp.certify(problem)
    assert certificate.rank == certificate.equations == problem.allocation.size == 2
    assert goal != "maximal" or certificate.verdict == "maximal"


def test_repair_and_robust_of_sequences():
    """A minimal allocation is repaired; a row with one weight too many may lose one."""
    net = SequenceRNN(n=4, T=2, b=1, d=2, m=1)
    over = Problem.of(Allocation.rows(net, "W", [0]))
    assert mp.certify(over).verdict == "minimal"
    assert mp.certify(mp.repair(over).problem).verdict != "minimal"
    spare = SequenceRNN(n=4, T=2, b=1, d=1, m=1)
    row = Problem.of(Allocation.from_cells(spare, [("W", 0, 0), ("W", 0, 1), ("W", 0, 2)]))
    assert mp.robust(row).survives == 1
