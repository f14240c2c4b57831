"""Compiled evaluation against plain numpy and against solutions on a small circle."""

from __future__ import annotations

import numpy as np
import pytest

from numeric.chains.arrays import labels, residuals
from numeric.chains.lanes import condensed as ck
from numeric.chains.lanes import lifted as lk
from numeric.chains.lanes.linalg import LANES, factor, workspace
from numeric.chains.lanes.table import make_table, positions
from tests.numeric.chains.cases import chains

CHAINS = chains()
ORDER = 5


def prepare(chain, order=ORDER):
    """A workspace with a different random line of parameters in every lane, t = 0."""
    o = make_table(chain, order, True)
    slot = o.slot
    ws = workspace(slot.total)
    lines = []
    for lane in range(LANES):
        first, root = chain.random(np.random.default_rng(lane))
        second, _ = chain.random(np.random.default_rng(1000 + lane))
        slope = second - first
        slope[chain.cells[:, 4]] = 0
        for at, value in ((slot.base, first), (slot.slope, slope), (slot.weights, root)):
            ws[at : at + len(value), 0, lane] = value.real
            ws[at : at + len(value), 1, lane] = value.imag
        lines.append((first, slope, root))
    ck.set_point(ws, o, np.zeros(LANES), slot.weights)
    ck.forward(ws, o, slot.states, slot.z)
    return o, ws, lines


def read(ws, at, count, lane=0):
    return ws[at : at + count, 0, lane] + 1j * ws[at : at + count, 1, lane]


def newton(chain, parameters, w):
    """Newton's method in plain numpy from a good guess."""
    for _ in range(8):
        values, slopes = residuals(chain, parameters, w[None])
        w = w - np.linalg.solve(slopes[0], values[0])
    return w


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_jacobian(chain):
    """The condensed Jacobian equals the Jacobian."""
    o, ws, lines = prepare(chain)
    ck.jacobian(ws, o, o.slot.states, o.slot.z)
    r = chain.unknowns
    for lane in (0, 5):
        first, _, root = lines[lane]
        assert np.allclose(
            read(ws, o.slot.jacobian, r * r, lane).reshape(r, r),
            labels(chain, first, root[None])[1][0],
        )


@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_taylor(chain, lifted):
    """The Taylor polynomial of the weights agrees with Newton's solution to the next order."""
    o, ws, lines = prepare(chain)
    slot = o.slot
    r, size = chain.unknowns, chain.unknowns + o.chain.states
    pivots = np.zeros((size, LANES), np.int64)
    columns = np.zeros((size, size + 2), np.int64)
    if lifted:
        units = np.ones((o.group_count + o.chain.steps + 1, LANES))
        lk.lifted_matrix(ws, o, units, slot.states, slot.z)
        factor(ws, slot.lifted, r + o.free, pivots, columns, slot.scratch)
        lk.lifted_taylor(ws, o, pivots, columns)
    else:
        ck.jacobian(ws, o, slot.states, slot.z)
        factor(ws, slot.jacobian, r, pivots, columns, slot.scratch)
        ck.taylor(ws, o, pivots, columns)
    first, slope, _ = lines[2]
    w = read(ws, slot.weights, (ORDER + 1) * r, 2).reshape(ORDER + 1, r)
    errors = []
    for h in (2e-3, 1e-3):
        guess = (w * h ** np.arange(ORDER + 1)[:, None]).sum(axis=0)
        errors.append(np.abs(newton(chain, first + h * slope, guess) - guess).max())
    scale = np.abs(w[0]).max()
    # Halving the step divides the error by 2^(ORDER + 1) = 64, down to rounding.
    assert errors[1] <= errors[0] / 30 or errors[1] < 1e-12 * scale


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_lifted_system_has_as_many_rows_as_columns(chain):
    """Unknowns and equations of the lifted system each fill the places 0 … size - 1."""
    column, row, cell, label = positions(chain)
    size = int((column >= 0).sum()) + chain.unknowns
    assert sorted([*column[column >= 0], *cell]) == list(range(size))
    assert sorted([*row[row >= 0], *label]) == list(range(size))
