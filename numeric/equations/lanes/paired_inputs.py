"""The tapes of a system in the free inputs in pairs of doubles, for paths near infinity.

Near infinity the equations' condition is 10^12 and more, and Newton's basin as small as 10^-8 of
the unknowns: Taylor coefficients computed in doubles are too inaccurate to predict into it, even if
every residual is accurate.  Here points, parameters, series, matrices and their factors are pairs.

Parameters are pairs too: the line ``first + t way`` has four numbers for each, at the slots of the
slope: high and low parts of `first`, then those of `way`.  Thus it ends at an instance that is
rounded to 32 digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from numeric.equations.lanes.inputs import InputsWriter
from numeric.equations.lanes.products import FLOOR
from numeric.equations.lanes.tape import LaneSystem, Layout, Tape

if TYPE_CHECKING:
    from numeric.equations.inputs import InputsForm

# Newton steps after the one that is measured.
_POLISH = 3


def make_paired_inputs(form: InputsForm, order: int) -> LaneSystem:
    """The system in the free inputs in pairs, for Taylor series of an order."""
    _, T, b, e = form.shape
    P, q, weights, values = form.size, form.unknowns, len(form.cells), len(form.rows) * T * b
    take = Layout()
    now = take.take(P)
    write = InputsWriter(form, now)
    size = write.state_size
    new, new_states, value = take.take(q), take.take(size), take.take(values)
    x, states = take.take((order + 1) * q), take.take((order + 1) * size)
    rest, gain = take.take(size), take.take(len(form.rows) * T * e)
    matrix, step, more = take.take(q * q), take.take(q), take.take(q)
    t, line, scratch = take.take(1), take.take(2 * P), take.take(2)
    # These are pairs; their low parts follow all other slots.
    paired = take.slots
    nothing, one = take.take(1), take.take(1)
    base, slope = take.take(4 * P), take.take(4 * P)
    # Of the columns, and of the rows.
    scales, unit = take.take(2 * q), take.take(q)
    low = take.take(paired)
    first, way = line, line + P
    fixed = now + write.fixed
    parts = (0, low)

    def set_parameters(tape: Tape, w: int) -> None:
        """Parameters at t, with the weights at slot w."""
        tape.set_one(one)
        tape.clear(nothing, 1)
        tape.line(t, nothing, one, 1)
        tape.clear(t + low, 1)
        for k, to in enumerate((first, first + low, way, way + low)):
            tape.copy(to, slope + k * P, P)
        for part in parts:
            tape.copy(now + part, first + part, P)
        tape.pair_dots(now, 1, t, 0, way, 1, 0, 1, P)
        for part in parts:
            pairs = ((now + part + at, w + part + v) for v, at in enumerate(write.places()))
            tape.each(tape.copy, pairs)

    def set_states(tape: Tape, inputs: int, to: int) -> None:
        for part in parts:
            tape.copy(to + part, now + write.alpha + part, size)
        write.response(tape, now + write.beta, inputs, to, pairs=True)

    def set_factors(tape: Tape, s: int) -> None:
        """The factors of the Jacobian at states s."""
        write.matrix(tape, s, gain, matrix, low=low)
        tape.pair_factor(matrix, scales, q)

    def solve(tape: Tape, to: int) -> None:
        """Minus the solution for `value`, in pairs."""
        for part in parts:
            write.right_side(tape, value + part, None, to + part)
        tape.pair_solve(to, matrix, scales, q)

    def newton_step(tape: Tape, to: int, *, fresh: bool) -> None:
        set_states(tape, new + weights, new_states)
        if fresh:
            set_factors(tape, new_states)
        for part in parts:
            tape.clear(value + part, values)
            write.subtract_states(tape, new_states + part, value + part)
        write.products(tape, fixed, new_states, value, pairs=True)
        solve(tape, to)
        for part in parts:
            tape.pair_add(new, to + part, q)
        for part in parts:
            pairs = ((now + part + at, new + part + v) for v, at in enumerate(write.places()))
            tape.each(tape.copy, pairs)

    def newton(tape: Tape, *, fresh: bool) -> Tape:
        set_parameters(tape, new)
        newton_step(tape, step, fresh=fresh)
        if not fresh:
            for _ in range(_POLISH):
                newton_step(tape, more, fresh=False)
        return tape

    load = Tape()
    load.copy(new, x, q)
    load.clear(new + low, q)
    newton(load, fresh=True)
    for _ in range(2 * _POLISH):
        newton_step(load, more, fresh=False)

    point = Tape()
    set_parameters(point, x)
    set_states(point, x + weights, states)

    def expand(tape: Tape, j: int) -> None:
        """Taylor coefficients of order j."""
        to, before = x + j * q, states + (j - 1) * size
        # The states of this order without the contribution of its own inputs.
        for part in parts:
            tape.clear(rest + part, size)
            if j == 1:
                tape.copy(rest + part, way + write.alpha + part, size)
        write.response(tape, way + write.beta, to - q + weights, rest, pairs=True)
        # Parts are subtracted one by one only from 0, where this is exact.
        for part in parts:
            tape.clear(value + part, values)
            write.subtract_states(tape, rest + part, value + part)
        write.products(tape, fixed, rest, value, pairs=True)
        write.products(tape, way + write.fixed, before, value, pairs=True)
        if j > 1:
            for v in write.by_column:
                i, column = write.cells[v]
                for c in range(b):
                    tape.pair_dots(
                        value + i * T * b + c, b, x + q + v, q, before + column * b + c,
                        form.shape[0] * b, -size, j - 1, T,
                    )  # fmt: skip
        solve(tape, to)
        for part in parts:
            tape.copy(states + j * size + part, rest + part, size)
        write.response(tape, now + write.beta, to + weights, states + j * size, pairs=True)

    series = Tape()
    set_factors(series, states)
    expand(series, 1)
    groups = np.concatenate(
        [form.cells[:, 0], len(form.rows) + np.arange(T * e * b) // (e * b)]
    ).astype(np.int64)
    return LaneSystem(
        parameters=4 * P, size=q, unknowns=q, order=order, base=base, slope=slope, x=x,
        new=new, step=step, unit=unit, scale=scales, scratch=scratch, low=low,
        slots=take.slots, groups=groups, floors=np.full(len(form.rows) + T, FLOOR**2), lift=low,
        lifts=q, load=load.table(), point=point.table(), series=series.table(),
        orders=Tape.affine(expand), newton=newton(Tape(), fresh=True).table(),
        again=newton(Tape(), fresh=False).table(), keeps_pairs=True,
    )  # fmt: skip
