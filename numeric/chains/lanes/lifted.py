"""The tapes of the lifted system without condensing, for paths on which weights become large.

Condensing to r unknowns multiplies by W at every step; with weights of size R its matrix
has entries of size R^K that cancel, and double precision fails from R ≈ 10^3 on, although
the states keep size one and the solution is well conditioned.  Here all increments of
weights and states are unknowns of one sparse linear system, solved with row equilibration
and pivoting, so that no factor is multiplied twice by large weights.  A step costs more;
the system is used only for paths that need it.

Unknowns are scaled by the sizes of their groups: roots near infinity have S_k of size R^k, and
pivoting would fail without this scaling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from numeric.chains.lanes.condensed import ChainWriter, error_groups
from numeric.chains.lanes.tape import LaneSystem, Layout, Tape
from numeric.chains.table import IN_D, IN_M, IN_S0, ChainTable

if TYPE_CHECKING:
    from numeric.chains.chain import Chain


class Places(NamedTuple):
    """Positions of unknowns and equations in the lifted system.

    Attributes
    ----------
    column, row : ndarray of int, shape (states,)
        Of each state entry in storage order; -1 for S_0, which is not an unknown.
    cell : ndarray of int, shape (r,)
        Column of each learnable weight.
    label : ndarray of int, shape (r,)
        Row of each label equation.
    """

    column: np.ndarray
    row: np.ndarray
    cell: np.ndarray
    label: np.ndarray


def positions(chain: Chain) -> Places:
    """Positions of unknowns and equations in the lifted system.

    Rows without learnable cells come first, each state with its own equation; then, row by
    row, learnable weights with the equations of their row; last the states of learnable rows.
    """
    n, c, K = chain.widths, chain.columns, chain.steps
    starts = np.concatenate([[0], np.cumsum(n * c)]).astype(int)
    column = np.full(starts[-1], -1, np.int64)
    row = np.full(starts[-1], -1, np.int64)
    cell = np.full(chain.unknowns, -1, np.int64)
    learn: dict[tuple[int, int], list[int]] = {}
    for v, (kind, step, i, _, _) in enumerate(chain.cells):
        if kind == IN_M:
            learn.setdefault((int(step), int(i)), []).append(v)
    at = 0
    rest: list[int] = []

    def cells_of(k: int, i: int) -> list[int]:
        return learn.get((0, i), []) if chain.read_all else learn.get((k, i), [])

    for k in range(1, K + 1):
        for i in range(n[k]):
            for x in range(c):
                entry = starts[k] + i * c + x
                if cells_of(k, i):
                    rest.append(entry)
                else:
                    column[entry] = row[entry] = at
                    at += 1
    # Equations of the learnable rows, grouped by matrix row.
    order = sorted(rest, key=lambda e: _row_of(e, starts, n, c, chain.read_all))
    next_row = at
    for entry in order:
        row[entry] = next_row
        next_row += 1
    for key in sorted(learn):
        for v in learn[key]:
            cell[v] = at
            at += 1
    for v in range(chain.unknowns):
        if cell[v] < 0:
            cell[v] = at
            at += 1
    for entry in order:
        column[entry] = at
        at += 1
    label_row = next_row + np.arange(chain.unknowns)
    return Places(column, row, cell, label_row.astype(np.int64))


def _row_of(
    entry: int, starts: np.ndarray, n: np.ndarray, c: int, shared: bool
) -> tuple[int, int, int]:
    k = int(np.searchsorted(starts, entry, side="right")) - 1
    i = (entry - int(starts[k])) // c
    return (0, i, entry) if shared else (k, i, entry)


def natural_places(t: ChainTable) -> Places:
    """Positions in storage order: the states, then the weights or the label equations."""
    first = int(t.s_at[1])
    states = np.arange(t.states) - first
    weights = t.states - first + np.arange(t.unknowns)
    return Places(states, states, weights, weights)


def write_lifted_residual(
    write: ChainWriter, places: Places, tape: Tape, s: int, z: int, rest: int, step: int, to: int
) -> None:
    """``M S - S`` and ``Y - D Z`` at states s and Z, in the rows of `places` from slot to.

    `rest` is an array for states, `step` one for the label equations.
    """
    t = write.chain
    rows = [(to + int(places.row[e]), e) for e in range(write.s_at[1], t.states)]
    tape.clear(rest, t.states)
    write.products(tape, write.now, s, rest)
    tape.each(tape.copy, ((row, rest + e) for row, e in rows))
    tape.each(tape.subtract, ((row, s + e) for row, e in rows))
    write.residual(tape, z, step)
    tape.each(tape.copy, ((to + int(at), step + e) for e, at in enumerate(places.label)))


def write_lifted_matrix(
    write: ChainWriter, places: Places, tape: Tape, s: int, z: int, to: int
) -> None:
    """The Jacobian of ``S_k - M_k S_{k-1}`` and ``D Z - Y`` at states s and Z, written to slot to.

    Z is linear in the states; its derivatives are the P_k.
    """
    t, n, s_at = write.chain, write.widths, write.s_at
    column, row, cell, label = (part.tolist() for part in places)
    K, c, m, r, now = t.steps, t.columns, t.samples, t.unknowns, write.now
    size = r + s_at[K + 1] - s_at[1]
    tape.clear(to, size * size)
    for k in range(1, K + 1):
        for i in range(n[k]):
            for x in range(c):
                e = s_at[k] + i * c + x
                at = to + row[e] * size
                tape.set_one(at + column[e])
                for j in range(n[k - 1]) if k > 1 else ():
                    source = now + write.m_at[k] + i * n[k - 1] + j
                    tape.subtract(at + column[s_at[k - 1] + j * c + x], source)
    for v, (kind, _, i, j, _) in enumerate(write.cells):
        if kind == IN_M:
            for target, source, step, count in write.places_of(v):
                for q in range(count):
                    at = to + row[target + q * step] * size + cell[v]
                    tape.subtract(at, s + source + q * step)
        elif kind == IN_S0:
            for i1 in range(n[1]):
                at = to + row[s_at[1] + i1 * c + j] * size + cell[v]
                tape.subtract(at, now + write.m_at[1] + i1 * n[0] + i)
    for e, (a, x) in enumerate(write.equations):
        at = to + label[e] * size
        for i in range(n[K]):
            weight = now + t.d_at + a * n[K] + i
            if write.sums:
                for k in range(1, K + 1):
                    for g in range(c):
                        place = at + column[s_at[k] + i * c + g]
                        tape.dots(place, 0, weight, 0, now + write.p_at[k] + g * m + x, 0, 0, 1, 1)
            elif write.each:
                tape.add(at + column[s_at[K - x // c] + i * c + x % c], weight)
            elif K > 0:
                tape.add(at + column[s_at[K] + i * c + x], weight)
        for v, (kind, _, i, j, _) in enumerate(write.cells):
            if kind == IN_D and i == a:
                tape.add(at + cell[v], z + j * m + x)


def make_lifted(chain: Chain, order: int) -> LaneSystem:
    """The lifted system of a chain, for Taylor series of an order."""
    t = chain.table
    r, states, zs, K = t.unknowns, t.states, t.z_size, t.steps
    size, first = r + states, int(t.s_at[1])
    full = size - first
    take = Layout()
    now, base, slope = (take.take(chain.size) for _ in range(3))
    x, z = take.take((order + 1) * size), take.take((order + 1) * zs)
    new, step = take.take(size), take.take(size)
    rest, new_z, labels = take.take(states), take.take(zs), take.take(t.labels * t.samples)
    matrix = take.take(full * full)
    row_scale, column_scale, right = (take.take(full) for _ in range(3))
    unit, scale, scratch = take.take(size), take.take(size), take.take(2)
    each = chain.read_all and chain.samples == chain.steps * chain.columns
    write = ChainWriter(t, now, labels, each=each)
    places = positions(chain)
    free = range(first, states)
    rows = [(right + int(places.row[e]), e) for e in free]
    label_rows = [right + int(at) for at in places.label]

    def set_parameters(tape: Tape, w: int) -> None:
        """Parameters at t, with S_0 among the states that follow the weights at slot w."""
        tape.line(now, base, slope, chain.size)
        write.put(tape, w)
        tape.copy(w + r, now + t.s0_at, first)

    def set_factors(tape: Tape, s: int, z_at: int) -> None:
        for at, v in zip(places.cell.tolist(), range(r), strict=True):
            tape.copy(column_scale + at, scale + v)
        tape.each(tape.copy, ((column_scale + int(places.column[e]), scale + r + e) for e in free))
        write_lifted_matrix(write, places, tape, s, z_at, matrix)
        tape.equilibrate(matrix, full, column_scale, row_scale)
        tape.factor(matrix, full)

    def solve(tape: Tape, to: int) -> None:
        """The solution as weights and states, S_0 included, written to slot to."""
        tape.scale(right, row_scale, full)
        tape.solve(right, matrix, full)
        tape.scale(right, column_scale, full)
        tape.clear(to + r, first)
        for v, (kind, _, i, j, _) in enumerate(write.cells):
            tape.copy(to + v, right + int(places.cell[v]))
            if kind == IN_S0:
                tape.copy(to + r + i * t.columns + j, right + int(places.cell[v]))
        tape.each(tape.copy, ((to + r + e, right + int(places.column[e])) for e in free))

    load = Tape()
    for cell in write.cells:
        load.clear(slope + cell[4], 1)
    load.line(now, base, slope, chain.size)
    write.put(load, x)
    write.states(load, new + r)
    load.copy(new, x, r)

    point = Tape()
    set_parameters(point, x)
    write.read_out(point, x + r, z)

    def expand(tape: Tape, j: int) -> None:
        """Taylor coefficients of order j."""
        to, zt = x + j * size, z + j * zs
        before = to - size + r
        tape.clear(rest, states)
        write.products(tape, slope, before, rest)
        if j > 1:
            write.convolve(tape, x, size, j, rest)
        elif K > 0:
            tape.matmul(
                rest + first, now + write.m_at[1], slope + t.s0_at,
                write.widths[1], write.widths[0], t.columns,
            )  # fmt: skip
        tape.each(tape.copy, ((to_, rest + e) for to_, e in rows))
        tape.clear(new_z, zs)
        write.read_out_slope(tape, slope, before, new_z)
        if K == 0 and j == 1:
            tape.copy(new_z, slope + t.s0_at, zs)
        write.label_series(tape, new_z, z, x, size, slope, j)
        write.label_side(tape, slope, j, label_rows)
        solve(tape, to)
        if j == 1:
            tape.add(to + r, slope + t.s0_at, first)
        write.read_out(tape, to + r, zt)
        write.read_out_slope(tape, slope, before, zt)

    series = Tape()
    set_factors(series, x + r, z)
    expand(series, 1)

    def newton(fresh: bool) -> np.ndarray:
        tape, guess = Tape(), new + r
        set_parameters(tape, new)
        write.read_out(tape, guess, new_z)
        if fresh:
            set_factors(tape, guess, new_z)
        write_lifted_residual(write, places, tape, guess, new_z, rest, step, right)
        solve(tape, step)
        tape.add(new, step, size)
        return tape.table()

    groups, floors = error_groups(chain, t)
    return LaneSystem(
        parameters=chain.size, size=size, unknowns=full, order=order, base=base, slope=slope, x=x,
        new=new, step=step, unit=unit, scale=scale, scratch=scratch, low=0, slots=take.slots,
        groups=groups, floors=floors, lift=r + first, lifts=states - first, load=load.table(),
        point=point.table(), series=series.table(), orders=Tape.affine(expand),
        newton=newton(True), again=newton(False),
    )  # fmt: skip
