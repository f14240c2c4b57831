r"""The tapes of a curve of labels and a moving section (`numeric.tracking.label_curve`).

Unknowns are the weights w and a number τ: the labels of w are ``Y + τ V``, and the form
``(1, w)ᵀ Q (1, τ) = 0`` cuts the curve of all (w, τ) in points.  Only Q moves; Y, V and all fixed
weights stay.  As in `numeric.chains.lanes.condensed` the states are unknowns too, and condensing
leaves r + 1 equations: those of the labels with a column −V, and the section's

    Σ_i (Q_i0 + τ Q_i1) δw_i + (Q_c1 + Σ_i w_i Q_i1) δτ,

whose Taylor coefficients are convolutions of τ with ``b = Q_c1 + Σ_i w_i Q_i1``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from numeric.chains.lanes.condensed import FLOOR, ChainWriter, error_groups, jacobian_sizes
from numeric.chains.lanes.tape import LaneSystem, Layout, Tape

if TYPE_CHECKING:
    from numeric.chains.chain import Chain


def make_curve(chain: Chain, order: int) -> LaneSystem:
    """The system of a chain's curves, for Taylor series of an order.

    Parameters are those of the chain, V (r) and Q (r + 1 rows of two); coordinates are the weights,
    the states and τ.
    """
    t = chain.table
    r, states, zs = t.unknowns, t.states, t.z_size
    size, many = r + states + 1, chain.size + r + 2 * (r + 1)
    take = Layout()
    now, base, slope = (take.take(many) for _ in range(3))
    x, z = take.take((order + 1) * size), take.take((order + 1) * zs)
    new, step = take.take(size), take.take(size)
    rest, sigma, new_states = (take.take(states) for _ in range(3))
    new_z, labels, jacobian = take.take(zs), take.take(t.labels * t.samples), take.take(r * r)
    adjoints, hidden = (take.take(count) for count in jacobian_sizes(t))
    matrix, right = take.take((r + 1) ** 2), take.take(r + 1)
    b, new_b, value = take.take(order + 1), take.take(1), take.take(1)
    unit, scale, scratch = take.take(size), take.take(size), take.take(2)
    each = chain.read_all and chain.samples == chain.steps * chain.columns
    write = ChainWriter(t, now, labels, each=each)
    V, Q, last = chain.size, chain.size + r, size - 1

    def form(tape: Tape, section: int, w: int, column: int, to: int) -> None:
        """Add ``Σ_i w_i Q_i,column``."""
        tape.dots(to, 0, w, 1, section + Q + 2 + column, 0, 2, r, 1)

    def set_parameters(tape: Tape, w: int) -> None:
        tape.line(now, base, slope, many)
        write.put(tape, w)

    def set_b(tape: Tape, w: int, to: int) -> None:
        tape.copy(to, now + Q + 1)
        form(tape, now, w, 1, to)

    def set_factors(tape: Tape, s: int, z_at: int, tau: int, b_at: int) -> None:
        write.jacobian(tape, s, z_at, adjoints, hidden, jacobian)
        tape.clear(matrix, (r + 1) ** 2)
        for e in range(r):
            tape.copy(matrix + e * (r + 1), jacobian + e * r, r)
            tape.subtract(matrix + e * (r + 1) + r, now + V + e)
        row = matrix + r * (r + 1)
        for i in range(r):
            tape.copy(row + i, now + Q + 2 + 2 * i)
        tape.dots(row, 1, tau, 0, now + Q + 3, 2, 0, 1, r)
        tape.copy(row + r, b_at)
        tape.factor(matrix, r + 1)

    load = Tape()
    load.copy(new, x, r)
    load.copy(new + last, x + r)

    point = Tape()
    for cell in write.cells:
        point.clear(slope + cell[4], 1)
    set_parameters(point, x)
    write.states(point, x + r)
    write.read_out(point, x + r, z)
    set_b(point, x, b)

    def expand(tape: Tape, j: int) -> None:
        """Taylor coefficients of order j."""
        to, before = x + j * size, x + (j - 1) * size
        # All terms of this order except those of its own weights and τ.
        tape.clear(rest, states)
        if j > 1:
            write.convolve(tape, x, size, j, rest)
        tape.copy(sigma, rest, states)
        write.products(tape, now, sigma, sigma)
        write.read_out(tape, sigma, new_z)
        write.label_series(tape, new_z, z, x, size, slope, j)
        write.label_side(tape, slope, j, [right + e for e in range(r)])
        tape.clear(value, 1)
        tape.clear(b + j, 1)
        if j == 1:
            tape.copy(value, slope + Q)
            tape.copy(b + j, slope + Q + 1)
        form(tape, slope, before, 0, value)
        form(tape, slope, before, 1, b + j)
        tape.dots(value, 0, x + last, 0, b + j, 0, 0, 1, 1)
        if j > 1:
            tape.dots(value, 0, x + size + last, size, b + j - 1, 0, -1, j - 1, 1)
        tape.clear(right + r, 1)
        tape.subtract(right + r, value)
        tape.solve(right, matrix, r + 1)
        tape.copy(to, right, r)
        tape.copy(to + last, right + r)
        form(tape, now, to, 1, b + j)
        tape.copy(to + r, rest, states)
        write.apply_cells(tape, to, x + r, to + r)
        write.products(tape, now, to + r, to + r)
        write.read_out(tape, to + r, z + j * zs)

    series = Tape()
    set_factors(series, x + r, z, x + last, b)
    expand(series, 1)

    def newton(fresh: bool) -> np.ndarray:
        tape, guess = Tape(), new + r
        set_parameters(tape, new)
        write.states(tape, new_states)
        write.read_out(tape, new_states, new_z)
        write.residual(tape, new_z, right)
        tape.dots(right, 1, new + last, 0, now + V, 1, 0, 1, r)
        set_b(tape, new, new_b)
        tape.copy(value, now + Q)
        form(tape, now, new, 0, value)
        tape.dots(value, 0, new + last, 0, new_b, 0, 0, 1, 1)
        tape.clear(right + r, 1)
        tape.subtract(right + r, value)
        if fresh:
            set_factors(tape, guess, new_z, new + last, new_b)
        tape.solve(right, matrix, r + 1)
        tape.copy(step, right, r)
        tape.copy(step + last, right + r)
        tape.clear(new_states, states)
        tape.copy(new_states, now + t.s0_at, write.s_at[1])
        write.apply_cells(tape, step, guess, new_states)
        write.products(tape, now, new_states, new_states)
        tape.copy(step + r, new_states, states)
        tape.subtract(step + r, guess, states)
        tape.copy(guess, new_states, states)
        tape.add(new, step, r)
        tape.add(new + last, step + last)
        return tape.table()

    groups, floors = error_groups(chain, t)
    return LaneSystem(
        parameters=many, size=size, unknowns=r + 1, order=order, base=base, slope=slope, x=x,
        new=new, step=step, unit=unit, scale=scale, scratch=scratch, low=0, slots=take.slots,
        groups=np.append(groups, len(floors)), floors=np.append(floors, FLOOR**2), lift=last,
        lifts=1, load=load.table(), point=point.table(), series=series.table(),
        orders=Tape.affine(expand), newton=newton(True), again=newton(False),
    )  # fmt: skip
