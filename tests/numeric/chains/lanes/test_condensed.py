"""Compiled evaluation against plain numpy and against solutions on a small circle."""

from __future__ import annotations

import numpy as np
import pytest

from numeric.chains.arrays import labels, residuals
from numeric.chains.lanes import condensed as ck
from numeric.chains.lanes import lifted as lk
from numeric.chains.lanes.linalg import LANES, factor, workspace
from tests.numeric.chains.cases import chains

CHAINS = chains()
ORDER = 5


def prepare(chain, order=ORDER):
    """A workspace with a different random line of parameters in every lane, t = 0."""
    tables = ck.layout(chain, order, True)
    o = tables["o"]
    ws = workspace(int(o[ck.SLOTS]))
    lines = []
    for lane in range(LANES):
        first, root = chain.random(np.random.default_rng(lane))
        second, _ = chain.random(np.random.default_rng(1000 + lane))
        slope = second - first
        slope[chain.cells[:, 4]] = 0
        for at, value in ((o[ck.PA], first), (o[ck.PD], slope), (o[ck.WT], root)):
            ws[at : at + len(value), 0, lane] = value.real
            ws[at : at + len(value), 1, lane] = value.imag
        lines.append((first, slope, root))
    args = [tables[k] for k in ("widths", "s_at", "m_at", "p_at")]
    ck.set_point(ws, o, tables["cells"], np.zeros(LANES), o[ck.WT])
    ck.forward(ws, o, *args, o[ck.ST], o[ck.ZT])
    return tables, o, ws, lines, args


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
    """The condensed Jacobian is the Jacobian."""
    tables, o, ws, lines, args = prepare(chain)
    ck.jacobian(ws, o, *args, tables["cells"], tables["equations"], o[ck.ST], o[ck.ZT])
    r = chain.unknowns
    for lane in (0, 5):
        first, _, root = lines[lane]
        assert np.allclose(
            read(ws, o[ck.JAC], r * r, lane).reshape(r, r), labels(chain, first, root[None])[1][0]
        )


@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_taylor(chain, lifted):
    """The Taylor polynomial of the weights meets Newton's solution to the next order."""
    tables, o, ws, lines, args = prepare(chain)
    cells, equations = tables["cells"], tables["equations"]
    r, size = chain.unknowns, chain.unknowns + int(o[ck.STATES])
    pivots = np.zeros((size, LANES), np.int64)
    columns = np.zeros((size, size + 2), np.int64)
    if lifted:
        places = lk.positions(chain)
        units = np.ones((int(o[ck.GROUPS] + o[ck.STEPS]) + 1, LANES))
        lk.lifted_matrix(
            ws, o, *args, cells, equations, tables["groups"], *places, units,
            o[ck.ST], o[ck.ZT], o[ck.LIFTED], o[ck.LIFTED_ROWS],
        )  # fmt: skip
        full = size - int(tables["s_at"][1])
        factor(ws, o[ck.LIFTED], full, pivots, columns, o[ck.TMP])
        lk.lifted_taylor(
            ws, o, *args, cells, equations, pivots, columns, *places,
            o[ck.LIFTED], o[ck.LIFTED_ROWS], o[ck.LIFTED_RHS],
        )  # fmt: skip
    else:
        ck.jacobian(ws, o, *args, cells, equations, o[ck.ST], o[ck.ZT])
        factor(ws, o[ck.JAC], r, pivots, columns, o[ck.TMP])
        ck.taylor(ws, o, *args, cells, equations, pivots, columns)
    first, slope, _ = lines[2]
    w = read(ws, o[ck.WT], (ORDER + 1) * r, 2).reshape(ORDER + 1, r)
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
    column, row, cell, label = lk.positions(chain)
    size = int((column >= 0).sum()) + chain.unknowns
    assert sorted([*column[column >= 0], *cell]) == list(range(size))
    assert sorted([*row[row >= 0], *label]) == list(range(size))
