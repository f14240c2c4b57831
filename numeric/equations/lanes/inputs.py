"""The tapes of a system in the free inputs (`numeric.equations.inputs` has the equations).

Unknowns x are the remaining weights, then the inputs u_1 … u_T; parameters are α, β and the
fixed weights of the remaining rows.  All equations are bilinear in (w, F) with F affine in u, so
Taylor coefficients of a path need one solve with the same factors for each order.

In a Newton step unknowns, parameters and residual are pairs of doubles: near infinity (a large
eigenvalue R of W, inputs like R^k) the equations cancel many digits.  The matrix is in doubles: its
factors give each step to some digits, which is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from numeric.equations.lanes.products import FLOOR
from numeric.equations.lanes.tape import LaneSystem, Layout, Tape

if TYPE_CHECKING:
    from numeric.equations.inputs import InputsForm


class InputsWriter:
    """Writes the parts of a system's tapes; arguments are a tape and slots.

    Parameters
    ----------
    form : InputsForm
    now : int
        Slot of the parameters (α, β, fixed weights with the learnable ones in place).

    Attributes
    ----------
    equations : list of tuple
        Index of a row, k − 1 and column x of each equation, in the order of matrix rows.
    """

    def __init__(self, form: InputsForm, now: int) -> None:
        self.form, self.now = form, now
        n, T, b, e = form.shape
        self.alpha = 0
        self.beta = (T + 1) * n * b
        self.fixed = self.beta + T * n * e
        self.cells: list[list[int]] = form.cells.tolist()
        self.rows: list[int] = form.rows.tolist()
        self.equations = _equations(form)
        # Cells of one column read the same states.
        self.by_column = np.argsort(form.cells[:, 1], kind="stable").tolist()

    @property
    def state_size(self) -> int:
        """Entries of F_0 … F_T."""
        n, T, b, _ = self.form.shape
        return (T + 1) * n * b

    def places(self) -> list[int]:
        """Slot of each weight that is an unknown, among the parameters."""
        n = self.form.shape[0]
        return [self.fixed + i * n + j for i, j in self.cells]

    def response(self, tape: Tape, beta: int, u: int, to: int, *, pairs: bool = False) -> None:
        """``to_k += Σ_{l ≤ k} β_{k-l} u_l`` for k = 1 … T; β at slot beta, u_1 at slot u."""
        n, T, b, e = self.form.shape
        dots = tape.pair_dots if pairs else tape.dots
        for k in range(1, T + 1):
            for x in range(b):
                for g in range(e):
                    dots(
                        to + k * n * b + x, b, u + g * b + x, e * b,
                        beta + (k - 1) * n * e + g, e, -n * e, k, n,
                    )  # fmt: skip

    def products(
        self, tape: Tape, fixed: int, states: int, to: int, *, pairs: bool = False
    ) -> None:
        """``W_i F_{k-1}`` for every remaining row, added to ``to + i Tb + (k-1) b + x``."""
        n, T, b, _ = self.form.shape
        dots = tape.pair_dots if pairs else tape.dots
        for i in range(len(self.rows)):
            for x in range(b):
                dots(to + i * T * b + x, b, fixed + i * n, 1, states + x, n * b, b, n, T)

    def subtract_states(self, tape: Tape, states: int, to: int) -> None:
        """Subtract ``F_{k,i}`` from ``to + i Tb + (k-1) b + x``."""
        n, T, b, _ = self.form.shape
        for place, i in enumerate(self.rows):
            for k in range(T):
                tape.subtract(to + (place * T + k) * b, states + ((k + 1) * n + i) * b, b)

    def right_side(self, tape: Tape, values: int, scale: int | None, to: int) -> None:
        """Minus the equations' `values`, in the order of matrix rows, scaled (if at all)."""
        _, T, b, _ = self.form.shape
        tape.clear(to, len(self.equations))
        tape.each(
            tape.subtract,
            (
                (to + at, values + (i * T + k) * b + x)
                for at, (i, k, x) in enumerate(self.equations)
            ),
        )
        if scale is not None:
            tape.scale(to, scale, len(self.equations))

    def matrix(self, tape: Tape, s: int, gain: int, to: int, *, low: int = 0) -> None:
        """The Jacobian of ``W_i F_{k-1} - F_{k,i}`` with states at slot s, written to slot to.

        With `low` all numbers are pairs, their low parts so many slots later.
        """
        n, T, b, e = self.form.shape
        q, weights = self.form.unknowns, len(self.cells)
        row_of = {place: at for at, place in enumerate(self.equations)}
        dots = tape.pair_dots if low else tape.dots
        for part in (0, low) if low else (0,):
            tape.clear(to + part, q * q)
            for v, (i, j) in enumerate(self.cells):
                for k in range(T):
                    for x in range(b):
                        at = s + (k * n + j) * b + x
                        tape.copy(to + part + row_of[i, k, x] * q + v, at + part)
            tape.clear(gain + part, len(self.rows) * T * e)
            for place, i in enumerate(self.rows):
                for lag in range(T):
                    at = self.now + self.beta + (lag * n + i) * e
                    tape.subtract(gain + part + (place * T + lag) * e, at + part, e)
        for place in range(len(self.rows)):
            for g in range(e):
                at = gain + place * T * e + g
                dots(
                    at + e, e, self.now + self.fixed + place * n, 1, self.now + self.beta + g,
                    n * e, e, n, T - 1,
                )  # fmt: skip
        for part in (0, low) if low else (0,):
            for place, k, x in np.ndindex(len(self.rows), T, b):
                row = to + part + row_of[place, k, x] * q + weights
                tape.each(
                    tape.copy,
                    (
                        (row + (m * e + g) * b + x, gain + part + (place * T + k - m) * e + g)
                        for m in range(k + 1)
                        for g in range(e)
                    ),
                )


def _equations(form: InputsForm) -> list[tuple[int, int, int]]:
    """The equations in the order of matrix rows: first enough of each block, then the others."""
    _, T, b, _ = form.shape
    rows = len(form.rows)
    counts = np.bincount(form.cells[:, 0], minlength=rows).tolist()
    every = [(i, place) for i in range(rows) for place in range(T * b)]
    every.sort(key=lambda at: at[1] >= counts[at[0]])
    return [(i, place // b, place % b) for i, place in every]


def make_inputs(form: InputsForm, order: int) -> LaneSystem:
    """The system in the free inputs, for Taylor series of an order."""
    _, T, b, e = form.shape
    q, weights, values = form.unknowns, len(form.cells), len(form.rows) * T * b
    take = Layout()
    now = take.take(form.size)
    write = InputsWriter(form, now)
    size = write.state_size
    # These are pairs of doubles in Newton steps; their low parts follow all other slots.
    new, new_states, value = take.take(q), take.take(size), take.take(values)
    paired = take.slots
    base, slope = take.take(form.size), take.take(form.size)
    x, states = take.take((order + 1) * q), take.take((order + 1) * size)
    step, rest, gain = take.take(q), take.take(size), take.take(len(form.rows) * T * e)
    matrix, row_scale, column_scale = take.take(q * q), take.take(q), take.take(q)
    unit, scratch = take.take(q), take.take(2)
    low = take.take(paired)
    fixed = now + write.fixed

    def put(tape: Tape, w: int) -> None:
        tape.each(tape.copy, ((now + at, w + v) for v, at in enumerate(write.places())))

    def set_factors(tape: Tape, s: int) -> None:
        write.matrix(tape, s, gain, matrix)
        tape.equilibrate(matrix, q, column_scale, row_scale)
        tape.factor(matrix, q)

    def solve(tape: Tape, to: int) -> None:
        tape.solve(to, matrix, q)
        tape.scale(to, column_scale, q)

    point = Tape()
    point.line(now, base, slope, form.size)
    put(point, x)
    point.copy(states, now + write.alpha, size)
    write.response(point, now + write.beta, x + weights, states)

    def expand(tape: Tape, j: int) -> None:
        """Taylor coefficients of order j."""
        to = x + j * q
        before = states + (j - 1) * size
        # The states of this order without the contribution of its own inputs.
        tape.clear(rest, size)
        if j == 1:
            tape.copy(rest, slope + write.alpha, size)
        write.response(tape, slope + write.beta, to - q + weights, rest)
        # W and its series applied to the states.
        tape.clear(value, values)
        write.products(tape, fixed, rest, value)
        write.products(tape, slope + write.fixed, before, value)
        if j > 1:
            for v in write.by_column:
                i, column = write.cells[v]
                for c in range(b):
                    tape.dots(
                        value + i * T * b + c, b, x + q + v, q,
                        before + column * b + c, form.shape[0] * b, -size, j - 1, T,
                    )  # fmt: skip
        write.subtract_states(tape, rest, value)
        write.right_side(tape, value, row_scale, to)
        solve(tape, to)
        tape.copy(states + j * size, rest, size)
        write.response(tape, now + write.beta, to + weights, states + j * size)

    series = Tape()
    set_factors(series, states)
    expand(series, 1)

    def newton(fresh: bool) -> np.ndarray:
        tape = Tape()
        if fresh:
            tape.clear(new + low, q)
        tape.pair_line(now, base, slope, form.size)
        put(tape, new)
        tape.each(
            tape.copy, ((now + low + at, new + low + v) for v, at in enumerate(write.places()))
        )
        for part in (0, low):
            tape.copy(new_states + part, now + write.alpha + part, size)
        write.response(tape, now + write.beta, new + weights, new_states, pairs=True)
        if fresh:
            set_factors(tape, new_states)
        for part in (0, low):
            tape.clear(value + part, values)
            write.subtract_states(tape, new_states + part, value + part)
        write.products(tape, fixed, new_states, value, pairs=True)
        write.right_side(tape, value, row_scale, step)
        solve(tape, step)
        tape.pair_add(new, step, q)
        return tape.table()

    groups = np.concatenate(
        [form.cells[:, 0], len(form.rows) + np.arange(T * e * b) // (e * b)]
    ).astype(np.int64)
    return LaneSystem(
        parameters=form.size, size=q, unknowns=q, order=order, base=base, slope=slope, x=x,
        new=new, step=step, unit=unit, scale=column_scale, scratch=scratch, low=low,
        slots=take.slots, groups=groups, floors=np.full(len(form.rows) + T, FLOOR**2), lift=0,
        lifts=q, load=Tape().table(), point=point.table(), series=series.table(),
        orders=Tape.affine(expand), newton=newton(True), again=newton(False),
    )  # fmt: skip
