"""Paths in the free inputs, against the chain's own tracker and the certified count."""

from __future__ import annotations

import numpy as np
import pytest

from numeric.chains.chain import make_chain
from numeric.chains.inputs import inputs_form
from numeric.chains.lanes import inputs
from numeric.chains.lanes.linalg import LANES, factor, workspace
from numeric.tracking.inputs.tracker import turn
from numeric.tracking.lines import detour
from numeric.tracking.settings import TrackerSettings
from numeric.tracking.tracker import DONE, ChainLines, _legs, track
from tests.numeric.chains.test_inputs import CASES, equations

ONE = np.zeros(1, np.int64)


def filled(form, vector, other, x):
    """A workspace on the line between two instances, at t = 0, and its table."""
    o = inputs.make_table(form, 6)
    ws = workspace(o.slots)
    for at, values in ((o.base, vector), (o.slope, other - vector), (o.x, x), (o.new_x, x)):
        ws[at : at + len(values), 0] = values.real[:, None]
        ws[at : at + len(values), 1] = values.imag[:, None]
    return ws, o


@pytest.mark.parametrize("case", CASES, ids=str)
def test_kernels_agree_with_the_equations(case):
    """Residual in pairs and the Jacobian, compared with the expanded equations."""
    chain = make_chain(case)
    form = inputs_form(chain)
    rng = np.random.default_rng(3)
    vector = form.reduce(chain.random(rng)[0]).vector
    x = rng.standard_normal(form.unknowns) + 1j * rng.standard_normal(form.unknowns)
    ws, o = filled(form, vector, vector, x)
    inputs.set_parameters(ws, o, np.zeros(LANES), o.x)
    inputs.set_states(ws, o, o.x, o.states)
    inputs.set_matrix(ws, o, o.states, np.ones((o.group_count, LANES)))
    order = o.places.ravel()
    scale = ws[o.row_scale : o.row_scale + o.unknowns, 0, 3][order]
    value = -equations(form, vector, x)
    step = ws[o.step : o.step + o.unknowns]
    inputs.pair_parameters(ws, o, np.zeros(LANES))
    inputs.pair_states(ws, o)
    inputs.pair_residual(ws, o, o.step)
    assert np.allclose((step[:, 0, 3] + 1j * step[:, 1, 3])[order] / scale, value)
    q = o.unknowns
    matrix = ws[o.matrix : o.matrix + q * q].reshape(q, q, 2, LANES)
    matrix = ((matrix[:, :, 0, 3] + 1j * matrix[:, :, 1, 3])[order].T / scale).T
    for v in range(q):
        h = 1e-6 * (np.arange(q) == v)
        slope = (equations(form, vector, x + h) - equations(form, vector, x - h)) / 2e-6
        assert np.allclose(matrix[:, v], slope, atol=1e-7)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_taylor_coefficients_solve_the_equations(case):
    """The equations along the Taylor polynomial vanish to its order."""
    chain = make_chain(case)
    form = inputs_form(chain)
    rng = np.random.default_rng(4)
    parameters, root = chain.random(rng)
    at = form.reduce(parameters)
    other = form.reduce(chain.random(rng)[0]).vector
    x = form.unknowns_of(at, root[None])[0]
    ws, o = filled(form, at.vector, other, x)
    q = o.unknowns
    pivots, pattern = np.zeros((q, LANES), np.int64), np.zeros((q, q + 2), np.int64)
    inputs.set_parameters(ws, o, np.zeros(LANES), o.x)
    inputs.set_states(ws, o, o.x, o.states)
    inputs.set_matrix(ws, o, o.states, np.ones((o.group_count, LANES)))
    factor(ws, o.matrix, q, pivots, pattern, o.scratch)
    inputs.taylor(ws, o, pivots, pattern)
    series = ws[o.x : o.x + (o.order + 1) * q].reshape(o.order + 1, q, 2, LANES)
    series = series[:, :, 0, 5] + 1j * series[:, :, 1, 5]
    errors = []
    for h in (1e-2, 5e-3):
        point = sum(c * h**j for j, c in enumerate(series))
        line = at.vector + h * (other - at.vector)
        errors.append(np.abs(equations(form, line, point)).max())
    assert errors[1] < max(errors[0] * 0.5**6, 1e-13)


@pytest.mark.parametrize("case", CASES[:2], ids=str)
@pytest.mark.parametrize("second_turn", [0, 7])
def test_endpoints_are_roots_of_the_chain(case, second_turn):
    """Every line to an instance leads to the same roots."""
    chain = make_chain(case)
    rng = np.random.default_rng(5)
    (first, root), (second, _) = chain.random(rng), chain.random(rng)
    for via in (None, detour(np.array([0.5]), np.array([0.2]), 1)):
        done = track(
            chain, first[None], second[None], ONE, ONE, root[None],
            second_turn=np.array([second_turn]), via=via,
        )  # fmt: skip
        assert done.status.tolist() == [DONE]
        assert np.abs(chain.residual_at(second, done.roots[0])).max() < 1e-8
        assert done.reached == pytest.approx(1.0)


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_a_path_does_not_see_its_neighbours(case):
    """A path ends at the same point bit for bit, alone or with others in the other lanes."""
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
    """All roots of a real instance, for both choices of equations."""
    from numeric.tracking.monodromy import find_start

    chain = make_chain(CASES[0])
    start = find_start(chain, 18)
    second = chain.random(np.random.default_rng(9))[0]
    zero = np.zeros(start.root_count, np.int64)
    ours = track(chain, start.parameters[None], second[None], zero, zero, start.roots)
    lines = ChainLines(chain, start.parameters[None], second[None], ONE, ONE)
    other = _legs(lines, *lines.vectors, zero, zero, start.roots, TrackerSettings())
    assert (ours.status == DONE).all()
    assert (other.status == DONE).all()
    gaps = np.abs(ours.roots[:, None] - other.roots).max(axis=2)
    assert (gaps.min(axis=0) < 1e-7).all()
    assert (gaps.min(axis=1) < 1e-7).all()


def test_turned_instances_keep_their_roots():
    """Time, states and inputs in other complex units."""
    form = inputs_form(make_chain(CASES[2]))
    parameters, root = form.chain.random(np.random.default_rng(6))
    at = form.reduce(parameters)
    x = form.unknowns_of(at, root[None])[0]
    vector, factors = turn(form, at.vector, 11)
    assert np.abs(vector - at.vector).max() > 0.1
    assert np.abs(equations(form, vector, x * factors)).max() < 1e-12
