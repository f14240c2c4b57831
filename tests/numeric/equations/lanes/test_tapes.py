"""Tapes against plain numpy, and against solutions on a small circle."""

import numpy as np
import pytest

from numeric.equations.arrays import labels, residuals
from numeric.equations.lanes.lifted import places_of
from numeric.equations.lanes.linalg import LANES, workspace
from numeric.equations.lanes.products import ProductWriter
from numeric.equations.lanes.tape import Tape, run_tape, runs
from numeric.equations.system_forms import write_equations
from numeric.tracking.steps import make_work
from tests.numeric.equations.cases import chains

CHAINS = chains()
ORDER = 5


def write(ws, at, values, lane):
    ws[at : at + len(values), 0, lane] = values.real
    ws[at : at + len(values), 1, lane] = values.imag


def read(ws, at, count, lane=0):
    return ws[at : at + count, 0, lane] + 1j * ws[at : at + count, 1, lane]


def play(ws, table):
    """Run a tape that solves nothing."""
    work = make_work(1, 1)
    run_tape(ws, table, 0, np.zeros(LANES), work.pivots, work.pattern, 0, None)


def newton(chain, parameters, w):
    """Newton's method in plain numpy from a good guess."""
    for _ in range(8):
        values, slopes = residuals(chain, parameters, w[None])
        w = w - np.linalg.solve(slopes[0], values[0])
    return w


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_values_and_jacobian(chain):
    """Minus the residual, and the Jacobian, for both layouts of the inputs."""
    for form in (chain.form, chain.raw_form):
        tapes, r = write_equations(form), chain.unknowns
        ws = workspace(tapes.slots)
        lines = []
        for lane in range(LANES):
            first, root = chain.random(np.random.default_rng(lane))
            first[chain.y_at] += 1
            full = first.copy()
            full[chain.cells[:, 4]] = root
            write(ws, 0, full, lane)
            lines.append((first, root))
        for table in (tapes.values, tapes.derivatives):
            play(ws, np.stack([table, np.zeros_like(table)]))
        for lane in (0, 5):
            value, slopes = residuals(chain, lines[lane][0], lines[lane][1][None])
            assert np.allclose(-read(ws, tapes.f, r, lane), value[0])
            found = read(ws, tapes.jacobian, r * r, lane).reshape(r, r)
            assert np.allclose(found, slopes[0])
            assert np.allclose(found, labels(chain, lines[lane][0], lines[lane][1][None])[1][0])


@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_taylor(chain, lifted):
    """The Taylor polynomial of the weights agrees with Newton's solution to the next order."""
    o = chain.lane_system(ORDER, lifted)
    ws = workspace(o.slots)
    lines = []
    for lane in range(LANES):
        first, root = chain.random(np.random.default_rng(lane))
        second, _ = chain.random(np.random.default_rng(1000 + lane))
        slope = second - first
        slope[chain.cells[:, 4]] = 0
        for at, value in ((o.base, first), (o.slope, second - first), (o.x, root)):
            write(ws, at, value, lane)
        lines.append((first, slope))
    r, work = chain.unknowns, make_work(o.unknowns, 1)
    ws[o.scale : o.scale + o.size] = 1

    def step(table, order=0):
        run_tape(ws, table, order, np.zeros(LANES), work.pivots, work.pattern, o.scratch, o.low)

    step(o.load)
    if o.load.shape[1]:
        ws[o.x : o.x + o.size] = ws[o.new : o.new + o.size]
    step(o.point)
    step(o.series, 1)
    for order in range(2, ORDER + 1):
        step(o.orders, order)
    first, slope = lines[2]
    w = np.array([read(ws, o.x + j * o.size, r, 2) for j in range(ORDER + 1)])
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
    write = ProductWriter(chain.form, 0, chain.size)
    for natural in (False, True):
        unknown, column, row, weight, label = places_of(write, natural=natural)
        every = list(range(len(unknown) + chain.unknowns))
        assert sorted([*column[unknown], *weight]) == every
        assert sorted([*row[unknown], *label]) == every


def test_runs_have_constant_steps():
    """Every value occurs once, in maximal runs of constant step."""
    values, more = [0, 2, 4, 5, 9], [1, 2, 3, 3, 7]
    found = runs(values, more)
    assert found == [(0, 3, 2, 1), (3, 2, 4, 4)]
    assert runs([], []) == []


def test_adjacent_slots_are_copied_together():
    """Pairs that advance by one become one instruction; others stay apart."""
    tape = Tape()
    tape.each(tape.copy, [(0, 5), (1, 6), (2, 8), (4, 9)])
    assert [(row[1], row[3], row[8]) for row in tape.rows] == [(0, 5, 2), (2, 8, 1), (4, 9, 1)]


def test_an_order_that_is_not_affine_is_refused():
    """Slots must advance by the same amount from order to order."""
    with pytest.raises(AssertionError):
        Tape.affine(lambda tape, order: tape.clear(order**2, 1))
