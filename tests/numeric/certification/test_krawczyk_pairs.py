"""Krawczyk's test in pairs: it proves what the test in balls proves, and nothing else."""

import json
from pathlib import Path

import numpy as np
import pytest

from matchprob import Allocation, LinearRNN, Problem, draw_instance
from numeric.certification.krawczyk import FAILED, NONREAL, REAL, certify_roots, make_target
from numeric.certification.krawczyk_balls import certify_exact
from numeric.certification.krawczyk_pairs import InputsTarget
from numeric.engines.homotopy import HomotopyEngine
from numeric.equations.chain import make_chain
from numeric.tracking.tracker import DONE, track
from tests.numeric.equations.test_inputs import CASES, COUNTS

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module", params=list(zip(CASES, COUNTS, strict=True)), ids=str)
def ends(request):
    """A system, an instance, its target, and endpoints in weights and inputs."""
    problem, root_count = Problem.of(request.param[0]), request.param[1]
    engine = HomotopyEngine(problem, root_count=root_count, cache=False)
    instance = draw_instance(problem, 4, 0)
    parameters, zero = engine.system.parameters(instance), np.zeros(engine.start.root_count, int)
    tracked = track(
        engine.system, engine.start.parameters[None], parameters[None], zero, zero,
        engine.start.roots, second_turn=np.full(1, 3),
    )  # fmt: skip
    form = engine.system.free_inputs()
    target = InputsTarget(form, instance, form.reduce(parameters))
    good = tracked.status == DONE
    return (
        engine.system,
        instance,
        target,
        tracked.roots[good],
        tracked.lifts[good, len(form.numbers) :],
    )


def test_proved_roots_are_those_of_the_test_in_balls(ends):
    """All endpoints are proved; kinds agree with balls on the exact instance, and discs meet."""
    system, instance, target, weights, inputs = ends
    found = target.certify(weights, inputs)
    exact = certify_exact(system, instance, weights)
    assert (found.kind != FAILED).all()
    assert (found.kind == exact.kind).all()
    gap = np.abs(found.roots - exact.roots)
    assert (gap <= (found.radii + exact.radii) * (1 + 1e-12)).all()
    size = np.abs(found.roots).max(axis=1, keepdims=True)
    assert (found.radii <= 1e-15 * size).all()


def test_doubles_agree_where_they_prove(ends):
    """Kinds agree with the test in doubles wherever that succeeds."""
    system, instance, target, weights, inputs = ends
    found = target.certify(weights, inputs)
    doubles = certify_roots(system, make_target(system, instance), weights)
    proved = doubles.kind != FAILED
    assert proved.any()
    assert (found.kind[proved] == doubles.kind[proved]).all()


def test_wrong_points_prove_nothing(ends):
    """From points that are no roots Newton's method finds a true one, or nothing is proved."""
    system, instance, target, weights, inputs = ends
    rng = np.random.default_rng(0)
    moved = weights + rng.standard_normal(weights.shape)
    found = target.certify(moved, inputs + rng.standard_normal(inputs.shape))
    some = found.kind != FAILED
    exact = certify_exact(system, instance, found.roots[some])
    assert (exact.kind == found.kind[some]).all()
    lost = weights.copy()
    lost[:, 0] = np.nan
    assert (target.certify(lost, inputs).kind == FAILED).all()


def test_an_inverse_in_pairs_proves_ends_of_large_condition():
    """Two ends with weights of 10^7 and a condition beyond doubles are proved, as in balls."""
    rows = ("0289ab", "0379ab", "89a", "23569", "0567")
    cells = [("W", i, int(j, 12)) for i, row in enumerate(rows) for j in row]
    problem = Problem.of(Allocation.from_cells(LinearRNN(n=12, T=6, b=1, d=4, m=6), cells))
    instance, chain = draw_instance(problem, 5, 1004), make_chain(problem.allocation)
    form = chain.free_inputs()
    target = InputsTarget(form, instance, form.reduce(chain.parameters(instance)))
    ends = json.loads((DATA / "hard_ends.json").read_text(encoding="utf-8"))
    weights, inputs = (
        np.array([[complex(*z) for z in end[name]] for end in ends])
        for name in ("weights", "inputs")
    )
    found = target.certify(weights, inputs)
    assert found.kind.tolist() == [REAL, NONREAL]
    assert [end["kind"] for end in ends] == ["real", "nonreal"]
    exact = certify_exact(chain, instance, weights)
    assert (found.kind == exact.kind).all()
    gap = np.abs(found.roots - exact.roots)
    assert (gap <= (found.radii + exact.radii) * (1 + 1e-12)).all()
    # A system of another instance has no root there.
    other = draw_instance(problem, 5, 1005)
    target = InputsTarget(form, other, form.reduce(chain.parameters(other)))
    assert (np.abs(target.certify(weights, inputs).roots - found.roots) > found.radii).any()
