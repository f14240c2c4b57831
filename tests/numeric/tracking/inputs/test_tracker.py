"""Paths in the free inputs, compared with dense equations and with the tracker of weights."""

import numpy as np
import pytest

from numeric.engines.homotopy import detour
from numeric.equations.chain import make_chain
from numeric.equations.inputs import inputs_form
from numeric.equations.lanes.inputs import make_inputs
from numeric.equations.lanes.linalg import LANES, workspace
from numeric.equations.lanes.tape import run_tape
from numeric.tracking.inputs.tracker import turn
from numeric.tracking.settings import TrackerSettings
from numeric.tracking.steps import make_work
from numeric.tracking.tracker import DONE, WeightLines, follow_lines, track
from tests.numeric.equations.cases import residual_at
from tests.numeric.equations.test_inputs import CASES, equations

ONE = np.zeros(1, np.int64)


class TapeWorkspace:
    """A workspace of the tapes on the line between two instances, at t = 0."""

    def __init__(self, form, vector, other, x):
        self.o = make_inputs(form, 6)
        self.ws = workspace(self.o.slots)
        self.work = make_work(self.o.unknowns, 1)
        o = self.o
        for at, values in ((o.base, vector), (o.slope, other - vector), (o.x, x), (o.new, x)):
            self.ws[at : at + len(values), 0] = values.real[:, None]
            self.ws[at : at + len(values), 1] = values.imag[:, None]
        self.ws[o.scale : o.scale + o.size] = 1

    def run(self, table, order=0):
        zero = np.zeros(LANES)
        run_tape(
            self.ws, table, order, zero, self.work.pivots, self.work.pattern, self.o.scratch,
            self.o.low,
        )  # fmt: skip

    def read(self, at, count, lane=3):
        return self.ws[at : at + count, 0, lane] + 1j * self.ws[at : at + count, 1, lane]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_newton_step_solves_the_linear_equations(case):
    """The step of the tape is that of a dense solution with differences as Jacobian."""
    form = inputs_form(make_chain(case))
    rng = np.random.default_rng(3)
    vector = form.reduce(form.chain.random(rng)[0]).vector
    q = form.unknowns
    x = rng.standard_normal(q) + 1j * rng.standard_normal(q)
    workspace_ = TapeWorkspace(form, vector, vector, x)
    value = equations(form, vector, x)
    slopes = np.zeros((len(value), q), complex)
    for v in range(q):
        h = 1e-6 * (np.arange(q) == v)
        slopes[:, v] = (equations(form, vector, x + h) - equations(form, vector, x - h)) / 2e-6
    step = -np.linalg.solve(slopes, value)
    o = workspace_.o
    workspace_.run(o.newton)
    found = workspace_.read(o.step, q)
    assert np.allclose(found, step, rtol=1e-5, atol=1e-6 * abs(step).max())
    assert np.allclose(workspace_.read(o.new, q), x + found)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_taylor_coefficients_solve_the_equations(case):
    """The residual along the Taylor polynomial falls with the step as its order demands."""
    chain = make_chain(case)
    form = inputs_form(chain)
    rng = np.random.default_rng(4)
    parameters, root = chain.random(rng)
    at = form.reduce(parameters)
    other = form.reduce(chain.random(rng)[0]).vector
    x = form.unknowns_of(at, root[None])[0]
    workspace_ = TapeWorkspace(form, at.vector, other, x)
    o = workspace_.o
    workspace_.run(o.point)
    workspace_.run(o.series, 1)
    for order in range(2, o.order + 1):
        workspace_.run(o.orders, order)
    series = [workspace_.read(o.x + j * o.size, o.size, 5) for j in range(o.order + 1)]
    errors = []
    for h in (1e-2, 5e-3):
        point = sum(c * h**j for j, c in enumerate(series))
        line = at.vector + h * (other - at.vector)
        errors.append(np.abs(equations(form, line, point)).max())
    assert errors[1] < max(errors[0] * 0.5**6, 1e-13)


@pytest.mark.parametrize("case", CASES[:2], ids=str)
@pytest.mark.parametrize("second_turn", [0, 7])
def test_endpoints_are_roots_of_the_chain(case, second_turn):
    """Straight lines, detours and transformed instances all end in roots of the instance."""
    chain = make_chain(case)
    rng = np.random.default_rng(5)
    (first, root), (second, _) = chain.random(rng), chain.random(rng)
    for via in (None, detour(np.array([0.5]), np.array([0.2]), 1)):
        done = track(
            chain, first[None], second[None], ONE, ONE, root[None],
            second_turn=np.array([second_turn]), via=via,
        )  # fmt: skip
        assert done.status.tolist() == [DONE]
        assert np.abs(residual_at(chain, second, done.roots[0])).max() < 1e-8
        assert done.reached == pytest.approx(1.0)


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_a_path_does_not_depend_on_other_lanes(case):
    """A path has bitwise the same endpoint alone and with paths in the other lanes."""
    chain = make_chain(case)
    rng = np.random.default_rng(5)
    parameters, root = chain.random(rng)
    ends = np.array([chain.random(rng)[0] for _ in range(LANES + 3)])
    every = np.arange(len(ends))
    starts = np.repeat(root[None], len(ends), axis=0)
    together = track(chain, parameters[None], ends, 0 * every, every, starts)
    assert (together.status == DONE).any()
    for k in (0, LANES - 1, LANES + 2):
        alone = track(chain, parameters[None], ends[k : k + 1], ONE, ONE, root[None])
        assert (alone.status[0], alone.steps[0]) == (together.status[k], together.steps[k])
        assert alone.roots.tobytes() == together.roots[k : k + 1].tobytes()


def test_both_trackers_find_the_same_set():
    """The trackers in inputs and in weights find the same roots of an instance."""
    from numeric.tracking.monodromy import find_start

    chain = make_chain(CASES[0])
    start = find_start(chain, 18)
    second = chain.random(np.random.default_rng(9))[0]
    zero = np.zeros(start.root_count, np.int64)
    ours = track(chain, start.parameters[None], second[None], zero, zero, start.roots)
    lines = WeightLines(chain, start.parameters[None], second[None], ONE, ONE)
    other = follow_lines(lines, *lines.vectors, zero, zero, start.roots, TrackerSettings())
    assert (ours.status == DONE).all()
    assert (other.status == DONE).all()
    gaps = np.abs(ours.roots[:, None] - other.roots).max(axis=2)
    assert (gaps.min(axis=0) < 1e-7).all()
    assert (gaps.min(axis=1) < 1e-7).all()


def test_turned_instances_keep_their_roots():
    """An instance with time, states and inputs scaled by complex factors has scaled roots."""
    form = inputs_form(make_chain(CASES[2]))
    parameters, root = form.chain.random(np.random.default_rng(6))
    at = form.reduce(parameters)
    x = form.unknowns_of(at, root[None])[0]
    vector, factors = turn(form, at.vector, 11)
    assert np.abs(vector - at.vector).max() > 0.1
    assert np.abs(equations(form, vector, x * factors)).max() < 1e-12
